//! The hash functions of each scheme, and the letters of items.

use bytemuck::{Pod, Zeroable};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{BinHasher, CHOICES, Digests, Permutations, Place, SimpleHasher};
use psijoin_ot::kk13::Hash;
use psijoin_params::letters;
use psijoin_runtime::{memory::Buffer, parallel};

use super::{
    TWO,
    params::Params,
    spelling::{Method, Spelling},
};

/// Items that one task hashes to bins.
const ITEMS_PER_TASK: usize = 4096;

/// The bits of an item that are spelled by letters, from the lowest on.
pub(super) type Word = [u8; (letters::WORD_BITS / u8::BITS) as usize];

/// Returns the first letters of a word.
#[inline]
pub(super) fn letters_of(word: &Word, letter_bits: u32, count: usize) -> impl Iterator<Item = u8> {
    let word = u128::from_le_bytes(*word);
    let mask = u8::MAX >> (u8::BITS - letter_bits);
    (0..count as u32).map(move |i| (word >> (i * letter_bits)) as u8 & mask)
}

/// The bin in which an item is compared, and the word that it is compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spot {
    pub(super) bin: u32,
    pub(super) word: Word,
}

/// The functions that both expand from the joint seed.
pub(super) struct Functions {
    bins: Bins,
    /// Bits of a letter.
    pub(super) letter_bits: u32,
    /// H of the OTs.
    pub(super) strings: Hash,
}

/// Items to bins.
enum Bins {
    None,
    Simple(SimpleHasher),
    /// Distinct bins, so that no two masks of an item are the same.
    Distinct {
        hasher: BinHasher,
        per_item: usize,
    },
    Permuted(Permutations),
}

impl Bins {
    fn new(spelling: &Spelling, seed: &JointSeed) -> Self {
        let seed = seed.short_key("psijoin 2026 psz bins");
        let distinct = |bins, per_item| Self::Distinct {
            hasher: BinHasher::new(seed, bins),
            per_item,
        };
        match spelling.method {
            Method::None => Self::None,
            Method::Simple(shape) => Self::Simple(SimpleHasher::new(seed, shape.bins)),
            Method::Balanced(shape) => distinct(shape.bins, TWO),
            Method::Cuckoo(shape) => distinct(shape.bins, CHOICES),
            Method::Permuted(shape) => {
                let rest_bits = spelling.bits_in_a_bin();
                Self::Permuted(Permutations::new(seed, shape.bins, rest_bits))
            }
        }
    }

    /// Returns how many bins an item has.
    fn per_item(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Simple(_) => 1,
            Self::Distinct { per_item, .. } => *per_item,
            Self::Permuted(_) => CHOICES,
        }
    }
}

impl Functions {
    /// Step 2.
    pub(super) fn new(params: &Params, seed: &JointSeed) -> Self {
        Self {
            bins: Bins::new(&params.spelling, seed),
            letter_bits: params.spelling.letter_bits,
            strings: Hash::new(seed.key("psijoin 2026 psz strings")),
        }
    }

    /// Returns how many bins an item has.
    pub(super) fn per_item(&self) -> usize {
        self.bins.per_item()
    }

    /// Returns the spots of each item, [`per_item`](Self::per_item) of them.
    pub(super) fn spots(&self, items: Digests<'_>) -> Buffer<Spot> {
        let per_item = self.per_item();
        let mut spots = Buffer::<Spot>::zeroed(items.len() * per_item);
        if per_item > 0 {
            parallel::chunks_mut(&mut spots, ITEMS_PER_TASK * per_item, &|range, spots| {
                let items = items.slice(range.start / per_item..range.end / per_item);
                self.spots_of_task(items, spots);
            });
        }
        spots
    }

    fn spots_of_task(&self, items: Digests<'_>, spots: &mut [Spot]) {
        match &self.bins {
            Bins::None => (),
            Bins::Simple(hasher) => {
                let mut bins = vec![0; items.len()];
                hasher.hash(items, &mut bins);
                for (i, (spot, bin)) in spots.iter_mut().zip(bins).enumerate() {
                    *spot = spot_of(bin, items.words(i));
                }
            }
            Bins::Distinct { hasher, per_item } => {
                let mut bins = vec![[0; CHOICES]; items.len()];
                hasher.hash(items, &mut bins);
                let spots = spots.chunks_exact_mut(*per_item);
                for (i, (spots, bins)) in spots.zip(bins).enumerate() {
                    for (spot, bin) in spots.iter_mut().zip(bins) {
                        *spot = spot_of(bin, items.words(i));
                    }
                }
            }
            Bins::Permuted(permutations) => {
                let numbers: Vec<u64> = (0..items.len()).map(|i| items.words(i)[0]).collect();
                let mut places = vec![[Place::default(); CHOICES]; items.len()];
                permutations.hash(&numbers, &mut places);
                for (spot, place) in spots.iter_mut().zip(places.as_flattened()) {
                    *spot = spot_of(place.bin, [place.rest, 0, 0, 0]);
                }
            }
        }
    }
}

/// Returns the spot of an item: digests are random, so a part of them serves; numbers and rests are
/// spelled out.
fn spot_of(bin: u32, words: [u64; 4]) -> Spot {
    Spot {
        bin,
        word: word_of(words),
    }
}

/// Returns the word by which an item is compared.
pub(super) fn word_of([low, high, ..]: [u64; 4]) -> Word {
    (u128::from(high) << 64 | u128::from(low)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_the_bits_of_a_word() {
        let word = word_of([0xfedc_ba98_7654_3210, 0x8000_0000_0000_0001, 3, 4]);
        let letters = |bits, count| Vec::from_iter(letters_of(&word, bits, count));
        assert_eq!(letters(8, 3), [0x10, 0x32, 0x54]);
        assert_eq!(letters(4, 4), [0, 1, 2, 3]);
        assert_eq!(letters(3, 3), [0, 0b010, 0]);
        assert_eq!(letters(1, 6), [0, 0, 0, 0, 1, 0]);
        assert_eq!(letters(8, 16)[15], 0x80);
        assert_eq!(letters(1, 128)[127], 1);
    }
}
