//! The stages of a join, one by one, for a table that lies elsewhere.
//!
//! [`JoinSpec::join`] goes through all of them. Whoever has the table in several places, as a
//! cluster has, calls them instead:
//!
//! 1. [`JoinSpec::agree`] meets the other party and agrees with it, by what is [known](TableFacts)
//!    of the table: settings, sizes, the plan, and the joint seed;
//! 2. the caller runs the plan, wherever the items are: part by part
//!    ([`parts::Session::run_part`](psijoin::parts::Session::run_part)) over the
//!    [streams](Agreed::streams), and [concludes](psijoin::parts::Session::conclude); or in one
//!    run ([`psijoin::run`]);
//! 3. [`Agreed::finish`] says the last words, signs the record, and ends the session.
//!
//! While the plan runs, the other party takes this one for hung unless this process computes, or
//! somebody calls [`Agreed::progressed`]. Otherwise it cannot tell that the table is not here. A
//! job is not kept: whoever has the table in several places runs again as a whole.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use psijoin::{JointSeed, Output, Plan, Role};
use psijoin_channel::{Channel, count::counted};
use psijoin_files::Existing;
use psijoin_table::{
    Counts, Meaning, Numbers,
    share::{GivenColumns, RepeatedKeys},
};
use psijoin_transport::Connection;

use crate::{
    ElsewhereFault, Error, JoinSpec, Stop, Watcher,
    agreement::Agreement,
    columns::OwnColumns,
    event::Event,
    join::tell_of,
    outcome::Outcome,
    own_table::{Facts, OwnTable},
    party::{Mode, Party},
    phases::Phases,
    pulse,
    run::Underway,
    trade::{Give, Given},
    workplace::received,
};

/// The facts about a table that lies elsewhere, as far as the other party is told of it.
#[derive(Debug, Clone, Default)]
pub struct TableFacts {
    /// Its rows, and its distinct keys: the items of the set.
    pub counts: Counts,
    /// The meaning of each column of the key.
    pub meanings: Vec<Meaning>,
    /// The columns of numbers, by name, without their values.
    pub numbers: Vec<(String, Numbers)>,
    /// The columns that it can give, and the most bytes that a row of them takes.
    pub offered: Option<(GivenColumns, usize)>,
}

/// A join that both parties have agreed on, and that may run.
pub struct Agreed<'a> {
    party: Party<'a>,
    own: OwnColumns,
    facts: TableFacts,
    numbers: Vec<Numbers>,
    agreement: Agreement,
    connection: Connection,
    underway: Underway,
    phases: Phases,
    started: Instant,
    steps: Arc<AtomicU64>,
}

impl JoinSpec {
    /// Meets the other party, and agrees with it on all that a join needs. `facts` stand for the
    /// table: [`JoinSpec::table`], `written` and `mode` are not looked at. If this side cannot, as
    /// its own files do not let it, it still meets the other, to tell it.
    ///
    /// # Errors
    /// [`ElsewhereFault`], [`SpecFault`](crate::SpecFault), and any failure of meeting and
    /// agreeing, which the other party is told.
    pub fn agree<'a>(
        self,
        facts: TableFacts,
        watcher: &'a dyn Watcher,
        stop: &Stop,
    ) -> Result<Agreed<'a>, Error> {
        if self.job.is_some() || self.aligned.is_some() {
            return Err(ElsewhereFault::JobOrOrder.into());
        }
        self.check_agreement()?;
        let mut endpoint = self.meeting.endpoint.clone();
        let steps = Arc::default();
        let mut options = self.options(stop);
        options.pulse = pulse::with_steps(&stop.progress, &steps);
        self.warn(watcher);
        let ready = self.ready_elsewhere(&facts, watcher);
        let (party, own, numbers) =
            ready.inspect_err(|error| tell_of(error, &mut endpoint, &options, watcher))?;
        let (mut connection, channel) = crate::meet(&mut endpoint, &options, watcher)?;
        let started = Instant::now();
        let phases = Phases::default();
        phases.begin("handshake (with waiting)");
        let agree = || {
            let (mut channel, counters) = counted(channel);
            let table = &mut Elsewhere {
                facts: &facts,
                numbers: &numbers,
            };
            let mut agreement = party.agree((&connection, &mut channel), &own, table, None)?;
            if agreement.peer_only_checks {
                return Err(Error::OnlyChecked);
            }
            let over = (&mut connection, (channel, counters));
            let underway = Underway::begin(&party, &mut agreement, over, None)?;
            Ok((agreement, underway))
        };
        let agreed: Result<_, Error> = agree();
        match agreed {
            Ok((agreement, underway)) => Ok(Agreed {
                party,
                own,
                facts,
                numbers,
                agreement,
                connection,
                underway,
                phases,
                started,
                steps,
            }),
            Err(Error::OnlyChecked) => {
                // Both know that already.
                let _ = connection.finish();
                Err(Error::OnlyChecked)
            }
            Err(error) => {
                connection.abort(error.abort_code());
                Err(error)
            }
        }
    }
}

