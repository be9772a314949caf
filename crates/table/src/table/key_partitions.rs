use psijoin_block::parallel;
use psijoin_spill::{Budget, Folder};

use super::{Counts, MatchingRows, Wanted, bitmap::Bitmap, collected::Collected, read};
use crate::{Doubt, Error, KeySpec, Progress, Source, meaning::Meaning};

/// The keys of a table that need not fit into memory: as a [`KeyTable`](super::KeyTable) has them, partition by partition.
///
/// Takes the memory of the budget, and a few MiB per thread. On disk, each row with a key takes 36 bytes, and 8 more
/// for each column of numbers. Whoever asks for the [items](Self::items) of a partition has it made distinct anew.
pub struct KeyPartitions {
    collected: Collected,
    counts: Counts,
}

/// Distinct keys.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Items {
    /// Their fingerprints in ascending order.
    pub fingerprints: Vec<[u8; 32]>,
    /// The first row of each.
    pub first_rows: Vec<u32>,
    /// For each column of numbers, the number of each: `value · 10^-scale`.
    pub numbers: Vec<Vec<i64>>,
}

impl KeyPartitions {
    /// Reads the keys of a table and, for each key, the numbers in these columns. What is beyond the budget goes to a
    /// temporary file in the folder. The threads of the caller's pool do the work.
    ///
    /// # Errors
    /// As [`KeyTable::read`](super::KeyTable::read), except that there is no limit to distinct keys; and if what is beyond
    /// the budget cannot be written, or not be read back.
    pub fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        (budget, folder): (&Budget, &Folder),
        progress: &Progress,
    ) -> Result<Self, Error> {
        let wanted = Wanted {
            budget: budget.clone(),
            folder: folder.clone(),
            ..Wanted::in_memory(key, numbers)
        };
        let (collected, _) = read(source, &wanted, progress)?;
        let count = |partition| {
            let distinct = collected.partitions.distinct(partition)?;
            Ok(distinct.fingerprints.len() as u64)
        };
        let items = parallel::map(collected.partitions.len(), &count);
        let items = items.into_iter().sum::<Result<u64, Error>>()?;
        let counts = collected.counts(items);
        Ok(Self { collected, counts })
    }

    /// How many rows there are of each sort.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// What the fields at each position of the key mean.
    pub fn meanings(&self) -> &[Meaning] {
        &self.collected.meanings
    }

    /// What the keys, as they are read, suggest about how the table is written.
    pub fn doubts(&self) -> &[Doubt] {
        &self.collected.doubts
    }

    /// For each column of numbers the decimals of its numbers, and how many rows with a key have none.
    pub fn numbers(&self) -> impl Iterator<Item = (u32, u64)> {
        let totals = self.collected.totals.iter();
        totals.map(|totals| (totals.scale, totals.empty))
    }

    /// How many partitions there are. The items of each are greater than those of the ones before.
    pub fn partitions(&self) -> usize {
        self.collected.partitions.len()
    }

    /// The items of a partition.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such partition.
    pub fn items(&self, partition: usize) -> Result<Items, Error> {
        let distinct = self.collected.partitions.distinct(partition)?;
        Ok(Items {
            fingerprints: distinct.fingerprints,
            first_rows: distinct.first_rows,
            numbers: distinct.numbers,
        })
    }

    /// The rows that match, given the first row of each item that does: a bit per row, the lowest of a word first.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// Unless there are as many words as the bits of all rows take.
    pub fn matching(&self, first_rows: Vec<u64>) -> Result<MatchingRows<'_>, Error> {
        let mut rows = Bitmap::from_words(first_rows, self.counts.rows);
        let mut add_repeated = |partition| -> Result<(), Error> {
            let distinct = self.collected.partitions.distinct(partition)?;
            for (row, item) in distinct.repeated {
                if rows.get(distinct.first_rows[item as usize].into()) {
                    rows.set(row.into());
                }
            }
            Ok(())
        };
        if self.counts.duplicates > 0 {
            (0..self.partitions()).try_for_each(&mut add_repeated)?;
        }
        Ok(MatchingRows {
            rows,
            starts: &self.collected.starts,
        })
    }
}
