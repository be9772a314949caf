//! One party of a join, from its table to its result.
//!
//! The two parties meet before they read their tables: the connection stays alive meanwhile,
//! so one may take much longer than the other, and a table that cannot be read is an
//! error on both sides.
//!
//! The session is over, for the other party, with the last message of the protocol. How long a
//! party then takes to find its result and to write it, and whether it can, is its own affair: it
//! would tell how large the result is. Also, the other party can then no longer take a result away
//! by leaving.

use std::{
    iter,
    time::{Duration, Instant},
};

use psijoin::{
    Context, Fingerprint, Input, JointSeed, Ledger, Output, Plan, Protocol, Role, Traffic,
    parts::Remaining,
};
use psijoin_block::parallel::Pool;
use psijoin_channel::{
    Channel, Error as ChannelError,
    count::{Counters, Snapshot, counted},
};
use psijoin_files::AtomicFile;
use psijoin_job::Ended;
use psijoin_record::{self as record, SAID_BYTES, Terms};
use psijoin_table::{
    Counts, Destination, Doubt, ErrorKind, KeyPartitions, KeySpec, Progress, Source, StagedRows,
    given::RepeatedKeys,
};
use psijoin_transport::Connection;

use crate::{
    Error, Watcher,
    agreement::Agreement,
    allowance::Allowance,
    attempts::Patience,
    columns::{AgreedColumns, OwnColumns},
    event::{Event, Warning, Work, during, waiting},
    giving::Trade,
    job::Job,
    limits::MaxPeerKeys,
    network,
    outcome::{Batches, Outcome, Received},
    phases::Phases,
    question::{Learners, Question},
    requested_output::RequestedOutput,
    shares::Kept,
    signing::{self, Recording, Signing},
    table::{Ran, Table, Use},
};

/// A party of a join.
pub(crate) struct Party<'a> {
    /// Which party it is.
    pub(crate) role: Role,
    /// The protocol that it runs.
    pub(crate) protocol: &'static Protocol,
    /// What is to be learned.
    pub(crate) question: Question,
    /// What it lets the other party do.
    pub(crate) consent: Consent,
    /// What both agree to, in words.
    pub(crate) terms: Option<Terms>,
    /// The record that is to be signed.
    pub(crate) recording: Option<Recording>,
    /// The key of its table.
    pub(crate) key: KeySpec,
    /// Its table.
    pub(crate) source: Source,
    /// What it is to do.
    pub(crate) task: Task,
    /// What it gives and takes, if columns go with the keys.
    pub(crate) trade: Trade,
    /// Whether both write rows in a common order, and then what becomes of this party's rows that
    /// repeat a key.
    pub(crate) aligned: Option<RepeatedKeys>,
    /// How far it goes.
    pub(crate) mode: Mode,
    /// In how many parts it runs, if that does not follow from the sizes.
    pub(crate) parts: Option<u32>,
    /// How long it tries to meet the other party, once a connection is lost, and it keeps a job.
    pub(crate) wait: Duration,
    /// What it computes with.
    pub(crate) pool: &'a Pool,
    /// How much memory it may use, and what is beyond it where.
    pub(crate) allowance: Allowance,
    /// How far a pass over its table is; interrupts it.
    pub(crate) progress: &'a Progress,
    /// Who watches.
    pub(crate) watcher: &'a dyn Watcher,
}

/// What a party lets the other one do.
#[derive(Debug, Clone, Copy, Default)]
pub struct Consent {
    /// How large the other party's set may be.
    pub max_peer_keys: MaxPeerKeys,
    /// Whether a sum of the receiver's columns, which can reveal keys, may be computed.
    pub receiver_sums: bool,
    /// Whether keys that differ in kind, or are doubtful, are refused.
    pub strict: bool,
}

/// How far a party goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// To the result.
    Join,
    /// Until both parties have agreed.
    Check,
}

/// What a party is to do.
pub(crate) enum Task {
    /// Help the other party.
    Help,
    /// Learn the shared rows, and write them.
    Write(Destination),
    /// Learn something else.
    Learn,
    /// Get shares, and keep them.
    Share(AtomicFile),
}

