//! From the keys that are shared back to the rows that have them.

use std::cmp::Reverse;

use psijoin_files::spill::Spill;
use psijoin_runtime::parallel;

use super::TableKeys;
use crate::{
    AlignedRows, Error,
    keys::{MatchingRows, SharedKeys, bitmap::Bitmap, distinct::Items},
    share::{
        GivenRows, PartnerRows, PayloadLayout, PayloadOfRow, Payloads, RepeatedKeys, RowPayloads,
    },
    write::alignment::{self as aligned, Ranked},
};

/// The rows of a shared key that are wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RowsOfKey {
    First,
    All,
}

impl TableKeys {
    /// Returns the rows whose columns are given to the other party, with a payload for each item,
    /// in the order of partitions and of their [`items`](Self::items).
    ///
    /// # Errors
    /// If what was spilled cannot be read; if rows repeat a key, and that is refused, or more do
    /// than are given.
    ///
    /// # Panics
    /// If items were [taken](Self::take_items), or their first rows.
    pub fn given(&self, repeated: RepeatedKeys) -> Result<GivenRows<'_>, Error> {
        let mut payload_of = PayloadOfRow::new(self.counts.rows);
        let mut payloads = 0;
        for partition in 0..self.partitions() {
            for &row in &self.items(partition)?.first_rows {
                payload_of.set(row, payloads);
                payloads += 1;
            }
        }
        assert_eq!(u64::from(payloads), self.counts.distinct, "all first rows");
        self.give_repeats(&mut payload_of)?;
        let starts = &self.collected.starts;
        GivenRows::new(payload_of, payloads as usize, starts, repeated)
    }

    /// Returns the rows that match: all rows of shared keys.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If the keys are not of this table: a row is not there, or there are not as many words as the
    /// bits of all rows take.
    pub fn matching(&self, shared: SharedKeys) -> Result<MatchingRows<'_>, Error> {
        let mut rows = shared.into_rows(self.counts.rows);
        self.add_repeats(&mut rows)?;
        let starts = &self.collected.starts;
        Ok(MatchingRows { rows, starts })
    }

    /// Returns the rows of shared keys, and what the other party gave for each, in this layout. If
    /// payloads are by ranges of rows, those of rows that repeat a key are copied, within the
    /// budget or to the folder.
    ///
    /// # Errors
    /// If what was spilled cannot be read, or what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// As [`matching`](Self::matching), and if there is not a payload for each shared key.
    pub fn partners(
        &self,
        shared: SharedKeys,
        layout: &PayloadLayout,
        spill: &Spill,
    ) -> Result<(PartnerRows<'_>, Payloads), Error> {
        let (rows, payloads) = self.rows_of(shared, RowsOfKey::All, Some(layout), spill)?;
        Ok((rows, payloads.expect("of a layout")))
    }

    /// Checks that rows can be [aligned](Self::aligned), given what becomes of those that repeat a
    /// key.
    ///
    /// # Errors
    /// If rows repeat a key, and that is refused, or a list of them is to be written; and if what
    /// was spilled cannot be read.
    pub fn check_alignable(&self, repeated: RepeatedKeys) -> Result<(), Error> {
        let first = || {
            let mut least = u32::MAX;
            self.each_repeat(|row, _| {
                least = least.min(row);
                Ok(())
            })?;
            Ok(least)
        };
        aligned::check_repeated(repeated, self.counts.duplicates, first)
    }

    /// Returns the first rows of shared keys, in the order that the other party has, too, given a
    /// key that both parties know; and what the other party gave for each, if there is a layout.
    ///
    /// The threads of the caller's pool do the work, and go through all items.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// As [`partners`](Self::partners), and if items were [taken](Self::take_items), or their
    /// fingerprints.
    pub fn aligned(
        &self,
        shared: SharedKeys,
        layout: Option<&PayloadLayout>,
        key: &[u8; 32],
        spill: &Spill,
    ) -> Result<(AlignedRows<'_>, Option<Payloads>), Error> {
        let (rows, payloads) = self.rows_of(shared, RowsOfKey::First, layout, spill)?;
        let first_rows = &rows.shared.rows;
        let of_partition = |partition| -> Result<Vec<Ranked>, Error> {
            let items = self.items(partition)?;
            Ok(ranked(&items, first_rows, key))
        };
        let keys = first_rows.count() as usize;
        // Ranks of all items at once are not copied.
        let mut all = match self.gathered {
            Some(_) => Vec::new(),
            None => Vec::with_capacity(keys),
        };
        for ranked in parallel::map(self.partitions(), &of_partition) {
            match all.capacity() {
                0 => all = ranked?,
                _ => all.append(&mut ranked?),
            }
        }
        assert_eq!(all.len(), keys, "first rows of items that are there");
        Ok((AlignedRows::new(rows, all), payloads))
    }

    /// Returns rows of shared keys, and what the other party gave for each, if there is a layout.
    fn rows_of(
        &self,
        shared: SharedKeys,
        which: RowsOfKey,
        layout: Option<&PayloadLayout>,
        spill: &Spill,
    ) -> Result<(PartnerRows<'_>, Option<Payloads>), Error> {
        let (starts, rows) = (&self.collected.starts, self.counts.rows);
        match shared {
            SharedKeys::InMemory {
                first_rows,
                payloads,
            } => {
                let keys = first_rows.len();
                let mut payload_of = PayloadOfRow::of(rows, first_rows);
                if which == RowsOfKey::All {
                    self.give_repeats(&mut payload_of)?;
                }
                let payloads = layout.map(|layout| Payloads::new(layout.clone(), payloads));
                Ok((PartnerRows::new(payload_of, keys, starts), payloads))
            }
            SharedKeys::ByRows {
                first_rows,
                payloads,
            } => {
                let mut shared = Bitmap::from_words(first_rows, rows);
                let keys = shared.count() as usize;
                if which == RowsOfKey::All {
                    self.add_repeats(&mut shared)?;
                }
                let payloads = layout.map(|layout| {
                    let payloads = payloads.expect("what the other party gave");
                    let of_rows = (rows, layout.payload_bytes());
                    let repeated = |pair: &mut dyn FnMut(u32, u32) -> Result<(), Error>| {
                        self.each_repeat(|row, first| match shared.get(row.into()) {
                            true => pair(row, first),
                            false => Ok(()),
                        })
                    };
                    let payloads = RowPayloads::new(payloads, of_rows, repeated, spill)?;
                    Ok::<_, Error>(Payloads::by_rows(layout.clone(), payloads, keys))
                });
                let payloads = payloads.transpose()?;
                let rows = MatchingRows {
                    rows: shared,
                    starts,
                };
                Ok((PartnerRows::by_rows(rows, keys), payloads))
            }
        }
    }

    /// Calls `pair` with each row that repeats a key, and with the first row that has it: by
    /// partitions of keys, those of one key one after the other, in their order.
    ///
    /// # Errors
    /// If what was spilled cannot be read, and what `pair` returns.
    pub fn each_repeat(
        &self,
        mut pair: impl FnMut(u32, u32) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for partition in 0..self.repeats.partitions() {
            let bytes = self.repeats.read(partition)?;
            repeats(&bytes).try_for_each(|(row, first)| pair(row, first))?;
        }
        Ok(())
    }

    /// Gives each row that repeats a key the payload of the first row that has it.
    fn give_repeats(&self, payload_of: &mut PayloadOfRow) -> Result<(), Error> {
        self.each_repeat(|row, first| {
            if let Some(payload) = payload_of.get(first.into()) {
                payload_of.set(row, payload);
            }
            Ok(())
        })
    }

    /// Adds each row that repeats a key to the first rows that are there.
    fn add_repeats(&self, rows: &mut Bitmap) -> Result<(), Error> {
        self.each_repeat(|row, first| {
            if rows.get(first.into()) {
                rows.set(row.into());
            }
            Ok(())
        })
    }

    /// Returns the fingerprints of the keys that most rows have, two at least and `most` of them,
    /// and how many rows have each; the most frequent is the first.
    pub(crate) fn most_frequent(&self, most: usize) -> Result<Vec<([u8; 32], u64)>, Error> {
        let mut counts = Vec::new();
        for partition in 0..self.repeats.partitions() {
            let bytes = self.repeats.read(partition)?;
            let pairs: Vec<(u32, u32)> = repeats(&bytes).collect();
            let keys = pairs.chunk_by(|(_, a), (_, b)| a == b);
            counts.extend(keys.map(|rows| (1 + rows.len() as u64, rows[0].1, partition)));
        }
        counts.sort_by_key(|&(rows, first, _)| (Reverse(rows), first));
        let known = counts.into_iter().take(most);
        let key = |(rows, first, partition)| {
            let records = self.collected.partitions.read(partition)?;
            let mut numbers = 0..records.len() as u32;
            let record = numbers.find(|record| records.row(*record) == first);
            let record = record.expect("the first row that has a key");
            Ok((*records.fingerprint(record), rows))
        };
        known.map(key).collect()
    }
}

/// Ranks those of these items whose first rows are shared.
fn ranked(items: &Items, first_rows: &Bitmap, key: &[u8; 32]) -> Vec<Ranked> {
    let all = (0..).zip(&items.first_rows);
    let shared = all.filter(|(_, row)| first_rows.get((**row).into()));
    let shared: Vec<u32> = shared.map(|(item, _)| item).collect();
    aligned::ranked(key, shared.len(), &|place| {
        let item = shared[place] as usize;
        (items.fingerprints[item], items.first_rows[item])
    })
}

/// Returns the rows of a partition that repeat a key, and the first rows that have it, as they are
/// kept.
pub(super) fn written(repeats: &[[u32; 2]]) -> Vec<u8> {
    let rows = repeats.iter().flatten();
    rows.flat_map(|row| row.to_le_bytes()).collect()
}

/// Reads the rows of a partition that repeat a key, and the first rows that have it.
fn repeats(bytes: &[u8]) -> impl Iterator<Item = (u32, u32)> {
    let (rows, _) = bytes.as_chunks::<4>();
    let (pairs, _) = rows.as_chunks::<2>();
    pairs
        .iter()
        .map(|[row, first]| (u32::from_le_bytes(*row), u32::from_le_bytes(*first)))
}
