//! A party's table, from when it is read until its rows are written.
//!
//! It is read partition by partition, within the budget for memory. If a plan is in parts, items go from partitions
//! to parts, and what they are known by is the first row that has them. Any other plan takes all items at once, each known
//! by its number; then they are brought into memory.

use std::{borrow::Cow, mem};

use psijoin::{
    Channel, Error, Fingerprint, Matched, Output, Plan, Role,
    parts::{self, Found, Given, Spilled},
};
use psijoin_block::parallel::{self, Pool};
use psijoin_table::{
    Counts, Items, KeyPartitions, KeyTable, MatchingRows, Meaning, Numbers, RowItems,
    given::{GivenRows, PartnerRows, PayloadLayout, Payloads, RepeatedKeys},
};

use super::{Run, Set};
use crate::{allowance::Allowance, exit::Failure, phases::Phases};

/// See the [module](self).
pub(crate) struct Table {
    keys: Keys,
    /// What is known of the columns of numbers, without the numbers.
    pub(super) numbers: Vec<Numbers>,
    pub(crate) counts: Counts,
    pub(super) meanings: Vec<Meaning>,
    /// What is given with each item, one after the other.
    payloads: Vec<u8>,
}

/// The keys of a table.
enum Keys {
    InPartitions(KeyPartitions),
    InMemory(InMemory),
}

/// Keys for a plan that is not in parts.
#[derive(Default)]
struct InMemory {
    /// Of its distinct keys; taken once they are not needed any more.
    fingerprints: Vec<Fingerprint>,
    /// Which row holds which key, if anybody comes back to rows.
    rows: Option<RowItems>,
    /// The numbers of each column.
    columns: Vec<Vec<i64>>,
}

/// What is to become of a table.
#[derive(Clone, Copy)]
pub(super) struct Use {
    /// Whether somebody comes back to its rows.
    pub(super) rows: bool,
    /// Whether all of it is kept for another attempt.
    pub(super) comes_again: bool,
}

/// What a protocol gave.
pub(super) struct Ran {
    pub(super) output: Output,
    /// Of a plan in parts that finds rows, a bit per row: whether it is the first row of a shared item.
    first_rows: Vec<u64>,
    /// Of such a plan, what the other party gave.
    given: Option<Given>,
    /// What lay on disk.
    pub(super) spilled_bytes: u64,
}

/// How rows of this table are found from what an item is known by.
pub(super) enum RowOf<'a> {
    /// By its number.
    Item(&'a [u32]),
    /// It is known by its row.
    Itself,
}

impl Table {
    pub(super) fn new(read: KeyPartitions) -> Self {
        Self {
            numbers: read.numbers(),
            counts: read.counts(),
            meanings: read.meanings().to_vec(),
            payloads: Vec::new(),
            keys: Keys::InPartitions(read),
        }
    }

    /// A hash of the keys, of the first row of each, and of its numbers. The threads of the caller's pool compute
    /// it.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If the keys are not in partitions any more.
    pub(crate) fn identity(&self) -> Result<blake3::Hash, psijoin_table::Error> {
        let Keys::InPartitions(keys) = &self.keys else {
            panic!("a table is identified as soon as it is read");
        };
        let of_partition = |partition| Ok(identity(&keys.items(partition)?));
        let hashes = parallel::map(keys.partitions(), &of_partition);
        let hashes: Result<Vec<blake3::Hash>, psijoin_table::Error> = hashes.into_iter().collect();
        let mut all = blake3::Hasher::new();
        for hash in hashes? {
            all.update(hash.as_bytes());
        }
        Ok(all.finalize())
    }

