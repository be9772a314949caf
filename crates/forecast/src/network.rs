//! A network between two parties.

use psijoin_channel::{link::Link, memory::Window, path::Path};

/// The directions in which a network carries bytes at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Duplex {
    /// Both, each at its rate.
    #[default]
    Full,
    /// One or the other: they share the rate, as where `tc` limits the interface over which two
    /// parties on one machine talk.
    Half,
}

/// The way in which a network carries bytes, beyond its rate and its round trip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Wire {
    /// The directions at the same time.
    pub duplex: Duplex,
    /// Whether each direction starts slowly, as a fresh connection of TCP does.
    pub slow_start: bool,
}

/// A network between two parties, as the simulation knows it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Network {
    /// Bits per second from the sender to the receiver, and back.
    pub bits_per_second: [f64; 2],
    /// The time there and back, in seconds.
    pub round_trip: f64,
    /// The share of the rate that is not lost: 1 without loss.
    pub goodput: f64,
    /// Bytes that a party may have sent without their having arrived; beyond that it waits.
    pub queue_bytes: [f64; 2],
    /// The bytes that may have arrived without being read; beyond that the line waits.
    pub unread: Window,
    /// Seconds of computing per byte for the side that sends it, and again for the side that
    /// receives it: to copy it, say.
    pub handling: f64,
    /// The directions that share the rate, and the start of the connection.
    pub wire: Wire,
}

impl Network {
    /// A network that carries bytes in no time.
    pub const INSTANT: Self = Self {
        bits_per_second: [f64::INFINITY; 2],
        round_trip: 0.0,
        goodput: 1.0,
        queue_bytes: [f64::INFINITY; 2],
        unread: Window {
            bytes: usize::MAX,
            messages: usize::MAX,
        },
        handling: 0.0,
        wire: Wire {
            duplex: Duplex::Full,
            slow_start: false,
        },
    };

    /// Returns this network, with another wire.
    #[must_use]
    pub fn over(self, wire: Wire) -> Self {
        Self { wire, ..self }
    }

    /// Returns the seconds that a byte takes in this direction.
    pub(crate) fn seconds_per_byte(&self, direction: usize) -> f64 {
        8.0 / (self.bits_per_second[direction] * self.goodput)
    }
}

/// The emulated link of [`psijoin_channel::link`], over a pair in memory.
impl From<Link> for Network {
    fn from(link: Link) -> Self {
        Self {
            bits_per_second: [link.bits_per_second(); 2],
            round_trip: link.round_trip().as_secs_f64(),
            goodput: 1.0,
            queue_bytes: [link.window().bytes as f64; 2],
            unread: Window::default(),
            handling: 0.0,
            wire: Wire::default(),
        }
    }
}

/// A connection over this path.
impl From<Path> for Network {
    fn from(path: Path) -> Self {
        /// The bytes that a connection holds off the wire: the buffers of the transport and of TCP.
        const BUFFERED_BYTES: f64 = 4e6;
        let bits_per_second = path.bits_per_second.map(|rate| rate as f64);
        let round_trip = path.round_trip_micros as f64 / 1e6;
        Self {
            bits_per_second,
            round_trip,
            goodput: 1.0,
            queue_bytes: bits_per_second.map(|rate| rate / 8.0 * round_trip + BUFFERED_BYTES),
            unread: Window::default(),
            handling: 0.0,
            wire: Wire::default(),
        }
    }
}
