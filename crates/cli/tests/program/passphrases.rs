//! Identities with a passphrase: at a terminal, from a file, and where there is neither.
#![cfg(target_os = "linux")]

use std::{
    fs,
    io::{ErrorKind, Read, Write},
    os::unix::fs::PermissionsExt,
    process::{Command, Stdio},
};

use crate::{
    PROGRAM,
    support::{Ended, Folder, Process, free_address},
    terminals,
};

const RIGHT: &str = "correct horse";

/// Runs the program, and shows how its terminal is then.
const THEN_MODES: [&str; 4] = ["sh", "-c", "\"$0\" \"$@\"; stty -a", PROGRAM];

/// Starts a program in a session of its own, with this terminal if there is one: also where the
/// tests themselves run at a terminal.
fn start(program: &[&str], args: &[&str], terminal: Option<Stdio>) -> Process {
    let mut command = Command::new("setsid");
    command.args(terminal.is_some().then_some("--ctty"));
    command.args(program).args(args).stdout(Stdio::piped());
    command.stdin(terminal.unwrap_or(Stdio::null()));
    Process::spawn(command)
}

/// Runs the program without a terminal.
fn run(args: &[&str]) -> Ended {
    start(&[PROGRAM], args, None).end()
}

/// Runs the program at a terminal, where each of these questions is answered when it comes.
/// Returns the terminal's content, too.
fn run_at_terminal(args: &[&str], dialogue: &[(&str, &str)]) -> (Ended, String) {
    start_at_terminal(&[PROGRAM], args, dialogue)
}

fn start_at_terminal(
    program: &[&str],
    args: &[&str],
    dialogue: &[(&str, &str)],
) -> (Ended, String) {
    let (mut ours, stream, _) = terminals::pair();
    let mut keys = ours.try_clone().unwrap();
    let process = start(program, args, Some(stream.into()));
    let mut shown = Vec::new();
    let mut read = |until: Option<&str>| {
        let from = shown.len();
        let mut part = [0; 256];
        // Once the program has ended, reading is an error.
        while let Ok(length @ 1..) = ours.read(&mut part) {
            shown.extend_from_slice(&part[..length]);
            let new = String::from_utf8_lossy(&shown[from..]);
            if until.is_some_and(|question| new.contains(question)) {
                return;
            }
        }
        assert_eq!(until, None, "{}", String::from_utf8_lossy(&shown));
    };
    for (question, answer) in dialogue {
        read(Some(question));
        keys.write_all(answer.as_bytes()).unwrap();
    }
    read(None);
    let shown = String::from_utf8(shown).unwrap();
    assert!(!shown.contains(RIGHT), "{shown}");
    (process.end(), shown)
}

/// Makes an identity with the passphrase in the file `passphrase`, and returns its file, the
/// other one, and its fingerprint.
fn locked(folder: &Folder) -> [String; 3] {
    let passphrase = folder.secret("passphrase", format!("{RIGHT}\n"));
    let identity = folder.path("ann.pem");
    let made = [
        "keygen",
        "--out",
        &identity,
        "--passphrase-file",
        &passphrase,
    ];
    let made = run(&made);
    made.says(0, &[]);
    [identity, passphrase, made.stdout.trim().to_owned()]
}

#[test]
fn a_terminal_asks_twice_for_a_new_passphrase_and_shows_none() {
    let folder = Folder::new();
    let identity = folder.path("ann.pem");
    let keygen = ["keygen", "--passphrase", "--out", &identity];
    let right = format!("{RIGHT}\n");
    let (refused, _) = run_at_terminal(
        &keygen,
        &[
            ("new passphrase: ", &right),
            ("once more: ", "correct house\n"),
        ],
    );
    refused.says(2, &["the two passphrases differ: nothing was written"]);
    let (interrupted, _) = run_at_terminal(&keygen, &[("new passphrase: ", "corr\u{3}")]);
    interrupted.says(1, &["interrupted"]);
    let (empty, _) = run_at_terminal(&keygen, &[("new passphrase: ", "\n")]);
    empty.says(2, &["a passphrase has 1 to 1024 bytes"]);
    assert!(folder.names().is_empty());

    let (made, shown) = run_at_terminal(
        &keygen,
        &[("new passphrase: ", &right), ("once more: ", &right)],
    );
    made.says(0, &["Wrote your identity"]);
    // A line each, though nothing was shown in it.
    assert_eq!(shown.matches("\r\n").count(), 2, "{shown:?}");
    let text = folder.read("ann.pem");
    assert!(text.contains("BEGIN ENCRYPTED PRIVATE KEY") && !text.contains("BEGIN PRIVATE KEY"));
    // Its name needs no passphrase.
    let name = run(&["fingerprint", &identity]);
    name.says(0, &[]);
    assert_eq!(name.stdout, made.stdout);
}

