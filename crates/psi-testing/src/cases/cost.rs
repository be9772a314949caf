//! The traffic on the wire is the plan's cost, to the byte.

use psijoin_channel::{count::counted, memory};
use psijoin_psi::{Output, Plan};

use crate::{Sets, Setup, Subject, run_pair};

/// Nobody, one, and a few dozens.
pub fn is_exact_for_few_items(subject: &Subject) {
    for sets in [
        Sets::new(0, 5, 0),
        Sets::new(1, 1, 1),
        Sets::new(30, 50, 20),
    ] {
        check(subject, sets);
    }
}

/// Several messages of each kind.
pub fn is_exact_for_many_items(subject: &Subject) {
    for sets in [
        Sets::new(300, 5000, 20),
        Sets::new(5000, 300, 20),
        Sets::new(2048, 2048, 2048),
    ] {
        check(subject, sets);
    }
}

pub(super) fn check(subject: &Subject, sets: Sets) {
    let sets = subject.sized(sets);
    for request in subject.requests(&sets) {
        // Withheld output is not sent.
        if sets.expected(&request) != Output::TooFew {
            let plan = subject.plan(&request);
            assert_eq!(measured(&plan, &sets), planned(&plan), "{request:?}");
        }
    }
}

/// Returns the sender's bytes, the receiver's, and flights.
fn measured(plan: &Plan, sets: &Sets) -> [u64; 3] {
    let (sender, receiver) = memory::pair();
    let (sender, counters) = counted(sender);
    let (sent, received) = run_pair(plan, sets, (sender, receiver), &Setup::default());
    sent.unwrap();
    received.unwrap();
    let traffic = counters.snapshot();
    [traffic.sent.bytes, traffic.received.bytes, traffic.flights]
}

fn planned(plan: &Plan) -> [u64; 3] {
    let total = plan.cost().total;
    [total.sender_bytes, total.receiver_bytes, total.flights]
}
