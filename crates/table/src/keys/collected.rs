//! The content of a table, when all of its rows are there.

use psijoin_key::{BadCellsOfKey, Look, Meaning};

use super::{BlockStart, Counts, partitions::Partitions};
use psijoin_source::Doubt;

use crate::numbers::Totals;

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
