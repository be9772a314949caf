//! The commands of the tutorials and of the README, run as they stand there.
//!
//! Few things are put in the place of others: the word lists by short ones, since they are
//! not on every machine, ports by free ones, and a link by one that was printed.

use std::{
    env, fs,
    io::{PipeWriter, Write},
    path::Path,
    process::{Command, Stdio},
};

use crate::support::{Folder, Process, free_address};

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");
const README: &str = include_str!("../../../../README.md");
const DICTIONARIES: &str = "/usr/share/dict";
const ADDRESS: &str = "127.0.0.1:7766";

/// Returns the commands of a page in order, each with whose shell it is for.
fn commands(page: &'static str) -> Vec<(&'static str, &'static str)> {
    let blocks = page.split("```sh\n").skip(1);
    blocks
        .map(|text| {
            let (block, _) = text.split_once("```").expect("a block ends");
            let (shell, commands) = block.split_once('\n').expect("a block has lines");
            (shell, commands)
        })
        .collect()
}

/// A person's shell.
pub(crate) struct Shell {
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
    pub(crate) fn close(self, texts: &[&str]) -> String {
        drop(self.stdin);
        let ended = self.process.end();
        ended.says(0, texts);
        ended.stdout
    }
}

/// Enters the commands of a page into Ann's shell and Bob's, where some texts are replaced.
pub(crate) fn follow(page: &'static str, folder: &Folder, replaced: &[(&str, &str)]) -> [Shell; 2] {
    let address = free_address();
    let replaced = [replaced, &[(ADDRESS, &address)]].concat();
    let (mut ann, mut bob) = (Shell::start(folder), Shell::start(folder));
    for (shell, commands) in commands(page) {
        let replace = |text: String, (from, to): &(&str, &str)| text.replace(from, to);
        let commands = replaced.iter().fold(commands.to_owned(), replace);
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
    [ann, bob]
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
    let [ann, bob] = follow(TUTORIAL, &folder, &[(DICTIONARIES, &dictionaries)]);
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

/// Returns the words of the commands of the README for parties that know each other by name, in
/// order, each with the person that it is for.
fn commands_by_name() -> Vec<(&'static str, Vec<&'static str>)> {
    let (_, rest) = README.split_once("<!-- by-name -->\n```sh\n").unwrap();
    let (block, _) = rest.split_once("```").unwrap();
    let mut person = "";
    let mut commands = Vec::new();
    for line in block.lines() {
        let words = line.split_whitespace().filter(|word| *word != "\\");
        match line.split_once(' ') {
            Some(("#", comment)) => person = comment.split([',', ' ']).next().unwrap(),
            Some(("psijoin", _)) => commands.push((person, words.skip(1).collect::<Vec<_>>())),
            // The rest of the command before it.
            _ => commands.last_mut().unwrap().1.extend(words),
        }
    }
    commands
}

#[test]
fn two_parties_behind_firewalls_join_by_the_five_commands_of_the_readme() {
    let folder = Folder::new();
    let theirs = "email\nann@x.org\n Cid@X.org\n";
    folder.file(
        "customers.csv",
        "email,name\nANN@x.org,Ann\nbob@x.org,Bob\n",
    );
    folder.file("subscribers.csv", theirs);
    let start = |person: &str, words: &[String]| {
        let words: Vec<_> = words.iter().map(String::as_str).collect();
        Process::start_with(&words, |command| {
            command
                .current_dir(folder.path(""))
                .env("PSIJOIN_HOME", folder.path(person))
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
        })
    };
    let address = free_address();
    let mut link = String::new();
    let (mut relay, mut running) = (None, Vec::new());
    let commands = commands_by_name();
    assert_eq!(commands.len(), 5);
    for (person, words) in commands {
        let words: Vec<_> = words
            .into_iter()
            .map(|word| match word {
                "0.0.0.0:7767" | "relay.example.org:7767" => address.clone(),
                "psijoin:1:ANNS-LINK" => link.clone(),
                word => word.to_owned(),
            })
            .collect();
        let mut process = start(person, &words);
        match &*words[0] {
            "relay" => {
                process.address();
                relay = Some(process);
            }
            "receive" => {
                process.wait_for("is not there yet");
                running.push(process);
            }
            "send" => running.push(process),
            _ => {
                let ended = process.end();
                ended.says(0, &[]);
                if words[0] == "invite" {
                    link = ended.stdout.trim().to_owned();
                }
            }
        }
    }
    for process in running {
        process.end().says(0, &["from now on you know each other"]);
    }
    assert_eq!(folder.read("shared.csv"), "email,name\nANN@x.org,Ann\n");
    let relay = relay.unwrap();
    relay.signal("TERM");
    relay.end().says(0, &[]);
}
