//! The end of a run, and the messages about it: for the other party, the report, the log.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::{
    line::join_without_goodbye,
    support::{
        Ended, Folder, Process, all_exit, assert_said, free_address, join, lines, long_rows, run,
        start_pair_with, trust,
    },
};

/// The default of `--wait`: nobody has waited for the other side who ends sooner.
const DEFAULT_WAIT: Duration = Duration::from_secs(60);

fn report(folder: &Folder, name: &str) -> Value {
    serde_json::from_str(&folder.read(name)).unwrap()
}

/// The session is over for the sender while the receiver cannot write a single row more.
#[test]
fn the_sender_cannot_tell_how_long_the_receiver_writes() {
    let folder = Folder::new();
    let [mine, theirs] = long_rows(&folder, 20_000, 100);
    let common = ["--key", "id", "--insecure-plaintext"];
    let (mut reader, writer) = std::io::pipe().unwrap();
    let (receiver, sender) = start_pair_with(
        &[&["--input", &mine], &common[..]].concat(),
        &[&["--input", &theirs], &common[..]].concat(),
        |command| command.stdin(Stdio::null()).stdout(writer),
    );
    sender
        .end()
        .says(0, &["The receiver learned which of its keys you share"]);
    let mut written = String::new();
    reader.read_to_string(&mut written).unwrap();
    assert_eq!(written.len(), folder.read("mine.csv").len());
    receiver.end().says(0, &["20,000 shared keys"]);
}

/// Nor can it take the result away by leaving once the receiver has all that it needs.
#[test]
fn a_sender_that_leaves_at_the_end_takes_nothing_away() {
    let folder = Folder::new();
    let (mine, theirs) = (
        folder.file("mine", lines(0..3000)),
        folder.file("theirs", lines(2000..5000)),
    );
    for protocol in ["rr22", "rr22-malicious", "kkrt", "dh"] {
        let common = ["--protocol", protocol, "--insecure-plaintext"];
        let joined = join_without_goodbye(
            &[&["--input", &mine], &common[..]].concat(),
            &[&["--input", &theirs], &common[..]].concat(),
        );
        joined.receiver.says(0, &["1,000 shared keys"]);
        assert_eq!(joined.receiver.stdout, lines(2000..3000), "{protocol}");
    }
}

/// If both learn, the last message is the receiver's. It cannot know that the sender has it, so it
/// writes nothing.
#[test]
fn a_sender_that_dies_before_its_last_word_leaves_no_result_where_both_learn() {
    let folder = Folder::new();
    let [mine, theirs] = [(0, 30), (20, 50)].map(|(from, to)| {
        let name = format!("from {from}");
        folder.file(&name, lines(from..to))
    });
    let [here, there] = ["here", "there"].map(|name| folder.path(name));
    let common = [
        "--protocol",
        "rr22",
        "--learn",
        "both",
        "--insecure-plaintext",
    ];
    let joined = join_without_goodbye(
        &[&["--input", &mine, "--output", &here], &common[..]].concat(),
        &[&["--input", &theirs, "--output", &there], &common[..]].concat(),
    );
    joined.receiver.says(4, &["closed the connection"]);
    joined.sender.says(0, &["10 shared keys"]);
    assert_eq!(folder.read("there"), lines(20..30));
    assert!(!folder.names().contains(&"here".to_owned()));
}

/// A side that cannot start tells the other, whichever is there first.
#[test]
fn a_side_that_fails_before_it_connects_tells_the_other() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id\n1\n");
    let missing = folder.path("missing.csv");
    let good = ["--input", &table, "--key", "id", "--insecure-plaintext"];
    let bad: [&[&str]; 2] = [
        &["--input", &table, "--key", "idd", "--insecure-plaintext"],
        &["--input", &missing, "--key", "id", "--insecure-plaintext"],
    ];
    let mut said = Vec::new();
    for bad in bad {
        for (receiver, sender) in [(&good[..], bad), (bad, &good[..])] {
            let started = Instant::now();
            let joined = join(receiver, sender);
            let (well, broken) = match receiver == good {
                true => (&joined.receiver, &joined.sender),
                false => (&joined.sender, &joined.receiver),
            };
            broken.says(3, &[]);
            well.says(7, &[]);
            assert!(started.elapsed() < DEFAULT_WAIT);
            said.extend(joined.both());
        }
    }
    assert_said!(said);
}

