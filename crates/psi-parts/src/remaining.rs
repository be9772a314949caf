use psijoin_psi::{Ledger, Plan, Traffic};

use crate::{lanes, output::opening, plan::dialogue};

/// Returns how many steps a plan has, as a [`Ledger`] counts them: its parts, and what is opened in
/// the end, if anything is; or one.
pub fn steps(plan: &Plan) -> u32 {
    let opens = || opening(plan.request()).is_some();
    plan.parts()
        .map_or(1, |parts| parts.shape.parts + u32::from(opens()))
}

/// The steps of a plan that are still to run.
#[derive(Clone, Copy)]
pub struct Remaining<'a> {
    plan: &'a Plan,
    /// Parts, if it is in parts, or otherwise the only run.
    runs: u32,
    /// `true` if something is opened in the end.
    opens: bool,
}

impl<'a> Remaining<'a> {
    /// Returns all of it.
    pub fn all(plan: &'a Plan) -> Self {
        Self::where_done(plan, |_| false)
    }

    /// Returns what this ledger does not have.
    pub fn after(plan: &'a Plan, ledger: &dyn Ledger) -> Self {
        Self::where_done(plan, |step| ledger.has(step))
    }

    fn where_done(plan: &'a Plan, is_done: impl Fn(u32) -> bool) -> Self {
        let steps = steps(plan);
        let runs = plan.parts().map_or(1, |parts| parts.shape.parts);
        let left = |from: u32, to: u32| (from..to).filter(|step| !is_done(*step)).count() as u32;
        Self {
            plan,
            runs: left(0, runs),
            opens: left(runs, steps) > 0,
        }
    }

    /// Returns whether all of it is.
    pub fn is_all(&self) -> bool {
        let all = Self::all(self.plan);
        (self.runs, self.opens) == (all.runs, all.opens)
    }

    /// Returns how many parts are, or 1 for a run that is not in parts.
    pub fn runs(&self) -> u32 {
        self.runs
    }

    /// Returns what passes over the wire, exactly, of a run whose result is not withheld. Flights
    /// are those over one stream.
    pub fn traffic(&self) -> Traffic {
        match self.plan.parts() {
            Some(parts) => {
                let request = self.plan.request();
                dialogue(request, parts, self.runs, self.opens).cost().total
            }
            None if self.runs == 0 => Traffic::default(),
            None => self.plan.cost().total,
        }
    }

    /// Returns what passes over one of several lanes, which runs every part that is left whose
    /// place among them is `lane` modulo `lanes`.
    ///
    /// # Panics
    /// If the plan is not in parts.
    pub fn lane_traffic(&self, lane: u32, lanes: u32) -> Traffic {
        let parts = self.plan.parts().expect("a plan in parts");
        let runs = self.runs.saturating_sub(lane).div_ceil(lanes);
        match runs {
            0 => Traffic::default(),
            runs => {
                dialogue(self.plan.request(), parts, runs, false)
                    .cost()
                    .total
            }
        }
    }

    /// Returns what passes over the wire once all parts are done.
    pub fn opening_traffic(&self) -> Traffic {
        match self.plan.parts() {
            Some(parts) if self.opens => dialogue(self.plan.request(), parts, 0, true).cost().total,
            _ => Traffic::default(),
        }
    }

    /// Returns over how many streams its parts should run, if the parties have these numbers of
    /// threads: one more than the party with fewer has, so that parts can compute while one waits.
    /// With one thread there is one stream.
    pub fn streams(&self, threads: [usize; 2]) -> usize {
        lanes::streams(self.runs as usize, threads)
    }
}
