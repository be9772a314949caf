//! How long a job tries to go on.

use std::time::{Duration, Instant};

/// The time for which reconnecting is tried without any progress.
pub(crate) struct Patience {
    wait: Duration,
    lost: Option<Instant>,
    /// The number of steps that were done then.
    done: u32,
}

impl Patience {
    pub(crate) fn new(wait: Duration) -> Self {
        Self {
            wait,
            lost: None,
            done: 0,
        }
    }

    /// Notes that a connection is lost, with this many steps done. Returns whether to try once
    /// more.
    pub(crate) fn lasts(&mut self, done: u32) -> bool {
        if done > self.done {
            self.lost = None;
        }
        self.done = done;
        self.lost.get_or_insert_with(Instant::now).elapsed() < self.wait
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patience_ends_unless_something_is_done() {
        let mut patience = Patience::new(Duration::ZERO);
        assert!(!patience.lasts(0));
        let mut patience = Patience::new(Duration::from_millis(100));
        assert!(patience.lasts(0));
        assert!(patience.lasts(3));
        std::thread::sleep(Duration::from_millis(150));
        assert!(!patience.lasts(3));
        assert!(patience.lasts(4));
    }
}
