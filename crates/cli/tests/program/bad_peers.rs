//! The other party is another one, has other settings, or goes away.

use std::net::TcpListener;

use crate::support::{
    Ended, Folder, Process, all_exit, assert_said, join, lines, run, start_pair, trust,
};

#[track_caller]
fn disagree(receiver: &[&str], sender: &[&str]) -> [Ended; 2] {
    let folder = Folder::new();
    let table = folder.file("table.csv", "a,b\nann,1\n");
    let output = folder.path("shared.csv");
    let common = ["--input", &table, "--insecure-plaintext"];
    let both = join(
        &[&common[..], &["--output", &output], receiver].concat(),
        &[&common[..], sender].concat(),
    )
    .both();
    all_exit(&both, 5);
    assert_eq!(folder.names(), ["table.csv"]);
    both
}

#[test]
fn different_settings_are_named_with_both_values() {
    let key = ["--key", "a"];
    let dh = ["--key", "a", "--protocol", "dh"];
    let kkrt = ["--key", "a", "--protocol", "kkrt"];
    let rr22 = ["--key", "a", "--protocol", "rr22"];
    let circuit = ["--key", "a", "--protocol", "rr22-circuit"];
    let count = [&circuit[..], &["--output-kind", "count"]].concat();
    let said = [
        disagree(&dh, &kkrt),
        disagree(&key, &rr22),
        disagree(&dh, &count),
        disagree(&["--key", "a,b"], &key),
    ];
    assert_said!(said.as_flattened());
}

#[test]
fn two_receivers_are_told_so() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let args = ["--input", &table, "--insecure-plaintext"];
    let (one, address) = Process::listen("receive", &args);
    let other = run(&[&["receive", "--connect", &address], &args[..]].concat());
    let both = [one.end(), other];
    all_exit(&both, 5);
    assert_said!(both);
}

#[test]
fn a_stranger_is_refused_by_name_on_both_sides() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let parties = trust(&folder);
    let stranger_file = folder.path("stranger.pem");
    let stranger = run(&["keygen", "--out", &stranger_file]).stdout;
    let receiver: Vec<_> = parties.receiver.iter().map(String::as_str).collect();
    let receivers_fingerprint = parties.sender[3].as_str();
    let joined = join(
        &[&["--input", &table, "--wait", "10"], &receiver[..]].concat(),
        &[
            "--input",
            &table,
            "--identity",
            &stranger_file,
            "--peer",
            receivers_fingerprint,
        ],
    );
    // It waited on: whoever it was, the other party could still come. The snapshot does not tell
    // one fingerprint from another.
    let found_and_expected = [stranger.trim(), &parties.receiver[3]];
    joined.receiver.says(4, &found_and_expected);
    joined.sender.says(5, &[stranger.trim()]);
    assert_said!(joined.both());
}

#[test]
fn encryption_on_one_side_only_is_named() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let parties = trust(&folder);
    let receiver: Vec<_> = parties.receiver.iter().map(String::as_str).collect();
    let joined = join(
        &[&["--input", &table, "--wait", "10"], &receiver[..]].concat(),
        &["--input", &table, "--insecure-plaintext", "--wait", "10"],
    );
    // The number of the sender's tries, which the receiver prints, is a matter of time.
    joined.receiver.says(4, &["disagree on encryption"]);
    joined.sender.says(5, &[]);
    assert_said!([joined.sender]);
}

#[test]
fn a_taken_port_is_an_error_of_the_network() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ended = run(&[
        "send",
        "--listen",
        &address,
        "--input",
        &table,
        "--insecure-plaintext",
    ]);
    ended.says(4, &[&address]);
    assert_said!([ended]);
}

/// Returns a run that takes long enough to be disturbed.
fn long_run() -> (Folder, Process, Process) {
    let folder = Folder::new();
    let output = folder.path("shared");
    let words = folder.file("words", lines(0..200_000));
    let common = [
        "--input",
        &words,
        "--protocol",
        "dh",
        "--insecure-plaintext",
        "--threads",
        "1",
        "--timeout",
        "10",
    ];
    let (mut receiver, sender) =
        start_pair(&[&common[..], &["--output", &output]].concat(), &common);
    receiver.wait_for("dh: 200,000 keys of the sender");
    (folder, receiver, sender)
}

#[test]
#[cfg(unix)]
fn a_peer_that_dies_is_an_error_within_seconds() {
    let (folder, receiver, sender) = long_run();
    sender.signal("KILL");
    // Timing decides whether the connection was closed or reset.
    receiver.end().says(4, &["the other party"]);
    assert_eq!(sender.end().code, None);
    assert_eq!(folder.names(), ["words"]);
}

#[test]
#[cfg(unix)]
fn a_peer_that_freezes_is_an_error_within_the_timeout() {
    let (folder, receiver, sender) = long_run();
    sender.signal("STOP");
    let receiver = receiver.end();
    receiver.says(4, &[]);
    sender.signal("KILL");
    assert_eq!(sender.end().code, None);
    assert_said!([receiver]);
    assert_eq!(folder.names(), ["words"]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_both_and_leaves_nothing() {
    let (folder, receiver, sender) = long_run();
    receiver.signal("INT");
    let both = [receiver.end(), sender.end()];
    both[0].says(1, &[]);
    both[1].says(4, &[]);
    assert_said!(both);
    assert_eq!(folder.names(), ["words"]);
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_the_wait_for_the_other_party() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let (waiting, _) = Process::listen("send", &["--input", &table, "--insecure-plaintext"]);
    waiting.signal("INT");
    let ended = waiting.end();
    ended.says(1, &[]);
    assert_said!([ended]);
}
