//! The content of a table, when all of its rows are there.

use psijoin_key::{BadCellsOfKey, Kind, Look, Meaning, Seen, Suspicion};

use super::{BlockStart, Counts, partitions::Partitions};
use psijoin_source::Doubt;

use crate::{Error, Labels, numbers::Totals};

/// See the [module](self). Its keys may be repeated.
pub(crate) struct Collected {
    /// The table's name in errors.
    pub(super) table: String,
    pub(super) rows: u64,
    pub(super) left_out: u64,
    pub(super) partitions: Partitions,
    /// Of each column of numbers.
    pub(super) totals: Vec<Totals>,
    /// Of each column of labels.
    pub(super) labels: Vec<Labels>,
    pub(super) meanings: Vec<Meaning>,
    /// The looks of the key columns, of those that are known.
    pub(super) looks: Vec<Look>,
    pub(super) bad_cells: BadCellsOfKey,
    pub(super) doubts: Vec<Doubt>,
    /// Of each column of the key.
    pub(super) positions: Vec<Position>,
    pub(super) starts: Vec<BlockStart>,
}

/// What was found at a position of the key, so far that more can be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    /// The column's name.
    pub(crate) name: String,
    /// The kind of its values before any rule.
    pub(crate) kind: Kind,
    pub(crate) seen: Seen,
    /// The number of its suspicious fields, for each suspicion.
    pub(crate) suspected: [u64; Suspicion::ALL.len()],
}

impl Collected {
    /// Returns the fingerprint of each row's key, if it has one.
    pub(crate) fn fingerprints(&self) -> Result<Vec<Option<[u8; 32]>>, Error> {
        let mut fingerprints = vec![None; self.rows as usize];
        for partition in 0..self.partitions.len() {
            let records = self.partitions.take(partition)?;
            for record in 0..records.len() as u32 {
                fingerprints[records.row(record) as usize] = Some(*records.fingerprint(record));
            }
        }
        Ok(fingerprints)
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
