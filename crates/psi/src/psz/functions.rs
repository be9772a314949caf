//! The hash functions of each scheme, the letters of items, and the masks.

use bytemuck::{Pod, Zeroable};
use psijoin_block::{Block, crhf, parallel};
use psijoin_encode::{BinHasher, CHOICES, Permutations, Place, SimpleHasher};
use psijoin_ot::kk13::{Hash, HashInput};
use psijoin_params::letters;

use super::params::{Domain, Method, Params};
use crate::{Error, Input};

/// Items that one task hashes to bins.
const ITEMS_PER_TASK: usize = 4096;

/// The letters of an item, from the first on.
pub(super) type Letters = [u8; letters::MAX];

/// Where an item is compared, and by which letters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spot {
    pub(super) bin: u32,
    pub(super) letters: Letters,
}

/// What both expand from the joint seed.
pub(super) struct Functions {
    bins: Bins,
    domain: Domain,
    letters: usize,
    all_letters: usize,
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

/// Bins of an item of balanced allocations.
pub(super) const TWO: usize = 2;

impl Functions {
    pub(super) fn new(params: &Params, input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 psz bins");
        let seed = seed[..16].try_into().expect("16 of 32 bytes");
        let bins = match params.method {
            Method::None => Bins::None,
            Method::Simple(shape) => Bins::Simple(SimpleHasher::new(seed, shape.bins)),
            Method::Balanced(shape) => Bins::Distinct {
                hasher: BinHasher::new(seed, shape.bins),
                per_item: TWO,
            },
            Method::Cuckoo(shape) => Bins::Distinct {
                hasher: BinHasher::new(seed, shape.bins),
                per_item: CHOICES,
            },
            Method::Permuted(shape) => {
                let rest_bits = letters::BITS * params.letters as u32;
                Bins::Permuted(Permutations::new(seed, shape.bins, rest_bits))
            }
        };
        Self {
            bins,
            domain: params.domain,
            letters: params.letters,
            all_letters: params.all_letters,
        }
    }

    /// Refuses numbers that are longer than was said.
    pub(super) fn check<const D: usize>(&self, items: &[[u8; D]]) -> Result<(), Error> {
        let Domain::Numbers { bits } = self.domain else {
            return Ok(());
        };
        let fits = |item: &[u8; D]| {
            let (number, rest) = item.split_at(8);
            let number = u64::from_le_bytes(number.try_into().expect("8 bytes"));
            number.checked_shr(bits).unwrap_or(0) == 0 && rest.iter().all(|byte| *byte == 0)
        };
        if items.iter().all(fits) {
            Ok(())
        } else {
            Err(Error::Misuse(
                "an item is longer than the plan for short items says",
            ))
        }
    }

    /// How many bins an item has.
    pub(super) fn per_item(&self) -> usize {
        match self.bins {
            Bins::None => 0,
            Bins::Simple(_) => 1,
            Bins::Distinct { per_item, .. } => per_item,
            Bins::Permuted(_) => CHOICES,
        }
    }

    /// Writes the spots of each item, [`per_item`](Self::per_item) of them.
    pub(super) fn spots<const D: usize>(&self, items: &[[u8; D]], spots: &mut [Spot]) {
        let per_item = self.per_item();
        if per_item > 0 {
            parallel::chunks_mut(spots, ITEMS_PER_TASK * per_item, &|range, spots| {
                let items = &items[range.start / per_item..range.end / per_item];
                self.spots_of_task(items, spots);
            });
        }
    }

    fn spots_of_task<const D: usize>(&self, items: &[[u8; D]], spots: &mut [Spot]) {
        match &self.bins {
            Bins::None => (),
            Bins::Simple(hasher) => {
                let mut bins = vec![0; items.len()];
                hasher.hash(items, &mut bins);
                for ((spot, item), bin) in spots.iter_mut().zip(items).zip(bins) {
                    *spot = self.spot(bin, item);
                }
            }
            Bins::Distinct { hasher, per_item } => {
                let mut bins = vec![[0; CHOICES]; items.len()];
                hasher.hash(items, &mut bins);
                let spots = spots.chunks_exact_mut(*per_item);
                for ((spots, item), bins) in spots.zip(items).zip(bins) {
                    for (spot, bin) in spots.iter_mut().zip(bins) {
                        *spot = self.spot(bin, item);
                    }
                }
            }
            Bins::Permuted(permutations) => {
                let numbers: Vec<u64> = items.iter().map(number).collect();
                let mut places = vec![[Place::default(); CHOICES]; items.len()];
                permutations.hash(&numbers, &mut places);
                for (spot, place) in spots.iter_mut().zip(places.as_flattened()) {
                    *spot = Spot {
                        bin: place.bin,
                        letters: first_letters(&place.rest.to_le_bytes(), self.letters),
                    };
                }
            }
        }
    }

