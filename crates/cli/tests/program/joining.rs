//! Joins that go well.

use std::{io::Write, process::Stdio};

use psijoin::{Adversary, registry};
use serde_json::Value;

use crate::support::{
    Folder, Process, all_exit, assert_said, closed_pipe, join, join_with, lines, run, trust,
};

const CUSTOMERS: &str = "id,email,name\r\n\
                         1,Ann@Example.org ,\"Ann, the first\"\r\n\
                         2,bob@example.org,Bob\r\n\
                         3,,Nobody\r\n\
                         4,ANN@example.org,Ann again\r\n\
                         5,eve@example.org,Eve\r\n";

const SUBSCRIBERS: &str = "mail,since\n\
                           joe@example.org,2001\n\
                           eve@example.org,2002\n\
                           ann@example.org,2003\n\
                           eve@example.org,2004\n";

const SHARED: &str = "id,email,name\r\n\
                      1,Ann@Example.org ,\"Ann, the first\"\r\n\
                      4,ANN@example.org,Ann again\r\n\
                      5,eve@example.org,Eve\r\n";

fn args(texts: &[String]) -> Vec<&str> {
    texts.iter().map(String::as_str).collect()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn every_protocol_finds_the_shared_rows() {
    let folder = Folder::new();
    let customers = folder.file("customers.csv", CUSTOMERS);
    let subscribers = folder.file("subscribers.csv", SUBSCRIBERS);
    let trust = trust(&folder);
    let mut said = Vec::new();
    for info in registry::PROTOCOLS.iter().map(|protocol| protocol.info()) {
        let protocol = info.name;
        let receiver = ["--input", &customers, "--key", "email", "--normalize"];
        let sender = ["--input", &subscribers, "--key", "mail", "--normalize"];
        let joined = join(
            &[
                &receiver[..],
                &["email=email", "--protocol", protocol],
                &args(&trust.receiver),
            ]
            .concat(),
            &[
                &sender[..],
                &["mail=email", "--protocol", protocol],
                &args(&trust.sender),
            ]
            .concat(),
        );
        assert_eq!(joined.receiver.stdout, SHARED, "{protocol}");
        assert_eq!(joined.sender.stdout, "");
        let curious = "that follows the protocol, not from one that cheats.";
        let even = format!("{protocol} protects you even from a");
        let even_sender = format!("{even} sender that cheats.");
        let warning = format!("WARNING: {protocol} is INSECURE");
        let protections = match info.adversary {
            Adversary::Insecure => [&*warning; 2],
            Adversary::Malicious => [&*even; 2],
            Adversary::MaliciousSender => [&*even_sender, curious],
            _ => [curious; 2],
        };
        let both = joined.both();
        for (party, protection) in both.iter().zip(protections) {
            party.says(0, &[protection]);
            let insecure = info.adversary == Adversary::Insecure;
            assert_eq!(party.stderr.contains("INSECURE"), insecure);
        }
        // One of each adversary.
        if ["naive", "dh", "cm20-malicious-sender", "rr22-malicious"].contains(&protocol) {
            said.extend(both);
        }
    }
    assert_said!(said);
}

#[test]
fn by_default_the_sizes_choose_the_protocol() {
    let folder = Folder::new();
    for (items, shown, protocol) in [(10, "10", "dh"), (9_000, "9,000", "rr22")] {
        let words = folder.file("words", lines(0..items));
        let output = folder.path("shared");
        let args = ["--input", &words, "--report", "-", "--insecure-plaintext"];
        let joined = join(&[&args[..], &["--output", &output]].concat(), &args);
        for party in [joined.receiver, joined.sender] {
            party.says(0, &[&format!("{protocol}: {shown} keys of the sender")]);
            assert_eq!(json(&party.stdout)["protocol"]["name"], protocol);
        }
        assert_eq!(folder.read("shared"), lines(0..items));
    }
}

#[test]
fn lines_are_joined_in_the_receivers_order() {
    let folder = Folder::new();
    let mine = folder.file("mine", "pear\napple\n\nfig\n");
    let theirs = folder.file("theirs.txt", "apple\nfig\nquince\npear tree\npear\n");
    let joined = join(
        &["--input", &mine, "--insecure-plaintext"],
        &["--input", &theirs, "--insecure-plaintext"],
    );
    assert_eq!(joined.receiver.stdout, "pear\napple\nfig\n");
    assert_said!(joined.both());
}

#[test]
fn parquet_goes_in_and_out() {
    let folder = Folder::new();
    let customers = folder.file("customers.csv", CUSTOMERS);
    let subscribers = folder.file("subscribers.csv", SUBSCRIBERS);
    let (parquet, csv) = (folder.path("shared.parquet"), folder.path("back.csv"));
    let receive = |input: &str, output: &str| {
        join(
            &[
                "--input",
                input,
                "--key",
                "email",
                "--normalize",
                "email=email",
                "--output",
                output,
                "--insecure-plaintext",
            ],
            &[
                "--input",
                &subscribers,
                "--key",
                "mail",
                "--normalize",
                "mail=email",
                "--insecure-plaintext",
            ],
        )
    };
    let said = [(&customers, &parquet), (&parquet, &csv)]
        .map(|(input, output)| receive(input, output).both());
    assert_eq!(folder.read("back.csv"), SHARED.replace("\r\n", "\n"));
    assert_said!(said.as_flattened());
}

#[test]
fn each_side_names_its_own_columns_and_countries() {
    let folder = Folder::new();
    let mine = folder.file(
        "mine.csv",
        "\"name, short\",tel\nStra\u{df}er,030 1234567\nMa\u{df},030 7654321\n",
    );
    let theirs = folder.file(
        "theirs.csv",
        "mobile,nick\n011 49 30 1234567,STRASSER\n+49 30 7654321,MAAS\n",
    );
    let joined = join(
        &[
            "--input",
            &mine,
            "--key",
            "tel,\"name, short\"",
            "--normalize",
            "tel=phone:DE",
            "--normalize",
            "name, short=casefold",
            "--insecure-plaintext",
        ],
        &[
            "--input",
            &theirs,
            "--key",
            "mobile",
            "--key",
            "nick",
            "--normalize",
            "mobile=phone:us",
            "--normalize",
            "nick=casefold",
            "--insecure-plaintext",
        ],
    );
    joined.sender.says(0, &[]);
    assert_eq!(
        joined.receiver.stdout,
        "\"name, short\",tel\nStra\u{df}er,030 1234567\n"
    );
}

#[test]
fn the_receiver_may_connect_and_reports_never_hold_an_item() {
    let folder = Folder::new();
    let customers = folder.file("customers.csv", CUSTOMERS);
    let subscribers = folder.file("subscribers.csv", SUBSCRIBERS);
    let output = folder.path("shared.csv");
    let report = folder.path("report.json");
    let trust = trust(&folder);

    let (sender, address) = Process::listen(
        "send",
        &[
            &["--input", &subscribers, "--key", "mail"],
            &["--report", "-", "--threads", "2"][..],
            &args(&trust.sender),
        ]
        .concat(),
    );
    let receiver = run(&[
        &[
            "receive",
            "--connect",
            &address,
            "--input",
            &customers,
            "--key",
            "email",
        ],
        &["--output", &output, "--report", &report][..],
        &args(&trust.receiver),
    ]
    .concat());
    receiver.says(0, &[]);
    let sender = sender.end();
    sender.says(0, &[]);
    assert!(
        folder
            .read("shared.csv")
            .ends_with("\r\n5,eve@example.org,Eve\r\n")
    );

    let reported = folder.read("report.json");
    let (ours, theirs) = (json(&reported), json(&sender.stdout));
    assert_eq!(ours["peer"]["fingerprint"], trust.receiver[3].as_str());
    assert_eq!(theirs["threads"], 2);
    for (one, other) in [(&ours, &theirs), (&theirs, &ours)] {
        assert_eq!(
            one["traffic"]["sent_bytes"],
            other["traffic"]["received_bytes"]
        );
        assert_eq!(one["protocol"], other["protocol"]);
        assert_eq!(one["security"], other["security"]);
        assert!(one["security"]["total_failure_log2"].as_f64().unwrap() <= -40.0);
    }
    for text in [&reported, &sender.stdout, &receiver.stderr, &sender.stderr] {
        assert!(!text.contains("example.org"), "{text}");
    }
    assert_said!([
        receiver.stderr,
        format!("{ours:#}\n"),
        sender.stderr,
        format!("{theirs:#}\n"),
    ]);
}

#[test]
fn several_columns_are_one_key() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "a,b\nab,c\na,bc\nx, 01\n");
    let theirs = folder.file("theirs.csv", "n,p,q\n1,01,x\n2,bc,a\n");
    let joined = join(
        &[
            "--input",
            &mine,
            "--key",
            "a,b",
            "--normalize",
            "b=trim",
            "--normalize",
            "a=trim",
            "--insecure-plaintext",
        ],
        &[
            "--input",
            &theirs,
            "--key",
            "q",
            "--key",
            "p",
            "--normalize",
            "q=trim",
            "--normalize",
            "p=trim",
            "--insecure-plaintext",
        ],
    );
    assert_said!(joined.both());
}