#[test]
fn each_run_asks_once_and_a_wrong_answer_ends_it() {
    let folder = Folder::new();
    let [identity, _, old] = locked(&folder);
    let replace = ["keygen", "--replace", &identity];
    let (refused, shown) = run_at_terminal(&replace, &[("ann.pem: ", "correct house\n")]);
    refused.says(3, &["wrong passphrase for the identity", "ann.pem"]);
    assert_eq!(shown.matches("passphrase of ").count(), 1);
    let (replaced, shown) = run_at_terminal(&replace, &[("ann.pem: ", &format!("{RIGHT}\n"))]);
    replaced.says(0, &["Replaced your identity"]);
    assert_eq!(shown.matches("passphrase of ").count(), 1);
    // Both are protected as the old one was.
    for name in ["ann.pem", &format!("{old}.pem")] {
        assert!(folder.read(name).contains("ENCRYPTED"), "{name}");
    }
}

#[test]
fn a_join_takes_the_passphrase_from_a_file() {
    let folder = Folder::new();
    let [ann, passphrase, anns] = locked(&folder);
    let bob = folder.path("bob.pem");
    let bobs = run(&["keygen", "--out", &bob]).stdout.trim().to_owned();
    let table = folder.file("table", "x\ny\n");
    let address = free_address();
    let common = ["--input", &table, "--wait", "20"];
    let receive = [
        "receive",
        "--identity",
        &ann,
        "--peer",
        &bobs,
        "--listen",
        &address,
    ];
    let receive = [&receive[..], &common].concat();
    let send = [
        "send",
        "--identity",
        &bob,
        "--peer",
        &anns,
        "--connect",
        &address,
    ];
    let from_file = [&receive[..], &["--passphrase-file", &passphrase]].concat();
    let sends = start(&[PROGRAM], &[&send[..], &common].concat(), None);
    let received = start(&[PROGRAM], &from_file, None).end();
    received.says(0, &[]);
    assert!(!received.stderr.contains("chmod"), "{received:#?}");
    assert_eq!(received.stdout, "x\ny\n");
    sends.end().says(0, &[]);

    // Where there is neither a file nor a terminal.
    run(&receive).says(
        2,
        &[
            "ann.pem has a passphrase",
            "hint: run it at a terminal",
            "--passphrase-file FILE",
        ],
    );
    let nobody = run(&["keygen", "--passphrase", "--out", &folder.path("new.pem")]);
    nobody.says(2, &["there is no terminal", "--passphrase-file FILE"]);
    // A wrong one, and one that others can read.
    let wrong = folder.secret("wrong", "correct house\n");
    let by_wrong = [&receive[..], &["--passphrase-file", &wrong]].concat();
    run(&by_wrong).says(
        3,
        &["wrong passphrase for", "or its private key is damaged"],
    );
    fs::set_permissions(&wrong, fs::Permissions::from_mode(0o644)).unwrap();
    run(&by_wrong).says(3, &["wrong can be read by other users", "chmod 600"]);
    let missing = [&receive[..], &["--passphrase-file", "none"]].concat();
    run(&missing).says(3, &["the file none with the passphrase cannot be used"]);
    let report = [&from_file[..], &["--report", &passphrase]].concat();
    run(&report).says(2, &["--report and --passphrase-file name the same file"]);
}

