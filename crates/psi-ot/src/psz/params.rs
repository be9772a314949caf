use std::ops::Range;

use psijoin_channel::Channel;
use psijoin_encode::{CHOICES, Permutations};
use psijoin_ot::kk13;
use psijoin_params::{
    FailureBudget, Log2Prob, Sizes, cuckoo, digest, letters, mask, simple, two_choice,
};

use super::{
    MOST_PAIRS, Receiver, Scheme, Sender,
    functions::TWO,
    layout::{Candidates, Section},
};
use crate::{
    Context, Cost, Error, Info, Parameter, Party, Plan, Request, Role, Traffic,
    sorted_masks::SortedMasks,
};

/// Masks of a list where all items are compared with all places, about: 64 MiB of hashes.
const MASKS_PER_LIST: usize = 1 << 22;

/// What items are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Domain {
    /// Anything, represented by digests.
    Digests,
    /// Numbers of so many bits, up to 64, as [`Items::numbers`](crate::Items::numbers) has them.
    Numbers { bits: u32 },
}

/// The scheme with its numbers.
#[derive(Debug, Clone, Copy)]
pub(super) enum Method {
    None,
    Simple(simple::Shape),
    Balanced(two_choice::Shape),
    Cuckoo(cuckoo::Shape),
    Permuted(cuckoo::Shape),
}

/// All numbers of a run.
#[derive(Debug, Clone)]
pub struct Params {
    pub(super) request: Request,
    pub(super) scheme: Scheme,
    pub(super) domain: Domain,
    pub(super) method: Method,
    digest_bytes: usize,
    /// Letters that are compared in a bin.
    pub(super) letters: usize,
    /// Letters that are compared in a place that all items are compared with.
    pub(super) all_letters: usize,
    mask_range: u128,
    budget: FailureBudget,
}

impl Params {
    /// For any items.
    ///
    /// The failure budget: an eighth each for digests and the table, a quarter for the letters,
    /// the rest for the masks.
    ///
    /// # Errors
    /// If a set is empty, or no parameters reach the security level.
    pub fn new(request: &Request, scheme: Scheme) -> Result<Self, Error> {
        let mut budget = FailureBudget::new(request.security);
        let sizes = request.sizes;
        let bytes = digest::bytes(sizes, budget.share(0.125))?;
        budget.charge("digest collision", digest::collision(sizes, bytes))?;
        Self::derive(request, scheme, Domain::Digests, bytes, budget)
    }

    /// For items that *are* numbers of `item_bits` bits ([`Items::numbers`](crate::Items::numbers)):
    /// fewer letters spell them, and none is taken for another. Both parties must say the same.
    ///
    /// # Errors
    /// As [`new`](Self::new); and unless items have 1 to 64 bits.
    pub fn short(request: &Request, scheme: Scheme, item_bits: u32) -> Result<Self, Error> {
        if !(1..=64).contains(&item_bits) {
            return Err(Error::Misuse("short items have 1 to 64 bits"));
        }
        let budget = FailureBudget::new(request.security);
        let domain = Domain::Numbers { bits: item_bits };
        // No two numbers are alike, so that the shortest digests hold them.
        let bytes = digest::bytes(Sizes::new(0, 0)?, budget.share(1.0))?;
        Self::derive(request, scheme, domain, bytes, budget)
    }

    fn derive(
        request: &Request,
        scheme: Scheme,
        domain: Domain,
        digest_bytes: usize,
        mut budget: FailureBudget,
    ) -> Result<Self, Error> {
        let sizes = request.sizes;
        if sizes.pairs() == 0 {
            return Err(Error::Misuse("an empty set needs no protocol"));
        }
        let Spelling {
            method,
            letters,
            all_letters,
            compared,
        } = Spelling::derive(request, scheme, domain, &budget)?;
        if domain == Domain::Digests {
            budget.charge("equal letters", letters::collision(compared, letters))?;
        }
        budget.charge(
            "hashing to bins",
            method.failure(sizes.receiver(), domain, letters),
        )?;

        let mut params = Self {
            request: request.clone(),
            scheme,
            domain,
            method,
            digest_bytes,
            letters,
            all_letters,
            mask_range: 1,
            budget,
        };
        let comparisons = params.comparisons();
        params.mask_range = mask::range(comparisons, params.budget.remaining())?;
        let collision = mask::range_collision(comparisons, params.mask_range);
        params.budget.charge("mask collision", collision)?;
        Ok(params)
    }

    pub(super) fn sections(&self) -> Vec<Section> {
        let bins = |bins, capacity| (Candidates::OfBin, bins, capacity, self.letters);
        let all = |places| (Candidates::All, places, 1, self.all_letters);
        match self.method {
            Method::None => Section::sequence([all(self.request.sizes.receiver() as u32)]),
            Method::Simple(shape) | Method::Balanced(shape) => {
                Section::sequence([bins(shape.bins, shape.capacity)])
            }
            Method::Cuckoo(shape) | Method::Permuted(shape) => {
                Section::sequence([bins(shape.bins, 1), all(shape.stash)])
            }
        }
    }

