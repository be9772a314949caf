//! Each party's measurements of the network, as two facts, and the path that follows from both
//! parties'.
//!
//! A fact is a claim. A party that lies about the network can change which protocol is chosen for
//! speed, and nothing else.

use std::{ops::RangeInclusive, time::Duration};

use psijoin_channel::path::{BITS_PER_SECOND, Measured, Path, ROUND_TRIP_MICROS};

use crate::{Error, Hello, Pending, Role};

const ROUND_TRIP: &str = "the round trip in microseconds";
const INCOMING: &str = "the bits per second that reach it";

impl Hello {
    /// Adds what this party has measured of the network; nothing for what it has not.
    #[must_use]
    pub fn measured(self, measured: Measured) -> Self {
        let round_trip = measured.round_trip_micros();
        let incoming = measured.incoming_bits_per_second();
        [(ROUND_TRIP, round_trip), (INCOMING, incoming)]
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?)))
            .fold(self, |hello, (name, value)| hello.fact(name, value))
    }
}

impl Pending {
    /// Returns the path between the parties, the same for both.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the peer claims to have measured what cannot be.
    pub fn path(&self) -> Result<Path, Error> {
        let (ours, theirs) = (claims(&self.ours)?, claims(&self.theirs)?);
        Ok(match self.ours.role() {
            Role::Sender => Path::between(ours, theirs),
            Role::Receiver => Path::between(theirs, ours),
        })
    }
}

/// Returns what a party claims to have measured.
fn claims(hello: &Hello) -> Result<Measured, Error> {
    let number = |name, range: RangeInclusive<u64>, otherwise| match hello.told(name) {
        None => Ok(None),
        Some(text) => match whole_number(text).filter(|number| range.contains(number)) {
            None => Err(Error::Malformed(otherwise)),
            number => Ok(number),
        },
    };
    let round_trip = number(
        ROUND_TRIP,
        ROUND_TRIP_MICROS,
        "its round trip is no whole number of microseconds from 1 to 3600000000",
    )?;
    let incoming = number(
        INCOMING,
        BITS_PER_SECOND,
        "its rate is no whole number of bits per second from 1 to 1000000000000",
    )?;
    let measured = match round_trip {
        Some(micros) => Measured::default().round_trip(Duration::from_micros(micros)),
        None => Measured::default(),
    };
    Ok(match incoming {
        Some(rate) => measured.incoming(rate),
        None => measured,
    })
}

/// Returns a number in decimal, written in the only way.
fn whole_number(text: &str) -> Option<u64> {
    let is_plain = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    is_plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use std::thread;

    use psijoin_channel::memory;

    use super::*;
    use crate::begin;

    /// Returns what the sender and the receiver make of both hellos' facts.
    fn paths(
        sender: impl FnOnce(Hello) -> Hello,
        receiver: impl FnOnce(Hello) -> Hello,
    ) -> [Result<Path, Error>; 2] {
        let (mut a, mut b) = memory::pair();
        let sender = sender(Hello::new(Role::Sender, 1));
        let receiver = receiver(Hello::new(Role::Receiver, 1));
        let sending = thread::spawn(move || begin(&mut a, sender)?.path());
        let received = begin(&mut b, receiver).and_then(|pending| pending.path());
        [sending.join().unwrap(), received]
    }

    fn measured(micros: u64, bits_per_second: u64) -> Measured {
        Measured::default()
            .round_trip(Duration::from_micros(micros))
            .incoming(bits_per_second)
    }

    #[test]
    fn both_derive_the_same_from_unlike_measurements() {
        let (sender, receiver) = (measured(80_400, 900), measured(80_100, 5_000_000));
        let expected = Path {
            round_trip_micros: 80_100,
            bits_per_second: [5_000_000, 900],
        };
        let found = paths(
            |hello| hello.measured(sender),
            |hello| hello.measured(receiver),
        );
        assert_eq!(found.map(Result::unwrap), [expected; 2]);
        // One of them does not know.
        let found = paths(|hello| hello.measured(sender), |hello| hello);
        let expected = Path::between(sender, Measured::default());
        assert_eq!(found.map(Result::unwrap), [expected; 2]);
    }

    #[test]
    fn nothing_measured_is_nothing_told() {
        let hello = Hello::new(Role::Sender, 1);
        assert_eq!(hello.clone().measured(Measured::default()), hello);
        let found = paths(|hello| hello, |hello| hello);
        assert_eq!(found.map(Result::unwrap), [Path::default(); 2]);
    }

    #[test]
    fn the_limits_can_be_told() {
        for measured in [measured(0, 0), measured(u64::MAX, u64::MAX)] {
            let found = paths(|hello| hello.measured(measured), |hello| hello);
            let expected = Path::between(measured, Measured::default());
            assert_eq!(found.map(Result::unwrap), [expected; 2]);
        }
    }

    #[test]
    fn what_cannot_be_measured_is_refused_by_name() {
        for (fact, says) in [(ROUND_TRIP, "round trip"), (INCOMING, "rate")] {
            for text in [
                "0",
                "07",
                "+7",
                "-7",
                "7 ",
                "7.5",
                "1e3",
                "fast",
                "٧",
                "1000000000001",
                "99999999999999999999999",
            ] {
                let [_, found] = paths(|hello| hello.fact(fact, text), |hello| hello);
                let error = found.unwrap_err().to_string();
                assert!(error.contains(says), "{text}: {error}");
            }
        }
    }
}
