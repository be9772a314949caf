use std::fmt;

use arrow_array::ArrayRef;

use super::{GivenColumns, PayloadLayout, decode::Decoder, rows::PayloadOfRow};
use crate::{Error, MatchingRows, table::BlockStart};

/// Payloads that came from the other party, one after the other.
///
/// Their length was agreed, so it bounds what they take. Their content may be anything: see
/// [`check`](Self::check).
#[derive(Clone)]
pub struct Payloads {
    layout: PayloadLayout,
    bytes: Vec<u8>,
}

impl Payloads {
    /// Payloads of this layout.
    ///
    /// # Panics
    /// If the last one is cut off.
    pub fn new(layout: PayloadLayout, bytes: Vec<u8>) -> Self {
        let length = layout.payload_bytes();
        assert!(bytes.len().is_multiple_of(length), "whole payloads");
        Self { layout, bytes }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.bytes.len() / self.layout.payload_bytes()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(crate) fn layout(&self) -> &PayloadLayout {
        &self.layout
    }

    /// Checks that a sender that follows the protocol could have written them, as is checked when they are
    /// written as well.
    ///
    /// # Errors
    /// If it could not.
    pub fn check(&self) -> Result<(), Error> {
        let payloads = self.bytes.chunks_exact(self.layout.payload_bytes());
        for payload in payloads {
            let mut decoder = Decoder::new(self.layout.columns().schema());
            let mut slots = self.layout.slots(payload)?;
            slots.try_for_each(|slot| decoder.row(slot))?;
            decoder.finish()?;
        }
        Ok(())
    }

    /// The slots of a payload that have rows.
    fn slots(&self, payload: u32) -> Result<impl Iterator<Item = &[u8]>, Error> {
        let length = self.layout.payload_bytes();
        self.layout
            .slots(&self.bytes[payload as usize * length..][..length])
    }
}

/// Without what is in them.
impl fmt::Debug for Payloads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Payloads")
            .field("layout", &self.layout)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

/// The shared rows of a table, and the payload that each has from the other party.
///
/// Takes 4 bytes and a bit per row of the table.
#[derive(Debug, Clone)]
pub struct PartnerRows<'a> {
    pub(crate) shared: MatchingRows<'a>,
    payload_of: PayloadOfRow,
    /// How many payloads there are.
    payloads: usize,
}

impl<'a> PartnerRows<'a> {
    pub(crate) fn new(payload_of: PayloadOfRow, payloads: usize, starts: &'a [BlockStart]) -> Self {
        let rows = payload_of.rows();
        Self {
            shared: MatchingRows { rows, starts },
            payload_of,
            payloads,
        }
    }

    /// How many rows are shared.
    pub fn count(&self) -> u64 {
        self.shared.count()
    }
}

/// The other party's columns of shared rows.
#[derive(Clone, Copy)]
pub(crate) struct Partner<'a> {
    rows: &'a PartnerRows<'a>,
    payloads: &'a Payloads,
}

impl<'a> Partner<'a> {
    /// # Panics
    /// Unless there are as many payloads as shared items.
    pub(crate) fn new(rows: &'a PartnerRows<'a>, payloads: &'a Payloads) -> Self {
        assert_eq!(
            rows.payloads,
            payloads.len(),
            "a payload for each shared item"
        );
        Self { rows, payloads }
    }

    pub(crate) fn columns(&self) -> &GivenColumns {
        self.payloads.layout.columns()
    }

    /// How many rows are written for this one: as many as the other party has, or one without a partner.
    fn rows_of(&self, row: u64) -> Result<u64, Error> {
        match self.rows.payload_of.get(row) {
            Some(payload) => Ok(self.payloads.slots(payload)?.count() as u64),
            None => Ok(1),
        }
    }

    /// How many rows are written for all shared ones.
    pub(crate) fn shared_rows(&self) -> Result<u64, Error> {
        let pairs = self.rows.payload_of.pairs();
        pairs.map(|(row, _)| self.rows_of(row)).sum()
    }

    /// The columns of these rows, and how many rows are written for each of them.
    pub(crate) fn of(&self, rows: &[u64]) -> Result<(Vec<u64>, Vec<ArrayRef>), Error> {
        let mut decoder = Decoder::new(self.columns().schema());
        for &row in rows {
            match self.rows.payload_of.get(row) {
                Some(payload) => {
                    let mut slots = self.payloads.slots(payload)?;
                    slots.try_for_each(|slot| decoder.row(slot))?;
                }
                None => decoder.nothing(),
            }
        }
        let counts = rows.iter().map(|row| self.rows_of(*row));
        Ok((counts.collect::<Result<_, _>>()?, decoder.finish()?))
    }
}
