//! Counts and sums by groups, by both commands.

use serde_json::Value;

use crate::{
    line::{Cheat, join_over_a_line},
    support::{Ended, Folder, all_exit, all_exit_without_result, assert_said, join, run, trust},
};

const MINE: &str =
    "id,segment,spend\n1,test,5\n2,control,7\n3,test,1\n4,,2\n1,test,\n,left out,9\n";
const THEIRS: &str =
    "id,plan,amount\n1,gold,1.50\n2,gold,-3\n3,basic,10\n3,basic,0.5\n9,=silver,100\n";

/// Without this, a sender refuses sums of the receiver's columns, and small groups of its own.
const ALLOW: &str = "--allow-sums-that-reveal-keys";

const BY_SEGMENT: [&str; 4] = [
    "--output-kind",
    "counts,sum:sender.amount",
    "--group-by",
    "receiver.segment",
];

const BY_BOTH: [&str; 4] = [
    "--output-kind",
    "counts,sum:receiver.spend,sender.amount",
    "--group-by",
    "sender.plan,receiver.segment",
];

struct Tables {
    folder: Folder,
    mine: String,
    theirs: String,
}

impl Tables {
    fn new() -> Self {
        let folder = Folder::new();
        Self {
            mine: folder.file("mine.csv", MINE),
            theirs: folder.file("theirs.csv", THEIRS),
            folder,
        }
    }

    /// Returns the options of both, the receiver's first, with these.
    fn args<'a>(&'a self, both: &[&'a str]) -> [Vec<&'a str>; 2] {
        [&self.mine, &self.theirs].map(|table| {
            let own = ["--input", table, "--key", "id", "--insecure-plaintext"];
            [&own[..], both].concat()
        })
    }

    /// Runs both, the receiver first, with these options, and those of each.
    fn join(&self, both: &[&str], receivers: &[&str], senders: &[&str]) -> [Ended; 2] {
        let [mut receiver, mut sender] = self.args(both);
        receiver.extend(receivers);
        sender.extend(senders);
        join(&receiver, &sender).both()
    }
}

#[test]
fn both_are_told_what_was_learned_of_groups() {
    let tables = Tables::new();
    let least = ["--min-group", "2"];
    let said = [
        tables.join(&[&BY_SEGMENT[..], &least].concat(), &[], &[]),
        tables.join(&BY_BOTH, &[], &[ALLOW]),
    ];
    all_exit(said.as_flattened(), 0);
    assert_said!(said.as_flattened());
}

#[test]
fn means_are_printed_and_reported() {
    let tables = Tables::new();
    let by = ["--group-by", "sender.plan", "--min-group", "1"];
    let both = [&["--output-kind", "counts,mean:sender.amount"][..], &by].concat();
    let [receiver, _] = tables.join(&both, &[], &[]);
    assert_eq!(
        receiver.says(0, &[]).stdout,
        "sender.plan,shared_keys,withheld,sum:sender.amount,mean:sender.amount\n\
         =silver,,true,,\nbasic,1,false,10.50,10.50000000\ngold,2,false,-1.50,-0.75000000\n"
    );
    let [receiver, _] = tables.join(&both, &["--report", "-"], &[]);
    let report: Value = serde_json::from_str(&receiver.stdout).unwrap();
    let groups = &report["result"]["groups"];
    assert_eq!(groups[0]["means"], serde_json::json!([null]));
    assert_eq!(groups[2]["means"], serde_json::json!(["-0.75000000"]));
}

/// The noise is 0, but for a probability below 2^-10,000.
#[test]
fn both_are_told_what_noise_the_sender_added() {
    let tables = Tables::new();
    let noise = "laplace:epsilon=100000,bound=sender.amount:-2.5..7";
    let both = [&BY_SEGMENT[..], &["--noise", noise]].concat();
    let least = ["--min-group", "2"];
    let said = [
        tables.join(&both, &[], &[]),
        tables.join(&[&both[..], &least].concat(), &[], &[]),
    ];
    all_exit(said.as_flattened(), 0);
    assert_said!(said.as_flattened());
}