/// A party that can play its part, as far as it can tell before it meets the other.
pub(crate) struct Ready<'a> {
    pub(crate) party: Party<'a>,
    pub(crate) own: OwnColumns,
    /// What it keeps, to go on if it has to.
    pub(crate) job: Option<Job>,
}

/// What a party has when the protocol is done.
pub(crate) struct Computed {
    pub(crate) agreement: Agreement,
    /// The seed that items were digested under.
    pub(crate) joint_seed: JointSeed,
    pub(crate) steps_run_again: u32,
    pub(crate) traffic: Snapshot,
    pub(crate) phases: Phases,
    pub(crate) ran: Ran,
}

impl<'a> Party<'a> {
    /// Checks what can be checked alone.
    ///
    /// # Errors
    /// If the settings cannot be told to the other party, the protocol cannot answer the question,
    /// or the table lacks what is needed.
    pub(crate) fn ready(self, job: Option<Job>) -> Result<Ready<'a>, Error> {
        self.doubt(&self.source.doubts()?)?;
        self.check_hello()?;
        let asked = &self.question.asked;
        self.question.check(self.protocol, asked.holders())?;
        self.check_trade()?;
        self.key.check(&self.source)?;
        let own = OwnColumns::find(asked, self.role, &self.source)?;
        Ok(Ready {
            party: self,
            own,
            job,
        })
    }

    /// Tells what is doubtful about this party's table.
    ///
    /// # Errors
    /// [`Error::DoubtfulTable`] if something is, and the user is strict.
    fn doubt(&self, doubts: &[Doubt]) -> Result<(), Error> {
        let name = self.source.name();
        let doubts = doubts.iter().map(|doubt| Warning::Doubtful { name, doubt });
        self.warn_of(doubts, Error::DoubtfulTable)
    }

    /// Tells what the user should think about. The error is for those who are strict.
    pub(crate) fn warn_of<'w>(
        &self,
        warnings: impl Iterator<Item = Warning<'w>>,
        error: Error,
    ) -> Result<(), Error> {
        let count = warnings.map(|warning| self.warn(warning)).count();
        match self.consent.strict && count > 0 {
            true => Err(error),
            false => Ok(()),
        }
    }

    /// Tells what the user should think about.
    pub(crate) fn warn(&self, warning: Warning<'_>) {
        self.watcher.hear(Event::Warning(warning));
    }
}

