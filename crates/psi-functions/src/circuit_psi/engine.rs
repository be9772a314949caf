//! What evaluates the circuits.

use std::marker::PhantomData;

use psijoin_channel::Channel;
use psijoin_circuit::{
    Error, Side, TwoParty,
    count::Count,
    garble::{self, Evaluator, Garbler, evaluator, garbler},
    gmw::{
        self, Gmw as Sharing,
        triples::{self, Multiplication},
    },
    plain::Gates,
};
use psijoin_ot::extension::{Extension, Iknp, Silent};

use super::params::Work;
use crate::{Adversary, Context, Cost, Info, Traffic};

/// A way for two parties to evaluate circuits.
pub trait Engine: Send + Sync + 'static {
    /// What the registry says of the protocol.
    #[doc(hidden)]
    const INFO: &'static Info;

    /// What the sender has after the offline phase.
    #[doc(hidden)]
    type SenderSetup: Send;
    /// What the receiver has.
    #[doc(hidden)]
    type ReceiverSetup: Send;
    /// The sender while it evaluates.
    #[doc(hidden)]
    type Sender<'a>: TwoParty;
    /// The receiver.
    #[doc(hidden)]
    type Receiver<'a>: TwoParty;

    /// Counts gates of the circuits that it wants.
    #[doc(hidden)]
    fn counter() -> Count;

    /// Exact.
    #[doc(hidden)]
    fn cost(work: &Work) -> Cost;

    /// The sender's offline phase, for a circuit of these gates.
    #[doc(hidden)]
    fn set_up_sender(
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::SenderSetup, Error>;

    /// The receiver's.
    #[doc(hidden)]
    fn set_up_receiver(
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::ReceiverSetup, Error>;

    #[doc(hidden)]
    fn sender<'a>(setup: &'a mut Self::SenderSetup, channel: &'a mut Channel) -> Self::Sender<'a>;

    #[doc(hidden)]
    fn receiver<'a>(
        setup: &'a mut Self::ReceiverSetup,
        channel: &'a mut Channel,
    ) -> Self::Receiver<'a>;
}

/// Yao's garbled circuits. The sender garbles: its items and its permutation then cost nothing, and
/// the receiver, who learns the result, has it as soon as it has evaluated the last gate.
///
/// The receiver's inputs are OTs of IKNP's extension. They are about 1 % of the bytes, so that
/// silent OT would gain nothing.
#[derive(Debug)]
pub enum Yao {}

impl Engine for Yao {
    const INFO: &'static Info = &Info {
        name: "circuit-yao",
        summary: "sort-compare-shuffle circuit, garbled; can count without telling which",
        paper: "PSZ14 §3, HEK12",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };

    type SenderSetup = garbler::Setup<Iknp>;
    type ReceiverSetup = evaluator::Setup<Iknp>;
    type Sender<'a> = Garbler<'a, Iknp>;
    type Receiver<'a> = Evaluator<'a, Iknp>;

    fn counter() -> Count {
        Count::small()
    }

    fn cost(work: &Work) -> Cost {
        let gates = garble::AND_BYTES * work.gates.ands();
        Cost {
            offline: Traffic {
                sender_bytes: garbler::setup_bytes::<Iknp>(),
                receiver_bytes: Iknp::SETUP_RECEIVER_BYTES,
                rounds: 2,
            },
            online: Traffic {
                sender_bytes: Iknp::sender_bytes(work.receiver_bits)
                    + gates
                    + work.revealed_bits.div_ceil(8) as u64,
                receiver_bytes: Iknp::chosen_receiver_bytes(work.receiver_bits),
                rounds: 2,
            },
            // The receiver sends its part of the base OTs and its choices without waiting.
            saved_rounds: 1,
        }
    }

    fn set_up_sender(
        _gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::SenderSetup, Error> {
        context.phase("base OT");
        garbler::Setup::new(channel, &mut context.rng)
    }

    fn set_up_receiver(
        _gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::ReceiverSetup, Error> {
        context.phase("base OT");
        evaluator::Setup::new(channel, &mut context.rng)
    }

    fn sender<'a>(setup: &'a mut Self::SenderSetup, channel: &'a mut Channel) -> Self::Sender<'a> {
        Garbler::new(setup, channel)
    }

    fn receiver<'a>(
        setup: &'a mut Self::ReceiverSetup,
        channel: &'a mut Channel,
    ) -> Self::Receiver<'a> {
        Evaluator::new(setup, channel)
    }
}

/// Goldreich, Micali and Wigderson's protocol: on OT of `E`, with vector triples or without.
#[derive(Debug)]
pub struct Gmw<E, const VECTORS: bool>(PhantomData<fn() -> E>);