#[test]
fn a_table_without_any_key_shares_nothing() {
    let folder = Folder::new();
    let none = folder.file("none.csv", "email\n");
    let nulls = folder.file("nulls.csv", "email,x\n,1\n,2\n");
    let some = folder.file("some.csv", "email\nann@example.org\n");
    let said = [
        (&none, &some),
        (&nulls, &some),
        (&some, &none),
        (&none, &nulls),
    ]
    .map(|(mine, theirs)| {
        let joined = join(
            &["--input", mine, "--key", "email", "--insecure-plaintext"],
            &["--input", theirs, "--key", "email", "--insecure-plaintext"],
        );
        joined.sender.says(0, &[]);
        joined.receiver.says(0, &[]);
        assert_eq!(joined.receiver.stdout.lines().count(), 1, "the header");
        joined.both()
    });
    assert_said!(said.as_flattened());
}

/// Each side chooses the form of its own dates; unreadable ones are told to both.
#[test]
fn each_side_may_write_its_dates_in_its_own_way() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "born\n03.02.2024\n29.02.2024\n");
    let theirs = folder.file("theirs.csv", "day\n20240203\n2024-03-01\n");
    let broken = folder.file("broken.csv", "day\n20240203\n2024-02-30\n");
    let receiver = ["--input", &mine, "--key", "born", "--insecure-plaintext"];
    let sender = |table| ["--input", table, "--key", "day", "--insecure-plaintext"];
    let joined = |table| {
        join(
            &[&receiver[..], &["--normalize", "born=date:%d.%m.%Y"]].concat(),
            &[&sender(table)[..], &["--normalize", "day=date"]].concat(),
        )
    };
    let good = joined(&theirs);
    good.receiver.says(0, &[]);
    assert_eq!(good.receiver.stdout, "born\n03.02.2024\n");
    let bad = joined(&broken);
    bad.sender.says(3, &[]);
    assert!(!bad.sender.stderr.contains("02-30"), "{:#?}", bad.sender);
    bad.receiver.says(7, &[]);
    assert_said!([good.both(), bad.both()].as_flattened());
}

