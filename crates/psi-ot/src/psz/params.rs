use std::ops::Range;

use psijoin_encode::CHOICES;
use psijoin_ot::kk13;
use psijoin_params::{letters, mask};
use psijoin_psi::{
    BaseOts, BaseParams, Conversation, Derived, Dialogue, Error, Parameter, Plan, Request,
    parameters, sorted_masks::SortedMasks,
};

use super::{
    Hashing, MOST_PAIRS, Receiver, Scheme, Sender, TWO,
    layout::{Candidates, Section},
    spelling::{Domain, Method, Spelling},
};
use crate::seeds::SeedOts;

/// Masks of a list where all items are compared with all places, about: 64 MiB of hashes.
const MASKS_PER_LIST: usize = 1 << 22;

/// All numbers of a run.
#[derive(Debug)]
pub struct Params {
    pub(super) base: BaseParams,
    scheme: &'static Scheme,
    pub(super) spelling: Spelling,
    mask_range: u128,
}

impl Params {
    /// Derives the parameters. The sets are not empty.
    ///
    /// The failure budget: an eighth each for digests and the table, a quarter for the letters,
    /// the rest for the masks. Items that are numbers ([`Request::numbers`]) take nothing for
    /// digests and letters.
    ///
    /// # Errors
    /// If no parameters reach the security level.
    pub fn new(request: &Request, scheme: &'static Scheme) -> Result<Self, Error> {
        Self::with_letter_bits(request, scheme, letters::BITS)
    }

    /// As [`new`](Self::new), with letters of fewer bits: 1-out-of-2^`letter_bits` OTs. Each OT
    /// takes as many bytes as one with letters of eight bits, and there are more of them, so this
    /// is for comparisons (PSZ14, Table 9).
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a letter would have no bits, or more than eight.
    pub fn with_letter_bits(
        request: &Request,
        scheme: &'static Scheme,
        letter_bits: u32,
    ) -> Result<Self, Error> {
        if !(1..=letters::BITS).contains(&letter_bits) {
            return Err(Error::Misuse("a letter has 1 to 8 bits"));
        }
        let domain = Domain::of(request);
        let mut base = match domain {
            Domain::Digests => BaseParams::new(request)?,
            Domain::Numbers { bits } => BaseParams::of_numbers(request, bits)?,
        };
        let (request, budget) = (&base.request, &mut base.budget);
        let spelling = Spelling::cheapest(request, scheme.hashing, letter_bits, domain, budget)?;
        if domain == Domain::Digests {
            let collision = letters::collision(spelling.compared, spelling.letters, letter_bits);
            budget.charge("equal letters", collision)?;
        }
        let no_place =
            (spelling.method).failure(request.sizes.receiver(), spelling.bits_in_a_bin());
        budget.charge("hashing to bins", no_place)?;

        let mut params = Self {
            base,
            scheme,
            spelling,
            mask_range: 1,
        };
        let comparisons = params.comparisons();
        params.mask_range = mask::range(comparisons, params.base.budget.remaining())?;
        let collision = mask::range_collision(comparisons, params.mask_range);
        params.base.budget.charge("mask collision", collision)?;
        Ok(params)
    }

    /// Returns the plan of a run with these numbers.
    pub fn plan(self) -> Plan {
        let derived = Derived {
            info: self.scheme.info(),
            base: self.base.clone(),
            parameters: self.parameters(),
            dialogue: self.dialogue(),
        };
        let all_pairs = self.scheme.hashing == Hashing::None;
        let too_many = all_pairs && self.base.request.sizes.pairs() > MOST_PAIRS;
        let plan = Plan::new::<Sender, Receiver>(derived, self);
        match too_many {
            false => plan,
            true => plan.refused(
                "psz-none compares every pair of items, and does so for at most 2^28 pairs: \
                 choose psz-cuckoo, which hashes items to bins",
            ),
        }
    }

    /// Returns the base OTs under the OTs of step 1.
    pub(super) fn base_ots(&self) -> BaseOts {
        self.base.request.base_ots
    }

