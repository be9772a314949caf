//! Going on with a job: after a lost connection, and with what an earlier attempt has left.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use psijoin_channel::{count::Snapshot, memory};
use psijoin_job::Ended;

use super::{Computed, Ready, Run, Table, Task};
use crate::{exit::Failure, job::Job, phases::Phases};

/// How long lost connections are made again while nothing comes further.
pub(super) struct Patience {
    wait: Duration,
    lost: Option<Instant>,
    /// How many steps were done then.
    done: u32,
}

impl Patience {
    pub(super) fn new(wait: Duration) -> Self {
        Self {
            wait,
            lost: None,
            done: 0,
        }
    }

    /// A connection is lost, with so many steps done. Whether to try once more.
    fn lasts(&mut self, done: u32) -> bool {
        if done > self.done {
            self.lost = None;
        }
        self.done = done;
        self.lost.get_or_insert_with(Instant::now).elapsed() < self.wait
    }
}

impl Ready<'_> {
    /// The party's table, which is read unless an earlier attempt did.
    pub(super) fn table<'t>(
        &mut self,
        table: &'t mut Option<Table>,
    ) -> Result<&'t mut Table, Failure> {
        if table.is_none() {
            *table = Some(self.party.read_table(&self.own, self.job.as_mut())?);
        }
        Ok(table.as_mut().expect("it was read"))
    }

    /// Whether this party has all that it needs for its result, and the other one does not need it any more. A party that
    /// only helps has no result.
    pub(super) fn needs_nobody(&self) -> bool {
        let recording = &self.party.recording;
        let has_all = |job: &&Job| job.has_all() && (recording.is_none() || job.is_signed());
        let Some(job) = self.job.as_ref().filter(has_all) else {
            return false;
        };
        match (&self.party.task, self.party.question.is_for_both()) {
            (Task::Help, _) => false,
            (_, true) => job.is_confirmed(),
            (_, false) => true,
        }
    }

    /// What this party has when all that it needs was done before. Nothing is said.
    pub(super) fn recall(&mut self, table: &mut Option<Table>) -> Result<Computed, Failure> {
        let phases = Phases::default();
        phases.begin("reading the table");
        let table = self.table(table)?;
        let (party, job) = (&mut self.party, self.job.as_mut().expect("a job"));
        party.console.say(format_args!(
            "everything was done before: the other party is not needed any more"
        ));
        let agreement = party.recall(job)?;
        party.write_with(&agreement.given)?;
        let joint_seed = agreement.joint_seed;
        let use_of_table = party.use_of_table(true);
        table.settle(&agreement.plan, use_of_table, party.pool)?;
        party.read_payloads(&agreement.given, table, Some(&mut *job))?;
        let run = Run {
            plan: &agreement.plan,
            role: party.role,
            joint_seed: &joint_seed,
            ledger: Some(job.results()),
        };
        let (mut channels, compute) = ([memory::pair().0], (party.pool, &phases));
        let ran = table.run(&run, use_of_table, &party.allowance, &mut channels, compute)?;
        Ok(Computed {
            agreement,
            joint_seed,
            steps_run_again: job.steps_run_again(),
            traffic: Snapshot::default(),
            phases,
            ran,
        })
    }

    /// What to say of a job that is over: that it is, if it was about this table.
    pub(super) fn over(&mut self, ended: Ended, table: &mut Option<Table>) -> Failure {
        match self.is_of_this_table(table) {
            Err(failure) => failure,
            Ok(folder) => Failure::JobIsOver {
                folder,
                too_few: (ended == Ended::TooFew).then_some(self.party.question.min_intersection),
            },
        }
    }

    /// Checks that a job that is over was about this table, and what is given of it.
    fn is_of_this_table(&mut self, table: &mut Option<Table>) -> Result<PathBuf, Failure> {
        let table = self.table(table)?;
        let (party, job) = (&mut self.party, self.job.as_mut().expect("a job"));
        let given = job.given()?;
        party.read_payloads(&given, table, Some(&mut *job))?;
        Ok(job.path().to_owned())
    }

    /// Whether to meet again after this failure: the connection was lost, and a job goes on.
    pub(super) fn tries_again(&self, failure: &Failure, patience: &mut Patience) -> bool {
        let Some(job) = &self.job else {
            return false;
        };
        let again = failure.is_lost_connection() && patience.lasts(job.done());
        if again {
            let console = self.party.console;
            console.warn(format_args!(
                "{failure}: meeting again, to go on with the job"
            ));
        }
        again
    }

    /// What it means that the other party was not met.
    pub(super) fn unmet(&self, failure: Failure) -> Failure {
        let Some(job) = self.job.as_ref().filter(|_| failure.may_pass()) else {
            return failure;
        };
        match (&self.party.task, self.party.question.is_for_both()) {
            (Task::Help, _) if job.done() > 0 => Failure::Unconfirmed(Box::new(failure)),
            (_, true) if job.has_all() => Failure::UnconfirmedResult(Box::new(failure)),
            _ => failure,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_unless_something_is_done() {
        let mut patience = Patience::new(Duration::ZERO);
        assert!(!patience.lasts(0));
        let mut patience = Patience::new(Duration::from_millis(100));
        assert!(patience.lasts(0));
        assert!(patience.lasts(3));
        std::thread::sleep(Duration::from_millis(150));
        assert!(!patience.lasts(3));
        assert!(patience.lasts(4));
    }
}
