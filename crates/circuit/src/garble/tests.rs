use proptest::prelude::*;
use psijoin_channel::count::Snapshot;
use psijoin_ot::extension::Extension;

use super::*;
use crate::{
    Backend, TwoParty,
    plain::Plain,
    testing::{Case, both},
};

/// Garbles and evaluates, twice after one setup; what the evaluator learns, and what the garbler
/// sent for the gates of each.
fn run(case: &Case, extension: Extension) -> [Vec<Bits>; 2] {
    let (first, second, _) = both(
        |channel| {
            let mut setup = garbler::Setup::new(extension, channel, &mut Prg::from_os()).unwrap();
            [(); 2].map(|()| case.run(Garbler::new(&mut setup, channel)).unwrap())
        },
        |channel| {
            let mut setup = evaluator::Setup::new(extension, channel, &mut Prg::from_os()).unwrap();
            [(); 2].map(|()| case.run(Evaluator::new(&mut setup, channel)).unwrap())
        },
    );
    assert!(first == second, "both learn the same");
    first
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn garbled_circuits_give_what_plain_ones_do(seed: u64, lanes in 1..300_usize) {
        let case = Case { seed, lanes };
        let (expected, _) = case.expected(Plain::small());
        for learned in run(&case, Extension::IKNP) {
            prop_assert!(learned == expected);
        }
    }
}

#[test]
fn silent_ot_serves_as_well() {
    let case = Case { seed: 1, lanes: 70 };
    let (expected, _) = case.expected(Plain::small());
    assert!(
        run(&case, Extension::SILENT)
            .iter()
            .all(|learned| *learned == expected)
    );
}

/// Computes a ∧ a for a of the garbler: the lowest bits of the labels that the evaluator has for
/// a and for the product, and what passed at the garbler.
fn squared(a: Bits) -> ([Bits; 2], Snapshot) {
    let lanes = a.lanes();
    let (_, seen, traffic) = both(
        |channel| {
            let mut setup =
                garbler::Setup::new(Extension::IKNP, channel, &mut Prg::from_os()).unwrap();
            let mut party = Garbler::new(&mut setup, channel);
            let a = party.own(&[a]).unwrap().swap_remove(0);
            party.and(&a, &a).unwrap();
        },
        |channel| {
            let mut setup =
                evaluator::Setup::new(Extension::IKNP, channel, &mut Prg::from_os()).unwrap();
            let mut party = Evaluator::new(&mut setup, channel);
            let a = party.theirs(1, lanes).unwrap().swap_remove(0);
            let product = party.and(&a, &a).unwrap();
            [a.lowest_bits(), product.lowest_bits()]
        },
    );
    (seen, traffic)
}

/// Of one AND gate of many lanes, more than a message: two blocks per lane, and nothing else.
#[test]
fn a_gate_costs_two_blocks() {
    let lanes = GATES_PER_MESSAGE + 1;
    let (_, traffic) = squared(Bits::ones(lanes));
    let setup = garbler::SEED_BYTES + Extension::IKNP.setup_sender_bytes();
    assert_eq!(traffic.sent.bytes, setup + AND_BYTES * lanes as u64);
}

/// The evaluator's view is independent of the bits on the garbler's wires.
#[test]
fn labels_and_tables_do_not_show_bits() {
    let view = |bit: bool| {
        let (seen, _) = squared(Bits::constant(bit, 1024));
        seen.map(|bits| bits.count_ones())
    };
    // Standard deviation 16.
    for ones in view(false).into_iter().chain(view(true)) {
        assert!(ones.abs_diff(512) < 6 * 16, "{ones} of 1024 are one");
    }
}
