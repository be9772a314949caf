//! A fault at every message of either party: an error on both sides, soon, and never a panic.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{
    AbortCode, Error as ChannelError,
    count::counted,
    fault::{Fault, FaultKind, faulty},
    memory::{self, Builder, Window},
};
use psijoin_psi::{
    BaseOts, Columns, Error, ErrorKind, Groups, Output, OutputKind, Payloads, Plan, Request, Role,
};

use crate::{
    Results, Sets, Setup, Subject,
    run::{assert_output, run_pair},
    sets::payloads,
};

/// The most time that a run may take, with many others beside it on a busy machine.
const PATIENCE: Duration = Duration::from_secs(240);

/// The time for which a party waits for a peer that stalls; longer, if it gave up before that.
const STALLS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(30)];

/// Runs that wait for a stall at the same time: they compute next to nothing.
const STALLS_AT_ONCE: usize = 16;

/// Of messages that are alike, these first ones are hit, and then some.
const FIRST_ALIKE: u64 = 8;

/// The messages from one that is hit to the next, where the layers of a circuit are alike.
const LAYERS_APART: usize = 11;

/// The messages from one that is hit to the next, where other cases hit messages like these: a
/// session in parts repeats those of one without, and other base OTs change none that follow.
const REPEATED_APART: usize = 37;

/// A session in parts that has no more messages than this is hit at all of them.
const FEW_IN_PARTS: u64 = 48;

/// The peer goes away.
pub fn a_cut_connection(subject: &Subject) {
    at_every_message(subject, |_| FaultKind::Cut, loses_the_channel);
}

/// The peer sends a byte less.
pub fn a_short_message(subject: &Subject) {
    at_every_message(
        subject,
        |_| FaultKind::Truncate,
        |case, last, results| {
            let (sent, received) = match last {
                Role::Sender => results,
                Role::Receiver => (results.1, results.0),
            };
            // The party that got the message knows that the peer broke the protocol; and tells it.
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
                // It had sent its last message.
                Ok(_) => assert_eq!(error.kind(), ErrorKind::Peer, "{case}"),
            }
        },
    );
}

/// The peer stands still.
pub fn a_stalled_peer(subject: &Subject) {
    at_every_message(subject, |_| FaultKind::Stall, loses_the_channel);
}

/// Checks that the party that receives the last message notices the loss.
fn loses_the_channel(case: &str, last: Role, (sent, received): Results) {
    let error = match last {
        Role::Sender => received.expect_err(case),
        Role::Receiver => sent.expect_err(case),
    };
    assert_eq!(error.kind(), ErrorKind::Channel, "{case}: {error}");
}

/// Semi-honest protocols do not promise to notice a changed bit (the transport does), but
/// they end, and they return an error or rows that exist. A sealed payload is right, or an error.
pub fn a_flipped_bit(subject: &Subject) {
    at_every_message(
        subject,
        |target| FaultKind::Flip {
            bit: 1237 * (1 + target.message as usize),
        },
        |_, _, _| (),
    );
}

/// Returns the role that sends the last message.
fn last_speaker(request: &Request) -> Role {
    match request.output {
        OutputKind::Payloads(Payloads { back: Some(_), .. }) => Role::Receiver,
        _ => Role::Sender,
    }
}

/// To find rows, and payloads for both; and of a few items what takes the most messages of all that
/// the protocol computes. With other base OTs rows only: they come before anything that depends on
/// the output.
fn requests(subject: &Subject) -> Vec<(Sets, Request)> {
    let rows = subject.faulty.request(OutputKind::Rows);
    if subject.base_ots == BaseOts::MlKem {
        return vec![(subject.faulty.clone(), rows)];
    }
    let few = Sets::new(20, 14, 6);
    let columns = Columns {
        sender: 1,
        receiver: 1,
    };
    let sums = few.request(OutputKind::Sums(columns)).min_intersection(6);
    let threshold = few.request(OutputKind::Threshold(6));
    let function = [sums, threshold]
        .into_iter()
        .find(|request| subject.serves(request));
    let groups = few.request(OutputKind::Groups(Groups {
        columns,
        labels: Columns {
            sender: 3,
            receiver: 2,
        },
        least: 1,
        noisy: true,
    }));
    let groups = Some(groups).filter(|groups| subject.serves(groups));
    let payloads = OutputKind::Payloads(Payloads {
        from_sender: 80,
        back: Some(70),
    });
    let mut requests = vec![rows];
    let payloads = subject.faulty.request(payloads);
    requests.extend(subject.serves(&payloads).then_some(payloads));
    // A protocol that serves functions counts by adding up.
    let count = subject.faulty.request(OutputKind::Count);
    requests.extend((function.is_none() && subject.serves(&count)).then_some(count));
    let many = requests
        .into_iter()
        .map(|request| (subject.faulty.clone(), request));
    let functions = function.into_iter().chain(groups);
    many.chain(functions.map(|request| (few.clone(), request)))
        .collect()
}

