use std::{fmt, mem, sync::Arc};

use arrow_array::ArrayRef;

use super::{
    GivenColumns, PayloadLayout, RowPayloads,
    decode::Decoder,
    fault::Fault,
    ranges::{TakePayload, Took},
    rows::PayloadOfRow,
};
use crate::{Error, MatchingRows, keys::BlockStart};

/// Payloads that came from the other party: in memory, one after the other, or [by ranges of
/// rows](super::PayloadRanges).
///
/// Their length was agreed, so it bounds what they take. Their content may be anything: see
/// [`check`](Self::check).
#[derive(Clone)]
pub struct Payloads {
    layout: PayloadLayout,
    held: Held,
}

#[derive(Clone)]
enum Held {
    InMemory(Vec<u8>),
    /// The number of first rows.
    ByRows(Arc<RowPayloads>, usize),
}

impl Payloads {
    /// Payloads of this layout, one after the other.
    ///
    /// # Panics
    /// If the last one is cut off.
    pub fn new(layout: PayloadLayout, bytes: Vec<u8>) -> Self {
        let length = layout.payload_bytes();
        assert!(bytes.len().is_multiple_of(length), "whole payloads");
        Self {
            layout,
            held: Held::InMemory(bytes),
        }
    }

    /// Makes payloads of this layout for rows, this many of which are the first ones of their keys.
    pub(crate) fn by_rows(layout: PayloadLayout, payloads: RowPayloads, first_rows: usize) -> Self {
        Self {
            layout,
            held: Held::ByRows(Arc::new(payloads), first_rows),
        }
    }

