use std::{
    mem,
    ops::Range,
    sync::{Arc, Mutex, MutexGuard},
};

use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{DigestBuffer, Digests, okvs::Partition};
use psijoin_files::spill::{Spill, Store};
use psijoin_psi::{Error, Fingerprint, Matched, Parts, Plan, Role};

use crate::{Part, Table};

/// Bytes of a position.
const POSITION: usize = size_of::<u32>();

/// Bytes of a number.
const NUMBER: usize = size_of::<i64>();

/// A table that spills to disk beyond a budget of memory. Items come in any order, and are kept
/// part by part.
///
/// The items of a [`Part`] are in an order that follows from [what was added](Self::add), and
/// neither from when it was, nor from what was spilled.
///
/// Beside the budget it takes a bit per row, and 12 bytes for each part that gets something of what
/// is added at a time. A part that was asked for is the caller's.
pub struct Spilled {
    session: Arc<Parts>,
    joint_seed: JointSeed,
    /// Numbers per item.
    columns: usize,
    /// Bytes of the payload that this party gives for each item.
    payload_bytes: usize,
    /// Bytes of the payload that the other party gives.
    given_bytes: usize,
    /// A partition per part. A record is an item's digest, position, numbers and payload.
    parts: Store,
    /// Of each part, what was added at a time.
    runs: Vec<Runs>,
    rows: u32,
    found: Mutex<Vec<u64>>,
    given: Option<Given>,
    /// The place of the payloads.
    spill: Spill,
}

/// The rows that a session found.
pub struct Found {
    /// A bit per row, the lowest of a word first.
    pub rows: Vec<u64>,
    /// The other party's payload for each of these rows, if it sends any.
    pub given: Option<Given>,
}

/// The other party's payloads, which spill as items do. They are kept by [ranges](Self::range_rows)
/// of rows.
pub struct Given {
    /// A partition per range. A record is a row and its payload.
    ranges: Store,
    range_rows: u32,
}

/// A range takes about this much memory at most, as whoever goes through the rows has one of them,
/// or a few...
const RANGE_BYTES: usize = 1 << 22;
/// ...but there are no more ranges than this...
const MOST_RANGES: u32 = 1 << 12;
/// ...and if payloads are short, no more rows in one than this.
const RANGE_ROWS: u32 = 1 << 18;

/// Returns the number of rows in a range of [`Given`], for a table with this many rows and payloads
/// of this many bytes.
pub fn given_range_rows(rows: u64, payload_bytes: usize) -> u64 {
    let fitting = (RANGE_BYTES / (POSITION + payload_bytes)) as u64;
    let fitting = fitting.clamp(1, RANGE_ROWS.into());
    fitting.max(rows.div_ceil(MOST_RANGES.into()))
}

impl Given {
    fn new(rows: u32, bytes: usize, spill: &Spill) -> Self {
        let record_bytes = POSITION + bytes;
        let range_rows = given_range_rows(rows.into(), bytes) as u32;
        let ranges = rows.div_ceil(range_rows) as usize;
        Self {
            ranges: Store::new(ranges, record_bytes, spill),
            range_rows,
        }
    }

    /// Returns how many rows a range has. The last one may have fewer.
    pub fn range_rows(&self) -> u32 {
        self.range_rows
    }

    /// Returns the number of ranges.
    pub fn ranges(&self) -> usize {
        self.ranges.partitions()
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.ranges.spilled_bytes()
    }

    /// Returns the rows of a range that were found, and their payloads.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If there is no such range.
    pub fn read(&self, range: usize) -> Result<Matched, psijoin_files::spill::Error> {
        let records = self.ranges.read(range)?;
        let records = || records.chunks_exact(self.ranges.record_bytes());
        let first = range as u32 * self.range_rows;
        let payloads: Vec<&[u8]> = records().map(|record| &record[POSITION..]).collect();
        let positions = records().map(|record| u32::from_le_bytes(word(record)) - first);
        let bytes = self.ranges.record_bytes() - POSITION;
        let len = self.range_rows as usize;
        let mut found = Matched::in_order(positions, len, &payloads.concat(), bytes);
        found.rows.iter_mut().for_each(|row| *row += first);
        Ok(found)
    }

    /// Adds payloads of rows.
    fn add(&self, rows: &[u32], payloads: &[u8]) -> Result<(), Error> {
        let bytes = self.ranges.record_bytes() - POSITION;
        // Those of one range at a time, as all of them may take much memory already.
        let mut places: Vec<u32> = (0..rows.len() as u32).collect();
        let range_of = |place: &u32| rows[*place as usize] / self.range_rows;
        places.sort_by_key(range_of);
        let mut records = Vec::new();
        for places in places.chunk_by(|a, b| range_of(a) == range_of(b)) {
            records.clear();
            for place in places {
                let place = *place as usize;
                records.extend_from_slice(&rows[place].to_le_bytes());
                records.extend_from_slice(&payloads[place * bytes..][..bytes]);
            }
            let range = range_of(&places[0]) as usize;
            self.ranges.append(range, &records)?;
        }
        Ok(())
    }
}

