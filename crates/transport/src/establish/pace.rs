//! The network's round trip and rate from a greeting: from the times at which this side spoke and
//! at which it heard bytes. Others keep the clock.
//!
//! - *The round trip* is the time from this side's first words to the first that answer them. It
//!   includes what the other side computes for its answer: some 0.3 ms.
//! - *The rate* is that of what comes at a stretch after this side spoke last: mostly the padding
//!   of the preamble, which the other side sends at once. Packets that follow one another over a
//!   slow line come as far apart as that line needs for each.
//!
//! It is an estimate, and a choice between protocols is all that goes by it. A line that lets short
//! bursts pass at a higher rate than long ones seems faster than it is.

use std::time::{Duration, Instant};

use psijoin_channel::path::{FAST_BITS_PER_SECOND, Measured};

use super::greeting::Greeting;

/// A party that waited this long for bytes got them when they came. One that waited less may have
/// found them there already. A read takes a few microseconds, and packets come this far apart at
/// [`MEASURABLE_BITS_PER_SECOND`](psijoin_channel::path::MEASURABLE_BITS_PER_SECOND).
const WAIT: Duration = Duration::from_micros(30);

/// Measures during a greeting.
#[derive(Default)]
pub(super) struct Pace {
    first_said: Option<Instant>,
    round_trip: Option<Duration>,
    listens: Option<Instant>,
    stretch: Stretch,
}

/// The bytes that have come since this side spoke last.
#[derive(Default)]
struct Stretch {
    /// The time at which the latest bytes came.
    latest: Option<Instant>,
    /// All after the first bytes.
    whole: Piece,
    /// The piece that took longest.
    longest: Piece,
    /// The number of pieces that had to be waited for.
    waited_for: u32,
}

/// Bytes, and the time from those before to them.
#[derive(Default, Clone, Copy)]
struct Piece {
    bytes: u64,
    time: Duration,
}

impl Pace {
    /// Notes that this side sends something now.
    pub(super) fn says(&mut self, at: Instant) {
        self.first_said.get_or_insert(at);
        self.stretch = Stretch::default();
    }

    /// This side is done with what it heard, and can hear more.
    pub(super) fn listens(&mut self, at: Instant) {
        self.listens = Some(at);
    }

    /// Notes that this side has received bytes.
    pub(super) fn heard(&mut self, at: Instant, bytes: usize) {
        if let (None, Some(said)) = (self.round_trip, self.first_said) {
            self.round_trip = Some(at.saturating_duration_since(said));
        }
        let waited = self
            .listens
            .is_some_and(|since| at.saturating_duration_since(since) >= WAIT);
        self.stretch.extend(at, bytes as u64, waited);
    }

    /// Returns what is known when the peer is found.
    pub(super) fn measured(&self, greeting: &Greeting) -> Measured {
        match self.round_trip {
            Some(round_trip) if greeting.takes_turns() => Measured::default()
                .round_trip(round_trip)
                .incoming(self.stretch.bits_per_second()),
            _ => Measured::default(),
        }
    }
}

impl Stretch {
    fn extend(&mut self, at: Instant, bytes: u64, waited: bool) {
        if let Some(before) = self.latest {
            let time = at.saturating_duration_since(before);
            self.whole.bytes += bytes;
            self.whole.time += time;
            if time > self.longest.time {
                self.longest = Piece { bytes, time };
            }
            self.waited_for += u32::from(waited);
        }
        self.latest = Some(at);
    }

    /// Returns the rate, without the piece that took longest: a single pause is more often the
    /// machine's, which did something else, than the network's.
    fn bits_per_second(&self) -> u64 {
        let bits = 8 * (self.whole.bytes - self.longest.bytes);
        let micros = (self.whole.time - self.longest.time).as_micros() as u64;
        if self.waited_for < 2 || micros == 0 {
            return FAST_BITS_PER_SECOND;
        }
        (bits.saturating_mul(1_000_000) / micros).clamp(1, FAST_BITS_PER_SECOND)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pace that heard pieces of these sizes, in bytes, at these times in microseconds
    /// after it spoke. Computing between them takes no time, so it waits for all.
    fn stretch(arrivals: &[(u64, usize)]) -> Pace {
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        let mut pace = Pace::default();
        pace.says(start);
        pace.listens(start);
        for &(micros, bytes) in arrivals {
            pace.heard(at(micros), bytes);
            pace.listens(at(micros));
        }
        pace
    }

    fn rate(arrivals: &[(u64, usize)]) -> u64 {
        stretch(arrivals).stretch.bits_per_second()
    }

    #[test]
    fn packets_come_as_far_apart_as_the_line_needs() {
        // 1,250 bytes are 10,000 bits.
        let every = |micros: u64| -> Vec<(u64, usize)> {
            (0..7).map(|i| (80_000 + i * micros, 1250)).collect()
        };
        for (micros, bits_per_second) in [
            (10_000, 1_000_000),
            (1000, 10_000_000),
            (100, 100_000_000),
            (40, 250_000_000),
        ] {
            assert_eq!(rate(&every(micros)), bits_per_second, "{micros}");
        }
    }

    #[test]
    fn what_comes_at_once_is_fast() {
        for arrivals in [
            &[][..],
            &[(80_000, 8200)],
            &[(80_000, 4096), (80_003, 4096), (80_006, 30)],
            // One pause tells nothing.
            &[(80_000, 1250), (90_000, 4096), (90_003, 2900)],
        ] {
            assert_eq!(rate(arrivals), FAST_BITS_PER_SECOND, "{arrivals:?}");
        }
    }

    #[test]
    fn one_long_pause_is_left_out() {
        let arrivals = [
            (80_000, 1250),
            (80_100, 1250),
            (80_200, 1250),
            (95_000, 1250),
            (95_100, 1250),
        ];
        assert_eq!(rate(&arrivals), 100_000_000);
    }

    #[test]
    fn what_came_while_this_side_computed_was_not_waited_for() {
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        let mut pace = Pace::default();
        pace.says(start);
        pace.heard(at(1000), 1250);
        // It verifies a signature meanwhile, twice.
        for micros in [1200, 1400] {
            pace.listens(at(micros - 2));
            pace.heard(at(micros), 4096);
        }
        assert_eq!(pace.stretch.bits_per_second(), FAST_BITS_PER_SECOND);
    }

    #[test]
    fn the_first_answer_tells_the_round_trip() {
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        // The side that listens hears something before it speaks.
        let mut pace = Pace::default();
        pace.heard(at(0), 300);
        assert_eq!(pace.round_trip, None);
        pace.says(at(2));
        pace.heard(at(82), 1448);
        // It speaks again while the rest is on its way.
        pace.says(at(83));
        for millis in 84..89 {
            pace.heard(at(millis), 1448);
        }
        assert_eq!(pace.round_trip, Some(Duration::from_millis(80)));
    }

    #[test]
    fn a_stretch_begins_when_this_side_has_spoken() {
        let start = Instant::now();
        let at = |micros| start + Duration::from_micros(micros);
        let mut pace = stretch(&[(0, 100), (500_000, 100), (900_000, 100)]);
        pace.says(at(1_000_000));
        for i in 0..5 {
            pace.listens(at(1_080_000 + i * 1000 - 900));
            pace.heard(at(1_080_000 + i * 1000), 1250);
        }
        assert_eq!(pace.stretch.bits_per_second(), 10_000_000);
    }
}
