use std::ops::Range;

use super::*;

const LEAST: u32 = 10;

fn grouper(secret: u8, columns: &[(&str, u32)]) -> Grouper {
    let columns = columns
        .iter()
        .map(|(name, scale)| ((*name).to_owned(), *scale));
    Grouper::new(Zeroizing::new([secret; 32]), LEAST, columns.collect())
}

fn fingerprints(keys: Range<u32>) -> Vec<[u8; 32]> {
    let fingerprint = |key: u32| *blake3::hash(&key.to_le_bytes()).as_bytes();
    keys.map(fingerprint).collect()
}

/// Returns the groups of keys by their labels, in two portions.
fn labelled(keys: Range<u32>, label: impl Fn(u32) -> i64) -> Disclosed {
    let grouper = grouper(1, &[]);
    let middle = keys.start + keys.len() as u32 / 3;
    let portion = |keys: Range<u32>| {
        let labels = keys.clone().map(&label).collect();
        grouper.group(&fingerprints(keys), &[labels])
    };
    grouper.disclosed([portion(keys.start..middle), portion(middle..keys.end)])
}

/// Returns keys with a number each, of this many decimals.
fn numbered(keys: Range<u32>, scale: u32, number: impl Fn(u32) -> i64) -> Disclosed {
    let grouper = grouper(1, &[("amount", scale)]);
    let numbers = keys.clone().map(number).collect();
    let group = grouper.group(&fingerprints(keys), &[numbers]);
    grouper.disclosed([group])
}

#[test]
fn what_is_the_same_or_differs_enough_is_allowed() {
    let first = labelled(0..600, |key| i64::from(key % 3));
    assert!(!first.is_too_like(&first));
    // Labels may be called otherwise.
    assert!(!labelled(0..600, |key| i64::from(key % 3) + 7).is_too_like(&first));
    for (keys, is_too_like) in [
        (0..601, true),
        (0..629, true),
        (0..630, false),
        (3..600, true),
    ] {
        let next = labelled(keys.clone(), |key| i64::from(key % 3));
        assert_eq!(next.is_too_like(&first), is_too_like, "{keys:?}");
        assert_eq!(first.is_too_like(&next), is_too_like, "{keys:?}");
    }
}

/// A key that goes to another group changes both, though all keys are the same.
#[test]
fn a_key_that_changes_its_group_is_noticed() {
    let first = labelled(0..600, |key| i64::from(key % 3));
    let other = labelled(0..600, |key| i64::from(if key == 5 { 0 } else { key % 3 }));
    assert!(other.is_too_like(&first));
}

/// Groups by another column: `north` has 60 keys, and 58 of them are `gold`.
#[test]
fn another_division_is_compared_group_by_group() {
    let regions = labelled(0..600, |key| i64::from(key >= 60));
    let divided = |golden: u32| {
        labelled(0..600, move |key| match key {
            key if key < golden => 0,
            key if key < 60 => 1,
            _ => 2,
        })
    };
    assert!(divided(58).is_too_like(&regions));
    assert!(divided(51).is_too_like(&regions));
    assert!(!divided(30).is_too_like(&regions));
}

#[test]
fn numbers_of_the_same_keys_are_compared() {
    let amount = |key: u32| i64::from(key * 10);
    let first = numbered(0..200, 1, amount);
    let changed = |keys: u32| numbered(0..200, 1, move |key| amount(key) + i64::from(key < keys));
    for (keys, is_too_like) in [(0, false), (1, true), (9, true), (10, false)] {
        assert_eq!(changed(keys).is_too_like(&first), is_too_like, "{keys}");
    }
    // More decimals are no other numbers, but for the one that has them.
    let finer = |more: i64| {
        numbered(0..200, 3, move |key| {
            100 * amount(key) + if key == 3 { more } else { 0 }
        })
    };
    assert!(!finer(0).is_too_like(&first));
    assert!(finer(1).is_too_like(&first));
    // An answer without the column tells nothing of it.
    let counted = labelled(0..200, |_| 0);
    assert!(!counted.is_too_like(&first) && !changed(1).is_too_like(&counted));
}

#[test]
fn only_what_one_secret_made_is_compared() {
    let of = |secret| {
        let grouper = grouper(secret, &[]);
        grouper.disclosed([grouper.group(&fingerprints(0..20), &[])])
    };
    assert!(of(1).is_comparable(&of(1)));
    assert!(!of(1).is_comparable(&of(2)));
}

/// A table without keys has one group, of none.
#[test]
fn no_keys_are_a_group_too() {
    let none = labelled(0..0, |_| 0);
    assert!(!none.is_too_like(&none));
    assert!(labelled(0..9, |_| 0).is_too_like(&none));
    assert!(!labelled(0..10, |_| 0).is_too_like(&none));
}
