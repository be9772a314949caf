//! What is wrong on the command line is said before anything happens.

use crate::support::{Folder, run};

const SEND: [&str; 5] = ["send", "--connect", "127.0.0.1:1", "--input", "x"];

#[track_caller]
fn refused(args: &[&str], texts: &[&str]) {
    run(args).says(2, texts);
}

#[test]
fn the_parties_must_be_told_how_to_meet_and_whom_to_trust() {
    refused(
        &SEND,
        &["--identity FILE --peer FINGERPRINT", "psijoin keygen"],
    );
    refused(
        &[&SEND[..], &["--identity", "me.pem"]].concat(),
        &["--peer"],
    );
    refused(
        &[
            &SEND[..],
            &["--insecure-plaintext", "--identity", "a", "--peer", "psi1"],
        ]
        .concat(),
        &["fingerprint"],
    );
    refused(
        &["send", "--input", "x", "--insecure-plaintext"],
        &["--listen", "--connect"],
    );
    refused(
        &[
            &SEND[..],
            &["--listen", "127.0.0.1:0", "--insecure-plaintext"],
        ]
        .concat(),
        &["cannot be used with"],
    );
}

#[test]
fn wrong_values_are_named() {
    let with = |more: &[&'static str]| [&SEND[..], &["--insecure-plaintext"], more].concat();
    refused(
        &with(&["--protocol", "rot13"]),
        &["rr22-circuit, auto", "possible values"],
    );
    refused(
        &with(&["--protocol", "kkrt16"]),
        &["a similar value exists: 'kkrt'"],
    );
    refused(
        &with(&["--normalize", "email=lower"]),
        &["there is no normalisation rule `lower`"],
    );
    refused(&with(&["--normalize", "email"]), &["COLUMN=RULE"]);
    refused(
        &with(&["--normalize", "a=phone:XX"]),
        &["`XX` is not a country", "ISO 3166"],
    );
    refused(
        &with(&["--normalize", "a=timestamp:Berlin"]),
        &["no time zone `Berlin`", "IANA"],
    );
    refused(&with(&["--key", "a,a"]), &["the column `a` is given twice"]);
    refused(
        &with(&["--key", "a,\"b"]),
        &["a quote that is never closed", "'\"last, first\",zip'"],
    );
    refused(
        &with(&["--key", "a", "--normalize", "b=trim"]),
        &["`b`, which is not a key column"],
    );
    refused(&with(&["--threads", "0"]), &["--threads"]);
    refused(
        &[
            "send",
            "--connect",
            "nowhere",
            "--input",
            "x",
            "--insecure-plaintext",
        ],
        &["HOST:PORT"],
    );
    refused(&["bench", "--items", "2^27"], &["at most 2^26"]);
    refused(&["bench", "--network", "wan:fast"], &["--network"]);
    refused(&["bench", "--protocol", "dh,rr2"], &["similar", "'rr22'"]);
    refused(&["frobnicate"], &["frobnicate"]);
    refused(&[], &["Usage"]);
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
    refused(
        &args,
        &[
            "`key column 1`",
            "longer than 200 bytes",
            "fewer key columns",
        ],
    );
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
    refused(
        &[&receive[..], &["--quote-empty"]].concat(),
        &["where Parquet or Arrow is written as CSV", "leave it out"],
    );
    refused(
        &[&receive[..], &["--quote-empty", "--output-kind", "count"]].concat(),
        &["--quote-empty is for rows"],
    );
    refused(&[&receive[..], &["--json"]].concat(), &["--output FILE"]);
    refused(
        &[&receive[..], &["--output", "x.json", "--report", "x.json"]].concat(),
        &["the same file"],
    );
}

#[test]
fn the_help_tells_the_exit_codes() {
    for args in [&["--help"][..], &["send", "--help"], &["receive", "--help"]] {
        let help = run(args);
        help.says(0, &[]);
        for line in [
            "0  done",
            "1  unexpected",
            "2  wrong usage",
            "3  an input cannot be used, an output cannot be written, or memory ran out",
            "4  the network failed",
            "5  the other party broke the protocol",
            "6  refused by policy",
            "7  the other party cannot go on",
        ] {
            assert!(help.stdout.contains(line), "{line} in {}", help.stdout);
        }
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
    let peer = key_of(&identity);
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
        let refused = run(&[&connect[..], &trust, args].concat());
        refused.says(2, &["nothing was written"]);
    };
    receive(&["--input", &table, "--report", &table]);
    receive(&["--input", &table, "--report", &by_another_way]);
    receive(&["--input", &pattern, "--report", &other]);
    receive(&["--input", &table, "--report", &identity]);
    receive(&[
        "--input",
        &table,
        "--output-kind",
        "shares",
        "--output",
        &identity,
    ]);
    receive(&["--input", &table, "--output", &identity]);
    assert_eq!(folder.read("table.csv"), "id\n1\n");
    assert_eq!(folder.read("other.csv"), "id\n2\n");
    assert_eq!(folder.read("id.pem"), key);
}

/// The fingerprint of an identity.
fn key_of(identity: &str) -> String {
    run(&["fingerprint", identity]).stdout.trim().to_owned()
}
