//! What is learned of shared bits: from XOR shares of whether each of the receiver's items is shared
//! to rows, a count, or whether a threshold is reached.
//!
//! - **Rows**: the sender opens its shares.
//! - **Count**: each bit is multiplied by 1, as shares mod 2^64 ([`products`]), which either adds up;
//!   the sender opens its sum.
//! - **Threshold**: the sums are added, and compared with K, in a garbled circuit of some ninety
//!   gates, which shows one bit.
//!
//! The sender learns nothing. Of what is not asked for, the receiver sees shares only.

use std::iter;

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{
    Bits, Lanes, TwoParty, arithmetic, compare,
    garble::{AND_BYTES, Evaluator, Garbler, evaluator, garbler},
    plain::Plain,
};
use psijoin_ot::extension::{Extension, Iknp};

use crate::{Error, Output, OutputKind, Traffic, protocol};

mod products;

use products::{Chooser, Giver};

/// Shares that travel together.
const BYTES_PER_MESSAGE: usize = 1 << 16;

/// What an output costs, offline and online, after what makes the shares, in which the sender has
/// the last word.
pub(crate) fn traffic(output: &OutputKind, lanes: usize) -> [Traffic; 2] {
    match output {
        OutputKind::Rows => [
            Traffic::default(),
            Traffic {
                sender_bytes: lanes.div_ceil(8) as u64,
                receiver_bytes: 0,
                rounds: 0,
            },
        ],
        OutputKind::Count => {
            let [offline, mut online] = products::traffic(lanes);
            online.sender_bytes += size_of::<u64>() as u64;
            online.rounds += 1;
            [offline, online]
        }
        OutputKind::Threshold(least) => {
            let [mut offline, mut online] = products::traffic(lanes);
            offline.sender_bytes += garbler::setup_bytes::<Iknp>();
            offline.receiver_bytes += Iknp::SETUP_RECEIVER_BYTES;
            offline.rounds += 2;
            let bits = sum_bits(lanes);
            online.sender_bytes += Iknp::sender_bytes(bits) + AND_BYTES * gates(*least, lanes) + 1;
            online.receiver_bytes += Iknp::chosen_receiver_bytes(bits);
            online.rounds += 1;
            [offline, online]
        }
    }
}

fn sum(products: &[u64]) -> u64 {
    products
        .iter()
        .fold(0, |sum, product| sum.wrapping_add(*product))
}

/// How either party's sum is turned into wires: as many bits as the count of all lanes has.
fn sum_wires(sum: u64, lanes: usize) -> Vec<Bits> {
    Bits::transposed(&[sum.into()], sum_bits(lanes))
}

fn sum_bits(lanes: usize) -> usize {
    (lanes.ilog2() + 1) as usize
}

/// Whether the sum of both parties' shares is at least `least`.
fn reaches<B: psijoin_circuit::Backend>(
    backend: &mut B,
    senders: &[B::Wires],
    receivers: &[B::Wires],
    least: u64,
) -> Result<B::Wires, B::Error> {
    let mut count = arithmetic::add(backend, senders, receivers)?;
    count.truncate(senders.len());
    compare::at_least(backend, &count, least)
}

/// The AND gates of [`reaches`].
fn gates(least: u64, lanes: usize) -> u64 {
    let zeros = sum_wires(0, lanes);
    let mut plain = Plain::small();
    let Ok(_) = reaches(&mut plain, &zeros, &zeros, least);
    plain.gates().ands()
}

/// What the sender needs, after the offline phase.
pub(crate) enum Sender {
    Rows,
    Count(Chooser),
    Threshold(Chooser, Box<garbler::Setup<Iknp>>, u64),
}

/// What the receiver needs, after the offline phase.
pub(crate) enum Receiver {
    Rows,
    Count(Giver),
    Threshold(Giver, Box<evaluator::Setup<Iknp>>, u64),
}

impl Sender {
    pub(crate) fn offline(
        output: &OutputKind,
        lanes: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        Ok(match output {
            OutputKind::Rows => Self::Rows,
            OutputKind::Count => Self::Count(Chooser::prepare(lanes, channel, rng)?),
            OutputKind::Threshold(least) => Self::Threshold(
                Chooser::prepare(lanes, channel, rng)?,
                Box::new(garbler::Setup::new(channel, rng)?),
                *least,
            ),
        })
    }

    /// Lets the receiver learn what it is to.
    pub(crate) fn release(self, shares: &Bits, channel: &mut Channel) -> Result<(), Error> {
        match self {
            Self::Rows => {
                for part in shares.to_bytes().chunks(BYTES_PER_MESSAGE) {
                    channel.send(part)?;
                }
            }
            Self::Count(chooser) => {
                let sum = sum(&chooser.products(shares, channel)?);
                channel.send(&sum.to_le_bytes())?;
            }
            Self::Threshold(chooser, mut setup, least) => {
                let sum = sum(&chooser.products(shares, channel)?);
                let mut garbler = Garbler::new(&mut setup, channel);
                let own = sum_wires(sum, shares.lanes());
                let senders = garbler.own(&own)?;
                let receivers = garbler.theirs(own.len(), 1)?;
                let reached = reaches(&mut garbler, &senders, &receivers, least)?;
                garbler.reveal(&[reached])?;
            }
        }
        Ok(())
    }
}

impl Receiver {
    pub(crate) fn offline(
        output: &OutputKind,
        lanes: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        Ok(match output {
            OutputKind::Rows => Self::Rows,
            OutputKind::Count => Self::Count(Giver::prepare(lanes, channel, rng)?),
            OutputKind::Threshold(least) => Self::Threshold(
                Giver::prepare(lanes, channel, rng)?,
                Box::new(evaluator::Setup::new(channel, rng)?),
                *least,
            ),
        })
    }

    /// Learns it. `placed` has the lane of each of its `items`, and the item.
    pub(crate) fn learn(
        self,
        shares: &Bits,
        placed: impl Iterator<Item = (u32, u32)>,
        items: usize,
        channel: &mut Channel,
    ) -> Result<Output, Error> {
        match self {
            Self::Rows => {
                let mut theirs = vec![0; shares.lanes().div_ceil(8)];
                for part in theirs.chunks_mut(BYTES_PER_MESSAGE) {
                    channel.recv(part)?;
                }
                let shared = shares ^ &Bits::from_bytes(&theirs, shares.lanes());
                let found = placed.filter(|(lane, _)| shared.get(*lane as usize));
                Ok(protocol::rows(found.map(|(_, item)| item), items))
            }
            Self::Count(giver) => {
                let sum = sum(&giver.products(shares, iter::repeat(1), channel)?);
                let theirs = u64::from_le_bytes(channel.recv_array()?);
                let count = sum.wrapping_add(theirs);
                if count > items as u64 {
                    return Err(Error::Peer(
                        "it revealed that more items are shared than this party has",
                    ));
                }
                Ok(Output::Count(count))
            }
            Self::Threshold(giver, mut setup, least) => {
                let sum = sum(&giver.products(shares, iter::repeat(1), channel)?);
                let mut evaluator = Evaluator::new(&mut setup, channel);
                let own = sum_wires(sum, shares.lanes());
                let senders = evaluator.theirs(own.len(), 1)?;
                let receivers = evaluator.own(&own)?;
                let reached = reaches(&mut evaluator, &senders, &receivers, least)?;
                let reached = evaluator.learn(&[reached])?;
                Ok(Output::Reached(reached[0].get(0)))
            }
        }
    }
}
