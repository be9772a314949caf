//! A fault at every message of either party: an error on both sides, soon, and never a panic.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{
    AbortCode, Error as ChannelError,
    fault::{Fault, FaultKind, faulty},
    memory::Builder,
};
use psijoin_psi::{
    Columns, Error, ErrorKind, Output, OutputKind, Protocol, Request, Role,
    registry::{self, PROTOCOLS},
};

use crate::harness::{Results, Sets, Setup, assert_output, is_circuit, run_pair};

/// How long a run may take at most, all of them at once on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// How long a party waits for a peer: short where that is what is tested.
fn patience(protocol: &dyn Protocol, kind: FaultKind) -> Duration {
    match (kind, protocol.info().name) {
        // Making a key takes a second.
        (FaultKind::Stall, "rsa") => Duration::from_secs(5),
        (FaultKind::Stall, _) => Duration::from_secs(1),
        _ => PATIENCE,
    }
}

/// Sets that take two messages or three of each kind.
fn sets(protocol: &dyn Protocol) -> Sets {
    match protocol.info().name {
        // A public-key operation for each item, and little in a message.
        "dh" => Sets::new(600, 300, 100),
        "dh-ffdhe3072" | "rsa" => Sets::new(40, 20, 7),
        // All pairs are compared.
        "psz-none" => Sets::new(60, 1100, 30),
        // Many letters an item, and many masks.
        "psz-simple" => Sets::new(400, 250, 70),
        // Some hundred cells an item.
        "gbf" | "gbf-silent" | "random-gbf" | "random-gbf-silent" => Sets::new(120, 100, 30),
        // And some dozen tests of equality in a message.
        "kk20" | "kk20-silent" => Sets::new(60, 50, 20),
        // A message or more for each layer of gates.
        _ if is_circuit(protocol) => Sets::new(10, 7, 3),
        _ => Sets::new(3000, 2100, 700),
    }
}

/// To find rows; and of a few items what takes the most messages of all that the protocol computes.
fn cases(protocol: &dyn Protocol) -> Vec<(Sets, Request)> {
    let few = Sets::new(20, 14, 6);
    let columns = Columns {
        sender: 1,
        receiver: 1,
    };
    let sums = Request {
        min_intersection: 6,
        ..few.request(40, OutputKind::Sums(columns))
    };
    let threshold = few.request(40, OutputKind::Threshold(6));
    let function = [sums, threshold]
        .into_iter()
        .find(|request| protocol.computes(&request.output));
    let rows = sets(protocol);
    let to_find = rows.request(40, OutputKind::Rows);
    let function = function.map(|request| (few, request));
    [(rows, to_find)].into_iter().chain(function).collect()
}

/// Which message of whom is hit.
#[derive(Clone, Copy)]
struct Target {
    role: Role,
    message: u64,
}

/// The results of a run in which a message is hit; `None` if that party sends fewer.
/// Whatever happens, the run ends soon, and rows that it returns exist.
fn run_with_fault(
    protocol: &dyn Protocol,
    (sets, request): &(Sets, Request),
    target: Target,
    kind: FaultKind,
) -> Option<Results> {
    let fault = Fault {
        at: target.message,
        kind,
    };
    let (mut sender, mut receiver) = Builder::new().idle_timeout(patience(protocol, kind)).pair();
    let probe;
    match target.role {
        Role::Sender => (sender, probe) = faulty(sender, fault),
        Role::Receiver => (receiver, probe) = faulty(receiver, fault),
    }
    let started = Instant::now();
    let results = run_pair(
        &*registry::plan(protocol, request).unwrap(),
        sets,
        (sender, receiver),
        &Setup::default(),
    );
    assert!(started.elapsed() < PATIENCE, "a party hung");
    if let Ok(Output::Rows(rows)) = &results.1 {
        let exists = |row: &u32| (*row as usize) < sets.receiver.len();
        assert!(rows.is_sorted() && rows.iter().all(exists));
    }
    if probe.reached() {
        return Some(results);
    }
    // Else nothing went wrong, and there are no more messages to hit. But a party with little
    // patience may have lost it, on a busy machine.
    if kind != FaultKind::Stall {
        assert_output(protocol, sets, request, results);
    }
    None
}

/// All messages, but of a circuit, whose layers are all alike, only some.
fn messages(protocol: &dyn Protocol) -> impl Iterator<Item = u64> {
    let (all, apart) = if is_circuit(protocol) {
        (8, 11)
    } else {
        (0, 1)
    };
    (0..all).chain((all..).step_by(apart))
}

/// Hits every message of either party of every protocol; each party of each protocol on a
/// thread of its own, since a stall is waited for and not computed.
fn at_every_message(
    kind: impl Fn(Target) -> FaultKind + Sync,
    check: impl Fn(&str, Results) + Sync,
) {
    let hit_all = &|protocol: &dyn Protocol, role| {
        for case in cases(protocol) {
            for message in messages(protocol) {
                let target = Target { role, message };
                let Some(results) = run_with_fault(protocol, &case, target, kind(target)) else {
                    break;
                };
                let (name, output) = (protocol.info().name, &case.1.output);
                let which = format!("{name}, {output}, message {message} of the {role}");
                check(&which, results);
            }
        }
    };
    thread::scope(|scope| {
        for protocol in PROTOCOLS {
            for role in [Role::Sender, Role::Receiver] {
                scope.spawn(move || hit_all(*protocol, role));
            }
        }
    });
}

#[test]
fn a_cut_connection() {
    at_every_message(
        |_| FaultKind::Cut,
        |case, (_, received)| {
            let error = received.expect_err(case);
            assert_eq!(error.kind(), ErrorKind::Channel, "{case}: {error}");
        },
    );
}

#[test]
fn a_short_message() {
    at_every_message(
        |_| FaultKind::Truncate,
        |case, (sent, received)| {
            // Who got the message knows that the peer broke the protocol; and tells it.
            let error = received.expect_err(case);
            let told = |error: &Error| {
                matches!(
                    error,
                    Error::Channel(ChannelError::PeerAborted(AbortCode::ProtocolViolation))
                )
            };
            match sent {
                Err(sent) if sent.kind() == ErrorKind::Peer => {
                    assert!(told(&error), "{case}: {error:?}");
                }
                Err(sent) => {
                    assert_eq!(error.kind(), ErrorKind::Peer, "{case}: {error:?}");
                    assert!(told(&sent), "{case}: {sent:?}");
                }
                // The sender had sent its last message.
                Ok(_) => assert_eq!(error.kind(), ErrorKind::Peer, "{case}"),
            }
        },
    );
}

#[test]
fn a_stalled_peer() {
    at_every_message(
        |_| FaultKind::Stall,
        |case, (_, received)| {
            let error = received.expect_err(case);
            assert_eq!(error.kind(), ErrorKind::Channel, "{case}: {error}");
        },
    );
}

/// Semi-honest protocols do not promise to notice a changed bit (the transport does), but
/// they end, and they return an error or rows that exist.
#[test]
fn a_flipped_bit() {
    at_every_message(
        |target| FaultKind::Flip {
            bit: 1237 * (1 + target.message as usize),
        },
        |_, _| (),
    );
}
