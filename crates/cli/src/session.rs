//! One party of a join, from its table to its result.
//!
//! The two parties meet before they read their tables: the connection stays alive meanwhile,
//! so that one may take much longer than the other, and a table that cannot be read is an
//! error on both sides. What is to be kept, rows or shares, is on the disk before a party ends the
//! session, and takes its name after the other party has confirmed the end.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, counted},
};
use psijoin_psi::{Context, Fingerprint, Input, Items, Output, Plan, Protocol, Role};
use psijoin_table::{
    Counts, Destination, ErrorKind, KeySpec, KeyTable, Progress, RowItems, Source, Staged,
};
use psijoin_transport::Connection;
use rayon::ThreadPool;

use crate::{
    asked::Asked,
    columns::{AgreedColumns, OwnColumns},
    exit::Failure,
    figures,
    phases::{Phase, Phases},
    question::Question,
    talk::Talk,
    whole_file::WholeFile,
};

mod agreement;
mod received;
mod shares;

use agreement::Agreement;
pub(crate) use received::Received;
use shares::Kept;

/// The setting that names the protocol.
pub(crate) const PROTOCOL: &str = "the protocol";

/// A party that is ready to meet the other.
pub(crate) struct Party<'a> {
    /// The protocol that it runs.
    pub(crate) protocol: &'static dyn Protocol,
    /// What the receiver is to learn.
    pub(crate) question: Question,
    /// The key of its table.
    pub(crate) key: KeySpec,
    /// Its table.
    pub(crate) source: Source,
    /// What it is to do.
    pub(crate) task: Task,
    /// What it computes with.
    pub(crate) pool: &'a ThreadPool,
    /// How far a pass over its table is; interrupts it.
    pub(crate) progress: &'a Progress,
    /// How it talks.
    pub(crate) talk: Talk,
}

/// What a party is to do.
pub(crate) enum Task {
    /// Help the other party.
    Send,
    /// Learn the shared rows, and write them.
    Receive(Destination),
    /// Learn something else.
    Learn,
    /// Get shares, and keep them.
    Share(Role, WholeFile),
}

impl Task {
    fn role(&self) -> Role {
        match self {
            Self::Send => Role::Sender,
            Self::Receive(_) | Self::Learn => Role::Receiver,
            Self::Share(role, _) => *role,
        }
    }
}

/// What a party knows at the end.
pub(crate) struct Summary {
    pub(crate) role: Role,
    pub(crate) plan: Box<dyn Plan>,
    pub(crate) counts: Counts,
    pub(crate) normalization: String,
    /// What passed over the wire for the protocol, the handshake not included.
    pub(crate) traffic: Snapshot,
    /// From the tables to the end, without waiting for the other party to turn up.
    pub(crate) time: Duration,
    pub(crate) phases: Vec<Phase>,
    /// What was asked for.
    pub(crate) asked: Asked,
    /// The columns of numbers in that.
    pub(crate) columns: AgreedColumns,
    /// How many rows with a key have no number, for each of this party's columns of numbers.
    pub(crate) rows_without_number: BTreeMap<String, u64>,
    /// The receiver's result, or either party's shares.
    pub(crate) received: Option<Received>,
}

/// What a party has when the protocol is done.
struct Computed {
    summary: Summary,
    /// Gives the output its name.
    commit: Option<Commit>,
}

type Commit = Box<dyn FnOnce() -> Result<(), Failure>>;