/// The message that is hit, and its sender.
#[derive(Debug, Clone, Copy)]
struct Target {
    role: Role,
    message: u64,
}

/// Hits every message of either party, or of many messages that are alike, some.
fn at_every_message(
    subject: &Subject,
    kind: impl Fn(Target) -> FaultKind + Sync,
    check: impl Fn(&str, Role, Results) + Sync,
) {
    for (sets, request) in requests(subject) {
        let plan = subject.plan(&request);
        let hit = |target: Target| {
            let results = run_with_fault(subject.window, &plan, &sets, target, kind(target));
            let Target { role, message } = target;
            let case = format!("{}, message {message} of the {role}", request.output);
            check(&case, last_speaker(&request), results);
        };
        let targets = targets(subject, &sets, &plan);
        if kind(targets[0]) == FaultKind::Stall {
            for targets in targets.chunks(STALLS_AT_ONCE) {
                thread::scope(|scope| {
                    for target in targets {
                        scope.spawn(|| hit(*target));
                    }
                });
            }
        } else {
            targets.into_iter().for_each(hit);
        }
    }
}

/// Returns the messages that a run has.
fn targets(subject: &Subject, sets: &Sets, plan: &Plan) -> Vec<Target> {
    let (sender, receiver) = memory::pair();
    let (sender, counters) = counted(sender);
    let results = run_pair(plan, sets, (sender, receiver), &Setup::default());
    assert_output(subject, sets, plan.request(), results);
    let traffic = counters.snapshot();
    let messages = |role, count: u64| {
        let is_repeated = match subject.parts {
            Some(_) => count > FEW_IN_PARTS,
            None => subject.base_ots == BaseOts::MlKem,
        };
        let apart = match (is_repeated, subject.layered) {
            (true, _) => REPEATED_APART,
            (false, true) => LAYERS_APART,
            (false, false) => 1,
        };
        let first = FIRST_ALIKE.min(count);
        let chosen = (0..first).chain((first..count).step_by(apart));
        chosen.map(move |message| Target { role, message })
    };
    messages(Role::Sender, traffic.sent.messages)
        .chain(messages(Role::Receiver, traffic.received.messages))
        .collect()
}

/// Returns the results of a run in which a message is hit. Whatever happens, the run ends soon, and
/// rows that it returns exist.
fn run_with_fault(
    window: Window,
    plan: &Plan,
    sets: &Sets,
    target: Target,
    kind: FaultKind,
) -> Results {
    let fault = Fault {
        at: target.message,
        kind,
    };
    // A party that waits only briefly may give up before the stall, on a busy machine.
    let patience: &[_] = match kind {
        FaultKind::Stall => &STALLS,
        _ => &[PATIENCE],
    };
    for patience in patience {
        let channels = Builder::new().window(window).idle_timeout(*patience);
        let (mut sender, mut receiver) = channels.pair();
        let probe;
        match target.role {
            Role::Sender => (sender, probe) = faulty(sender, fault),
            Role::Receiver => (receiver, probe) = faulty(receiver, fault),
        }
        let started = Instant::now();
        let results = run_pair(plan, sets, (sender, receiver), &Setup::default());
        assert!(started.elapsed() < PATIENCE, "a party hung");
        if let Ok(Output::Matched(matched)) = &results.1 {
            let items = matched.rows.iter().map(|row| sets.receiver[*row as usize]);
            let items: Vec<u64> = items.collect();
            let right = payloads(Role::Sender, &items, &plan.request().output);
            assert!(matched.payloads == right, "a wrong payload");
        }
        if let Ok(Output::Rows(rows)) = &results.1 {
            let exists = |row: &u32| (*row as usize) < sets.receiver.len();
            assert!(rows.is_sorted() && rows.iter().all(exists));
        }
        if probe.reached() {
            return results;
        }
    }
    panic!("{target:?} was not reached");
}