#[test]
fn a_passphrase_is_changed_and_removed_while_the_key_stays() {
    let folder = Folder::new();
    let [identity, passphrase, name] = locked(&folder);
    let same = format!("{name}\n");
    let next = folder.secret("next", "a better one\n");
    let change = ["keygen", "--change-passphrase", &identity];
    let told = ["--passphrase-file", &passphrase];
    let new = ["--new-passphrase-file", &next];

    let before = folder.read("ann.pem");
    // Nobody is there to be asked for either of them.
    run(&change).says(2, &["has a passphrase", "--passphrase-file FILE"]);
    run(&[&change[..], &told].concat()).says(2, &["there is no terminal", "--new-passphrase-file"]);
    let wrong = [&change[..], &["--passphrase-file", &next], &new].concat();
    run(&wrong).says(3, &["wrong passphrase for"]);
    assert_eq!(folder.read("ann.pem"), before);

    // Behind a link, too, the file itself has the new one.
    let link = folder.path("link.pem");
    std::os::unix::fs::symlink("ann.pem", &link).unwrap();
    let through = ["keygen", "--change-passphrase", &link];
    let changed = run(&[&through[..], &told, &new].concat());
    changed.says(0, &["has the new passphrase"]);
    assert_eq!(changed.stdout, same);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let after = folder.read("ann.pem");
    assert!(after != before && after.contains("ENCRYPTED"));
    run(&[&change[..], &told, &new].concat()).says(3, &["wrong passphrase for"]);

    let remove = ["keygen", "--remove-passphrase", &identity];
    let removed = run(&[&remove[..], &["--passphrase-file", &next]].concat());
    removed.says(0, &["has no passphrase any more"]);
    assert_eq!(removed.stdout, same);
    assert!(folder.read("ann.pem").contains("BEGIN PRIVATE KEY"));
    run(&remove).says(2, &["has no passphrase: its private key is not encrypted"]);

    // Whoever tells a passphrase expects an encrypted key.
    let invite = ["invite", "bob", "--listen", "ann.example.org:7000"];
    let invite = [&invite[..], &["--identity", &identity], &told].concat();
    run(&invite).says(2, &["has no passphrase", "hint: ", "--change-passphrase"]);

    // A first one, at a terminal.
    let right = format!("{RIGHT}\n");
    let dialogue = [("new passphrase: ", &*right), ("once more: ", &right)];
    let (changed, _) = run_at_terminal(&change, &dialogue);
    changed.says(0, &["has the new passphrase"]);
    assert_eq!(changed.stdout, same);
    run(&invite).says(0, &[]);
    let mode = fs::metadata(&identity).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_terminal_shows_what_is_typed_again_however_the_program_ends() {
    let folder = Folder::new();
    let [identity, _, name] = locked(&folder);
    let table = folder.file("table", "x\n");
    let place = ["--peer", &name, "--listen", "127.0.0.1:0"];
    let receive = ["receive", "--identity", &identity, "--input", &table];
    let until = ["--deadline", "1"];
    let late = [&receive[..], &place, &until].concat();
    let change = ["keygen", "--change-passphrase", &identity];
    for (args, answer, fate) in [
        (&change[..], Some("corr\u{3}"), "interrupted"),
        (&change, Some("another\n"), "wrong passphrase"),
        (&late, None, "within the 1 second"),
    ] {
        let dialogue: Vec<_> = (answer.iter())
            .map(|answer| ("ann.pem: ", *answer))
            .collect();
        let (ended, _) = start_at_terminal(&THEN_MODES, args, &dialogue);
        ended.says(0, &[fate]);
        let modes: Vec<_> = ended.stdout.split_whitespace().collect();
        assert!(
            modes.contains(&"echo") && modes.contains(&"isig"),
            "{ended:#?}"
        );
    }
}

#[test]
fn files_with_secrets_are_warned_of_if_others_can_read_them() {
    let folder = Folder::new();
    let [identity, passphrase, _] = locked(&folder);
    let bobs = run(&["keygen", "--out", &folder.path("bob.pem")]).stdout;
    let open = |name: &str, text: &str| {
        let path = folder.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        path
    };
    let none = open("none", "no key\n");
    let warned = "none can be read by other users of this machine; run chmod 600 on it";
    run(&["relay", "--listen", "127.0.0.1:0", "--access", &none]).says(3, &[warned]);
    let table = folder.file("table", "x\n");
    let receive = ["receive", "--input", &table, "--wait", "1"];
    let own = ["--identity", &identity, "--passphrase-file", &passphrase];
    let relay = ["--relay", "127.0.0.1:1", "--peer", bobs.trim()];
    let relay = [&receive[..], &own, &relay, &["--relay-key", &none]].concat();
    run(&relay).says(2, &[warned, "is no access key"]);
    let profile = [
        "--profile",
        "by.toml",
        "--insecure-plaintext",
        "--connect",
        "127.0.0.1:1",
    ];
    for (proxy, is_secret) in [
        ("http://ann:pw@127.0.0.1:1", true),
        ("http://127.0.0.1:1", false),
    ] {
        let path = open("by.toml", &format!("proxy = \"{proxy}\"\n"));
        let mut profile = profile;
        profile[1] = &path;
        let ended = run(&[&receive[..], &profile].concat());
        ended.says(4, &[]);
        let warned = ended.stderr.contains("by.toml can be read by other users");
        assert_eq!(warned, is_secret, "{ended:#?}");
    }
}

#[test]
fn openssl_reads_what_was_written() {
    let folder = Folder::new();
    let [identity, passphrase, _] = locked(&folder);
    let file = format!("file:{passphrase}");
    let shown = Command::new("openssl")
        .args(["pkey", "-in", &identity, "-passin", &file, "-pubout"])
        .output();
    let shown = match shown {
        Err(error) if error.kind() == ErrorKind::NotFound => return,
        shown => shown.unwrap(),
    };
    let certified = Command::new("openssl")
        .args(["x509", "-in", &identity, "-noout", "-pubkey"])
        .output();
    assert!(shown.status.success(), "{shown:?}");
    assert_eq!(shown.stdout, certified.unwrap().stdout);
}
