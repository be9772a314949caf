//! One party of a join, from its table to its result.
//!
//! The two parties meet before they read their tables: the connection stays alive meanwhile,
//! so that one may take much longer than the other, and a table that cannot be read is an
//! error on both sides. The receiver's rows are on its disk before it ends the session, and
//! take their name after the sender has confirmed the end.

use std::{
    fmt,
    time::{Duration, Instant},
};

use psijoin_channel::{
    Channel,
    count::{Counters, Snapshot, counted},
};
use psijoin_params::Security;
use psijoin_psi::{
    Context, Fingerprint, Input, Items, Output, OutputKind, Plan, Protocol, Request, Role, registry,
};
use psijoin_table::{Counts, Destination, ErrorKind, KeySpec, KeyTable, Progress, Source, Staged};
use psijoin_transport::{
    Connection,
    handshake::{self, Hello, Session},
};
use rayon::ThreadPool;

use crate::{
    exit::Failure,
    figures,
    phases::{Phase, Phases},
    talk::Talk,
};

/// The setting that names the protocol.
pub(crate) const PROTOCOL: &str = "the protocol";

/// A party that is ready to meet the other.
pub(crate) struct Party<'a> {
    /// The protocol that it runs.
    pub(crate) protocol: &'static dyn Protocol,
    /// What the receiver is to learn.
    pub(crate) output: OutputKind,
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
}

impl Task {
    fn role(&self) -> Role {
        match self {
            Self::Send => Role::Sender,
            Self::Receive(_) | Self::Learn => Role::Receiver,
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
    /// The receiver's result.
    pub(crate) received: Option<Received>,
}

/// What the receiver received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Received {
    /// Which keys are shared.
    Rows {
        shared_keys: u64,
        /// `None` if the reader of the output went away before all was written.
        rows: Option<u64>,
    },
    /// How many are.
    Count(u64),
    /// Whether at least so many are.
    Threshold { least: u64, reached: bool },
}

/// What goes to standard output, but for rows, which are written as they are found.
impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows { shared_keys, .. } | Self::Count(shared_keys) => shared_keys.fmt(f),
            Self::Threshold { reached: true, .. } => f.write_str("reached"),
            Self::Threshold { reached: false, .. } => f.write_str("not reached"),
        }
    }
}

/// What both parties agreed on.
struct Agreement {
    plan: Box<dyn Plan>,
    session: Session,
}

