//! The distinct keys of a table, and which row holds which.
//!
//! Threads read *stretches* of the table, which are *collected* in the order of rows, and parted by
//! what their fingerprints begin with. The keys of a partition are made *distinct* on their own:
//! all at once, or when they are asked for, so that they need not fit into memory.
//!
//! # Reading in parallel
//!
//! The threads of the caller's pool read a table piece by piece. The result is that of one thread:
//! the items, counts, lines and first error do not depend on the pieces
//! (`table/tests/tables/blocks.rs`, and the fuzz target `csv`).
//!
//! - *Stretches.* A thread reads some rows that follow each other into a `Stretch`
//!   (`table::keys::stretch`): their fingerprints, parted by the first byte; what stands in the
//!   columns of numbers; counts; the first error. Nothing in it depends on the rows before: rows
//!   and lines count from its own beginning. So it can be read early, or in vain.
//! - *Collecting is in order* (`table::in_order`, `table::keys::collect`). No thread of its own
//!   collects: the thread that has done the next stretch takes it, and those behind it that wait. A
//!   thread that is too far ahead waits. Sums of numbers are checked for overflow here, since that
//!   depends on all rows before.
//! - *Guesses are verified* (`source::read::text::blocks`). A text is cut into blocks of 1 MiB. A
//!   block's rows are those that begin in it, but where the first one begins is known only when all
//!   before is read: a line feed may stand in a field. So a thread guesses: behind the first line
//!   feed, if a row of the right number of fields seems to follow. The collector knows where the
//!   block before ends. If the guess was wrong, it reads the block again from there. No guess takes
//!   more memory than a few blocks, since an open quote may be one that was not opened.
//! - *Plain lines are quick* (`source::read::text::split`). Most lines hold no quote and no escape.
//!   Their ends and fields are found by vectorised searches, and only the fields that are needed
//!   are looked up; the others are counted. UTF-8 is checked buffer by buffer. All else goes
//!   through the strict splitter, which makes all errors.
//! - *Typed files are cut up, too* (`source::read::arrow::typed_file`): Parquet into row groups,
//!   and stretches of 2^17 rows, or 16 MiB, of larger ones, so that the keys of a piece take about
//!   5 MiB. A stretch passes over the pages before its own without decompressing them. Batches of
//!   Arrow files are decoded in turn, and their rows read in parallel.
//! - *A dictionary's values are read once* (`table::keys::typed::dictionary`). Where a key of one
//!   column is a dictionary, each value is read, normalised and hashed once per piece, when the
//!   first row refers to it: a value that no row has may be faulty. Of Parquet these are row groups
//!   whose texts are all in the dictionary. The library would make one of other texts by hashing
//!   them all.
//! - *Distinct keys, partition by partition* (`table::keys::distinct`). The 256 partitions are
//!   sorted on their own, each by a few bytes of the fingerprints and the row. There is no hash
//!   table of all keys, which would miss the cache at each row, and no item per row: only the first
//!   row of each item, and a pair for each further row. Items are in ascending order of their
//!   fingerprints, so equal sets are equal lists.
//! - *Partitions may spill* (`table::keys::partitions`). They live in a store, within a budget.
//!   Once the items are counted, it is known which rows repeat a key. These are kept, each with the
//!   first row of that key, in a store of their own (`table::keys::table_keys`). So a partition
//!   can be taken as soon as its items are in their parts, and all matching rows are still found
//!   from first rows; and a partition without repetitions is not sorted again. Numbers stay on disk
//!   as they were written: when a column's scale grows, the row is noted from which on it is
//!   another.
//! - *Writing reads little again.* The reader keeps where each block begins and which row is its
//!   first. Rows of a text in its own format are copied by block, in parallel and in order, and
//!   blocks without a matching row are not read (`table::write::copy`). Nor is a piece of Parquet
//!   without one decoded. Only the bitmap of chosen rows decides whether the shared rows are
//!   written, the others, or all.
//! - *Typed rows are written in groups* (`table::write::groups`, `table::write::typed`): row groups
//!   of 2^18 rows of Parquet, batches of 2^16 of Arrow, fewer if they take more memory. Threads
//!   decode pieces and keep the matching rows. The collecting thread cuts them into groups, each of
//!   which is the next task of a free thread, and is appended in order. So the file is the same for
//!   any number of threads. Bytes, as the footer tells them, bound the data that are decoded at
//!   once: pieces of wide rows are shorter, and row groups with lists, which cannot be cut, are
//!   decoded in turn if they are large. A column of Parquet that is never a dictionary alone in the
//!   source gets none, which saves the search for equal values.
//! - *Columns of the other party are decoded by portions* (`table::write::added`): at most 1,024
//!   rows and about 1 MB as they come out, with the row of the table beside each row of a list. A
//!   portion may end within a list. A piece of the table that would become too large is decoded in
//!   turn, and its portions are the tasks; a block of a text hands over what it has copied when
//!   that is much (`in_order_by_pieces`).
//! - *Rows that stay in memory* (`table::write::memory`) are groups that no file gets. They are
//!   copied, also where all rows of a slice are chosen, and own what is behind them
//!   (`source::read::arrow::owned`): a few rows of a data frame would keep all of it in memory. So
//!   dictionaries become their values here, too. To keep those that are referred to would need one
//!   dictionary per batch, and keys of other widths.

pub(crate) mod bitmap;
mod collect;
mod collected;
mod distinct;
mod identity;
mod inspector;
mod known_blocks;
mod partitions;
mod shared_keys;
mod stretch;
mod table_keys;
mod text;
mod typed;

use psijoin_files::spill::Spill;
use psijoin_key::{BadKeys, KeySpec};
use psijoin_source::{Progress, Source};

use crate::{Error, pass::unless_changed};

pub(crate) use collect::doubts_about_keys;
use collected::Collected;
pub(crate) use collected::Position;
pub use distinct::Items;
pub use inspector::InspectedColumn;
pub(crate) use inspector::{Findings, Kept};
pub(crate) use known_blocks::{KnownBlock, KnownBlocks};
pub(crate) use shared_keys::BlockStart;
pub use shared_keys::{MatchingRows, SharedKeys};
pub use table_keys::{Beside, TableKeys};

/// The number of a table's rows of each sort.
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

/// The parts of a table that are wanted.
pub(crate) struct Wanted<'a> {
    pub(crate) key: &'a KeySpec,
    pub(crate) beside: Beside<'a>,
    /// The keys that are kept as they are compared, if the key is inspected.
    pub(crate) inspected: Option<Kept>,
    /// The place of the keys.
    pub(crate) spill: &'a Spill,
}

impl<'a> Wanted<'a> {
    /// Returns what becomes of cells that have no canonical text: an inspection finds all.
    fn bad_keys(&self) -> BadKeys {
        match self.inspected {
            None => self.key.bad_keys(),
            Some(_) => BadKeys::Null {
                at_most_percent: 100.0,
            },
        }
    }

    /// Returns these keys, and columns beside them.
    pub(crate) fn new(key: &'a KeySpec, beside: Beside<'a>, spill: &'a Spill) -> Self {
        Self {
            key,
            beside,
            inspected: None,
            spill,
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
    unless_changed(source, || match source.layout() {
        None => typed::read_typed(source, wanted, progress),
        Some(layout) => text::read_text(source, layout, wanted, progress),
    })
}
