//! The runs that a profile is made of.

use std::time::Instant;

use psijoin_psi::{Error, OutputKind, Protocol, Request};

use crate::{Profile, Run, measure};

/// How long to measure, and how far to go.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Seconds, about, for a protocol. The smallest size is run in any case.
    pub seconds: f64,
    /// Items per party, at most.
    pub most_items: u64,
    /// How often each party runs alone. The fastest run counts.
    pub repeats: usize,
}

/// The smallest sets. Each size is four times the one before.
const FIRST: u64 = 1 << 8;
const FACTOR: u64 = 4;

/// How much larger one of the sets is in runs with sets of unequal size.
const UNEQUAL: u64 = 16;

/// Runs `protocol` at growing sizes, as far as `effort` goes, and twice with sets of unequal size.
/// `tell` hears of each run.
///
/// # Errors
/// As [`measure`], and if the protocol cannot compute this output.
///
/// # Panics
/// As [`measure`].
pub fn profile(
    protocol: &'static Protocol,
    output: &OutputKind,
    threads: usize,
    effort: Effort,
    mut tell: impl FnMut(&Run),
) -> Result<Profile, Error> {
    let mut campaign = Campaign {
        protocol,
        output,
        threads,
        effort,
        runs: Vec::new(),
    };
    let started = Instant::now();
    let mut items = FIRST;
    // About how long the next size takes.
    let mut next_seconds = 0.0;
    while items <= effort.most_items
        && started.elapsed().as_secs_f64() + next_seconds <= effort.seconds
    {
        let before = Instant::now();
        if !campaign.run([items, items], &mut tell)? {
            break;
        }
        next_seconds = before.elapsed().as_secs_f64() * FACTOR as f64;
        items *= FACTOR;
    }
    let largest = items / FACTOR;
    if largest >= FIRST * UNEQUAL {
        campaign.run([largest / UNEQUAL, largest], &mut tell)?;
        campaign.run([largest, largest / UNEQUAL], &mut tell)?;
    }
    Ok(Profile {
        protocol: protocol.info().name.to_owned(),
        output: output.to_string(),
        threads,
        runs: campaign.runs,
    })
}

struct Campaign<'a> {
    protocol: &'static Protocol,
    output: &'a OutputKind,
    threads: usize,
    effort: Effort,
    runs: Vec<Run>,
}

impl Campaign<'_> {
    /// Adds a run at these sizes. Whether it is feasible.
    fn run(&mut self, items: [u64; 2], tell: &mut impl FnMut(&Run)) -> Result<bool, Error> {
        let request = Request::rows(items[0], items[1])?.output(self.output.clone());
        let plan = self.protocol.plan(&request)?;
        if plan.feasible().is_err() {
            return Ok(false);
        }
        let run = measure(&plan, self.threads, self.effort.repeats)?;
        tell(&run);
        self.runs.push(run);
        Ok(true)
    }
}