impl JoinSpec {
    /// Checks all that can be checked before the other party is there. Returns this party, its
    /// columns, and their numbers.
    fn ready_elsewhere<'a>(
        mut self,
        facts: &TableFacts,
        watcher: &'a dyn Watcher,
    ) -> Result<(Party<'a>, OwnColumns, Vec<Numbers>), Error> {
        self.mode = Mode::Join;
        let allowance = self.allowance(self.resources.threads.map_or(1, usize::from))?;
        watcher.hear(Event::Threads(allowance.threads));
        let recording = self.recording(Existing::Keep)?;
        let party = self.party(recording, &allowance, watcher);
        party.check_hello()?;
        party.check_question()?;
        let names: Vec<&str> = (facts.numbers.iter().map(|(name, _)| &**name)).collect();
        let own = OwnColumns::among(&party.question.asked, party.role, &names);
        let numbers = facts.of_columns(&own)?;
        Ok((party, own, numbers))
    }
}

impl TableFacts {
    /// Returns those of these columns, in their order.
    fn of_columns(&self, own: &OwnColumns) -> Result<Vec<Numbers>, Error> {
        let of = |name: String| {
            let found = self.numbers.iter().find(|(known, _)| *known == name);
            let found = found.map(|(_, numbers)| numbers.clone());
            found.ok_or_else(|| ElsewhereFault::Numbers(name).into())
        };
        own.to_read().into_iter().map(of).collect()
    }
}

/// A table that lies elsewhere.
struct Elsewhere<'a> {
    facts: &'a TableFacts,
    numbers: &'a [Numbers],
}

impl OwnTable for Elsewhere<'_> {
    fn facts(&self) -> Facts<'_> {
        Facts {
            counts: self.facts.counts,
            meanings: &self.facts.meanings,
            numbers: self.numbers,
        }
    }

    fn check_alignable(&self, _: RepeatedKeys) -> Result<(), Error> {
        Err(ElsewhereFault::JobOrOrder.into())
    }

    fn offer(&mut self, give: &Give) -> Result<GivenColumns, Error> {
        match &self.facts.offered {
            Some((columns, _)) => Ok(columns.take(&give.columns)?),
            None => Err(ElsewhereFault::Columns.into()),
        }
    }

    fn row_bytes(&mut self, _: &Party<'_>, give: &Give, _: &GivenColumns) -> Result<usize, Error> {
        let offered = self.facts.offered.as_ref().map(|(_, bytes)| *bytes);
        let bytes = give.row_bytes.or(offered);
        bytes.ok_or_else(|| ElsewhereFault::Columns.into())
    }

    fn take(&mut self, _: Role, _: &Given) -> Result<(), Error> {
        Ok(())
    }
}

impl Agreed<'_> {
    /// Returns this party's role.
    pub fn role(&self) -> Role {
        self.party.role
    }

    /// Returns the plan that both parties made.
    pub fn plan(&self) -> &Plan {
        &self.agreement.plan
    }

    /// Returns the seed that both drew: of the items' digests, and of the run.
    pub fn joint_seed(&self) -> &JointSeed {
        &self.agreement.joint_seed
    }

    /// Returns the columns that are given, and how they stand in payloads.
    pub fn given(&self) -> &Given {
        &self.agreement.given
    }

    /// Returns the streams to the other party, one at least, for the [channels of a
    /// context](psijoin::Context::streams). If there are several, part p of k runs on stream p mod
    /// s of s, in ascending order; the first one is also for the opening. With one
    /// [thread](crate::Resources::threads) there is one stream.
    pub fn streams(&mut self) -> &mut [Channel] {
        &mut self.underway.channels
    }

    /// Tells the other party, by the next heartbeat, that the run has come further somewhere.
    pub fn progressed(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Ends the session with what the run has given on this side, and returns what this party
    /// knows. Rows that were found stay where they were found.
    ///
    /// # Errors
    /// That of the run, which the other party is told; [`Error::TooFew`]; or that the other party
    /// did not sign, or left before it had all.
    pub fn finish(self, ran: Result<Output, psijoin::Error>) -> Result<Outcome, Error> {
        let Self {
            party,
            own,
            facts,
            numbers,
            agreement,
            connection,
            underway,
            phases,
            started,
            steps: _,
        } = self;
        let ended = underway.end(&party, ran.map_err(Error::from), |output| output);
        let (output, traffic) = ended.inspect_err(|error| connection.abort(error.abort_code()))?;
        if let Output::TooFew = output {
            // Both know that already.
            let _ = connection.finish();
            return Err(Error::TooFew(party.question.min_intersection));
        }
        party.leave(connection, false)?;
        party.watcher.hear(Event::HandsOut);
        let received = received(&party.question.asked, &agreement.columns, output);
        Ok(Outcome {
            role: party.role,
            plan: agreement.plan,
            counts: facts.counts,
            bad_cells: Default::default(),
            looks: Vec::new(),
            spilled_bytes: 0,
            steps_run_again: 0,
            traffic,
            time: started.elapsed(),
            phases: phases.end(),
            question: party.question,
            columns: agreement.columns,
            given: agreement.given,
            rows_without_number: own.rows_without_number(&numbers),
            received,
        })
    }

    /// Ends the session, and tells the other party that this one cannot go on.
    pub fn abort(self, error: &Error) {
        self.connection.abort(error.abort_code());
    }
}

impl fmt::Debug for Agreed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Agreed")
            .field("role", &self.role())
            .field("protocol", &self.plan().info().name)
            .finish_non_exhaustive()
    }
}
