//! The stages of a join, one by one, for a table that lies elsewhere.
//!
//! [`JoinSpec::join`] goes through all of them. Whoever has the table in several places, as a
//! cluster has, calls them instead:
//!
//! 1. [`JoinSpec::agree`] meets the other party and agrees with it, by what is [known](TableFacts)
//!    of the table: settings, sizes, the plan, and the joint seed;
//! 2. the caller hands a [ticket](Agreed::ticket) of each lane to a process that has the items of
//!    its parts, all at the same time; each opens its [`Lane`](crate::Lane) and runs them;
//! 3. it takes the [reports](Agreed::take) of all lanes, and [finishes](Agreed::finish): what is to
//!    be learned is opened, the last words are said, the record is signed, the session ends.
//!
//! A thread that [watches](Agreed::watch) hears at once if the other party is gone, so that lanes can
//! be stopped.
//!
//! While lanes run, the other party takes this one for hung unless this process computes, or
//! somebody calls [`Agreed::progressed`]. Otherwise it cannot tell that the table is not here. A
//! job is not kept: whoever has the table in several places runs again as a whole.

use std::{
    fmt,
    num::NonZeroU32,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Instant,
};

use psijoin::{
    Context, Output, Plan, Role, Router,
    parts::{Learned, Session},
};
use psijoin_channel::count::counted;
use psijoin_files::Existing;
use psijoin_table::{BadCellsOfKey, Labels, Numbers, portions::hashes_of};
use psijoin_transport::{Connection, Endpoint};

use crate::{
    Attempt, ElsewhereFault, Error, JoinSpec, Stop, Watcher, again,
    agreement::Agreement,
    columns::OwnColumns,
    event::Event,
    join::tell_of,
    lane::{LaneReport, LaneTicket, Tickets},
    outcome::{Outcome, Received},
    party::{Mode, Party},
    peer_watch::PeerWatch,
    phases::Phases,
    pulse,
    requested_output::RequestedOutput,
    run::Underway,
    trade::Given,
    workplace::received,
};

use elsewhere::Elsewhere;
use facts::Unseen;

mod elsewhere;
mod facts;

pub use facts::TableFacts;

/// The name of a table that lies elsewhere, in warnings.
const TABLE: &str = "the table";

/// What is known of a party's columns of numbers, and of labels.
type Beside = (Vec<Numbers>, Vec<Labels>);

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
    elsewhere: Elsewhere,
}

