//! The cheapest table of a scheme, and the letters that spell the items in it.

use std::ops::RangeInclusive;

use psijoin_encode::{CHOICES, Permutations};
use psijoin_ot::kk13;
use psijoin_params::{FailureBudget, Log2Prob, cuckoo, letters, simple, two_choice};
use psijoin_psi::{Error, Request};

use super::{Hashing, TWO};

/// The domain of items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    /// Anything, represented by digests.
    Digests,
    /// Numbers of this many bits, up to 64, as [`Items::numbers`](psijoin_psi::Items::numbers) has
    /// them.
    Numbers { bits: u32 },
}

impl Domain {
    /// Returns the domain that the request promises.
    pub(super) fn of(request: &Request) -> Self {
        match request.item_bits {
            Some(bits) => Self::Numbers { bits },
            None => Self::Digests,
        }
    }
}

/// The way items are hashed to places, with its numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Method {
    None,
    Simple(simple::Shape),
    Balanced(two_choice::Shape),
    Cuckoo(cuckoo::Shape),
    /// The bin is a part of the item.
    Permuted(cuckoo::Shape),
}

impl Method {
    /// Returns a bound on the receiver's items finding no place, if this many bits of them are
    /// spelled in a bin.
    pub(super) fn failure(self, items: u64, spelled_bits: u32) -> Log2Prob {
        match self {
            Self::None => Log2Prob::ZERO,
            Self::Simple(shape) => simple::failure(items, shape),
            Self::Balanced(shape) => two_choice::failure_distinct(items, shape),
            Self::Cuckoo(shape) => cuckoo::failure(items, shape),
            Self::Permuted(shape) => permuted_failure(items, shape, spelled_bits),
        }
    }
}

/// The fewest and the most bits of a rest.
const REST_BITS: RangeInclusive<u32> = 4..=64;

fn permuted_failure(items: u64, shape: cuckoo::Shape, rest_bits: u32) -> Log2Prob {
    let places = Permutations::places(shape.bins, rest_bits);
    cuckoo::failure_without_replacement(items, shape, places as f64)
}

/// A table, and the letters that spell the items in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling {
    pub(super) method: Method,
    /// Bits of a letter.
    pub(super) letter_bits: u32,
    /// Letters that are compared in a bin.
    pub(super) letters: usize,
    /// Letters that are compared in a place that is for all items.
    pub(super) all_letters: usize,
    /// Pairs of items that may be taken for each other.
    pub(super) compared: u128,
}

impl Spelling {
    /// Returns the cheapest one, with letters of `letter_bits` bits. The table may take an eighth
    /// of the failure budget, the letters a quarter.
    pub(super) fn cheapest(
        request: &Request,
        hashing: Hashing,
        letter_bits: u32,
        domain: Domain,
        budget: &FailureBudget,
    ) -> Result<Self, Error> {
        let (sizes, share) = (request.sizes, budget.share(0.125));
        let (items, pairs) = (sizes.receiver(), sizes.pairs());
        let spelled = |compared| match domain {
            Domain::Numbers { bits } => Ok(letters::of_bits(bits, letter_bits)),
            Domain::Digests => letters::fewest(compared, letter_bits, budget.share(0.25)),
        };
        let uniform = |method, letters, compared| Self {
            method,
            letter_bits,
            letters,
            all_letters: letters,
            compared,
        };
        let price = Price::new(request);
        let cuckoo = |letters| cuckoo::smallest(items, share, price.cuckoo(letters, letters));
        let for_all_pairs = |method: &dyn Fn(usize) -> Result<Method, Error>| {
            let letters = spelled(pairs)?;
            Ok(uniform(method(letters)?, letters, pairs))
        };
        match hashing {
            Hashing::None => for_all_pairs(&|_| Ok(Method::None)),
            Hashing::Simple => for_all_pairs(&|letters| {
                let shape = simple::smallest(items, share, price.bins(letters, 1))?;
                Ok(Method::Simple(shape))
            }),
            Hashing::Balanced => for_all_pairs(&|letters| {
                let shape = two_choice::smallest(items, share, price.bins(letters, TWO))?;
                Ok(Method::Balanced(shape))
            }),
            Hashing::Cuckoo => for_all_pairs(&|letters| Ok(Method::Cuckoo(cuckoo(letters)?))),
            Hashing::Permutation => {
                if let Domain::Numbers { bits } = domain {
                    let permuted = Self::permuted(bits, letter_bits, items, share, &price);
                    let letters = spelled(pairs)?;
                    let whole = cuckoo(letters)?;
                    let costs = price.cuckoo(letters, letters);
                    return Ok(match permuted {
                        Some((cost, permuted)) if cost < costs.of(whole) => permuted,
                        _ => uniform(Method::Cuckoo(whole), letters, pairs),
                    });
                }
                // A long item is a random digest. No part of it depends on its bins, so the part
                // alone represents the item in a bin.
                let met = |lists: usize| lists as u128 * u128::from(sizes.sender());
                let shape = cuckoo(spelled(met(CHOICES))?)?;
                let compared = met(CHOICES + shape.stash as usize);
                let letters = spelled(compared)?;
                Ok(uniform(Method::Cuckoo(shape), letters, compared))
            }
        }
    }