    /// Returns the number: one for each key.
    pub fn len(&self) -> usize {
        match &self.held {
            Held::InMemory(bytes) => bytes.len() / self.layout.payload_bytes(),
            Held::ByRows(_, first_rows) => *first_rows,
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub(crate) fn layout(&self) -> &PayloadLayout {
        &self.layout
    }

    /// Checks that a sender that follows the protocol could have written them, as is checked when
    /// they are written as well.
    ///
    /// # Errors
    /// If it could not, and if what was spilled cannot be read.
    pub fn check(&self) -> Result<(), Error> {
        self.all(&mut |payload| {
            // One row at a time: those of a payload may take much more memory than it does.
            let check = |slot| Decoder::new(self.layout.columns().schema()).row(slot);
            let checked = self
                .layout
                .slots(payload)
                .and_then(|mut slots| slots.try_for_each(check));
            checked.map_err(|fault| self.error(fault, None))
        })
    }

    /// Returns what is wrong about a payload for this row of the table, if it is known for which.
    fn error(&self, fault: Fault, row: Option<u64>) -> Error {
        fault.of_the_other_party(self.layout.columns(), row)
    }

    /// Returns how many rows a payload has, for this row of the table, if it is known for which.
    fn rows_in(&self, payload: &[u8], row: Option<u64>) -> Result<u64, Error> {
        let slots = self.layout.slots(payload);
        let slots = slots.map_err(|fault| self.error(fault, row))?;
        Ok(slots.count() as u64)
    }

    /// Calls `take` with all of them: in memory, with one for each key, and otherwise, for each
    /// row.
    fn all(&self, take: &mut dyn FnMut(&[u8]) -> Result<(), Error>) -> Result<(), Error> {
        match &self.held {
            Held::InMemory(bytes) => {
                let mut payloads = bytes.chunks_exact(self.layout.payload_bytes());
                payloads.try_for_each(take)
            }
            Held::ByRows(payloads, _) => payloads.all(take),
        }
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
/// Takes a bit per row of the table, and 4 bytes if the payloads are in memory.
#[derive(Debug, Clone)]
pub struct PartnerRows<'a> {
    pub(crate) shared: MatchingRows<'a>,
    /// Nothing if payloads are kept by rows.
    payload_of: Option<PayloadOfRow>,
    /// The number of payloads.
    payloads: usize,
}

impl<'a> PartnerRows<'a> {
    pub(crate) fn new(payload_of: PayloadOfRow, payloads: usize, starts: &'a [BlockStart]) -> Self {
        let rows = payload_of.rows();
        Self {
            shared: MatchingRows { rows, starts },
            payload_of: Some(payload_of),
            payloads,
        }
    }

    /// Returns the rows of these keys, if the payloads are kept by rows.
    pub(crate) fn by_rows(shared: MatchingRows<'a>, payloads: usize) -> Self {
        Self {
            shared,
            payload_of: None,
            payloads,
        }
    }

    /// Returns how many rows are shared.
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

    /// Returns the most bytes that a row takes as typed columns.
    pub(crate) fn decoded_row_bytes(&self) -> u64 {
        self.payloads.layout.decoded_row_bytes()
    }

    /// Returns how many rows are written for all shared ones.
    pub(crate) fn shared_rows(&self) -> Result<u64, Error> {
        if !self.has_lists() {
            return Ok(self.rows.count());
        }
        let mut rows = 0;
        match &self.payloads.held {
            Held::InMemory(_) => {
                let shared = &self.rows.shared.rows;
                for row in shared.ones(0..shared.len()) {
                    rows += self.rows_for(row)?;
                }
            }
            Held::ByRows(payloads, _) => payloads.all(&mut |payload| {
                rows += self.payloads.rows_in(payload, None)?;
                Ok(())
            })?,
        }
        Ok(rows)
    }

    /// Returns whether several rows may be written for a row.
    pub(crate) fn has_lists(&self) -> bool {
        self.payloads.layout.most_rows() > 1
    }

    /// Returns how many rows are written for this row of the table: as many as the other party has,
    /// or one without a partner.
    pub(crate) fn rows_for(&self, row: u64) -> Result<u64, Error> {
        if !self.has_lists() || !self.rows.shared.rows.get(row) {
            return Ok(1);
        }
        let mut rows = 0;
        let mut count = |payload: &[u8]| {
            rows = self.payloads.rows_in(payload, Some(row))?;
            Ok(())
        };
        match &self.payloads.held {
            Held::InMemory(_) => count(self.in_memory(row).expect("a shared row"))?,
            Held::ByRows(payloads, _) => payloads.look(row, &mut count)?,
        }
        Ok(rows)
    }

    /// Returns the columns of these rows, without the first `skip` that are written for the first
    /// of them, and up to `most` in all; and how many these are for each.
    pub(crate) fn of(
        &self,
        rows: &[u64],
        mut skip: u64,
        most: u64,
    ) -> Result<(Vec<u64>, Vec<ArrayRef>), Error> {
        let mut decoder = Decoder::new(self.columns().schema());
        let mut counts = Vec::with_capacity(rows.len());
        let mut left = most;
        self.each(rows, &mut |payload| {
            if left == 0 {
                return Ok(Took::Less);
            }
            let error = |fault| self.payloads.error(fault, Some(rows[counts.len()]));
            let mut count = 0;
            let mut is_whole = true;
            match payload {
                None => {
                    decoder.nothing();
                    count = 1;
                }
                Some(payload) => {
                    let slots = self.payloads.layout.slots(payload).map_err(error)?;
                    for slot in slots.skip(mem::take(&mut skip) as usize) {
                        if count == left {
                            is_whole = false;
                            break;
                        }
                        decoder.row(slot).map_err(error)?;
                        count += 1;
                    }
                }
            }
            left -= count;
            counts.push(count);
            Ok(if is_whole { Took::All } else { Took::Less })
        })?;
        Ok((counts, decoder.finish()))
    }

    /// Calls `take` with the payload of each of these rows, in order, up to one that is not taken
    /// to its end; without one for a row that is not shared.
    fn each(&self, rows: &[u64], take: &mut TakePayload<'_>) -> Result<(), Error> {
        match &self.payloads.held {
            Held::InMemory(_) => {
                for row in rows {
                    if take(self.in_memory(*row))? == Took::Less {
                        break;
                    }
                }
                Ok(())
            }
            Held::ByRows(payloads, _) => payloads.each(rows, &self.rows.shared.rows, take),
        }
    }

    /// Returns the payload of a row, if it has one, of payloads in memory.
    ///
    /// # Panics
    /// If payloads are not, or rows and payloads do not belong together.
    fn in_memory(&self, row: u64) -> Option<&'a [u8]> {
        let (Held::InMemory(bytes), Some(payload_of)) =
            (&self.payloads.held, &self.rows.payload_of)
        else {
            panic!("rows and payloads that do not belong together");
        };
        let length = self.payloads.layout.payload_bytes();
        let payload = payload_of.get(row)?;
        Some(&bytes[payload as usize * length..][..length])
    }
}
