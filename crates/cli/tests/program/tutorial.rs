//! The commands of the tutorial, run as they stand there.
//!
//! Two things are put in the place of others: the word lists by short ones, since they are
//! not on every machine, and the port by a free one.

use std::{
    env, fs,
    io::{PipeWriter, Write},
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{Folder, Process, free_address};

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");
const DICTIONARIES: &str = "/usr/share/dict";
const ADDRESS: &str = "127.0.0.1:7766";

/// Returns the commands in order, each with whose shell it is for.
fn commands() -> Vec<(&'static str, &'static str)> {
    let blocks = TUTORIAL.split("```sh\n").skip(1);
    blocks
        .map(|text| {
            let (block, _) = text.split_once("```").expect("a block ends");
            let (shell, commands) = block.split_once('\n').expect("a block has lines");
            (shell, commands)
        })
        .collect()
}

/// A person's shell.
struct Shell {
    process: Process,
    stdin: PipeWriter,
}

impl Shell {
    fn start(folder: &Folder) -> Self {
        let (reader, stdin) = std::io::pipe().unwrap();
        let programs = Path::new(env!("CARGO_BIN_EXE_psijoin")).parent().unwrap();
        let path = env::var("PATH").unwrap();
        let mut bash = Command::new("bash");
        bash.args(["-euo", "pipefail"])
            .current_dir(folder.path(""))
            .env("PATH", format!("{}:{path}", programs.to_str().unwrap()))
            .stdin(reader)
            .stdout(Stdio::piped());
        Self {
            process: Process::spawn(bash),
            stdin,
        }
    }

    fn enter(&mut self, commands: &str) {
        write!(self.stdin, "{commands}\necho 'that is done' >&2\n").unwrap();
    }

    /// Waits for the commands that were entered last.
    fn wait(&mut self) {
        self.process.wait_for("that is done");
    }

    /// Ends well, having said these texts; what all commands printed.
    fn close(self, texts: &[&str]) -> String {
        drop(self.stdin);
        let ended = self.process.end();
        ended.says(0, texts);
        ended.stdout
    }
}

#[test]
fn its_commands_do_what_it_says() {
    let folder = Folder::new();
    let dictionaries = folder.path("dictionaries");
    fs::create_dir(&dictionaries).unwrap();
    folder.file(
        "dictionaries/american-english-huge",
        "color\ncentre\ntea\nÅngström\n",
    );
    folder.file(
        "dictionaries/british-english-huge",
        "tea\ncolour\nÅngström\ncentre\n",
    );
    let address = free_address();

    let (mut ann, mut bob) = (Shell::start(&folder), Shell::start(&folder));
    for (shell, commands) in commands() {
        let commands = commands
            .replace(DICTIONARIES, &dictionaries)
            .replace(ADDRESS, &address);
        let person = match shell {
            "# Ann's shell" => &mut ann,
            "# Bob's shell" => &mut bob,
            other => panic!("whose shell is {other:?}?"),
        };
        person.enter(&commands);
        let meets_as = |role| {
            let commands_of = [format!("psijoin {role}"), format!("psijoin check {role}")];
            commands_of.iter().any(|one| commands.contains(one))
        };
        // Ann's command ends when Bob's has met it.
        if meets_as("receive") {
            continue;
        }
        person.wait();
        if meets_as("send") {
            ann.wait();
        }
    }
    let learned = [3, 3, 1, 2].map(|keys| format!("You learned {keys} shared key"));
    let mut learned: Vec<_> = learned.iter().map(String::as_str).collect();
    learned.push("You learned that you share 3 keys");
    let printed = ann.close(&learned);
    let sums = "amount\t20.50\nrefund\t-3.505\n";
    assert!(TUTORIAL.contains(&format!("```text\n{sums}```")));
    assert!(printed.starts_with("psi1-") && printed.ends_with(&format!("\n3\n{sums}")));
    let printed = bob.close(&[]);
    assert!(printed.starts_with("psi1-"));
    assert!(
        printed.contains("bob-job: done\n") && printed.contains("done on this side: 1 of 1 part\n")
    );

    assert!(printed.contains("ann-record.json is the same record.\n"));

    assert_eq!(
        folder.read("refunded.csv"),
        "email,amount,refund\nAda@Example.org,12.50,-3.5\nada@example.org,7.25,-3.5\ngrace@example.org,0.75,-0.005\n"
    );
    assert_eq!(folder.read("shared.txt"), "centre\ntea\nÅngström\n");
    let shown = format!("```csv\n{}```", folder.read("by-email.csv"));
    assert!(TUTORIAL.contains(&shown), "{shown}");
    assert!(folder.names().contains(&"by-name.parquet".to_owned()));
}