    /// The rows whose columns can be given.
    ///
    /// # Errors
    /// If what was spilled cannot be read, or rows repeat a key and may not.
    ///
    /// # Panics
    /// If the keys are in memory, and nobody was to come back to rows.
    pub(super) fn given(
        &self,
        repeated: RepeatedKeys,
    ) -> Result<GivenRows<'_>, psijoin_table::Error> {
        match &self.keys {
            Keys::InPartitions(keys) => keys.given(repeated),
            Keys::InMemory(keys) => keys.rows().given(repeated),
        }
    }

    /// Gives these payloads, in the order of the [given](Self::given) rows' items.
    pub(super) fn give(&mut self, payloads: Vec<u8>) {
        self.payloads = payloads;
    }

    /// Brings the keys into memory if the plan takes them all at once.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    pub(super) fn settle(
        &mut self,
        plan: &Plan,
        of: Use,
        pool: &Pool,
    ) -> Result<(), psijoin_table::Error> {
        if plan.parts().is_some() || matches!(self.keys, Keys::InMemory(_)) {
            return Ok(());
        }
        let none = Keys::InMemory(InMemory::default());
        if let Keys::InPartitions(keys) = mem::replace(&mut self.keys, none) {
            let table = pool.run(|| keys.into_table())?;
            self.keys = Keys::InMemory(InMemory::new(table, of.rows));
        }
        Ok(())
    }

    /// Runs a party of the plan that this table is [settled](Self::settle) for over its channels, one at least.
    ///
    /// # Errors
    /// As [`psijoin::run`], and if what does not fit into memory cannot be written or read.
    pub(super) fn run(
        &mut self,
        run: &Run<'_>,
        of: Use,
        allowance: &Allowance,
        channels: &mut [Channel],
        (pool, phases): (&Pool, &Phases),
    ) -> Result<Ran, Error> {
        match &mut self.keys {
            Keys::InPartitions(keys) => {
                let payloads = &self.payloads;
                pool.run(|| run_in_parts((keys, payloads), run, of, allowance, channels, phases))
            }
            Keys::InMemory(keys) => {
                let set = keys.set(of.comes_again, &self.payloads);
                Ok(Ran {
                    output: run.compute(set, channels, pool, phases)?,
                    first_rows: Vec::new(),
                    given: None,
                    spilled_bytes: 0,
                })
            }
        }
    }

    /// How many keys are shared, and the rows that have them, if rows were to be found.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If nobody was to come back to rows.
    pub(super) fn matching(
        &self,
        ran: Ran,
    ) -> Result<(u64, MatchingRows<'_>), psijoin_table::Error> {
        match (&self.keys, ran) {
            (Keys::InPartitions(keys), Ran { first_rows, .. }) => {
                let shared = first_rows.iter().map(|word| u64::from(word.count_ones()));
                Ok((shared.sum(), keys.matching(first_rows)?))
            }
            (Keys::InMemory(keys), Ran { output, .. }) => {
                let shared = match output {
                    Output::Rows(shared) | Output::Matched(Matched { rows: shared, .. }) => shared,
                    // The result followed from the sizes.
                    _ => Vec::new(),
                };
                let flags = flags(&shared, self.counts.distinct);
                let rows = keys.rows().matching(&flags);
                Ok((shared.len() as u64, rows))
            }
        }
    }

    /// How many keys are shared, and the rows that have them, with what the other party gave for each key.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If nothing was to be given.
    pub(super) fn joined(
        &self,
        ran: Ran,
        layout: &PayloadLayout,
    ) -> Result<(u64, PartnerRows<'_>, Payloads), Failure> {
        let Matched { rows, payloads } = match ran {
            Ran {
                output: Output::Matched(matched),
                ..
            } => matched,
            Ran {
                given: Some(given), ..
            } => all(&given)?,
            // The result followed from the sizes.
            _ => Matched::default(),
        };
        let partners = match &self.keys {
            Keys::InPartitions(keys) => keys.partners(&rows)?,
            Keys::InMemory(keys) => keys.rows().partners(&rows),
        };
        let payloads = Payloads::new(layout.clone(), payloads);
        Ok((rows.len() as u64, partners, payloads))
    }

    /// How rows are found from shares.
    ///
    /// # Panics
    /// If nobody was to come back to rows.
    pub(super) fn row_of(&self) -> RowOf<'_> {
        match &self.keys {
            Keys::InPartitions(_) => RowOf::Itself,
            Keys::InMemory(keys) => RowOf::Item(keys.rows().first_rows()),
        }
    }
}

impl InMemory {
    fn new(table: KeyTable, comes_back_to_rows: bool) -> Self {
        let values = |column: Numbers| column.values;
        Self {
            fingerprints: table.fingerprints,
            rows: comes_back_to_rows.then_some(table.rows),
            columns: table.numbers.into_iter().map(values).collect(),
        }
    }

    /// What a protocol takes of it. With a job, all of it is there for another attempt.
    fn set<'a>(
        &'a mut self,
        comes_again: bool,
        payloads: &'a [u8],
    ) -> Set<'a, Cow<'a, [Fingerprint]>> {
        let fingerprints = &mut self.fingerprints;
        Set {
            fingerprints: match comes_again {
                true => Cow::Borrowed(&fingerprints[..]),
                false => Cow::Owned(mem::take(fingerprints)),
            },
            columns: &self.columns,
            payloads,
        }
    }

    fn rows(&self) -> &RowItems {
        let rows = self.rows.as_ref();
        rows.expect("whoever comes back to rows keeps them")
    }
}