impl Ready<'_> {
    /// Meets the other party by `meet`, and joins the tables; with a job, again and again while
    /// only the connection is lost. The job is given back, since it is to end when the result has
    /// been handed out.
    ///
    /// # Errors
    /// Any failure. The other party learns about it, unless it has done its part already.
    pub(crate) fn join(
        mut self,
        mut meet: impl FnMut() -> Result<(Connection, Channel), Error>,
    ) -> Result<(Outcome, Option<Job>), Error> {
        let mut started = Instant::now();
        let mut table = None;
        if let Some(ended) = self.job.as_ref().and_then(Job::ended) {
            return Err(self.over(ended, &mut table));
        }
        let computed = match self.needs_nobody() {
            true => self.recall(&mut table)?,
            false => {
                let mut patience = Patience::new(self.party.wait);
                loop {
                    let met = meet().map_err(|failure| self.unmet(failure))?;
                    if table.is_none() {
                        started = Instant::now();
                    }
                    match self.attempt(met, &mut table) {
                        Err(failure) if self.tries_again(&failure, &mut patience) => {}
                        computed => break computed?,
                    }
                }
            }
        };
        let Self {
            party,
            own,
            mut job,
        } = self;
        if let Output::TooFew = computed.ran.output {
            if let Some(job) = &mut job {
                job.end(Ended::TooFew)?;
            }
            return Err(Error::TooFew(party.question.min_intersection));
        }
        let mut table = table.expect("it was read");
        table.no_more_attempts();
        let mut outcome = party.deliver(computed, &table, &own)?;
        outcome.time = started.elapsed();
        Ok((outcome, job))
    }

    /// Joins once, over a connection to the other party.
    fn attempt(
        &mut self,
        (mut connection, channel): (Connection, Channel),
        table: &mut Option<Table>,
    ) -> Result<Computed, Error> {
        let computed = match self.converse(&mut connection, channel, table) {
            Err(Error::OnlyChecked) => {
                // Both know that already.
                let _ = connection.finish();
                return Err(Error::OnlyChecked);
            }
            computed => computed
                .map_err(|failure| self.naming_the_folder(failure))
                .inspect_err(|failure| connection.abort(failure.abort_code()))?,
        };
        match computed.ran.output {
            // Both know that already.
            Output::TooFew => drop(connection.finish()),
            _ => self.part(connection)?,
        }
        Ok(computed)
    }

    /// Names the folder in which a step could not be kept: a protocol does not know of folders.
    fn naming_the_folder(&self, failure: Error) -> Error {
        let Some(job) = &self.job else {
            return failure;
        };
        let folder = job.path().to_owned();
        match failure {
            Error::Psi(
                psijoin::Error::Ledger(source)
                | psijoin::Error::Channel(ChannelError::NotKept(source)),
            ) => psijoin_job::Error::Io { folder, source }.into(),
            failure => failure,
        }
    }

    /// Meets the other party by `meet`, and agrees with it on all that a join needs.
    ///
    /// # Errors
    /// Whatever would keep a join from beginning.
    pub(crate) fn check(
        self,
        meet: impl FnOnce() -> Result<(Connection, Channel), Error>,
    ) -> Result<(), Error> {
        let (connection, mut channel) = meet()?;
        let Self { mut party, own, .. } = self;
        party
            .read_table(&own, None)
            .and_then(|table| party.agree((&connection, &mut channel), &own, &table, None))
            .and_then(|agreement| party.foresee(&agreement, &mut channel))
            .inspect_err(|failure| connection.abort(failure.abort_code()))?;
        // Whether the other party takes its leave changes nothing.
        let _ = connection.finish();
        Ok(())
    }

    /// Speaks with the other party, from the table to the output of the protocol.
    fn converse(
        &mut self,
        connection: &mut Connection,
        channel: Channel,
        table: &mut Option<Table>,
    ) -> Result<Computed, Error> {
        let (mut channel, counters) = counted(channel);
        let phases = Phases::default();
        phases.begin("reading the table");
        let table = self.table(table)?;
        let Self { party, own, job } = self;
        phases.begin("handshake (with waiting)");
        let mut agreement = party.agree((connection, &mut channel), own, table, job.as_ref())?;
        if agreement.peer_only_checks {
            return Err(Error::OnlyChecked);
        }
        let use_of_table = party.use_of_table(job.is_some());
        table.settle(&agreement.plan, use_of_table, party.pool)?;
        if !table.is_poured() {
            party.read_payloads(&agreement.given, table, job.as_mut())?;
        }
        if let Some(job) = job {
            job.settle(&agreement, party.role, &mut channel)?;
            let again = job.steps_run_again();
            if let Some(document) = &mut agreement.document {
                document.steps_run_again = again.into();
            }
        }
        let job = job.as_ref();
        let joint_seed = job.map_or(Ok(agreement.joint_seed), Job::joint_seed)?;
        let steps_run_again = job.map_or(0, Job::steps_run_again);
        let ledger = job.map(|job| job.results() as &dyn Ledger);
        let signing = party.signing(agreement.document.take());
        let streams = Streams::open(connection, (channel, counters), &agreement, ledger)?;
        let traffic = agreement.remaining(ledger).traffic();
        let farewell = Farewell::of(&agreement.plan, &traffic, ledger, signing.as_ref());
        let role = party.role;
        let streams = streams.ending_with_the_last_message(connection, role, &traffic, farewell);
        let run = Run {
            plan: &agreement.plan,
            role,
            joint_seed: &joint_seed,
            ledger,
        };
        let (ran, traffic) = party.run(
            &run,
            &agreement,
            (table, use_of_table),
            (streams, signing),
            &phases,
        )?;
        // It may take until what this party got can be written.
        if let Some(job) = &mut self.job {
            if party.recording.is_some() {
                job.sign()?;
            }
            if agreement.plan.request().output.is_for_both() {
                job.confirm()?;
            }
        }
        Ok(Computed {
            agreement,
            joint_seed,
            steps_run_again,
            traffic,
            phases,
            ran,
        })
    }

    /// Ends the session.
    ///
    /// A party that helps waits for the other to confirm that it has all. Shares are useful only if
    /// both have theirs, so both wait. Whoever has its result after the last message has it
    /// whatever the other does: the receiver, or the sender if it learns, too.
    fn part(&self, connection: Connection) -> Result<(), Error> {
        let learns_last = match self.party.question.learners {
            Learners::Receiver => Role::Receiver,
            Learners::Both => Role::Sender,
        };
        let shares = matches!(self.party.task, Task::Share(_));
        if self.party.role == learns_last && !shares {
            return Ok(());
        }
        let finished = waiting(self.party.watcher, Work::WaitingForEnd, || {
            connection.finish()
        });
        match self.job {
            // It has a receipt.
            Some(_) => Ok(()),
            None => Ok(finished?),
        }
    }
}

