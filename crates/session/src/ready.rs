//! The whole of a party: it meets the other one, agrees with it, runs, and hands the result out.
//!
//! The two parties meet before they read their tables: the connection stays alive meanwhile,
//! so one may take much longer than the other, and a table that cannot be read is an
//! error on both sides.
//!
//! The session is over, for the other party, with the last message of the protocol. The time in
//! which a party then finds its result and writes it, and whether it can, is its own affair: it
//! would tell the size of the result. Also, the other party can then no longer take a result away
//! by leaving.

use std::time::{Duration, Instant};

use psijoin::{JointSeed, Ledger, Output, Plan, parts::Remaining};
use psijoin_channel::{
    Channel, Error as ChannelError,
    count::{Snapshot, counted},
};
use psijoin_job::Ended;
use psijoin_runtime::memory::keep_pages;
use psijoin_transport::Connection;
use zeroize::Zeroizing;

use crate::{
    Error,
    agreement::Agreement,
    budget::{Balance, Grouper},
    columns::OwnColumns,
    event::{Event, Work, during},
    job::Job,
    negotiation::session_name,
    network,
    outcome::Outcome,
    party::Party,
    patience::Patience,
    phases::Phases,
    run::{Run, Underway},
    spending::Spends,
    table::{Ran, Table},
    workplace::{ReadTable, Workplace},
};

/// A party that can play its part, as far as it can tell before it meets the other.
pub(crate) struct Ready<'a> {
    pub(crate) party: Party<'a>,
    pub(crate) workplace: Workplace<'a>,
    pub(crate) own: OwnColumns,
    /// The state that it keeps, to resume if it has to.
    pub(crate) job: Option<Job>,
    /// The time for which it tries to reconnect, once a connection is lost.
    pub(crate) wait: Duration,
}

