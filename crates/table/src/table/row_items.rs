//! The row of a table for each key.

use super::bitmap::Bitmap;
use crate::{
    AlignedRows, Error,
    share::{GivenRows, PartnerRows, PayloadOfRow, RepeatedKeys},
    write::alignment,
};

/// The row of a table for each of its distinct keys, the items.
///
/// Takes 4 bytes per item, and 8 per row whose key an earlier row has.
#[derive(Debug, Clone)]
pub struct RowItems {
    pub(super) rows: u64,
    pub(super) first: Vec<u32>,
    pub(super) repeated: Vec<(u32, u32)>,
    /// The places of a text's rows, block by block.
    pub(super) starts: Vec<BlockStart>,
}

/// The beginning of some rows of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockStart {
    /// The file among those of the table, from 0.
    pub(crate) part: u32,
    /// The number of its bytes, in UTF-8, that are before.
    pub(crate) byte: u64,
    /// The first row, of the table, from 0.
    pub(crate) row: u64,
    /// `true` if the row before, or the header, ends in CRLF.
    pub(crate) is_after_crlf: bool,
}

/// The rows of a table that match.
#[derive(Debug, Clone)]
pub struct MatchingRows<'a> {
    pub(crate) rows: Bitmap,
    /// The places of a text's rows: the beginning of each block that has rows.
    pub(crate) starts: &'a [BlockStart],
}

impl MatchingRows<'_> {
    /// Returns their number.
    pub fn count(&self) -> u64 {
        self.rows.count()
    }
}

/// Tables are equal if their rows hold the same items, wherever the rows are in their files.
impl PartialEq for RowItems {
    fn eq(&self, other: &Self) -> bool {
        let Self {
            rows,
            first,
            repeated,
            starts: _,
        } = self;
        (rows, first, repeated) == (&other.rows, &other.first, &other.repeated)
    }
}

impl Eq for RowItems {}

impl RowItems {
    /// Returns how many rows the table has.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Returns the first row of each item, from 0.
    pub fn first_rows(&self) -> &[u32] {
        &self.first
    }

    /// Returns all further rows with a key, each with its item, in the order of items, and of rows
    /// within each. The rows that are missing here and among the first ones were left out.
    pub fn repeated(&self) -> &[(u32, u32)] {
        &self.repeated
    }

    /// Returns the rows whose columns are given to the other party, with a payload for each item.
    ///
    /// # Errors
    /// If rows repeat a key, and that is refused, or more do than are given.
    pub fn given(&self, repeated: RepeatedKeys) -> Result<GivenRows<'_>, Error> {
        let mut payload_of = PayloadOfRow::new(self.rows);
        for (&row, item) in self.first.iter().zip(0..) {
            payload_of.set(row, item);
        }
        for &(row, item) in &self.repeated {
            payload_of.set(row, item);
        }
        GivenRows::new(payload_of, self.first.len(), &self.starts, repeated)
    }

    /// Returns the rows of these items. They are shared, and the other party gives a payload for
    /// each, in this order.
    ///
    /// # Panics
    /// If there is no such item.
    pub fn partners(&self, shared: &[u32]) -> PartnerRows<'_> {
        const UNSHARED: u32 = u32::MAX;
        let mut payloads = vec![UNSHARED; self.first.len()];
        for (&item, payload) in shared.iter().zip(0..) {
            payloads[item as usize] = payload;
        }
        let mut payload_of = PayloadOfRow::new(self.rows);
        let first = self.first.iter().copied().zip(0..);
        for (row, item) in first.chain(self.repeated.iter().copied()) {
            if payloads[item as usize] != UNSHARED {
                payload_of.set(row, payloads[item as usize]);
            }
        }
        PartnerRows::new(payload_of, shared.len(), &self.starts)
    }

    /// Checks that rows can be [aligned](Self::aligned), given what becomes of those that repeat a
    /// key.
    ///
    /// # Errors
    /// If rows repeat a key, and that is refused, or a list of them is to be written.
    pub fn check_alignable(&self, repeated: RepeatedKeys) -> Result<(), Error> {
        let rows = self.repeated.iter().map(|(row, _)| *row);
        alignment::check_repeated(repeated, rows.len() as u64, || {
            Ok(rows.min().expect("there are some"))
        })
    }

    /// Returns the first rows of these items, which are shared, in the order that the other party
    /// has, too: given the fingerprints of all items, and a key that both parties know. If the
    /// other party gives payloads, they are one for each shared item, in the order of `shared`.
    ///
    /// The threads of the caller's pool do the work.
    ///
    /// # Panics
    /// If there is no such item, or not one fingerprint for each item.
    pub fn aligned(
        &self,
        fingerprints: &[[u8; 32]],
        shared: &[u32],
        key: &[u8; 32],
    ) -> AlignedRows<'_> {
        assert_eq!(
            fingerprints.len(),
            self.first.len(),
            "one fingerprint for each distinct key"
        );
        let ranked = alignment::ranked(key, shared.len(), &|place| {
            let item = shared[place] as usize;
            (fingerprints[item], self.first[item])
        });
        let rows = shared.iter().map(|&item| self.first[item as usize]);
        let payload_of = PayloadOfRow::of(self.rows, rows);
        let rows = PartnerRows::new(payload_of, shared.len(), &self.starts);
        AlignedRows::new(rows, ranked)
    }

    /// Returns the rows that match, given which items do.
    ///
    /// # Panics
    /// If there is not one flag for each item.
    pub fn matching(&self, matched: &[bool]) -> MatchingRows<'_> {
        assert_eq!(
            matched.len(),
            self.first.len(),
            "one flag for each distinct key"
        );
        let mut rows = Bitmap::new(self.rows);
        for (&row, _) in self
            .first
            .iter()
            .zip(matched)
            .filter(|(_, matched)| **matched)
        {
            rows.set(row.into());
        }
        for &(row, item) in &self.repeated {
            if matched[item as usize] {
                rows.set(row.into());
            }
        }
        MatchingRows {
            rows,
            starts: &self.starts,
        }
    }
}
