//! `circuit-yao`, `circuit-gmw`, `circuit-gmw-vector`, `circuit-gmw-vector-silent`: sort, compare,
//! and shuffle or count, in a Boolean circuit.
//!
//! **Functionality.** The receiver learns which of its items the sender has; or only *how many*; or
//! only whether *at least K*. The sender learns nothing.
//!
//! **Source.** The sort-compare-shuffle circuit of Huang, Evans and Katz (NDSS 2012), as in Pinkas,
//! Schneider, Zohner (USENIX Security 2014) §3 and Appendix D. P1 = sender, P2 = receiver;
//! N = n_sender + n_receiver:
//!
//! *Offline.*
//! 1. Base OTs. Under GMW also the multiplication triples of all AND gates.
//!
//! *Online.*
//! 2. Both hash their items to numbers of ℓ bits (Appendix A), and sort them.
//! 3. **Sort**: a bitonic network merges both lists ([`merge`](psijoin_circuit::merge)).
//! 4. **Compare**: every second number of the merged list is kept if it equals a neighbour; else it
//!    becomes ⊥, which is 0 ([`duplicates`](psijoin_circuit::duplicates)).
//! 5. **Shuffle**: Waksman's network permutes the ⌊N/2⌋ numbers; how its switches stand is an input
//!    of the sender, who draws the permutation ([`waksman`]).
//! 6. The numbers are revealed to the receiver, who knows which of its items they stand for.
//!
//! If the receiver is to learn a count or a threshold, steps 5 and 6 are another circuit: the number
//! of duplicates is added up, compared with K, and the bits of the count, or the one bit of the
//! comparison, are all that is revealed.
//!
//! **Entries of the registry**, one protocol; the type parameter [`Engine`] is what evaluates the
//! circuit: [`Yao`] (the sender garbles a circuit of few gates), and [`Gmw`] (a circuit of few
//! layers; a triple for each AND gate, or vector triples for multiplexers, §3.2; on IKNP's OT
//! extension, or on silent OT in `circuit-gmw-vector-silent`).
//!
//! **Deviations.**
//! - ℓ is derived from the failure budget, the whole of which it has: no two items of both sets, and
//!   no item and ⊥, have the same number (`psijoin_params::domain`). Items are salted digests, random
//!   functions of the item, of which the number is a part; the paper measures items of 32 bits.
//! - Sets may have different sizes, and any: places of the merging network that are left over
//!   hold public greatest items, which take no gates; Waksman's network is that of any size. For
//!   equal sizes, powers of two, there are σ(3n·log2 n + 4n) − n gates as published.
//! - Garbling is by half gates: two blocks a gate, instead of the three of row reduction.
//! - Under GMW, comparators have depth ⌈log2 ℓ⌉ + 1 and 3ℓ − ⌈log2 ℓ⌉ − 2 gates, two thirds of
//!   them in vector triples of length two.
//! - Count and threshold are what §3 names as easy to have, and does not describe.
//!
//! **Security.** Semi-honest: that of the evaluation ([`garble`](psijoin_circuit::garble),
//! [`gmw`](psijoin_circuit::gmw)), which reveals the outputs of the circuit and nothing else. Those of
//! step 6 are the shared numbers in a random order, which the receiver could draw itself from its
//! output: only the sender knows the permutation. Positions of the sorted list, which depend on
//! items that are not shared, are never revealed. Time and access pattern of either party depend on
//! the sizes alone, but for the local sorting of its own numbers and the setting of the
//! switches.
//!
//! **Cost.** [`Plan::cost`] is exact, `docs/protocols.md` has the formulas. Yao: 32
//! bytes an AND gate, 3 flights. GMW: a random OT a triple in either direction, and a flight a layer,
//! about log2(N)·log2(16ℓ) of them. Memory is linear: wires of one layer, and the triples; gates are
//! never stored.

use std::marker::PhantomData;

use psijoin_block::Prg;
use psijoin_channel::Channel;
use psijoin_circuit::{Bits, TwoParty, waksman};

use crate::{
    Context, Error, Info, Input, Items, Output, OutputKind, Party, Plan, Protocol, Request, Role,
};

mod circuit;
mod engine;
mod params;

pub use engine::{Engine, Gmw, Sort, Yao};
pub use params::{MOST_ITEMS, Params};

use circuit::{Inputs, Reveals};

/// An entry of the registry.
pub struct CircuitPsi<E>(PhantomData<fn() -> E>);

impl<E> CircuitPsi<E> {
    /// The entry.
    pub const ENTRY: Self = Self(PhantomData);
}

impl<E: Engine> Protocol for CircuitPsi<E> {
    fn info(&self) -> &'static Info {
        E::INFO
    }

    fn computes(&self, output: &OutputKind) -> bool {
        Reveals::of(output).is_some()
    }

    fn plan(&self, request: &Request) -> Result<Box<dyn Plan>, Error> {
        Ok(Box::new(Params::<E>::new(request)?))
    }
}

