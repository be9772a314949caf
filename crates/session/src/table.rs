//! A party's table, from when it is read until its rows are written.
//!
//! It is read partition by partition, within the budget for memory. If a plan is in parts, items go
//! from partitions to parts, and what they are known by is the first row that has them; if it takes
//! items batch by batch, a partition is a batch. Any other plan takes all items at once, each known
//! by its number; then they are gathered in memory.

use std::{borrow::Cow, mem, ops::Range};

use psijoin::{
    BatchInput, Batches, Channel, Error, Matched, Output, Plan, Role,
    parts::{self, Found, Given, Spilled},
    spill::Spill,
};
use psijoin_runtime::parallel::{self, Pool};
use psijoin_source::{Progress, Source};
use psijoin_table::{
    AlignedRows, BadCellsOfKey, Counts, Items, Labels, Look, MatchingRows, Meaning, Numbers,
    SharedKeys, TableKeys,
    share::{
        GivenRows, PartitionedPayloads, PartnerRows, PayloadLayout, PayloadRanges, Payloads,
        RepeatedKeys,
    },
};

use crate::{
    allowance::Allowance,
    budget::{Disclosed, Grouper},
    phases::Phases,
    run::{Run, Set},
};

/// See the [module](self).
pub(crate) struct Table {
    keys: TableKeys,
    payloads: OwnPayloads,
    /// The items in their parts, if a plan in parts has run, and may run once more.
    poured: Option<Box<Spilled>>,
    /// The groups of its keys, if a budget had to know them.
    disclosed: Option<Disclosed>,
    /// The facts about the columns of numbers, without the numbers.
    pub(crate) numbers: Vec<Numbers>,
    /// The labels of the columns of labels.
    pub(crate) labels: Vec<Labels>,
    pub(crate) counts: Counts,
    pub(crate) bad_cells: BadCellsOfKey,
    pub(crate) looks: Vec<Look>,
    pub(crate) meanings: Vec<Meaning>,
}

/// The payloads of this party's items.
enum OwnPayloads {
    Nothing,
    /// Of all items, one after the other.
    AtOnce(Vec<u8>),
    ByPartitions(PartitionedPayloads),
}

/// The use of a table.
#[derive(Clone, Copy)]
pub(crate) struct Use {
    /// `true` if somebody comes back to its rows.
    pub(crate) rows: bool,
    /// `true` if somebody comes back to its keys: to align rows, or to find the payload of each in
    /// another attempt.
    pub(crate) keys: bool,
    /// `true` if there may be another attempt.
    pub(crate) again: bool,
}

/// The result of a protocol.
pub(crate) struct Ran {
    pub(crate) output: Output,
    /// Of a plan in parts that finds rows, a bit per row: whether it is the first row of a shared
    /// item.
    first_rows: Vec<u64>,
    /// Of such a plan, what the other party gave.
    given: Option<Given>,
    /// The bytes that lay on disk.
    pub(crate) spilled_bytes: u64,
}

/// The other party's payloads, by ranges of rows.
struct Ranges(Given);

impl PayloadRanges for Ranges {
    fn range_rows(&self) -> u32 {
        self.0.range_rows()
    }

    fn read(&self, range: usize) -> Result<(Vec<u32>, Vec<u8>), psijoin::spill::Error> {
        let Matched { rows, payloads } = self.0.read(range)?;
        Ok((rows, payloads))
    }
}

impl Ran {
    /// Returns the shared items of one run, by their numbers, and what the other party gave for
    /// each.
    fn matched(self) -> Matched {
        match self.output {
            Output::Matched(matched) => matched,
            Output::Rows(rows) => Matched {
                rows,
                payloads: Vec::new(),
            },
            // The result followed from the sizes.
            _ => Matched::default(),
        }
    }
}

/// The way to rows of this table from what an item is known by.
pub(crate) enum RowOf<'a> {
    /// By its number.
    Item(&'a [u32]),
    /// It is known by its row.
    Itself,
}

impl Table {
    pub(crate) fn new(read: TableKeys) -> Self {
        Self {
            numbers: read.numbers(),
            labels: read.labels().to_vec(),
            counts: read.counts(),
            bad_cells: read.bad_cells().clone(),
            looks: read.looks().to_vec(),
            meanings: read.meanings().to_vec(),
            keys: read,
            payloads: OwnPayloads::Nothing,
            poured: None,
            disclosed: None,
        }
    }

