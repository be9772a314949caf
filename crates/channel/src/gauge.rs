//! The capacity of a network, measured between two parties.
//!
//! ```
//! use psijoin_channel::{gauge::gauge, memory};
//!
//! let (mut alice, mut bob) = memory::pair();
//! let (one, other) = std::thread::scope(|scope| {
//!     let other = scope.spawn(|| gauge(&mut bob, false));
//!     (gauge(&mut alice, true), other.join().unwrap())
//! });
//! assert_eq!(one?.out_bits_per_second, other?.in_bits_per_second);
//! # Ok::<(), psijoin_channel::Error>(())
//! ```
//!
//! One party after the other sends a few words, and then bursts that double in length, until one
//! takes half a second. After each the other one nods. So what waits in buffers on the way is never
//! more than a burst, and the last burst is long enough for TCP to have found its pace. All of it
//! takes about two seconds between near machines, and some dozens of round trips more.

use std::time::{Duration, Instant};

use crate::{Channel, Error, MAX_MESSAGE_BYTES};

/// The network between two parties, as they measured it together: both know all of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gauged {
    /// The time there and back: the shortest that either party saw.
    pub round_trip: Duration,
    /// Payload bits per second from this party to the other.
    pub out_bits_per_second: f64,
    /// Payload bits per second from the other party to this one.
    pub in_bits_per_second: f64,
}

/// A burst that takes this long is the last.
const LONG_ENOUGH: Duration = Duration::from_millis(500);

/// The first burst, and the longest, in bytes.
const BURSTS: [usize; 2] = [1 << 14, 1 << 29];

/// The number of measurements of the round trip.
const PINGS: usize = 5;

const PIECE_BYTES: usize = 1 << 16;
const _: () = assert!(PIECE_BYTES <= MAX_MESSAGE_BYTES);

/// Measures the network with a peer that calls this too; exactly one of them is the `first`.
///
/// # Errors
/// If the channel fails, or the peer sends impossible figures.
pub fn gauge(channel: &mut Channel, first: bool) -> Result<Gauged, Error> {
    let (ours, theirs) = if first {
        let ours = lead(channel)?;
        (ours, follow(channel)?)
    } else {
        let theirs = follow(channel)?;
        (lead(channel)?, theirs)
    };
    Ok(Gauged {
        round_trip: ours.round_trip.min(theirs.round_trip),
        out_bits_per_second: ours.bits_per_second,
        in_bits_per_second: theirs.bits_per_second,
    })
}

/// The measurements of a party while it was leading.
#[derive(Clone, Copy)]
struct Seen {
    round_trip: Duration,
    bits_per_second: f64,
}

impl Seen {
    fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&(self.round_trip.as_nanos() as u64).to_le_bytes());
        bytes[8..].copy_from_slice(&self.bits_per_second.to_le_bytes());
        bytes
    }

    fn decode(bytes: [u8; 16]) -> Result<Self, Error> {
        let (nanoseconds, rate) = bytes.split_at(8);
        let number = |bytes: &[u8]| bytes.try_into().expect("half of them");
        let bits_per_second = f64::from_le_bytes(number(rate));
        if !(bits_per_second.is_finite() && bits_per_second > 0.0) {
            return Err(Error::Malformed("it measured a rate that cannot be"));
        }
        Ok(Self {
            round_trip: Duration::from_nanos(u64::from_le_bytes(number(nanoseconds))),
            bits_per_second,
        })
    }
}

