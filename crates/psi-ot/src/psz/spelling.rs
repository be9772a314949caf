//! The cheapest table of a scheme, and the letters that spell the items in it.

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
    /// Returns a bound on the receiver's items finding no place.
    pub(super) fn failure(self, items: u64, letters: usize) -> Log2Prob {
        match self {
            Self::None => Log2Prob::ZERO,
            Self::Simple(shape) => simple::failure(items, shape),
            Self::Balanced(shape) => two_choice::failure_distinct(items, shape),
            Self::Cuckoo(shape) => cuckoo::failure(items, shape),
            Self::Permuted(shape) => permuted_failure(items, shape, letters),
        }
    }
}

/// Returns the values that bins of this number and rests of these letters have room for.
fn permuted_places(bins: u32, letters: usize) -> u128 {
    Permutations::places(bins, letters::BITS * letters as u32)
}

fn permuted_failure(items: u64, shape: cuckoo::Shape, letters: usize) -> Log2Prob {
    let places = permuted_places(shape.bins, letters);
    cuckoo::failure_without_replacement(items, shape, places as f64)
}

/// A table, and the letters that spell the items in it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spelling {
    pub(super) method: Method,
    /// Letters that are compared in a bin.
    pub(super) letters: usize,
    /// Letters that are compared in a place that is for all items.
    pub(super) all_letters: usize,
    /// Pairs of items that may be taken for each other.
    pub(super) compared: u128,
}

impl Spelling {
    /// Returns the cheapest one. The table may take an eighth of the failure budget, the letters a
    /// quarter.
    pub(super) fn cheapest(
        request: &Request,
        hashing: Hashing,
        domain: Domain,
        budget: &FailureBudget,
    ) -> Result<Self, Error> {
        let (sizes, share) = (request.sizes, budget.share(0.125));
        let (items, pairs) = (sizes.receiver(), sizes.pairs());
        let spelled = |compared| match domain {
            Domain::Numbers { bits } => Ok(letters::of_bits(bits)),
            Domain::Digests => letters::fewest(compared, budget.share(0.25)),
        };
        let price = Price::new(request);
        let cuckoo = |letters| cuckoo::smallest(items, share, price.cuckoo(letters, letters));
        let for_all_pairs = |method: &dyn Fn(usize) -> Result<Method, Error>| {
            let letters = spelled(pairs)?;
            Ok(Self::uniform(method(letters)?, letters, pairs))
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
                    return Self::permuted(bits, items, share, &price);
                }
                // A long item is a random digest. No part of it depends on its bins, so the part
                // alone represents the item in a bin.
                let met = |lists: usize| lists as u128 * u128::from(sizes.sender());
                let shape = cuckoo(spelled(met(CHOICES))?)?;
                let compared = met(CHOICES + shape.stash as usize);
                let letters = spelled(compared)?;
                Ok(Self::uniform(Method::Cuckoo(shape), letters, compared))
            }
        }
    }

    /// Spells all items with this many letters.
    fn uniform(method: Method, letters: usize, compared: u128) -> Self {
        Self {
            method,
            letters,
            all_letters: letters,
            compared,
        }
    }

    /// Returns the fewest letters, and then the fewest bins, in which items of `item_bits` bits
    /// have places.
    fn permuted(item_bits: u32, items: u64, share: Log2Prob, price: &Price) -> Result<Self, Error> {
        let all_letters = letters::of_bits(item_bits);
        for letters in 1..all_letters {
            let costs = price.cuckoo(letters, all_letters);
            let shape = cuckoo::smallest_by(items, share, costs, |shape| {
                permuted_failure(items, shape, letters)
            });
            if let Ok(shape) = shape
                && permuted_places(shape.bins, letters) >> item_bits > 0
            {
                return Ok(Self {
                    method: Method::Permuted(shape),
                    letters,
                    all_letters,
                    compared: 0,
                });
            }
        }
        // With so few items, their bins save no letter.
        let costs = price.cuckoo(all_letters, all_letters);
        let shape = cuckoo::smallest(items, share, costs)?;
        Ok(Self::uniform(Method::Cuckoo(shape), all_letters, 0))
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
