//! Others' texts on a terminal: it obeys none of them. Pipes and files get every byte.
#![cfg(target_os = "linux")]

use std::{
    fs::{self, File, OpenOptions},
    io::{Read, Write},
    mem,
    os::fd::OwnedFd,
    path::PathBuf,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread::{self, JoinHandle},
    time::{Duration, Instant},
};

use rustix::{
    pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt},
    termios::{Winsize, tcsetwinsize},
};

use crate::support::{Folder, PATIENCE, Process, join, join_with, run};

/// Renames the window, writes backwards, begins a line, and introduces a command, in UTF-8 and
/// alone.
const HOSTILE: &str = "a\u{1b}]0;x\u{7}b\u{202e}c\u{2028}d\u{9b}31me";
/// That text on a terminal.
const SHOWN: &str = r"a\u{1b}]0;x\u{7}b\u{202e}c\u{2028}d\u{9b}31me";

/// Opens a terminal: this side of it, the stream of programs, and the path of that.
pub(crate) fn pair() -> (File, OwnedFd, PathBuf) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let path = ptsname(&ours, Vec::new()).unwrap();
    let path = PathBuf::from(path.into_string().unwrap());
    let stream = OpenOptions::new().read(true).write(true).open(&path);
    (ours.into(), stream.unwrap().into(), path)
}

/// A terminal, and all that it is to show.
struct Terminal {
    path: PathBuf,
    /// The stream that programs write to.
    stream: OwnedFd,
    reader: JoinHandle<()>,
    shown: Arc<Mutex<Vec<u8>>>,
}

impl Terminal {
    fn open() -> Self {
        let (mut ours, stream, path) = pair();
        let size = Winsize {
            ws_row: 24,
            ws_col: 200,
            ws_xpixel: 0,
            ws_ypixel: 0,
        };
        tcsetwinsize(&stream, size).unwrap();
        let shown = Arc::<Mutex<Vec<u8>>>::default();
        let showing = shown.clone();
        let reader = thread::spawn(move || {
            let mut piece = [0; 4096];
            // Once nobody has it open any more, reading is an error.
            while let Ok(length @ 1..) = ours.read(&mut piece) {
                showing.lock().unwrap().extend(&piece[..length]);
            }
        });
        Self {
            path,
            stream,
            reader,
            shown,
        }
    }

    /// Waits until what was written is so.
    fn wait_until(&self, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        while !is_so(&String::from_utf8_lossy(&self.shown.lock().unwrap())) {
            assert!(Instant::now() < deadline, "it never shows that");
            thread::sleep(Duration::from_millis(10));
        }
    }

    fn stream(&self) -> Stdio {
        self.stream.try_clone().unwrap().into()
    }

    /// Returns all that was written, after everybody has closed it.
    fn shown(self) -> String {
        drop(self.stream);
        self.reader.join().unwrap();
        // The terminal puts a carriage return before each line feed.
        let shown = String::from_utf8(mem::take(&mut self.shown.lock().unwrap())).unwrap();
        shown.replace("\r\n", "\n")
    }
}

/// Returns the arguments of a receiver that takes what a sender gives: a hostile text.
fn hostile(folder: &Folder) -> [Vec<String>; 2] {
    let mine = folder.file("mine.csv", "id\n1\n");
    let theirs = folder.file("theirs.csv", format!("id,note\n1,{HOSTILE}\n"));
    let party = |input: &str, note: [&str; 2]| {
        let args = ["--insecure-plaintext", "--key", "id", "--input", input];
        args.into_iter().chain(note).map(str::to_owned).collect()
    };
    [
        party(&mine, ["--take", "note"]),
        party(&theirs, ["--give", "note"]),
    ]
}

fn words(args: &[String]) -> Vec<&str> {
    args.iter().map(String::as_str).collect()
}

