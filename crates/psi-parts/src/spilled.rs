use std::sync::Mutex;

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{DigestVec, Digests, okvs::Partition};
use psijoin_psi::{Error, Fingerprint, Plan, Role};
use psijoin_spill::{Budget, Folder, Store};

use crate::{Part, Table};

/// Bytes of a position.
const POSITION: usize = size_of::<u32>();

/// Bytes of a number.
const NUMBER: usize = size_of::<i64>();

/// A table that spills to disk beyond a budget of memory. Items come in any order, and are kept part by part.
///
/// Beside the budget it takes a bit per row. A [`Part`] that was asked for is the caller's.
pub struct Spilled<'a> {
    plan: &'a Plan,
    joint_seed: &'a JointSeed,
    /// Numbers per item.
    columns: usize,
    /// A partition per part. A record is an item's digest, position and numbers.
    parts: Store,
    rows: u32,
    /// A bit per row.
    found: Mutex<Vec<u64>>,
}

impl<'a> Spilled<'a> {
    /// An empty table of this party for a plan in parts. Items have positions below `rows`.
    ///
    /// # Errors
    /// [`Error::Table`] if the folder has no room for what the items of the plan's set take beyond the budget.
    ///
    /// # Panics
    /// If the plan is not in parts.
    pub fn new(
        plan: &'a Plan,
        role: Role,
        joint_seed: &'a JointSeed,
        rows: u32,
        budget: &Budget,
        folder: &Folder,
    ) -> Result<Self, Error> {
        let parts = plan.parts().expect("a plan in parts").shape.parts;
        let columns = plan.request().output.columns().of(role);
        let record_bytes = plan.digest_bytes() + POSITION + columns * NUMBER;
        let bytes = role.items(plan.request().sizes) * record_bytes as u64;
        let beyond = (budget.used() + bytes).saturating_sub(budget.limit());
        if beyond > 0 {
            folder.check_room(beyond).map_err(failed)?;
        }
        Ok(Self {
            plan,
            joint_seed,
            columns,
            parts: Store::new(parts as usize, record_bytes, budget, folder),
            rows,
            found: Mutex::new(vec![0; (rows as usize).div_ceil(64)]),
        })
    }

    /// Adds items: where each stands in the table, and for each column a number per item. Any number of threads may add at
    /// the same time. Some ten thousand items at a time are best: each part then gets a few kilobytes.
    ///
    /// # Errors
    /// [`Error::Table`] if what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// Unless there is a position below the number of rows for each item, and a number for each item in each of the
    /// plan's columns of this party.
    pub fn add(
        &self,
        fingerprints: &[Fingerprint],
        positions: &[u32],
        columns: &[&[i64]],
    ) -> Result<(), Error> {
        assert_eq!(fingerprints.len(), positions.len(), "a position per item");
        assert!(positions.iter().all(|row| *row < self.rows), "rows");
        assert_eq!(columns.len(), self.columns, "the plan's columns");
        assert!(
            columns.iter().all(|column| column.len() == positions.len()),
            "a number per item"
        );
        let items = self.plan.items(fingerprints, self.joint_seed);
        let by_part = Partition::by(
            items.digests(),
            self.parts.partitions() as u32,
            items.parts(),
        );
        let mut records = Vec::new();
        for (part, (digests, places)) in by_part.iter().enumerate() {
            records.clear();
            let tails = places.iter().map(|place| {
                let place = *place as usize;
                (
                    positions[place],
                    columns.iter().map(move |column| column[place]),
                )
            });
            match digests {
                Digests::Short(digests) => write(&mut records, digests, tails),
                Digests::Long(digests) => write(&mut records, digests, tails),
            }
            self.parts.append(part, &records).map_err(failed)?;
        }
        Ok(())
    }

    /// How many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.parts.spilled_bytes()
    }

    /// The rows that were found: a bit per row, the lowest of a word first.
    pub fn into_found(self) -> Vec<u64> {
        self.found.into_inner().expect("no panic")
    }
}

impl Table for Spilled<'_> {
    fn items(&self, part: u32) -> Option<u64> {
        Some(self.parts.records(part as usize))
    }

    fn part(&self, part: u32) -> Result<Part, Error> {
        let items = self.parts.records(part as usize) as usize;
        let (record_bytes, digest_bytes) = (self.parts.record_bytes(), self.plan.digest_bytes());
        let mut digests = DigestVec::zeroed(items, digest_bytes);
        let mut positions = Vec::with_capacity(items);
        let mut columns = vec![Vec::with_capacity(items); self.columns];
        self.parts
            .visit(part as usize, &mut |some| {
                let records = some.chunks_exact(record_bytes);
                match &mut digests {
                    DigestVec::Short(digests) => {
                        read(&mut digests[positions.len()..], records.clone());
                    }
                    DigestVec::Long(digests) => {
                        read(&mut digests[positions.len()..], records.clone());
                    }
                }
                for tail in records.map(|record| &record[digest_bytes..]) {
                    positions.push(u32::from_le_bytes(word(tail)));
                    let numbers = tail[POSITION..].chunks_exact(NUMBER);
                    for (column, number) in columns.iter_mut().zip(numbers) {
                        column.push(i64::from_le_bytes(word(number)));
                    }
                }
            })
            .map_err(failed)?;
        Ok(Part {
            items: digests.into(),
            positions,
            columns,
        })
    }

    fn found(&self, _part: u32, rows: &[u32]) -> Result<(), Error> {
        let mut found = self.found.lock().expect("no panic");
        for row in rows {
            found[*row as usize / 64] |= 1 << (row % 64);
        }
        Ok(())
    }
}

/// Appends records of these digests, and the position and the numbers that belong to each.
fn write<const D: usize>(
    records: &mut Vec<u8>,
    digests: &[[u8; D]],
    tails: impl Iterator<Item = (u32, impl Iterator<Item = i64>)>,
) {
    for (digest, (position, numbers)) in digests.iter().zip(tails) {
        records.extend_from_slice(digest);
        records.extend_from_slice(&position.to_le_bytes());
        numbers.for_each(|number| records.extend_from_slice(&number.to_le_bytes()));
    }
}

/// Reads the digests that records begin with.
fn read<'a, const D: usize>(digests: &mut [[u8; D]], records: impl Iterator<Item = &'a [u8]>) {
    for (digest, record) in digests.iter_mut().zip(records) {
        *digest = word(record);
    }
}

/// The first bytes.
fn word<const BYTES: usize>(bytes: &[u8]) -> [u8; BYTES] {
    *bytes.first_chunk().expect("records are long enough")
}

fn failed(error: psijoin_spill::Error) -> Error {
    Error::Table(Box::new(error))
}
