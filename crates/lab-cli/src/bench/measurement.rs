//! All runs of one protocol, and what follows from them.

use psijoin::Plan;

use super::{
    Setting,
    run::{Parties, Run},
    times::Times,
};
use crate::exit::Failure;

/// The measured runs of a protocol.
pub(super) struct Measurement {
    pub(super) plan: Plan,
    pub(super) times: Times,
    /// The fastest first.
    runs: Vec<Run>,
}

impl Measurement {
    /// Runs a plan, first to warm up, then to measure.
    ///
    /// # Errors
    /// If a run fails.
    pub(super) fn take(plan: Plan, setting: &Setting, parties: &Parties) -> Result<Self, Failure> {
        let run = |kind: &str, number: usize, of: usize| {
            let what = format!("{}, {kind} {number} of {of}", plan.info().name);
            parties.run(&plan, setting, &what)
        };
        for number in 1..=setting.warm_up {
            run("warm-up", number, setting.warm_up)?;
        }
        let runs = setting.runs.get();
        let mut runs = (1..=runs)
            .map(|number| run("run", number, runs))
            .collect::<Result<Vec<_>, _>>()?;
        runs.sort_by_key(|run| run.time);
        let times = Times::new(runs.iter().map(|run| run.time));
        Ok(Self { plan, times, runs })
    }

    pub(super) fn fastest(&self) -> &Run {
        &self.runs[0]
    }

    /// Returns the number of bits on the wire, both ways, per item of the larger set.
    pub(super) fn bits_per_item(&self) -> f64 {
        let sizes = self.plan.request().sizes;
        let items = sizes.sender().max(sizes.receiver()).max(1);
        self.fastest().traffic.total_bytes() as f64 * 8.0 / items as f64
    }

    /// Returns the most that any run has of something.
    pub(super) fn peak(&self, of: impl Fn(&Run) -> Option<u64>) -> Option<u64> {
        self.runs.iter().filter_map(of).max()
    }

    /// Returns advice for the case that the times of the runs are far apart.
    pub(super) fn warning(&self) -> Option<String> {
        let scatter = self
            .times
            .scatter()
            .filter(|_| self.times.are_scattered())?;
        Some(format!(
            "the runs of {} scatter: their median is {:.0} % above their minimum. Let nothing \
             else run on this machine, or raise --runs.",
            self.plan.info().name,
            scatter * 100.0,
        ))
    }
}
