//! Programs in Rust join with this one: by the crate `session`, as its example does, and by the
//! library's own `Join`, over items in memory.

use std::path::Path;

use psijoin::{
    Columns, Join, JoinError, Output, OutputKind, Payloads, registry,
    transport::{Connection, Identity, Options, Security},
};

use crate::support::{Folder, Process, trust};

#[path = "../../../session/examples/receive.rs"]
mod example;

#[test]
fn a_program_in_rust_receives_what_this_one_sends() {
    let folder = Folder::new();
    let customers = folder.file(
        "customers.csv",
        "id,email\n1,Ann@example.org\n2,bob@example.org\n",
    );
    let subscribers = folder.file(
        "subscribers.csv",
        "mail\nann@example.org\nsue@example.org\n",
    );
    let trust = trust(&folder);
    let [_, identity, _, peer] = &trust.receiver;
    let [_, own, _, its_peer] = &trust.sender;
    let args = [
        ["--identity", own],
        ["--peer", its_peer],
        ["--input", &subscribers],
        ["--key", "mail"],
        ["--normalize", "mail=email"],
    ];
    let (sender, address) = Process::listen("send", args.as_flattened());
    let output = folder.path("shared.csv");
    let shared = example::receive([identity, peer, &address, &customers, &output]);
    assert_eq!(shared.unwrap(), Some(1));
    assert_eq!(folder.read("shared.csv"), "id,email\n1,Ann@example.org\n");
    sender
        .end()
        .says(0, &["The receiver learned which of its keys you share"]);
}

/// The numbers of a table whose columns have no names: they are called 1 and 2.
const CUSTOMERS: &str = "5,ann@example.org\n7,bob@example.org\n11,sue@example.org\n";

const ITEMS: [&str; 4] = [
    "bob@example.org",
    "joe@example.org",
    "ann@example.org",
    "Sue",
];

/// Receives from the program, which sends [`CUSTOMERS`] as `more` says.
fn receive(
    more: &[&str],
    join: &Join,
    numbers: &[Vec<i64>],
) -> (Result<Output, JoinError>, Process) {
    receive_of(&["send"], CUSTOMERS, more, join, numbers)
}

/// Receives from the program, which runs this command with these customers, as `more` says.
fn receive_of(
    command: &[&str],
    customers: &str,
    more: &[&str],
    join: &Join,
    numbers: &[Vec<i64>],
) -> (Result<Output, JoinError>, Process) {
    let folder = Folder::new();
    let table = folder.file("customers.csv", customers);
    let trust = trust(&folder);
    let [_, identity, _, peer] = &trust.receiver;
    let [_, own, _, its_peer] = &trust.sender;
    let args = [
        ["--identity", own],
        ["--peer", its_peer],
        ["--input", &table],
        ["--key", "2"],
    ];
    let listen = &["--listen", "127.0.0.1:0", "--no-header"];
    let args = [command, listen, args.as_flattened(), more].concat();
    let mut sender = Process::start(&args);
    let address = sender.address();
    let security = Security::PinnedTls {
        identity: Identity::read(Path::new(identity)).unwrap(),
        peer: peer.parse().unwrap(),
    };
    let mut options = Options::new(security);
    options.streams = true;
    let address = address.parse().unwrap();
    let (connection, mut channel) = Connection::connect(&address, &options).unwrap();
    let received = join.receive(&mut channel, &ITEMS, numbers);
    match &received {
        Ok(_) => connection.finish().unwrap(),
        Err(_) => drop(connection),
    }
    (received, sender)
}

#[test]
fn the_library_receives_rows_counts_and_sums_from_this_program() {
    let (rows, sender) = receive(&[], &Join::default(), &[]);
    assert_eq!(rows.unwrap(), Output::Rows(vec![0, 2]));
    sender
        .end()
        .says(0, &["The receiver learned which of its keys you share"]);

    let count = Join::default().output(OutputKind::Count);
    let (counted, sender) = receive(&["--output-kind", "count"], &count, &[]);
    assert_eq!(counted.unwrap(), Output::Count(2));
    sender.end().says(0, &[]);

    let columns = Columns {
        sender: 1,
        receiver: 1,
    };
    let sums = Join::default()
        .output(OutputKind::Sums(columns))
        .min_intersection(2);
    // The library calls a party's columns by their numbers.
    let asked = [
        "--output-kind",
        "sum:sender.1,receiver.1",
        "--min-intersection",
        "2",
    ];
    let asked = [&asked[..], &["--allow-sums-that-reveal-keys"]].concat();
    let (summed, sender) = receive(&asked, &sums, &[vec![100, 1, 10, 1]]);
    assert_eq!(summed.unwrap(), Output::Sums(vec![12, 110]));
    sender.end().says(0, &[]);
}

#[test]
fn both_learn_rows_with_the_library_at_the_other_end() {
    let payloads = Payloads {
        from_sender: 0,
        back: Some(0),
    };
    let join = Join::default().output(OutputKind::Payloads(payloads));
    let (rows, sender) = receive(&["--learn", "both", "--output", "-"], &join, &[]);
    let Output::Matched(matched) = rows.unwrap() else {
        panic!("rows for both were asked for");
    };
    assert_eq!(matched.rows, [0, 2]);
    sender.end().says(0, &[]);
}

#[test]
fn the_library_and_this_program_name_their_disagreement() {
    let join = Join::default().protocol(registry::find("kkrt").unwrap());
    let (refused, sender) = receive(&[], &join, &[]);
    let error = refused.unwrap_err().to_string();
    assert!(error.contains("the protocol"), "{error}");
    sender.end().says(5, &["the protocol", "kkrt"]);
}

#[test]
fn numbers_with_decimals_are_refused_and_this_program_is_told() {
    let columns = Columns {
        sender: 1,
        receiver: 0,
    };
    let sums = Join::default().output(OutputKind::Sums(columns));
    let customers = CUSTOMERS.replace("5,", "5.25,");
    let asked = ["--output-kind", "sum:sender.1"];
    let (refused, sender) = receive_of(&["send"], &customers, &asked, &sums, &[]);
    assert!(matches!(refused, Err(JoinError::Decimals)));
    sender.end().says(5, &[]);
}

#[test]
fn the_library_is_told_that_this_program_only_checks() {
    let check = ["check", "send"];
    let (refused, checker) = receive_of(&check, CUSTOMERS, &[], &Join::default(), &[]);
    assert!(matches!(refused, Err(JoinError::OnlyChecked)));
    checker.end().says(0, &[]);
}