#[test]
fn every_end_is_reported() {
    let folder = Folder::new();
    let trust = trust(&folder);
    let receivers: Vec<_> = trust.receiver.iter().map(String::as_str).collect();
    let senders: Vec<_> = trust.sender.iter().map(String::as_str).collect();
    let table = folder.file("table", "ann\nbob\n");
    let [mine, theirs] = ["mine.json", "theirs.json"].map(|name| folder.path(name));
    let mut said = Vec::new();
    let mut joined = |more: &[&str], input: &str| {
        join(
            &[
                &receivers[..],
                &["--input", &table, "--report", &mine],
                more,
            ]
            .concat(),
            &[&senders[..], &["--input", input, "--report", &theirs], more].concat(),
        );
        let names = ["mine.json", "theirs.json"];
        said.extend(names.map(|name| folder.read(name)));
        names.map(|name| report(&folder, name))
    };

    let [ours, others] = joined(&["--output-kind", "count"], &table);
    for (report, other) in [(&ours, &others), (&others, &ours)] {
        assert_eq!(report["session"].as_str().unwrap().len(), 32);
        assert_eq!(report["session"], other["session"]);
        assert_eq!(report["identity"], other["peer"]["fingerprint"]);
        let [started, ended] = ["started", "ended"].map(|time| report[time].as_str().unwrap());
        assert!(started <= ended && started.ends_with('Z') && started.len() == 24);
    }

    joined(
        &["--min-intersection", "3", "--output-kind", "count"],
        &table,
    );
    joined(&["--output-kind", "count"], &folder.path("missing"));

    let alone = ["send", "--connect", "127.0.0.1:1", "--wait", "1"];
    let [printed, _] = ["-", &theirs].map(|place| {
        let input = ["--input", &table, "--report", place];
        let ended = run(&[&alone[..], &input, &senders].concat());
        ended.says(4, &[]);
        ended.stdout
    });
    let printed: Value = serde_json::from_str(&printed).unwrap();
    let written = report(&folder, "theirs.json");
    for field in ["outcome", "exit_code", "error", "try_again", "identity"] {
        assert_eq!(printed[field], written[field], "{field}");
    }
    said.push(folder.read("theirs.json"));
    assert_said!(said);
}

/// A result is not held back, nor taken back, because the report of it cannot be written.
#[test]
#[cfg(unix)]
fn a_report_that_fails_hides_no_result() {
    use std::{fs, os::unix::fs::PermissionsExt};

    let folder = Folder::new();
    let table = folder.file("table", lines(0..10));
    fs::create_dir(folder.path("reports")).unwrap();
    let report = folder.path("reports/report.json");
    let args = [
        "--input",
        &table,
        "--insecure-plaintext",
        "--output-kind",
        "count",
    ];
    let (receiver, address) =
        Process::listen("receive", &[&["--report", &report], &args[..]].concat());
    // Permissions do not hold root back, but a folder that is gone does.
    fs::set_permissions(folder.path("reports"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::remove_dir_all(folder.path("reports")).unwrap();
    run(&[&["send", "--connect", &address], &args[..]].concat()).says(0, &[]);
    let ended = receiver.end();
    ended.says(3, &[]);
    assert_eq!(ended.stdout, "10\n");
    assert_said!([ended]);
}

#[test]
fn a_deadline_bounds_the_whole_session() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let started = Instant::now();
    let args = ["--input", &table, "--insecure-plaintext", "--deadline", "1"];
    let (waiting, _) = Process::listen("send", &args);
    let ended = waiting.end();
    ended.says(4, &[]);
    assert!(started.elapsed() < DEFAULT_WAIT);
    assert_said!([ended]);

    // Several times what any machine joins by then.
    let words = folder.file("words", lines(0..2_000_000));
    let output = folder.path("shared");
    let args = [
        "--input",
        &words,
        "--protocol",
        "dh",
        "--insecure-plaintext",
        "--threads",
        "1",
    ];
    let joined = join(
        &[&args[..], &["--output", &output, "--deadline", "10"]].concat(),
        &args,
    );
    // Timing decides how far they came by then.
    joined
        .receiver
        .says(4, &["within the 10 seconds that it was given"]);
    joined.sender.says(
        4,
        &["the other party gave up: the deadline that its user set has passed"],
    );
    assert_eq!(folder.names(), ["table", "words"]);
}

#[test]
fn a_log_that_is_off_is_silent_on_success_only() {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let report = folder.path("report.json");
    let args = [
        "--input",
        &table,
        "--insecure-plaintext",
        "--report",
        &report,
    ];
    let port = free_address();
    let start = |args: &[&str]| Process::start_logging("off", args);
    let receiver = start(&[&["receive", "--listen", &port], &args[..]].concat());
    let sender = start(&[&["send", "--connect", &port], &args[..3]].concat()).end();
    let receiver = receiver.end();
    for ended in [&sender, &receiver] {
        ended.says(0, &[]);
        assert_eq!(ended.stderr, "");
    }
    assert_eq!(receiver.stdout, "ann\n");
    let warnings = self::report(&folder, "report.json")["warnings"].to_string();
    assert!(warnings.contains("--insecure-plaintext"), "{warnings}");

    let missing = ["--input", "missing", "--insecure-plaintext", "--wait", "1"];
    let failed = start(&[&["send", "--connect", &port], &missing[..]].concat()).end();
    assert_eq!(failed.code, Some(3));
    assert_said!([failed]);
}

fn logged(level: &str) -> Ended {
    let folder = Folder::new();
    let table = folder.file("table", "ann\n");
    let args = ["--input", &table, "--insecure-plaintext"];
    let (receiver, address) = Process::listen("receive", &args);
    let connect = ["send", "--connect", &address];
    let sender = Process::start_logging(level, &[&connect[..], &args].concat());
    let sender = sender.end();
    match sender.code {
        Some(0) => drop(receiver.end()),
        _ => {
            receiver.signal("KILL");
            receiver.end();
        }
    }
    sender
}

#[test]
fn levels_of_the_log_do_what_they_say() {
    let said = ["off", "error", "warn", "info", "bogus"].map(logged);
    all_exit(&said[..4], 0);
    said[4].says(2, &[]);
    assert_said!(said);
    // Messages about connections and phases are for developers.
    logged("debug").says(0, &["WARN", "INFO", "DEBUG"]);
}

/// Failures too, with what to do about them.
#[test]
fn each_line_of_a_log_has_a_time_and_a_level() {
    let folder = Folder::new();
    let (table, secret) = (folder.file("table", "ann\n"), folder.path("none.pem"));
    let fingerprint = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq";
    let send = ["send", "--connect", "127.0.0.1:1", "--input", &table];
    let trust = ["--identity", &secret, "--peer", fingerprint];
    let failed = Process::start_logging("warn", &[&send[..], &trust].concat()).end();
    failed.says(3, &["hint: "]);
    let is_logged = |line: &str| line.contains("Z ERROR ");
    assert!(failed.stderr.lines().all(is_logged), "{failed:#?}");
    assert_said!([failed]);
}

#[test]
fn a_lost_fingerprint_is_printed_again() {
    let folder = Folder::new();
    let path = folder.path("me.pem");
    let made = run(&["keygen", "--out", &path]);
    let again = run(&["fingerprint", &path]);
    assert_eq!(again.stdout, made.stdout);
    let missing = run(&["fingerprint", &folder.path("none.pem")]);
    missing.says(3, &[]);
    assert_said!([again, missing]);
}

#[test]
fn columns_are_shown_on_request_only() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "secret one,b\nsecret two,2\n");
    let shown = run(&["columns", &table]);
    assert_eq!(shown.stdout, "secret one\nb\n");
    let args = [
        "send",
        "--connect",
        "127.0.0.1:1",
        "--insecure-plaintext",
        "--wait",
        "1",
    ];
    let failed = run(&[&args[..], &["--input", &table, "--key", "id"]].concat());
    failed.says(3, &[]);
    assert!(!failed.stderr.contains("secret"), "{failed:#?}");
    assert_said!([shown, failed]);
}

