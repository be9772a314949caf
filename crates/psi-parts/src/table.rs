use std::sync::Mutex;

use psijoin_encode::{DigestBuffer, okvs::Partition};
use psijoin_psi::{Error, Input, Items, Matched, Output, output};

/// A party's table, part by part: nothing needs all of it in memory.
///
/// Several parts are asked for at the same time if there are several streams, each once.
pub trait Table: Sync {
    /// Returns how many items are in this part, if that is known before the part is asked for. A
    /// part that has no room for its items then ends the session before anything is sent.
    fn items(&self, _part: u32) -> Option<u64> {
        None
    }

    /// Returns the party's items in this part, as [`Plan::items`](psijoin_psi::Plan::items) sorts
    /// them into parts.
    ///
    /// # Errors
    /// If they cannot be had.
    fn part(&self, part: u32) -> Result<Part, Error>;

    /// Takes the rows of the part that are shared: [positions](Part::positions) of items, and the
    /// other party's payloads of them, one after the other, if it gives any. Called for a party
    /// that is to learn rows, when the part is done, or when all are if rows may be withheld.
    ///
    /// # Errors
    /// If they cannot be kept.
    fn found(&self, part: u32, rows: &[u32], payloads: &[u8]) -> Result<(), Error>;
}

/// A party's items in a part.
pub struct Part {
    /// Their digests.
    pub items: Items,
    /// The position of each of them in the table.
    pub positions: Vec<u32>,
    /// One number per item for each of the party's columns.
    pub columns: Vec<Vec<i64>>,
    /// The payloads that the party gives, item by item.
    pub payloads: Vec<u8>,
}

/// A table in memory, sorted by parts.
pub struct InMemory<'a> {
    columns: &'a [Vec<i64>],
    payloads: &'a [u8],
    parts: Partition,
    found: Mutex<Matched>,
}

impl<'a> InMemory<'a> {
    /// Sorts a party's items into this number of parts.
    pub fn new(input: &Input<'a>, parts: u32) -> Self {
        let items = input.items;
        Self {
            columns: input.columns,
            payloads: input.payloads,
            parts: Partition::by(items.digests(), parts, items.parts()),
            found: Mutex::default(),
        }
    }

    /// Returns the number of bytes of a payload of this party.
    fn payload_bytes(&self) -> usize {
        let items = self.parts.digests().len();
        self.payloads.len().checked_div(items).unwrap_or(0)
    }

    /// Returns all rows that were found.
    pub(crate) fn rows(self) -> Output {
        let items = self.parts.digests().len();
        let found = self.found.into_inner().expect("no panic");
        Output::Rows(output::ascending(found.rows, items))
    }

    /// Returns all rows that were found, with the other party's payloads.
    pub(crate) fn matched(self) -> Output {
        let items = self.parts.digests().len();
        let Matched { rows, payloads } = self.found.into_inner().expect("no panic");
        let bytes = payloads.len().checked_div(rows.len()).unwrap_or(0);
        Output::Matched(Matched::in_order(rows, items, &payloads, bytes))
    }
}

impl Table for InMemory<'_> {
    fn items(&self, part: u32) -> Option<u64> {
        let (digests, _) = self.parts.bin(part as usize);
        Some(digests.len() as u64)
    }

    fn part(&self, part: u32) -> Result<Part, Error> {
        let (digests, positions) = self.parts.bin(part as usize);
        let numbers = |column: &Vec<i64>| {
            let numbers = positions.iter().map(|position| column[*position as usize]);
            numbers.collect()
        };
        let bytes = self.payload_bytes();
        let payload = |position: &u32| &self.payloads[*position as usize * bytes..][..bytes];
        Ok(Part {
            items: DigestBuffer::from(digests).into(),
            positions: positions.to_vec(),
            columns: self.columns.iter().map(numbers).collect(),
            payloads: positions.iter().flat_map(payload).copied().collect(),
        })
    }

    fn found(&self, _part: u32, rows: &[u32], payloads: &[u8]) -> Result<(), Error> {
        let mut found = self.found.lock().expect("no panic");
        found.rows.extend_from_slice(rows);
        found.payloads.extend_from_slice(payloads);
        Ok(())
    }
}
