//! All runs of one protocol, and what follows from them.

use std::time::Duration;

use psijoin::Plan;

use super::{
    Setting,
    run::{Parties, Run},
};
use crate::exit::Failure;

/// What the runs of a protocol took.
pub(super) struct Measurement {
    pub(super) plan: Plan,
    /// The fastest first.
    runs: Vec<Run>,
}

impl Measurement {
    /// Runs a plan as often as the setting says.
    ///
    /// # Errors
    /// If a run fails.
    pub(super) fn take(plan: Plan, setting: &Setting, parties: &Parties) -> Result<Self, Failure> {
        let runs = setting.runs.get();
        let mut runs = (1..=runs)
            .map(|number| {
                let what = format!("{}, run {number} of {runs}", plan.info().name);
                parties.run(&plan, setting, &what)
            })
            .collect::<Result<Vec<_>, _>>()?;
        runs.sort_by_key(|run| run.time);
        Ok(Self { plan, runs })
    }

    pub(super) fn fastest(&self) -> &Run {
        &self.runs[0]
    }

    /// The upper one of the middle two, if there are two.
    pub(super) fn median(&self) -> Duration {
        self.runs[self.runs.len() / 2].time
    }

    /// Bits on the wire, both ways, per item of the larger set.
    pub(super) fn bits_per_item(&self) -> f64 {
        let sizes = self.plan.request().sizes;
        let items = sizes.sender().max(sizes.receiver()).max(1);
        self.fastest().traffic.total_bytes() as f64 * 8.0 / items as f64
    }

    /// The most that any run has of something.
    pub(super) fn peak(&self, of: impl Fn(&Run) -> Option<u64>) -> Option<u64> {
        self.runs.iter().filter_map(of).max()
    }
}