    /// Places that a list of masks is for, where all items of the sender are compared with all
    /// places: a message of places is cut into lists that fit into memory.
    pub(super) fn places_per_list(&self) -> usize {
        (MASKS_PER_LIST / self.request.sizes.sender() as usize).max(1)
    }

    /// The places of each list of masks: those of one list are compared with no other.
    pub(super) fn lists(&self) -> Vec<Range<usize>> {
        let receiver = self.request.sizes.receiver() as usize;
        match (self.method, &self.sections()[..]) {
            (Method::None, [section]) => {
                let messages = section.messages_of_places().ranges();
                let lists = messages.flat_map(|range| {
                    let starts = range.clone().step_by(self.places_per_list());
                    starts.map(move |start| start..range.end.min(start + self.places_per_list()))
                });
                lists.collect()
            }
            _ => std::iter::once(0..receiver).collect(),
        }
    }

    /// The masks of a list: one for each item of the sender and each place that this is compared
    /// with.
    pub(super) fn masks(&self, list: &Range<usize>) -> SortedMasks {
        SortedMasks::new(self.mask_count(list), self.mask_range)
    }

    fn mask_count(&self, list: &Range<usize>) -> usize {
        let places = match self.method {
            Method::None => list.len(),
            Method::Simple(shape) => shape.capacity as usize,
            Method::Balanced(shape) => TWO * shape.capacity as usize,
            Method::Cuckoo(shape) | Method::Permuted(shape) => CHOICES + shape.stash as usize,
        };
        places * self.request.sizes.sender() as usize
    }

    /// How many pairs of masks are compared.
    fn comparisons(&self) -> u128 {
        let pairs = |list: &Range<usize>| self.mask_count(list) as u128 * list.len() as u128;
        self.lists().iter().map(pairs).sum()
    }

    pub(super) fn bad_luck(&self) -> Error {
        Error::BadLuck(
            "the items do not fit into the bins",
            self.request.security.statistical_bits(),
        )
    }
}

impl Method {
    /// A bound on the receiver's items finding no place.
    fn failure(self, items: u64, domain: Domain, letters: usize) -> Log2Prob {
        match self {
            Self::None => Log2Prob::ZERO,
            Self::Simple(shape) => simple::failure(items, shape),
            Self::Balanced(shape) => two_choice::failure_distinct(items, shape),
            Self::Permuted(shape) if domain != Domain::Digests => {
                permuted_failure(items, shape, letters)
            }
            Self::Cuckoo(shape) | Self::Permuted(shape) => cuckoo::failure(items, shape),
        }
    }
}

fn permuted_failure(items: u64, shape: cuckoo::Shape, letters: usize) -> Log2Prob {
    let places = Permutations::places(shape.bins, letters::BITS * letters as u32);
    cuckoo::failure_without_replacement(items, shape, places as f64)
}

/// The cheapest table of a scheme, and what spells the items in it.
struct Spelling {
    method: Method,
    letters: usize,
    all_letters: usize,
    /// Pairs of items that may be taken for each other.
    compared: u128,
}

impl Spelling {
    fn derive(
        request: &Request,
        scheme: Scheme,
        domain: Domain,
        budget: &FailureBudget,
    ) -> Result<Self, Error> {
        let (sizes, share) = (request.sizes, budget.share(0.125));
        let (items, pairs) = (sizes.receiver(), sizes.pairs());
        let spelled = |compared| match domain {
            Domain::Numbers { bits } => Ok(letters::of_bits(bits)),
            Domain::Digests => letters::fewest(compared, budget.share(0.25)),
        };
        let same = |method, letters, compared| Self {
            method,
            letters,
            all_letters: letters,
            compared,
        };
        let price = Price::new(request);
        Ok(match scheme {
            Scheme::None => same(Method::None, spelled(pairs)?, pairs),
            Scheme::Simple => {
                let letters = spelled(pairs)?;
                let shape = simple::smallest(items, share, price.bins(letters, 1))?;
                same(Method::Simple(shape), letters, pairs)
            }
            Scheme::Balanced => {
                let letters = spelled(pairs)?;
                let shape = two_choice::smallest(items, share, price.bins(letters, TWO))?;
                same(Method::Balanced(shape), letters, pairs)
            }
            Scheme::Cuckoo => {
                let letters = spelled(pairs)?;
                let shape = cuckoo::smallest(items, share, price.cuckoo(letters, letters))?;
                same(Method::Cuckoo(shape), letters, pairs)
            }
            Scheme::Permutation => {
                if let Domain::Numbers { bits } = domain {
                    return permuted(bits, items, share, &price);
                }
                // A long item is a random digest: a part of it has nothing to do with its bins,
                // so that the part alone is what is left of the item in a bin.
                let met = |lists: usize| lists as u128 * u128::from(sizes.sender());
                let letters = spelled(met(CHOICES))?;
                let shape = cuckoo::smallest(items, share, price.cuckoo(letters, letters))?;
                let compared = met(CHOICES + shape.stash as usize);
                same(Method::Cuckoo(shape), spelled(compared)?, compared)
            }
        })
    }
}

