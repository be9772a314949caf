//! `circuit-yao`, `circuit-gmw`, `circuit-gmw-vector`, `circuit-gmw-vector-silent`: sort, compare,
//! and shuffle or count, in a Boolean circuit.
//!
//! **Functionality.** The receiver learns which of its items the sender has; or only *how many*; or
//! only whether they are *at least K*; or only the *sum* of each of its columns over them. The
//! sender learns nothing.
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
//! 5. **Shuffle**: Waksman's network permutes the ⌊N/2⌋ numbers. The sender draws the permutation
//!    and inputs the settings of the switches ([`waksman`]).
//! 6. The numbers are revealed to the receiver, which knows the items that they number.
//!
//! If the receiver is to learn a count or a threshold, another circuit replaces steps 5 and 6: it
//! adds up the number of duplicates, and for a threshold compares it with K. It reveals only the
//! bits of the count, or the one bit of the comparison. If both are to get shares of the count, it
//! adds a random number of 64 bits that the sender puts in, and reveals the sum.
//!
//! If the receiver is to learn sums of its columns, their numbers go along with its items through
//! step 3, and zeros with the sender's. Two neighbours that are equal are an item of each party, so
//! the XOR of what they brought along is the number of a shared item: it is masked by that they are
//! equal, and a tree of adders adds up all pairs, modulo 2^64.
//!
//! **Entries of the registry.** They are one protocol on several engines, which evaluate the
//! circuit.
//!
//! | protocol | engine | circuit |
//! |---|---|---|
//! | `circuit-yao` | the sender garbles | of few gates |
//! | `circuit-gmw` | shares, a triple per AND gate, on IKNP's OT extension | of few layers |
//! | `circuit-gmw-vector` | the same, with vector triples for multiplexers (§3.2) | of few layers |
//! | `circuit-gmw-vector-silent` | the same, on silent OT | of few layers |
//!
//! **Deviations.**
//! - ℓ is derived from the failure budget, and takes all of it: no two items of both sets, and no
//!   item and ⊥, have the same number (`psijoin_params::domain`). A number is part of a salted
//!   digest, a random function of the item. Items that *are* numbers ([`Request::numbers`]) are
//!   taken as they are, as in the paper: ℓ = 32, for example. Zero may be one of them. So where
//!   rows are revealed, one more wire is shuffled, which tells an item from ⊥.
//! - The sets may have any sizes, equal or not: places of the merging network that are left over
//!   hold public greatest items, which take no gates; Waksman's network is that of any size. For
//!   equal sizes that are powers of two, there are σ(3n·log2 n + 4n) − n gates, as published.
//! - Garbling is by half gates: two blocks per gate, instead of the three of row reduction.
//! - Under GMW, comparators have depth ⌈log2 ℓ⌉ + 1 and 3ℓ − ⌈log2 ℓ⌉ − 2 gates, two thirds of
//!   them in vector triples of length two.
//! - §3 says that a count, a threshold and a sum are easy to have, and does not describe them.
//!
//! **Security.** Semi-honest: that of the evaluation ([`garble`](psijoin_circuit::garble),
//! [`gmw`]), which reveals the outputs of the circuit and nothing else. Step 6 reveals the shared
//! numbers in a random order, which the receiver could draw itself from its output: only the sender
//! knows the permutation. Positions in the sorted list depend on items that are not shared, and are
//! never revealed. Time and access pattern of either party depend on the sizes alone, except for
//! the local sorting of its own numbers and the setting of the switches.
//!
//! **Cost.** [`Plan::cost`](psijoin_psi::Plan::cost) is exact, `docs/protocols/functions.md` has
//! the formulas. Yao: 32 bytes per AND gate, 3 flights. GMW: per triple a random OT in either
//! direction, and a flight per layer, about log2(N)·log2(16ℓ) of them. Memory is linear: the wires
//! of one layer, and the triples. Gates are never stored.

use psijoin_block::Prg;
use psijoin_circuit::{
    Bits, Lanes, Side, TwoParty,
    garble::{Evaluator, Garbler, evaluator, garbler},
    gmw::{self, triples::Multiplication},
    waksman,
};
use psijoin_ot::extension::Extension;
use psijoin_psi::{
    Adversary, BaseOts, Context, Error, Info, Input, Items, Output, OutputKind, Party, Plan,
    Protocol, Request, Result, Role, TotalShares,
};

mod circuit;
mod engine;
mod params;

pub use params::MOST_ITEMS;

use circuit::{Inputs, Reveals, TOTAL_BITS};
use engine::{Engine, Setup};
use params::Params;

use crate::gmw::Gmw;

/// One of the protocols: they differ in what evaluates the circuit.
#[derive(Debug)]
struct Entry {
    info: Info,
    engine: Engine,
}