/// The result of a protocol run that is done.
pub(crate) struct Computed {
    pub(crate) agreement: Agreement,
    /// The seed that items were digested under.
    pub(crate) joint_seed: JointSeed,
    /// What the other party's balance is then, if there is a budget.
    pub(crate) balance: Option<Balance>,
    pub(crate) steps_run_again: u32,
    pub(crate) traffic: Snapshot,
    pub(crate) phases: Phases,
    pub(crate) ran: Ran,
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
                let mut patience = Patience::new(self.wait);
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
        if let Output::TooFew = computed.ran.output {
            if let Some(job) = &mut self.job {
                job.end(Ended::TooFew)?;
            }
            return Err(Error::TooFew(self.party.question.min_intersection));
        }
        let mut table = table.expect("it was read");
        table.no_more_attempts();
        let job = self.job.take();
        let mut outcome = self.deliver(computed, &table)?;
        outcome.time = started.elapsed();
        Ok((outcome, job))
    }

    /// Joins once, over a connection to the other party.
    fn attempt(
        &mut self,
        (mut connection, channel): (Connection, Channel),
        table: &mut Option<Table>,
    ) -> Result<Computed, Error> {
        // The memory of keys that are not needed any more is there for the protocol.
        let _kept = keep_pages();
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
            _ => self.party.leave(connection, self.job.is_some())?,
        }
        Ok(computed)
    }

    /// Names the folder in which a step could not be kept: a protocol does not know of folders.
    fn naming_the_folder(&self, failure: Error) -> Error {
        let Some(job) = &self.job else {
            return failure;
        };
        let folder = job.path().to_owned();
        match Spends::refusal(failure) {
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
        mut self,
        meet: impl FnOnce() -> Result<(Connection, Channel), Error>,
    ) -> Result<(), Error> {
        let (connection, mut channel) = meet()?;
        self.check_with_peer(&connection, &mut channel)
            .inspect_err(|failure| connection.abort(failure.abort_code()))?;
        // It changes nothing if the other party takes no leave.
        let _ = connection.finish();
        Ok(())
    }

    fn check_with_peer(
        &mut self,
        connection: &Connection,
        channel: &mut Channel,
    ) -> Result<(), Error> {
        let Self {
            party,
            workplace,
            own,
            ..
        } = self;
        let table = &workplace.read_table(party, own, None)?;
        let own_table = &mut ReadTable::new(workplace, table);
        let agreement = party.agree((connection, channel), own, own_table, None)?;
        if !agreement.peer_only_checks {
            return Ok(());
        }
        let network = network::measure(channel, party.role, party.watcher)?;
        party.watcher.hear(Event::Foreseen {
            plan: &agreement.plan,
            network,
            threads: workplace.pool.threads(),
        });
        Ok(())
    }

    /// Speaks with the other party, from the table to the output of the protocol: both agree, run,
    /// and say their last words.
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
        phases.begin("handshake (with waiting)");
        let mut agreement = self.agree((connection, &mut channel), table)?;
        let Self {
            party,
            workplace,
            own,
            job,
            ..
        } = self;
        let job_before = job.as_ref();
        let joint_seed = job_before.map_or(Ok(agreement.joint_seed), Job::joint_seed)?;
        let steps_run_again = job_before.map_or(0, Job::steps_run_again);
        let ledger = job_before.map(|job| job.results() as &dyn Ledger);
        let (partner, first) = (connection.peer_key(), (channel, counters));
        let mut underway = Underway::begin(party, &mut agreement, (connection, first), ledger)?;
        let session = session_name(&joint_seed);
        let disclosed = |secret: &Zeroizing<[u8; 32]>, least| {
            let grouper = Grouper::new(secret.clone(), least, own.with_scales(&table.numbers));
            Ok(table.disclosed(&grouper, workplace.pool)?)
        };
        let spending = party.spend(partner, &agreement, session, job_before, disclosed)?;
        let spends = (job_before.zip(spending.as_ref())).map(|(job, spending)| Spends {
            results: job.results(),
            spending,
        });
        let ledger = (spends.as_ref().map(|spends| spends as &dyn Ledger)).or(ledger);
        let request = agreement.plan.request();
        let noise = agreement.noise.as_ref();
        let noise = noise.map(|noise| noise.begin(party.role, request));
        let run = Run {
            plan: &agreement.plan,
            role: party.role,
            joint_seed: &joint_seed,
            ledger,
            noise: &noise.transpose()?.unwrap_or_default(),
        };
        let remaining = agreement.remaining(ledger);
        let ran = workplace.run(party, (&run, remaining), table, &mut underway, &phases);
        let (ran, traffic) = underway.end(party, ran, |ran| &ran.output)?;
        // It may take until what this party got can be written.
        if let Some(job) = job {
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
            balance: spending.map(|spending| spending.balance()),
            steps_run_again,
            traffic,
            phases,
            ran,
        })
    }

    /// Agrees with the other party, and brings the table, and the job, to where they can run.
    ///
    /// # Errors
    /// [`Error::OnlyChecked`] if the other party wants no more than this.
    fn agree(
        &mut self,
        over: (&Connection, &mut Channel),
        table: &mut Table,
    ) -> Result<Agreement, Error> {
        let Self {
            party,
            workplace,
            own,
            job,
            ..
        } = self;
        let (connection, channel) = over;
        let own_table = &mut ReadTable::new(workplace, table);
        let mut agreement =
            party.agree((connection, &mut *channel), own, own_table, job.as_ref())?;
        if agreement.peer_only_checks {
            return Err(Error::OnlyChecked);
        }
        let use_of_table = workplace.use_of_table(party, job.is_some());
        table.settle(&agreement.plan, use_of_table, workplace.pool)?;
        if !table.is_poured() {
            workplace.read_payloads(party, &agreement.given, table, job.as_mut())?;
        }
        if let Some(job) = job {
            job.settle(&agreement, party.role, channel)?;
            if let Some(document) = &mut agreement.document {
                document.steps_run_again = job.steps_run_again().into();
            }
        }
        Ok(agreement)
    }

    /// Hands the result out, with the session over.
    fn deliver(self, computed: Computed, table: &Table) -> Result<Outcome, Error> {
        let Computed {
            agreement,
            joint_seed,
            balance,
            steps_run_again,
            traffic,
            phases,
            ran,
        } = computed;
        let spilled_bytes = ran.spilled_bytes;
        let (party, result) = (&self.party, (table, ran));
        let received =
            (self.workplace).hand_out(party, &agreement, result, (&joint_seed, &phases))?;
        Ok(Outcome {
            role: self.party.role,
            plan: agreement.plan,
            counts: table.counts,
            bad_cells: table.bad_cells.clone(),
            looks: table.looks.clone(),
            spilled_bytes,
            steps_run_again,
            attempt: 1,
            traffic,
            time: Duration::ZERO,
            phases: phases.end(),
            question: self.party.question,
            columns: agreement.columns,
            groups: agreement.groups,
            noise: agreement.noise,
            balance,
            given: agreement.given,
            rows_without_number: self.own.rows_without_number(&table.numbers),
            received,
        })
    }
}

impl Workplace<'_> {
    /// Runs the protocol on the table, and shows how far it is.
    fn run(
        &self,
        party: &Party<'_>,
        (run, remaining): (&Run<'_>, Remaining<'_>),
        table: &mut Table,
        underway: &mut Underway,
        phases: &Phases,
    ) -> Result<Ran, Error> {
        let (plan, role) = (run.plan, run.role);
        let total = plan.cost().total.total_bytes();
        let done = total - remaining.traffic().total_bytes();
        tell_what_remains(party, plan, remaining);
        let Underway {
            channels, meter, ..
        } = underway;
        let moved = || meter.passed().total_bytes();
        let work = Work::Protocol {
            plan,
            role,
            threads: self.pool.threads(),
            done,
        };
        let use_of_table = self.use_of_table(party, run.ledger.is_some());
        let compute = (self.pool, phases);
        let ran = during(
            party.watcher,
            work,
            || (moved(), total),
            || table.run(run, use_of_table, &self.allowance, channels, compute),
        );
        Ok(ran?)
    }
}

/// Tells what a resumed job still has to do.
fn tell_what_remains(party: &Party<'_>, plan: &Plan, remaining: Remaining<'_>) {
    let parts = plan.parts().map_or(1, |parts| parts.shape.parts);
    if !remaining.is_all() {
        party.watcher.hear(Event::GoesOn {
            done: parts - remaining.runs(),
            parts,
            bytes_left: remaining.traffic().total_bytes(),
        });
    }
}
