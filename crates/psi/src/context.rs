//! What a run is given beside its channel: the private input, and its surroundings.

use std::time::Instant;

use psijoin_block::Prg;
use psijoin_channel::joint_seed::JointSeed;

use crate::Items;

/// A party's private input, and the randomness that both share.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The digests of its distinct items.
    pub items: &'a Items,
    /// The columns that it brings ([`OutputKind::columns`](crate::OutputKind::columns)): one number
    /// per item each. Neither the positive numbers of a column nor its negative ones may add up to
    /// more than an `i64` holds.
    pub columns: &'a [Vec<i64>],
    /// Public randomness to which both parties contributed after both sets were fixed.
    pub joint_seed: &'a JointSeed,
}

/// What a run needs from its surroundings.
pub struct Context<'a> {
    /// This party's own randomness.
    pub rng: Prg,
    observer: Option<&'a dyn Observer>,
}

/// Is told how a run proceeds.
pub trait Observer: Sync {
    /// A phase of this name begins, and the one before it ends.
    fn phase(&self, name: &'static str, now: Instant);
}

impl<'a> Context<'a> {
    /// Randomness from the operating system, and nobody who listens.
    pub fn new() -> Self {
        Self {
            rng: Prg::from_os(),
            observer: None,
        }
    }

    /// The same, and `observer` is told of the phases.
    pub fn observed(observer: &'a dyn Observer) -> Self {
        Self {
            rng: Prg::from_os(),
            observer: Some(observer),
        }
    }

    /// A phase of this name begins.
    pub fn phase(&self, name: &'static str) {
        if let Some(observer) = self.observer {
            observer.phase(name, Instant::now());
        }
    }
}

impl Default for Context<'_> {
    fn default() -> Self {
        Self::new()
    }
}