impl JoinSpec {
    /// Meets the other party, and agrees with it on all that a join needs. `facts` stand for the
    /// table: [`JoinSpec::table`], `written` and `mode` are not looked at. At most this number of
    /// `lanes` run, all at the same time. A side that comes again if a lane is lost says which
    /// attempt this is. If this side cannot, as its own files do not let it, it still meets the
    /// other, to tell it.
    ///
    /// # Errors
    /// [`ElsewhereFault`], [`SpecFault`](crate::SpecFault), and any failure of meeting and
    /// agreeing, which the other party is told.
    pub fn agree<'a>(
        self,
        facts: TableFacts,
        (lanes, attempt): (NonZeroU32, Option<Attempt>),
        watcher: &'a dyn Watcher,
        stop: &Stop,
    ) -> Result<Agreed<'a>, Error> {
        if self.job.is_some() || self.aligned.is_some() {
            return Err(ElsewhereFault::JobOrOrder.into());
        }
        if self.budget.is_some() {
            return Err(ElsewhereFault::Budget.into());
        }
        if let RequestedOutput::Shares(_) = self.question.asked {
            return Err(ElsewhereFault::Shares.into());
        }
        if let Endpoint::Listen(_) | Endpoint::Folder(_) = self.meeting.endpoint {
            return Err(ElsewhereFault::NoWay.into());
        }
        self.check_agreement()?;
        let mut endpoint = self.meeting.endpoint.clone();
        let steps = Arc::default();
        let mut options = self.options(stop);
        options.pulse = pulse::with_steps(&stop.progress, &steps);
        // Lanes are waited for as in the first attempt: clusters have other work.
        let timeouts = options.timeouts;
        if let Some(most) = attempt.as_ref().and_then(Attempt::most_wait) {
            options.timeouts.meet = timeouts.meet.min(most);
        }
        self.warn(watcher);
        let ready = self.ready_elsewhere(&facts, attempt, watcher);
        let (mut party, own, (numbers, labels)) =
            ready.inspect_err(|error| tell_of(error, &mut endpoint, &options, watcher))?;
        party.lanes = Some(lanes);
        let (connection, channel) = crate::meet(&mut endpoint, &options, watcher)?;
        let started = Instant::now();
        let phases = Phases::default();
        phases.begin("handshake (with waiting)");
        let agree = || {
            let (mut channel, counters) = counted(channel);
            let table = &mut Unseen {
                facts: &facts,
                numbers: &numbers,
                labels: &labels,
            };
            let mut agreement = party.agree((&connection, &mut channel), &own, table, None)?;
            if agreement.peer_only_checks {
                return Err(Error::OnlyChecked);
            }
            let elsewhere = Elsewhere::new(&party, &agreement, (&connection, timeouts))?;
            let over = (&connection, (channel, counters));
            let underway = Underway::elsewhere(&party, &mut agreement, over);
            Ok((agreement, underway, elsewhere))
        };
        let agreed: Result<_, Error> = agree();
        match agreed {
            Ok((agreement, underway, elsewhere)) => Ok(Agreed {
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
                elsewhere,
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
    /// columns, and what is known of their numbers and labels.
    fn ready_elsewhere<'a>(
        mut self,
        facts: &TableFacts,
        attempt: Option<Attempt>,
        watcher: &'a dyn Watcher,
    ) -> Result<(Party<'a>, OwnColumns, Beside), Error> {
        self.mode = Mode::Join;
        let allowance = self.allowance(self.resources.threads.map_or(1, usize::from))?;
        watcher.hear(Event::Threads(allowance.threads));
        let recording = self.recording(Existing::Keep)?;
        let mut party = self.party(recording, &allowance, watcher);
        party.attempt = attempt;
        party.doubt(TABLE, &facts.doubts)?;
        party.check_hello()?;
        party.check_question()?;
        let names: Vec<&str> = (facts.numbers.iter().map(|(name, _)| &**name)).collect();
        let own = OwnColumns::among(&party.question.asked, party.role, &names);
        let (numbers, labels) = (facts.of_columns(&own)?, facts.of_labels(&own)?);
        if let Some(give) = &party.trade.gives {
            facts.offer(give)?;
        }
        Ok((party, own, (numbers, labels)))
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

    /// Returns the columns that are given, and how they stand in payloads.
    pub fn given(&self) -> &Given {
        &self.agreement.given
    }

    /// Returns the number of lanes: as many as both sides can run at the same time, and no more
    /// than there are parts. None, if the result follows from the sizes of the sets.
    pub fn lanes(&self) -> u32 {
        self.elsewhere.lanes.count
    }

    /// Returns the way of this party's keys to their parts. The keys of part `i` are for lane
    /// `i % lanes`.
    ///
    /// # Panics
    /// If there are no lanes.
    pub fn router(&self) -> Router {
        let parts = self.agreement.plan.parts().expect("lanes run parts");
        parts.router(&self.agreement.joint_seed)
    }

    /// Returns the ticket of one lane, for one process.
    ///
    /// # Panics
    /// If there are fewer lanes.
    pub fn ticket(&self, lane: u32) -> LaneTicket {
        let scales = self.numbers.iter().map(|numbers| numbers.scale);
        let numbers: Vec<_> = self.own.to_read().into_iter().zip(scales).collect();
        let role = self.party.role;
        let layout = self.agreement.given.by(role);
        let noise = self.agreement.noise.as_ref();
        let bounds = noise.map_or_else(Vec::new, |noise| noise.bounds(role));
        let labels = self.agreement.groups.of(role);
        let labels: Vec<_> = labels.map(|agreed| hashes_of(&agreed.labels)).collect();
        let tickets = Tickets {
            gives: (self.facts.offered.as_ref().zip(layout))
                .map(|(offered, layout)| (offered.columns(), layout)),
            role,
            plan: &self.agreement.plan,
            lanes: &self.elsewhere.lanes,
            numbers: &numbers,
            bounds: &bounds,
            labels: &labels,
            at: &self.elsewhere.at,
            timeouts: self.connection.timeouts(),
        };
        tickets.of(lane)
    }

    /// Takes the report of a lane, once.
    ///
    /// # Errors
    /// [`ElsewhereFault::Report`], and if the numbers of a column are too large.
    pub fn take(&mut self, report: &LaneReport) -> Result<(), Error> {
        let parts = self.agreement.plan.parts();
        (self.elsewhere).take(report, parts.map_or(0, |parts| parts.shape.parts))?;
        self.underway.add_elsewhere(report.bytes());
        Ok(())
    }

    /// Tells the other party, by the next heartbeat, that the run has come further somewhere.
    pub fn progressed(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns what hears how the session ends while lanes run, for a thread of its own. It can
    /// outlive this.
    pub fn watch(&self) -> PeerWatch {
        PeerWatch::new(self.connection.watch())
    }

    /// Ends the session once all lanes have reported, and returns what this party knows. Rows that
    /// were found stay where they were found. Of rows that a minimum withheld until now, the
    /// receiver gets the [places](Received::Places): whoever kept the
    /// [places](psijoin::parts::Done::places) of a part finds its rows. If totals of groups have
    /// noise, the sender draws it here, once for all lanes.
    ///
    /// # Errors
    /// [`ElsewhereFault::Lanes`]; that of opening what is learned, which the other party is told;
    /// [`Error::TooFew`]; or that the other party did not sign, or left before it had all.
    pub fn finish(mut self) -> Result<Outcome, Error> {
        let opened = self.open();
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
            elsewhere,
        } = self;
        let comes_again = agreement.next_attempt.is_some();
        let ended = underway.end(&party, opened, Learned::output);
        if let Err(error @ Error::Psi(psijoin::Error::Payload)) = ended {
            // The other party must not see it.
            connection.take_leave()?;
            party.leave_elsewhere(connection, comes_again)?;
            return Err(error);
        }
        let (learned, traffic) = ended.inspect_err(|error| connection.abort(error.abort_code()))?;
        // It has not ended by itself where nothing was opened.
        connection.take_leave()?;
        if let Output::TooFew = learned.output() {
            // Both know that already.
            let _ = connection.finish();
            return Err(Error::TooFew(party.question.min_intersection));
        }
        party.leave_elsewhere(connection, comes_again)?;
        party.watcher.hear(Event::HandsOut);
        let received = match learned {
            Learned::Places(shared) => Some(Received::Places(shared)),
            Learned::Output(_) if party.question.finds_rows(party.role) => {
                Some(Received::Elsewhere {
                    shared_keys: elsewhere.shared,
                })
            }
            Learned::Output(output) => {
                let (columns, groups) = (&agreement.columns, &agreement.groups);
                received(&party.question.asked, (columns, groups), output)
            }
        };
        let mut bad_cells = BadCellsOfKey::default();
        bad_cells.rows = facts.bad_rows;
        Ok(Outcome {
            role: party.role,
            plan: agreement.plan,
            counts: facts.counts,
            bad_cells,
            looks: facts.looks,
            spilled_bytes: 0,
            steps_run_again: 0,
            attempt: party.attempt.as_ref().map_or(1, Attempt::number),
            traffic,
            time: started.elapsed(),
            phases: phases.end(),
            question: party.question,
            columns: agreement.columns,
            groups: agreement.groups,
            noise: agreement.noise,
            balance: None,
            given: agreement.given,
            rows_without_number: own.rows_without_number(&numbers),
            received,
        })
    }

    /// Opens what is to be learned, with the other party.
    fn open(&mut self) -> Result<Learned, Error> {
        self.elsewhere.check_whole()?;
        let (plan, role) = (&self.agreement.plan, self.party.role);
        let Some(gathered) = &self.elsewhere.gathered else {
            let decided = plan.decided(role).expect("nothing runs");
            return Ok(Learned::Output(decided));
        };
        let session = Session::new(plan, role, &self.agreement.joint_seed);
        let noise = self.agreement.noise.as_ref();
        let noise = noise.map(|noise| noise.begin(role, plan.request()));
        let noise = noise.transpose()?.unwrap_or_default();
        let context = Context::new(&mut self.underway.channels[0]);
        Ok(session.conclude(gathered, &mut context.adding(&noise.numbers))?)
    }

    /// Ends the session, and tells the other party that this one cannot go on.
    pub fn abort(self, error: &Error) {
        self.connection.abort(error.abort_code());
    }

    /// Returns the attempt in which both sides meet if a lane of this one is lost; `None` if they
    /// do not meet again.
    pub fn next_attempt(&self) -> Option<&Attempt> {
        self.agreement.next_attempt.as_ref()
    }

    /// Ends the session, as a lane of this side was lost, and tells the other party. Returns
    /// whether it comes again, as this side has to: not if it has given up before.
    pub fn lose_lane(self) -> bool {
        let comes = match self.connection.ended() {
            // If it is done, it waits for this side.
            None | Some(Ok(())) => true,
            Some(Err(error)) => Error::from(error).is_lane_lost(),
        };
        let comes_again = comes && self.next_attempt().is_some();
        self.connection.abort(again::code(comes_again));
        comes_again
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