#[test]
fn groups_go_to_a_file_in_its_format() {
    let tables = Tables::new();
    let csv = tables.folder.path("groups.csv");
    let options = ["--output", &csv, "--quote-formulas", "--no-clobber"];
    let [receiver, _] = tables.join(&BY_BOTH, &options, &[ALLOW]);
    receiver.says(0, &["Wrote 9 groups to"]);
    assert_eq!(receiver.stdout, "");
    let written = tables.folder.read("groups.csv");
    assert_eq!(
        written,
        "sender.plan,receiver.segment,shared_keys,withheld,sum:receiver.spend,sum:sender.amount\n\
         \"'=silver\",control,0,false,0,0.00\n\"'=silver\",test,0,false,0,0.00\n\"'=silver\",,0,false,0,0.00\n\
         basic,control,0,false,0,0.00\nbasic,test,1,false,1,10.50\nbasic,,0,false,0,0.00\n\
         gold,control,1,false,7,-3.00\ngold,test,1,false,5,1.50\ngold,,0,false,0,0.00\n"
    );
    let parquet = tables.folder.path("groups.parquet");
    let [receiver, _] = tables.join(&BY_BOTH, &["--output", &parquet], &[ALLOW]);
    receiver.says(0, &[]);
    let columns = run(&["columns", &parquet]);
    columns.says(0, &[]);
    assert_eq!(columns.stdout.lines().count(), 6, "{columns:#?}");
}

/// In parts, beyond the memory, and with a job on each side, the groups are those of one run.
#[test]
fn parts_memory_and_jobs_change_nothing() {
    let tables = Tables::new();
    let once = tables.join(&BY_BOTH, &[], &[ALLOW]);
    all_exit(&once, 0);
    let jobs = ["mine.job", "theirs.job"].map(|name| tables.folder.path(name));
    let apart = ["--parts", "3", "--table-memory", "0kB"];
    let both = [&BY_BOTH[..], &apart].concat();
    let again = tables.join(&both, &["--job", &jobs[0]], &["--job", &jobs[1], ALLOW]);
    all_exit(&again, 0);
    assert_eq!(again[0].stdout, once[0].stdout);
    assert_eq!(again[1].stdout, "");
}

#[test]
fn scripts_read_groups_in_the_report_and_the_record_tells_who_learns_them() {
    let tables = Tables::new();
    let trust = trust(&tables.folder);
    let records = ["mine.json", "theirs.json"].map(|name| tables.folder.path(name));
    let [mine, theirs] = [&tables.mine, &tables.theirs].map(|table| {
        let own = [
            "--input",
            table,
            "--key",
            "id",
            "--report",
            "-",
            "--min-group",
            "1",
        ];
        [&own[..], &BY_SEGMENT].concat()
    });
    let [receivers, senders] =
        [&trust.receiver, &trust.sender].map(|own| own.each_ref().map(String::as_str));
    let receiver = [&mine[..], &receivers, &["--record", &records[0]]].concat();
    let sender = [&theirs[..], &senders, &["--record", &records[1], ALLOW]].concat();
    let both = join(&receiver, &sender).both();
    all_exit(&both, 0);
    let reports = both.map(|ended| serde_json::from_str::<Value>(&ended.stdout).unwrap());
    let groups = &reports[0]["result"]["groups"];
    assert_eq!(groups[1]["labels"][0], "test");
    assert_eq!(groups[1]["sums"][0], "12.00");
    assert_eq!(groups[2]["withheld"], true);
    assert_eq!(groups[2]["shared_keys"], Value::Null);
    assert_eq!(reports[1]["result"], Value::Null);
    for report in &reports {
        let by = &report["groups"]["by"][0];
        assert_eq!(
            (&by["name"], &by["labels"]),
            (&"receiver.segment".into(), &3.into())
        );
        assert_eq!(report["groups"]["min_group"], 1);
    }
    let verified = run(&["verify", &records[1], "--against", &records[0]]);
    for learns in [
        "how many keys are shared, and what the columns that were asked for add up to over them, in \
         each group that has at least 1 of them",
        "the 3 different values of the column segment of the receiver",
    ] {
        assert!(verified.stdout.contains(learns), "{learns}: {verified:#?}");
    }
}

