//! A session that broke off is resumed: the result is exact, and only the rest runs, at the planned
//! cost.

use std::thread;

use psijoin_channel::{Error as ChannelError, joint_seed::JointSeed, memory, transcript::recorded};
use psijoin_psi::{Context, Error, Input, OutputKind, Plan, Request, Role, run};
use psijoin_psi_parts::{Remaining, steps};

use crate::{
    JOINT_SEED, MemoryLedger, Results, Sets, Subject,
    run::{assert_output, fingerprints},
    sets::{columns, noise, payloads},
};

const PARTS: u32 = 7;

/// After one party could not keep one step more, of every request.
pub fn only_what_is_left_runs_again(subject: &Subject) {
    let subject = &subject.in_parts(PARTS);
    let sets = Sets::new(70, 100, 30);
    for (index, request) in subject.requests(&sets).iter().enumerate() {
        let plan = &subject.plan(request);
        if request.is_decided() {
            continue;
        }
        let [either, other] = match index % 2 {
            0 => [Role::Sender, Role::Receiver],
            _ => [Role::Receiver, Role::Sender],
        };
        let steps = steps(plan) as usize;
        goes_on(subject, plan, &sets, either, index % steps);
        goes_on(subject, plan, &sets, other, steps - 1);
    }
}

/// After any step, whoever could not keep it, of every kind of output.
pub fn whenever_it_broke_off(subject: &Subject) {
    let subject = &subject.in_parts(PARTS);
    let sets = Sets::new(70, 100, 30);
    let mut requests = subject.requests(&sets);
    // Totals are no output that anybody asks for, and sums are opened as a count is.
    let is_like_another = |request: &Request| match request.output {
        OutputKind::Totals(_) | OutputKind::GroupTotals(_) => true,
        OutputKind::Sums(_) => request.min_intersection > 0,
        _ => request.is_decided(),
    };
    requests.retain(|request| !is_like_another(request));
    for request in requests.iter().step_by(2) {
        let plan = &subject.plan(request);
        for room in 0..steps(plan) as usize {
            for role in [Role::Sender, Role::Receiver] {
                goes_on(subject, plan, &sets, role, room);
            }
        }
    }
}

/// Breaks off when the party in this role has no room for more steps, and resumes with what both
/// have.
fn goes_on(subject: &Subject, plan: &Plan, sets: &Sets, role: Role, room: usize) {
    let ledgers = match role {
        Role::Sender => [MemoryLedger::with_room(room), MemoryLedger::default()],
        Role::Receiver => [MemoryLedger::default(), MemoryLedger::with_room(room)],
    };
    let noise = noise(plan.request());
    let (sent, received) = attempt(plan, [sets, sets], &ledgers, &noise).results;
    let own = match role {
        Role::Sender => sent,
        Role::Receiver => received,
    };
    assert_eq!(own.unwrap_err().kind(), psijoin_psi::ErrorKind::Ledger);

    let [senders, receivers] = ledgers.each_ref().map(MemoryLedger::steps);
    let is_of_both = |step: &u32| receivers.get(step) == senders.get(step);
    let mut both: Vec<u32> = senders.keys().copied().filter(is_of_both).collect();
    // Steps that neither lost may be lost later.
    both.retain(|step| *step != 1);
    // An opening is of all parts.
    if both.len() < PARTS as usize {
        both.retain(|step| *step < PARTS);
    }
    let ledgers = ledgers.map(|ledger| ledger.agreed(&both));
    let planned = Remaining::after(plan, &ledgers[0]).traffic();
    // What was drawn anew is of no use if a step has begun with noise.
    let noise = match ledgers[0].has_noise() {
        true => other(&noise),
        false => noise,
    };
    let attempted = attempt(plan, [sets, sets], &ledgers, &noise);
    if !matches!(&attempted.results.1, Ok(psijoin_psi::Output::TooFew)) {
        assert_eq!(
            attempted.bytes(),
            [planned.sender_bytes, planned.receiver_bytes]
        );
    }
    assert_output(subject, sets, plan.request(), attempted.results);

    // Whoever has all needs nobody.
    let all: Vec<u32> = (0..steps(plan)).collect();
    let [senders, receivers] = ledgers.each_ref().map(MemoryLedger::steps);
    assert_eq!(senders, receivers, "the same runs");
    assert!(senders.keys().eq(&all));
    let ledgers = ledgers.map(|ledger| ledger.agreed(&all));
    let attempted = attempt(plan, [sets, sets], &ledgers, &noise);
    assert_eq!(attempted.bytes(), [0, 0]);
    assert_output(subject, sets, plan.request(), attempted.results);
}

