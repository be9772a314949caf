//! Permutation-based hashing (Arbitman, Naor, Segev; PSSZ15): the bin and the rest of a short item
//! determine it, so only the rests of items in a bin must be compared.
//!
//! With b bins and an item x of at most log2(b - 2) + r bits, hash function i (0, 1 or 2) is a
//! pseudorandom permutation of {0..b - i} × {0,1}^r, from the item's upper and lower bits. Its
//! first part counts the bins that functions 0 .. i have not taken, as
//! [`BinHasher`](crate::BinHasher) does, so that an item has three *distinct* bins. Its second
//! part, with three bits for the number of the function and for how many of the bins taken lie
//! below, is the *rest*. Bin and rest determine the item: two different items never have the same
//! bin and rest, even by different functions.
//!
//! The permutation is a Feistel network over both parts, with AES as round function: ten rounds,
//! as many as the format-preserving FF1 has (NIST SP 800-38G).
//! [`psijoin_params::cuckoo::failure_without_replacement`] bounds how rarely items find no place.

use psijoin_block::{Block, aes::Aes128};
use psijoin_params::cuckoo::MAX_BINS;

use crate::{
    CHOICES,
    hashing::{BATCH, among_others},
};

const ROUNDS: u64 = 10;

/// Bits of a rest that tell the number of the function, and the order of its bins.
const VARIANT_BITS: u32 = 3;

/// The place of an item by one of its functions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place {
    /// The bin.
    pub bin: u32,
    /// The number that must be compared there.
    pub rest: u64,
}

/// Maps short items to three places each.
pub struct Permutations {
    rounds: [Aes128; CHOICES],
    bins: u32,
    lower_bits: u32,
}

impl Permutations {
    /// Expands the seed, which was drawn after both sets were fixed, into hash functions for
    /// `bins` bins and rests of `rest_bits` bits.
    ///
    /// # Panics
    /// If there are fewer than three bins or more than [`MAX_BINS`], or a rest has fewer than 4
    /// or more than 64 bits.
    pub fn new(seed: [u8; 16], bins: u32, rest_bits: u32) -> Self {
        assert!(
            (CHOICES as u32..=MAX_BINS).contains(&bins),
            "3 to 2^28 bins are supported"
        );
        assert!((4..=64).contains(&rest_bits), "a rest has 4 to 64 bits");
        let mut keys = [Block(0), Block(1), Block(2)];
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        Self {
            rounds: keys.map(Aes128::new),
            bins,
            lower_bits: rest_bits - VARIANT_BITS,
        }
    }

    /// Places of the smallest of the three permutations: items are less than that.
    pub fn places(bins: u32, rest_bits: u32) -> u128 {
        u128::from(bins.saturating_sub(2)) << (rest_bits - VARIANT_BITS)
    }

    /// Returns the fewest bins with which all numbers of `item_bits` bits, at most 64, have
    /// [`places`](Self::places).
    pub fn fewest_bins(item_bits: u32, rest_bits: u32) -> u64 {
        let upper_bits = item_bits.saturating_sub(rest_bits - VARIANT_BITS);
        2 + (1 << upper_bits)
    }

    /// Computes the places of each item.
    ///
    /// # Panics
    /// If the slices differ in length. An item that is too long gives a place that others have.
    pub fn hash(&self, items: &[u64], places: &mut [[Place; CHOICES]]) {
        assert_eq!(items.len(), places.len(), "three places for each item");
        for (items, places) in items.chunks(BATCH).zip(places.chunks_mut(BATCH)) {
            let mut parts = [[(0, 0); BATCH]; CHOICES];
            for (function, parts) in parts.iter_mut().enumerate() {
                let parts = &mut parts[..items.len()];
                for (part, item) in parts.iter_mut().zip(items) {
                    *part = ((item >> self.lower_bits) as u32, item & self.lower_mask());
                }
                self.permute(function, parts);
            }
            for (i, place) in places.iter_mut().enumerate() {
                *place = self.place(parts.map(|parts| parts[i]));
            }
        }
    }

    fn lower_mask(&self) -> u64 {
        u64::MAX >> (64 - self.lower_bits)
    }