/// What the protocol runs over: the stream of the meeting, and further ones if it runs in parts.
struct Streams {
    channels: Vec<Channel>,
    counters: Vec<Counters>,
}

impl Streams {
    /// Opens as many further streams as both parties derived.
    fn open(
        connection: &mut Connection,
        first: (Channel, Counters),
        agreement: &Agreement,
        ledger: Option<&dyn Ledger>,
    ) -> Result<Self, Error> {
        let further = agreement.remaining(ledger).streams(agreement.threads) as u8 - 1;
        let further = connection.open_streams(further, &agreement.joint_seed)?;
        let further = further.into_iter().map(counted);
        let (channels, counters) = iter::once(first).chain(further).unzip();
        Ok(Self { channels, counters })
    }

    /// Closes the session at the exact last byte, before this party inspects it, so that timing
    /// reveals nothing.
    fn ending_with_the_last_message(
        self,
        connection: &Connection,
        role: Role,
        traffic: &Traffic,
        farewell: Farewell<'_>,
    ) -> Self {
        let of_protocol = [traffic.sender_bytes, traffic.receiver_bytes];
        let by_role = |[sender, receiver]: [u64; 2]| match role {
            Role::Sender => (sender, receiver),
            Role::Receiver => (receiver, sender),
        };
        let channels = match farewell {
            Farewell::Bytes([of_sender, of_receiver]) => {
                let [senders, receivers] = of_protocol;
                let (sent, received) = by_role([senders + of_sender, receivers + of_receiver]);
                connection.all_end_after(self.channels, sent, received)
            }
            Farewell::Signatures(signing) => {
                let (sent, received) = by_role(of_protocol);
                let last_words = signing.last_words(of_protocol);
                connection.all_end_with_last_words(self.channels, sent, received, last_words)
            }
        };
        Self { channels, ..self }
    }
}

/// What the parties say when the protocol is through.
enum Farewell<'a> {
    /// This number of bytes from the sender and from the receiver, once each has finished.
    Bytes([u64; 2]),
    /// The signatures of a record, at once after the last message.
    Signatures(&'a Signing<'a>),
}

impl<'a> Farewell<'a> {
    fn of(
        plan: &Plan,
        traffic: &Traffic,
        ledger: Option<&dyn Ledger>,
        signing: Option<&'a Signing<'a>>,
    ) -> Self {
        let signatures = signing.map_or(0, |_| SAID_BYTES);
        match (ledger, signing) {
            // They sign when both have kept all.
            (Some(_), _) => Self::Bytes(receipts(plan).map(|receipt| receipt + signatures)),
            // There is no last message after which they could sign.
            (None, _) if traffic.total_bytes() == 0 => Self::Bytes([signatures; 2]),
            (None, None) => Self::Bytes([0; 2]),
            (None, Some(signing)) => Self::Signatures(signing),
        }
    }
}

/// Returns the bytes by which the sender and the receiver of a job confirm that they have kept all:
/// a party that the other one needs for its result may end its job only then. If both get
/// something, each is needed.
fn receipts(plan: &Plan) -> [u64; 2] {
    match plan.request().output.is_for_both() {
        true => [1, 1],
        false => [0, 1],
    }
}