/// The receiver has more values than there can be groups, and none of them goes over the line.
#[test]
fn lists_of_labels_are_known_and_values_are_not_told() {
    let tables = Tables::new();
    let lists = [
        ("segments.csv", "segment\ntest\n\"control, \"\"b\"\"\"\n"),
        ("plans.txt", "gold\nbasic\n"),
    ];
    let [segments, plans] = lists.map(|(name, text)| tables.folder.file(name, text));
    let [of_segments, of_plans] = [("receiver.segment", &segments), ("sender.plan", &plans)]
        .map(|(column, file)| format!("{column}={file}"));
    let both = [
        &BY_BOTH[..],
        &["--groups", &of_segments, "--groups", &of_plans],
    ]
    .concat();
    let crossed = tables.join(&both, &["--report", "-"], &[ALLOW]);
    all_exit(&crossed, 0);
    let report: Value = serde_json::from_str(&crossed[0].stdout).unwrap();
    let groups = report["result"]["groups"].as_array().unwrap();
    let shared: Vec<_> = groups
        .iter()
        .filter(|group| group["shared_keys"] != 0)
        .collect();
    let labels: Vec<_> = shared
        .iter()
        .map(|group| group["labels"].to_string())
        .collect();
    let expected = [
        r#"["basic","test"]"#,
        r#"["gold","test"]"#,
        r#"["gold","other"]"#,
    ];
    assert_eq!(
        (groups.len(), &labels[..]),
        (16, &expected.map(str::to_owned)[..])
    );
    assert_eq!(report["groups"]["by"][1]["listed"], true);

    let rows: String = (0..300)
        .map(|key| format!("{key},secret {key},1\n"))
        .collect();
    let many = tables
        .folder
        .file("many.csv", format!("id,segment,spend\n{rows}"));
    let by_segment = [&BY_SEGMENT[..], &["--groups", &segments]].concat();
    let [mut receiver, mut sender] = tables.args(&by_segment);
    receiver[1] = &many;
    sender.push(ALLOW);
    let joined = join_over_a_line(&receiver, &sender, Cheat::Receiver, |message| {
        assert!(!message.windows(6).any(|part| part == b"secret"));
    });
    let told = joined.both();
    all_exit(&told, 0);
    assert_said!(told);
}

#[test]
fn lists_that_differ_or_are_none_are_refused() {
    let tables = Tables::new();
    let list = |name: &str, text: &str| tables.folder.file(name, text);
    let (one, other) = (
        list("one.txt", "test\ncontrol\n"),
        list("other.txt", "test\n"),
    );
    let least = [&BY_SEGMENT[..], &["--min-group", "2"]].concat();
    let differ = tables.join(&least, &["--groups", &one], &["--groups", &other]);
    all_exit_without_result(&differ, 5);
    let one_sided = tables.join(&least, &["--groups", &one], &[]);
    all_exit_without_result(&one_sided, 5);

    // Whoever cannot read its own list tells the other side, which would wait for it.
    let wide = list("wide.csv", "a,b\n1,2\n");
    let reserved = list("reserved.txt", "test\nother\n");
    let unread = [(&wide[..], 2), (&reserved, 2), ("no such list", 3)].map(|(mine, code)| {
        let [receiver, sender] = tables.join(&least, &["--groups", mine], &["--groups", &one]);
        receiver.says(code, &["telling the other party"]);
        sender.says(7, &[]);
        receiver
    });
    let refused = |by: [&str; 4], options: &[&str]| {
        let [receiver, _] = tables.args(&[&by[..], options].concat());
        let meeting = ["receive", "--connect", "127.0.0.1:1", "--wait", "1"];
        run(&[&meeting[..], &receiver].concat())
    };
    let twice = format!("receiver.segment={one}");
    let refused_at_once = [
        refused(BY_SEGMENT, &["--groups", &one, "--groups", &twice]),
        refused(BY_SEGMENT, &["--groups", &one, "--report", &one]),
        refused(BY_BOTH, &["--groups", &one]),
        refused(
            ["--output-kind", "count", "--learn", "receiver"],
            &["--groups", &one],
        ),
    ];
    assert!(refused_at_once.iter().all(|ended| ended.stdout.is_empty()));
    let said: Vec<_> = differ
        .into_iter()
        .chain(one_sided)
        .chain(unread)
        .chain(refused_at_once)
        .collect();
    assert_said!(said);
}