/// What differs between the sorts of [`Gmw`].
pub trait Sort {
    /// What the registry says.
    #[doc(hidden)]
    const INFO: &'static Info;
    /// Flights of the setup. Each time that triples are made takes two more.
    #[doc(hidden)]
    const SETUP_ROUNDS: u64;
    /// Whether the last message of the offline phase is the sender's.
    #[doc(hidden)]
    const SENDER_ENDS: bool;
}

impl Sort for Gmw<Iknp, false> {
    const INFO: &'static Info = &Info {
        name: "circuit-gmw",
        summary: "sort-compare-shuffle circuit on shares, a triple an AND gate",
        paper: "PSZ14 §3.1",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
    const SETUP_ROUNDS: u64 = 3;
    const SENDER_ENDS: bool = true;
}

impl Sort for Gmw<Iknp, true> {
    const INFO: &'static Info = &Info {
        name: "circuit-gmw-vector",
        summary: "sort-compare-shuffle circuit on shares, with vector triples",
        paper: "PSZ14 §3.2",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
    const SETUP_ROUNDS: u64 = 3;
    const SENDER_ENDS: bool = true;
}

impl Sort for Gmw<Silent, true> {
    const INFO: &'static Info = &Info {
        name: "circuit-gmw-vector-silent",
        summary: "the same on silent OT: the least traffic of a circuit",
        paper: "PSZ14 §3.2, BCGIKRS19",
        adversary: Adversary::SemiHonest,
        leaks: "set sizes",
        version: 1,
    };
    const SETUP_ROUNDS: u64 = 5;
    const SENDER_ENDS: bool = false;
}

impl<E: Extension, const VECTORS: bool> Gmw<E, VECTORS> {
    const MULTIPLICATION: Multiplication = if VECTORS {
        Multiplication::Vectors
    } else {
        Multiplication::Bitwise
    };

    fn set_up(
        side: Side,
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<gmw::Setup<E>, Error> {
        context.phase("base OT");
        let mut setup = gmw::Setup::new(side, Self::MULTIPLICATION, channel, &mut context.rng)?;
        context.phase("multiplication triples");
        setup.triples().prepare(gates, channel)?;
        Ok(setup)
    }
}

impl<E: Extension, const VECTORS: bool> Engine for Gmw<E, VECTORS>
where
    Self: Sort,
{
    const INFO: &'static Info = <Self as Sort>::INFO;

    type SenderSetup = gmw::Setup<E>;
    type ReceiverSetup = gmw::Setup<E>;
    type Sender<'a> = Sharing<'a, E>;
    type Receiver<'a> = Sharing<'a, E>;

    fn counter() -> Count {
        Count::shallow()
    }

    fn cost(work: &Work) -> Cost {
        let (times, making) = triples::making::<E>(&work.gates, Self::MULTIPLICATION);
        let offline = gmw::setup_bytes::<E>() + making;
        let layers = work.layers.iter();
        let opened: Vec<u64> = layers
            .map(|layer| gmw::layer_bytes(layer, Self::MULTIPLICATION))
            .filter(|bytes| *bytes > 0)
            .collect();
        let online = opened.iter().sum();
        let openings = opened.len() as u64;
        Cost {
            offline: Traffic {
                sender_bytes: offline,
                receiver_bytes: offline,
                rounds: Self::SETUP_ROUNDS + 2 * times,
            },
            online: Traffic {
                sender_bytes: online + work.revealed_bits.div_ceil(8) as u64,
                receiver_bytes: online,
                rounds: openings + 1,
            },
            // Who did not speak last opens the first layer without waiting. So either party is a
            // flight ahead after every other layer; if the sender is at the end, it reveals the
            // output along with the last one.
            saved_rounds: u64::from(openings.is_multiple_of(2) == Self::SENDER_ENDS),
        }
    }

    fn set_up_sender(
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::SenderSetup, Error> {
        Self::set_up(Side::First, gates, channel, context)
    }

    fn set_up_receiver(
        gates: &Gates,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self::ReceiverSetup, Error> {
        Self::set_up(Side::Second, gates, channel, context)
    }

    fn sender<'a>(setup: &'a mut Self::SenderSetup, channel: &'a mut Channel) -> Self::Sender<'a> {
        Sharing::new(setup, channel)
    }

    fn receiver<'a>(
        setup: &'a mut Self::ReceiverSetup,
        channel: &'a mut Channel,
    ) -> Self::Receiver<'a> {
        Sharing::new(setup, channel)
    }
}
