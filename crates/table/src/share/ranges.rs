use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use psijoin_files::spill::{Spill, Store};

use super::appended::Appended;
use crate::{Error, keys::bitmap::Bitmap};

/// Takes the payload of a row, or nothing if it has none; or returns that none can be taken now.
pub(super) type TakePayload<'a> = dyn FnMut(Option<&[u8]>) -> Result<Took, Error> + 'a;

/// The extent to which a row was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Took {
    All,
    /// Not all of it, or nothing: somebody comes back to it, and to the rows behind it.
    Less,
}

/// Bytes of a row's number.
const ROW: usize = size_of::<u32>();

/// The other party's payloads for rows of this party's table, by ranges of rows: not all of them
/// are in memory.
///
/// Of the rows that have one key, only the first one is there.
pub trait PayloadRanges: Send + Sync {
    /// Returns how many rows a range has; the last one may have fewer.
    fn range_rows(&self) -> u32;

    /// Returns the rows of a range that have a payload, ascending, and the payloads, one after the
    /// other.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    fn read(&self, range: usize) -> Result<(Vec<u32>, Vec<u8>), psijoin_files::spill::Error>;
}

/// The payload of each shared row, by ranges of rows. While rows are written, those ranges are in
/// memory that are being written.
pub(crate) struct RowPayloads {
    first: Box<dyn PayloadRanges>,
    /// Those of rows that repeat a key, by the same ranges. A record is a row and its payload.
    repeats: Store,
    /// Ranges that have been asked for, and for how many of their payloads nobody has asked yet.
    open: Mutex<HashMap<usize, (Arc<Range>, usize)>>,
}

/// The payloads of a range.
struct Range {
    /// Each shared row, ascending, and which payload it has.
    rows: Vec<(u32, u32)>,
    payloads: Vec<u8>,
    payload_bytes: usize,
}

impl Range {
    /// # Panics
    /// If the row has no payload.
    fn payload(&self, row: u32) -> &[u8] {
        let place = self.rows.binary_search_by_key(&row, |(row, _)| *row);
        let (_, payload) = self.rows[place.expect("a payload for each shared row")];
        &self.payloads[payload as usize * self.payload_bytes..][..self.payload_bytes]
    }
}

impl RowPayloads {
    /// Payloads of this many bytes for the first rows of shared keys, in a table of `rows` rows.
    /// `repeated` calls its argument with each further row that has such a key, and with the first
    /// one, whose payload it gets, too.
    ///
    /// # Errors
    /// If what is beyond the budget cannot be written or read, and what `repeated` returns.
    pub(crate) fn new(
        first: Box<dyn PayloadRanges>,
        (rows, payload_bytes): (u64, usize),
        repeated: impl FnOnce(&mut dyn FnMut(u32, u32) -> Result<(), Error>) -> Result<(), Error>,
        spill: &Spill,
    ) -> Result<Self, Error> {
        let ranges = rows.div_ceil(first.range_rows().into()) as usize;
        let payloads = Self {
            repeats: Store::new(ranges, ROW + payload_bytes, spill),
            first,
            open: Mutex::default(),
        };
        // By ranges of first rows, so that each of these is read once.
        let pairs = Store::new(ranges, 2 * ROW, spill);
        let mut appended = Appended::to(&pairs);
        repeated(&mut |row, first| {
            let pair = [&row.to_le_bytes()[..], &first.to_le_bytes()];
            Ok(appended.record(payloads.range_of(first), &pair)?)
        })?;
        appended.finish()?;
        payloads.repeat(&pairs)?;
        Ok(payloads)
    }

    /// Gives rows the payloads of others.
    fn repeat(&self, pairs: &Store) -> Result<(), Error> {
        let mut appended = Appended::to(&self.repeats);
        for range in (0..pairs.partitions()).filter(|range| pairs.records(*range) > 0) {
            let of_first = self.read(range)?;
            let pairs = pairs.take(range)?;
            for pair in pairs.as_chunks::<ROW>().0.as_chunks::<2>().0 {
                let [row, first] = pair.map(u32::from_le_bytes);
                let record = [&row.to_le_bytes()[..], of_first.payload(first)];
                appended.record(self.range_of(row), &record)?;
            }
        }
        Ok(appended.finish()?)
    }

    /// Calls `take` with the payload of each of these rows, in order, up to one that is not taken
    /// to its end; without a payload for a row that is not among the `shared` ones.
    ///
    /// # Errors
    /// If what was spilled cannot be read, and what `take` returns.
    pub(super) fn each(
        &self,
        rows: &[u64],
        shared: &Bitmap,
        take: &mut TakePayload<'_>,
    ) -> Result<(), Error> {
        let range_of = |row: &u64| self.range_of(*row as u32);
        for rows in rows.chunk_by(|a, b| range_of(a) == range_of(b)) {
            let range = range_of(&rows[0]);
            let payloads = match rows.iter().any(|row| shared.get(*row)) {
                true => Some(self.open(range)?),
                false => None,
            };
            let mut taken = 0;
            for row in rows {
                let payloads = payloads.as_ref().filter(|_| shared.get(*row));
                let payload = payloads.map(|payloads| payloads.payload(*row as u32));
                if take(payload)? == Took::Less {
                    self.close(range, taken);
                    return Ok(());
                }
                taken += usize::from(payload.is_some());
            }
            self.close(range, taken);
        }
        Ok(())
    }

    /// Calls `look` with the payload of a shared row, which somebody comes back to.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn look(
        &self,
        row: u64,
        look: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let row = row as u32;
        look(self.open(self.range_of(row))?.payload(row))
    }

    /// Calls `take` with the payload of each shared row.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub(super) fn all(
        &self,
        take: &mut dyn FnMut(&[u8]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for range in 0..self.repeats.partitions() {
            let payloads = self.read(range)?;
            payloads
                .payloads
                .chunks_exact(payloads.payload_bytes)
                .try_for_each(&mut *take)?;
        }
        Ok(())
    }

    fn range_of(&self, row: u32) -> usize {
        (row / self.first.range_rows()) as usize
    }

    /// Returns a range, which stays in memory until all of its payloads were asked for.
    fn open(&self, range: usize) -> Result<Arc<Range>, Error> {
        let mut open = self.open.lock().expect("no panic");
        if let Some((known, _)) = open.get(&range) {
            return Ok(known.clone());
        }
        let read = Arc::new(self.read(range)?);
        open.insert(range, (read.clone(), read.rows.len()));
        Ok(read)
    }

    /// Notes that this many payloads of a range were asked for.
    fn close(&self, range: usize, asked: usize) {
        let mut open = self.open.lock().expect("no panic");
        if let Some((_, left)) = open.get_mut(&range) {
            *left = left.saturating_sub(asked);
            if *left == 0 {
                open.remove(&range);
            }
        }
    }

    fn read(&self, range: usize) -> Result<Range, Error> {
        let payload_bytes = self.repeats.record_bytes() - ROW;
        let (first, mut payloads) = self.first.read(range)?;
        let mut rows: Vec<(u32, u32)> = first.into_iter().zip(0..).collect();
        for record in self.repeats.read(range)?.chunks_exact(ROW + payload_bytes) {
            let (row, payload) = record.split_first_chunk().expect("a record");
            rows.push((u32::from_le_bytes(*row), rows.len() as u32));
            payloads.extend_from_slice(payload);
        }
        rows.sort_unstable();
        Ok(Range {
            rows,
            payloads,
            payload_bytes,
        })
    }
}
