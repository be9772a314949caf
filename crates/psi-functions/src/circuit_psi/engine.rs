//! The engines that evaluate the circuits.

use psijoin_circuit::{Side, count::Count, garble::AND_BYTES, gmw, plain::Gates};
use psijoin_psi::{BaseOts, Context, Conversation, Error};

use super::params::Work;
use crate::{
    garbling::{self, SetUp},
    gmw::Gmw,
};

/// A way for two parties to evaluate circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// Yao's garbled circuits. The sender garbles: its items and its permutation then cost nothing,
    /// and the receiver, which learns the result, has it as soon as it has evaluated the last gate.
    Yao(BaseOts),
    /// Goldreich, Micali and Wigderson's protocol.
    Gmw(Gmw),
}

/// The state of a party after the offline phase. Y is its half of Yao's protocol.
pub(super) enum Setup<Y> {
    /// It garbles or evaluates.
    Yao(Box<Y>),
    /// It has shares.
    Gmw(Box<gmw::Setup>),
}

impl Engine {
    /// Sets the base OTs.
    pub(super) fn on(self, base: BaseOts) -> Self {
        match self {
            Self::Yao(_) => Self::Yao(base),
            Self::Gmw(gmw) => Self::Gmw(Gmw {
                extension: gmw.extension.on(base),
                ..gmw
            }),
        }
    }

    /// Counts the gates of the circuits that it wants.
    pub(super) fn counter(self) -> Count {
        match self {
            Self::Yao(_) => Count::small(),
            Self::Gmw(_) => Count::shallow(),
        }
    }

    /// Returns what is said offline and online.
    pub(super) fn conversations(self, work: &Work) -> [Conversation; 2] {
        let (offline, online) = match self {
            Self::Yao(base) => (garbling::setup(base), garbled(base, work)),
            Self::Gmw(gmw) => (gmw.triples(&work.gates), gmw.openings(&work.layers)),
        };
        [
            offline,
            online.sender(work.revealed_bits.div_ceil(8) as u64),
        ]
    }

    /// Returns a party's offline phase, for a circuit of these gates; `set_up` is its own of Yao's
    /// protocol.
    pub(super) fn set_up<Y>(
        self,
        side: Side,
        set_up: SetUp<Y>,
        gates: &Gates,
        context: &mut Context,
    ) -> Result<Setup<Y>, Error> {
        context.phases.begin("base OT");
        Ok(match self {
            Self::Yao(base) => {
                let extension = garbling::ots(base).extension;
                let setup = set_up(extension, context.channel, &mut context.rng)?;
                Setup::Yao(setup.into())
            }
            Self::Gmw(gmw) => Setup::Gmw(gmw.set_up(side, gates, context)?.into()),
        })
    }
}

/// Returns the messages of a garbled circuit, except for its outputs.
fn garbled(base: BaseOts, work: &Work) -> Conversation {
    garbling::ots(base)
        .chosen(work.receiver_bits)
        .sender(AND_BYTES * work.gates.ands())
}