    /// Returns the rows whose columns can be given.
    ///
    /// # Errors
    /// If what was spilled cannot be read, or rows repeat a key and may not.
    ///
    /// # Panics
    /// If the table is [settled](Self::settle), and nobody was to come back to rows.
    pub(crate) fn given(
        &self,
        repeated: RepeatedKeys,
    ) -> Result<GivenRows<'_>, psijoin_table::Error> {
        self.keys.given(repeated)
    }

    /// Reads the payloads of items. Those that are kept by partitions spill as keys do. The threads
    /// of the caller's pool read.
    ///
    /// # Errors
    /// If the table cannot be read, has changed, or rows repeat a key and may not; if what is
    /// beyond the budget cannot be written.
    ///
    /// # Panics
    /// As [`given`](Self::given).
    pub(crate) fn read_payloads(
        &mut self,
        source: &Source,
        (layout, repeated): (&PayloadLayout, RepeatedKeys),
        Allowance { spill, .. }: &Allowance,
        progress: &Progress,
    ) -> Result<(), psijoin_table::Error> {
        let (keys, rows) = (&self.keys, self.keys.given(repeated)?);
        self.payloads = match keys.gathered() {
            Some(_) => OwnPayloads::AtOnce(rows.payloads(source, layout, progress)?),
            None => {
                let read = rows.partitioned(source, layout, keys, spill, progress);
                OwnPayloads::ByPartitions(read?)
            }
        };
        Ok(())
    }

    /// Returns a hash of what is given.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    pub(crate) fn payloads_identity(&self) -> Result<blake3::Hash, psijoin_table::Error> {
        let mut hasher = blake3::Hasher::new();
        match &self.payloads {
            OwnPayloads::Nothing => {}
            OwnPayloads::AtOnce(payloads) => {
                hasher.update(payloads);
            }
            OwnPayloads::ByPartitions(payloads) => {
                for stretch in 0..payloads.stretches(self.keys.partitions() - 1).end {
                    hasher.update(&payloads.payloads(stretch)?);
                }
            }
        }
        Ok(hasher.finalize())
    }

    /// Returns whether an attempt has poured the items into the parts of a session. Keys, and what
    /// is given with them, may not be here any more then.
    pub(crate) fn is_poured(&self) -> bool {
        self.poured.is_some()
    }

    /// Notes that there will be no other attempt.
    pub(crate) fn no_more_attempts(&mut self) {
        self.poured = None;
    }

    /// Gathers the keys in memory if the plan takes them all at once.
    ///
    /// # Errors
    /// If there are too many for that, or what was spilled cannot be read.
    pub(crate) fn settle(
        &mut self,
        plan: &Plan,
        of: Use,
        pool: &Pool,
    ) -> Result<(), psijoin_table::Error> {
        if plan.parts().is_some() || plan.takes_batches() {
            return Ok(());
        }
        let items = pool.run(|| self.keys.gather())?;
        if !of.rows {
            items.first_rows = Vec::new();
        }
        Ok(())
    }

    /// Returns the groups of its keys, with their numbers as they were read: those of the first
    /// attempt, as later ones may have them no more.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    pub(crate) fn disclosed(
        &mut self,
        grouper: &Grouper,
        pool: &Pool,
    ) -> Result<Disclosed, psijoin_table::Error> {
        if let Some(disclosed) = &self.disclosed {
            return Ok(disclosed.clone());
        }
        let keys = &self.keys;
        let group = |partition| {
            let items = keys.items(partition)?;
            Ok(grouper.group(&items.fingerprints, &items.numbers))
        };
        let groups = pool.run(|| parallel::map(keys.partitions(), &group));
        let groups: Vec<_> = groups
            .into_iter()
            .collect::<Result<_, psijoin_table::Error>>()?;
        Ok(self.disclosed.insert(grouper.disclosed(groups)).clone())
    }

    /// Runs a party of the plan that this table is [settled](Self::settle) for over its channels,
    /// one at least.
    ///
    /// # Errors
    /// As [`psijoin::run`], and if what does not fit into memory cannot be written or read.
    pub(crate) fn run(
        &mut self,
        run: &Run<'_>,
        of: Use,
        allowance: &Allowance,
        channels: &mut [Channel],
        (pool, phases): (&Pool, &Phases),
    ) -> Result<Ran, Error> {
        if run.plan.takes_batches() {
            let keys = &self.keys;
            return pool.run(|| run_by_batches(keys, run, of, allowance, channels, phases));
        }
        if run.plan.parts().is_some() {
            return pool.run(|| self.run_in_parts(run, of, allowance, channels, phases));
        }
        let items = self.keys.gather().map_err(failed)?;
        run.noise.bring_within(&mut items.numbers);
        let taken = (!of.stays()).then(|| mem::take(&mut items.fingerprints));
        let set = Set {
            fingerprints: taken.map_or(Cow::Borrowed(&items.fingerprints[..]), Cow::Owned),
            columns: &items.numbers,
            payloads: match &self.payloads {
                OwnPayloads::AtOnce(payloads) => payloads,
                _ => &[],
            },
        };
        Ok(Ran {
            output: run.compute(set, channels, pool, phases)?,
            first_rows: Vec::new(),
            given: None,
            spilled_bytes: 0,
        })
    }

    /// Returns how many keys are shared, and the rows that have them, if rows were to be found.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If nobody was to come back to rows.
    pub(crate) fn matching(
        &self,
        ran: Ran,
    ) -> Result<(u64, MatchingRows<'_>), psijoin_table::Error> {
        let shared = self.shared(ran);
        Ok((shared.count(), self.keys.matching(shared)?))
    }

    /// Returns how many keys are shared, and the rows that have them, with the other party's
    /// payload for each key. Payloads that are kept by ranges of rows spill as keys do.
    ///
    /// # Errors
    /// If what was spilled cannot be read, or what is beyond the budget cannot be written.
    ///
    /// # Panics
    /// If nothing was to be given.
    pub(crate) fn joined(
        &self,
        ran: Ran,
        layout: &PayloadLayout,
        spill: &Spill,
    ) -> Result<(u64, PartnerRows<'_>, Payloads), psijoin_table::Error> {
        let shared = self.shared(ran);
        let count = shared.count();
        let (rows, payloads) = self.keys.partners(shared, layout, spill)?;
        Ok((count, rows, payloads))
    }

    /// Checks that rows can be [aligned](Self::aligned).
    ///
    /// # Errors
    /// If what was spilled cannot be read, or rows repeat a key and may not.
    pub(crate) fn check_alignable(
        &self,
        repeated: RepeatedKeys,
    ) -> Result<(), psijoin_table::Error> {
        self.keys.check_alignable(repeated)
    }

    /// Returns a row for each shared key, in the order that follows from this key, and what the
    /// other party gave for each. The threads of the caller's pool compute.
    ///
    /// # Errors
    /// If what was spilled cannot be read.
    ///
    /// # Panics
    /// If the keys did not stay.
    pub(crate) fn aligned(
        &self,
        ran: Ran,
        layout: Option<&PayloadLayout>,
        key: &[u8; 32],
        spill: &Spill,
    ) -> Result<(AlignedRows<'_>, Option<Payloads>), psijoin_table::Error> {
        self.keys.aligned(self.shared(ran), layout, key, spill)
    }

    /// Returns the shared keys that a protocol found.
    fn shared(&self, ran: Ran) -> SharedKeys {
        let Some(items) = self.keys.gathered() else {
            return SharedKeys::ByRows {
                first_rows: ran.first_rows,
                payloads: ran.given.map(|given| Box::new(Ranges(given)) as _),
            };
        };
        let Matched { rows, payloads } = ran.matched();
        let first_row = |item: u32| items.first_rows[item as usize];
        SharedKeys::InMemory {
            first_rows: rows.into_iter().map(first_row).collect(),
            payloads,
        }
    }

    /// Runs a plan in parts. Items that an earlier attempt has poured into their parts are there.
    fn run_in_parts(
        &mut self,
        run: &Run<'_>,
        of: Use,
        allowance: &Allowance,
        channels: &mut [Channel],
        phases: &Phases,
    ) -> Result<Ran, Error> {
        phases.begin("item digests");
        let mut poured = match self.poured.take() {
            Some(poured) => *poured,
            None => self.pour(run, of, allowance)?,
        };
        assert_eq!(
            poured.joint_seed(),
            run.joint_seed,
            "all attempts of a job that has begun have one seed"
        );
        let of_payloads = match &self.payloads {
            OwnPayloads::ByPartitions(payloads) => payloads.spilled_bytes(),
            _ => 0,
        };
        let of_table = self.keys.spilled_bytes() + of_payloads;
        let mut context = run.context(channels, phases);
        let ran = parts::run(run.plan, run.role, &poured, run.joint_seed, &mut context);
        let spilled_bytes = of_table + poured.spilled_bytes();
        let Found {
            rows: mut first_rows,
            given,
        } = poured.take_found();
        self.poured = of.again.then(|| Box::new(poured));
        let output = ran?;
        // A result that a job has opened before is complete.
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

    /// Digests all items, each into its part. A partition takes no memory any more as soon as its
    /// items are there, unless somebody comes back to its keys.
    fn pour(
        &self,
        run: &Run<'_>,
        of: Use,
        Allowance { spill, .. }: &Allowance,
    ) -> Result<Spilled, Error> {
        let (keys, rows) = (&self.keys, self.counts.rows as u32);
        let poured = Spilled::new(run.plan, run.role, run.joint_seed, rows, spill)?;
        let pour = |partition| {
            let mut items = items(keys, partition, of.keys)?;
            if run.noise.has_bounds() {
                run.noise.bring_within(&mut items.to_mut().numbers);
            }
            let add = |some: Range<usize>, given: &[u8]| {
                let columns = items.numbers.iter().map(|column| &column[some.clone()]);
                let columns: Vec<&[i64]> = columns.collect();
                let fingerprints = &items.fingerprints[some.clone()];
                poured.add(fingerprints, &items.first_rows[some], &columns, given)
            };
            let OwnPayloads::ByPartitions(payloads) = &self.payloads else {
                return add(0..items.fingerprints.len(), &[]);
            };
            for stretch in payloads.stretches(partition) {
                let given = match of.keys {
                    true => payloads.payloads(stretch),
                    false => payloads.take_payloads(stretch),
                };
                add(payloads.items(partition, stretch), &given.map_err(failed)?)?;
            }
            Ok(())
        };
        let all = parallel::map(keys.partitions(), &pour);
        all.into_iter().collect::<Result<(), Error>>()?;
        Ok(poured)
    }

    /// Returns the way from shares to rows.
    ///
    /// # Panics
    /// If nobody was to come back to rows.
    pub(crate) fn row_of(&self) -> RowOf<'_> {
        match self.keys.gathered() {
            Some(items) => RowOf::Item(&items.first_rows),
            None => RowOf::Itself,
        }
    }
}

