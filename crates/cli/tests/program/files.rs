//! The fate of files, whatever happens.

use std::{
    fs,
    io::Write,
    os::unix::fs::{MetadataExt, PermissionsExt, symlink},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use crate::support::{
    Folder, Joined, PATIENCE, Process, assert_said, join, lines, long_rows, run, start_pair,
};

fn joined(folder: &Folder, output: &str, more: &[&str]) -> Joined {
    let mine = folder.file("mine", lines(0..50));
    let theirs = folder.file("theirs", lines(40..60));
    let receiver = ["--input", &mine, "--output", output, "--insecure-plaintext"];
    join(
        &[&receiver[..], more].concat(),
        &["--input", &theirs, "--insecure-plaintext"],
    )
}

#[test]
fn what_is_there_is_replaced_with_its_rights_or_kept_by_choice() {
    let folder = Folder::new();
    let output = folder.file("shared", "last week\n");
    fs::set_permissions(&output, fs::Permissions::from_mode(0o640)).unwrap();
    joined(&folder, &output, &[]).receiver.says(0, &[]);
    assert_eq!(folder.read("shared"), lines(40..50));
    assert_eq!(fs::metadata(&output).unwrap().mode() & 0o777, 0o640);

    let mine = folder.path("mine");
    let kept = run(&[
        "receive",
        "--connect",
        "127.0.0.1:1",
        "--input",
        &mine,
        "--output",
        &output,
        "--no-clobber",
        "--insecure-plaintext",
        "--wait",
        "1",
    ]);
    kept.says(3, &[]);
    assert_said!([kept]);
    assert_eq!(folder.read("shared"), lines(40..50));
}

#[test]
fn what_is_there_stays_if_the_run_fails() {
    let folder = Folder::new();
    let output = folder.file("shared", "last week\n");
    joined(&folder, &output, &["--protocol", "dh"])
        .receiver
        .says(5, &[]);
    assert_eq!(folder.read("shared"), "last week\n");
}

#[test]
fn a_link_is_followed() {
    let folder = Folder::new();
    let target = folder.file("target", "");
    let link = folder.path("link.txt");
    symlink(&target, &link).unwrap();
    joined(&folder, &link, &[]).receiver.says(0, &[]);
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(folder.read("target"), lines(40..50));

    let report = folder.path("report.json");
    let reported = folder.file("reported", "");
    symlink(&reported, &report).unwrap();
    joined(&folder, &link, &["--report", &report])
        .receiver
        .says(0, &[]);
    assert!(fs::symlink_metadata(&report).unwrap().is_symlink());
    assert!(folder.read("reported").contains("\"outcome\": \"done\""));

    fs::remove_file(&target).unwrap();
    let dangling = joined(&folder, &link, &[]);
    dangling.receiver.says(3, &["link"]);
    dangling.sender.says(7, &[]);
}

/// Waits for a staged file that is written to, and returns its name, unless the output is there
/// before.
fn staged_before(folder: &Folder, output: &str) -> Option<String> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        assert!(Instant::now() < deadline, "nothing is written");
        let names = folder.names();
        let is_written = |name: &&String| {
            // The first one only tries whether it can be.
            name.starts_with(".psijoin-staged-")
                && fs::metadata(folder.path(name)).is_ok_and(|file| file.len() > 0)
        };
        if let Some(staged) = names.iter().find(is_written) {
            return Some(staged.clone());
        }
        if names.iter().any(|name| name == output) {
            return None;
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Killed while it writes, a receiver leaves nothing that others can read, and the next run removes
/// it.
#[test]
fn what_a_killed_run_leaves_is_private_and_removed_by_the_next() {
    let folder = Folder::new();
    let [mine, theirs] = long_rows(&folder, 300_000, 1000);
    let output = folder.path("shared.csv");
    let common = ["--key", "id", "--insecure-plaintext"];
    let (receiver, sender, staged) = loop {
        let (receiver, sender) = start_pair(
            &[&["--input", &mine, "--output", &output], &common[..]].concat(),
            &[&["--input", &theirs], &common[..]].concat(),
        );
        if let Some(staged) = staged_before(&folder, "shared.csv") {
            break (receiver, sender, staged);
        }
        // It was too fast for a test that got no turn.
        for party in [receiver, sender] {
            party.end().says(0, &[]);
        }
        fs::remove_file(&output).unwrap();
    };
    receiver.signal("KILL");
    assert_eq!(receiver.end().code, None);
    sender.end().says(0, &[]);
    let mode = fs::metadata(folder.path(&staged)).unwrap().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert_eq!(folder.names().len(), 3, "{:?}", folder.names());

    let next = folder.path("next.txt");
    joined(&folder, &next, &[]).receiver.says(0, &[]);
    assert!(!folder.names().contains(&staged));
}

/// A second Ctrl-C ends at once, and leaves nothing either.
#[test]
fn a_forced_end_leaves_nothing() {
    let folder = Folder::new();
    let (stdin, mut feed) = std::io::pipe().unwrap();
    feed.write_all(b"ann\n").unwrap();
    let output = folder.path("shared");
    let receive = ["receive", "--connect", "127.0.0.1:1", "--input", "-"];
    let more = ["--output", &output, "--insecure-plaintext"];
    let mut receiver = Process::start_with(&[&receive[..], &more].concat(), |command| {
        command.stdin(stdin).stdout(Stdio::piped())
    });
    receiver.wait_for("not encrypted");
    receiver.signal("INT");
    receiver.signal("TERM");
    let ended = receiver.end();
    assert_eq!(ended.code, Some(1), "{ended:#?}");
    assert_eq!(folder.names(), [""; 0]);
    drop(feed);
}
