//! A limit on bytes per second.

use std::time::{Duration, Instant};

/// The time for whose bytes there is room.
const BURST: Duration = Duration::from_millis(100);

/// The room at least: less would be moved in crumbs.
const MIN_BURST_BYTES: f64 = 16_384.0;

/// A token bucket: it fills at a rate, and bytes may pass as long as there is something in it.
#[derive(Debug)]
pub(crate) struct Bucket {
    per_second: f64,
    room: f64,
    level: f64,
    filled_at: Instant,
}

impl Bucket {
    pub(crate) fn new(bytes_per_second: u64, now: Instant) -> Self {
        let per_second = bytes_per_second as f64;
        let room = (per_second * BURST.as_secs_f64()).max(MIN_BURST_BYTES);
        Self {
            per_second,
            room,
            level: room,
            filled_at: now,
        }
    }

    /// Takes at most that many bytes, and gives how many may pass.
    ///
    /// # Errors
    /// The time until there is something again, if there is nothing now.
    pub(crate) fn take(&mut self, wanted: usize, now: Instant) -> Result<usize, Duration> {
        let passed = now.saturating_duration_since(self.filled_at);
        self.filled_at = self.filled_at.max(now);
        self.level = self
            .room
            .min(self.level + self.per_second * passed.as_secs_f64());
        let enough = (wanted as f64).min(self.room / 4.0);
        if self.level < enough {
            let wait = (enough - self.level) / self.per_second;
            return Err(Duration::from_secs_f64(wait.min(3600.0)));
        }
        let taken = wanted.min(self.level as usize);
        self.level -= taken as f64;
        Ok(taken)
    }

    /// Takes back bytes that did not pass.
    pub(crate) fn give_back(&mut self, bytes: usize) {
        self.level = self.room.min(self.level + bytes as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_holds_over_time() {
        let start = Instant::now();
        for rate in [1_000, 1_000_000, 1_000_000_000] {
            let mut bucket = Bucket::new(rate, start);
            let (mut passed, mut now) = (0, start);
            while now < start + Duration::from_secs(100) {
                match bucket.take(65_536, now) {
                    Ok(bytes) => passed += bytes,
                    Err(wait) => now += wait.max(Duration::from_micros(10)),
                }
            }
            let expected = 100 * rate as usize;
            let burst = (rate as usize / 10).max(16_384);
            assert!(
                (expected..=expected + 2 * burst).contains(&passed),
                "{rate}: {passed}"
            );
        }
    }

    #[test]
    fn what_did_not_pass_can_pass_later() {
        let now = Instant::now();
        let mut bucket = Bucket::new(1000, now);
        assert_eq!(bucket.take(16_384, now), Ok(16_384));
        assert!(bucket.take(1000, now).is_err());
        bucket.give_back(16_000);
        assert_eq!(bucket.take(1000, now), Ok(1000));
        bucket.give_back(1_000_000);
        assert_eq!(bucket.take(65_536, now), Ok(16_384));
    }
}
