//! Independent runs of an experiment, and what came out of them.

use std::fmt;

use psijoin_params::Log2Prob;
use psijoin_runtime::parallel;

/// The factor by which the default number of runs is multiplied.
#[derive(Clone, Copy)]
pub(crate) struct Effort(pub(crate) f64);

impl Effort {
    /// Returns the number of runs, at least one.
    pub(crate) fn runs(self, usual: u64) -> u64 {
        ((usual as f64 * self.0) as u64).max(1)
    }
}

/// The number of times that each value came out of an experiment.
#[derive(Default)]
pub(crate) struct Distribution {
    counts: Vec<u64>,
}

impl Distribution {
    /// Returns what `experiment` makes of seeds 0, 1, 2 … below `runs`.
    pub(crate) fn of(runs: u64, experiment: impl Fn([u8; 16]) -> usize + Sync) -> Self {
        let values = parallel::map(runs as usize, &|run| {
            experiment((run as u128).to_le_bytes())
        });
        values.into_iter().fold(Self::default(), Self::with)
    }

    fn with(mut self, value: usize) -> Self {
        if self.counts.len() <= value {
            self.counts.resize(value + 1, 0);
        }
        self.counts[value] += 1;
        self
    }

    /// Returns the largest value that came out.
    pub(crate) fn largest(&self) -> usize {
        self.counts.len().saturating_sub(1)
    }

    /// Returns how often a value came out that there is no room for.
    pub(crate) fn above(&self, room: usize) -> Rate {
        Rate {
            failed: self.counts.iter().skip(room + 1).sum(),
            runs: self.counts.iter().sum(),
        }
    }
}

/// The number of runs, and of those that failed.
#[derive(Clone, Copy)]
pub(crate) struct Rate {
    pub(crate) failed: u64,
    pub(crate) runs: u64,
}

impl Rate {
    /// As a logarithm to base 2; minus infinity if no run failed.
    pub(crate) fn log2(self) -> f64 {
        (self.failed as f64 / self.runs as f64).log2()
    }

    /// Returns whether it is not above the bound by more than three standard deviations.
    pub(crate) fn keeps(self, bound: Log2Prob) -> bool {
        let failed = self.failed as f64;
        failed - 3.0 * failed.sqrt() <= bound.log2().exp2() * self.runs as f64
    }
}

/// As a power of two, with the count that it comes from.
impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.failed {
            0 => write!(f, "0 of {}", self.runs),
            failed => write!(f, "2^{:.1} ({failed} of {})", self.log2(), self.runs),
        }
    }
}

/// Returns items 0, 1, 2 …
pub(crate) fn digests(count: usize) -> Vec<[u8; 16]> {
    (0..count as u128).map(u128::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_counts_the_runs_that_needed_more() {
        let needed = Distribution::of(1000, |seed| usize::from(seed[0] == 7) * 3);
        assert_eq!(needed.largest(), 3);
        assert_eq!(needed.above(2).failed, 4);
        assert_eq!(needed.above(3).failed, 0);
        assert_eq!(needed.above(2).to_string(), "2^-8.0 (4 of 1000)");
    }

    #[test]
    fn three_standard_deviations_are_allowed() {
        let rate = Rate {
            failed: 130,
            runs: 12_800,
        };
        assert!(rate.keeps(Log2Prob::from_log2(-7.0)));
        assert!(!rate.keeps(Log2Prob::from_log2(-7.5)));
    }
}