impl RowOf<'_> {
    pub(super) fn row(&self, known_by: u32) -> u64 {
        match self {
            Self::Item(first_rows) => first_rows[known_by as usize].into(),
            Self::Itself => known_by.into(),
        }
    }
}

/// Runs a plan in parts. A partition takes no memory any more as soon as its items are in their parts, unless they
/// come again.
fn run_in_parts(
    (keys, payloads): (&KeyPartitions, &[u8]),
    run: &Run<'_>,
    of: Use,
    Allowance { budget, folder, .. }: &Allowance,
    channels: &mut [Channel],
    phases: &Phases,
) -> Result<Ran, Error> {
    phases.begin("item digests");
    let rows = keys.counts().rows as u32;
    let table = Spilled::new(run.plan, run.role, run.items_seed, rows, budget, folder)?;
    let payload_bytes = run.plan.request().output.payload_bytes(run.role);
    let starts = starts(keys);
    let pour = |partition| {
        let items = match of.comes_again {
            true => keys.items(partition),
            false => keys.take_items(partition),
        };
        let items = items.map_err(|error| Error::Table(Box::new(error)))?;
        let columns: Vec<&[i64]> = items.numbers.iter().map(Vec::as_slice).collect();
        let payloads = &payloads[starts[partition] * payload_bytes..];
        let payloads = &payloads[..items.first_rows.len() * payload_bytes];
        table.add(&items.fingerprints, &items.first_rows, &columns, payloads)
    };
    let poured = parallel::map(keys.partitions(), &pour);
    poured.into_iter().collect::<Result<(), Error>>()?;
    let mut context = run.context(channels, phases);
    let output = parts::run(run.plan, run.role, &table, run.joint_seed, &mut context)?;
    let spilled_bytes = keys.spilled_bytes() + table.spilled_bytes();
    let Found {
        rows: mut first_rows,
        given,
    } = table.into_found();
    // What a job has opened before is all there is.
    if let Output::Rows(opened) = &output {
        for row in opened {
            first_rows[*row as usize / 64] |= 1 << (row % 64);
        }
    }
    Ok(Ran {
        output,
        first_rows,
        given,
        spilled_bytes,
    })
}

/// How many items are in the partitions before each.
fn starts(keys: &KeyPartitions) -> Vec<usize> {
    let partitions = 0..keys.partitions();
    let before = partitions.scan(0, |before, partition| {
        let start = *before;
        *before += keys.items_in(partition);
        Some(start)
    });
    before.collect()
}

/// All that the other party gave, in the order of first rows.
fn all(given: &Given) -> Result<Matched, Error> {
    let mut all = Matched::default();
    for range in 0..given.ranges() {
        let Matched { rows, payloads } = given.take(range)?;
        all.rows.extend(rows);
        all.payloads.extend(payloads);
    }
    Ok(all)
}

/// How many bytes of this party's table lie on disk at most in a plan in parts, if no key is in two rows: `spilled_bytes` of
/// its [run](Table::run) without a job.
///
/// # Panics
/// If the plan is not in parts.
pub(crate) fn most_spilled(plan: &Plan, role: Role, limit: u64) -> u64 {
    let (request, shape) = (plan.request(), plan.parts().expect("a plan in parts").shape);
    let (rows, columns) = (role.items(request.sizes), request.output.columns().of(role));
    let all = |limit| {
        KeyPartitions::most_spilled(rows, columns, limit) + Spilled::most_spilled(plan, role, limit)
    };
    match all(limit) {
        0 => 0,
        apart => {
            let displaced = KeyPartitions::most_displaced(shape.parts as usize, limit);
            (apart + displaced).min(all(0))
        }
    }
}

/// A hash of items.
fn identity(items: &Items) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&(items.fingerprints.len() as u64).to_le_bytes());
    hasher.update(items.fingerprints.as_flattened());
    for row in &items.first_rows {
        hasher.update(&row.to_le_bytes());
    }
    for number in items.numbers.iter().flatten() {
        hasher.update(&number.to_le_bytes());
    }
    hasher.finalize()
}

/// A flag for each of `count` items: whether its position is among these.
fn flags(positions: &[u32], count: u64) -> Vec<bool> {
    let mut flags = vec![false; count as usize];
    for &position in positions {
        flags[position as usize] = true;
    }
    flags
}
