//! Merging two sorted lists into one, by Batcher's bitonic network.
//!
//! One list ascends, the other descends after it, so that together they are bitonic, and
//! log2 N layers of N/2 comparators sort them. If the number of items is not a power of two, N is
//! the next one, and the list is filled up in the middle with imaginary greatest items. Their
//! places are public at every layer, since nothing is greater. So they take no comparator: only
//! names of places change.

use crate::{Backend, Lanes, compare, select};

/// Merges two lists of numbers in ascending order into one. A number is given by its wires, the
/// lowest bit first; the first `key` wires are compared, those after them just go along.
///
/// Lists of n items each, n a power of two: n·log2(2n) comparators, each of a
/// [`greater`](compare::greater) of `key` bits and a product of all wires.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the lists differ in their number of wires, or have fewer than `key`.
pub fn merge<B: Backend>(
    backend: &mut B,
    key: usize,
    ascending: &[B::Wires],
    other: &[B::Wires],
) -> Result<Vec<B::Wires>, B::Error> {
    assert_eq!(ascending.len(), other.len(), "as many wires");
    let mut wires = ascending.to_vec();
    for (wire, more) in wires.iter_mut().zip(other) {
        wire.append(more);
    }
    let mut slots = bitonic(ascending[0].lanes(), other[0].lanes());
    let mut stride = slots.len() / 2;
    while stride > 0 {
        let pairs = comparators(&mut slots, stride);
        for pairs in pairs.chunks(backend.lanes_at_once().max(1)) {
            exchange(backend, key, &mut wires, pairs)?;
        }
        stride /= 2;
    }
    let order: Vec<u32> = slots.into_iter().flatten().collect();
    Ok(wires.iter().map(|wire| wire.gather(&order)).collect())
}

/// Returns a comparator: the smaller number of either lane, and the larger one.
///
/// # Errors
/// As [`Backend::products`].
///
/// # Panics
/// If the numbers differ in their number of wires, or have fewer than `key`.
pub fn compare_and_swap<B: Backend>(
    backend: &mut B,
    key: usize,
    a: &[B::Wires],
    b: &[B::Wires],
) -> Result<[Vec<B::Wires>; 2], B::Error> {
    let greater = compare::greater(backend, &a[..key], &b[..key])?;
    select::swap(backend, &greater, a, b)
}

/// Returns how many comparators each layer of [`merge`] has, where both lists together have
/// `numbers` numbers.
pub fn comparators_by_layer(numbers: usize) -> Vec<usize> {
    let places = numbers.next_power_of_two();
    // Blocks of a layer are of numbers alone, of greatest items alone, or there is one of both. If
    // no more than half of that are greatest items, its lower half will be of numbers alone; else
    // its upper half of greatest items.
    let (mut of_numbers, mut greatest) = (0, places - numbers);
    let mut layers = Vec::new();
    let mut half = places / 2;
    while half > 0 {
        layers.push(of_numbers * half + half.saturating_sub(greatest));
        of_numbers *= 2;
        if greatest <= half {
            of_numbers += 1;
        } else {
            greatest -= half;
        }
        half /= 2;
    }
    layers
}

/// Returns which lane is at which place of the network: the first list, greatest items, and the
/// second list from its end.
fn bitonic(first: usize, second: usize) -> Vec<Option<u32>> {
    let lanes = first + second;
    let greatest = lanes.next_power_of_two() - lanes;
    (0..first as u32)
        .map(Some)
        .chain(std::iter::repeat_n(None, greatest))
        .chain((first as u32..lanes as u32).rev().map(Some))
        .collect()
}

/// Returns the lanes that a layer compares, `stride` places from each other. A greatest item goes
/// to the upper place, which needs no comparator.
fn comparators(slots: &mut [Option<u32>], stride: usize) -> Vec<(u32, u32)> {
    let mut pairs = Vec::with_capacity(slots.len() / 2);
    for block in slots.chunks_mut(2 * stride) {
        let (low, high) = block.split_at_mut(stride);
        for (low, high) in low.iter_mut().zip(high) {
            match (*low, *high) {
                (Some(a), Some(b)) => pairs.push((a, b)),
                (None, _) => std::mem::swap(low, high),
                (Some(_), None) => {}
            }
        }
    }
    pairs
}

/// Puts the smaller number of each pair of lanes into the first of them.
fn exchange<B: Backend>(
    backend: &mut B,
    key: usize,
    wires: &mut [B::Wires],
    pairs: &[(u32, u32)],
) -> Result<(), B::Error> {
    let (low, high): (Vec<u32>, Vec<u32>) = pairs.iter().copied().unzip();
    let gather =
        |lanes: &[u32]| -> Vec<B::Wires> { wires.iter().map(|wire| wire.gather(lanes)).collect() };
    let (a, b) = (gather(&low), gather(&high));
    let [smaller, larger] = compare_and_swap(backend, key, &a, &b)?;
    for (wire, (smaller, larger)) in wires.iter_mut().zip(smaller.iter().zip(&larger)) {
        wire.scatter(&low, smaller);
        wire.scatter(&high, larger);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;
    use crate::{Bits, plain::Plain};

    const KEY: usize = 10;

    fn merged(plain: &mut Plain, a: &[u128], b: &[u128]) -> Vec<u128> {
        let (a, b) = (Bits::transposed(a, KEY + 6), Bits::transposed(b, KEY + 6));
        Bits::numbers(&merge(plain, KEY, &a, &b).unwrap())
    }

    proptest! {
        #[test]
        fn lists_of_any_lengths_merge(
            mut a in vec(0..1_u128 << KEY, 0..70),
            mut b in vec(0..1_u128 << KEY, 0..70),
        ) {
            a.sort_unstable();
            b.sort_unstable();
            // The value beside a key is a function of it, so that equal keys may come in any order.
            let tagged = |list: &[u128]| -> Vec<u128> {
                list.iter().map(|key| key | (key * 13 % 64) << KEY).collect()
            };
            let mut expected = [&a[..], &b].concat();
            expected.sort_unstable();
            for plain in [&mut Plain::small(), &mut Plain::shallow()] {
                prop_assert_eq!(merged(plain, &tagged(&a), &tagged(&b)), tagged(&expected));
            }
        }
    }

    #[test]
    fn gates_are_as_published() {
        // PSZ14 App. D.1: 2·σ·n·log2(2n).
        for (n, log2_2n) in [(1, 1), (8, 4), (256, 9)] {
            let list: Vec<u128> = (0..n).collect();
            let sigma = 16;
            let wires = Bits::transposed(&list, sigma);
            let mut plain = Plain::small();
            merge(&mut plain, sigma, &wires, &wires).unwrap();
            assert_eq!(plain.gates().ands(), 2 * sigma as u64 * n as u64 * log2_2n);
        }
    }

    #[test]
    fn comparators_are_counted_without_a_network() {
        for numbers in 0..150 {
            for first in [0, numbers / 3, numbers] {
                let mut slots = bitonic(first, numbers - first);
                let mut stride = slots.len() / 2;
                let mut layers = Vec::new();
                while stride > 0 {
                    layers.push(super::comparators(&mut slots, stride).len());
                    stride /= 2;
                }
                assert_eq!(comparators_by_layer(numbers), layers);
            }
        }
    }

    #[test]
    fn thought_items_take_no_gates() {
        let list: Vec<u128> = (0..65).collect();
        let mut plain = Plain::small();
        merged(&mut plain, &list, &list);
        let comparators = plain.gates().products[&(KEY + 6)];
        // 128·8 if they did.
        assert!(comparators < 600, "{comparators} comparators");
    }
}
