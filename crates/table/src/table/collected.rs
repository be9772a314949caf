//! The content of a table, when all of its rows are there.

use super::{
    Counts, KeyTable,
    distinct::Distinct,
    partitions::Partitions,
    row_items::{BlockStart, RowItems},
};
use psijoin_key::{BadCellsOfKey, Look, Meaning};

use crate::{Doubt, Error, MAX_ITEMS, Numbers, ReadError, numbers::Totals};

/// See the [module](self). Its keys may be repeated.
pub(crate) struct Collected {
    /// The table's name in errors.
    pub(super) table: String,
    pub(super) rows: u64,
    pub(super) left_out: u64,
    pub(super) partitions: Partitions,
    /// Of each column of numbers.
    pub(super) totals: Vec<Totals>,
    pub(super) meanings: Vec<Meaning>,
    /// The looks of the key columns, of those that are known.
    pub(super) looks: Vec<Look>,
    pub(super) bad_cells: BadCellsOfKey,
    pub(super) doubts: Vec<Doubt>,
    pub(super) starts: Vec<BlockStart>,
}

impl Collected {
    /// Returns the table in memory.
    ///
    /// # Errors
    /// If there are too many distinct keys, or what was spilled cannot be read.
    pub(crate) fn into_table(self) -> Result<KeyTable, Error> {
        let Some(distinct) = Distinct::of_all(&self.partitions, MAX_ITEMS)? else {
            return Err(Error::Read(ReadError::TooManyItems { file: self.table }));
        };
        let counts = self.counts(distinct.fingerprints.len() as u64);
        let frequent = distinct.most_frequent().doubt(&counts);
        let numbers = self.totals.iter().zip(distinct.numbers);
        Ok(KeyTable {
            rows: RowItems {
                rows: self.rows,
                first: distinct.first_rows,
                repeated: distinct.repeated,
                starts: self.starts,
            },
            fingerprints: distinct.fingerprints,
            numbers: numbers
                .map(|(totals, values)| Numbers {
                    values,
                    scale: totals.scale,
                    empty: totals.empty,
                })
                .collect(),
            counts,
            meanings: self.meanings,
            bad_cells: self.bad_cells,
            doubts: self.doubts.into_iter().chain(frequent).collect(),
        })
    }

    /// Returns the number of rows of each sort, if there are as many items as this.
    pub(super) fn counts(&self, items: u64) -> Counts {
        Counts {
            rows: self.rows,
            left_out: self.left_out,
            duplicates: self.rows - self.left_out - items,
            distinct: items,
        }
    }
}
