use super::RepeatedKeys;
use crate::{
    Error, ShareError,
    keys::{BlockStart, bitmap::Bitmap},
};

/// A row without a payload. There are fewer payloads than that.
const NONE: u32 = u32::MAX;

/// The payload of each row of a table.
#[derive(Debug, Clone)]
pub(crate) struct PayloadOfRow(Vec<u32>);

impl PayloadOfRow {
    /// Makes one without a payload for any of these rows.
    pub(crate) fn new(rows: u64) -> Self {
        Self(vec![NONE; rows as usize])
    }

    /// Returns a payload for each of these rows, in their order.
    pub(crate) fn of(rows: u64, with_payload: impl IntoIterator<Item = u32>) -> Self {
        let mut payload_of = Self::new(rows);
        for (row, payload) in with_payload.into_iter().zip(0..) {
            payload_of.set(row, payload);
        }
        payload_of
    }

    pub(crate) fn set(&mut self, row: u32, payload: u32) {
        self.0[row as usize] = payload;
    }

    pub(crate) fn get(&self, row: u64) -> Option<u32> {
        Some(self.0[row as usize]).filter(|payload| *payload != NONE)
    }

    /// Returns the rows with a payload, each with it.
    pub(super) fn pairs(&self) -> impl Iterator<Item = (u64, u32)> {
        let pairs = (0..).zip(self.0.iter().copied());
        pairs.filter(|(_, payload)| *payload != NONE)
    }

    /// Returns which rows have a payload.
    pub(crate) fn rows(&self) -> Bitmap {
        let mut rows = Bitmap::new(self.0.len() as u64);
        self.pairs().for_each(|(row, _)| rows.set(row));
        rows
    }
}

/// The rows of a table whose columns are given, and the key that each belongs to.
///
/// Takes 4 bytes and a bit per row of the table.
#[derive(Debug, Clone)]
pub struct GivenRows<'a> {
    pub(super) payload_of: PayloadOfRow,
    pub(super) rows: Bitmap,
    /// The number of payloads: one for each key.
    pub(super) payloads: usize,
    /// The most rows of a key.
    pub(super) most: u16,
    /// The places of a text's rows.
    pub(super) starts: &'a [BlockStart],
}

impl<'a> GivenRows<'a> {
    /// Returns those of all rows with a key that are given. `payload_of` has the key of each as its
    /// payload.
    pub(crate) fn new(
        mut payload_of: PayloadOfRow,
        payloads: usize,
        starts: &'a [BlockStart],
        repeated: RepeatedKeys,
    ) -> Result<Self, Error> {
        let further = beyond(&payload_of, payloads, repeated.slots());
        match (repeated, &further[..]) {
            (RepeatedKeys::Refuse, [first, ..]) => {
                return Err(Error::Share(ShareError::RepeatedKeys {
                    rows: further.len() as u64,
                    first: Some(u64::from(*first) + 1),
                }));
            }
            (RepeatedKeys::List(most), [first, ..]) => {
                return Err(Error::Share(ShareError::TooManyRepeated {
                    row: Some(u64::from(*first) + 1),
                    most: most.get(),
                }));
            }
            _ => further.iter().for_each(|&row| payload_of.set(row, NONE)),
        }
        Ok(Self {
            rows: payload_of.rows(),
            payload_of,
            payloads,
            most: repeated.slots(),
            starts,
        })
    }
}

/// Returns the rows that come after as many others of their key as may have one payload.
fn beyond(payload_of: &PayloadOfRow, payloads: usize, most: u16) -> Vec<u32> {
    let mut counts = vec![0_u16; payloads];
    let mut is_beyond = |payload: u32| {
        let count = &mut counts[payload as usize];
        let is_beyond = *count == most;
        *count += u16::from(!is_beyond);
        is_beyond
    };
    let pairs = payload_of.pairs();
    pairs
        .filter(|(_, payload)| is_beyond(*payload))
        .map(|(row, _)| row as u32)
        .collect()
}
