//! Mistakes on the command line are reported before anything happens.

use crate::support::{Ended, Folder, assert_said, run};

const SEND: [&str; 5] = ["send", "--connect", "127.0.0.1:1", "--input", "x"];

#[track_caller]
fn refused(args: &[&str]) -> Ended {
    let ended = run(args);
    ended.says(2, &[]);
    ended
}

/// As [`refused`], of a sender with these options too.
#[track_caller]
fn send_refused(options: &[&str]) -> Ended {
    refused(&[&SEND[..], options].concat())
}

#[test]
fn the_parties_must_be_told_how_to_meet_and_whom_to_trust() {
    let listen = ["--listen", "127.0.0.1:0", "--insecure-plaintext"];
    let both = ["--insecure-plaintext", "--identity", "a", "--peer", "psi1"];
    assert_said!([
        send_refused(&[]),
        send_refused(&["--identity", "me.pem"]),
        send_refused(&both),
        refused(&["send", "--input", "x", "--insecure-plaintext"]),
        send_refused(&listen),
    ]);
}

#[test]
fn wrong_values_are_named() {
    let with = |more: &[&str]| send_refused(&[&["--insecure-plaintext"], more].concat());
    let nowhere = ["send", "--connect", "nowhere", "--input", "x"];
    assert_said!([
        with(&["--protocol", "rot13"]),
        with(&["--protocol", "kkrt16"]),
        with(&["--normalize", "email=lower"]),
        with(&["--normalize", "email"]),
        with(&["--normalize", "a=phone:XX"]),
        with(&["--normalize", "a=timestamp:Berlin"]),
        with(&["--key", "a,a"]),
        with(&["--key", "a,\"b"]),
        with(&["--key", "a", "--normalize", "b=trim"]),
        with(&["--threads", "0"]),
        with(&["--threads", "1000000"]),
        refused(&["plan", "--items", "9", "--threads", "1025"]),
        refused(&[&nowhere[..], &["--insecure-plaintext"]].concat()),
        refused(&["plan", "--items", "2^35"]),
        refused(&["plan", "--items", "9", "--network", "wan:fast"]),
        refused(&["frobnicate"]),
        refused(&[]),
    ]);
}

#[test]
fn commands_and_options_that_moved_are_named_as_they_are_now() {
    assert_said!([
        refused(&["bench", "--items", "9"]),
        refused(&["lab", "run"]),
        send_refused(&["--check"]),
        send_refused(&["--json"]),
        send_refused(&["--quiet"]),
        refused(&["receive", "--listen", "127.0.0.1:0", "--check"]),
        refused(&["check", "receive", "--listen", "127.0.0.1:0", "--json"]),
    ]);
}

#[test]
fn a_normalisation_that_cannot_be_compared_is_refused_at_once() {
    let folder = Folder::new();
    let names: Vec<_> = (0..12).map(|i| format!("c{i}")).collect();
    let table = folder.file("table.csv", names.join(",") + "\n");
    let key = names.join(",");
    let rules: Vec<_> = names
        .iter()
        .map(|name| format!("{name}=lowercase+nfc+lowercase+nfc+lowercase+nfc+lowercase+nfc"))
        .collect();
    let normalize = rules.iter().flat_map(|rule| ["--normalize", rule]);
    let send = ["send", "--connect", "127.0.0.1:1", "--input", &table];
    let args: Vec<_> = send
        .into_iter()
        .chain(["--key", &key, "--insecure-plaintext"])
        .chain(normalize)
        .collect();
    assert_said!([refused(&args)]);
}

#[test]
fn standard_output_has_room_for_one_thing() {
    let folder = Folder::new();
    let input = folder.file("x", "a\n");
    let receive = [
        "receive",
        "--connect",
        "127.0.0.1:1",
        "--input",
        &input,
        "--insecure-plaintext",
    ];
    let refused = |more: &[&str]| refused(&[&receive[..], more].concat());
    assert_said!([
        refused(&["--quote-empty"]),
        refused(&["--quote-empty", "--output-kind", "count"]),
        refused(&["--quote-formulas"]),
        refused(&["--quote-formulas", "--output-kind", "count"]),
        refused(&["--report", "-"]),
        refused(&["--output", "x.json", "--report", "x.json"]),
    ]);
}

/// Whoever holds the one key could be either party, and its record would be of one.
#[test]
fn the_other_party_cannot_have_this_sides_identity() {
    let folder = Folder::new();
    let identity = folder.path("id.pem");
    run(&["keygen", "--out", &identity]).says(0, &[]);
    let own = key_of(&identity);
    let table = folder.file("t.csv", "id\n1\n");
    let trust = ["--identity", &identity, "--peer", &own, "--input", &table];
    for [command, how, address] in [
        ["send", "--listen", "127.0.0.1:0"],
        ["receive", "--connect", "127.0.0.1:1"],
    ] {
        refused(&[&[command, how, address][..], &trust].concat())
            .says(2, &[&own, "each side needs an identity of its own"]);
    }
}

#[test]
fn no_report_and_no_output_replaces_what_is_read() {
    let folder = Folder::new();
    let table = folder.file("table.csv", "id\n1\n");
    let other = folder.file("other.csv", "id\n2\n");
    let identity = folder.path("id.pem");
    run(&["keygen", "--out", &identity]).says(0, &[]);
    let key = folder.read("id.pem");
    let peer = "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq".to_owned();
    let by_another_way = folder.path("../").to_owned()
        + folder
            .path("")
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap()
        + "/table.csv";
    let pattern = folder.path("*.csv");
    let connect = ["receive", "--connect", "127.0.0.1:1", "--wait", "1"];
    let receive = |args: &[&str]| {
        let trust = ["--identity", &identity, "--peer", &peer];
        refused(&[&connect[..], &trust, args].concat())
    };
    let shares = ["--output-kind", "shares"];
    assert_said!([
        receive(&["--input", &table, "--report", &table]),
        receive(&["--input", &table, "--report", &by_another_way]),
        receive(&["--input", &pattern, "--report", &other]),
        receive(&["--input", &table, "--report", &identity]),
        receive(&[&["--input", &table, "--output", &identity], &shares[..]].concat()),
        receive(&["--input", &table, "--output", &identity]),
    ]);
    assert_eq!(folder.read("table.csv"), "id\n1\n");
    assert_eq!(folder.read("other.csv"), "id\n2\n");
    assert_eq!(folder.read("id.pem"), key);
}

/// Returns the fingerprint of an identity.
fn key_of(identity: &str) -> String {
    run(&["fingerprint", identity]).stdout.trim().to_owned()
}