/// The party that learns nothing, after the offline phase.
pub struct Sender<E: Engine> {
    params: Params<E>,
    setup: E::SenderSetup,
}

/// The party that learns the result, after the offline phase.
pub struct Receiver<E: Engine> {
    params: Params<E>,
    setup: E::ReceiverSetup,
}

impl<E: Engine> Sender<E> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params<E>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        let gates = params.work().gates;
        Ok(Self {
            params: params.clone(),
            setup: E::set_up_sender(&gates, channel, context)?,
        })
    }

    /// Steps 2 to 6.
    fn evaluate<P: TwoParty>(
        params: &Params<E>,
        party: &mut P,
        items: &Items,
        rng: &mut Prg,
    ) -> Result<Output, Error> {
        let numbers = params.numbers(items);
        let inputs = Inputs {
            sender: party.own(&wires(&numbers, params.bits()))?,
            receiver: party.theirs(params.bits(), params.items(Role::Receiver))?,
            switches: switches(party, &rng.permutation(params.shuffled()))?,
        };
        let outputs = circuit::outputs(party, params.reveals(), inputs)?;
        party.reveal(&outputs)?;
        Ok(Output::Nothing)
    }
}

impl<E: Engine> Receiver<E> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params<E>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        let gates = params.work().gates;
        Ok(Self {
            params: params.clone(),
            setup: E::set_up_receiver(&gates, channel, context)?,
        })
    }

    /// Steps 2 to 6.
    fn evaluate<P: TwoParty>(
        params: &Params<E>,
        party: &mut P,
        items: &Items,
    ) -> Result<Output, Error> {
        let numbers = params.numbers(items);
        let inputs = Inputs {
            sender: party.theirs(params.bits(), params.items(Role::Sender))?,
            receiver: party.own(&wires(&numbers, params.bits()))?,
            switches: their_switches(party, params.shuffled())?,
        };
        let outputs = circuit::outputs(party, params.reveals(), inputs)?;
        let learned = Bits::numbers(&party.learn(&outputs)?);
        match params.reveals() {
            Reveals::Rows => rows(&learned, &numbers),
            Reveals::Count => {
                let most = params.items(Role::Sender).min(numbers.len());
                count(learned[0], most)
            }
            Reveals::Threshold(_) => Ok(Output::Reached(learned[0] == 1)),
        }
    }
}

/// A wire for each bit of the numbers.
fn wires(numbers: &[(u128, u32)], bits: usize) -> Vec<Bits> {
    let numbers: Vec<u128> = numbers.iter().map(|(number, _)| *number).collect();
    Bits::transposed(&numbers, bits)
}

/// The sender's switches.
fn switches<P: TwoParty>(
    party: &mut P,
    permutation: &[u32],
) -> Result<Vec<P::Wires>, psijoin_circuit::Error> {
    let layers = waksman::settings(permutation).into_iter();
    let wires = layers.map(|layer| party.own(&[Bits::from_iter(layer)]));
    Ok(wires.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The same for the receiver, who does not know how they stand.
fn their_switches<P: TwoParty>(
    party: &mut P,
    lanes: u32,
) -> Result<Vec<P::Wires>, psijoin_circuit::Error> {
    let layers = waksman::switches_by_layer(lanes).into_iter();
    let wires = layers.map(|switches| party.theirs(1, switches));
    Ok(wires.collect::<Result<Vec<_>, _>>()?.concat())
}

/// The receiver's rows for the numbers that it learned, of which zeros stand for none.
fn rows(learned: &[u128], numbers: &[(u128, u32)]) -> Result<Output, Error> {
    let found = learned.iter().filter(|number| **number != 0);
    let positions = found.map(|number| {
        let place = numbers.binary_search_by_key(number, |(number, _)| *number);
        place.map(|place| numbers[place].1)
    });
    let positions = positions
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| Error::Peer("it revealed an item that this party does not have"))?;
    Ok(crate::protocol::rows(positions, numbers.len()))
}

fn count(count: u128, most: usize) -> Result<Output, Error> {
    if count > most as u128 {
        return Err(Error::Peer(
            "it revealed that more items are shared than a party has",
        ));
    }
    Ok(Output::Count(count as u64))
}

impl<E: Engine> Party for Sender<E> {
    fn run(
        mut self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        context.phase("circuit");
        let mut party = E::sender(&mut self.setup, channel);
        Self::evaluate(&self.params, &mut party, input.items, &mut context.rng)
    }
}

impl<E: Engine> Party for Receiver<E> {
    fn run(
        mut self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        context.phase("circuit");
        let mut party = E::receiver(&mut self.setup, channel);
        Self::evaluate(&self.params, &mut party, input.items)
    }
}

#[cfg(test)]
mod tests;