#[test]
fn values_are_escaped_on_a_terminal_and_nowhere_else() {
    let folder = Folder::new();
    let [receiver, sender] = hostile(&folder);
    let (receiver, sender) = (words(&receiver), words(&sender));
    let rows = format!("id,note\n1,{HOSTILE}\n");

    let terminal = Terminal::open();
    let stdout = terminal.stream();
    let joined = join_with(&receiver, &sender, |command| {
        command.stdin(Stdio::null()).stdout(stdout)
    });
    joined.receiver.says(0, &[]);
    assert_eq!(terminal.shown(), format!("id,note\n1,{SHOWN}\n"));

    let piped = join(&receiver, &sender);
    assert_eq!(piped.receiver.stdout, rows);

    let output = folder.path("rows.csv");
    let to_file = [&receiver[..], &["--output", &output]].concat();
    join(&to_file, &sender).receiver.says(0, &[]);
    assert_eq!(folder.read("rows.csv"), rows);
}

/// They are texts of the party that has the column, and name rows of the other one's table.
#[test]
fn labels_of_groups_are_escaped_on_a_terminal_and_nowhere_else() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id\n1\n2\n");
    let theirs = format!("id,plan\n1,\"{HOSTILE}\nx\"\n2,\u{1b}[31mred\u{7}\n");
    let theirs = folder.file("theirs.csv", theirs);
    let [receiver, sender] = [&mine, &theirs].map(|table| {
        let own = ["--insecure-plaintext", "--key", "id", "--input", table];
        let groups = ["--output-kind", "counts", "--group-by", "sender.plan"];
        [&own[..], &groups].concat()
    });
    // A line break in quotes is one.
    let table = |red: &str, hostile: &str| {
        let header = "sender.plan,shared_keys,withheld\n";
        format!("{header}{red},1,false\n\"{hostile}\nx\",1,false\n")
    };
    let exact = table("\u{1b}[31mred\u{7}", HOSTILE);

    let terminal = Terminal::open();
    let (stdout, report) = (terminal.stream(), folder.path("report.json"));
    let reporting = [&receiver[..], &["--report", &report]].concat();
    let joined = join_with(&reporting, &sender, |command| {
        command.stdin(Stdio::null()).stdout(stdout)
    });
    let said = joined.receiver.says(0, &[]).stderr.clone() + &joined.sender.stderr;
    assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}']), "{said:?}");
    assert_eq!(terminal.shown(), table(r"\u{1b}[31mred\u{7}", SHOWN));
    let report: serde_json::Value = serde_json::from_str(&folder.read("report.json")).unwrap();
    let groups = &report["result"]["groups"];
    assert_eq!(groups[0]["labels"][0], "\u{1b}[31mred\u{7}");
    assert_eq!(groups[1]["labels"][0], format!("{HOSTILE}\nx"));

    assert_eq!(join(&receiver, &sender).receiver.stdout, exact);
    let output = folder.path("groups.csv");
    let to_file = [&receiver[..], &["--output", &output]].concat();
    join(&to_file, &sender).receiver.says(0, &[]);
    assert_eq!(folder.read("groups.csv"), exact);
}

#[test]
fn a_terminal_that_is_named_as_the_output_obeys_no_more() {
    let folder = Folder::new();
    let [receiver, sender] = hostile(&folder);
    let terminal = Terminal::open();
    let path = terminal.path.to_str().unwrap().to_owned();
    let receiver = [&words(&receiver)[..], &["--output", &path]].concat();
    join(&receiver, &words(&sender)).receiver.says(0, &[]);
    assert_eq!(terminal.shown(), format!("id,note\n1,{SHOWN}\n"));
}

