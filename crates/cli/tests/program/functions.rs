//! Counts and thresholds: what is learned, and by whom.

use psijoin::{OutputKind, registry};
use serde_json::Value;

use crate::support::{Ended, Folder, join, lines, run};

/// Both parties, with the same options: 5 of the receiver's 12 words are among the sender's 9.
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
    [joined.receiver, joined.sender]
}

#[test]
fn a_count_tells_how_many_and_not_which() {
    let [receiver, sender] = joined(&["--output-kind", "count"]);
    receiver.says(
        0,
        &[
            "dh: 9 keys of the sender",
            "You learned that you share 5 keys and the sender's set size (9).",
        ],
    );
    assert_eq!(receiver.stdout, "5\n");
    sender.says(
        0,
        &["The receiver learned how many keys you share, and not which, and your set's size (9)."],
    );
    assert_eq!(sender.stdout, "");
}

#[test]
fn a_threshold_tells_one_bit() {
    for (least, answer, than) in [
        ("5", "reached", "at least 5"),
        ("6", "not reached", "fewer than 6"),
    ] {
        let [receiver, sender] = joined(&["--output-kind", &format!("threshold:{least}")]);
        receiver.says(0, &[&format!("You learned that you share {than} keys and")]);
        assert_eq!(receiver.stdout, format!("{answer}\n"));
        let learned = format!(
            "The receiver learned whether you share at least {least} keys, and neither which nor \
             how many, and"
        );
        sender.says(0, &[&learned]);
    }
}

#[test]
fn scripts_read_it_in_the_report() {
    let json = |kind: &str| -> Value {
        let [receiver, sender] = joined(&["--output-kind", kind, "--json"]);
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
fn a_threshold_above_a_set_is_not_reached() {
    let [receiver, sender] = joined(&["--output-kind", "threshold:10"]);
    receiver.says(0, &["You learned that you share fewer than 10 keys"]);
    assert_eq!(receiver.stdout, "not reached\n");
    sender.says(0, &["whether you share at least 10 keys"]);
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
    let joined = join(&args("count"), &args("rows"));
    for party in [joined.receiver, joined.sender] {
        party.says(5, &["the output", "count", "rows"]);
        assert_eq!(party.stdout, "");
    }
}

#[test]
fn what_cannot_be_computed_is_refused_at_once() {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..3));
    let refused = |options: &[&str], says: &[&str]| {
        let args = [
            &["receive", "--connect", "127.0.0.1:1", "--input", &words][..],
            &["--insecure-plaintext", "--output-kind", "count"],
            options,
        ];
        run(&args.concat()).says(2, says);
    };
    for protocol in registry::PROTOCOLS {
        let name = protocol.info().name;
        if !protocol.computes(&OutputKind::Count) {
            let says = ["cannot compute the output count", "rr22-circuit"];
            refused(&["--protocol", name], &says);
        }
    }
    refused(&["--output", "x.csv"], &["--output is for rows"]);
}
