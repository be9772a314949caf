//! Cuckoo hashing of a whole set at once.
//!
//! The set is known beforehand, so nothing is ever kicked out. *Peeling* places every item
//! that is alone in one of its bins, takes it out of its other bins, and so on; with at least 1.23
//! bins per item that places nearly all, in linear time. The rest (the 2-core: each of its bins has
//! two candidates or more) is placed by breadth-first search for augmenting paths. Peeled items
//! take no bin that a remaining item could use, so both together place as many items as any
//! algorithm could: the failure probability is exactly that a placement does not exist.

mod core;
mod peeling;

use psijoin_params::{Sizes, cuckoo::Shape};

use crate::{CHOICES, Error};

/// An item in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// The item's index.
    pub item: u32,
    /// The number of the hash function that led to the bin: 0, 1 or 2.
    pub choice: u8,
}

/// Each item in one of its bins, at most one item per bin, and a few in the stash.
///
/// Takes 4 bytes per bin, at 1.23 bins per item 5 bytes per item. Building it takes little more
/// (one byte per bin if peeling leaves items), beside the 12 bytes per item of the choices.
pub struct CuckooTable {
    slots: Vec<Slot>,
    stash: Vec<u32>,
}

impl CuckooTable {
    /// Places items 0 .. `choices.len()`; `choices[i]` are the bins of item i, as
    /// [`BinHasher::hash`](crate::BinHasher::hash) gives them. An item may name a bin more than
    /// once: it has fewer, then. The table depends on the choices only.
    ///
    /// # Errors
    /// [`Error::NoPlacement`] if no placement leaves as few items as the stash holds;
    /// [`psijoin_params::cuckoo::failure`] bounds the probability.
    ///
    /// # Panics
    /// If a bin is out of range, or there are more than 2^26 items.
    pub fn build(choices: &[[u32; CHOICES]], shape: Shape) -> Result<Self, Error> {
        assert!(
            choices.len() as u64 <= Sizes::MAX_AT_ONCE,
            "a set has at most 2^26 items"
        );
        let mut bins = peeling::Bins::new(choices, shape.bins as usize);
        let all_peeled = bins.peel(choices) == choices.len();
        let peeled = if all_peeled {
            Vec::new()
        } else {
            bins.peeled()
        };
        let mut slots = bins.into_slots();
        let stash = if all_peeled {
            Vec::new()
        } else {
            core::Search::new(choices, &mut slots, peeled).place_remaining()
        };
        if stash.len() > shape.stash as usize {
            return Err(Error::NoPlacement);
        }
        Ok(Self { slots, stash })
    }

    /// Returns what lies in each bin, from bin 0 on.
    pub fn bins(&self) -> impl ExactSizeIterator<Item = Option<Placed>> + '_ {
        self.slots.iter().map(|slot| slot.get())
    }

    /// Returns what lies in this bin.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn bin(&self, bin: u32) -> Option<Placed> {
        self.slots[bin as usize].get()
    }

    /// Returns the indices of the items that found no bin, ascending.
    pub fn stash(&self) -> &[u32] {
        &self.stash
    }
}

/// An item and one of its hash functions in one word, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Slot(u32);

impl Slot {
    /// 26 for the item, 2 for the hash function.
    const BITS: u32 = 28;
    const EMPTY: Self = Self(u32::MAX);

    fn new(item: usize, choice: usize) -> Self {
        Self((item as u32) << 2 | choice as u32)
    }

    fn item(self) -> usize {
        (self.0 >> 2) as usize
    }

    fn choice(self) -> usize {
        (self.0 & 3) as usize
    }

