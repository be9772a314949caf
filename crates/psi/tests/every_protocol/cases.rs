//! Right results for every shape of input.

use proptest::prelude::*;
use psijoin_channel::memory::{Builder, Window};
use psijoin_psi::{
    OutputKind, psz,
    registry::{self, PROTOCOLS},
};

use crate::harness::{
    Sets, Setup, assert_output, assert_result, check, is_circuit, run_pair, serves,
};

fn check_all(sets: &Sets) {
    for protocol in PROTOCOLS {
        check(*protocol, sets);
    }
}

#[test]
fn empty_sets() {
    for (sender, receiver) in [(0, 0), (0, 1), (1, 0), (0, 1000), (1000, 0)] {
        check_all(&Sets::new(sender, receiver, 0));
    }
}

#[test]
fn one_item() {
    check_all(&Sets::new(1, 1, 0));
    check_all(&Sets::new(1, 1, 1));
}

#[test]
fn small_sets_of_every_size() {
    for n in 2..12 {
        check_all(&Sets::new(n, n, n / 2));
    }
}

#[test]
fn very_unequal_sets() {
    check_all(&Sets::new(1, 3000, 1));
    check_all(&Sets::new(3000, 1, 1));
    check_all(&Sets::new(5, 5000, 3));
}

/// Sizes at which the last chunk of a message is full, or holds one item.
#[test]
fn borders_of_chunks() {
    for n in [255, 256, 257, 2047, 2048, 2049] {
        check_all(&Sets::new(n, n, n - 1));
    }
}

#[test]
fn both_parties_wait_for_room_after_every_message() {
    let large = Sets::new(3000, 2500, 1000);
    let small = Sets::new(1000, 1000, 300);
    for protocol in PROTOCOLS {
        let sets = [&large, &small]
            .into_iter()
            .find(|sets| serves(*protocol, sets))
            .unwrap()
            .sized_for(*protocol);
        for request in sets.requests(*protocol) {
            let plan = registry::plan(*protocol, &request).unwrap();
            let channels = Builder::new().window(Window::ONE_MESSAGE).pair();
            let results = run_pair(&*plan, &sets, channels, &Setup::default());
            assert_output(*protocol, &sets, &request, results);
        }
    }
}

#[test]
fn high_statistical_security() {
    for protocol in PROTOCOLS {
        let sets = Sets::new(2000, 300, 100).sized_for(*protocol);
        let plan = registry::plan(*protocol, &sets.request(80, OutputKind::Rows)).unwrap();
        assert!(plan.budget().total().log2() <= -80.0);
        let channels = psijoin_channel::memory::pair();
        let results = run_pair(&*plan, &sets, channels, &Setup::default());
        assert_result(*protocol, &sets, results);
    }
}

#[test]
fn the_failure_budget_is_kept_at_every_size() {
    for protocol in PROTOCOLS {
        for (sender, receiver) in [(1, 1), (3, 1 << 20), (1 << 26, 7), (1 << 26, 1 << 26)] {
            let all_pairs = protocol.info().name == "psz-none";
            if all_pairs && u128::from(sender * receiver) > psz::MOST_PAIRS {
                continue;
            }
            for sigma in [40, 63, 80] {
                let sizes = psijoin_params::Sizes::new(sender, receiver).unwrap();
                let request = psijoin_psi::Request {
                    sizes,
                    security: psijoin_params::Security::new(sigma).unwrap(),
                    output: OutputKind::Rows,
                    min_intersection: 0,
                };
                let result = registry::plan(*protocol, &request);
                // Masks have 128 bits at most: too few for the very largest of both. The blocks
                // that cm20 puts into AES, and the numbers of circuits, have 128 bits: too few for
                // the very largest of one. gbf, rr22-circuit and kk20 compare each item with one value only.
                let limit = match protocol.info().name {
                    "cm20" | "cm20-malicious-sender" => sender.max(receiver),
                    "gbf" | "gbf-silent" | "rr22-circuit" | "kk20" | "kk20-silent" => 0,
                    _ if is_circuit(*protocol) => sender.max(receiver),
                    _ => sender.min(receiver),
                };
                if sigma == 80 && limit == 1 << 26 {
                    assert_eq!(result.err().unwrap().kind(), psijoin_psi::ErrorKind::Misuse);
                } else {
                    let total = result.unwrap().budget().total();
                    assert!(total.log2() <= -f64::from(sigma), "{sigma}: {total}");
                }
            }
        }
    }
}

/// Whether that follows from the sizes, or not.
#[test]
fn thresholds_that_are_always_or_never_reached() {
    let sets = Sets::new(5, 3, 2);
    for protocol in PROTOCOLS {
        for items in [0, 1, 3, 4, u64::MAX] {
            let output = OutputKind::Threshold(items);
            if protocol.computes(&output) {
                let request = sets.request(40, output);
                let plan = registry::plan(*protocol, &request).unwrap();
                let channels = psijoin_channel::memory::pair();
                let (_, reached) = run_pair(&*plan, &sets, channels, &Setup::default());
                assert_eq!(reached.unwrap(), sets.expected(&request));
            }
        }
    }
}

/// Identical, disjoint and half-shared sets of 2^16 consecutive numbers: nothing lost,
/// nothing added.
#[test]
fn sixty_five_thousand_items() {
    for shared in [0, 1 << 15, 1 << 16] {
        let sets = Sets::new(1 << 16, 1 << 16, shared);
        for name in [
            "naive",
            "psz-simple",
            "psz-balanced",
            "psz-cuckoo",
            "pssz",
            "kkrt",
            "spot-fast",
            "spot-low",
            "spot-low-malicious-sender",
            "cm20",
            "rr22",
            "rr22-malicious",
            "rr22-circuit",
        ] {
            check(registry::find(name).unwrap(), &sets);
        }
    }
    // A public-key operation for each item, or more than a hundred oblivious transfers: one case of
    // them.
    for name in [
        "dh",
        "dh-ffdhe3072",
        "gbf",
        "gbf-silent",
        "random-gbf",
        "random-gbf-silent",
        "kk20",
        "kk20-silent",
    ] {
        check(
            registry::find(name).unwrap(),
            &Sets::new(1 << 13, 1 << 13, 1 << 12),
        );
    }
}

#[test]
#[ignore = "takes minutes: run with --ignored"]
fn a_million_items() {
    for shared in [0, 1 << 19, 1 << 20] {
        for protocol in PROTOCOLS {
            // Circuits are refused.
            if !is_circuit(*protocol) {
                check(*protocol, &Sets::new(1 << 20, 1 << 20, shared));
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn random_sets(
        sender in prop::collection::hash_set(0_u64..400, 0..300),
        receiver in prop::collection::hash_set(0_u64..400, 0..300),
    ) {
        let sets = Sets {
            sender: sender.into_iter().collect(),
            receiver: receiver.into_iter().collect(),
        };
        check_all(&sets);
    }
}