/// Returns what has passed over all streams.
fn passed(counters: &[Counters]) -> Snapshot {
    counters.iter().map(Counters::snapshot).sum()
}

impl Party<'_> {
    /// Reads the table, which a job must be about if there is one.
    pub(crate) fn read_table(
        &self,
        own: &OwnColumns,
        job: Option<&mut Job>,
    ) -> Result<Table, Error> {
        let (source, key, numbers) = (&self.source, &self.key, &own.to_read()[..]);
        let (spill, progress) = (&self.allowance.spill, self.progress);
        let secret = job.as_ref().map(|job| job.secret_of_tables());
        let read = || match &secret {
            Some(secret) => {
                KeyPartitions::read_identified(source, key, numbers, spill, progress, secret)
                    .map(|(keys, identity)| (keys, Some(identity)))
            }
            None => {
                KeyPartitions::read(source, key, numbers, spill, progress).map(|keys| (keys, None))
            }
        };
        let name = source.name();
        let (keys, identity) = during(
            self.watcher,
            Work::ReadingKeys(name),
            || progress.bytes(),
            || self.pool.run(read),
        )?;
        let Counts { rows, distinct, .. } = keys.counts();
        self.watcher.hear(Event::TableRead {
            name,
            rows,
            keys: distinct,
        });
        self.doubt(keys.doubts())?;
        let cells = keys.bad_cells();
        if !cells.sorts.is_empty() {
            self.warn(Warning::BadCells { cells, rows });
        }
        if let Some((job, identity)) = job.zip(identity) {
            job.is_about(identity)?;
        }
        Ok(Table::new(keys))
    }

    pub(crate) fn use_of_table(&self, has_job: bool) -> Use {
        Use {
            rows: self.trade.gives.is_some()
                || match self.task {
                    Task::Write(_) => true,
                    Task::Share(_) => self.role == Role::Receiver,
                    Task::Help | Task::Learn => false,
                },
            keys: self.aligned.is_some() || (has_job && self.trade.gives.is_some()),
            again: has_job,
        }
    }

    /// Measures the network with the other party, if that only checks, too, and tells it.
    fn foresee(&self, agreement: &Agreement, channel: &mut Channel) -> Result<(), Error> {
        if !agreement.peer_only_checks {
            return Ok(());
        }
        let network = network::measure(channel, self.role, self.watcher)?;
        self.watcher.hear(Event::Foreseen {
            plan: &agreement.plan,
            network,
            threads: self.pool.threads(),
        });
        Ok(())
    }

    /// Runs the protocol, and shows how far it is.
    fn run(
        &self,
        run: &Run<'_>,
        agreement: &Agreement,
        (table, use_of_table): (&mut Table, Use),
        (
            Streams {
                mut channels,
                counters,
            },
            signing,
        ): (Streams, Option<Signing<'_>>),
        phases: &Phases,
    ) -> Result<(Ran, Snapshot), Error> {
        let (plan, role) = (run.plan, run.role);
        let remaining = agreement.remaining(run.ledger);
        let done = plan.cost().total.total_bytes() - remaining.traffic().total_bytes();
        self.tell_what_remains(plan, remaining);
        let before = passed(&counters);
        let moved = || (passed(&counters) - before).total_bytes();
        let work = Work::Protocol {
            plan,
            role,
            threads: self.pool.threads(),
            done,
        };
        let total = plan.cost().total.total_bytes();
        let compute = (self.pool, phases);
        let ran = during(
            self.watcher,
            work,
            || (moved(), total),
            || table.run(run, use_of_table, &self.allowance, &mut channels, compute),
        );
        let ran = match &signing {
            None => ran.map_err(Error::from),
            Some(signing) => signing.unless_unsigned(ran.map_err(Error::from)),
        };
        let outcome = match &ran {
            Ok(ran) => signing::outcome(&ran.output),
            // The other party must not see that it gave what cannot be opened, so the session ends
            // as any other.
            Err(Error::Psi(psijoin::Error::Payload)) if run.ledger.is_some() => {
                record::Outcome::Done
            }
            Err(_) => return Ok((ran?, Snapshot::default())),
        };
        let traffic = passed(&counters) - before;
        if run.ledger.is_some() {
            self.confirm(plan, &mut channels[0])?;
        }
        if let Some(signing) = signing {
            signing.conclude(outcome, traffic, &mut channels[0], self.watcher)?;
        }
        Ok((ran?, traffic))
    }

    /// Tells what a job that goes on still has to do.
    fn tell_what_remains(&self, plan: &Plan, remaining: Remaining<'_>) {
        let parts = plan.parts().map_or(1, |parts| parts.shape.parts);
        if !remaining.is_all() {
            self.watcher.hear(Event::GoesOn {
                done: parts - remaining.runs(),
                parts,
                bytes_left: remaining.traffic().total_bytes(),
            });
        }
    }

    /// Tells the other party that this one has kept all, and hears the same from it, if it matters.
    fn confirm(&self, plan: &Plan, channel: &mut Channel) -> Result<(), Error> {
        const RECEIPT: [u8; 1] = [1];
        let channel_failed = |error| Error::from(psijoin::Error::from(error));
        let mut theirs = [0; 1];
        match (receipts(plan), self.role) {
            ([0, _], Role::Sender) => channel.recv(&mut theirs).map_err(channel_failed)?,
            ([0, _], Role::Receiver) => {
                // Whether the sender hears it is the sender's affair.
                let _ = channel.send(&RECEIPT);
                return Ok(());
            }
            _ => {
                let exchanged = channel.exchange(
                    |outbound| outbound.send(&RECEIPT),
                    |inbound| inbound.recv(&mut theirs),
                );
                exchanged.map_err(channel_failed)?;
            }
        }
        match theirs == RECEIPT {
            true => Ok(()),
            false => {
                Err(psijoin::Error::Peer("it did not confirm that it has kept its result").into())
            }
        }
    }

    /// Hands the result out, with the session over.
    fn deliver(
        self,
        computed: Computed,
        table: &Table,
        own: &OwnColumns,
    ) -> Result<Outcome, Error> {
        let Computed {
            agreement,
            joint_seed,
            steps_run_again,
            traffic,
            phases,
            ran,
        } = computed;
        let spilled_bytes = ran.spilled_bytes;
        let columns = &agreement.columns;
        let received = match (&self.task, ran) {
            (Task::Write(destination), ran) => {
                phases.begin("writing the rows");
                let (source, progress) = (&self.source, self.progress);
                let layout = agreement.given.by(self.role.other());
                let spill = &self.allowance.spill;
                let (shared_keys, (rows, in_memory)) = match (self.aligned, layout) {
                    (Some(_), layout) => {
                        let key = joint_seed.key("psijoin 2026 order of aligned rows");
                        let of_table = || table.aligned(ran, layout, &key, spill);
                        let (rows, given) = self.pool.run(of_table)?;
                        let stage = || {
                            destination.stage_aligned(
                                source,
                                &rows,
                                given.as_ref(),
                                spill,
                                progress,
                            )
                        };
                        (rows.count(), self.write(destination, &stage)?)
                    }
                    (None, None) => {
                        let (keys, rows) = table.matching(ran)?;
                        let stage = || destination.stage_rows(source, &rows, progress);
                        (keys, self.write(destination, &stage)?)
                    }
                    (None, Some(layout)) => {
                        let (keys, rows, given) = table.joined(ran, layout, spill)?;
                        let stage = || destination.stage_joined(source, &rows, &given, progress);
                        (keys, self.write(destination, &stage)?)
                    }
                };
                Some(Received::Rows {
                    shared_keys,
                    which: destination.which(),
                    aligned: self.aligned.is_some(),
                    rows,
                    in_memory,
                })
            }
            (
                Task::Share(file),
                Ran {
                    output: Output::Shares(shares),
                    ..
                },
            ) => {
                phases.begin("writing the shares");
                let places = shares.places() as u64;
                let kept = Kept {
                    role: self.role,
                    columns: columns.in_shares(),
                    joint_seed: &joint_seed,
                    row_of: (self.role == Role::Receiver).then(|| table.row_of()),
                };
                kept.write(shares, file, self.watcher)?;
                Some(Received::Shares { places })
            }
            (_, ran) => {
                self.watcher.hear(Event::HandsOut);
                self.received(columns, ran.output)
            }
        };
        Ok(Outcome {
            role: self.role,
            plan: agreement.plan,
            counts: table.counts,
            bad_cells: table.bad_cells.clone(),
            looks: table.looks.clone(),
            spilled_bytes,
            steps_run_again,
            traffic,
            time: Duration::ZERO,
            phases: phases.end(),
            question: self.question,
            columns: agreement.columns,
            given: agreement.given,
            rows_without_number: own.rows_without_number(&table.numbers),
            received,
        })
    }

    /// Returns what was received if it is not rows; `None` for a party that only helped.
    fn received(&self, columns: &AgreedColumns, output: Output) -> Option<Received> {
        match (&self.question.asked, output) {
            (RequestedOutput::Count, Output::Count(count)) => Some(Received::Count(count)),
            (&RequestedOutput::Threshold(least), Output::Reached(reached)) => {
                Some(Received::Threshold { least, reached })
            }
            (RequestedOutput::Sum(_), Output::Sums(sums)) => {
                Some(Received::Sums(columns.sums(&sums)))
            }
            _ => None,
        }
    }

    /// Writes rows, and returns their number; `None` if their reader went away. Those that stay in
    /// memory come back, too.
    fn write(
        &self,
        destination: &Destination,
        stage: &(dyn Fn() -> Result<StagedRows, psijoin_table::Error> + Sync),
    ) -> Result<(Option<u64>, Option<Batches>), Error> {
        let staged = during(
            self.watcher,
            Work::WritingRows,
            || self.progress.bytes(),
            || self.pool.run(stage),
        );
        match staged {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok((None, None)),
            staged => {
                let staged = staged?;
                self.watcher.hear(Event::HandsOut);
                let rows = staged.rows();
                let in_memory = match destination.is_in_memory() {
                    true => staged.into_batches(),
                    false => {
                        staged.commit()?;
                        None
                    }
                };
                Ok((Some(rows), in_memory))
            }
        }
    }
}

