//! `--learn both`: the sender gets its rows, too, and columns go both ways.

use serde_json::Value;

use crate::support::{Ended, Folder, Joined, assert_said, exists, join, run, trust};

const MINE: &str = "email,name,plan\nann@x.org,Ann,old\nbob@x.org,Bob,\ncid@x.org,Cid,new\nann@x.org,Ann again,older\n";
const THEIRS: &str =
    "mail,plan,since\nbob@x.org,gold,2020\nzoe@x.org,basic,2019\nann@x.org,silver,\n,none,1999\n";

struct Tables {
    folder: Folder,
    mine: String,
    theirs: String,
    /// Where the receiver and the sender write.
    outputs: [String; 2],
}

impl Tables {
    fn new() -> Self {
        let folder = Folder::new();
        Self {
            mine: folder.file("mine.csv", MINE),
            theirs: folder.file("theirs.csv", THEIRS),
            outputs: ["received.csv", "sent.csv"].map(|name| folder.path(name)),
            folder,
        }
    }

    /// Joins with `--learn both`, each side writing a file.
    fn joined(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        self.written(
            &[&["--learn", "both"], receiver].concat(),
            &[&["--learn", "both"], sender].concat(),
        )
    }

    /// Joins, each side writing a file.
    fn written(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        let [received, sent] = &self.outputs;
        self.run(
            &[&["--output", received], receiver].concat(),
            &[&["--output", sent], sender].concat(),
        )
    }

    fn run(&self, receiver: &[&str], sender: &[&str]) -> Joined {
        let receive = [
            "--insecure-plaintext",
            "--input",
            &self.mine,
            "--key",
            "email",
        ];
        let send = [
            "--insecure-plaintext",
            "--input",
            &self.theirs,
            "--key",
            "mail",
        ];
        join(
            &[&receive[..], receiver].concat(),
            &[&send[..], sender].concat(),
        )
    }

    fn read(&self) -> [String; 2] {
        ["received.csv", "sent.csv"].map(|name| self.folder.read(name))
    }
}

#[test]
fn both_get_their_rows() {
    let tables = Tables::new();
    let [of_receiver, of_sender] = ["r.json", "s.json"].map(|name| tables.folder.path(name));
    let both = tables.joined(&["--report", &of_receiver], &["--report", &of_sender]);
    assert_said!(both.both());
    let [received, sent] = tables.read();
    assert_eq!(
        received,
        "email,name,plan\nann@x.org,Ann,old\nbob@x.org,Bob,\nann@x.org,Ann again,older\n"
    );
    assert_eq!(
        sent,
        "mail,plan,since\nbob@x.org,gold,2020\nann@x.org,silver,\n"
    );
    for (report, rows) in [("r.json", 3), ("s.json", 2)] {
        let report: Value = serde_json::from_str(&tables.folder.read(report)).unwrap();
        assert_eq!(report["learners"], "both");
        assert_eq!(report["given"], serde_json::json!([]));
        assert_eq!(report["result"]["shared_keys"], 2);
        assert_eq!(report["result"]["rows_written"], rows);
    }
}

/// Each side gets the other's columns, in every protocol, in one run and in parts, in memory and spilled.
#[test]
fn columns_go_both_ways() {
    let tables = Tables::new();
    for protocol in ["auto", "rr22", "rr22-malicious", "dh"] {
        for parts in [
            &[][..],
            &["--parts", "3"],
            &["--parts", "3", "--table-memory", "0kB"],
        ] {
            let common = [&["--protocol", protocol], parts].concat();
            let receive = [
                "--take",
                "since",
                "--give",
                "name,plan",
                "--give-repeated",
                "first",
            ];
            let send = ["--give", "plan,since", "--take", "all", "--rows", "all"];
            let both = tables.joined(
                &[&common[..], &receive].concat(),
                &[&common[..], &send].concat(),
            );
            both.receiver
                .says(0, &["the sender got your columns `name` and `plan`"]);
            both.sender
                .says(0, &["you got the receiver's columns `name` and `plan`"]);
            let [received, sent] = tables.read();
            assert_eq!(
                received,
                "email,name,plan,since\nann@x.org,Ann,old,\nbob@x.org,Bob,,2020\nann@x.org,Ann again,older,\n",
                "{protocol} {parts:?}"
            );
            assert_eq!(
                sent,
                "mail,plan,since,shared,name,partner_plan\nbob@x.org,gold,2020,true,Bob,\n\
                 zoe@x.org,basic,2019,false,,\nann@x.org,silver,,true,Ann,old\n,none,1999,false,,\n",
                "{protocol} {parts:?}"
            );
        }
    }
}

