//! The distinct keys of a table, and which row holds which.
//!
//! Threads read *stretches* of the table, which are *collected* in the order of rows, and parted by
//! what their fingerprints begin with. The keys of a partition are made *distinct* on their own: all at once, or when they are
//! asked for, so that they need not fit into memory.

pub(crate) mod bitmap;
mod collect;
mod collected;
mod distinct;
mod identity;
mod inspector;
mod key_partitions;
mod known_blocks;
mod partitions;
mod row_items;
mod stretch;
mod text;
mod typed;

use std::io::Read;

use psijoin_spill::{Budget, Folder};

use crate::{
    BadCellsOfKey, BadKeys, Dialect, Doubt, Error, KeySpec, Numbers, Progress, Source,
    meaning::Meaning,
};

use collected::Collected;
pub use inspector::InspectedColumn;
pub(crate) use inspector::{Findings, Kept};
pub use key_partitions::{Items, KeyPartitions};
pub(crate) use known_blocks::{KnownBlock, KnownBlocks};
pub(crate) use row_items::BlockStart;
pub use row_items::{MatchingRows, RowItems};

/// The keys of a table: what a protocol needs from the table, and what is needed to find the
/// matching rows again.
///
/// Takes 36 bytes per distinct key, 8 more for each column of numbers, and 8 per row whose key an
/// earlier row has. While the table is being read, each row with a key takes 40 bytes, and 8 more
/// for each column of numbers, and each thread some MiB. Then distinct keys take their place.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeyTable {
    /// The distinct keys' fingerprints in ascending order: BLAKE3 in key derivation mode over the
    /// normalised fields, each after its length.
    pub fingerprints: Vec<[u8; 32]>,
    /// Which row holds which key.
    pub rows: RowItems,
    /// The numbers of each column that was asked for, in that order.
    pub numbers: Vec<Numbers>,
    /// How many rows there are of each sort.
    pub counts: Counts,
    /// What the fields at each position of the key mean.
    pub meanings: Vec<Meaning>,
    /// The cells of the key that count as null, as they have no canonical text.
    pub bad_cells: BadCellsOfKey,
    /// What the keys, as they are read, suggest about how the table is written.
    pub doubts: Vec<Doubt>,
}

/// How many rows a table has of each sort.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Counts {
    /// All rows, the header not among them.
    pub rows: u64,
    /// Rows left out as a field of their key is null or, once normalised, empty.
    pub left_out: u64,
    /// Rows whose key an earlier row has.
    pub duplicates: u64,
    /// Distinct keys: the items of the set. `rows = left_out + duplicates + distinct`.
    pub distinct: u64,
}

impl KeyTable {
    /// Reads the keys of a table and, for each key, the numbers in these columns, and holds nothing
    /// else. The threads of the caller's pool do the work.
    ///
    /// # Errors
    /// If the table cannot be read, breaks its format, lacks a column, or has more than
    /// [`MAX_ROWS`](crate::MAX_ROWS) rows or [`MAX_ITEMS`](crate::MAX_ITEMS) distinct keys; if cells of the key have no canonical text, or a rule cannot
    /// read them, and may not count as null; if there is something else than numbers in a column of numbers, or their sum may
    /// be too large.
    pub fn read(
        source: &Source,
        key: &KeySpec,
        numbers: &[String],
        progress: &Progress,
    ) -> Result<Self, Error> {
        let (collected, _) = read(source, &Wanted::in_memory(key, numbers), progress)?;
        collected.into_table()
    }

    /// Reads the keys and numbers of a CSV text from memory or a stream, for use without a file,
    /// as by a fuzzer. `name` stands for the file in errors.
    ///
    /// # Errors
    /// As [`KeyTable::read`], and if the dialect's delimiter is its quote.
    pub fn read_csv(
        input: impl Read,
        name: &str,
        dialect: &Dialect,
        key: &KeySpec,
        numbers: &[String],
    ) -> Result<Self, Error> {
        let source = Source::csv_in_memory(input, name, dialect)?;
        Self::read(&source, key, numbers, &Progress::default())
    }
}

/// What is wanted of a table.
pub(crate) struct Wanted<'a> {
    pub(crate) key: &'a KeySpec,
    /// The columns of numbers.
    pub(crate) numbers: &'a [String],
    /// Which keys are kept as they are compared, if the key is inspected.
    pub(crate) inspected: Option<Kept>,
    /// How much memory the keys may take, and where the others lie.
    pub(crate) budget: Budget,
    pub(crate) folder: Folder,
}

impl<'a> Wanted<'a> {
    /// What becomes of cells that have no canonical text: an inspection finds all.
    fn bad_keys(&self) -> BadKeys {
        match self.inspected {
            None => self.key.bad_keys(),
            Some(_) => BadKeys::Null {
                at_most_percent: 100.0,
            },
        }
    }

    /// These keys and numbers, whatever memory they take.
    pub(crate) fn in_memory(key: &'a KeySpec, numbers: &'a [String]) -> Self {
        Self {
            key,
            numbers,
            inspected: None,
            budget: Budget::unlimited(),
            folder: Folder::temporary(),
        }
    }
}

/// Reads what is wanted of a table. Without an inspection there are no findings.
pub(crate) fn read(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<(Collected, Findings), Error> {
    progress.start(source.bytes());
    source.unchanged_by(|| match source.layout() {
        None => typed::read_typed(source, wanted, progress),
        Some(layout) => text::read_text(source, layout, wanted, progress),
    })
}
