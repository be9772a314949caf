//! A direction of the network.

use std::collections::VecDeque;

use crate::Network;

/// A direction of the network.
pub(super) struct Line {
    pub(super) seconds_per_byte: f64,
    /// Seconds from leaving to arriving.
    latency: f64,
    /// The time at which the last bit so far has left.
    free_at: f64,
    /// The start of the connection, while it is slow.
    start: Option<SlowStart>,
    /// Messages under way, and when they arrive.
    pub(super) under_way: VecDeque<(Load, f64)>,
    pub(super) bytes_under_way: f64,
    /// The bytes that were not read yet.
    pub(super) unread: Load,
    /// All that was sent.
    pub(super) bytes: f64,
}

/// The bytes and messages that are sent or received at once.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(super) struct Load {
    pub(super) bytes: f64,
    pub(super) messages: f64,
}

/// A connection that starts slowly: what it may send in a round trip doubles with each in which it
/// sent as much.
///
/// It never starts again, though TCP may do so after a while in which nothing was sent.
struct SlowStart {
    round_trip: f64,
    /// Bytes that it may send in this round trip, and those that it has sent.
    window: f64,
    sent: f64,
    /// The beginning of the round trip.
    since: f64,
    /// As many bytes as fill the line.
    enough: f64,
}

/// The bytes of the first round trip: ten segments (RFC 6928).
const FIRST_WINDOW: f64 = 10.0 * 1460.0;

impl Line {
    pub(super) fn new(network: &Network, direction: usize) -> Self {
        let seconds_per_byte = network.seconds_per_byte(direction);
        let enough = network.round_trip / seconds_per_byte;
        let start = SlowStart {
            round_trip: network.round_trip,
            window: FIRST_WINDOW,
            sent: 0.0,
            since: 0.0,
            enough,
        };
        let is_slow = network.wire.slow_start && seconds_per_byte > 0.0;
        Self {
            seconds_per_byte,
            latency: network.round_trip / 2.0,
            free_at: 0.0,
            start: is_slow.then_some(start),
            under_way: VecDeque::new(),
            bytes_under_way: 0.0,
            unread: Load::default(),
            bytes: 0.0,
        }
    }

    /// Sends what may leave from this time on. Returns when the last bit has left.
    pub(super) fn send(&mut self, load: Load, from: f64) -> f64 {
        self.free_at = self.leave(load.bytes, self.free_at.max(from));
        self.under_way
            .push_back((load, self.free_at + self.latency));
        self.bytes_under_way += load.bytes;
        self.bytes += load.bytes;
        self.free_at
    }

    /// Returns when the last of these bytes has left, if they begin to leave at `now`.
    fn leave(&mut self, mut bytes: f64, mut now: f64) -> f64 {
        while let Some(start) = self.start.as_mut().filter(|start| start.is_slow()) {
            start.proceed(now);
            let burst = bytes.min(start.window - start.sent);
            start.sent += burst;
            bytes -= burst;
            now += burst * self.seconds_per_byte;
            if bytes <= 0.0 {
                return now;
            }
            now = now.max(start.since + start.round_trip);
        }
        self.start = None;
        now + bytes * self.seconds_per_byte
    }
}

impl SlowStart {
    fn is_slow(&self) -> bool {
        self.window < self.enough
    }

    /// Begins the next round trip if this one is over: what it sent is acknowledged.
    fn proceed(&mut self, now: f64) {
        if now >= self.since + self.round_trip {
            self.window += self.sent;
            self.sent = 0.0;
            self.since = now;
        }
    }
}
