//! Inputs that cannot be used, and outputs that cannot be written.

use std::fs::OpenOptions;

use crate::support::{Folder, exists, join, join_with, lines, run};

#[track_caller]
fn fails_alone(args: &[&str], texts: &[&str]) {
    let receive = [
        "receive",
        "--connect",
        "127.0.0.1:1",
        "--insecure-plaintext",
        "--wait",
        "1",
    ];
    let ended = run(&[&receive[..], args].concat());
    ended.says(3, texts);
    let (before, _) = ended.stderr.split_once("connecting").unwrap();
    for text in texts {
        assert!(before.contains(text), "before it looks for the other party");
    }
    assert_eq!(ended.stderr.matches("psijoin: ").count(), 1, "said once");
}

#[test]
fn what_can_be_seen_at_once_is_said_at_once() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id,name\n1,ann\n");
    let nowhere = folder.path("nowhere.csv");
    fails_alone(&["--input", &nowhere], &["cannot open", "nowhere.csv"]);
    fails_alone(
        &["--input", &table],
        &[
            "has 2 columns: say which of them are the key",
            "psijoin columns",
        ],
    );
    fails_alone(
        &["--input", &table, "--key", "email"],
        &["no column `email`", "2 columns", "psijoin columns"],
    );
    let not_gzip = folder.file("table.csv.gz", "id,name\n1,ann\n");
    fails_alone(
        &["--input", &not_gzip, "--key", "id"],
        &["cannot decompress", "table.csv.gz", "`gzip -t`"],
    );
    fails_alone(
        &["--input", &table, "--key", "id", "--output", &table],
        &["cannot write", "it is the input"],
    );
    let in_no_folder = folder.path("none/shared.csv");
    fails_alone(
        &["--input", &table, "--key", "id", "--output", &in_no_folder],
        &["cannot create"],
    );
    let report = folder.path("none/report.json");
    fails_alone(
        &["--input", &table, "--key", "id", "--report", &report],
        &["no report can be written"],
    );
}

#[test]
fn identities_must_be_there() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let nowhere = folder.path("me.pem");
    let made = run(&["keygen", "--out", &folder.path("other.pem")]);
    let args = |identity| {
        [
            "send",
            "--connect",
            "127.0.0.1:1",
            "--input",
            &table,
            "--identity",
            identity,
            "--peer",
            made.stdout.trim(),
        ]
    };
    run(&args(&nowhere)).says(3, &["me.pem", "hint: `psijoin keygen`"]);
    run(&args(&table)).says(3, &["is not an identity"]);
}

#[test]
fn a_fault_within_a_table_is_told_to_both() {
    let folder = Folder::new();
    let ragged = folder.file("ragged.csv", "id,name\n1,ann\n2\n3,eve\n");
    let good = folder.file("good.csv", "id\n1\n");
    let output = folder.path("shared.csv");
    let joined = join(
        &[
            "--input",
            &good,
            "--key",
            "id",
            "--output",
            &output,
            "--insecure-plaintext",
        ],
        &["--input", &ragged, "--key", "id", "--insecure-plaintext"],
    );
    joined
        .sender
        .says(3, &["ragged.csv, line 3: 1 field where the header has 2"]);
    joined
        .receiver
        .says(7, &["the other party gave up: it cannot use its own input"]);
    assert!(!exists(&output));
    assert_eq!(folder.names(), ["good.csv", "ragged.csv"]);
}

/// The session is over by then, and says nothing of the result.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_the_receivers_own_affair() {
    let folder = Folder::new();
    let words = folder.file("words", lines(0..100));
    let full = OpenOptions::new().write(true).open("/dev/full").unwrap();
    let args = ["--input", &words, "--insecure-plaintext"];
    let joined = join_with(&args, &args, |command| command.stdout(full));
    joined.sender.says(0, &[]);
    joined
        .receiver
        .says(3, &["cannot write standard output", "No space left"]);
}
