//! The commands for one party alone.

use std::process::Stdio;

use serde_json::Value;

use crate::support::{Folder, Process, run};

fn objects(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn keygen_prints_a_fingerprint_and_never_overwrites() {
    let folder = Folder::new();
    let path = folder.path("me.pem");
    let made = run(&["keygen", "--out", &path]);
    made.says(0, &["Tell the other party", "me.pem"]);
    let fingerprint = made.stdout.trim();
    assert!(
        fingerprint.starts_with("psi1-") && fingerprint.len() == 39,
        "{fingerprint}"
    );
    let before = folder.read("me.pem");
    run(&["keygen", "--out", &path]).says(3, &["never overwritten"]);
    assert_eq!(folder.read("me.pem"), before);
}

#[test]
fn the_demo_shows_shared_rows_bytes_time_and_what_was_learned() {
    let demo = run(&["demo"]);
    demo.says(0, &[]);
    for text in [
        "1003  grace.hopper@example.net",
        "1014   barbara.liskov@example.com",
        "1009  alan.turing@example.com",
        "run rr22 (RR22)",
        "of traffic",
        "flights",
        "The shop learned 8 shared keys and that the newspaper has 18 distinct keys.",
        "The newspaper learned that the shop has 21 distinct keys.",
    ] {
        assert!(demo.stdout.contains(text), "{text:?} in {}", demo.stdout);
    }
    assert!(!demo.stdout.contains("INSECURE"));
    let insecure = run(&["demo", "--protocol", "naive"]);
    assert!(insecure.stdout.contains("INSECURE"), "{}", insecure.stdout);
}

#[test]
fn temporary_files_are_not_named() {
    let missing = Folder::new().path("missing");
    let demo = Process::start_with(&["demo"], |command| {
        let quiet = command.stdin(Stdio::null()).stdout(Stdio::piped());
        quiet.env("TMPDIR", &missing)
    });
    let demo = demo.end();
    demo.says(3, &["cannot use a temporary file", "TMPDIR"]);
    assert!(!demo.stderr.contains(&missing), "{demo:#?}");
}

#[test]
fn protocols_are_listed_with_their_costs() {
    let table = run(&["protocols", "--items", "2^10:1e6"]);
    table.says(0, &[]);
    for text in [
        "1,024 items of the sender and 1,000,000 of the receiver",
        "INSECURE",
        "semi-honest",
        "KKRT16",
        "malicious",
        "auto, the default of send and receive, takes what suits the sizes: here rr22.",
    ] {
        assert!(table.stdout.contains(text), "{text:?} in {}", table.stdout);
    }
    let few = run(&["protocols", "--items", "100"]);
    assert!(few.stdout.contains("here dh."), "{}", few.stdout);
    let list = run(&["protocols", "--items", "0", "--json"]);
    let objects = objects(&list.stdout);
    let names: Vec<_> = objects
        .iter()
        .map(|object| object["name"].as_str())
        .collect();
    let expected = [
        "naive",
        "dh",
        "dh-ffdhe3072",
        "rsa",
        "psz-none",
        "psz-simple",
        "psz-balanced",
        "psz-cuckoo",
        "pssz",
        "gbf",
        "gbf-silent",
        "random-gbf",
        "random-gbf-silent",
        "circuit-yao",
        "circuit-gmw",
        "circuit-gmw-vector",
        "circuit-gmw-vector-silent",
        "kkrt",
        "spot-fast",
        "spot-low",
        "spot-low-malicious-sender",
        "cm20",
        "cm20-malicious-sender",
        "kk20",
        "kk20-silent",
        "rr22",
        "rr22-malicious",
        "rr22-circuit",
    ];
    assert_eq!(names, expected.map(Some));
    assert!(objects.iter().all(|object| object["sender_bytes"] == 0));
}

#[test]
fn bench_prints_a_table_for_people_and_lines_for_scripts() {
    let args = [
        "bench",
        "--protocol",
        "naive,kkrt",
        "--items",
        "1000:2000",
        "--runs",
        "2",
    ];
    let table = run(&args);
    table.says(0, &[]);
    for text in [
        "1,000 items of the sender, 2,000 of the receiver",
        "median",
        "base OT",
    ] {
        assert!(table.stdout.contains(text), "{text:?} in {}", table.stdout);
    }
    let costs = objects(&run(&["protocols", "--items", "1000:2000", "--json"]).stdout);
    for transport in ["memory", "tcp", "tls"] {
        let more = [
            "--json",
            "--transport",
            transport,
            "--network",
            "wan:1gbps,4ms",
        ];
        let bench = run(&[&args[..], &more].concat());
        bench.says(0, &[]);
        let objects = objects(&bench.stdout);
        assert_eq!(objects.len(), 2);
        for object in objects {
            assert_eq!(object["network"], "wan:1gbps,4ms");
            let cost = costs
                .iter()
                .find(|cost| cost["name"] == object["protocol"])
                .unwrap();
            for figure in ["sender_bytes", "receiver_bytes", "flights"] {
                assert_eq!(object[figure], cost[figure], "{figure} over {transport}");
            }
            let milliseconds = object["minimum_seconds"].as_f64().unwrap() * 1000.0;
            let waiting = cost["flights"].as_f64().unwrap() * 2.0;
            assert!(milliseconds >= waiting, "{milliseconds} < {waiting}");
        }
    }
}

#[test]
fn columns_are_listed_in_every_dialect() {
    let folder = Folder::new();
    let table = folder.file("t.csv", "id;name\n1;\"ann;\"\n");
    let columns = |more: &[&str]| run(&[&["columns", &table], more].concat());
    let usual = columns(&[]);
    usual.says(0, &["say --delimiter semicolon"]);
    assert_eq!(usual.stdout, "id;name\n");
    let said = columns(&["--delimiter", "semicolon"]);
    said.says(0, &["t.csv is read as CSV, semicolons"]);
    assert_eq!(said.stdout, "id\nname\n");
    assert!(!said.stderr.contains("WARNING"));
    let numbered = columns(&["--delimiter", ";", "--quote", "none", "--no-header"]);
    numbered.says(
        0,
        &["t.csv is read as CSV, semicolons, no quotes, no header"],
    );
    assert_eq!(numbered.stdout, "1\n2\n");

    columns(&["--delimiter", ";;"]).says(2, &["one ASCII character, or the word tab"]);
    columns(&["--quote", ","]).says(2, &["the delimiter and the quote are the same"]);
    let lines = folder.file("t.txt", "a\n");
    run(&["columns", &lines, "--no-header"]).says(2, &["is read as lines", "--no-header"]);
}

#[test]
fn keys_are_shown_as_they_are_compared() {
    let folder = Folder::new();
    let table = folder.file(
        "t.csv",
        "mail,n\n Ann@x.org,01\nbob@x.org,2\n,3\nann@x.org,1.0\n",
    );
    let normalize = ["--normalize", "mail=email", "--normalize", "n=number"];
    let keys = |more: &[&str]| {
        let shown = run(&[&["keys", &table, "--key", "mail,n"], &normalize[..], more].concat());
        shown.says(0, &[]);
        shown.stdout
    };
    let shown = keys(&[]);
    for text in [
        "4 rows, 2 distinct keys; 1 row repeating a key, 1 row without a key, left out",
        "text: trim, lowercase (Unicode",
        "trim: 1, lowercase: 1",
        "number: 2",
        "The keys, as they are compared:",
        "\"ann@x.org\"  \"1\"",
    ] {
        assert!(shown.contains(text), "{text:?} in {shown}");
    }
    assert!(keys(&["--first", "1"]).contains("The first 1 of 2 keys"));
    assert!(!keys(&["--first", "0"]).contains("bob"));

    let report = objects(&keys(&["--json", "--first", "1"])).remove(0);
    assert_eq!(report["distinct_keys"], 2);
    assert_eq!(report["columns"][1]["kind"], "number");
    assert_eq!(report["columns"][1]["changed"]["number"], 2);
    assert_eq!(report["columns"][0]["empty"], 1);
    assert_eq!(report["first_keys"][0][1], "1");

    let missing = run(&["keys", &table, "--key", "x"]);
    missing.says(3, &["no column `x`", "psijoin columns"]);
    let unread = run(&[
        "keys",
        &table,
        "--key",
        "mail",
        "--normalize",
        "mail=number",
    ]);
    unread.says(3, &["line 2, column `mail`: not a number"]);
}