    fn get(self) -> Option<Placed> {
        (self != Self::EMPTY).then(|| Placed {
            item: self.item() as u32,
            choice: self.choice() as u8,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BinHasher, digests::numbers, testing::assert_fails_as_bounded};
    use proptest::prelude::*;

    fn choices(seed: u64, items: u64, bins: u32) -> Vec<[u32; CHOICES]> {
        let digests = numbers(0..items, 16);
        let mut choices = vec![[0; CHOICES]; items as usize];
        let seed = u128::from(seed).to_le_bytes();
        BinHasher::new(seed, bins).hash(digests.as_digests(), &mut choices);
        choices
    }

    fn build(choices: &[[u32; CHOICES]], bins: u32, stash: u32) -> Result<CuckooTable, Error> {
        CuckooTable::build(choices, Shape { bins, stash })
    }

    /// Asserts that every item lies in the bin of its choice, or in the stash, and nowhere else.
    fn assert_valid(table: &CuckooTable, choices: &[[u32; CHOICES]]) {
        let mut seen = vec![0; choices.len()];
        for (bin, placed) in table.bins().enumerate() {
            assert_eq!(placed, table.bin(bin as u32));
            if let Some(Placed { item, choice }) = placed {
                assert_eq!(choices[item as usize][usize::from(choice)], bin as u32);
                seen[item as usize] += 1;
            }
        }
        assert!(table.stash().is_sorted());
        table
            .stash()
            .iter()
            .for_each(|&item| seen[item as usize] += 1);
        assert!(seen.iter().all(|&times| times == 1));
    }

    /// Returns the most items that can be placed, one after the other: item `items.len() - 1` is
    /// tried in each of its bins, and left out.
    fn most_placed(items: &[[u32; CHOICES]], taken: u32) -> u32 {
        let Some((last, others)) = items.split_last() else {
            return 0;
        };
        let free = last.iter().filter(|&&bin| taken & 1 << bin == 0);
        let placed = free
            .map(|&bin| 1 + most_placed(others, taken | 1 << bin))
            .max();
        placed.unwrap_or(0).max(most_placed(others, taken))
    }

    #[test]
    fn no_items_leave_every_bin_empty() {
        let table = build(&[], 3, 0).unwrap();
        assert!(table.bins().len() == 3 && table.bins().all(|placed| placed.is_none()));
        assert!(table.stash().is_empty());
    }

    #[test]
    fn a_table_as_large_as_params_asks_for_holds_every_item() {
        for items in [1, 2, 100, 5000, 100_000] {
            let share = psijoin_params::Log2Prob::from_log2(-42.0);
            let costs = psijoin_params::cuckoo::Costs {
                bin_bits: 440,
                stash_bits: 1 << 20,
            };
            let shape = psijoin_params::cuckoo::smallest(items, share, costs).unwrap();
            let choices = choices(1, items, shape.bins);
            let table = CuckooTable::build(&choices, shape).unwrap();
            assert_valid(&table, &choices);
        }
    }

    #[test]
    fn below_the_peeling_threshold_the_search_places_what_is_left() {
        let (items, bins) = (20_000, 22_600);
        let choices = choices(2, items, bins);
        let peeled = peeling::Bins::new(&choices, bins as usize).peel(&choices);
        assert!(peeled < items as usize / 2, "{peeled} peeled");
        assert_valid(&build(&choices, bins, 0).unwrap(), &choices);
    }

    #[test]
    fn four_items_in_three_bins_need_the_stash() {
        let choices = [[4, 0, 2], [2, 4, 0], [4, 2, 0], [0, 2, 4]];
        assert!(matches!(build(&choices, 5, 0), Err(Error::NoPlacement)));
        let table = build(&choices, 5, 1).unwrap();
        assert_valid(&table, &choices);
        assert_eq!(table.stash().len(), 1);
    }

    #[test]
    fn a_bin_of_very_many_candidates_is_served() {
        // Bin 0 is a choice of all items, each of which has two bins of its own beside it.
        let star: Vec<[u32; CHOICES]> = (0..40).map(|i| [1 + 2 * i, 0, 2 + 2 * i]).collect();
        assert_valid(&build(&star, 81, 0).unwrap(), &star);
        // Bins 0, 1, 2 are all that 30 items have.
        let crowd = [[0, 1, 2]; 30];
        let table = build(&crowd, 3, 27).unwrap();
        assert_valid(&table, &crowd);
        assert_eq!(table.stash().len(), 27);
    }

    #[test]
    fn the_same_choices_give_the_same_table() {
        let choices = choices(3, 3000, 3300);
        let table = |()| build(&choices, 3300, 16).unwrap();
        let (one, other) = (table(()), table(()));
        assert!(one.bins().eq(other.bins()) && one.stash() == other.stash());
    }

    /// The bound of `psijoin_params` against tables that were built. It must be above the
    /// rate of failure, and is not far above: for the smallest sets by a factor of less than
    /// four, and more for larger ones, where many obstacles overlap and are counted often.
    #[test]
    fn tables_fail_as_often_as_the_bound_says() {
        for (items, bins, stash, trials, factor_log2) in [
            (8u64, 11u32, 0, 40_000u32, 2.0),
            (8, 8, 1, 40_000, 2.0),
            (8, 9, 1, 40_000, 2.0),
            (16, 22, 0, 30_000, 5.0),
            (16, 18, 1, 30_000, 5.0),
            (16, 17, 2, 30_000, 5.0),
            (32, 43, 0, 20_000, 10.0),
        ] {
            let build = |trial: u32| build(&choices(trial.into(), items, bins), bins, stash);
            let failed = (0..trials).filter(|&trial| build(trial).is_err()).count() as f64;
            let bound = psijoin_params::cuckoo::failure(items, Shape { bins, stash }).log2();
            let case = format!("{items} items, {bins} bins, stash {stash}");
            assert_fails_as_bounded(&case, failed, trials.into(), bound, factor_log2);
        }
    }

    proptest! {
        #[test]
        fn places_as_many_where_items_name_a_bin_twice(
            choices in prop::collection::vec(prop::array::uniform3(0_u32..6), 0..9),
        ) {
            let table = build(&choices, 6, 8).unwrap();
            assert_valid(&table, &choices);
            let placed = choices.len() - table.stash().len();
            prop_assert_eq!(placed as u32, most_placed(&choices, 0));
        }

        #[test]
        fn places_as_many_as_can_be_placed(
            seed: u64,
            items in 0u64..9,
            bins in 3u32..10,
        ) {
            let choices = choices(seed, items, bins);
            let table = build(&choices, bins, 8).unwrap();
            assert_valid(&table, &choices);
            let placed = choices.len() - table.stash().len();
            prop_assert_eq!(placed as u32, most_placed(&choices, 0));
        }
    }
}
