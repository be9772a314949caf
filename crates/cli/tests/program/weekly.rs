//! The commands of *Run it every week*, as its units have them, through weeks of all sorts.
//!
//! What is put in the place of others: the program, the folder, the address, the fingerprints, and
//! how long to wait.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Ended, Folder, Process, free_address, lines, run};

const PAGE: &str = include_str!("../../../../docs/weekly.md");

/// A side: its folder, and what its unit starts.
struct Side {
    folder: Folder,
    command: String,
}

/// The `ExecStart` of a unit that says this.
fn exec_start(says: &str) -> &'static str {
    let line = PAGE
        .lines()
        .find(|line| line.starts_with("ExecStart=") && line.contains(says));
    line.unwrap().strip_prefix("ExecStart=").unwrap()
}

/// Ann's side and Bob's.
fn sides() -> [Side; 2] {
    let address = free_address();
    let folders = [Folder::new(), Folder::new()];
    let [ann, bob] = [0, 1].map(|side: usize| {
        let made = run(&["keygen", "--out", &folders[side].path("identity.pem")]);
        made.stdout.trim().to_owned()
    });
    let commands = ["receive", "send"].map(|role| {
        exec_start(&format!("psijoin {role} "))
            .replace("/usr/local/bin/psijoin", env!("CARGO_BIN_EXE_psijoin"))
            .replace("psi1-BOBS-FINGERPRINT", &bob)
            .replace("psi1-ANNS-FINGERPRINT", &ann)
            .replace("0.0.0.0:7766", &address)
            .replace("ann.example.org:7766", &address)
            .replace("--wait 3600", "--wait 8")
    });
    let mut folders = folders.into_iter();
    commands.map(|command| Side {
        folder: folders.next().unwrap(),
        command,
    })
}

impl Side {
    fn start(&self) -> Process {
        let mut words = self.command.split_whitespace();
        let mut command = Command::new(words.next().unwrap());
        command
            .args(words)
            .current_dir(self.folder.path(""))
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        Process::spawn(command)
    }

    fn report(&self) -> Value {
        serde_json::from_str(&self.folder.read("report.json")).unwrap()
    }
}

/// Both sides run their units; Ann first.
fn week(ann: &Side, bob: &Side) -> [Ended; 2] {
    let (ann, bob) = (ann.start(), bob.start());
    [ann.end(), bob.end()]
}

/// Whether a unit tries again after this code.
fn tries_again(code: i32) -> bool {
    let line = "RestartPreventExitStatus=";
    let kept = PAGE
        .lines()
        .find_map(|text| text.strip_prefix(line))
        .unwrap();
    !kept.split(' ').any(|kept| kept == code.to_string())
}

#[track_caller]
fn ends(side: &Side, ended: &Ended, code: i32) {
    ended.says(code, &[]);
    let report = side.report();
    assert_eq!(report["exit_code"], code);
    if code == 0 {
        assert_eq!(ended.stderr, "", "silent on success");
        assert_eq!(report["outcome"], "done");
    } else {
        assert_eq!(report["try_again"], tries_again(code), "{report:#}");
        assert!(ended.stderr.lines().count() <= 2, "{ended:#?}");
    }
}

#[test]
fn its_units_do_what_it_says() {
    let [ann, bob] = sides();
    let customers = |mails: std::ops::Range<u32>| lines(mails).replace("word ", "c");
    ann.folder
        .file("customers.csv", "email\n".to_owned() + &customers(0..300));

    // A good week.
    bob.folder.file(
        "subscribers.csv",
        "mail\n".to_owned() + &customers(150..400),
    );
    let [receiver, sender] = week(&ann, &bob);
    ends(&ann, &receiver, 0);
    ends(&bob, &sender, 0);
    let shared = "email\n".to_owned() + &customers(150..300);
    assert_eq!(ann.folder.read("shared.csv"), shared);
    assert_eq!(ann.report()["session"], bob.report()["session"]);

    // A small week, and one that is smaller than what must be shared.
    for subscribers in [250..400, 290..293] {
        bob.folder.file(
            "subscribers.csv",
            "mail\n".to_owned() + &customers(subscribers),
        );
        let [receiver, sender] = week(&ann, &bob);
        ends(&ann, &receiver, 6);
        ends(&bob, &sender, 6);
    }

    // A week without Bob.
    let alone = ann.start().end();
    alone.says(4, &["the other party did not connect"]);
    ends(&ann, &alone, 4);

    // A broken export.
    bob.folder
        .file("subscribers.csv", "mail,since\nc1,2001\nc2\n");
    let [receiver, sender] = week(&ann, &bob);
    sender.says(3, &["line 3: 1 field where the header has 2"]);
    receiver.says(7, &["the other party gave up: it cannot use its own input"]);
    ends(&bob, &sender, 3);
    ends(&ann, &receiver, 7);

    assert_eq!(
        ann.folder.read("shared.csv"),
        shared,
        "that of the good week"
    );
    assert_eq!(
        ann.folder.names(),
        ["customers.csv", "identity.pem", "report.json", "shared.csv"]
    );
    assert_eq!(
        bob.folder.names(),
        ["identity.pem", "report.json", "subscribers.csv"]
    );
}

#[test]
fn every_code_stands_in_the_tables() {
    let tutorial = include_str!("../../../../docs/tutorial.md");
    let help = run(&["send", "--help"]).stdout;
    for code in 0..=7 {
        for page in [PAGE, tutorial] {
            assert!(page.contains(&format!("\n| {code} | ")), "{code}");
        }
        assert!(help.contains(&format!("\n  {code}  ")), "{code}");
    }
}
