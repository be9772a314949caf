//! The rows that a portion's keys have for the other party, on their way to the lanes.
//!
//! A key has a *cell*: the most rows that it may have, in two bytes, or 0 if the first one counts;
//! and then each row as payloads have it, behind its length in two bytes. Its columns are those
//! that the table offers, of which the other party takes some later. So cells of one key can be
//! joined by whoever knows nothing of columns.

use std::fmt;

use arrow_array::RecordBatch;
use psijoin_source::{Progress, Source};

use super::{binary::each_value, fault::PortionFault, offered::Offered};
use crate::{
    Error, ShareError, TableKeys,
    share::{GivenColumns, GivenRows, MAX_PAYLOAD_BYTES, RepeatedKeys, Values},
};

/// The column of cells.
pub const GIVEN: &str = "given";

/// The cells of keys, in their order.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct KeyRows {
    bytes: Vec<u8>,
    /// Where the cell of each key ends.
    ends: Vec<usize>,
}

impl KeyRows {
    /// Reads the rows of all keys of a portion, in these columns, and what is known of them.
    pub(super) fn read(
        source: &Source,
        keys: &TableKeys,
        (names, repeated): (&[String], RepeatedKeys),
        progress: &Progress,
    ) -> Result<(Self, Offered), Error> {
        let columns = GivenColumns::of(source, names)?;
        let mut offered = Offered::new(columns.clone(), repeated);
        let mut values = Values::of(&columns);
        let (mut bytes, mut rows) = (Vec::new(), Vec::new());
        rows_of(keys, repeated)?.each_row(
            source,
            &columns,
            MAX_PAYLOAD_BYTES,
            progress,
            &mut |key, row| {
                offered.add(values.find(row).expect("a row of these columns"));
                let start = bytes.len();
                bytes.extend_from_slice(row);
                rows.push((key, start..bytes.len()));
                Ok(())
            },
        )?;
        // Rows of one key stay in the table's order.
        rows.sort_by_key(|(key, _)| *key);
        let mut all = Self::default();
        for of_key in rows.chunk_by(|(a, _), (b, _)| a == b) {
            all.bytes.extend(repeated.listed().to_le_bytes());
            for (_, row) in of_key {
                all.add_row(&bytes[row.clone()]);
            }
            all.ends.push(all.bytes.len());
        }
        Ok((all, offered))
    }

    /// Returns the cells of a batch with a column [`GIVEN`].
    ///
    /// # Errors
    /// [`PortionFault::Given`].
    pub(super) fn of_batch(batch: &RecordBatch) -> Result<Self, PortionFault> {
        let column = batch.column_by_name(GIVEN).ok_or(PortionFault::Given)?;
        let mut cells = Self::default();
        let read = each_value(column, &mut |cell| {
            cells.bytes.extend_from_slice(cell);
            cells.ends.push(cells.bytes.len());
            Some(())
        });
        read.ok_or(PortionFault::Given)?;
        Ok(cells)
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns the cell of a key.
    ///
    /// # Panics
    /// If there is no such key.
    pub(super) fn cell(&self, key: usize) -> &[u8] {
        let start = key.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.bytes[start..self.ends[key]]
    }

    /// Adds the cells of further keys.
    pub(super) fn extend(&mut self, more: &Self) {
        let before = self.bytes.len();
        self.bytes.extend_from_slice(&more.bytes);
        self.ends.extend(more.ends.iter().map(|end| before + end));
    }

    /// Adds a cell that has all rows of those of these keys, in this order.
    ///
    /// # Errors
    /// If they have more rows than a key may have, or are no cells.
    pub(super) fn add_merged(&mut self, of: &Self, keys: &[usize]) -> Result<(), Error> {
        let mut most = None;
        let mut count = 0;
        for key in keys {
            let (of_cell, rows) = read_cell(of.cell(*key))?;
            match most {
                None => self.bytes.extend(of_cell.to_le_bytes()),
                Some(most) if most == of_cell => {}
                Some(_) => return Err(PortionFault::OtherGiven.into()),
            }
            most = Some(of_cell);
            for row in rows {
                let row = row?;
                match (of_cell, count) {
                    (0, 1) => break,
                    (1.., _) if count == of_cell => return Err(too_many(of_cell)),
                    _ => {}
                }
                self.add_row(row);
                count += 1;
            }
        }
        self.ends.push(self.bytes.len());
        Ok(())
    }

    fn add_row(&mut self, row: &[u8]) {
        let length = u16::try_from(row.len()).expect("no longer than a payload");
        self.bytes.extend(length.to_le_bytes());
        self.bytes.extend_from_slice(row);
    }
}

/// Without what is in them.
impl fmt::Debug for KeyRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KeyRows")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// Returns the rows that are given of a portion. Whether keys may be repeated at all is a matter of
/// the whole table, and so is the number of a row.
fn rows_of(keys: &TableKeys, repeated: RepeatedKeys) -> Result<GivenRows<'_>, Error> {
    let of_portion = match repeated {
        RepeatedKeys::Refuse => RepeatedKeys::First,
        repeated => repeated,
    };
    keys.given(of_portion).map_err(|error| match error {
        Error::Share(ShareError::TooManyRepeated { most, .. }) => too_many(most),
        error => error,
    })
}

fn too_many(most: u16) -> Error {
    Error::Share(ShareError::TooManyRepeated { row: None, most })
}

/// Returns the most rows of a cell's key, and its rows.
///
/// # Errors
/// [`PortionFault::Given`].
pub(super) fn read_cell(cell: &[u8]) -> Result<(u16, CellRows<'_>), PortionFault> {
    let (most, rows) = cell.split_first_chunk().ok_or(PortionFault::Given)?;
    Ok((u16::from_le_bytes(*most), CellRows(rows)))
}

/// The rows of a cell.
pub(super) struct CellRows<'a>(&'a [u8]);

impl<'a> Iterator for CellRows<'a> {
    type Item = Result<&'a [u8], PortionFault>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let row = self
            .0
            .split_first_chunk()
            .and_then(|(length, rest)| rest.split_at_checked(u16::from_le_bytes(*length).into()));
        let (row, rest) = row.map_or((Err(PortionFault::Given), &[][..]), |(row, rest)| {
            (Ok(row), rest)
        });
        self.0 = rest;
        Some(row)
    }
}