/// What a party has when the protocol is done.
struct Computed {
    summary: Summary,
    staged: Option<Staged>,
}

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
        self.check_output()?;
        let (connection, channel) = meet()?;
        let started = Instant::now();
        let talk = self.talk;
        let (mut channel, counters) = counted(channel);
        let Computed {
            mut summary,
            staged,
        } = self
            .converse(&mut channel, &counters)
            .inspect_err(|failure| connection.abort(failure.abort_code()))?;
        talk.during(
            "waiting for the other party to finish",
            || (0, 0),
            || connection.finish(),
        )?;
        if let Some(staged) = staged {
            staged.commit()?;
        }
        summary.time = started.elapsed();
        Ok(summary)
    }

    fn converse(&self, channel: &mut Channel, counters: &Counters) -> Result<Computed, Failure> {
        let phases = Phases::default();
        phases.begin("reading the table");
        let KeyTable {
            fingerprints,
            rows,
            counts,
            ..
        } = self.read_table()?;
        // The sender will not come back to its rows.
        let rows = matches!(self.task, Task::Receive(_)).then_some(rows);

        phases.begin("handshake (with waiting)");
        let Agreement { plan, session } = self.agree(channel, counts.distinct)?;

        let before = counters.snapshot();
        let moved = || (counters.snapshot() - before).total_bytes();
        let to_move = plan.cost().total().total_bytes();
        let output = self.talk.during(
            plan.info().name,
            || (moved(), to_move),
            || {
                let joint_seed = &session.joint_seed;
                let role = self.task.role();
                compute(
                    &*plan,
                    role,
                    fingerprints,
                    joint_seed,
                    channel,
                    self.pool,
                    &phases,
                )
            },
        )?;
        let traffic = counters.snapshot() - before;

        let (received, staged) = match (&self.task, output, &self.output, rows) {
            (Task::Receive(destination), Output::Rows(shared), _, Some(rows)) => {
                phases.begin("writing the rows");
                let matched = flags(&shared, counts.distinct);
                let staged = self.talk.during(
                    "writing the rows",
                    || self.progress.bytes(),
                    || destination.stage(&self.source, &rows, &matched, self.progress),
                );
                let staged = match staged {
                    Err(error) if error.kind() == ErrorKind::BrokenPipe => None,
                    staged => Some(staged?),
                };
                let received = Received::Rows {
                    shared_keys: shared.len() as u64,
                    rows: staged.as_ref().map(Staged::rows),
                };
                (Some(received), staged)
            }
            (Task::Learn, Output::Count(count), ..) => (Some(Received::Count(count)), None),
            (Task::Learn, Output::Reached(reached), &OutputKind::Threshold(least), _) => {
                (Some(Received::Threshold { least, reached }), None)
            }
            _ => (None, None),
        };
        let summary = Summary {
            role: self.task.role(),
            plan,
            counts,
            normalization: self.key.normalization(),
            traffic,
            time: Duration::ZERO,
            phases: phases.end(),
            received,
        };
        Ok(Computed { summary, staged })
    }

    fn read_table(&self) -> Result<KeyTable, Failure> {
        let table = self.talk.during(
            &format!("reading {}", self.source.name()),
            || self.progress.bytes(),
            || KeyTable::read(&self.source, &self.key, &[], self.progress),
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

    fn check_output(&self) -> Result<(), Failure> {
        if self.protocol.computes(&self.output) {
            return Ok(());
        }
        let able = registry::PROTOCOLS
            .iter()
            .filter(|protocol| protocol.computes(&self.output))
            .map(|protocol| protocol.info().name);
        Err(Failure::Usage(format!(
            "{} cannot compute the output {}: leave --protocol out, or take one of {}",
            self.protocol.info().name,
            self.output,
            able.collect::<Vec<_>>().join(", "),
        )))
    }

    /// What must be alike on both sides, and this party's set size.
    fn hello(&self, items: u64) -> Hello {
        let info = self.protocol.info();
        let role = match self.task {
            Task::Send => handshake::Role::Sender,
            Task::Receive(_) | Task::Learn => handshake::Role::Receiver,
        };
        Hello::new(role, items)
            .setting(PROTOCOL, info.name)
            .setting("the protocol's version", info.version)
            .setting("the output", &self.output)
            .setting(
                "the statistical security in bits",
                Security::default().statistical_bits(),
            )
            .setting("the number of key columns", self.key.width())
            .setting("the normalisation of the key", self.key.normalization())
    }

    /// Makes sure that both parties were set up alike, and derives what follows from their
    /// sizes.
    fn agree(&self, channel: &mut Channel, items: u64) -> Result<Agreement, Failure> {
        let hello = self.hello(items);
        let pending = self.talk.during(
            "waiting for the other party to read its table",
            || (0, 0),
            || handshake::begin(channel, hello),
        )?;
        let theirs = pending.peer().set_size();
        let (senders, receivers) = match self.task {
            Task::Send => (items, theirs),
            Task::Receive(_) | Task::Learn => (theirs, items),
        };
        if let OutputKind::Threshold(least) = self.output
            && least > senders.min(receivers)
        {
            return Err(Failure::Usage(format!(
                "the threshold is {}, and the smaller set has {}: it cannot be reached; both sides \
                 must give a smaller one",
                figures::counted(least, "key"),
                figures::counted(senders.min(receivers), "key"),
            )));
        }
        let request = Request {
            output: self.output.clone(),
            ..Request::rows(senders, receivers)?
        };
        let plan = registry::plan(self.protocol, &request)?;
        let session = pending.confirm(channel, &[&plan.digest()])?;
        self.talk.say(format_args!(
            "{}: {} of the sender, {} of the receiver, {} to move",
            plan.info().name,
            figures::counted(senders, "key"),
            figures::counted(receivers, "key"),
            figures::bytes(plan.cost().total().total_bytes()),
        ));
        Ok(Agreement { plan, session })
    }
}

/// Runs one party of a plan in a thread pool, from its fingerprints on, which are dropped as
/// soon as they are not needed any more.
///
/// # Errors
/// As [`psijoin_psi::run`].
pub(crate) fn compute(
    plan: &dyn Plan,
    role: Role,
    fingerprints: impl AsRef<[Fingerprint]> + Send,
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
            columns: &[],
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
