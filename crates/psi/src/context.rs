//! The input of a run beside its channel: the private set, and the surroundings.

use std::time::Instant;

use psijoin_block::Prg;
use psijoin_channel::{Channel, joint_seed::JointSeed};

use crate::{Items, Ledger};

/// A party's private input, and the randomness that both share.
#[derive(Clone, Copy)]
pub struct Input<'a> {
    /// The digests of its distinct items.
    pub items: &'a Items,
    /// The columns that it brings ([`OutputKind::columns`](crate::OutputKind::columns)): one number
    /// per item each. Labels of [`Groups`](crate::Groups) are the last of them. Neither the sum of
    /// a column's positive numbers nor that of its negative ones may overflow an `i64`.
    pub columns: &'a [Vec<i64>],
    /// The payloads for the other party
    /// ([`OutputKind::payload_bytes`](crate::OutputKind::payload_bytes)), those of all items one
    /// after the other.
    pub payloads: &'a [u8],
    /// Public randomness to which both parties contributed after both sets were fixed, fresh for
    /// each session. The digests come from it. All attempts at a session share it ([`Ledger`]).
    pub joint_seed: &'a JointSeed,
}

/// The surroundings of a run.
#[non_exhaustive]
pub struct Context<'a> {
    /// The channel to the peer.
    pub channel: &'a mut Channel,
    /// Further channels to it. A session in parts runs its parts over these, several at a time, and
    /// over the channel only what follows them; without any, all of it runs over the channel. The
    /// peer has as many, in the same order.
    pub streams: &'a mut [Channel],
    /// This party's own randomness. Steps that a ledger keeps have that of the ledger.
    pub rng: Prg,
    /// The listener to the phases of the run.
    pub phases: Phases<'a>,
    /// Knows the steps that are done, and keeps those to come.
    pub ledger: Option<&'a dyn Ledger>,
    /// The numbers that the sender adds to the totals of [groups](crate::Groups), modulo 2^64,
    /// before they are compared and opened: for the counts of all groups, then for the sums of each
    /// column, group by group. None, if they are without noise, and for the receiver.
    pub noise: &'a [u64],
}

impl<'a> Context<'a> {
    /// Returns a run over this channel, with randomness from the operating system, and nobody
    /// listening.
    pub fn new(channel: &'a mut Channel) -> Self {
        Self {
            channel,
            streams: &mut [],
            rng: Prg::from_os(),
            phases: Phases(None),
            ledger: None,
            noise: &[],
        }
    }

    /// Adds further channels to the peer.
    #[must_use]
    pub fn streams(self, streams: &'a mut [Channel]) -> Self {
        Self { streams, ..self }
    }

    /// Sets the party's own randomness.
    #[must_use]
    pub fn randomness(self, rng: Prg) -> Self {
        Self { rng, ..self }
    }

    /// Resumes where an earlier attempt stopped, as `ledger` has it.
    #[must_use]
    pub fn keeping(self, ledger: &'a dyn Ledger) -> Self {
        Self {
            ledger: Some(ledger),
            ..self
        }
    }

    /// Sets the noise that the sender adds.
    #[must_use]
    pub fn adding(self, noise: &'a [u64]) -> Self {
        Self { noise, ..self }
    }

    /// Lets `observer` hear about the phases.
    #[must_use]
    pub fn observed(self, observer: &'a dyn Observer) -> Self {
        Self {
            phases: Phases(Some(observer)),
            ..self
        }
    }
}

/// The phases of a run, and who hears about them.
#[derive(Clone, Copy)]
pub struct Phases<'a>(Option<&'a dyn Observer>);

impl Phases<'_> {
    /// Notes that a phase of this name begins.
    pub fn begin(self, name: &'static str) {
        if let Some(observer) = self.0 {
            observer.phase(name, Instant::now());
        }
    }
}

/// Hears how a run proceeds.
pub trait Observer: Sync {
    /// Called when a phase of this name begins, and the one before it ends.
    fn phase(&self, name: &'static str, now: Instant);
}
