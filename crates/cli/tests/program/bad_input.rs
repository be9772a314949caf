//! Inputs that cannot be used, and outputs that cannot be written.

use std::fs::OpenOptions;

use crate::support::{
    Ended, Folder, all_exit, assert_said, exists, join, join_with, lines, objects, run,
};

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

/// The session is over by then, and tells nothing about the result.
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

/// A cell that a rule cannot read is no key, if the user chooses that; and all of them are reported
/// at once.
#[test]
fn bad_keys_are_refused_or_left_out() {
    let folder = Folder::new();
    let mine = folder.file("mine.csv", "id,n\n1,a\nx,b\n02,c\ny,d\n3,e\n");
    let theirs = folder.file("theirs.csv", "id\n1\n2\n4\n");
    let rule = ["--key", "id", "--normalize", "id=number"];
    let said = |bad_keys| [&rule[..], &["--bad-keys", bad_keys]].concat();
    fn party<'a>(table: &'a str, more: &[&'a str]) -> Vec<&'a str> {
        [&["--insecure-plaintext", "--input", table], more].concat()
    }
    let output = folder.path("shared.csv");
    let learn = ["--strict", "--output", &output, "--report", "-"];
    let written = [&said("null:40%")[..], &learn].concat();
    let send = party(&theirs, &rule);
    let joined = join(&party(&mine, &written), &send).both();
    all_exit(&joined, 0);
    assert_eq!(folder.read("shared.csv"), "id,n\n1,a\n02,c\n");
    let report = &objects(&joined[0].stdout)[0];
    let table = &report["table"];
    assert_eq!(
        (&table["rows_without_key"], &table["rows_with_bad_key"]),
        (&2.into(), &2.into())
    );
    assert_eq!(table["bad_keys"][0]["first"][1]["line"], 5);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("lines 3 and 5"), "{warnings}");
    let keys = |bad_keys| run(&[&["keys", &*mine][..], &said(bad_keys)].concat());
    assert_said!([
        &joined[0],
        &join(&party(&mine, &said("null:39%")), &send).both()[0],
        &keys("drop"),
        &keys("null"),
        &keys("refuse"),
    ]);
}
