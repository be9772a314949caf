//! A session that broke off goes on: the result is exact, only what is left runs, and costs what was
//! planned.

use std::thread;

use psijoin_channel::{
    count::{Snapshot, counted},
    joint_seed::JointSeed,
    memory,
};
use psijoin_psi::{Context, Input, OutputKind, Plan, Request, Role, run};
use psijoin_psi_parts::{Remaining, steps};

use crate::{
    JOINT_SEED, MemoryLedger, Results, Sets, Subject,
    run::{assert_output, structured},
    sets::{columns, payloads},
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
        OutputKind::Totals(_) => true,
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

/// Breaks off when the party in this role has no room for more steps, and goes on with what both
/// have.
fn goes_on(subject: &Subject, plan: &Plan, sets: &Sets, role: Role, room: usize) {
    let ledgers = match role {
        Role::Sender => [MemoryLedger::with_room(room), MemoryLedger::default()],
        Role::Receiver => [MemoryLedger::default(), MemoryLedger::with_room(room)],
    };
    let ((sent, received), _) = attempt(plan, sets, &ledgers, [1; 32]);
    let own = match role {
        Role::Sender => sent,
        Role::Receiver => received,
    };
    assert_eq!(own.unwrap_err().kind(), psijoin_psi::ErrorKind::Ledger);

    let [senders, receivers] = ledgers.each_ref().map(MemoryLedger::steps);
    let mut both = senders;
    both.retain(|step| receivers.contains(step));
    // Steps that neither lost may be lost later.
    both.retain(|step| *step != 1);
    // What was opened was opened of the shares of these runs.
    if both.len() < PARTS as usize {
        both.retain(|step| *step < PARTS);
    }
    let ledgers = ledgers.map(|ledger| ledger.only(&both));
    let planned = Remaining::after(plan, &ledgers[0]).traffic();
    let (results, passed) = attempt(plan, sets, &ledgers, [2; 32]);
    let withheld = matches!(&results.1, Ok(psijoin_psi::Output::TooFew));
    assert_output(subject, sets, plan.request(), results);
    if !withheld {
        assert_eq!(passed.sent.bytes, planned.sender_bytes);
        assert_eq!(passed.received.bytes, planned.receiver_bytes);
    }

    // Whoever has all needs nobody.
    let all: Vec<u32> = (0..steps(plan)).collect();
    assert_eq!(
        ledgers.each_ref().map(MemoryLedger::steps),
        [all.clone(), all]
    );
    let (results, passed) = attempt(plan, sets, &ledgers, [3; 32]);
    assert_output(subject, sets, plan.request(), results);
    assert_eq!(passed.sent.bytes + passed.received.bytes, 0);
}

/// One attempt with fresh randomness, on digests that stay; what each learned, and what passed.
fn attempt(
    plan: &Plan,
    sets: &Sets,
    ledgers: &[MemoryLedger; 2],
    fresh: [u8; 32],
) -> (Results, Snapshot) {
    let (sender, receiver) = memory::pair();
    let (sender, counters) = counted(sender);
    let output = &plan.request().output;
    let party = |role, items: &[u64], mut channel, ledger| {
        let joint_seed = JointSeed::insecure_fixed(JOINT_SEED);
        let input = Input {
            items: &plan.items(&structured(items), &joint_seed),
            columns: &columns(role, items, output),
            payloads: &payloads(role, items, output),
            joint_seed: &JointSeed::insecure_fixed(fresh),
        };
        let mut context = Context::new(&mut channel).keeping(ledger);
        run(plan, role, &input, &mut context)
    };
    let results = thread::scope(|scope| {
        let sent = scope.spawn(|| party(Role::Sender, &sets.sender, sender, &ledgers[0]));
        let received = party(Role::Receiver, &sets.receiver, receiver, &ledgers[1]);
        (sent.join().unwrap(), received)
    });
    (results, counters.snapshot())
}