impl Spilled {
    /// Returns an empty table of this party for a plan in parts. Items have positions below `rows`.
    ///
    /// # Errors
    /// [`Error::Table`] if the folder has no room for what the items of the plan's set take beyond
    /// the budget, and what the other party gives if all are shared that can be.
    ///
    /// # Panics
    /// If the plan is not in parts.
    pub fn new(
        plan: &Plan,
        role: Role,
        joint_seed: &JointSeed,
        rows: u32,
        spill: &Spill,
    ) -> Result<Self, Error> {
        let given_bytes = payload_bytes(plan, role.other());
        let of_a_row = match given_bytes {
            0 => 0,
            bytes => (POSITION + bytes) as u64,
        };
        let bytes = all_bytes(plan, role) + plan.request().sizes.smaller() * of_a_row;
        spill.check_room(bytes)?;
        let session = plan.parts().expect("a plan in parts").clone();
        let mut table = Self {
            session,
            joint_seed: *joint_seed,
            columns: columns(plan, role),
            payload_bytes: payload_bytes(plan, role),
            given_bytes,
            parts: Store::new(parts(plan), record_bytes(plan, role), spill),
            runs: (0..parts(plan)).map(|_| Runs::default()).collect(),
            rows,
            found: Mutex::default(),
            given: None,
            spill: spill.clone(),
        };
        // Room for what will be found.
        table.take_found();
        Ok(table)
    }

    /// Returns how many bytes of this party's items lie on disk at most, once all were added with a
    /// budget of `limit` bytes.
    ///
    /// # Panics
    /// If the plan is not in parts.
    pub fn most_spilled(plan: &Plan, role: Role, limit: u64) -> u64 {
        Store::most_spilled(parts(plan), all_bytes(plan, role), limit)
    }

    /// Adds items: where each stands in the table, for each column a number per item, and the
    /// payloads of all, one after the other. Any number of threads may add at the same time. Some
    /// hundred items for each part at a time are best: it then gets a few kilobytes.
    ///
    /// Within a part, items that are added at a time stay in their order, and come before those
    /// whose first position is greater.
    ///
    /// # Errors
    /// [`Error::Table`] if what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// Unless there is a position below the number of rows for each item, a number for each item in
    /// each of the plan's columns of this party, and a payload of the plan's length.
    pub fn add(
        &self,
        fingerprints: &[Fingerprint],
        positions: &[u32],
        columns: &[&[i64]],
        payloads: &[u8],
    ) -> Result<(), Error> {
        assert_eq!(fingerprints.len(), positions.len(), "a position per item");
        assert!(positions.iter().all(|row| *row < self.rows), "rows");
        assert_eq!(columns.len(), self.columns, "the plan's columns");
        assert!(
            columns.iter().all(|column| column.len() == positions.len()),
            "a number per item"
        );
        let payload_bytes = self.payload_bytes;
        assert_eq!(
            payloads.len(),
            positions.len() * payload_bytes,
            "a payload per item"
        );
        let items = self.session.items(fingerprints, &self.joint_seed);
        let by_part = Partition::by(
            items.digests(),
            self.parts.partitions() as u32,
            items.parts(),
        );
        let mut records = Vec::new();
        let filled = by_part.iter().enumerate();
        for (part, (digests, places)) in filled.filter(|(_, (digests, _))| !digests.is_empty()) {
            records.clear();
            let tails = places.iter().map(|place| {
                let place = *place as usize;
                Tail {
                    position: positions[place],
                    numbers: columns.iter().map(move |column| column[place]),
                    payload: &payloads[place * payload_bytes..][..payload_bytes],
                }
            });
            match digests {
                Digests::Short(digests) => write(&mut records, digests, tails),
                Digests::Long(digests) => write(&mut records, digests, tails),
            }
            let first = self.parts.append(part, &records)?;
            self.runs[part].note(positions[0], first, digests.len());
        }
        Ok(())
    }

    /// Returns how many bytes lie on disk.
    pub fn spilled_bytes(&self) -> u64 {
        self.parts.spilled_bytes() + self.given.as_ref().map_or(0, Given::spilled_bytes)
    }

    /// Returns the seed that its items were digested under.
    pub fn joint_seed(&self) -> &JointSeed {
        &self.joint_seed
    }

    /// Returns what was found since this was last asked. The session can run once more on the same
    /// items then, and finds everything anew.
    pub fn take_found(&mut self) -> Found {
        let bytes = self.given_bytes;
        let given = (bytes > 0).then(|| Given::new(self.rows, bytes, &self.spill));
        let rows = vec![0; (self.rows as usize).div_ceil(64)];
        Found {
            rows: mem::replace(self.found.get_mut().expect("no panic"), rows),
            given: mem::replace(&mut self.given, given),
        }
    }
}

impl Table for Spilled {
    fn items(&self, part: u32) -> Option<u64> {
        Some(self.parts.records(part as usize))
    }

