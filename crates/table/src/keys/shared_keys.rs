//! The shared keys and rows of a table.

use super::bitmap::Bitmap;
use crate::share::PayloadRanges;

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

/// The shared keys of a table, as a protocol found them, each by the first row that has it; and
/// what the other party gave for each, if it gave something.
pub enum SharedKeys {
    /// All at once.
    InMemory {
        /// The first rows.
        first_rows: Vec<u32>,
        /// The payloads in this order, one after the other.
        payloads: Vec<u8>,
    },
    /// By rows of the table.
    ByRows {
        /// A bit per row, the lowest of a word first.
        first_rows: Vec<u64>,
        /// The payloads of these rows.
        payloads: Option<Box<dyn PayloadRanges>>,
    },
}

impl SharedKeys {
    /// Returns the number of keys.
    pub fn count(&self) -> u64 {
        match self {
            Self::InMemory { first_rows, .. } => first_rows.len() as u64,
            Self::ByRows { first_rows, .. } => {
                let words = first_rows.iter();
                words.map(|word| u64::from(word.count_ones())).sum()
            }
        }
    }

    /// Returns the first rows in a table that has so many.
    pub(super) fn into_rows(self, rows: u64) -> Bitmap {
        match self {
            Self::InMemory { first_rows, .. } => {
                let mut bits = Bitmap::new(rows);
                first_rows.into_iter().for_each(|row| bits.set(row.into()));
                bits
            }
            Self::ByRows { first_rows, .. } => Bitmap::from_words(first_rows, rows),
        }
    }
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