impl RowOf<'_> {
    pub(crate) fn row(&self, known_by: u32) -> u64 {
        match self {
            Self::Item(first_rows) => first_rows[known_by as usize].into(),
            Self::Itself => known_by.into(),
        }
    }
}

/// Runs a plan that takes batches.
fn run_by_batches(
    keys: &TableKeys,
    run: &Run<'_>,
    of: Use,
    Allowance { spill, .. }: &Allowance,
    channels: &mut [Channel],
    phases: &Phases,
) -> Result<Ran, Error> {
    let (of_table, before) = (keys.spilled_bytes(), spill.budget.spilled());
    let input = BatchInput {
        items: &KeyBatches {
            keys,
            run,
            stays: of.stays(),
        },
        joint_seed: run.joint_seed,
        spill,
    };
    let mut context = run.context(channels, phases);
    let output = psijoin::run_batches(run.plan, run.role, &input, &mut context)?;
    Ok(Ran {
        output,
        first_rows: Vec::new(),
        given: None,
        spilled_bytes: of_table + spill.budget.spilled() - before,
    })
}

/// The items of a table, partition by partition.
struct KeyBatches<'a> {
    keys: &'a TableKeys,
    run: &'a Run<'a>,
    stays: bool,
}

impl Batches for KeyBatches<'_> {
    fn items(&self) -> u64 {
        self.keys.counts().distinct
    }

    fn batches(&self) -> usize {
        self.keys.partitions()
    }

    fn batch(&self, number: usize) -> Result<Cow<'_, psijoin::Items>, Error> {
        let items = items(self.keys, number, self.stays)?;
        let Run {
            plan, joint_seed, ..
        } = self.run;
        Ok(Cow::Owned(plan.items(&items.fingerprints, joint_seed)))
    }
}