    fn part(&self, part: u32) -> Result<Part, Error> {
        let items = self.parts.records(part as usize) as usize;
        let record_bytes = self.parts.record_bytes();
        let digest_bytes = self.session.plan.digest_bytes();
        let mut digests = DigestBuffer::zeroed(items, digest_bytes);
        let mut positions = vec![0; items];
        let mut columns = vec![vec![0; items]; self.columns];
        let mut payloads = vec![0; items * self.payload_bytes];
        let mut places = self.runs[part as usize].places(items)?;
        self.parts.visit(part as usize, &mut |some| {
            for (record, place) in some.chunks_exact(record_bytes).zip(&mut places) {
                let (digest, tail) = record.split_at(digest_bytes);
                match &mut digests {
                    DigestBuffer::Short(digests) => digests[place] = word(digest),
                    DigestBuffer::Long(digests) => digests[place] = word(digest),
                }
                positions[place] = u32::from_le_bytes(word(tail));
                let (numbers, payload) = tail[POSITION..].split_at(self.columns * NUMBER);
                payloads[place * payload.len()..][..payload.len()].copy_from_slice(payload);
                let numbers = numbers.chunks_exact(NUMBER);
                for (column, number) in columns.iter_mut().zip(numbers) {
                    column[place] = i64::from_le_bytes(word(number));
                }
            }
        })?;
        Ok(Part {
            items: digests.into(),
            positions,
            columns,
            payloads,
        })
    }

    fn found(&self, _part: u32, rows: &[u32], payloads: &[u8]) -> Result<(), Error> {
        if let Some(given) = &self.given {
            given.add(rows, payloads)?;
        }
        let mut found = self.found.lock().expect("no panic");
        for row in rows {
            found[*row as usize / 64] |= 1 << (row % 64);
        }
        Ok(())
    }
}

/// The items of a part as they came: threads append to it in any order, and its items must not
/// depend on that.
#[derive(Default)]
struct Runs(Mutex<Vec<Run>>);

/// Items of a part that were added at a time.
#[derive(Clone, Copy)]
struct Run {
    /// The key that runs are sorted by: the first position of all that was added at that time, and
    /// so no other run's.
    order: u32,
    /// The number of items that the part had before.
    first: u32,
    len: u32,
}

impl Runs {
    fn note(&self, order: u32, first: u64, len: usize) {
        let (first, len) = (first as u32, len as u32);
        self.lock().push(Run { order, first, len });
    }

    /// Returns the place of each of the part's `items` items, in the order in which they were
    /// appended.
    ///
    /// # Errors
    /// If some of them could not be added: whoever did was told so.
    fn places(&self, items: usize) -> Result<impl Iterator<Item = usize> + use<>, Error> {
        let mut runs = self.lock().clone();
        runs.sort_unstable_by_key(|run| run.order);
        let mut end = 0;
        let to = runs.iter().map(|run| {
            let start = end;
            end += run.len as usize;
            (run.first, start..end)
        });
        let mut to: Vec<(u32, Range<usize>)> = to.collect();
        if end != items {
            return Err(Error::Misuse(
                "a table to which not all items could be added",
            ));
        }
        to.sort_unstable_by_key(|(first, _)| *first);
        Ok(to.into_iter().flat_map(|(_, places)| places))
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Run>> {
        self.0.lock().expect("no panic")
    }
}

fn parts(plan: &Plan) -> usize {
    plan.parts().expect("a plan in parts").shape.parts as usize
}

/// Returns the number of numbers per item of this party.
fn columns(plan: &Plan, role: Role) -> usize {
    plan.request().output.columns().of(role)
}

/// Returns the number of bytes of the payload of an item of this party.
fn payload_bytes(plan: &Plan, role: Role) -> usize {
    plan.request().output.payload_bytes(role)
}

/// Returns the number of bytes of an item of this party: its digest, position, numbers and payload.
fn record_bytes(plan: &Plan, role: Role) -> usize {
    let numbers = columns(plan, role) * NUMBER;
    plan.digest_bytes() + POSITION + numbers + payload_bytes(plan, role)
}

/// Returns the number of bytes of all its items.
fn all_bytes(plan: &Plan, role: Role) -> u64 {
    role.items(plan.request().sizes) * record_bytes(plan, role) as u64
}

/// A record without its digest.
struct Tail<'a, N> {
    position: u32,
    numbers: N,
    payload: &'a [u8],
}

/// Appends records of these digests, and what belongs to each.
fn write<'a, const D: usize, N: Iterator<Item = i64>>(
    records: &mut Vec<u8>,
    digests: &[[u8; D]],
    tails: impl Iterator<Item = Tail<'a, N>>,
) {
    for (digest, tail) in digests.iter().zip(tails) {
        records.extend_from_slice(digest);
        records.extend_from_slice(&tail.position.to_le_bytes());
        (tail.numbers).for_each(|number| records.extend_from_slice(&number.to_le_bytes()));
        records.extend_from_slice(tail.payload);
    }
}

/// Returns the first bytes.
fn word<const BYTES: usize>(bytes: &[u8]) -> [u8; BYTES] {
    *bytes.first_chunk().expect("records are long enough")
}