/// What a party brings to a protocol.
pub struct Set<'a, F> {
    /// Its items' fingerprints.
    pub fingerprints: F,
    /// Its columns, each with one number per item.
    pub columns: &'a [Vec<i64>],
    /// Its payloads, one after the other.
    pub payloads: &'a [u8],
}

/// A run of one party.
pub struct Run<'a> {
    /// What runs.
    pub plan: &'a Plan,
    /// The party's role.
    pub role: Role,
    /// Fresh for each run, or that of the job's first attempt.
    pub joint_seed: &'a JointSeed,
    /// What is kept of it.
    pub ledger: Option<&'a dyn Ledger>,
}

impl Run<'_> {
    /// Runs it in a thread pool over its channels, one at least, from its fingerprints on, which
    /// are dropped as soon as they are not needed any more.
    ///
    /// # Errors
    /// As [`psijoin::run`].
    pub fn compute(
        &self,
        Set {
            fingerprints,
            columns,
            payloads,
        }: Set<'_, impl AsRef<[Fingerprint]> + Send>,
        channels: &mut [Channel],
        pool: &Pool,
        phases: &Phases,
    ) -> Result<Output, psijoin::Error> {
        pool.run(|| {
            phases.begin("item digests");
            let items = &self.plan.items(fingerprints.as_ref(), self.joint_seed);
            drop(fingerprints);
            let input = Input {
                items,
                columns,
                payloads,
                joint_seed: self.joint_seed,
            };
            let mut context = self.context(channels, phases);
            psijoin::run(self.plan, self.role, &input, &mut context)
        })
    }

    /// Returns what it runs over.
    pub(crate) fn context<'c>(
        &'c self,
        channels: &'c mut [Channel],
        phases: &'c Phases,
    ) -> Context<'c> {
        let (first, further) = channels.split_first_mut().expect("a stream");
        let mut context = Context::new(first).streams(further).observed(phases);
        context.ledger = self.ledger;
        context
    }
}