/// The receiver hears that next to nothing was found, and what to compare; the sender does not.
#[test]
fn zero_is_not_passed_over_in_silence() {
    let folder = Folder::new();
    let mine = folder.file("mine", lines(0..300));
    let joined = |theirs: &str, kind: &str, is_warned: bool| {
        let args = ["--insecure-plaintext", "--output-kind", kind];
        let mut joined = join(
            &[&["--input", &mine], &args[..]].concat(),
            &[&["--input", theirs], &args[..]].concat(),
        );
        joined.receiver.says(0, &[]);
        let warned = joined.receiver.stderr.contains("how the keys are spelled");
        assert_eq!(warned, is_warned, "{:#?}", joined.receiver);
        assert!(!joined.sender.stderr.contains("spelled"));
        // Some are rows.
        joined.receiver.stdout.clear();
        joined.both()
    };
    let upper = folder.file("upper", lines(0..300).to_uppercase());
    let few = folder.file("few", lines(298..600));
    let enough = folder.file("enough", lines(297..600));
    joined(&upper, "count", true);
    joined(&few, "count", true);
    let said = [
        joined(&upper, "rows", true),
        joined(&few, "rows", true),
        joined(&enough, "rows", false),
        joined(&enough, "count", false),
        joined(&upper, "threshold:3", false),
    ];
    assert_said!(said.as_flattened());
}

#[test]
fn standard_input_is_a_table_too() {
    let folder = Folder::new();
    let theirs = folder.file("theirs", lines(5..50));
    let (stdin, mut feed) = std::io::pipe().unwrap();
    feed.write_all(lines(0..8).as_bytes()).unwrap();
    drop(feed);
    let joined = join_with(
        &["--input", "-", "--insecure-plaintext"],
        &["--input", &theirs, "--insecure-plaintext"],
        |command| command.stdin(stdin).stdout(Stdio::piped()),
    );
    assert_eq!(joined.receiver.stdout, lines(5..8));
    assert_said!(joined.both());
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..20_000));
    let args = ["--input", &words, "--insecure-plaintext"];
    let joined = join_with(&args, &args, |command| command.stdout(closed_pipe()));
    let both = joined.both();
    all_exit(&both, 0);
    assert_said!(both);
}

#[test]
fn comments_and_lines_before_the_header_stay_behind() {
    let folder = Folder::new();
    let mine = folder.file(
        "a.csv",
        "An export\nid,name\n# of all\n1,\"x\n# y\"\n#2,z\n3,z\n",
    );
    let theirs = folder.file("b.txt", "3\n1\n2\n#2\n");
    let receiver = [
        "--input",
        &mine,
        "--skip-lines",
        "1",
        "--comment",
        "#",
        "--key",
        "id",
    ];
    let align = ["--learn", "both", "--align", "--insecure-plaintext"];
    for more in [&align[..], &align[3..]] {
        let both = join(
            &[&receiver, more].concat(),
            &[&["--input", &theirs], more].concat(),
        )
        .both();
        all_exit(&both, 0);
        let shared = &both[0].stdout;
        let [one, three] = ["1,\"x\n# y\"\n", "3,z\n"];
        let orders = [
            format!("id,name\n{one}{three}"),
            format!("id,name\n{three}{one}"),
        ];
        assert!(orders.contains(shared), "{shared}");
    }
}

#[test]
fn tables_in_other_dialects_are_joined() {
    let folder = Folder::new();
    let semicolons = folder.file("a.csv", "1;\"x;y\"\r\n2;z\r\n");
    let tabs = folder.file("b.tsv", "id\tb\n\"x\t1\nx;y\t2\n");
    let joined = join(
        &[
            "--input",
            &semicolons,
            "--delimiter",
            "semicolon",
            "--no-header",
            "--key",
            "2",
            "--insecure-plaintext",
        ],
        &["--input", &tabs, "--key", "id", "--insecure-plaintext"],
    );
    assert_eq!(joined.receiver.stdout, "1;\"x;y\"\r\n");
    assert_said!(joined.both());
}
