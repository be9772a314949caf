//! The times of a protocol's runs, and their scatter.

use std::time::Duration;

/// The most that runs may scatter without a warning.
pub(super) const MOST_SCATTER: f64 = 0.2;

/// The times of some runs, at least one, ascending.
#[derive(Debug)]
pub(super) struct Times(Vec<Duration>);

impl Times {
    /// Takes times in any order.
    ///
    /// # Panics
    /// If there is none.
    pub(super) fn new(times: impl IntoIterator<Item = Duration>) -> Self {
        let mut times: Vec<_> = times.into_iter().collect();
        assert!(!times.is_empty(), "something was run");
        times.sort_unstable();
        Self(times)
    }

    pub(super) fn minimum(&self) -> Duration {
        self.0[0]
    }

    /// Returns the upper one of the middle two, if there are two.
    pub(super) fn median(&self) -> Duration {
        self.0[self.0.len() / 2]
    }

    pub(super) fn maximum(&self) -> Duration {
        self.0[self.0.len() - 1]
    }

    /// Returns the distance of the median from the minimum, as a part of the minimum; nothing for a
    /// single run.
    ///
    /// These two are the figures that people quote. One disturbed run of three or more changes
    /// neither. So the maximum does not count, which grows with the number of runs on any machine.
    pub(super) fn scatter(&self) -> Option<f64> {
        let [minimum, median] = [self.minimum(), self.median()].map(|time| time.as_secs_f64());
        (self.0.len() > 1).then(|| (median - minimum) / minimum)
    }

    /// Returns whether the runs scatter by more than they may.
    pub(super) fn are_scattered(&self) -> bool {
        self.scatter().is_some_and(|scatter| scatter > MOST_SCATTER)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(milliseconds: &[u64]) -> Times {
        Times::new(milliseconds.iter().copied().map(Duration::from_millis))
    }

    #[test]
    fn times_are_put_in_order() {
        for (runs, [minimum, median, maximum]) in [
            (&[7][..], [7, 7, 7]),
            (&[9, 7], [7, 9, 9]),
            (&[9, 7, 8], [7, 8, 9]),
            (&[4, 1, 3, 2], [1, 3, 4]),
        ] {
            let times = times(runs);
            let found = [times.minimum(), times.median(), times.maximum()];
            assert_eq!(found, [minimum, median, maximum].map(Duration::from_millis));
        }
    }

    #[test]
    fn scatter_is_how_far_the_median_is_above_the_minimum() {
        for (runs, scatter, are_scattered) in [
            (&[100][..], None, false),
            (&[100, 100], Some(0.0), false),
            (&[100, 120], Some(0.2), false),
            (&[121, 100], Some(0.21), true),
            // One disturbed run of three changes nothing; two do.
            (&[100, 500, 110], Some(0.1), false),
            (&[100, 500, 130], Some(0.3), true),
        ] {
            let times = times(runs);
            let rounded = times.scatter().map(|scatter| (scatter * 1e6).round() / 1e6);
            assert_eq!(rounded, scatter, "{runs:?}");
            assert_eq!(times.are_scattered(), are_scattered, "{runs:?}");
        }
    }
}