impl Entry {
    const fn new(
        engine: Engine,
        name: &'static str,
        summary: &'static str,
        paper: &'static str,
    ) -> Self {
        let info = Info {
            name,
            summary,
            paper,
            adversary: Adversary::SemiHonest,
            leaks: "set sizes",
            version: 1,
        };
        Self { info, engine }
    }

    fn plan(&'static self, request: &Request) -> Result<Plan, Error> {
        Ok(Params::new(self, request)?.plan())
    }
}

static YAO: Entry = Entry::new(
    Engine::Yao(BaseOts::DiffieHellman),
    "circuit-yao",
    "sort-compare-shuffle circuit, garbled; can count without telling which",
    "PSZ14 §3, HEK12",
);

static GMW: Entry = Entry::new(
    Engine::Gmw(Gmw {
        extension: Extension::IKNP,
        multiplication: Multiplication::Bitwise,
    }),
    "circuit-gmw",
    "sort-compare-shuffle circuit on shares, a triple per AND gate",
    "PSZ14 §3.1",
);

static GMW_VECTOR: Entry = Entry::new(
    Engine::Gmw(Gmw {
        extension: Extension::IKNP,
        multiplication: Multiplication::Vectors,
    }),
    "circuit-gmw-vector",
    "sort-compare-shuffle circuit on shares, with vector triples",
    "PSZ14 §3.2",
);

static GMW_VECTOR_SILENT: Entry = Entry::new(
    Engine::Gmw(Gmw {
        extension: Extension::SILENT,
        multiplication: Multiplication::Vectors,
    }),
    "circuit-gmw-vector-silent",
    "the same on silent OT: the least traffic of a circuit",
    "PSZ14 §3.2, BCGIKRS19",
);

/// `circuit-yao`.
pub static CIRCUIT_YAO: Protocol = Protocol::new(&YAO.info, |request| YAO.plan(request))
    .computing(has_circuit)
    .on_base_ots();

/// `circuit-gmw`.
pub static CIRCUIT_GMW: Protocol = Protocol::new(&GMW.info, |request| GMW.plan(request))
    .computing(has_circuit)
    .on_base_ots();

/// `circuit-gmw-vector`.
pub static CIRCUIT_GMW_VECTOR: Protocol =
    Protocol::new(&GMW_VECTOR.info, |request| GMW_VECTOR.plan(request))
        .computing(has_circuit)
        .on_base_ots();

/// `circuit-gmw-vector-silent`.
pub static CIRCUIT_GMW_VECTOR_SILENT: Protocol =
    Protocol::new(&GMW_VECTOR_SILENT.info, |request| {
        GMW_VECTOR_SILENT.plan(request)
    })
    .computing(has_circuit)
    .on_base_ots();

fn has_circuit(output: &OutputKind) -> bool {
    Reveals::of(output, false).is_some()
}

/// The party that learns nothing, after the offline phase.
struct Sender(Setup<garbler::Setup>);

/// The party that learns the result, after the offline phase.
struct Receiver(Setup<evaluator::Setup>);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let (engine, gates) = (params.engine(), &params.work.gates);
        let setup = engine.set_up(Side::First, garbler::Setup::new, gates, context)?;
        Ok(Self(setup))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        context.phases.begin("circuit");
        let rng = &mut context.rng;
        match self.0 {
            Setup::Yao(mut setup) => {
                let mut party = Garbler::new(&mut setup, context.channel);
                send(params, &mut party, input.items, rng)
            }
            Setup::Gmw(mut setup) => {
                let mut party = gmw::Gmw::new(&mut setup, context.channel);
                send(params, &mut party, input.items, rng)
            }
        }
    }
}

/// Returns the sender's online phase, with any engine.
fn send<W: Lanes>(
    params: &Params,
    mut party: &mut dyn TwoParty<Wires = W>,
    items: &Items,
    rng: &mut Prg,
) -> Result<Output, Error> {
    // Step 2.
    let numbers = params.numbers(items);
    let blind = params.blind(rng);
    let inputs = Inputs {
        sender: party.own(&wires(&numbers, params.bits()))?,
        receiver: party.theirs(params.receiver_bits(), params.items(Role::Receiver))?,
        switches: switches(party, &rng.permutation(params.shuffled()))?,
        blind: match blind {
            Some(blind) => party.own(&Bits::transposed(&[blind.into()], TOTAL_BITS))?,
            None => Vec::new(),
        },
    };
    // Steps 3 to 5.
    let outputs = circuit::outputs(&mut party, params.reveals, inputs)?;
    // Step 6.
    party.reveal(&outputs)?;
    Ok(match blind {
        Some(blind) => total(blind.wrapping_neg()),
        None => Output::Nothing,
    })
}