impl Party<'_> {
    /// Meets the other party by `meet`, and joins the tables.
    ///
    /// # Errors
    /// Whatever fails; the other party is told.
    pub(crate) fn join(
        self,
        meet: impl FnOnce() -> Result<(Connection, Channel), Failure>,
    ) -> Result<Summary, Failure> {
        // What cannot be agreed on is seen before the other party is there.
        self.hello(0).check()?;
        let asked = &self.question.asked;
        self.question.check(self.protocol, asked.holders())?;
        let own = OwnColumns::find(&self.question.asked, self.task.role(), &self.source)?;
        let (connection, channel) = meet()?;
        let started = Instant::now();
        let talk = self.talk;
        let (mut channel, counters) = counted(channel);
        let computed = self
            .converse(&mut channel, &counters, &own)
            .inspect_err(|failure| connection.abort(failure.abort_code()))?;
        talk.during(
            "waiting for the other party to finish",
            || (0, 0),
            || connection.finish(),
        )?;
        let Some(Computed {
            mut summary,
            commit,
        }) = computed
        else {
            return Err(Failure::TooFew(self.question.min_intersection));
        };
        if let Some(commit) = commit {
            commit()?;
        }
        summary.time = started.elapsed();
        Ok(summary)
    }

    /// Speaks with the other party, from the table to the result; `None` if that is withheld, as
    /// too few keys are shared.
    fn converse(
        &self,
        channel: &mut Channel,
        counters: &Counters,
        own: &OwnColumns,
    ) -> Result<Option<Computed>, Failure> {
        let phases = Phases::default();
        phases.begin("reading the table");
        let KeyTable {
            fingerprints,
            rows,
            numbers,
            counts,
            ..
        } = self.read_table(own)?;
        // Nobody else will come back to its rows.
        let comes_back = matches!(self.task, Task::Receive(_) | Task::Share(Role::Receiver, _));
        let rows = comes_back.then_some(rows);

        phases.begin("handshake (with waiting)");
        let Agreement {
            plan,
            columns,
            session,
        } = self.agree(channel, counts.distinct, own, &numbers)?;
        let rows_without_number = own.rows_without_number(&numbers);

        let before = counters.snapshot();
        let moved = || (counters.snapshot() - before).total_bytes();
        let to_move = plan.cost().total().total_bytes();
        let output = self.talk.during(
            plan.info().name,
            || (moved(), to_move),
            || {
                let set = Set {
                    fingerprints,
                    columns: numbers.into_iter().map(|column| column.values).collect(),
                };
                let joint_seed = &session.joint_seed;
                let role = self.task.role();
                compute(&*plan, role, set, joint_seed, channel, self.pool, &phases)
            },
        )?;
        let traffic = counters.snapshot() - before;

        let (received, commit) = match (&self.task, output) {
            (_, Output::TooFew) => return Ok(None),
            (Task::Receive(destination), Output::Rows(shared)) => {
                phases.begin("writing the rows");
                let rows = rows.expect("whoever receives rows keeps its own");
                let staged = self.stage(destination, &rows, &flags(&shared, counts.distinct))?;
                let received = Received::Rows {
                    shared_keys: shared.len() as u64,
                    rows: staged.as_ref().map(Staged::rows),
                };
                let commit =
                    |staged: Staged| -> Commit { Box::new(|| Ok(staged.commit().map(drop)?)) };
                (Some(received), staged.map(commit))
            }
            (Task::Share(role, file), Output::Shares(shares)) => {
                phases.begin("writing the shares");
                let received = Received::Shares {
                    places: shares.places() as u64,
                };
                let kept = Kept {
                    role: *role,
                    columns: columns.in_shares(),
                    joint_seed: &session.joint_seed,
                    rows,
                    items: counts.distinct,
                };
                let staged = kept.stage(shares, file)?;
                let path = file.path().to_owned();
                let commit = || {
                    staged
                        .commit()
                        .map_err(|source| Failure::Shares { path, source })
                };
                (Some(received), Some(Box::new(commit) as Commit))
            }
            (_, output) => (self.received(&columns, output), None),
        };
        let summary = Summary {
            role: self.task.role(),
            plan,
            counts,
            normalization: self.key.normalization(),
            traffic,
            time: Duration::ZERO,
            phases: phases.end(),
            asked: self.question.asked.clone(),
            columns,
            rows_without_number,
            received,
        };
        Ok(Some(Computed { summary, commit }))
    }

    /// What was received if it is not rows; `None` for the sender.
    fn received(&self, columns: &AgreedColumns, output: Output) -> Option<Received> {
        match (&self.question.asked, output) {
            (Asked::Count, Output::Count(count)) => Some(Received::Count(count)),
            (&Asked::Threshold(least), Output::Reached(reached)) => {
                Some(Received::Threshold { least, reached })
            }
            (Asked::Sum(_), Output::Sums(sums)) => Some(Received::Sums(columns.sums(&sums))),
            _ => None,
        }
    }

    /// Writes the rows whose items are flagged, but for their name; `None` if their reader went
    /// away.
    fn stage(
        &self,
        destination: &Destination,
        rows: &RowItems,
        matched: &[bool],
    ) -> Result<Option<Staged>, Failure> {
        let staged = self.talk.during(
            "writing the rows",
            || self.progress.bytes(),
            || destination.stage(&self.source, rows, matched, self.progress),
        );
        match staged {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(None),
            staged => Ok(Some(staged?)),
        }
    }

    fn read_table(&self, own: &OwnColumns) -> Result<KeyTable, Failure> {
        let table = self.talk.during(
            &format!("reading {}", self.source.name()),
            || self.progress.bytes(),
            || KeyTable::read(&self.source, &self.key, &own.to_read(), self.progress),
        )?;
        let Counts { rows, distinct, .. } = table.counts;
        self.talk.say(format_args!(
            "read {}: {}, {}",
            self.source.name(),
            figures::counted(rows, "row"),
            figures::counted(distinct, "distinct key"),
        ));
        Ok(table)
    }
}

/// What a party brings to a protocol.
pub(crate) struct Set<F> {
    /// Its items' fingerprints.
    pub(crate) fingerprints: F,
    /// Its columns, with a number an item each.
    pub(crate) columns: Vec<Vec<i64>>,
}

/// Runs one party of a plan in a thread pool, from its fingerprints on, which are dropped as
/// soon as they are not needed any more.
///
/// # Errors
/// As [`psijoin_psi::run`].
pub(crate) fn compute(
    plan: &dyn Plan,
    role: Role,
    Set {
        fingerprints,
        columns,
    }: Set<impl AsRef<[Fingerprint]> + Send>,
    joint_seed: &[u8; 32],
    channel: &mut Channel,
    pool: &ThreadPool,
    phases: &Phases,
) -> Result<Output, psijoin_psi::Error> {
    pool.install(|| {
        phases.begin("item digests");
        let items = &Items::digest(fingerprints.as_ref(), joint_seed, plan.digest_bytes());
        drop(fingerprints);
        let input = Input {
            items,
            columns: &columns,
            joint_seed,
        };
        psijoin_psi::run(plan, role, input, channel, &mut Context::observed(phases))
    })
}

/// A flag for each of `count` items: whether its position is among these.
fn flags(positions: &[u32], count: u64) -> Vec<bool> {
    let mut flags = vec![false; count as usize];
    for &position in positions {
        flags[position as usize] = true;
    }
    flags
}
