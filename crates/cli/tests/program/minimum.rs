//! `--min-intersection`: nothing is learned if too few keys are shared.

use std::ops::Range;

use psijoin::{OutputKind, registry};
use serde_json::Value;

use crate::support::{Ended, Folder, join, run};

fn numbers(range: Range<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

/// Both parties, with the same options, and more of the receiver's: 5 of its 12 numbers are among
/// the sender's 9.
fn joined(options: &[&str], receivers: &[&str]) -> [Ended; 2] {
    let folder = Folder::new();
    let mine = folder.file("mine", numbers(0..12));
    let theirs = folder.file("theirs", numbers(7..16));
    let options = [options, &["--insecure-plaintext"]].concat();
    let joined = join(
        &[&["--input", &mine], &options[..], receivers].concat(),
        &[
            &["--input", &theirs, "--allow-sums-that-reveal-keys"],
            &options[..],
        ]
        .concat(),
    );
    assert_eq!(folder.names(), ["mine", "theirs"], "nothing is written");
    [joined.receiver, joined.sender]
}

#[test]
fn enough_shared_keys_give_the_result() {
    for (kind, result) in [
        ("rows", "7\n8\n9\n10\n11\n"),
        ("count", "5\n"),
        ("sum:receiver.value", "45\n"),
    ] {
        let options = ["--output-kind", kind, "--min-intersection", "5"];
        let [receiver, sender] = joined(&options, &[]);
        let both = "Both sides know that they share at least 5 keys.";
        receiver.says(0, &["rr22-circuit: 9 keys of the sender", both]);
        sender.says(0, &[both]);
        assert_eq!(receiver.stdout, result);
    }
}

#[test]
fn too_few_are_all_that_both_learn() {
    let folder = Folder::new();
    let output = folder.path("shared");
    for (kind, receivers) in [
        ("rows", &["--output", &output][..]),
        ("rows", &[]),
        ("count", &[]),
        ("sum:sender.value", &[]),
        ("sum:sender.value,receiver.value", &[]),
    ] {
        let options = ["--output-kind", kind, "--min-intersection", "6"];
        for party in joined(&options, receivers) {
            party.says(
                6,
                &[
                    "psijoin: fewer than 6 keys are shared: by --min-intersection, neither side \
                   learns more of the result",
                ],
            );
            assert!(!party.stderr.contains("You learned"), "{party:#?}");
            assert_eq!(party.stdout, "");
        }
        assert_eq!(folder.names(), [""; 0], "nothing is written");
    }
}

#[test]
fn the_report_tells_the_condition() {
    let options = [
        "--output-kind",
        "count",
        "--min-intersection",
        "1",
        "--json",
    ];
    for party in joined(&options, &[]) {
        let report: Value = serde_json::from_str(&party.stdout).unwrap();
        assert_eq!(report["min_intersection"], 1);
    }
}

#[test]
fn more_than_a_set_has_are_never_shared() {
    for kind in ["rows", "count", "sum:sender.value"] {
        let options = ["--output-kind", kind, "--min-intersection", "10"];
        for party in joined(&options, &[]) {
            party.says(6, &["fewer than 10 keys are shared"]);
            assert_eq!(party.stdout, "");
        }
    }
}

#[test]
fn both_must_give_the_same() {
    let folder = Folder::new();
    let words = folder.file("words", numbers(0..3));
    let args = ["--input", &words, "--insecure-plaintext"];
    let joined = join(&[&args[..], &["--min-intersection", "2"]].concat(), &args);
    for party in [joined.receiver, joined.sender] {
        party.says(5, &["the least number of shared keys", "`2`", "`0`"]);
        assert_eq!(party.stdout, "");
    }
}

#[test]
fn what_cannot_be_withheld_is_refused_at_once() {
    let folder = Folder::new();
    let words = folder.file("words", numbers(0..3));
    let refused = |least: &str, options: &[&str], says: &[&str]| {
        let args = [
            &["receive", "--connect", "127.0.0.1:1", "--input", &words][..],
            &["--insecure-plaintext", "--min-intersection", least],
            options,
        ];
        let ended = run(&args.concat());
        ended.says(2, says);
        assert!(!ended.stderr.contains("connecting"), "{ended:#?}");
    };
    for protocol in registry::PROTOCOLS {
        let name = protocol.info().name;
        if protocol.computes(&OutputKind::Rows) && !protocol.withholds() {
            let says = ["cannot withhold what it finds", "rr22-circuit"];
            refused("2", &["--protocol", name], &says);
        }
    }
    let threshold = ["--output-kind", "threshold:3"];
    refused(
        "2",
        &threshold,
        &["--min-intersection is for rows, count and sum"],
    );
    refused("0", &[], &["--min-intersection"]);
    refused("some", &[], &["--min-intersection"]);
}
