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

/// The letters of an item, from the first on.
pub(super) type Letters = [u8; letters::MAX];

/// The bin in which an item is compared, and the letters by which.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct Spot {
    pub(super) bin: u32,
    pub(super) letters: Letters,
}

/// The functions that both expand from the joint seed.
pub(super) struct Functions {
    bins: Bins,
    spelling: Spelling,
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
                let rest_bits = letters::BITS * spelling.letters as u32;
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
            spelling: params.spelling,
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
                    *spot = self.spot(bin, items.words(i));
                }
            }
            Bins::Distinct { hasher, per_item } => {
                let mut bins = vec![[0; CHOICES]; items.len()];
                hasher.hash(items, &mut bins);
                let spots = spots.chunks_exact_mut(*per_item);
                for (i, (spots, bins)) in spots.zip(bins).enumerate() {
                    for (spot, bin) in spots.iter_mut().zip(bins) {
                        *spot = self.spot(bin, items.words(i));
                    }
                }
            }
            Bins::Permuted(permutations) => {
                let numbers: Vec<u64> = (0..items.len()).map(|i| items.words(i)[0]).collect();
                let mut places = vec![[Place::default(); CHOICES]; items.len()];
                permutations.hash(&numbers, &mut places);
                for (spot, place) in spots.iter_mut().zip(places.as_flattened()) {
                    *spot = self.spot(place.bin, [place.rest, 0, 0, 0]);
                }
            }
        }
    }

    /// Returns the spot of an item: digests are random, so a part of them serves; numbers and rests
    /// are spelled out.
    fn spot(&self, bin: u32, words: [u64; 4]) -> Spot {
        Spot {
            bin,
            letters: first_letters(words, self.spelling.letters),
        }
    }

    /// Returns the letters by which an item is compared with all.
    pub(super) fn all_letters(&self, words: [u64; 4]) -> Letters {
        first_letters(words, self.spelling.all_letters)
    }
}

fn first_letters(words: [u64; 4], count: usize) -> Letters {
    let bytes = words.map(u64::to_le_bytes);
    let mut letters = [0; letters::MAX];
    letters[..count].copy_from_slice(&bytes.as_flattened()[..count]);
    letters
}
