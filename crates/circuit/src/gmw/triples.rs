//! Multiplication triples from random OT, in both directions (Asharov et al., CCS 2013; for
//! vectors PSZ14 §3.2).
//!
//! For shares of γ = (α₁ ⊕ α₂)(β₁ ⊕ β₂), either party i is the sender of one random OT, with
//! messages x₀ and x₁, and takes β_i = x₀ ⊕ x₁. In the other OT it chooses α_i, and gets the other
//! party's y = x₀ ⊕ α_i·β. Then γ_i = α_i·β_i ⊕ x₀ ⊕ y. Choices are random, so that silent OT
//! serves as well as IKNP's. One bit of each message makes a triple. As many bits as a vector has
//! make a vector triple.

use std::collections::BTreeMap;

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_ot::extension::{self, Extension, random_message, random_messages};
use zeroize::ZeroizeOnDrop;

use crate::{Bits, Error, Lanes, Side, plain::Gates};

/// The triples for a product of a bit and a vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Multiplication {
    /// A triple for each bit of the vector: plain GMW.
    Bitwise,
    /// A vector triple.
    Vectors,
}

/// The longest vector of a triple; longer ones take several.
const LONGEST: usize = Block::BITS;

/// Triples that are made at once: silent OT needs 100 bytes per triple while it runs.
const AT_ONCE: usize = 1 << 21;

/// Makes triples, and keeps those that were not yet used, by the length of their vectors.
pub struct Triples {
    side: Side,
    multiplication: Multiplication,
    sender: extension::Sender,
    receiver: extension::Receiver,
    kept: BTreeMap<usize, Kept>,
}

/// Triples of vectors of one length. The first lanes have been used.
#[derive(Default)]
struct Kept {
    part: Part,
    used: usize,
}

/// A party's shares of a triple for each lane. Wiped when they are dropped.
#[derive(Clone, Default, ZeroizeOnDrop)]
pub(super) struct Part {
    pub(super) alpha: Bits,
    pub(super) beta: Vec<Bits>,
    pub(super) gamma: Vec<Bits>,
}

/// The triple for a product.
pub(super) struct Triple {
    pub(super) parts: Vec<Part>,
}

impl Triples {
    pub(super) fn set_up(
        side: Side,
        extension: Extension,
        multiplication: Multiplication,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let (sender, receiver) = match side {
            Side::First => {
                let sender = extension.set_up_sender(channel, rng)?;
                (sender, extension.set_up_receiver(channel, rng)?)
            }
            Side::Second => {
                let receiver = extension.set_up_receiver(channel, rng)?;
                (extension.set_up_sender(channel, rng)?, receiver)
            }
        };
        Ok(Self {
            side,
            multiplication,
            sender,
            receiver,
            kept: BTreeMap::new(),
        })
    }

    /// Makes what a circuit of these gates takes.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn prepare(&mut self, gates: &Gates, channel: &mut Channel) -> Result<(), Error> {
        for (length, lanes) in demand(gates, self.multiplication) {
            self.keep(length, lanes, channel)?;
        }
        Ok(())
    }

    /// Makes triples until there are as many unused lanes of a length.
    fn keep(&mut self, length: usize, lanes: usize, channel: &mut Channel) -> Result<(), Error> {
        loop {
            let missing = lanes.saturating_sub(self.kept.entry(length).or_default().unused());
            if missing == 0 {
                return Ok(());
            }
            let made = self.make(length, missing.min(AT_ONCE), channel)?;
            self.kept.entry(length).or_default().add(made);
        }
    }

    fn make(&mut self, length: usize, lanes: usize, channel: &mut Channel) -> Result<Part, Error> {
        let (q, chosen) = match self.side {
            Side::First => {
                let q = self.sender.send(lanes, channel)?;
                (q, self.receiver.receive(lanes, channel)?)
            }
            Side::Second => {
                let chosen = self.receiver.receive(lanes, channel)?;
                (self.sender.send(lanes, channel)?, chosen)
            }
        };
        let (mut zeros, mut received) = (q, chosen.messages);
        let ones = random_messages(&mut zeros, &self.sender.delta());
        random_message(&mut received);
        let alpha = Bits::from_blocks(&chosen.choices, lanes);
        let (mut beta, mut gamma) = (Vec::new(), Vec::new());
        for bit in 0..length {
            let wire = |rows: &[Block]| Bits::of_rows(rows, bit);
            let own = wire(&zeros);
            let factor = &own ^ &wire(&ones);
            gamma.push(&(&(&alpha & &factor) ^ &own) ^ &wire(&received));
            beta.push(factor);
        }
        Ok(Part { alpha, beta, gamma })
    }

    /// Triples for a product with a vector of this length.
    pub(super) fn take(
        &mut self,
        length: usize,
        lanes: usize,
        channel: &mut Channel,
    ) -> Result<Triple, Error> {
        let parts = parts(length, self.multiplication);
        let parts = parts.map(|length| {
            self.keep(length, lanes, channel)?;
            let kept = self.kept.get_mut(&length).expect("it was just filled");
            Ok(kept.take(lanes))
        });
        let parts = parts.collect::<Result<_, Error>>()?;
        Ok(Triple { parts })
    }
}

/// Returns how many triples are made at a time for gates, each time that some are. Each triple
/// takes a random OT in either direction; those that the first side sends come first.
pub fn making(gates: &Gates, multiplication: Multiplication) -> impl Iterator<Item = usize> {
    let demand = demand(gates, multiplication).into_values();
    demand.flat_map(|lanes| {
        (0..lanes)
            .step_by(AT_ONCE)
            .map(move |first| AT_ONCE.min(lanes - first))
    })
}

/// Lanes of triples that gates take, by the length of their vectors.
pub(super) fn demand(gates: &Gates, multiplication: Multiplication) -> BTreeMap<usize, usize> {
    let mut demand = BTreeMap::new();
    for (&length, &lanes) in &gates.products {
        for part in parts(length, multiplication) {
            *demand.entry(part).or_default() += lanes as usize;
        }
    }
    demand
}

/// Returns the lengths of the triples' vectors for a product's vector.
fn parts(length: usize, multiplication: Multiplication) -> impl Iterator<Item = usize> {
    let longest = match multiplication {
        Multiplication::Bitwise => 1,
        Multiplication::Vectors => LONGEST,
    };
    (0..length)
        .step_by(longest)
        .map(move |first| longest.min(length - first))
}

impl Kept {
    fn unused(&self) -> usize {
        self.part.alpha.lanes() - self.used
    }

    /// Adds to what is unused.
    fn add(&mut self, made: Part) {
        if self.unused() == 0 {
            *self = Self {
                part: made,
                used: 0,
            };
            return;
        }
        let part = &mut self.part;
        part.alpha.append(&made.alpha);
        for (wires, more) in [(&mut part.beta, &made.beta), (&mut part.gamma, &made.gamma)] {
            for (wire, more) in wires.iter_mut().zip(more) {
                wire.append(more);
            }
        }
    }

    /// Uses lanes.
    ///
    /// # Panics
    /// If there are fewer.
    fn take(&mut self, lanes: usize) -> Part {
        let range = self.used..self.used + lanes;
        self.used = range.end;
        let cut = |wires: &[Bits]| wires.iter().map(|wire| wire.range(range.clone())).collect();
        Part {
            alpha: self.part.alpha.range(range.clone()),
            beta: cut(&self.part.beta),
            gamma: cut(&self.part.gamma),
        }
    }
}
