//! What evaluates the circuits.

use psijoin_channel::Channel;
use psijoin_circuit::{
    Error, Side,
    count::Count,
    garble::{AND_BYTES, evaluator, garbler},
    gmw::{
        self,
        triples::{self, Multiplication},
    },
    plain::Gates,
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{Context, Conversation, Role, ots::Ots};

use super::params::Work;
use crate::garbling;

/// A way for two parties to evaluate circuits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Engine {
    /// Yao's garbled circuits. The sender garbles: its items and its permutation then cost nothing,
    /// and the receiver, who learns the result, has it as soon as it has evaluated the last gate.
    Yao,
    /// Goldreich, Micali and Wigderson's protocol.
    Gmw {
        /// The OTs that triples are made of.
        extension: Extension,
        /// What a triple multiplies.
        multiplication: Multiplication,
    },
}

impl Engine {
    /// Counts the gates of the circuits that it wants.
    pub(super) fn counter(self) -> Count {
        match self {
            Self::Yao => Count::small(),
            Self::Gmw { .. } => Count::shallow(),
        }
    }

    /// What is said offline and online.
    pub(super) fn conversations(self, work: &Work) -> [Conversation; 2] {
        let revealed = work.revealed_bits.div_ceil(8) as u64;
        let (offline, online) = match self {
            Self::Yao => (
                garbling::setup(),
                garbling::OTS
                    .chosen(work.receiver_bits)
                    .sender(AND_BYTES * work.gates.ands()),
            ),
            Self::Gmw {
                extension,
                multiplication,
            } => (
                triples(extension, multiplication, &work.gates),
                openings(multiplication, &work.layers),
            ),
        };
        [offline, online.sender(revealed)]
    }

    /// The sender's offline phase, for a circuit of these gates.
    pub(super) fn set_up_sender(
        self,
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<SenderSetup, Error> {
        context.phase("base OT");
        match self {
            Self::Yao => {
                let rng = &mut context.rng;
                garbler::Setup::new(garbling::EXTENSION, channel, rng).map(SenderSetup::Yao)
            }
            Self::Gmw {
                extension,
                multiplication,
            } => {
                let sort = (Side::First, extension, multiplication);
                set_up_gmw(sort, gates, channel, context).map(SenderSetup::Gmw)
            }
        }
    }

    /// The receiver's.
    pub(super) fn set_up_receiver(
        self,
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<ReceiverSetup, Error> {
        context.phase("base OT");
        match self {
            Self::Yao => {
                let rng = &mut context.rng;
                evaluator::Setup::new(garbling::EXTENSION, channel, rng).map(ReceiverSetup::Yao)
            }
            Self::Gmw {
                extension,
                multiplication,
            } => {
                let sort = (Side::Second, extension, multiplication);
                set_up_gmw(sort, gates, channel, context).map(ReceiverSetup::Gmw)
            }
        }
    }
}

/// What the sender has after the offline phase.
pub(super) enum SenderSetup {
    /// It garbles.
    Yao(garbler::Setup),
    /// It has shares.
    Gmw(gmw::Setup),
}

/// What the receiver has after the offline phase.
pub(super) enum ReceiverSetup {
    /// It evaluates.
    Yao(evaluator::Setup),
    /// It has shares.
    Gmw(gmw::Setup),
}

fn set_up_gmw(
    (side, extension, multiplication): (Side, Extension, Multiplication),
    gates: &Gates,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<gmw::Setup, Error> {
    let mut setup = gmw::Setup::new(side, extension, multiplication, channel, &mut context.rng)?;
    context.phase("multiplication triples");
    setup.triples().prepare(gates, channel)?;
    Ok(setup)
}

/// What is said in [`set_up_gmw`]: OTs in either direction, those of the sender first.
fn triples(extension: Extension, multiplication: Multiplication, gates: &Gates) -> Conversation {
    let [first, second] = [Role::Sender, Role::Receiver].map(|sender| Ots { extension, sender });
    let setup = Conversation::default()
        .both(gmw::SEED_BYTES, gmw::SEED_BYTES)
        .then(first.setup())
        .then(second.setup());
    triples::making(gates, multiplication).fold(setup, |talk, count| {
        talk.then(first.random(count)).then(second.random(count))
    })
}

/// What is said to open the products of each layer.
fn openings(multiplication: Multiplication, layers: &[Gates]) -> Conversation {
    layers.iter().fold(Conversation::default(), |talk, layer| {
        let bytes = gmw::layer_bytes(layer, multiplication);
        talk.both(bytes, bytes)
    })
}