    /// Applies the Feistel network of a function, on (upper, lower) parts.
    fn permute(&self, function: usize, parts: &mut [(u32, u64)]) {
        let bins = self.bins - function as u32;
        let mut words = [Block::ZERO; BATCH];
        let words = &mut words[..parts.len()];
        let input = |round: u64, part: u64| Block(u128::from(round) << 64 | u128::from(part));
        for round in 0..ROUNDS {
            let of_upper = round % 2 == 1;
            for (word, (upper, lower)) in words.iter_mut().zip(&*parts) {
                *word = input(round, if of_upper { u64::from(*upper) } else { *lower });
            }
            self.rounds[function].encrypt(words);
            for ((upper, lower), word) in parts.iter_mut().zip(&*words) {
                let word = word.0 as u64;
                if of_upper {
                    *lower ^= word & self.lower_mask();
                } else {
                    let shift = ((u128::from(word) * u128::from(bins)) >> 64) as u32;
                    *upper += shift;
                    *upper -= if *upper >= bins { bins } else { 0 };
                }
            }
        }
    }

    /// Returns the places of an item, from the parts that each function gave.
    fn place(&self, parts: [(u32, u64); CHOICES]) -> [Place; CHOICES] {
        let counted = parts.map(|(upper, _)| upper);
        let bins = among_others(counted);
        // Function 0 has one way to count bins, function 1 two of them, function 2 three.
        let first_variant = [0, 1, 3];
        std::array::from_fn(|i| {
            let variant = first_variant[i] + u64::from(bins[i] - counted[i]);
            Place {
                bin: bins[i],
                rest: parts[i].1 | variant << self.lower_bits,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use proptest::prelude::*;

    fn hash(seed: u8, bins: u32, rest_bits: u32, items: &[u64]) -> Vec<[Place; CHOICES]> {
        let mut places = vec![[Place::default(); CHOICES]; items.len()];
        Permutations::new([seed; 16], bins, rest_bits).hash(items, &mut places);
        places
    }

    /// A whole domain: no two items share a place, by whatever functions; so also for ranges of
    /// consecutive numbers, which gave false matches where the function was left out.
    #[test]
    fn places_are_those_of_one_item_only() {
        for (bins, rest_bits) in [(3, 4), (5, 8), (100, 9), (1000, 6)] {
            let count = Permutations::places(bins, rest_bits) as u64;
            let items: Vec<u64> = (0..count).collect();
            let mut seen = HashSet::new();
            for places in hash(7, bins, rest_bits, &items) {
                for place in places {
                    assert!(place.bin < bins);
                    assert!(place.rest >> rest_bits == 0);
                    assert!(seen.insert((place.bin, place.rest)), "{place:?}");
                }
            }
        }
    }

    #[test]
    fn the_fewest_bins_have_room_for_all_numbers() {
        for (item_bits, rest_bits) in [(1, 4), (13, 16), (32, 16), (32, 24), (64, 48), (64, 64)] {
            let bins = Permutations::fewest_bins(item_bits, rest_bits) as u32;
            assert!(bins >= CHOICES as u32);
            let has_room = |bins| Permutations::places(bins, rest_bits) >> item_bits > 0;
            assert!(
                has_room(bins) && !has_room(bins - 1),
                "{item_bits}, {rest_bits}"
            );
        }
    }

    /// Without the function's number, places would meet.
    #[test]
    fn without_the_variant_places_would_be_shared() {
        let items: Vec<u64> = (0..98 << 6).collect();
        let mut seen = HashSet::new();
        let mut met = 0;
        for places in hash(7, 100, 9, &items) {
            for place in places {
                met += u32::from(!seen.insert((place.bin, place.rest & 63)));
            }
        }
        assert!(met > 1000, "{met}");
    }

    #[test]
    fn bins_are_uniform_for_consecutive_items() {
        let items: Vec<u64> = (0..64_000).collect();
        let places = hash(3, 64, 20, &items);
        for function in 0..CHOICES {
            let mut loads = [0_i64; 64];
            for place in &places {
                loads[place[function].bin as usize] += 1;
            }
            let squares: i64 = loads.iter().map(|load| (load - 1000).pow(2)).sum();
            let chi_squared = squares as f64 / 1000.0;
            assert!((8.0..118.0).contains(&chi_squared), "{chi_squared}");
        }
    }

    proptest! {
        #[test]
        fn bins_are_distinct_and_other_seeds_give_others(
            items in prop::collection::vec(0_u64..1 << 32, 1..70),
            seed in 0_u8..100,
        ) {
            let places = hash(seed, 1 << 20, 24, &items);
            for place in &places {
                let bins: HashSet<u32> = place.iter().map(|place| place.bin).collect();
                prop_assert_eq!(bins.len(), CHOICES);
            }
            prop_assert_ne!(places, hash(seed + 100, 1 << 20, 24, &items));
        }
    }
}
