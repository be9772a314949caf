//! Inputs that cannot be used, and outputs that cannot be written.

use std::fs::OpenOptions;

use crate::support::{Ended, Folder, all_exit, assert_said, exists, join, join_with, lines, run};

#[track_caller]
fn fails_alone(args: &[&str]) -> Ended {
    let receive = [
        "receive",
        "--connect",
        "127.0.0.1:1",
        "--insecure-plaintext",
        "--wait",
        "1",
    ];
    let ended = run(&[&receive[..], args].concat());
    ended.says(3, &[]);
    ended
}

/// Before the other party is looked for.
#[test]
fn what_can_be_seen_at_once_is_said_at_once() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id,name\n1,ann\n");
    let nowhere = folder.path("nowhere.csv");
    let not_gzip = folder.file("table.csv.gz", "id,name\n1,ann\n");
    let in_no_folder = folder.path("none/shared.csv");
    let report = folder.path("none/report.json");
    let with_key =
        |more: &[&str]| fails_alone(&[&["--input", &table, "--key", "id"], more].concat());
    assert_said!([
        fails_alone(&["--input", &nowhere]),
        fails_alone(&["--input", &table]),
        fails_alone(&["--input", &table, "--key", "email"]),
        fails_alone(&["--input", &not_gzip, "--key", "id"]),
        with_key(&["--output", &table]),
        with_key(&["--output", &in_no_folder]),
        with_key(&["--report", &report]),
    ]);
}

#[test]
#[cfg(unix)]
fn identities_must_be_there() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let rights = fs::Permissions::from_mode(0o644);
    fs::set_permissions(&table, rights).unwrap();
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
    let said = [&nowhere, &table].map(|identity| run(&args(identity)));
    all_exit(&said, 3);
    assert_said!(said);
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
    joined.sender.says(3, &[]);
    joined.receiver.says(7, &[]);
    assert_said!(joined.both());
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
    joined.receiver.says(3, &[]);
    assert_said!(joined.both());
}
