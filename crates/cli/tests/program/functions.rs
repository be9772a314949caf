//! Counts and thresholds: what is learned, and by whom.

use psijoin::{OutputKind, registry};
use serde_json::Value;

use crate::support::{Ended, Folder, all_exit_without_result, assert_said, join, lines, run};

/// Runs both parties, with the same options: 5 of the receiver's 12 words are among the sender's 9.
fn joined(options: &[&str]) -> [Ended; 2] {
    let folder = Folder::new();
    let (mine, theirs) = (
        folder.file("mine", lines(0..12)),
        folder.file("theirs", lines(7..16)),
    );
    let options = [options, &["--insecure-plaintext"]].concat();
    let joined = join(
        &[&["--input", &mine][..], &options].concat(),
        &[&["--input", &theirs][..], &options].concat(),
    );
    assert_eq!(folder.names(), ["mine", "theirs"], "nothing is written");
    joined.both()
}

#[test]
fn a_count_tells_how_many_and_not_which() {
    let both = joined(&["--output-kind", "count"]);
    both[0].says(0, &[]);
    assert_eq!(both[0].stdout, "5\n");
    both[1].says(0, &[]);
    assert_eq!(both[1].stdout, "");
    assert_said!(both);
}

#[test]
fn a_threshold_tells_one_bit() {
    let said = [
        ("5", "reached\n"),
        ("6", "not reached\n"),
        // More than a set has.
        ("10", "not reached\n"),
    ]
    .map(|(least, answer)| {
        let both = joined(&["--output-kind", &format!("threshold:{least}")]);
        both[0].says(0, &[]);
        assert_eq!(both[0].stdout, answer);
        both[1].says(0, &[]);
        both
    });
    assert_said!(said.as_flattened());
}

#[test]
fn scripts_read_it_in_the_report() {
    let json = |kind: &str| -> Value {
        let [receiver, sender] = joined(&["--output-kind", kind, "--report", "-"]);
        let sender: Value = serde_json::from_str(&sender.stdout).unwrap();
        assert_eq!(sender["output"], kind);
        assert_eq!(sender["result"], Value::Null);
        let receiver: Value = serde_json::from_str(&receiver.stdout).unwrap();
        receiver["result"].clone()
    };
    assert_eq!(json("count"), serde_json::json!({ "shared_keys": 5 }));
    assert_eq!(json("threshold:5"), serde_json::json!({ "reached": true }));
}

#[test]
fn both_must_want_the_same() {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..3));
    let args = |kind| {
        [
            "--input",
            &words,
            "--insecure-plaintext",
            "--output-kind",
            kind,
        ]
    };
    let both = join(&args("count"), &args("rows")).both();
    all_exit_without_result(&both, 5);
    assert_said!(both);
}

#[test]
fn what_cannot_be_computed_is_refused_at_once() {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..3));
    let refused = |options: &[&str]| {
        let args = [
            &["receive", "--connect", "127.0.0.1:1", "--input", &words][..],
            &["--insecure-plaintext", "--output-kind", "count"],
            options,
        ];
        let ended = run(&args.concat());
        ended.says(2, &[]);
        ended
    };
    // Each prints this: the snapshot has one.
    for protocol in registry::PROTOCOLS {
        let name = protocol.info().name;
        if !protocol.computes(&OutputKind::Count) {
            let says = ["cannot compute the output count", "rr22-circuit"];
            refused(&["--protocol", name]).says(2, &says);
        }
    }
    assert_said!([
        refused(&["--protocol", "kkrt"]),
        refused(&["--output", "x.csv"]),
    ]);
}