impl Use {
    /// Returns whether partitions are read again after the run has gone through them.
    fn stays(self) -> bool {
        self.keys || self.again
    }
}

/// Returns the items of a partition, which takes no memory any more unless it stays.
fn items(keys: &TableKeys, partition: usize, stays: bool) -> Result<Cow<'_, Items>, Error> {
    let items = match stays {
        true => keys.items(partition),
        false => keys.take_items(partition).map(Cow::Owned),
    };
    items.map_err(failed)
}

fn failed(error: psijoin_table::Error) -> Error {
    Error::Table(Box::new(error))
}

/// Returns how many bytes of this party lie on disk at most, if no key is in two rows:
/// `spilled_bytes` of a run without a job. A plan that takes all items at once has them in memory.
pub fn most_spilled(plan: &Plan, role: Role, limit: u64) -> u64 {
    let request = plan.request();
    let (rows, columns) = (role.items(request.sizes), request.output.columns().of(role));
    let of_table = |limit| TableKeys::most_spilled(rows, columns, limit);
    match (plan.parts(), plan.kept_bytes(role)) {
        (Some(parts), _) => {
            let all = |limit| of_table(limit) + Spilled::most_spilled(plan, role, limit);
            let parts = parts.shape.parts as usize;
            match all(limit) {
                0 => 0,
                apart => (apart + TableKeys::most_displaced(parts, limit)).min(all(0)),
            }
        }
        (None, Some(kept_bytes)) => {
            let all = of_table(0) + kept_bytes;
            // Up to twice as much is reserved while it arrives. Beyond that, what a run keeps may
            // displace all of the table.
            match 2 * all <= limit {
                true => 0,
                false => all,
            }
        }
        (None, None) => 0,
    }
}
