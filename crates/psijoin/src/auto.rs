//! `auto`: takes the protocol that suits the sizes of the sets.
//!
//! **The rule**, on the number n of items of both parties together:
//!
//! | n | protocol | why |
//! |---|---|---|
//! | up to [`MOST_DH_ITEMS`] | `dh` | its time and bytes are proportional to n: nothing has to be set up |
//! | up to [`MOST_KKRT_ITEMS`] | `kkrt` | its set-up is small: 128 base OTs and 16 bytes per column |
//! | more | `rr22` | the set-up of its vector OLE costs much the same for any n, and each item costs little |
//!
//! Measured with equal sets, one thread per party, over memory: `dh` and `kkrt` take the same time
//! at about n = 600. `kkrt` is faster than `rr22` up to about 2^16, but sends more from 2^13 on
//! (2.1 times as much at 2^15), and on a network bytes cost time.
//!
//! If the receiver is to learn a function of the intersection instead of its rows, or nothing if
//! too few items are shared, `rr22-circuit` is taken at any size. The exception is a count of up to
//! [`MOST_DH_ITEMS_COUNTED`] items, for which `dh` is taken. It takes as long at 1,024 items each,
//! a quarter of the time at 256, and sends less at any size.
//!
//! The rule looks at nothing else, so both parties take the same protocol without talking about it.
//! The plan *is* that protocol's: its name, version and parameters are in the digest that the
//! handshake compares. Only protocols for semi-honest parties are taken. Security against a party
//! that cheats is for people to decide, and `naive` protects nothing.

use psijoin_psi_ot::kkrt::KKRT;
use psijoin_psi_pk::dh::DH;
use psijoin_psi_vole::{rr22::RR22, rr22_circuit::RR22_CIRCUIT};

use crate::{Adversary, Info, OutputKind, Protocol, Request};

/// Up to this many items of both parties together, `dh` is taken.
pub const MOST_DH_ITEMS: u64 = 512;

/// The same if they are only counted.
pub const MOST_DH_ITEMS_COUNTED: u64 = 2048;

/// Up to this many, `kkrt` is taken.
pub const MOST_KKRT_ITEMS: u64 = 1 << 13;

/// Stands for the protocol that suits a request. It is not a protocol of its own, so it is not in
/// the list of [`PROTOCOLS`](crate::registry::PROTOCOLS).
pub static AUTO: Protocol = Protocol::choosing(&INFO, choose);

static INFO: Info = Info {
    name: "auto",
    summary: "the protocol that suits the output and the sizes: dh, kkrt, rr22 or rr22-circuit",
    paper: "that of the protocol taken",
    adversary: Adversary::SemiHonest,
    leaks: "set sizes",
    version: 1,
};

fn choose(request: &Request) -> &'static Protocol {
    let sizes = request.sizes;
    let withheld = request.min_intersection > 0;
    if request.output == OutputKind::Count && !withheld && sizes.union() <= MOST_DH_ITEMS_COUNTED {
        &DH
    } else if request.output != OutputKind::Rows || withheld {
        &RR22_CIRCUIT
    } else if sizes.union() <= MOST_DH_ITEMS {
        &DH
    } else if sizes.union() <= MOST_KKRT_ITEMS {
        &KKRT
    } else {
        &RR22
    }
}

#[cfg(test)]
mod tests {
    use psijoin_params::Sizes;

    use super::*;
    use crate::{Columns, Fingerprint, Output, Plan, pair, registry};

    fn plan(sender_items: u64, receiver_items: u64) -> Plan {
        AUTO.plan(&Request::rows(sender_items, receiver_items).unwrap())
            .unwrap()
    }

    #[test]
    fn the_sizes_decide() {
        let half = MOST_DH_ITEMS / 2;
        for (senders, receivers, expected) in [
            (1, 1, "dh"),
            (half, half, "dh"),
            (1, MOST_DH_ITEMS - 1, "dh"),
            (half + 1, half, "kkrt"),
            (1, MOST_DH_ITEMS, "kkrt"),
            (MOST_KKRT_ITEMS - 1, 1, "kkrt"),
            (MOST_KKRT_ITEMS, 1, "rr22"),
            (1 << 20, 1 << 20, "rr22"),
            (Sizes::MAX_ITEMS, Sizes::MAX_ITEMS, "rr22"),
        ] {
            let name = plan(senders, receivers).info().name;
            assert_eq!(name, expected, "{senders}, {receivers}");
        }
    }

    #[test]
    fn an_empty_set_has_the_plan_of_the_protocol_that_is_taken() {
        for (senders, receivers, expected) in
            [(0, 0, "dh"), (0, MOST_DH_ITEMS, "dh"), (1 << 20, 0, "rr22")]
        {
            let plan = plan(senders, receivers);
            assert_eq!(plan.info().name, expected);
            assert_eq!(plan.cost().total.total_bytes(), 0);
        }
    }

    /// The digest is what the handshake compares.
    #[test]
    fn the_digest_is_that_of_the_protocol_that_is_taken() {
        for (items, expected) in [(10, "dh"), (2000, "kkrt"), (5000, "rr22")] {
            let request = Request::rows(items, items).unwrap();
            let taken = registry::find(expected).unwrap();
            let taken = taken.plan(&request).unwrap();
            assert_eq!(plan(items, items).digest(), taken.digest());
        }
    }

    #[test]
    fn all_that_is_taken_is_semi_honest_and_in_the_registry() {
        for items in [1, MOST_DH_ITEMS, MOST_KKRT_ITEMS] {
            let taken = choose(&Request::rows(items, items).unwrap()).info();
            assert_eq!(taken.adversary, Adversary::SemiHonest);
            let mut listed = registry::PROTOCOLS.iter().map(|listed| listed.info().name);
            assert!(listed.any(|name| name == taken.name));
        }
    }

    #[test]
    fn functions_of_the_intersection_take_the_circuit_but_for_small_counts() {
        let taken = |output, items, min_intersection| {
            let request = Request::rows(items, items).unwrap();
            let request = request.output(output).min_intersection(min_intersection);
            AUTO.plan(&request).unwrap().info().name
        };
        let columns = Columns::default();
        for output in [
            OutputKind::Threshold(1),
            OutputKind::Sums(columns),
            OutputKind::Shares(columns),
        ] {
            for items in [0, 1, 1 << 20] {
                assert_eq!(taken(output.clone(), items, 0), "rr22-circuit");
            }
        }
        let most = MOST_DH_ITEMS_COUNTED / 2;
        assert_eq!(taken(OutputKind::Count, most, 0), "dh");
        assert_eq!(taken(OutputKind::Count, most + 1, 0), "rr22-circuit");
        for output in [OutputKind::Rows, OutputKind::Count] {
            assert_eq!(taken(output, 1, 1), "rr22-circuit");
        }
    }

    #[test]
    fn its_plans_run() {
        let sets = |from: u32, to: u32| -> Vec<Fingerprint> {
            let number = |i: u32| *blake3::hash(&i.to_le_bytes()).as_bytes();
            (from..to).map(number).collect()
        };
        for (items, name) in [(200, "dh"), (600, "kkrt"), (4500, "rr22")] {
            let plan = plan(items.into(), items.into());
            assert_eq!(plan.info().name, name);
            let outcome = pair::run(&plan, &sets(0, items), &sets(items - 7, 2 * items - 7));
            assert_eq!(outcome.unwrap().receiver, Output::Rows((0..7).collect()));
        }
    }
}
