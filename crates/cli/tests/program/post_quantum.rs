//! `--post-quantum`: nothing rests on what a quantum computer is known to break.

use std::{
    net::{TcpListener, TcpStream},
    path::Path,
};

use psijoin::registry;
use rustls::{ClientConnection, ServerConnection, Stream};
use serde_json::Value;

use crate::{
    older,
    support::{
        Ended, Folder, Process, Trust, all_exit_without_result, assert_said, join, run, trust,
    },
};

const OPTION: [&str; 1] = ["--post-quantum"];

#[test]
fn a_join_is_post_quantum_from_end_to_end() {
    let folder = Folder::new();
    let Trust { receiver, sender } = trust(&folder);
    let words = folder.file("words", "a\nb\nc\n");
    for kind in ["rows", "count"] {
        let options = ["--input", &words, "--post-quantum", "--output-kind", kind];
        let names = ["mine", "theirs"].map(|name| format!("{name}.{kind}.json"));
        let reports = names.each_ref().map(|name| folder.path(name));
        let of = |trust: &[String; 4], report: &str| -> Vec<String> {
            let options = options.iter().map(|option| (*option).to_owned());
            let report = ["--report", report].map(str::to_owned);
            options.chain(trust.clone()).chain(report).collect()
        };
        let args = [of(&receiver, &reports[0]), of(&sender, &reports[1])];
        let [mine, theirs] = args
            .each_ref()
            .map(|args| args.iter().map(String::as_str).collect::<Vec<_>>());
        let both = join(&mine, &theirs).both();
        for (ended, name) in both.iter().zip(&names) {
            let says = "Nobody who has recorded this join is known to be able to read it";
            ended.says(0, &[says]);
            let report: Value = serde_json::from_str(&folder.read(name)).unwrap();
            assert_eq!(report["post_quantum"], true);
            assert_eq!(report["peer"]["key_exchange"], "X25519MLKEM768");
            let protocol = &report["protocol"];
            assert_eq!(protocol["parameters"]["ML-KEM of base OTs"], 768);
            // Of few keys, `dh` would be taken.
            assert_ne!(protocol["name"], "dh");
            let failures = &report["security"]["failure_log2"];
            assert!(failures["secret of a base OT"].as_f64().unwrap() < -150.0);
        }
    }
}

#[test]
fn both_must_say_it() {
    let folder = Folder::new();
    let words = folder.file("words", "a\nb\nc\n");
    let args = ["--input", &words, "--insecure-plaintext"];
    let both = join(&[&args[..], &OPTION].concat(), &args).both();
    all_exit_without_result(&both, 5);
    assert_said!(both);
}

/// The other side is who it should be, but has no ML-KEM.
#[test]
fn a_connection_that_is_not_hybrid_is_refused_by_who_listens() {
    let folder = Folder::new();
    let Trust { receiver, sender } = trust(&folder);
    let words = folder.file("words", "a\nb\nc\n");
    let (receiver, address) = Process::listen("receive", &asking(&words, &receiver));
    let config = older::client(Path::new(&sender[1]));
    let name = "psijoin".try_into().unwrap();
    let mut tls = ClientConnection::new(config.into(), name).unwrap();
    let mut socket = TcpStream::connect(address).unwrap();
    older::greet(&mut Stream::new(&mut tls, &mut socket));
    refused_for_the_exchange(&receiver.end());
}

#[test]
fn a_connection_that_is_not_hybrid_is_refused_by_who_connects() {
    let folder = Folder::new();
    let Trust { receiver, sender } = trust(&folder);
    let words = folder.file("words", "a\nb\nc\n");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let connect = ["send", "--connect", &address];
    let sender = Process::start(&[&connect[..], &asking(&words, &sender)].concat());
    let config = older::server(Path::new(&receiver[1]));
    let mut tls = ServerConnection::new(config.into()).unwrap();
    let (mut socket, _) = listener.accept().unwrap();
    older::greet(&mut Stream::new(&mut tls, &mut socket));
    refused_for_the_exchange(&sender.end());
}

fn asking<'a>(words: &'a str, trust: &'a [String; 4]) -> Vec<&'a str> {
    let trust = trust.iter().map(String::as_str);
    ["--input", words, "--post-quantum"]
        .into_iter()
        .chain(trust)
        .collect()
}

#[track_caller]
fn refused_for_the_exchange(ended: &Ended) {
    ended.says(5, &["X25519"]);
    assert_eq!(ended.stdout, "");
}

#[test]
fn a_protocol_that_cannot_is_refused_at_once() {
    let folder = Folder::new();
    let words = folder.file("words", "a\nb\nc\n");
    let refused = registry::PROTOCOLS
        .iter()
        .filter(|protocol| !protocol.is_post_quantum())
        .map(|protocol| {
            let ended = run(&[
                "receive",
                "--connect",
                "127.0.0.1:1",
                "--insecure-plaintext",
                "--input",
                &words,
                "--post-quantum",
                "--protocol",
                protocol.info().name,
            ]);
            ended.says(2, &["rr22"]);
            assert!(!ended.stderr.contains("connecting"), "{ended:#?}");
            ended
        });
    let refused: Vec<_> = refused.collect();
    assert_eq!(refused.len(), 4, "dh, dh-ffdhe3072, rsa and naive");
    assert_said!(refused);
}

#[test]
fn a_plan_counts_it() {
    let bytes = |options: &[&str]| {
        let args = ["plan", "--items", "2^20", "--json", "--threads", "1"];
        let ended = run(&[&args[..], options].concat());
        let plans: Vec<Value> = (ended.stdout.lines())
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let of = |name: &str| {
            let plan = plans.iter().find(|plan| plan["protocol"] == name)?;
            Some(plan["sender_bytes"].as_u64()? + plan["receiver_bytes"].as_u64()?)
        };
        ["rr22", "dh"].map(of)
    };
    let [rr22, dh] = bytes(&[]);
    assert!(dh.is_some());
    let [with, without] = bytes(&OPTION);
    assert_eq!(with.unwrap() - rr22.unwrap(), 436_224 - 8_224);
    assert!(without.is_none(), "dh cannot");
}
