//! The commands of *Run it every week*, as its units have them, through weeks of all sorts.
//!
//! The replacements: the program, the folder, the address, the fingerprints, the wait, and the
//! week.

use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{Ended, Folder, Process, free_address, lines, run};

const PAGE: &str = include_str!("../../../../docs/weekly.md");

/// A side: its folder, and what its unit starts, before and at last.
struct Side {
    folder: Folder,
    commands: [String; 2],
}

/// Returns the shell's part of the lines of both units that begin with this, as systemd reads them.
fn scripts(setting: &str) -> Vec<String> {
    let script = |line: &str| {
        let quoted = line.strip_prefix(setting)?.strip_prefix("=/bin/sh -c '")?;
        let script = quoted.strip_suffix('\'')?;
        Some(script.replace("$$", "$").replace("%%", "%"))
    };
    PAGE.lines().filter_map(script).collect()
}

/// Ann's side and Bob's.
fn sides() -> [Side; 2] {
    let address = free_address();
    let folders = [Folder::new(), Folder::new()];
    let [ann, bob] = [0, 1].map(|side: usize| {
        let made = run(&["keygen", "--out", &folders[side].path("identity.pem")]);
        made.stdout.trim().to_owned()
    });
    let (before, joins) = (scripts("ExecStartPre"), scripts("ExecStart"));
    let commands = ["receive", "send"].map(|role| {
        let join = format!("psijoin {role} ");
        let at = joins.iter().position(|script| script.contains(&join));
        let at = at.expect("a unit of this role");
        let join = joins[at]
            .replace("/usr/local/bin/psijoin", env!("CARGO_BIN_EXE_psijoin"))
            .replace("date +%G-W%V", "cat week")
            .replace("psi1-BOBS-FINGERPRINT", &bob)
            .replace("psi1-ANNS-FINGERPRINT", &ann)
            .replace("0.0.0.0:7766", &address)
            .replace("ann.example.org:7766", &address)
            .replace("--wait 3600", "--wait 20");
        [before[at].clone(), join]
    });
    let mut folders = folders.into_iter();
    commands.map(|commands| Side {
        folder: folders.next().unwrap(),
        commands,
    })
}

impl Side {
    fn start(&self) -> Process {
        let [before, join] = self.commands.each_ref().map(|script| {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", script]).current_dir(self.folder.path(""));
            shell
        });
        let (mut before, mut join) = (before, join);
        assert!(before.status().unwrap().success());
        // As the units' `Environment=` has it.
        join.env("PSIJOIN_LOG", "off");
        join.stdin(Stdio::null()).stdout(Stdio::piped());
        Process::spawn(join)
    }

    fn begins(&self, week: &str) {
        self.folder.file("week", week);
    }

    fn report(&self) -> Value {
        serde_json::from_str(&self.folder.read("report.json")).unwrap()
    }
}

/// Runs the units of both sides in this week; Ann first.
fn week(name: &str, ann: &Side, bob: &Side) -> [Ended; 2] {
    ann.begins(name);
    bob.begins(name);
    let (ann, bob) = (ann.start(), bob.start());
    [ann.end(), bob.end()]
}

/// Returns whether a unit tries again after this code.
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
    let [receiver, sender] = week("2026-W01", &ann, &bob);
    ends(&ann, &receiver, 0);
    ends(&bob, &sender, 0);
    let shared = "email\n".to_owned() + &customers(150..300);
    assert_eq!(ann.folder.read("shared.csv"), shared);
    assert_eq!(ann.report()["session"], bob.report()["session"]);

    // That week again: nothing is left to do, and another export is not taken for this one.
    ann.start().end().says(0, &["already done"]);
    assert_eq!(ann.report()["outcome"], "already done");
    ann.folder
        .file("customers.csv", "email\n".to_owned() + &customers(0..301));
    let changed = ann.start().end();
    changed.says(2, &["a table (its keys"]);
    ends(&ann, &changed, 2);
    ann.folder
        .file("customers.csv", "email\n".to_owned() + &customers(0..300));

    // A small week, and one that is smaller than what must be shared.
    for (name, subscribers) in [("2026-W02", 250..400), ("2026-W03", 290..293)] {
        bob.folder.file(
            "subscribers.csv",
            "mail\n".to_owned() + &customers(subscribers),
        );
        let [receiver, sender] = week(name, &ann, &bob);
        ends(&ann, &receiver, 6);
        ends(&bob, &sender, 6);
    }

    // A week without Bob.
    ann.begins("2026-W04");
    let alone = ann.start().end();
    alone.says(4, &["the other party did not connect"]);
    ends(&ann, &alone, 4);

    // A broken export.
    bob.folder
        .file("subscribers.csv", "mail,since\nc1,2001\nc2\n");
    let [receiver, sender] = week("2026-W05", &ann, &bob);
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
        [
            "customers.csv",
            "identity.pem",
            "report.json",
            "shared.csv",
            "week",
            "weekly"
        ]
    );
    assert_eq!(
        bob.folder.names(),
        [
            "identity.pem",
            "report.json",
            "subscribers.csv",
            "week",
            "weekly"
        ]
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
