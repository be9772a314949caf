//! Going on with a job: after a lost connection, and with what an earlier attempt has left.

use std::path::PathBuf;

use psijoin_channel::{count::Snapshot, memory};
use psijoin_job::Ended;

use crate::{
    Error,
    event::{Event, Warning},
    job::Job,
    noise::Noising,
    patience::Patience,
    phases::Phases,
    ready::{Computed, Ready},
    run::Run,
    table::Table,
    workplace::Task,
};

impl Ready<'_> {
    /// Returns the party's table, which is read unless an earlier attempt did.
    pub(crate) fn table<'t>(
        &mut self,
        table: &'t mut Option<Table>,
    ) -> Result<&'t mut Table, Error> {
        if table.is_none() {
            let (party, job) = (&self.party, self.job.as_mut());
            *table = Some(self.workplace.read_table(party, &self.own, job)?);
        }
        Ok(table.as_mut().expect("it was read"))
    }

    /// Returns whether this party has all that it needs for its result, and the other one does not
    /// need it any more. A party that only helps has no result.
    pub(crate) fn needs_nobody(&self) -> bool {
        let recording = &self.party.recording;
        let has_all = |job: &&Job| job.has_all() && (recording.is_none() || job.is_signed());
        let Some(job) = self.job.as_ref().filter(has_all) else {
            return false;
        };
        match (&self.workplace.task, self.party.question.is_for_both()) {
            (Task::Help, _) => false,
            (_, true) => job.is_confirmed(),
            (_, false) => true,
        }
    }

    /// Returns what this party has when all that it needs was done before. Nothing is said.
    pub(crate) fn recall(&mut self, table: &mut Option<Table>) -> Result<Computed, Error> {
        let phases = Phases::default();
        phases.begin("reading the table");
        let table = self.table(table)?;
        let (party, workplace) = (&self.party, &mut self.workplace);
        let job = self.job.as_mut().expect("a job");
        party.watcher.hear(Event::AllDoneBefore);
        let agreement = party.recall(job)?;
        workplace.write_with(party.role, &agreement.given)?;
        let joint_seed = agreement.joint_seed;
        let use_of_table = workplace.use_of_table(party, true);
        table.settle(&agreement.plan, use_of_table, workplace.pool)?;
        workplace.read_payloads(party, &agreement.given, table, Some(&mut *job))?;
        let run = Run {
            plan: &agreement.plan,
            role: party.role,
            joint_seed: &joint_seed,
            ledger: Some(job.results()),
            noise: &Noising::default(),
        };
        let (mut channels, compute) = ([memory::pair().0], (workplace.pool, &phases));
        let allowance = &workplace.allowance;
        let ran = table.run(&run, use_of_table, allowance, &mut channels, compute)?;
        Ok(Computed {
            agreement,
            joint_seed,
            balance: None,
            steps_run_again: job.steps_run_again(),
            traffic: Snapshot::default(),
            phases,
            ran,
        })
    }

    /// Returns the error of a job that is over: that it is, if it was about this table.
    pub(crate) fn over(&mut self, ended: Ended, table: &mut Option<Table>) -> Error {
        match self.is_of_this_table(table) {
            Err(error) => error,
            Ok(folder) => Error::JobIsOver {
                folder,
                too_few: (ended == Ended::TooFew).then_some(self.party.question.min_intersection),
            },
        }
    }

    /// Checks that a job that is over was about this table, and what is given of it.
    fn is_of_this_table(&mut self, table: &mut Option<Table>) -> Result<PathBuf, Error> {
        let table = self.table(table)?;
        let job = self.job.as_mut().expect("a job");
        let given = job.given()?;
        let (party, job_of_payloads) = (&self.party, Some(&mut *job));
        (self.workplace).read_payloads(party, &given, table, job_of_payloads)?;
        Ok(job.path().to_owned())
    }

    /// Returns whether to meet again after this error: the connection was lost, and there is a job
    /// to resume.
    pub(crate) fn tries_again(&self, error: &Error, patience: &mut Patience) -> bool {
        let Some(job) = &self.job else {
            return false;
        };
        let again = error.is_lost_connection() && patience.lasts(job.done());
        if again {
            self.party.warn(Warning::MeetsAgain(error));
        }
        again
    }

    /// Returns what it means that the other party was not met.
    pub(crate) fn unmet(&self, error: Error) -> Error {
        let Some(job) = self.job.as_ref().filter(|_| error.may_pass()) else {
            return error;
        };
        match (&self.workplace.task, self.party.question.is_for_both()) {
            (Task::Help, _) if job.done() > 0 => Error::Unconfirmed(Box::new(error)),
            (_, true) if job.has_all() => Error::UnconfirmedResult(Box::new(error)),
            _ => error,
        }
    }
}
