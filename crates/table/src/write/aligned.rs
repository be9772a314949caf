//! Writes rows in an order that is not the table's.
//!
//! The table is read once, in its order. The output of its rows goes into buckets, by their
//! positions, and lies on disk as far as it exceeds a budget. Then bucket after bucket is put in
//! order and written.

mod groups;
mod records;

use std::ops::Range;

use psijoin_files::spill::{Spill, Store};
use psijoin_source::{Progress, Source};

use crate::{AlignedRows, Error};

pub(super) use groups::create;
pub(super) use records::{AlignedRecords, InTable};

/// The number of buckets, if there are enough rows. A bucket has to fit into memory...
const BUCKETS: usize = 256;
/// ...so there are more if what is added to its rows may take more than this; as many as this at
/// most.
const BUCKET_BYTES: u64 = 1 << 24;
const MOST_BUCKETS: usize = 1 << 12;

/// The row at each position, and the place where rows that were read wait for the others.
pub(crate) struct Order<'a> {
    pub(crate) source: &'a Source,
    pub(crate) rows: &'a AlignedRows<'a>,
    /// About how many bytes are added to a row, at most.
    pub(crate) added_bytes: u64,
    pub(crate) spill: &'a Spill,
}

/// Rows that wait for others, each bucket with those of as many positions that follow each other.
pub(super) struct Buckets<'a> {
    source: &'a Source,
    /// The position of each chosen row, in the order of the table.
    positions: &'a [u32],
    /// The number of positions in a bucket; the last one may have fewer.
    bucket_rows: usize,
    store: Store,
}

/// Rows of one bucket, each with its position, and its number among those that were sorted.
type Placed = [(u32, usize)];

impl<'a> Buckets<'a> {
    pub(super) fn new(order: &Order<'a>) -> Self {
        let positions = &order.rows.positions;
        let fitting = BUCKET_BYTES / order.added_bytes.max(1);
        let bucket_rows = (positions.len().div_ceil(BUCKETS))
            .min(fitting as usize)
            .max(positions.len().div_ceil(MOST_BUCKETS))
            .max(1);
        let buckets = positions.len().div_ceil(bucket_rows).max(1);
        Self {
            source: order.source,
            positions,
            bucket_rows,
            store: Store::new(buckets, 1, order.spill),
        }
    }

    /// Returns whether the last of these rows, which are numbered as they are chosen, is the last
    /// one that is written.
    pub(super) fn end_with(&self, rows: Range<usize>) -> bool {
        let last = self.positions.get(rows).and_then(<[u32]>::last);
        last.is_some_and(|&position| position as usize + 1 == self.positions.len())
    }

    /// Returns the positions of these rows, which are numbered as they are chosen.
    ///
    /// # Errors
    /// If these rows do not exist, so the table has more than it had.
    fn positions(&self, rows: Range<usize>) -> Result<&'a [u32], Error> {
        let positions = self.positions.get(rows);
        positions.ok_or_else(|| self.source.changed().into())
    }

    /// Parts rows by buckets: `write` adds those of one to the bytes, in the order of their
    /// positions.
    fn part(
        &self,
        positions: &[u32],
        mut write: impl FnMut(&Placed, &mut Vec<u8>) -> Result<(), Error>,
    ) -> Result<Parted, Error> {
        let mut placed: Vec<(u32, usize)> = positions.iter().copied().zip(0..).collect();
        placed.sort_unstable();
        let mut parted = Parted {
            rows: positions.len(),
            ..Parted::default()
        };
        for rows in placed.chunk_by(|(a, _), (b, _)| self.bucket(*a) == self.bucket(*b)) {
            write(rows, &mut parted.bytes)?;
            let (position, _) = rows[0];
            parted
                .ends
                .push((self.bucket(position), parted.bytes.len()));
        }
        Ok(parted)
    }

    fn bucket(&self, position: u32) -> usize {
        position as usize / self.bucket_rows
    }

    /// Adds rows to their buckets.
    ///
    /// # Errors
    /// If what is beyond the budget cannot be written.
    pub(super) fn append(&self, parted: &Parted) -> Result<(), Error> {
        let mut start = 0;
        for &(bucket, end) in &parted.ends {
            self.store.append(bucket, &parted.bytes[start..end])?;
            start = end;
        }
        Ok(())
    }

    /// Checks that this many rows are all that there are to be.
    fn check_complete(&self, rows: usize) -> Result<(), Error> {
        match rows == self.positions.len() {
            true => Ok(()),
            false => Err(self.source.changed().into()),
        }
    }

    /// Takes bucket after bucket, and tells the progress of each: writing counts as much as
    /// reading.
    fn take_each<'b>(
        &'b self,
        progress: &'b Progress,
    ) -> impl Iterator<Item = Result<Vec<u8>, Error>> + Send + 'b {
        let (buckets, bytes) = (self.store.partitions() as u64, self.source.bytes());
        let until =
            move |bucket| (u128::from(bytes) * u128::from(bucket) / u128::from(buckets)) as u64;
        (0..buckets).map(move |bucket| {
            progress.advance(until(bucket + 1) - until(bucket))?;
            Ok(self.store.take(bucket as usize)?)
        })
    }
}

/// Rows, by buckets.
#[derive(Default)]
pub(super) struct Parted {
    rows: usize,
    bytes: Vec<u8>,
    /// Each bucket that has rows here, and where their bytes end.
    ends: Vec<(usize, usize)>,
}
