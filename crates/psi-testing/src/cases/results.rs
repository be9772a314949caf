//! Right results for every shape of input.

use proptest::{prelude::*, test_runner::TestRunner};
use psijoin_channel::memory::{self, Builder, Window};
use psijoin_params::{Security, Sizes};
use psijoin_psi::{Error, ErrorKind, Output, OutputKind, Request};

use crate::{
    Sets, Setup, Subject,
    run::{assert_output, run_pair},
};

/// Runs both parties and demands the right result, of each kind that the protocol computes, or
/// to be refused if the sets are too large for it.
pub(super) fn check(subject: &Subject, sets: Sets) {
    let sets = subject.sized(sets);
    for request in subject.requests(&sets) {
        check_request(subject, &sets, &request);
    }
}

/// Runs both parties for rows, and demands the right result.
pub(super) fn check_rows(subject: &Subject, sets: Sets) {
    let sets = subject.sized(sets);
    check_request(subject, &sets, &sets.request(OutputKind::Rows));
}

fn check_request(subject: &Subject, sets: &Sets, request: &Request) {
    let plan = subject.plan(request);
    let results = run_pair(&plan, sets, memory::pair(), &Setup::default());
    let sizes = (plan.parts()).map_or(request.sizes, |parts| parts.shape.capacities);
    let serves = sizes.pairs() <= subject.most_pairs;
    assert_eq!(plan.feasible().is_ok(), serves);
    if serves {
        return assert_output(subject, sets, request, results);
    }
    let refused = |result: Result<Output, Error>| result.unwrap_err().kind();
    assert_eq!(refused(results.0), ErrorKind::Misuse);
    assert_eq!(refused(results.1), ErrorKind::Misuse);
}

/// One set or both.
pub fn empty_sets(subject: &Subject) {
    for (sender, receiver) in [(0, 0), (0, 1), (1, 0), (0, 1000), (1000, 0)] {
        check(subject, Sets::new(sender, receiver, 0));
    }
}

/// Shared or not.
pub fn one_item(subject: &Subject) {
    check(subject, Sets::new(1, 1, 0));
    check(subject, Sets::new(1, 1, 1));
}

/// Sets of every small size, and of some dozens of items in every kind of output.
pub fn few_items(subject: &Subject) {
    for n in 2..12 {
        check_rows(subject, Sets::new(n, n, n / 2));
    }
    check(subject, Sets::new(70, 100, 30));
}

/// One item against thousands, and few against many.
pub fn very_unequal_sets(subject: &Subject) {
    check_rows(subject, Sets::new(1, 3000, 1));
    check_rows(subject, Sets::new(3000, 1, 1));
    check(subject, Sets::new(5, 5000, 3));
}

/// Sizes at which the last chunk of a message is full, or holds one item.
pub fn borders_of_chunks(subject: &Subject) {
    for n in [255, 256, 257, 2047, 2048, 2049] {
        check_rows(subject, Sets::new(n, n, n - 1));
    }
}

/// Nobody may rely on the channel to hold more than one message.
pub fn both_parties_wait_for_room_after_every_message(subject: &Subject) {
    check_with_room_for_one(subject, &subject.sized(Sets::new(3000, 2500, 1000)));
}

/// Checks that over channels that hold one message.
pub(super) fn check_with_room_for_one(subject: &Subject, sets: &Sets) {
    for request in subject.requests(sets) {
        let plan = subject.plan(&request);
        let channels = Builder::new().window(Window::ONE_MESSAGE).pair();
        let results = run_pair(&plan, sets, channels, &Setup::default());
        assert_output(subject, sets, &request, results);
    }
}

/// σ = 80.
pub fn high_statistical_security(subject: &Subject) {
    let sets = subject.sized(Sets::new(2000, 300, 100));
    let sizes = sets.request(OutputKind::Rows).sizes;
    let security = Security::new(80).expect("80 bits are offered");
    let request = Request::of(sizes, security);
    let plan = subject.plan(&request);
    assert!(plan.budget().total().log2() <= -80.0);
    let results = run_pair(&plan, &sets, memory::pair(), &Setup::default());
    assert_output(subject, &sets, &request, results);
}

/// All failure events of a run together stay below 2^-σ, or there is no plan.
pub fn the_failure_budget_is_kept_at_every_size(subject: &Subject) {
    for (sender, receiver) in [(1, 1), (3, 1 << 20), (1 << 26, 7), (1 << 26, 1 << 26)] {
        if u128::from(sender) * u128::from(receiver) > subject.most_pairs {
            continue;
        }
        let sizes = Sizes::new(sender, receiver).expect("these are allowed");
        for sigma in [40, 63, 80] {
            let security = Security::new(sigma).expect("these are offered");
            let plan = subject.try_plan(&Request::of(sizes, security));
            if sigma == 80 && subject.limit.forbids(sender, receiver) {
                assert_eq!(
                    plan.err().map(|error| error.kind()),
                    Some(ErrorKind::Misuse)
                );
            } else {
                let total = plan.unwrap().budget().total();
                assert!(total.log2() <= -f64::from(sigma), "{sigma}: {total}");
            }
        }
    }
}

/// Tests thresholds that are 0, or exceed a set.
pub fn thresholds_that_are_always_or_never_reached(subject: &Subject) {
    let sets = Sets::new(5, 3, 2);
    for items in [0, 1, 3, 4, u64::MAX] {
        let request = sets.request(OutputKind::Threshold(items));
        if subject.protocol.computes(&request.output) {
            check_request(subject, &sets, &request);
        }
    }
}

/// Identical, disjoint and half-shared sets of consecutive numbers: nothing lost, nothing added.
pub fn many_items(subject: &Subject) {
    let many = subject.many;
    for shared in [0, many / 2, many] {
        check_rows(subject, Sets::new(many, many, shared));
    }
}

/// Joins a million items, unless a set of this size is refused.
pub fn a_million_items(subject: &Subject) {
    const ITEMS: usize = 1 << 20;
    if subject.takes_a_million {
        for shared in [0, ITEMS / 2, ITEMS] {
            let sets = Sets::new(ITEMS, ITEMS, shared);
            check_request(subject, &sets, &sets.request(OutputKind::Rows));
        }
    }
}

/// Of any sizes, with any items in common.
pub fn random_sets(subject: &Subject) {
    let items = || prop::collection::hash_set(0_u64..400, 0..300);
    let config = ProptestConfig::with_cases(12);
    TestRunner::new(config)
        .run(&(items(), items()), |(sender, receiver)| {
            let sets = Sets {
                sender: sender.into_iter().collect(),
                receiver: receiver.into_iter().collect(),
            };
            check_rows(subject, sets);
            Ok(())
        })
        .unwrap();
}
