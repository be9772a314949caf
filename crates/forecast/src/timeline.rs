//! The bytes moved over time.

/// The bytes that a party has sent and received in sum, over time, as a simulation tells it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Timeline {
    moments: Vec<Moment>,
    seconds: f64,
}

/// From this time on, this many bytes have moved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moment {
    /// Seconds since the beginning.
    pub seconds: f64,
    /// Bytes that have moved.
    pub bytes: f64,
}

/// Moments within this share of all time and of all bytes are joined.
const CLOSE: f64 = 1.0 / 200.0;

/// The most moments that are kept in memory.
const MANY: usize = 1 << 12;

impl Timeline {
    /// Returns a party that is done after `seconds`. Time and bytes grow from moment to moment.
    pub fn new(mut moments: Vec<Moment>, seconds: f64) -> Self {
        thin(&mut moments);
        Self { moments, seconds }
    }

    /// Returns the moments; of those close to each other, the last one.
    pub fn moments(&self) -> &[Moment] {
        &self.moments
    }

    /// Returns the seconds until the party is done.
    pub fn seconds(&self) -> f64 {
        self.seconds
    }

    /// Returns all bytes that move.
    pub fn bytes(&self) -> f64 {
        self.moments.last().map_or(0.0, |last| last.bytes)
    }

    /// Notes that more bytes have moved.
    pub(crate) fn add(&mut self, seconds: f64, bytes: f64) {
        let bytes = self.bytes() + bytes;
        self.moments.push(Moment { seconds, bytes });
        if self.moments.len() >= MANY {
            thin(&mut self.moments);
        }
    }

    /// Ends the timeline.
    pub(crate) fn end(self, seconds: f64) -> Self {
        Self::new(self.moments, seconds)
    }

    /// Returns what lies between timelines of the same run, each with its share: bytes move at the
    /// mean of their times.
    pub(crate) fn mean(parts: &[(f64, Self)]) -> Self {
        let moments = parts.iter().flat_map(|(_, part)| &part.moments);
        let mut bytes: Vec<f64> = moments.map(|moment| moment.bytes).collect();
        bytes.sort_by(f64::total_cmp);
        let mean = |of: &dyn Fn(&Self) -> f64| -> f64 {
            parts.iter().map(|(share, part)| share * of(part)).sum()
        };
        let moment = |bytes| Moment {
            seconds: mean(&|part| part.when(bytes)),
            bytes,
        };
        Self::new(
            bytes.into_iter().map(moment).collect(),
            mean(&|part| part.seconds),
        )
    }

    /// Returns the time at which this many bytes have moved.
    pub(crate) fn when(&self, bytes: f64) -> f64 {
        let before = self
            .moments
            .partition_point(|moment| moment.bytes + ROUNDING < bytes);
        match self.moments.get(before) {
            Some(moment) => moment.seconds,
            None => self.seconds,
        }
    }
}

/// Bytes that are lost by rounding.
const ROUNDING: f64 = 0.5;

/// Leaves only the last of the moments that are close to each other.
fn thin(moments: &mut Vec<Moment>) {
    let Some(end) = moments.last().copied() else {
        return;
    };
    let mut kept: Vec<Moment> = Vec::new();
    let mut first = moments[0];
    for pair in moments.windows(2) {
        let [this, next] = [pair[0], pair[1]];
        let is_far = next.seconds - first.seconds > CLOSE * end.seconds
            || next.bytes - first.bytes > CLOSE * end.bytes;
        if is_far && next.seconds > this.seconds {
            kept.push(this);
            first = next;
        }
    }
    kept.push(end);
    *moments = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeline(moments: &[(f64, f64)], seconds: f64) -> Timeline {
        let moment = |&(seconds, bytes): &(f64, f64)| Moment { seconds, bytes };
        Timeline::new(moments.iter().map(moment).collect(), seconds)
    }

    #[test]
    fn many_moments_become_few_and_what_stands_before_a_wait_stays() {
        let mut long = Timeline::default();
        for message in 1..=50_000 {
            let waited = if message > 10_000 { 1e4 } else { 0.0 };
            long.add(waited + f64::from(message), 100.0);
        }
        let long = long.end(60_000.0);
        assert!(long.moments.len() <= 402, "{}", long.moments.len());
        assert_eq!((long.bytes(), long.seconds()), (5e6, 60_000.0));
        for (seconds, bytes) in [(10_000.0, 1e6), (60_000.0, 5e6)] {
            assert!(long.moments.contains(&Moment { seconds, bytes }));
        }
        for pair in long.moments.windows(2) {
            let [this, next] = [pair[0], pair[1]];
            assert!(this.seconds < next.seconds && this.bytes < next.bytes);
            assert!(next.bytes - this.bytes <= 3.0 * CLOSE * 5e6);
        }
    }

    #[test]
    fn the_mean_of_two_has_the_mean_of_their_times() {
        // One sends two messages of 50 bytes, the other four of 25.
        let coarse = timeline(&[(1.0, 50.0), (9.0, 100.0)], 10.0);
        let fine = timeline(&[(1.0, 25.0), (2.0, 50.0), (3.0, 75.0), (4.0, 100.0)], 6.0);
        let mean = Timeline::mean(&[(0.25, coarse), (0.75, fine.clone())]);
        assert_eq!(
            mean.moments,
            timeline(
                &[(1.0, 25.0), (1.75, 50.0), (4.5, 75.0), (5.25, 100.0)],
                7.0
            )
            .moments
        );
        assert_eq!(mean.seconds(), 7.0);
        assert_eq!(Timeline::mean(&[(1.0, fine.clone())]), fine);
    }

    #[test]
    fn nobody_needs_to_say_anything() {
        let silent = Timeline::default().end(3.0);
        assert_eq!((silent.bytes(), silent.seconds()), (0.0, 3.0));
        assert_eq!(Timeline::mean(&[(1.0, silent.clone())]), silent);
    }
}