/// Measures, and tells the other party.
fn lead(channel: &mut Channel) -> Result<Seen, Error> {
    let mut round_trip = Duration::MAX;
    for _ in 0..PINGS {
        let started = Instant::now();
        channel.send(&[0])?;
        nod_of(channel)?;
        round_trip = round_trip.min(started.elapsed());
    }
    let [mut bytes, longest] = BURSTS;
    let bits_per_second = loop {
        let time = burst(channel, bytes)?;
        if time >= LONG_ENOUGH + round_trip || bytes == longest {
            // A burst is on its way for as long as its bytes take to leave, and a round trip.
            let leaving = time.saturating_sub(round_trip).max(Duration::from_nanos(1));
            break 8.0 * bytes as f64 / leaving.as_secs_f64();
        }
        bytes *= 2;
    };
    channel.send(&[0])?;
    let seen = Seen {
        round_trip,
        bits_per_second,
    };
    channel.send(&seen.encode())?;
    Ok(seen)
}

/// Sends this many bytes, and waits until the other party has them.
fn burst(channel: &mut Channel, bytes: usize) -> Result<Duration, Error> {
    let piece = vec![0; PIECE_BYTES];
    channel.send(&[1])?;
    let started = Instant::now();
    for first in (0..bytes).step_by(PIECE_BYTES) {
        channel.send(&piece[..PIECE_BYTES.min(bytes - first)])?;
    }
    nod_of(channel)?;
    Ok(started.elapsed())
}

fn nod_of(channel: &mut Channel) -> Result<(), Error> {
    channel.recv_array::<1>().map(drop)
}

/// Answers a party that leads.
fn follow(channel: &mut Channel) -> Result<Seen, Error> {
    for _ in 0..PINGS {
        nod_of(channel)?;
        channel.send(&[0])?;
    }
    let mut piece = vec![0; PIECE_BYTES];
    let [mut bytes, longest] = BURSTS;
    while let [1] = channel.recv_array()? {
        if bytes > longest {
            return Err(Error::Malformed("it measures with more bytes than agreed"));
        }
        for first in (0..bytes).step_by(PIECE_BYTES) {
            channel.recv(&mut piece[..PIECE_BYTES.min(bytes - first)])?;
        }
        channel.send(&[0])?;
        bytes *= 2;
    }
    Seen::decode(channel.recv_array()?)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{
        link::{Link, linked},
        memory,
    };

    /// Returns what both parties find, over this link.
    fn gauged(link: Link) -> [Gauged; 2] {
        let (a, b) = memory::pair();
        let [mut a, mut b] = [a, b].map(|end| linked(end, link));
        thread::scope(|scope| {
            let first = scope.spawn(move || gauge(&mut a, true).unwrap());
            let second = gauge(&mut b, false).unwrap();
            [first.join().unwrap(), second]
        })
    }

    /// A busy machine makes a network slower, never faster.
    #[test]
    fn an_emulated_link_is_found_again() {
        for (rate, round_trip) in [(2e6, 30), (100e6, 5)] {
            let round_trip = Duration::from_millis(round_trip);
            let [one, other] = gauged(Link::new(rate, round_trip).unwrap());
            assert_eq!(one.round_trip, other.round_trip);
            assert_eq!(one.out_bits_per_second, other.in_bits_per_second);
            assert_eq!(one.in_bits_per_second, other.out_bits_per_second);
            assert!(one.round_trip >= round_trip, "{one:?}");
            for found in [one.out_bits_per_second, one.in_bits_per_second] {
                assert!((0.0..1.1 * rate).contains(&found), "{found}, {rate}");
            }
        }
    }

    #[test]
    fn what_cannot_be_is_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let (mut liar, mut victim) = memory::pair();
            thread::scope(|scope| {
                scope.spawn(move || {
                    for _ in 0..PINGS {
                        liar.send(&[0]).unwrap();
                        nod_of(&mut liar).unwrap();
                    }
                    liar.send(&[0]).unwrap();
                    let seen = Seen {
                        round_trip: Duration::ZERO,
                        bits_per_second: rate,
                    };
                    liar.send(&seen.encode()).unwrap();
                });
                let error = gauge(&mut victim, false).unwrap_err();
                assert!(matches!(error, Error::Malformed(_)), "{error}");
            });
        }
    }
}