#[test]
fn groups_that_differ_or_are_too_many_end_both() {
    let tables = Tables::new();
    let args = |own: [&'static str; 4], least| {
        let [mine, theirs] = tables.args(&own);
        (mine, [&theirs[..], &["--min-group", least]].concat())
    };
    let (mine, _) = args(BY_SEGMENT, "2");
    let (_, theirs) = args(BY_BOTH, "3");
    let differ = join(&[&mine[..], &["--min-group", "2"]].concat(), &theirs).both();
    all_exit_without_result(&differ, 5);
    let rows: String = (0..300).map(|key| format!("{key},{key},1\n")).collect();
    let many = Tables {
        mine: tables
            .folder
            .file("many.csv", format!("id,segment,spend\n{rows}")),
        ..Tables::new()
    };
    let too_many = many.join(&BY_SEGMENT, &[], &[ALLOW]);
    all_exit_without_result(&too_many, 2);
    let small = tables.join(&BY_SEGMENT, &[], &[]);
    small[0].says(5, &[]);
    small[1].says(6, &[]);
    let unlike = Tables {
        mine: tables
            .folder
            .file("unlike.csv", "id,segment\n1,secret\n2,b\n1,other\n"),
        ..Tables::new()
    };
    let unlike = unlike.join(&BY_SEGMENT, &[], &[ALLOW]);
    unlike[0].says(3, &[]);
    unlike[1].says(7, &[]);
    assert!(!unlike[0].stderr.contains("secret"));
    assert_said!([differ, too_many, small, unlike].as_flattened());
}

#[test]
fn what_does_not_go_together_is_said_at_once() {
    let table = Folder::new();
    let input = table.file("table.csv", "id,l,n\n1,a,2\n");
    let refused = |command: &str, options: &[&str]| {
        let args = [
            &[command, "--connect", "127.0.0.1:1", "--wait", "1"][..],
            &["--input", &input, "--key", "id", "--insecure-plaintext"],
            options,
        ];
        let ended = run(&args.concat());
        assert_eq!(ended.stdout, "");
        ended
    };
    let by = ["--group-by", "receiver.l"];
    let counts = ["--output-kind", "counts"];
    let grouped = [&counts[..], &by].concat();
    let with = |options: &[&'static str]| [&grouped[..], options].concat();
    assert_said!([
        refused("receive", &counts),
        refused("receive", &by),
        refused("send", &["--min-group", "2"]),
        refused("receive", &[&counts[..], &["--group-by", "l"]].concat()),
        refused(
            "receive",
            &[&counts[..], &["--group-by", "receiver.m"]].concat()
        ),
        refused("receive", &["--output-kind", "counts,sum:", by[0], by[1]]),
        refused("receive", &["--noise", "laplace:epsilon=1"]),
        refused("send", &with(&["--noise", "gaussian:rho=1"])),
        refused(
            "send",
            &with(&["--noise", "laplace:epsilon=1,bound=n:0..1"])
        ),
        refused("receive", &with(&["--min-intersection", "2"])),
        refused("receive", &with(&["--learn", "both"])),
        refused("receive", &with(&["--rows", "all"])),
        refused("send", &with(&["--output", "x.csv"])),
        refused("receive", &with(&["--protocol", "dh"])),
    ]);
}

/// One side's messages about its labels reach the other changed.
#[test]
fn a_peer_that_tells_other_labels_is_refused() {
    let tables = Tables::new();
    let [receiver, mut sender] = tables.args(&BY_BOTH);
    sender.push(ALLOW);
    let lies: [(Cheat, &[u8], &[u8]); 5] = [
        // Their number, no number, and their order; a text that is none, and another label.
        (
            Cheat::Sender,
            b"labels of group column 1\x013",
            b"labels of group column 1\x014",
        ),
        (
            Cheat::Receiver,
            b"labels of group column 2\x013",
            b"labels of group column 2\x01x",
        ),
        (
            Cheat::Sender,
            b"\x05\x00basic\x04\x00gold",
            b"\x05\x00zasic\x04\x00gold",
        ),
        (Cheat::Receiver, b"\x07\x00control", b"\x07\x00contro\xff"),
        (Cheat::Receiver, b"\x07\x00control", b"\x07\x00controm"),
    ];
    let said = lies.map(|(cheat, told, lie)| {
        let mut lies = 0;
        let joined = join_over_a_line(&receiver, &sender, cheat, |message| {
            let at = message.windows(told.len()).position(|part| part == told);
            if let Some(at) = at {
                message[at..][..lie.len()].copy_from_slice(lie);
                lies += 1;
            }
        });
        assert_eq!(lies, 1, "{cheat:?} {told:?}");
        let both = joined.both();
        all_exit_without_result(&both, 5);
        both
    });
    assert_said!(said.as_flattened());
}
