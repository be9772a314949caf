use proptest::prelude::*;
use psijoin_block::Prg;
use psijoin_params::{Log2Prob, two_choice};

use super::*;
use crate::{BinHasher, CHOICES, digests::numbers};

fn random_choices(items: usize, bins: u32, seed: u128) -> Vec<[u32; 2]> {
    let mut blocks = vec![Block::ZERO; items];
    Prg::from_seed(Block(seed)).fill(&mut blocks);
    let mut choices = vec![[0; 2]; items];
    TwoChoiceHasher::new([3; 16], bins).hash(&blocks, &mut choices);
    choices
}

/// Asserts that every item is there once, in the bin of its hash function, and that no bin is too
/// full.
fn assert_valid(table: &TwoChoiceTable, choices: &[[u32; 2]], shape: Shape) {
    let mut seen = vec![false; choices.len()];
    for bin in 0..shape.bins {
        let items = table.bin(bin as usize);
        assert!(items.len() <= shape.capacity as usize);
        assert!(items.is_sorted_by_key(|chosen| chosen.choice));
        for Chosen { item, choice } in items {
            assert_eq!(
                choices[*item as usize][usize::from(*choice)],
                bin,
                "the choice is another"
            );
            assert!(
                !std::mem::replace(&mut seen[*item as usize], true),
                "an item is there twice"
            );
        }
    }
    assert!(seen.iter().all(|seen| *seen), "an item was lost");
    assert_eq!(table.lens().sum::<usize>(), choices.len());
}

#[test]
fn places_as_many_items_as_are_provably_safe() {
    for items in [1_usize, 40, 3000, 1 << 16] {
        let share = Log2Prob::from_log2(-44.0);
        let price = |shape: Shape| u128::from(shape.slots()) * u128::from(shape.capacity + 20);
        let shape = two_choice::cheapest(items as u64, share, price).unwrap();
        let choices = random_choices(items, shape.bins, 1);
        let table = TwoChoiceTable::build(&choices, shape).unwrap();
        assert_valid(&table, &choices, shape);
        let moved = table.items().iter().filter(|placed| placed.choice).count();
        assert!(
            shape.bins == 1 || moved > items / 10,
            "items do move: {moved}"
        );
    }
}

/// Chains of moves are needed: no bin may have an item above the mean.
#[test]
fn finds_a_placement_without_any_slack() {
    for seed in 0..20 {
        let shape = Shape {
            bins: 50,
            capacity: 40,
        };
        let choices = random_choices(2000, shape.bins, seed);
        let table = TwoChoiceTable::build(&choices, shape).unwrap();
        assert_valid(&table, &choices, shape);
    }
}

#[test]
fn says_when_there_is_no_placement() {
    let shape = Shape {
        bins: 3,
        capacity: 2,
    };
    // Five items for two bins, whatever the third one has room for.
    let choices = [[0, 1], [1, 0], [0, 0], [1, 1], [0, 1], [2, 2]];
    let error = TwoChoiceTable::build(&choices, shape).err();
    assert_eq!(error, Some(Error::NoPlacement));
    assert!(TwoChoiceTable::build(&choices[1..], shape).is_ok());
}

#[test]
fn bins_are_uniform() {
    let mut counts = [0_u32; 49];
    for [first, second] in random_choices(49_000, 7, 5) {
        counts[(7 * first + second) as usize] += 1;
    }
    // χ² of 48 degrees of freedom is above 95 with probability 6e-5.
    let chi_squared: f64 = counts
        .iter()
        .map(|count| (f64::from(*count) - 1000.0).powi(2) / 1000.0)
        .sum();
    assert!(chi_squared < 95.0, "{chi_squared}");
}

/// The bounds of `psijoin_params` against tables that were built, with bins that may agree and
/// with distinct ones.
#[test]
fn tables_fail_as_often_as_the_bounds_say() {
    let trials = 20_000;
    let rate = |items: usize, shape: Shape, hash: fn(u128, usize, u32) -> Vec<[u32; 2]>| {
        let fails = |trial: &u128| {
            let choices = hash(*trial, items, shape.bins);
            TwoChoiceTable::build(&choices, shape).is_err()
        };
        (0..trials).filter(fails).count() as f64
    };
    for (items, bins) in [(4, 8), (5, 10), (6, 14)] {
        let shape = Shape { bins, capacity: 1 };
        let any = two_choice::failure(items as u64, shape);
        let distinct = two_choice::failure_distinct(items as u64, shape);
        for (failed, bound) in [
            (rate(items, shape, agreeing_choices), any),
            (rate(items, shape, distinct_choices), distinct),
        ] {
            let case = format!("{items}, {shape:?}: {failed} of {trials}, bound {bound}");
            let bound = bound.log2().exp2() * trials as f64;
            assert!(failed - 3.0 * failed.sqrt() <= bound, "{case}");
            assert!(failed + 3.0 * failed.sqrt() >= bound / 16.0, "{case}");
        }
    }
}

fn agreeing_choices(seed: u128, items: usize, bins: u32) -> Vec<[u32; 2]> {
    random_choices(items, bins, seed)
}

/// As psz-balanced has them.
fn distinct_choices(seed: u128, items: usize, bins: u32) -> Vec<[u32; 2]> {
    let digests = numbers(0..items as u64, 16);
    let mut choices = vec![[0; CHOICES]; items];
    BinHasher::new(seed.to_le_bytes(), bins).hash(digests.as_digests(), &mut choices);
    choices.into_iter().map(|[a, b, _]| [a, b]).collect()
}

/// Both parties must agree on the bins; computed with OpenSSL's AES.
#[test]
fn known_answers() {
    let hasher = TwoChoiceHasher::new(std::array::from_fn(|i| i as u8), 1_000_003);
    let items = [0, 1, 2].map(|i| Block::from_bytes([i; 16]));
    let mut choices = [[0; 2]; 3];
    hasher.hash(&items, &mut choices);
    let bins = [[509_211, 475_965], [193_346, 469_710], [719_479, 793_797]];
    assert_eq!(choices, bins);
}

/// Returns whether a placement exists, by trying all.
fn exists(choices: &[[u32; 2]], loads: &mut Vec<u32>, capacity: u32) -> bool {
    let Some((choice, rest)) = choices.split_first() else {
        return true;
    };
    choice.iter().any(|&bin| {
        loads[bin as usize] += 1;
        let fits = loads[bin as usize] <= capacity && exists(rest, loads, capacity);
        loads[bin as usize] -= 1;
        fits
    })
}

proptest! {
    #[test]
    fn finds_a_placement_whenever_there_is_one(
        choices in prop::collection::vec([0_u32..4, 0_u32..4], 0..12),
        capacity in 1_u32..4,
    ) {
        let shape = Shape { bins: 4, capacity };
        match TwoChoiceTable::build(&choices, shape) {
            Ok(table) => assert_valid(&table, &choices, shape),
            Err(_) => prop_assert!(!exists(&choices, &mut vec![0; 4], capacity)),
        }
    }
}
