use std::sync::Mutex;

use psijoin_encode::{DigestVec, okvs::Partition};
use psijoin_psi::{Error, Input, Items, Output, output};

/// A party's table, part by part: nothing needs all of it in memory.
///
/// Several parts are asked for at the same time if there are several streams, each once.
pub trait Table: Sync {
    /// How many items are in this part, if that is known before the part is asked for. A part that has no room for its
    /// items then ends the session before anything is sent.
    fn items(&self, _part: u32) -> Option<u64> {
        None
    }

    /// The party's items in this part, as [`Plan::items`](psijoin_psi::Plan::items) sorts them into
    /// parts.
    ///
    /// # Errors
    /// If they cannot be had.
    fn part(&self, part: u32) -> Result<Part, Error>;

    /// These rows of the part are shared: [positions](Part::positions) of items. Called for a receiver
    /// that is to learn rows, when the part is done, or when all are if rows may be withheld.
    ///
    /// # Errors
    /// If they cannot be kept.
    fn found(&self, part: u32, rows: &[u32]) -> Result<(), Error>;
}

/// A party's items in a part.
pub struct Part {
    /// Their digests.
    pub items: Items,
    /// Where each of them stands in the table.
    pub positions: Vec<u32>,
    /// One number per item for each of the party's columns.
    pub columns: Vec<Vec<i64>>,
}

/// A table in memory, sorted by parts.
pub struct InMemory<'a> {
    columns: &'a [Vec<i64>],
    parts: Partition,
    found: Mutex<Vec<u32>>,
}

impl<'a> InMemory<'a> {
    /// Sorts a party's items into this number of parts.
    pub fn new(input: &Input<'a>, parts: u32) -> Self {
        let items = input.items;
        Self {
            columns: input.columns,
            parts: Partition::by(items.digests(), parts, items.parts()),
            found: Mutex::default(),
        }
    }

    /// All rows that were found.
    pub(crate) fn rows(self) -> Output {
        let found = self.found.into_inner().unwrap_or_default();
        Output::Rows(output::ascending(found, self.parts.digests().len()))
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
        Ok(Part {
            items: DigestVec::from(digests).into(),
            positions: positions.to_vec(),
            columns: self.columns.iter().map(numbers).collect(),
        })
    }

    fn found(&self, _part: u32, rows: &[u32]) -> Result<(), Error> {
        self.found.lock().expect("no panic").extend(rows);
        Ok(())
    }
}