/// What places and masks cost, in bits.
struct Price {
    /// Masks of all items of the sender, about as long as they are when coded.
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

    /// Bins of several places, where an item has so many bins.
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

/// The fewest letters, and then the fewest bins, in which items of so many bits have places.
fn permuted(item_bits: u32, items: u64, share: Log2Prob, price: &Price) -> Result<Spelling, Error> {
    let all_letters = letters::of_bits(item_bits);
    let spelling = |method, letters| Spelling {
        method,
        letters,
        all_letters,
        compared: 0,
    };
    for letters in 1..all_letters {
        let costs = price.cuckoo(letters, all_letters);
        let shape = cuckoo::smallest_by(items, share, costs, |shape| {
            permuted_failure(items, shape, letters)
        });
        if let Ok(shape) = shape
            && Permutations::places(shape.bins, letters::BITS * letters as u32) >> item_bits > 0
        {
            return Ok(spelling(Method::Permuted(shape), letters));
        }
    }
    // So few items that their bins save no letter.
    let costs = price.cuckoo(all_letters, all_letters);
    let shape = cuckoo::smallest(items, share, costs)?;
    Ok(spelling(Method::Cuckoo(shape), all_letters))
}

impl Plan for Params {
    fn info(&self) -> &'static Info {
        self.scheme.info()
    }

    fn request(&self) -> &Request {
        &self.request
    }

    fn parameters(&self) -> Vec<Parameter> {
        let sections = self.sections();
        let of_bins = sections
            .iter()
            .find(|section| section.candidates == Candidates::OfBin);
        let all: u64 = sections
            .iter()
            .filter(|section| section.candidates == Candidates::All)
            .map(|section| section.places() as u64)
            .sum();
        let item_bits = match self.domain {
            Domain::Digests => 8 * self.digest_bytes as u64,
            Domain::Numbers { bits } => bits.into(),
        };
        [
            ("digest bytes", self.digest_bytes as u64),
            ("item bits", item_bits),
            ("bins", of_bins.map_or(0, |section| section.bins.into())),
            (
                "places a bin",
                of_bins.map_or(0, |section| section.capacity.into()),
            ),
            ("letters in a bin", self.letters as u64),
            ("places beside", all),
            ("letters in a place beside", self.all_letters as u64),
            ("mask range, high half", (self.mask_range >> 64) as u64),
            ("mask range, low half", self.mask_range as u64),
        ]
        .map(|(name, value)| Parameter { name, value })
        .into()
    }

    fn budget(&self) -> &FailureBudget {
        &self.budget
    }

    fn cost(&self) -> Cost {
        // The sender of the PSI is that of the OTs.
        let offline = Traffic {
            sender_bytes: kk13::setup_sender_bytes(),
            receiver_bytes: kk13::setup_receiver_bytes(),
            rounds: 2,
        };
        let receiver_bytes = self
            .sections()
            .iter()
            .map(|section| section.messages().bytes(|bins| section.message_bytes(bins)))
            .sum();
        let online = Traffic {
            sender_bytes: (self.lists().iter())
                .map(|list| self.masks(list).coded_bytes())
                .sum(),
            receiver_bytes,
            rounds: 2,
        };
        Cost {
            offline,
            online,
            ..Cost::default()
        }
    }

    /// Comparing all with all grows with the product of the sizes.
    fn feasible(&self) -> Result<(), Error> {
        if self.scheme == Scheme::None && self.request.sizes.pairs() > MOST_PAIRS {
            return Err(Error::Misuse(
                "psz-none compares every pair of items, and does so for at most 2^28 pairs: \
                 choose psz-cuckoo, which hashes items to bins",
            ));
        }
        Ok(())
    }

    fn digest_bytes(&self) -> usize {
        self.digest_bytes
    }

    fn offline(
        &self,
        role: Role,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Box<dyn Party>, Error> {
        Ok(match role {
            Role::Sender => Box::new(Sender::offline(self, channel, context)?),
            Role::Receiver => Box::new(Receiver::offline(self, channel, context)?),
        })
    }
}

#[cfg(test)]
impl Params {
    /// Digests as only a larger run needs them.
    pub(super) fn set_digest_bytes(&mut self, bytes: usize) {
        self.digest_bytes = bytes;
    }
}