    /// Returns the cheapest letters and bins in which items of `item_bits` bits have places, and
    /// their cost: with more bins, a rest may be a letter shorter. `None` if no bins save a letter.
    fn permuted(
        item_bits: u32,
        letter_bits: u32,
        items: u64,
        share: Log2Prob,
        price: &Price,
    ) -> Option<(u128, Self)> {
        let all_letters = letters::of_bits(item_bits, letter_bits);
        let spelled = (1..all_letters).filter_map(|letters| {
            let rest_bits = letter_bits * letters as u32;
            if !REST_BITS.contains(&rest_bits) {
                return None;
            }
            let costs = price.cuckoo(letters, all_letters);
            let least = Permutations::fewest_bins(item_bits, rest_bits);
            let shape = cuckoo::smallest_by(items, least, share, costs, |shape| {
                permuted_failure(items, shape, rest_bits)
            });
            let shape = shape.ok()?;
            let spelling = Self {
                method: Method::Permuted(shape),
                letter_bits,
                letters,
                all_letters,
                compared: 0,
            };
            Some((costs.of(shape), spelling))
        });
        spelled.min_by_key(|(cost, _)| *cost)
    }

    /// Returns how many bits of an item are spelled in a bin.
    pub(super) fn bits_in_a_bin(&self) -> u32 {
        self.letter_bits * self.letters as u32
    }
}

/// The cost of places and masks, in bits.
struct Price {
    /// A mask for each item of the sender, about as long as masks are when coded.
    list_bits: u64,
}

impl Price {
    fn new(request: &Request) -> Self {
        let sizes = request.sizes;
        let sigma = u64::from(request.security.statistical_bits());
        let mask_bits = sigma + u64::from(sizes.receiver().ilog2()) + 2;
        Self {
            list_bits: sizes.sender() * mask_bits,
        }
    }

    fn place_bits(letters: usize) -> u64 {
        (kk13::COLUMNS * letters) as u64
    }

    /// Returns the costs of bins of several places, where an item has `per_item` bins.
    fn bins(&self, letters: usize, per_item: usize) -> simple::Costs {
        simple::Costs {
            place_bits: Self::place_bits(letters),
            capacity_bits: per_item as u64 * self.list_bits,
        }
    }

    fn cuckoo(&self, letters: usize, stash_letters: usize) -> cuckoo::Costs {
        cuckoo::Costs {
            bin_bits: Self::place_bits(letters),
            stash_bits: Self::place_bits(stash_letters) + self.list_bits,
        }
    }
}
