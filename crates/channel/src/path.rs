//! The way between two parties: how long a round trip takes, and how many bits pass in a second.
//!
//! Each party knows what it has [measured](Measured). Once both know both, they derive the same
//! [`Path`] from it, in integers, whatever machines they have.

use std::{ops::RangeInclusive, time::Duration};

use crate::link::Link;

/// The round trips that there may be, in microseconds: up to an hour.
pub const ROUND_TRIP_MICROS: RangeInclusive<u64> = 1..=3_600_000_000;

/// The rates that there may be, in bits per second: up to a terabit.
pub const BITS_PER_SECOND: RangeInclusive<u64> = 1..=1_000_000_000_000;

/// A rate that is too high to be measured, or not known at all: between the gigabit and the ten
/// gigabits of local networks.
pub const FAST_BITS_PER_SECOND: u64 = 3_000_000_000;

/// The highest rate that a session measures: at a higher one packets come too close together to be
/// told apart, and the rate is [fast](FAST_BITS_PER_SECOND).
pub const MEASURABLE_BITS_PER_SECOND: u64 = 400_000_000;

/// A party's measurements of the path to the other. Missing fields could not be measured, and by
/// default all are missing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Measured {
    round_trip_micros: Option<u64>,
    incoming_bits_per_second: Option<u64>,
}

impl Measured {
    /// Sets the round trip, or the nearest that there may be.
    #[must_use]
    pub fn round_trip(self, round_trip: Duration) -> Self {
        let micros = u64::try_from(round_trip.as_micros()).unwrap_or(u64::MAX);
        Self {
            round_trip_micros: Some(within(&ROUND_TRIP_MICROS, micros)),
            ..self
        }
    }

    /// Sets the rate from the other party, in bits per second, or the nearest that there
    /// may be.
    #[must_use]
    pub fn incoming(self, bits_per_second: u64) -> Self {
        Self {
            incoming_bits_per_second: Some(within(&BITS_PER_SECOND, bits_per_second)),
            ..self
        }
    }

    /// Returns the round trip in microseconds.
    pub fn round_trip_micros(&self) -> Option<u64> {
        self.round_trip_micros
    }

    /// Returns bits per second that come from the other party.
    pub fn incoming_bits_per_second(&self) -> Option<u64> {
        self.incoming_bits_per_second
    }
}

fn within(range: &RangeInclusive<u64>, value: u64) -> u64 {
    value.clamp(*range.start(), *range.end())
}

/// The way between a sender and a receiver, as both assume it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// The time there and back, in microseconds.
    pub round_trip_micros: u64,
    /// Bits per second from the sender to the receiver, and back.
    pub bits_per_second: [u64; 2],
}

/// The assumption about a path that nobody has measured: machines that are near each other.
impl Default for Path {
    fn default() -> Self {
        Self {
            round_trip_micros: 1000,
            bits_per_second: [FAST_BITS_PER_SECOND; 2],
        }
    }
}

impl Path {
    /// Returns the path that the parties of a session would find where this is the way between
    /// them.
    #[must_use]
    pub fn as_measured(self) -> Self {
        let rate = |rate| match rate {
            0..=MEASURABLE_BITS_PER_SECOND => rate,
            _ => FAST_BITS_PER_SECOND,
        };
        Self {
            bits_per_second: self.bits_per_second.map(rate),
            ..self
        }
    }

    /// Returns the path between parties whose roles are swapped.
    #[must_use]
    pub fn swapped(self) -> Self {
        let [there, back] = self.bits_per_second;
        Self {
            bits_per_second: [back, there],
            ..self
        }
    }

    /// Returns what follows from both parties' measurements.
    ///
    /// The round trip is the shorter one, since a machine that is busy measures too long a time.
    /// The rate of a direction is what its receiving end has measured, or else the rate of the
    /// other direction. A figure that nobody has measured is that of [`default`](Self::default).
    pub fn between(sender: Measured, receiver: Measured) -> Self {
        let unknown = Self::default();
        let round_trips = [sender, receiver].map(|party| party.round_trip_micros);
        let [to_sender, to_receiver] =
            [sender, receiver].map(|party| party.incoming_bits_per_second);
        let rate = |known: Option<u64>, other: Option<u64>| {
            known.or(other).unwrap_or(FAST_BITS_PER_SECOND)
        };
        Self {
            round_trip_micros: round_trips
                .into_iter()
                .flatten()
                .min()
                .unwrap_or(unknown.round_trip_micros),
            bits_per_second: [rate(to_receiver, to_sender), rate(to_sender, to_receiver)],
        }
    }
}

/// An emulated link is known exactly.
impl From<Link> for Path {
    fn from(link: Link) -> Self {
        let end = Measured::default()
            .round_trip(link.round_trip())
            .incoming(link.bits_per_second() as u64);
        Self::between(end, end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(micros: u64, bits_per_second: u64) -> Measured {
        Measured::default()
            .round_trip(Duration::from_micros(micros))
            .incoming(bits_per_second)
    }

    fn path(round_trip_micros: u64, bits_per_second: [u64; 2]) -> Path {
        Path {
            round_trip_micros,
            bits_per_second,
        }
    }

    #[test]
    fn each_end_knows_what_reaches_it() {
        let (sender, receiver) = (measured(9000, 20_000_000), measured(8000, 1_000_000));
        assert_eq!(
            Path::between(sender, receiver),
            path(8000, [1_000_000, 20_000_000])
        );
    }

    #[test]
    fn what_one_party_has_not_measured_the_other_may_have() {
        let nothing = Measured::default();
        let one = measured(8000, 5_000_000);
        for path_found in [Path::between(one, nothing), Path::between(nothing, one)] {
            assert_eq!(path_found, path(8000, [5_000_000; 2]));
        }
        assert_eq!(Path::between(nothing, nothing), Path::default());
        let only_time = nothing.round_trip(Duration::from_millis(80));
        assert_eq!(
            Path::between(only_time, nothing),
            path(80_000, [FAST_BITS_PER_SECOND; 2])
        );
    }

    #[test]
    fn what_cannot_be_is_taken_for_the_nearest_that_can() {
        let least = Measured::default().round_trip(Duration::ZERO).incoming(0);
        assert_eq!(least, measured(1, 1));
        let most = Measured::default()
            .round_trip(Duration::MAX)
            .incoming(u64::MAX);
        assert_eq!(most, measured(3_600_000_000, 1_000_000_000_000));
    }

    #[test]
    fn a_rate_that_cannot_be_measured_is_fast() {
        let fast = FAST_BITS_PER_SECOND;
        for (rates, found) in [
            ([1, 400_000_000], [1, 400_000_000]),
            ([400_000_001, 1_000_000], [fast, 1_000_000]),
            ([10_000_000_000; 2], [fast; 2]),
        ] {
            assert_eq!(path(7, rates).as_measured(), path(7, found));
        }
        assert_eq!(path(7, [1, 2]).swapped(), path(7, [2, 1]));
    }

    #[test]
    fn a_link_is_its_own_path() {
        let link: Link = "wan:100mbps,80ms".parse().unwrap();
        assert_eq!(Path::from(link), path(80_000, [100_000_000; 2]));
    }
}