/// The receiver's columns without any of the sender's.
#[test]
fn columns_go_back_alone() {
    let tables = Tables::new();
    let give = ["--give", "name", "--give-repeated", "list:2"];
    let both = tables.joined(&give, &["--take", "all"]);
    assert_said!(both.both());
    let [_, sent] = tables.read();
    assert_eq!(
        sent,
        "mail,plan,since,name\nbob@x.org,gold,2020,Bob\nann@x.org,silver,,Ann\nann@x.org,silver,,Ann again\n"
    );
}

#[test]
fn nothing_shared_is_nothing_for_both() {
    let folder = Folder::new();
    let [received, sent] = ["received.csv", "sent.csv"].map(|name| folder.path(name));
    let file = |name, text| folder.file(name, text);
    let (some, others) = (file("some.csv", "id\n1\n"), file("others.csv", "id\n2\n"));
    let none = file("none.csv", "id\n");
    for (mine, theirs) in [
        (&some, &others),
        (&some, &none),
        (&none, &some),
        (&none, &none),
    ] {
        let common = ["--insecure-plaintext", "--key", "id", "--learn", "both"];
        let trade = ["--give", "id", "--take", "all"];
        let both = join(
            &[
                &common[..],
                &trade,
                &["--input", mine, "--output", &received],
            ]
            .concat(),
            &[&common[..], &trade, &["--input", theirs, "--output", &sent]].concat(),
        );
        both.receiver.says(0, &["no key is shared"]);
        both.sender.says(0, &["no key is shared"]);
        assert_eq!(folder.read("received.csv"), "id,partner_id\n");
        assert_eq!(folder.read("sent.csv"), "id,partner_id\n");
    }
}

#[test]
fn both_sides_say_who_learns() {
    let tables = Tables::new();
    let said = [
        tables.run(&["--learn", "both"], &[]).both(),
        tables.joined(&["--give", "name"], &[]).both(),
        tables.joined(&[], &["--take", "all"]).both(),
    ];
    let said: Vec<Ended> = said.into_iter().flatten().collect();
    assert!(tables.outputs.iter().all(|output| !exists(output)));
    assert_said!(said);
}

#[test]
fn what_makes_no_sense_is_refused_at_once() {
    let tables = Tables::new();
    let alone = |command: &str, more: &[&str]| -> Ended {
        let address = [
            "--connect",
            "127.0.0.1:1",
            "--wait",
            "1",
            "--insecure-plaintext",
        ];
        let table = ["--input", &tables.theirs, "--key", "mail"];
        run(&[&[command], &address[..], &table, more].concat())
    };
    let output = &tables.outputs[1];
    let said = [
        alone("receive", &["--give", "plan"]),
        alone("send", &["--take", "all"]),
        alone("send", &["--output", output]),
        alone("send", &["--rows", "all"]),
        alone("send", &["--learn", "both", "--json"]),
        alone("send", &["--learn", "both", "--output-kind", "count"]),
        alone("receive", &["--learn", "both", "--min-intersection", "2"]),
        alone("receive", &["--learn", "both", "--protocol", "kkrt"]),
        alone("receive", &["--learn", "everybody"]),
    ];
    assert_said!(said);
}

/// What each side was to learn stands in the record.
#[test]
fn a_record_says_who_learns() {
    let tables = Tables::new();
    let [received, sent] = &tables.outputs;
    let [ours, others] = ["r.json", "s.json"].map(|name| tables.folder.path(name));
    let trust = trust(&tables.folder);
    let [receiver, sender] =
        [&trust.receiver, &trust.sender].map(|own| own.each_ref().map(String::as_str));
    let receive = [
        "--learn",
        "both",
        "--input",
        &tables.mine,
        "--key",
        "email",
        "--output",
        received,
        "--give",
        "name",
        "--give-repeated",
        "first",
        "--record",
        &ours,
    ];
    let send = [
        "--learn",
        "both",
        "--input",
        &tables.theirs,
        "--key",
        "mail",
        "--output",
        sent,
        "--take",
        "all",
        "--record",
        &others,
    ];
    let both = join(
        &[&receiver[..], &receive].concat(),
        &[&sender[..], &send].concat(),
    );
    both.receiver.says(0, &[]);
    both.sender.says(0, &[]);
    let verified = run(&["verify", &ours, "--against", &others]);
    verified.says(0, &[]);
    let learns = "it was to learn which of its keys are shared";
    assert_eq!(
        verified.stdout.matches(learns).count(),
        2,
        "{}",
        verified.stdout
    );
    let columns =
        "it was to learn the columns name of the receiver for the shared keys, in 6 bytes per key";
    assert!(verified.stdout.contains(columns), "{}", verified.stdout);
}
