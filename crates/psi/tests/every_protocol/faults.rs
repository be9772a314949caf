//! A fault at every message of either party: an error on both sides, soon, and never a panic.

use std::time::{Duration, Instant};

use psijoin_channel::{
    AbortCode, Error as ChannelError,
    fault::{Fault, FaultKind, faulty},
    memory::Builder,
};
use psijoin_psi::{Error, ErrorKind, Output, Protocol, registry::PROTOCOLS};

use crate::harness::{Results, Sets, Setup, run_pair};

/// How long a party waits for a peer: short where that is what is tested, else long enough
/// for the busiest machine.
fn patience(kind: FaultKind) -> Duration {
    match kind {
        FaultKind::Stall => Duration::from_millis(400),
        _ => Duration::from_secs(20),
    }
}

/// The results of a run in which message `at` of one party is hit; `None` if it sends fewer.
fn run_with_fault(
    protocol: &dyn Protocol,
    sets: &Sets,
    of_sender: bool,
    fault: Fault,
) -> Option<Results> {
    let (mut sender, mut receiver) = Builder::new().idle_timeout(patience(fault.kind)).pair();
    let probe;
    if of_sender {
        (sender, probe) = faulty(sender, fault);
    } else {
        (receiver, probe) = faulty(receiver, fault);
    }
    let started = Instant::now();
    let results = run_pair(
        &*sets.plan(protocol),
        sets,
        (sender, receiver),
        &Setup::default(),
    );
    assert!(started.elapsed() < Duration::from_secs(60), "a party hung");
    probe.reached().then_some(results)
}

fn at_every_message(mut kind: impl FnMut() -> FaultKind, check: impl Fn(&str, Results)) {
    let sets = Sets::new(3000, 2100, 700);
    for protocol in PROTOCOLS {
        for of_sender in [true, false] {
            for at in 0.. {
                let fault = Fault { at, kind: kind() };
                let Some(results) = run_with_fault(*protocol, &sets, of_sender, fault) else {
                    break;
                };
                let who = if of_sender { "sender" } else { "receiver" };
                check(
                    &format!("{}, message {at} of the {who}", protocol.info().name),
                    results,
                );
            }
        }
    }
}

#[test]
fn a_cut_connection() {
    at_every_message(
        || FaultKind::Cut,
        |case, (_, received)| {
            let error = received.expect_err(case);
            assert_eq!(error.kind(), ErrorKind::Channel, "{case}: {error}");
        },
    );
}

#[test]
fn a_short_message() {
    at_every_message(
        || FaultKind::Truncate,
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
        || FaultKind::Stall,
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
    let mut bit = 0;
    at_every_message(
        || {
            bit += 1237;
            FaultKind::Flip { bit }
        },
        |case, (_, received)| {
            if let Ok(output) = received {
                let Output::Rows(rows) = output else {
                    panic!("{case}: {output:?}")
                };
                assert!(
                    rows.is_sorted() && rows.iter().all(|row| *row < 2100),
                    "{case}"
                );
            }
        },
    );
}
