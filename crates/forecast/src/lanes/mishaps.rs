//! Tasks that are slow, and tasks that fail.

use psijoin_block::{Block, Prg};

use crate::Network;

use super::{Lanes, run};

/// The most attempts at all lanes of a session.
pub const MOST_ATTEMPTS: usize = 3;

/// What may happen to the tasks of lanes. A lane has two of them, one on each side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mishaps {
    /// The share of tasks that are slow. Which ones is drawn for each attempt.
    pub slow: f64,
    /// How many times as long a slow one computes.
    pub slowness: f64,
    /// How often a task fails in an hour that it runs.
    pub failures_per_hour: f64,
}

impl Mishaps {
    /// Nothing happens.
    pub const NONE: Self = Self {
        slow: 0.0,
        slowness: 1.0,
        failures_per_hour: 0.0,
    };
}

/// The attempts at a session: all have failed but perhaps the last one.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    /// In their order, [`MOST_ATTEMPTS`] at most.
    pub attempts: Vec<Attempt>,
}

/// An attempt to run all lanes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Attempt {
    /// Seconds until all lanes had ended, or until the first task failed.
    pub seconds: f64,
    /// Whether a task failed. That ends all lanes of both sides.
    pub has_failed: bool,
}

impl Course {
    /// Returns whether the last attempt succeeded.
    pub fn is_done(&self) -> bool {
        self.attempts.last().is_some_and(|last| !last.has_failed)
    }

    /// Returns the seconds of all attempts, with as many `between` two of them.
    pub fn seconds(&self, between: f64) -> f64 {
        let seconds = self.attempts.iter().map(|attempt| attempt.seconds);
        seconds.sum::<f64>() + between * (self.attempts.len() - 1) as f64
    }
}

/// Runs lanes with mishaps. The same seed lets the same happen.
pub fn play(lanes: &Lanes, network: &Network, mishaps: &Mishaps, seed: u64) -> Course {
    let mut chance = Chance(Prg::from_seed(Block(seed.into())));
    let mut attempts = Vec::new();
    while attempts.len() < MOST_ATTEMPTS {
        let attempt = attempt(lanes, network, mishaps, &mut chance);
        attempts.push(attempt);
        if !attempt.has_failed {
            break;
        }
    }
    Course { attempts }
}

fn attempt(lanes: &Lanes, network: &Network, mishaps: &Mishaps, chance: &mut Chance) -> Attempt {
    let tasks = 2 * lanes.lanes as usize;
    let slow: Vec<bool> = (0..tasks).map(|_| chance.share() <= mishaps.slow).collect();
    let is_slow = |lane: u32| slow[2 * lane as usize] || slow[2 * lane as usize + 1];
    let run = run(lanes, network, |lane| match is_slow(lane) {
        true => mishaps.slowness,
        false => 1.0,
    });
    let failures = (0..tasks).map(|task| {
        let seconds = chance.seconds_until(mishaps.failures_per_hour / 3600.0);
        // A task that has ended has its results on disk.
        (seconds < run.ends[task / 2]).then_some(seconds)
    });
    match failures.flatten().min_by(f64::total_cmp) {
        Some(seconds) => Attempt {
            seconds,
            has_failed: true,
        },
        None => Attempt {
            seconds: run.seconds(),
            has_failed: false,
        },
    }
}

struct Chance(Prg);

impl Chance {
    /// Returns a random number above 0, and 1 at most.
    fn share(&mut self) -> f64 {
        let number = u64::from_le_bytes(self.0.bytes()) >> 11;
        (number + 1) as f64 / (1u64 << 53) as f64
    }

    /// Returns the time of the first of random events, of which there are so many per second.
    fn seconds_until(&mut self, per_second: f64) -> f64 {
        -self.share().ln() / per_second
    }
}
