//! A uniformly random order of more records than memory need hold.
//!
//! Each record goes to a random bucket, and each bucket is then put into a random order: Rao
//! (Sankhyā 1961), Sandelius (1962). As the buckets of different records are independent, all
//! orders of all records are equally likely. The order follows from the generator and the number of
//! records, and not from how much of them was in memory.

use psijoin_block::Prg;
use psijoin_files::spill::Store;
use psijoin_psi::Error;

/// Words that are drawn at a time.
const DRAWN: usize = 64;

/// Records that come in one order, and go in another.
pub(super) struct Shuffle {
    buckets: Store,
    /// For the orders of buckets.
    orders: Prg,
    /// For which bucket a record goes to.
    choices: Prg,
    words: Vec<u64>,
}

impl Shuffle {
    /// Makes a shuffle of records to come, over these buckets.
    pub(super) fn new(buckets: Store, mut rng: Prg) -> Self {
        Self {
            buckets,
            orders: rng.fork(),
            choices: rng,
            words: Vec::new(),
        }
    }

    /// Adds records. The number that come at a time changes nothing.
    ///
    /// # Errors
    /// If what exceeds memory cannot be written.
    pub(super) fn add(&mut self, records: &[u8]) -> Result<(), Error> {
        for record in records.chunks_exact(self.buckets.record_bytes()) {
            let bucket = self.choose();
            self.buckets.append(bucket, record)?;
        }
        Ok(())
    }

    /// Returns a uniformly random bucket; the bias is at most their number/2^64.
    fn choose(&mut self) -> usize {
        let word = self.words.pop().unwrap_or_else(|| {
            self.words.resize(DRAWN, 0);
            self.choices
                .fill_bytes(bytemuck::cast_slice_mut(&mut self.words));
            self.words.pop().expect("some were drawn")
        });
        ((u128::from(word) * self.buckets.partitions() as u128) >> 64) as usize
    }

    /// Calls `work` with all records in their new order, some of them at a time.
    ///
    /// # Errors
    /// That of `work`; or if what was written cannot be read.
    pub(super) fn drain(
        mut self,
        work: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let record_bytes = self.buckets.record_bytes();
        for bucket in 0..self.buckets.partitions() {
            let records = self.buckets.take(bucket)?;
            let order = self
                .orders
                .permutation((records.len() / record_bytes) as u32);
            let mut ordered = Vec::with_capacity(records.len());
            for position in order {
                let start = position as usize * record_bytes;
                ordered.extend_from_slice(&records[start..start + record_bytes]);
            }
            drop(records);
            work(&ordered)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use psijoin_block::Block;
    use psijoin_files::spill::{Budget, Folder, Spill};

    use super::*;

    /// Returns the order of records that are added a number at a time.
    fn order(
        records: u16,
        at_a_time: usize,
        buckets: usize,
        budget: &Budget,
        rng: Prg,
    ) -> Vec<u16> {
        let spill = Spill::new(budget.clone(), Folder::temporary());
        let mut shuffle = Shuffle::new(Store::new(buckets, 2, &spill), rng);
        let records: Vec<u8> = (0..records).flat_map(u16::to_le_bytes).collect();
        for some in records.chunks(2 * at_a_time) {
            shuffle.add(some).unwrap();
        }
        let mut all = Vec::new();
        let mut take = |records: &[u8]| {
            all.extend(
                records
                    .as_chunks()
                    .0
                    .iter()
                    .copied()
                    .map(u16::from_le_bytes),
            );
            Ok(())
        };
        shuffle.drain(&mut take).unwrap();
        all
    }

    #[test]
    fn every_order_is_as_likely() {
        let mut rng = Prg::from_seed(Block(3));
        for buckets in [1, 2, 5] {
            let mut counts = HashMap::<Vec<u16>, u32>::new();
            for _ in 0..24_000 {
                let order = order(4, 4, buckets, &Budget::unlimited(), rng.fork());
                *counts.entry(order).or_default() += 1;
            }
            // 24 orders, 1,000 expected of each, standard deviation 31: six of them.
            assert_eq!(counts.len(), 24);
            assert!(
                counts.values().all(|count| count.abs_diff(1000) < 186),
                "{buckets}: {counts:?}"
            );
        }
    }

    #[test]
    fn neither_memory_nor_the_pieces_in_which_records_come_change_the_order() {
        let seed = || Prg::from_seed(Block(9));
        let expected = order(1000, 1000, 7, &Budget::unlimited(), seed());
        let mut sorted = expected.clone();
        sorted.sort_unstable();
        assert!(sorted.into_iter().eq(0..1000));
        let budget = Budget::new(0);
        for at_a_time in [1, 3, 64, 65] {
            assert!(order(1000, at_a_time, 7, &budget, seed()) == expected);
        }
        assert!(budget.spilled() >= 4 * 2000);
    }
}