/// Names are talk, and one of them is one line, wherever it goes. JSON has them for programs, as
/// escapes of its own.
#[test]
fn names_are_escaped_wherever_they_go() {
    let folder = Folder::new();
    let name = format!("{HOSTILE}\nid: nothing");
    let table = folder.file("table.csv", format!("id,\"{name}\"\n1,{HOSTILE}\n"));
    let columns = run(&["columns", &table]);
    columns.says(0, &[]);
    assert_eq!(columns.stdout, format!("id\n{SHOWN}\\nid: nothing\n"));

    let key = format!("\"{name}\"");
    let keys = ["keys", &table, "--key", &key];
    let text = run(&keys).stdout;
    assert!(
        text.contains(&format!("  {SHOWN}\\nid: nothing  text")),
        "{text}"
    );
    assert!(text.contains(&format!("\"{SHOWN}\"")), "{text}");
    let json = run(&[&keys[..], &["--json"]].concat()).stdout;
    assert!(json.contains(r"b\u202ec\u2028d\u009b31me"), "{json}");
    let report: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(report["columns"][0]["name"], *name);
    assert_eq!(report["first_keys"][0][0], HOSTILE);
}

#[test]
fn words_of_the_command_line_are_escaped_in_what_is_said_of_them() {
    let refused = run(&["verify", "record.json", "--peer", HOSTILE]);
    refused.says(2, &["\\u{202e}c\\u{2028}d\\u{9b}31me"]);
    let missing = run(&["columns", &format!("{HOSTILE}.csv")]);
    missing.says(3, &[SHOWN]);
    for said in [refused.stderr, missing.stderr] {
        assert!(!said.contains(['\u{1b}', '\u{7}', '\u{202e}', '\u{2028}', '\u{9b}']));
    }
}

/// The text of a bar is escaped, and its commands to the terminal are not.
#[test]
fn a_bar_is_drawn_with_a_name_that_is_escaped() {
    let folder = Folder::new();
    let table = folder.path(&format!("{HOSTILE}.csv"));
    let made = Command::new("mkfifo").arg(&table).status().unwrap();
    assert!(made.success());
    let terminal = Terminal::open();
    let mut command = Command::new(env!("CARGO_BIN_EXE_psijoin"));
    command
        .args(["receive", "--insecure-plaintext", "--key", "id"])
        .args(["--listen", "127.0.0.1:0", "--wait", "1", "--input", &table])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(terminal.stream())
        .env("TERM", "xterm")
        .env_remove("PSIJOIN_LOG");
    let mut party = command.spawn().unwrap();
    drop(command);
    let mut writer = OpenOptions::new().write(true).open(&table).unwrap();
    let bar = format!("{SHOWN}.csv`:");
    let drawn = |shown: &str| shown.split('\r').filter(|line| line.contains(&bar)).count();
    terminal.wait_until(|shown| drawn(shown) > 1);
    writer.write_all(b"other\n1\n").unwrap();
    drop(writer);
    let code = party.wait().unwrap().code();
    let shown = terminal.shown();
    assert_eq!(code, Some(3), "{shown}");
    assert!(shown.contains("\u{1b}[2K"), "{shown:?}");
    assert!(
        shown.contains(&format!("{SHOWN}.csv` has no column")),
        "{shown}"
    );
    assert!(!shown.contains("0/0"), "{shown}");
    for raw in ["\u{1b}]", "\u{7}", "\u{202e}", "\u{2028}", "\u{9b}"] {
        assert!(!shown.contains(raw), "{shown:?}");
    }
}

/// A log is talk, too.
#[test]
fn logs_are_escaped() {
    let folder = Folder::new();
    let table = folder.path(&format!("{HOSTILE}.csv"));
    fs::write(&table, "id\n1\n2").unwrap();
    let args = [
        "receive",
        "--insecure-plaintext",
        "--key",
        "no",
        "--input",
        &table,
    ];
    let meeting = ["--listen", "127.0.0.1:0", "--wait", "1"];
    let logged = Process::start_logging("debug", &[&args[..], &meeting].concat()).end();
    logged.says(3, &[SHOWN]);
    assert!(
        !logged
            .stderr
            .contains(['\u{1b}', '\u{202e}', '\u{2028}', '\u{9b}'])
    );
}
