//! `--min-intersection`: nothing is learned if too few keys are shared.

use std::ops::Range;

use psijoin::{OutputKind, registry};
use serde_json::Value;

use crate::support::{Ended, Folder, all_exit_without_result, assert_said, join, run};

fn numbers(range: Range<u32>) -> String {
    range.map(|number| format!("{number}\n")).collect()
}

/// Runs both parties, with the same options, and more of the receiver's: 5 of its 12 numbers are
/// among the sender's 9.
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
    joined.both()
}

#[test]
fn enough_shared_keys_give_the_result() {
    let said = [
        ("rows", "7\n8\n9\n10\n11\n"),
        ("count", "5\n"),
        ("sum:receiver.value", "45\n"),
    ]
    .map(|(kind, result)| {
        let options = ["--output-kind", kind, "--min-intersection", "5"];
        let both = joined(&options, &[]);
        assert_eq!(both[0].stdout, result);
        both
    });
    assert_said!(said.as_flattened());
}

#[test]
fn too_few_are_all_that_both_learn() {
    let folder = Folder::new();
    let output = folder.path("shared");
    let said = [
        ("rows", &["--output", &output][..]),
        ("rows", &[]),
        ("count", &[]),
        ("sum:sender.value", &[]),
        ("sum:sender.value,receiver.value", &[]),
    ]
    .map(|(kind, receivers)| {
        let options = ["--output-kind", kind, "--min-intersection", "6"];
        let both = joined(&options, receivers);
        for party in &both {
            party.says(6, &[]);
            assert!(!party.stderr.contains("You learned"), "{party:#?}");
            assert_eq!(party.stdout, "");
        }
        assert_eq!(folder.names(), [""; 0], "nothing is written");
        both
    });
    assert_said!(said.as_flattened());
}

#[test]
fn the_report_tells_the_condition() {
    let options = [
        "--output-kind",
        "count",
        "--min-intersection",
        "1",
        "--report",
        "-",
    ];
    for party in joined(&options, &[]) {
        let report: Value = serde_json::from_str(&party.stdout).unwrap();
        assert_eq!(report["min_intersection"], 1);
    }
}

#[test]
fn more_than_a_set_has_are_never_shared() {
    let said = ["rows", "count", "sum:sender.value"].map(|kind| {
        let options = ["--output-kind", kind, "--min-intersection", "10"];
        let both = joined(&options, &[]);
        all_exit_without_result(&both, 6);
        both
    });
    assert_said!(said.as_flattened());
}

#[test]
fn both_must_give_the_same() {
    let folder = Folder::new();
    let words = folder.file("words", numbers(0..3));
    let args = ["--input", &words, "--insecure-plaintext"];
    let both = join(&[&args[..], &["--min-intersection", "2"]].concat(), &args).both();
    all_exit_without_result(&both, 5);
    assert_said!(both);
}

#[test]
fn what_cannot_be_withheld_is_refused_at_once() {
    let folder = Folder::new();
    let words = folder.file("words", numbers(0..3));
    let refused = |least: &str, options: &[&str]| {
        let args = [
            &["receive", "--connect", "127.0.0.1:1", "--input", &words][..],
            &["--insecure-plaintext", "--min-intersection", least],
            options,
        ];
        let ended = run(&args.concat());
        ended.says(2, &[]);
        assert!(!ended.stderr.contains("connecting"), "{ended:#?}");
        ended
    };
    // Each prints this: the snapshot has one.
    for protocol in registry::PROTOCOLS {
        let name = protocol.info().name;
        if protocol.computes(&OutputKind::Rows) && !protocol.withholds() {
            let says = ["cannot withhold what it finds", "rr22-circuit"];
            refused("2", &["--protocol", name]).says(2, &says);
        }
    }
    assert_said!([
        refused("2", &["--protocol", "dh"]),
        refused("2", &["--output-kind", "threshold:3"]),
        refused("0", &[]),
        refused("some", &[]),
    ]);
}
