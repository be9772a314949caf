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
    /// The files to which the receiver and the sender write.
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

/// Each side gets the other's columns, in every protocol, in one run and in parts, in memory and
/// spilled.
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
                "--repeated",
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
    let give = ["--give", "name", "--repeated", "list:2"];
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
        alone("send", &["--learn", "both", "--report", "-"]),
        alone("send", &["--learn", "both", "--output-kind", "count"]),
        alone("receive", &["--learn", "both", "--min-intersection", "2"]),
        alone("receive", &["--learn", "both", "--protocol", "kkrt"]),
        alone("receive", &["--learn", "everybody"]),
    ];
    assert_said!(said);
}

/// The record has the output of each side.
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
        "--repeated",
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

const ALIGN: [&str; 3] = ["--align", "--repeated", "first"];

/// Both files have a row per shared key, in one order, which is another one in each session.
#[test]
fn aligned_rows_belong_to_each_other() {
    let folder = Folder::new();
    let rows = |ids: std::ops::Range<u32>, own: &str| {
        let rows = ids.map(|id| format!("{},{own}{id}\n{id},again\n", id));
        format!("id,{own}\n{}", rows.collect::<String>())
    };
    let tables = Tables {
        mine: folder.file("mine.csv", rows(0..300, "m")),
        theirs: folder.file("theirs.csv", rows(100..500, "t")),
        outputs: ["received.csv", "sent.csv"].map(|name| folder.path(name)),
        folder,
    };
    let mut orders = Vec::new();
    for parts in [
        &["--protocol", "rr22"][..],
        &["--protocol", "dh"],
        &["--protocol", "rr22", "--parts", "3"],
        &[
            "--protocol",
            "rr22",
            "--parts",
            "3",
            "--table-memory",
            "0kB",
        ],
    ] {
        let common = [&["--learn", "both", "--key", "id"], &ALIGN[..], parts].concat();
        let [receive, send] = [("mine", "received"), ("theirs", "sent")].map(|(input, output)| {
            let [input, output] =
                [input, output].map(|name| tables.folder.path(&format!("{name}.csv")));
            let own = [
                "--insecure-plaintext",
                "--input",
                &input,
                "--output",
                &output,
            ];
            let all = [&own[..], &common].concat();
            all.into_iter().map(str::to_owned).collect::<Vec<_>>()
        });
        let [receive, send] =
            [&receive, &send].map(|args| args.iter().map(String::as_str).collect::<Vec<_>>());
        let both = join(&receive, &send);
        both.receiver.says(
            0,
            &[
                "200 rows to ",
                "in the order in which the other side has its",
            ],
        );
        both.sender.says(0, &["200 rows to "]);
        let ids = |text: &str, own: &str| -> Vec<u32> {
            let rows = text.lines().skip(1).map(|row| row.split_once(',').unwrap());
            rows.map(|(id, value)| {
                assert_eq!(value, format!("{own}{id}"));
                id.parse().unwrap()
            })
            .collect()
        };
        let [received, sent] = tables.read();
        let order = ids(&received, "m");
        assert_eq!(order, ids(&sent, "t"));
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, Vec::from_iter(100..300));
        orders.push(order);
    }
    orders.sort();
    orders.dedup();
    assert_eq!(orders.len(), 4);
}

#[test]
fn aligned_rows_have_the_columns_of_the_other_side() {
    let tables = Tables::new();
    let receive = [&ALIGN[..], &["--give", "name", "--take", "since"]].concat();
    let both = tables.joined(&receive, &["--align", "--give", "since", "--take", "all"]);
    assert_said!(both.both());
    let [received, sent] = tables.read();
    let sorted = |text: &str| {
        let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
        rows[1..].sort_unstable();
        rows
    };
    assert_eq!(
        sorted(&received),
        [
            "email,name,plan,since",
            "ann@x.org,Ann,old,",
            "bob@x.org,Bob,,2020"
        ]
    );
    assert_eq!(
        sorted(&sent),
        [
            "mail,plan,since,name",
            "ann@x.org,silver,,Ann",
            "bob@x.org,gold,2020,Bob"
        ]
    );
    let keys = |text: &str| -> Vec<String> {
        let rows = text.lines().skip(1);
        rows.map(|row| row.split(',').next().unwrap().to_owned())
            .collect()
    };
    assert_eq!(keys(&received), keys(&sent));
}

#[test]
fn what_cannot_be_aligned_is_refused() {
    let tables = Tables::new();
    let said = [
        // Ann is in two rows.
        tables.joined(&["--align"], &["--align"]).both(),
        tables.joined(&ALIGN, &[]).both(),
    ];
    let mut said: Vec<Ended> = said.into_iter().flatten().collect();
    let alone = |more: &[&str]| -> Ended {
        let address = [
            "--connect",
            "127.0.0.1:1",
            "--wait",
            "1",
            "--insecure-plaintext",
        ];
        let table = ["--input", &tables.theirs, "--key", "mail"];
        run(&[&["send"], &address[..], &table, more].concat())
    };
    said.extend([
        alone(&["--align"]),
        alone(&["--learn", "both", "--align", "--repeated", "list:2"]),
        alone(&["--learn", "both", "--align", "--rows", "all"]),
        alone(&["--learn", "both", "--repeated", "first"]),
    ]);
    assert!(tables.outputs.iter().all(|output| !exists(output)));
    assert_said!(said);
}