/// A forwarder, as a load balancer is one: it takes a connection before it knows whether anybody
/// is behind it, and drops it if not.
fn forward(from: &TcpListener, to: &str) {
    for socket in from.incoming() {
        let (socket, to) = (socket.unwrap(), to.to_owned());
        thread::spawn(move || {
            let Ok(behind) = TcpStream::connect(to) else {
                return;
            };
            let (here, there) = (socket.try_clone().unwrap(), behind.try_clone().unwrap());
            thread::spawn(move || copy(here, there));
            copy(behind, socket);
        });
    }
}

fn copy(mut from: TcpStream, mut to: TcpStream) {
    let _ = std::io::copy(&mut from, &mut to);
    let _ = to.flush();
    let _ = to.shutdown(std::net::Shutdown::Write);
}

#[test]
fn either_side_may_come_first_through_a_forwarder() {
    let folder = Folder::new();
    let trust = trust(&folder);
    let (mine, theirs) = (
        folder.file("mine", lines(0..50)),
        folder.file("theirs", lines(40..60)),
    );
    let receivers: Vec<_> = trust.receiver.iter().map(String::as_str).collect();
    let senders: Vec<_> = trust.sender.iter().map(String::as_str).collect();
    let forwarder = TcpListener::bind("127.0.0.1:0").unwrap();
    let front = forwarder.local_addr().unwrap().to_string();
    let behind = free_address();
    let to = behind.clone();
    thread::spawn(move || forward(&forwarder, &to));

    let send = ["send", "--connect", &front, "--input", &theirs];
    let receive = ["receive", "--listen", &behind, "--input", &mine];
    for sender_is_first in [true, false] {
        let sender = || Process::start(&[&send[..], &senders].concat());
        let receiver = || Process::start(&[&receive[..], &receivers].concat());
        let (sender, receiver) = match sender_is_first {
            true => {
                let mut sender = sender();
                sender.wait_for("trying again");
                (sender, receiver())
            }
            false => {
                let mut receiver = receiver();
                receiver.address();
                (sender(), receiver)
            }
        };
        sender.end().says(0, &[]);
        let receiver = receiver.end();
        receiver.says(0, &["10 shared keys"]);
        assert_eq!(receiver.stdout, lines(40..50));
    }
}
