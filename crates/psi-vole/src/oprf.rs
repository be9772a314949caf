//! The oblivious PRF of RR22: the receiver gets the value at each of its items, the sender gets the
//! function, from a key-value store of the receiver and subfield vector OLE. Header and steps are
//! in [`rr22`](crate::rr22); `rr22_circuit` stands on it too.

use psijoin_encode::okvs::RowHasher;
use psijoin_params::{FailureBudget, Log2Prob, Security, digest, okvs};

use crate::{Error, Parameter, stream::Chunks};

mod evaluation;
mod functions;
mod store;

pub(crate) use evaluation::Evaluation;
pub use functions::Functions;
pub(crate) use store::Store;

/// How the store of the receiver's items is laid out.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) shape: okvs::Shape,
    security: Security,
}

impl Layout {
    /// For so many items, within a sixteenth of the budget; `name` says whose they are.
    pub(crate) fn derive(
        name: &'static str,
        items: u64,
        security: Security,
        budget: &mut FailureBudget,
    ) -> Result<Self, Error> {
        let shape = okvs::smallest(items, budget.share(0.0625))?;
        budget.charge(name, okvs::failure(items, shape))?;
        Ok(Self { shape, security })
    }

    /// The messages that carry it: one for each bin.
    pub(crate) fn bins(&self) -> Chunks {
        Chunks {
            total: self.shape.bins as usize,
            per_message: 1,
        }
    }

    /// Bytes of a bin.
    pub(crate) fn bin_bytes<B>(&self) -> usize {
        self.shape.bin_slots() * size_of::<B>()
    }

    /// The lengths of the messages.
    pub(crate) fn messages<B>(&self) -> impl Iterator<Item = usize> {
        let bin_bytes = self.bin_bytes::<B>();
        self.bins().message_lengths(move |_| bin_bytes)
    }

    pub(crate) fn parameters(&self) -> impl Iterator<Item = Parameter> {
        let shape = self.shape;
        [
            ("bins", shape.bins),
            ("items a bin", shape.bin_items),
            ("slots a bin", shape.slots),
            ("dense columns a bin", shape.dense),
            ("check columns a bin", shape.checks),
        ]
        .map(|(name, value)| Parameter {
            name,
            value: value.into(),
        })
        .into_iter()
    }

    pub(crate) fn bad_luck(&self) -> Error {
        Error::BadLuck(
            "the items do not fit into the key-value store",
            self.security.statistical_bits(),
        )
    }
}

/// That rows and values, which come from block ciphers, show it: a cipher repeats no output,
/// where a function would with the probability that two digests are equal.
pub(crate) const CIPHERS: &str = "ciphers unlike functions";

/// How likely that is at most, for the items of both parties together.
pub(crate) fn ciphers(items: u64, digest_bytes: usize) -> Log2Prob {
    match digest_bytes {
        16 => digest::collision_among(items, 16).times(RowHasher::CIPHERS as u128),
        _ => Log2Prob::ZERO,
    }
}

/// A bound on any of the sender's items outside the receiver's set decoding to its own value:
/// each does with probability 1/|B|.
pub(crate) fn dictionary(sender_items: u64, base_bits: u32) -> Log2Prob {
    Log2Prob::from_log2(-f64::from(base_bits)).times(sender_items.into())
}