impl Party for Receiver {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let (engine, gates) = (params.engine(), &params.work.gates);
        let setup = engine.set_up(Side::Second, evaluator::Setup::new, gates, context)?;
        Ok(Self(setup))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        context.phases.begin("circuit");
        match self.0 {
            Setup::Yao(mut setup) => {
                let mut party = Evaluator::new(&mut setup, context.channel);
                receive(params, &mut party, input)
            }
            Setup::Gmw(mut setup) => {
                let mut party = gmw::Gmw::new(&mut setup, context.channel);
                receive(params, &mut party, input)
            }
        }
    }
}

/// Returns the receiver's online phase, with any engine.
fn receive<W: Lanes>(
    params: &Params,
    mut party: &mut dyn TwoParty<Wires = W>,
    input: &Input,
) -> Result<Output, Error> {
    // Step 2.
    let numbers = params.numbers(input.items);
    let mut own = wires(&numbers, params.bits());
    own.extend(
        input
            .columns
            .iter()
            .flat_map(|column| in_order(column, &numbers)),
    );
    let inputs = Inputs {
        sender: party.theirs(params.bits(), params.items(Role::Sender))?,
        receiver: party.own(&own)?,
        switches: their_switches(party, params.shuffled())?,
        blind: match params.reveals {
            Reveals::Total => party.theirs(TOTAL_BITS, 1)?,
            _ => Vec::new(),
        },
    };
    // Steps 3 to 5.
    let outputs = circuit::outputs(&mut party, params.reveals, inputs)?;
    // Step 6.
    let learned = Bits::numbers(&party.learn(&outputs)?);
    match params.reveals {
        Reveals::Rows { with_zero } => {
            let flag = u128::from(with_zero) << params.bits();
            rows(&learned, &numbers, flag)
        }
        Reveals::Count => {
            let most = params.items(Role::Sender).min(numbers.len());
            count(learned[0], most)
        }
        Reveals::Threshold(_) => Ok(Output::Reached(learned[0] == 1)),
        Reveals::Total => Ok(total(learned[0] as u64)),
        Reveals::Sums(_) => {
            let sums = learned.iter().map(|sum| (*sum as u64).cast_signed());
            Ok(Output::Sums(sums.collect()))
        }
    }
}

/// Returns a wire for each bit of a column's numbers, in the order of the items' numbers.
fn in_order(column: &[i64], numbers: &[(u128, u32)]) -> Vec<Bits> {
    let of = |(_, position): &(u128, u32)| column[*position as usize].cast_unsigned().into();
    Bits::transposed(&Vec::from_iter(numbers.iter().map(of)), TOTAL_BITS)
}

/// Returns a party's share of the number of shared items.
fn total(count: u64) -> Output {
    let sums = Vec::new();
    Output::Totals(TotalShares { sums, count })
}

/// Returns a wire for each bit of the numbers.
fn wires(numbers: &[(u128, u32)], bits: usize) -> Vec<Bits> {
    let numbers: Vec<u128> = numbers.iter().map(|(number, _)| *number).collect();
    Bits::transposed(&numbers, bits)
}

/// Returns the sender's switches.
fn switches<W: Lanes>(
    party: &mut dyn TwoParty<Wires = W>,
    permutation: &[u32],
) -> Result<Vec<W>, psijoin_circuit::Error> {
    let layers = waksman::settings(permutation).into_iter();
    let wires = layers.map(|layer| party.own(&[Bits::from_iter(layer)]));
    Ok(wires.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Inputs the switches at the receiver, which does not know their settings.
fn their_switches<W: Lanes>(
    party: &mut dyn TwoParty<Wires = W>,
    lanes: u32,
) -> Result<Vec<W>, psijoin_circuit::Error> {
    let layers = waksman::switches_by_layer(lanes).into_iter();
    let wires = layers.map(|switches| party.theirs(1, switches));
    Ok(wires.collect::<Result<Vec<_>, _>>()?.concat())
}

/// Returns the receiver's rows for the numbers that it learned, each with this flag. A zero means
/// no item.
fn rows(learned: &[u128], numbers: &[(u128, u32)], flag: u128) -> Result<Output, Error> {
    let found = learned.iter().filter(|number| **number != 0);
    let positions = found.map(|number| {
        let place = numbers.binary_search_by_key(&(number ^ flag), |(number, _)| *number);
        place.map(|place| numbers[place].1)
    });
    let positions = positions
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| Error::Peer("it revealed an item that this party does not have"))?;
    Ok(Output::rows(positions, numbers.len()))
}

fn count(count: u128, most: usize) -> Result<Output, Error> {
    if count > most as u128 {
        return Err(Error::Peer(
            "it revealed that more items are shared than a party has",
        ));
    }
    Ok(Output::Count(count as u64))
}

#[cfg(test)]
mod tests;