    /// The letters by which an item is compared with all.
    pub(super) fn all_letters<const D: usize>(&self, item: &[u8; D]) -> Letters {
        first_letters(item, self.all_letters)
    }

    /// Digests are random, so that a part of them serves; numbers are spelled out.
    fn spot<const D: usize>(&self, bin: u32, item: &[u8; D]) -> Spot {
        Spot {
            bin,
            letters: first_letters(item, self.letters),
        }
    }
}

fn first_letters(bytes: &[u8], count: usize) -> Letters {
    let mut letters = [0; letters::MAX];
    letters[..count].copy_from_slice(&bytes[..count]);
    letters
}

fn number<const D: usize>(item: &[u8; D]) -> u64 {
    u64::from_le_bytes(item[..8].try_into().expect("8 of more bytes"))
}

/// Words of letters to the hashes that are cut to masks, many at a time.
///
/// The XOR of the strings of a word's letters goes through one more hash. Without it the values
/// of words with letters in common would show that: four words that differ in two places have
/// XOR zero. (PSZ14 takes another part of each OT's string for each item of the sender; KKRT16
/// §5.1 hashes as here.)
pub(super) struct Masker<'a> {
    hash: &'a Hash,
    letters: usize,
    inputs: Vec<HashInput>,
    strings: Vec<Block>,
    sums: Vec<Block>,
}

/// Words that are hashed together.
const WORDS: usize = 128;

impl<'a> Masker<'a> {
    pub(super) fn new(hash: &'a Hash, letters: usize) -> Self {
        Self {
            hash,
            letters,
            inputs: Vec::with_capacity(WORDS * letters),
            strings: vec![Block::ZERO; WORDS * letters],
            sums: Vec::with_capacity(WORDS),
        }
    }

    /// Takes the inputs of a word's letters, and appends hashes if it is time.
    #[inline]
    pub(super) fn push(&mut self, word: impl Iterator<Item = HashInput>, hashes: &mut Vec<u128>) {
        self.inputs.extend(word);
        if self.inputs.len() == WORDS * self.letters {
            self.flush(hashes);
        }
    }

    /// Appends the hashes that are missing.
    pub(super) fn flush(&mut self, hashes: &mut Vec<u128>) {
        let strings = &mut self.strings[..self.inputs.len()];
        self.hash.strings(&self.inputs, strings);
        self.inputs.clear();
        self.sums.clear();
        self.sums.extend(
            strings
                .chunks_exact(self.letters)
                .map(|word| word.iter().fold(Block::ZERO, |sum, string| sum ^ *string)),
        );
        crhf::correlation_robust(&mut self.sums);
        hashes.extend(self.sums.iter().map(|sum| sum.0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(word: [u64; 2]) -> [HashInput; 2] {
        [[word[0], 0, 0, 0, 1], [word[1], 0, 0, 0, 2]]
    }

    fn hashes(words: &[[u64; 2]]) -> Vec<u128> {
        let hash = Hash::new([1; 32]);
        let mut masker = Masker::new(&hash, 2);
        let mut hashes = Vec::new();
        for word in words {
            masker.push(inputs(*word).into_iter(), &mut hashes);
        }
        masker.flush(&mut hashes);
        hashes
    }

    #[test]
    fn a_word_has_one_hash_wherever_it_stands() {
        let words: Vec<[u64; 2]> = (0..3 * WORDS as u64 + 5).map(|i| [i / 7, i % 7]).collect();
        let all = hashes(&words);
        assert_eq!(all.len(), words.len());
        for (word, hash) in words.iter().zip(&all).step_by(41) {
            assert_eq!(hashes(&[*word]), [*hash]);
        }
        let distinct: std::collections::HashSet<_> = all.iter().collect();
        assert_eq!(distinct.len(), all.len());
    }

    /// The XOR of strings alone would give zero.
    #[test]
    fn words_with_letters_in_common_have_no_relation() {
        let corners = hashes(&[[1, 1], [1, 2], [2, 1], [2, 2]]);
        assert_ne!(corners.iter().fold(0, |sum, hash| sum ^ hash), 0);
    }
}