    fn parameters(&self) -> Vec<Parameter> {
        let sections = self.sections();
        let section = |candidates| sections.iter().find(|it| it.candidates == candidates);
        let (of_bins, of_all) = (section(Candidates::OfBin), section(Candidates::All));
        let item_bits = (self.base.number_bits).unwrap_or(8 * self.base.digest_bytes as u32);
        let places_beside = of_all.map_or(0, |section| section.places() as u64);
        parameters(&[
            ("digest bytes", self.base.digest_bytes as u64),
            ("item bits", item_bits.into()),
            ("bins", of_bins.map_or(0, |section| section.bins.into())),
            (
                "places a bin",
                of_bins.map_or(0, |section| section.capacity.into()),
            ),
            ("letter bits", self.spelling.letter_bits.into()),
            ("letters in a bin", self.spelling.letters as u64),
            ("places beside", places_beside),
            (
                "letters in a place beside",
                self.spelling.all_letters as u64,
            ),
            ("mask range, high half", (self.mask_range >> 64) as u64),
            ("mask range, low half", self.mask_range as u64),
        ])
    }

    fn dialogue(&self) -> Dialogue {
        let seeds = SeedOts {
            columns: kk13::COLUMNS,
            checked: false,
            base: self.base_ots(),
        };
        let letters = (self.sections().iter())
            .map(|section| section.messages().bytes(|bins| section.message_bytes(bins)))
            .sum();
        let masks = (self.lists().iter())
            .map(|list| self.masks(list).coded_bytes())
            .sum();
        let online = Conversation::default().receiver(letters).sender(masks);
        Dialogue::new(seeds.conversation(), online)
    }

    /// Returns the places of step 3.
    pub(super) fn sections(&self) -> Vec<Section> {
        let bins = |bins, capacity| (Candidates::OfBin, bins, capacity, self.spelling.letters);
        let all = |places| (Candidates::All, places, 1, self.spelling.all_letters);
        match self.spelling.method {
            Method::None => Section::sequence([all(self.base.request.sizes.receiver() as u32)]),
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
        (MASKS_PER_LIST / self.base.request.sizes.sender() as usize).max(1)
    }

    /// Returns the lists of masks of step 5, each for a range of the places that hold an item,
    /// which are compared with no other list.
    pub(super) fn lists(&self) -> Vec<Range<usize>> {
        match (self.spelling.method, &self.sections()[..]) {
            (Method::None, [section]) => {
                let messages = section.messages_of_places().ranges();
                let lists = messages.flat_map(|range| {
                    let starts = range.clone().step_by(self.places_per_list());
                    starts.map(move |start| start..range.end.min(start + self.places_per_list()))
                });
                lists.collect()
            }
            _ => vec![self.whole_list()],
        }
    }

    /// Returns the only list, where items have bins.
    pub(super) fn whole_list(&self) -> Range<usize> {
        0..self.base.request.sizes.receiver() as usize
    }

    /// Returns the masks of a list: one for each item of the sender and each place that it is
    /// compared with.
    pub(super) fn masks(&self, list: &Range<usize>) -> SortedMasks {
        SortedMasks::new(self.mask_count(list), self.mask_range)
    }

    fn mask_count(&self, list: &Range<usize>) -> usize {
        let places = match self.spelling.method {
            Method::None => list.len(),
            Method::Simple(shape) => shape.capacity as usize,
            Method::Balanced(shape) => TWO * shape.capacity as usize,
            Method::Cuckoo(shape) | Method::Permuted(shape) => CHOICES + shape.stash as usize,
        };
        places * self.base.request.sizes.sender() as usize
    }

    /// Returns how many pairs of masks are compared.
    fn comparisons(&self) -> u128 {
        let pairs = |list: &Range<usize>| self.mask_count(list) as u128 * list.len() as u128;
        self.lists().iter().map(pairs).sum()
    }

    /// Returns the error that the items do not fit into the table.
    pub(super) fn no_placement(&self) -> Error {
        self.base
            .request
            .bad_luck("the items do not fit into the bins")
    }
}
