//! The runs that a profile is made of.

use std::thread;

use psijoin_psi::{Error, OutputKind, Plan, Protocol, Request};

use crate::{Profile, Run, Script, calibration::kind, measure};

/// The time and the sizes to measure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Seconds, about, for a protocol. The smallest size is run in any case.
    pub seconds: f64,
    /// Items per party, at most.
    pub most_items: u64,
    /// The number of times that each party runs alone. The fastest run counts.
    pub repeats: usize,
}

/// Items per party of the first run of a profile.
pub const FIRST_ITEMS: u64 = 1 << 8;

/// The factor from one size to the next.
pub const GROWTH: u64 = 4;

/// The factor between the sets in runs with sets of unequal size.
const UNEQUAL: u64 = 16;

impl Effort {
    /// Returns the sizes of the next run after `known` ones: growing, and then twice with sets of
    /// unequal size. None if that was all.
    ///
    /// A run is taken to last four times as long as the one before, and as long as its parties
    /// computed.
    fn next(&self, known: &[Run]) -> Option<[u64; 2]> {
        let equal = known.iter().filter(|run| run.items[0] == run.items[1]);
        let largest = equal.max_by_key(|run| run.items[0]);
        let spent: f64 = known.iter().map(|run| self.seconds_of(run)).sum();
        let (items, seconds) = largest.map_or((FIRST_ITEMS, 0.0), |run| {
            (run.items[0] * GROWTH, self.seconds_of(run) * GROWTH as f64)
        });
        if items <= self.most_items.max(FIRST_ITEMS) && spent + seconds <= self.seconds {
            return Some([items; 2]);
        }
        let most = largest?.items[0];
        let unequal = [[most / UNEQUAL, most], [most, most / UNEQUAL]];
        let mut unequal = unequal
            .into_iter()
            .filter(|_| most >= FIRST_ITEMS * UNEQUAL);
        unequal.find(|items| known.iter().all(|run| run.items != *items))
    }

    /// Returns the seconds of a run: both parties compute when they are recorded, when their memory
    /// is counted, and when they run alone.
    fn seconds_of(&self, run: &Run) -> f64 {
        let computing = run.scripts.iter().map(Script::computing);
        let with_two: f64 = run.on_two_threads.iter().flatten().sum();
        (computing.sum::<f64>() + with_two) * (self.repeats + 2) as f64
    }
}

/// Runs `protocol` at growing sizes, as far as `effort` goes, and twice with sets of unequal size.
/// Parties have one thread. On a machine with more than one core, those with sets of equal size
/// then have two. `tell` hears of each run.
///
/// # Errors
/// As [`measure`], and if the protocol cannot compute this output.
///
/// # Panics
/// As [`measure`].
pub fn profile(
    protocol: &'static Protocol,
    output: &OutputKind,
    effort: Effort,
    mut tell: impl FnMut(&Run),
) -> Result<Profile, Error> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let mut runs = Vec::new();
    while let Some(plan) = next_plan(protocol, output, effort, &runs)? {
        let mut run = measure(&plan, 1, effort.repeats)?;
        // A calibration predicts whole runs by the fastest, and is shipped: the others and their
        // phases would only make it longer.
        run.seconds = Default::default();
        run.phases = None;
        if cores > 1 && run.has_equal_sizes() {
            let scripts = measure(&plan, 2, effort.repeats)?.scripts;
            run.on_two_threads = Some(scripts.map(|script| script.computing()));
        }
        tell(&run);
        runs.push(run);
    }
    Ok(Profile {
        protocol: protocol.info().name.to_owned(),
        output: kind(output).to_owned(),
        threads: 1,
        runs,
    })
}

/// Returns what [`profile`] runs next after `known` runs; none if nothing is missing.
fn next_plan(
    protocol: &'static Protocol,
    output: &OutputKind,
    effort: Effort,
    known: &[Run],
) -> Result<Option<Plan>, Error> {
    let mut effort = effort;
    while let Some(items) = effort.next(known) {
        let request = Request::rows(items[0], items[1])?.output(output.clone());
        let plan = protocol.plan(&request)?;
        if plan.feasible().is_ok() {
            return Ok(Some(plan));
        }
        // Larger sets would take too long, too.
        let most = items[0].max(items[1]) - 1;
        if most < FIRST_ITEMS || items[0] != items[1] {
            break;
        }
        effort.most_items = most;
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::script::Stretch;

    fn run(items: [u64; 2], seconds: f64) -> Run {
        Run {
            items,
            scripts: [0, 1].map(|_| Script(vec![Stretch::Work(seconds / 2.0)])),
            memory_bytes: [None; 2],
            on_two_threads: None,
            seconds: Default::default(),
            phases: None,
        }
    }

    #[test]
    fn sizes_grow_until_time_or_sizes_end() {
        let effort = Effort {
            seconds: 75.0,
            most_items: 1 << 14,
            repeats: 1,
        };
        let mut runs = vec![];
        let mut sizes = vec![];
        while let Some(items) = effort.next(&runs) {
            runs.push(run(items, items[0].max(items[1]) as f64 / 1024.0));
            sizes.push(items);
        }
        // 3 * (0.25 + 1 + 4) s, and 48 s more: 2^14 still has its place.
        let largest = 1 << 14;
        let unequal = [[largest / 16, largest], [largest, largest / 16]];
        let equal = [1 << 8, 1 << 10, 1 << 12, largest].map(|items| [items; 2]);
        assert_eq!(sizes, Vec::from_iter(equal.into_iter().chain(unequal)));
        let hasty = Effort {
            seconds: 30.0,
            ..effort
        };
        assert_eq!(hasty.next(&runs[..3]), Some([1 << 8, 1 << 12]));
    }

    #[test]
    fn the_smallest_size_is_run_in_any_case() {
        let effort = Effort {
            seconds: 0.0,
            most_items: 1,
            repeats: 1,
        };
        assert_eq!(effort.next(&[]), Some([256; 2]));
        assert_eq!(effort.next(&[run([256; 2], 1.0)]), None);
    }
}