/// Whoever resumes with another set gets no other answer: the honest party sends a beginning of its
/// earlier messages, in either role, in any of its runs, whatever noise it draws then.
pub fn what_was_answered_is_answered_to_the_same_only(subject: &Subject) {
    let sets = Sets::new(70, 100, 30);
    let others = Sets {
        sender: sets.sender.iter().map(|item| item + 10).collect(),
        receiver: Sets::new(70, 100, 20).receiver,
    };
    for subject in [subject.clone(), subject.in_parts(2)] {
        for request in subject.requests(&sets) {
            let plan = &subject.plan(&request);
            if request.is_decided() || plan.cost().total.total_bytes() == 0 {
                continue;
            }
            for honest in [Role::Sender, Role::Receiver] {
                answers_once(plan, honest, &sets, &others);
            }
        }
    }
}

/// The peer of the honest party has lost what it knew, and comes back with other items.
fn answers_once(plan: &Plan, honest: Role, sets: &Sets, others: &Sets) {
    let (own, peer) = match honest {
        Role::Sender => (0, 1),
        Role::Receiver => (1, 0),
    };
    let mut ledgers = [MemoryLedger::default(), MemoryLedger::default()];
    let noise = noise(plan.request());
    let first = attempt(plan, [sets, sets], &ledgers, &noise);
    ledgers[peer] = MemoryLedger::default();
    let ledgers = ledgers.map(|ledger| ledger.agreed(&[]));
    let mut brought = [sets, sets];
    brought[peer] = others;
    let again = attempt(plan, brought, &ledgers, &other(&noise));
    let output = &plan.request().output;
    assert!(
        first.said[own].starts_with(&again.said[own]),
        "{output}, {honest}: it said something else"
    );
    let of_honest = match honest {
        Role::Sender => again.results.0,
        Role::Receiver => again.results.1,
    };
    // Whoever hears nothing has nothing to compare, and cannot be asked anything.
    if !first.said[peer].is_empty() {
        assert!(
            matches!(of_honest, Err(Error::Channel(ChannelError::PeerDiffers))),
            "{output}, {honest}: {of_honest:?}"
        );
    }
}

/// Returns another draw.
fn other(noise: &[u64]) -> Vec<u64> {
    noise.iter().map(|number| number.wrapping_add(5)).collect()
}

/// The outputs of both in an attempt, and the messages of each.
struct Attempted {
    results: Results,
    said: [Vec<Vec<u8>>; 2],
}

impl Attempted {
    /// Returns how many bytes each said.
    fn bytes(&self) -> [u64; 2] {
        let bytes =
            |messages: &Vec<Vec<u8>>| messages.iter().map(|message| message.len() as u64).sum();
        self.said.each_ref().map(bytes)
    }
}

fn attempt(
    plan: &Plan,
    [senders, receivers]: [&Sets; 2],
    ledgers: &[MemoryLedger; 2],
    noise: &[u64],
) -> Attempted {
    let (sender, receiver) = memory::pair();
    let [(sender, by_sender), (receiver, by_receiver)] = [sender, receiver].map(recorded);
    let output = &plan.request().output;
    let joint_seed = &JointSeed::insecure_fixed(JOINT_SEED);
    let party = |role, items: &[u64], mut channel, ledger| {
        let input = Input {
            items: &plan.items(&fingerprints(plan, items), joint_seed),
            columns: &columns(role, items, output),
            payloads: &payloads(role, items, output),
            joint_seed,
        };
        let mut context = Context::new(&mut channel).keeping(ledger);
        if role == Role::Sender {
            context.noise = noise;
        }
        run(plan, role, &input, &mut context)
    };
    let results = thread::scope(|scope| {
        let sent = scope.spawn(|| party(Role::Sender, &senders.sender, sender, &ledgers[0]));
        let received = party(Role::Receiver, &receivers.receiver, receiver, &ledgers[1]);
        (sent.join().unwrap(), received)
    });
    Attempted {
        results,
        said: [by_sender, by_receiver].map(|said| said.messages()),
    }
}
