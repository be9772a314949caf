//! Equal neighbours of a sorted list in which no number occurs more than twice (Huang, Evans and
//! Katz, NDSS 2012).

use crate::{Backend, Lanes, Product, compare};

/// Returns for every second number of a sorted list whether one of its neighbours is equal: a
/// number that occurs twice has one of its two places among them. For N numbers these are ⌊N/2⌋
/// lanes.
///
/// For σ bits and an even N: (N − 1)(σ − 1) + N/2 − 1 gates, in ⌈log2 σ⌉ + 1 layers.
///
/// # Errors
/// As [`Backend::products`].
pub fn duplicates<B: Backend>(backend: &mut B, sorted: &[B::Wires]) -> Result<B::Wires, B::Error> {
    let equal = equal_neighbours(backend, sorted)?;
    on_either_side(backend, &equal)
}

/// Returns the pairs of neighbours among this many numbers: each second one with its left
/// neighbour, and then each that has one with its right neighbour.
pub fn neighbours(numbers: usize) -> Vec<(u32, u32)> {
    let seconds = (1..numbers as u32).step_by(2);
    // The last one has no number to its right, if their number is even.
    let nexts = (2..numbers as u32).step_by(2);
    let pairs = seconds.map(|second| (second, second - 1));
    pairs.chain(nexts.map(|next| (next - 1, next))).collect()
}

/// Returns the first part of [`duplicates`]: whether the numbers of a pair of [`neighbours`] are
/// equal, N − 1 lanes together. A number that occurs twice is in one equal pair.
///
/// # Errors
/// As [`Backend::products`].
pub fn equal_neighbours<B: Backend>(
    backend: &mut B,
    sorted: &[B::Wires],
) -> Result<B::Wires, B::Error> {
    let pairs = neighbours(sorted[0].lanes());
    let mut equal = backend.constant(false, 0);
    for pairs in pairs.chunks(backend.lanes_at_once().max(1)) {
        let (numbers, neighbours): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
        let gather = |lanes: &[u32]| -> Vec<B::Wires> {
            sorted.iter().map(|wire| wire.gather(lanes)).collect()
        };
        equal.append(&compare::equal(
            backend,
            &gather(&numbers),
            &gather(&neighbours),
        )?);
    }
    Ok(equal)
}

/// Returns the second part of [`duplicates`]: of ⌊N/2⌋ numbers, whether one is equal to its left
/// neighbour, and then whether one is equal to its right one, N − 1 lanes together.
///
/// # Errors
/// As [`Backend::products`].
pub fn on_either_side<B: Backend>(backend: &mut B, equal: &B::Wires) -> Result<B::Wires, B::Error> {
    let count = equal.lanes().div_ceil(2);
    let followed = equal.lanes() - count;
    // a ∨ b = a ⊕ (¬a ∧ b).
    let (left, right) = (equal.range(0..count), equal.range(count..equal.lanes()));
    let both_sides = left.range(0..followed);
    let not_left = backend.not(&both_sides);
    let vector = std::slice::from_ref(&right);
    let only_right = backend.products(&[Product {
        bit: &not_left,
        vector,
    }])?;
    let mut found = backend.xor(&both_sides, &only_right[0][0]);
    found.append(&left.range(followed..count));
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::{collection::btree_set, prelude::*};

    use super::*;
    use crate::{Bits, plain::Plain, select};

    const SIGMA: usize = 7;

    fn sorted(a: &BTreeSet<u128>, b: &BTreeSet<u128>) -> Vec<u128> {
        let mut list: Vec<u128> = a.iter().chain(b).copied().collect();
        list.sort_unstable();
        list
    }

    proptest! {
        #[test]
        fn each_duplicate_is_found_once(
            a in btree_set(0..128_u128, 0..40),
            b in btree_set(0..128_u128, 0..40),
        ) {
            let list = sorted(&a, &b);
            let found = duplicates(&mut Plain::small(), &Bits::transposed(&list, SIGMA)).unwrap();
            prop_assert_eq!(found.lanes(), list.len() / 2);
            let second = list.iter().skip(1).step_by(2);
            let shared: Vec<u128> = second
                .zip(found.iter())
                .filter_map(|(number, found)| found.then_some(*number))
                .collect();
            let expected: Vec<u128> = a.intersection(&b).copied().collect();
            prop_assert_eq!(shared, expected);
        }
    }

    #[test]
    fn gates_are_as_published() {
        // PSZ14 App. D.1, with what replaces other numbers: σ(3n − 1) − n.
        for n in [1, 2, 16, 50] {
            let list = Bits::transposed(&(0..2 * n).collect::<Vec<_>>(), SIGMA);
            let mut plain = Plain::small();
            let found = duplicates(&mut plain, &list).unwrap();
            let middle: Vec<Bits> = list
                .iter()
                .map(|wire| wire.range(0..found.lanes()))
                .collect();
            select::mask(&mut plain, &found, &middle).unwrap();
            let (n, sigma) = (n as u64, SIGMA as u64);
            assert_eq!(plain.gates().ands(), sigma * (3 * n - 1) - n);
        }
    }
}
