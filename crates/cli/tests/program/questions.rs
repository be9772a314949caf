//! The questions of `psijoin receive` at a terminal.
#![cfg(target_os = "linux")]

use std::{
    fs::File,
    io::{Read, Write},
    os::{fd::OwnedFd, unix::process::ExitStatusExt},
    process::{Child, Command, Output, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use rustix::termios::tcgetattr;

use crate::{
    PROGRAM,
    support::{Folder, Process},
    terminals::pair,
};

/// Longer than anything takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(90);

/// A terminal, at which somebody reads and types.
struct Terminal {
    keyboard: File,
    /// The stream of programs.
    stream: OwnedFd,
    shown: Receiver<Vec<u8>>,
    read: String,
}

impl Terminal {
    fn open() -> Self {
        let (keyboard, stream, _) = pair();
        let mut screen = keyboard.try_clone().unwrap();
        let (showing, shown) = mpsc::channel();
        thread::spawn(move || {
            let mut piece = [0; 4096];
            while let Ok(length @ 1..) = screen.read(&mut piece) {
                let _ = showing.send(piece[..length].to_vec());
            }
        });
        Self {
            keyboard,
            stream,
            shown,
            read: String::new(),
        }
    }

    fn stream(&self) -> Stdio {
        self.stream.try_clone().unwrap().into()
    }

    /// Starts `psijoin receive` at the terminal, which signals it.
    fn start(&self, folder: &Folder, args: &[&str]) -> Child {
        let mut command = Command::new("setsid");
        command.args(["--ctty", PROGRAM, "receive"]).args(args);
        command.env("PSIJOIN_HOME", folder.path("home"));
        command.env_remove("PSIJOIN_LOG");
        command.stdin(self.stream()).stderr(self.stream());
        command.stdout(Stdio::piped()).spawn().unwrap()
    }

    /// Waits until this is shown, and returns all that was since the last time.
    #[track_caller]
    fn wait_for(&mut self, text: &str) -> String {
        while !self.read.contains(text) {
            let shown = self.shown.recv_timeout(PATIENCE);
            let shown = shown.unwrap_or_else(|_| panic!("{text:?} is not in {:?}", self.read));
            self.read.push_str(&String::from_utf8_lossy(&shown));
        }
        std::mem::take(&mut self.read)
    }

    fn types(&mut self, text: &str) {
        self.keyboard.write_all(text.as_bytes()).unwrap();
    }
}

fn end(child: Child) -> Output {
    child.wait_with_output().unwrap()
}

#[test]
fn what_is_missing_is_asked_for_and_told_as_options() {
    let folder = Folder::new();
    let (mine, theirs) = ("id,own\n1,a\n2,b\n", "id\n2\n3\n");
    let mine = folder.file("mine.csv", mine);
    let theirs = folder.file("theirs.csv", theirs);
    let mut terminal = Terminal::open();
    let receiver = terminal.start(&folder, &["--insecure-plaintext"]);
    for (question, answer) in [
        ("Your table, a file: ", &*mine),
        ("The columns of its key", "id"),
        // It is asked again.
        ("Where both meet", "somewhere"),
        ("Where both meet", "listen 127.0.0.1:0"),
    ] {
        terminal.wait_for(question);
        terminal.types(&format!("{answer}\n"));
    }
    let told = terminal.wait_for("; waiting up to");
    for option in ["--input=", "--key=id", "--listen=127.0.0.1:0"] {
        assert!(told.contains(option), "{told}");
    }
    let (_, rest) = told.split_once("listening on ").unwrap();
    let address = rest.split(';').next().unwrap();
    let table = ["--input", &theirs, "--key", "id"];
    let sends = ["send", "--insecure-plaintext", "--connect", address];
    Process::start(&[&sends[..], &table].concat())
        .end()
        .says(0, &[]);
    let received = end(receiver);
    assert_eq!(received.status.code(), Some(0));
    assert_eq!(received.stdout, b"id,own\n2,b\n");
}

#[test]
fn ctrl_c_at_a_question_ends_the_program_and_leaves_all_as_it_was() {
    for (question, answers) in [
        ("Your table, a file: ", &[][..]),
        ("The columns of its key", &["mine.csv\n"]),
        ("The other party, by its name", &["mine.csv\n", "id\n"]),
    ] {
        let folder = Folder::new();
        let mut terminal = Terminal::open();
        let modes = |terminal: &Terminal| {
            let modes = tcgetattr(&terminal.stream).unwrap();
            (modes.local_modes, modes.input_modes, modes.output_modes)
        };
        let before = modes(&terminal);
        let receiver = terminal.start(&folder, &[]);
        for answer in answers {
            terminal.types(answer);
        }
        terminal.wait_for(question);
        // What an interrupt key does.
        terminal.types("\u{3}");
        let ended = end(receiver);
        assert_eq!(ended.status.signal(), Some(2), "{ended:?}");
        assert!(ended.stdout.is_empty());
        assert_eq!(modes(&terminal), before);
        assert_eq!(folder.names(), [""; 0]);
    }
}

#[test]
fn nobody_is_asked_who_cannot_answer_or_read() {
    let folder = Folder::new();
    let run = |input: Stdio, errors: Stdio| {
        let mut command = Command::new(PROGRAM);
        command.arg("receive").stdin(input).stderr(errors);
        command.env("PSIJOIN_HOME", folder.path("home"));
        end(command.stdout(Stdio::piped()).spawn().unwrap())
    };
    let mut terminal = Terminal::open();
    let asked_nobody = run(Stdio::null(), terminal.stream());
    assert_eq!(asked_nobody.status.code(), Some(2));
    let shown = terminal.wait_for("--input");
    assert!(!shown.contains("Your table"), "{shown}");
    let told_elsewhere = run(terminal.stream(), Stdio::piped());
    assert_eq!(told_elsewhere.status.code(), Some(2));
    let errors = String::from_utf8(told_elsewhere.stderr).unwrap();
    assert!(!errors.contains("Your table"), "{errors}");
}
