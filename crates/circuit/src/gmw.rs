//! The protocol of Goldreich, Micali and Wigderson (STOC 1987) for two parties: a wire's bit is
//! the XOR of a share on either side.
//!
//! XOR and NOT are local. A product takes a multiplication triple, shares of random α, β and
//! γ = α·β: the parties open d = u ⊕ α and e = v ⊕ β, and
//! u·v = d·e ⊕ d·β ⊕ e·α ⊕ γ (Beaver, CRYPTO 1991). All products of a layer are opened together:
//! one round per layer.
//!
//! Where one bit multiplies a whole vector, one *vector* triple does for all of it (PSZ14 §3.2): α
//! is a bit, β and γ are vectors. A triple costs a random OT in each direction, whatever the length
//! of the vector. [`triples`] makes the OTs, IKNP or silent OT.
//!
//! **Inputs** are masked with pseudorandom bits from a seed that the other side knows. These bits
//! are its share, so inputs cost nothing. **Security**: semi-honest. **Cost** of a layer: from
//! either party 1 + w bits for each lane of a product with a vector of w bits.

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_ot::extension::Extension;

use crate::{
    Backend, Bits, Error, Lanes, Product, Side, TwoParty, backend::BYTES_PER_MESSAGE, plain::Gates,
};

pub mod triples;

use triples::{Multiplication, Triple, Triples, demand};

/// Bytes that either party sends in [`Setup::new`], at the same time. Then OTs are set up in either
/// direction; those that the first side sends come first.
pub const SEED_BYTES: u64 = Block::BYTES as u64;

/// Returns the number of bytes that either party sends to open the products of a layer.
pub fn layer_bytes(layer: &Gates, multiplication: Multiplication) -> u64 {
    let triples = demand(layer, multiplication).into_iter();
    let bits: usize = triples.map(|(length, lanes)| (1 + length) * lanes).sum();
    bits.div_ceil(8) as u64
}

/// The state that a party keeps from one circuit to the next.
pub struct Setup {
    side: Side,
    triples: Triples,
    own_masks: Prg,
    their_masks: Prg,
}

impl Setup {
    /// Runs the base OTs, in both directions; the peer calls this too, with the other side.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn new(
        side: Side,
        extension: Extension,
        multiplication: Multiplication,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        // Not what the generator draws: this is sent.
        let seed = rng.fork().block();
        let mut theirs = [0; Block::BYTES];
        channel.exchange(
            |outbound| outbound.send(&seed.to_bytes()),
            |inbound| inbound.recv(&mut theirs),
        )?;
        let their_seed = Block::from_bytes(theirs);
        Ok(Self {
            side,
            triples: Triples::set_up(side, extension, multiplication, channel, rng)?,
            own_masks: Prg::from_seed(seed),
            their_masks: Prg::from_seed(their_seed),
        })
    }

    /// Returns the triples, to make some before the input is known.
    pub fn triples(&mut self) -> &mut Triples {
        &mut self.triples
    }
}

/// Evaluates on shares.
pub struct Gmw<'a> {
    setup: &'a mut Setup,
    channel: &'a mut Channel,
}

impl<'a> Gmw<'a> {
    /// Returns a party of the protocol.
    pub fn new(setup: &'a mut Setup, channel: &'a mut Channel) -> Self {
        Self { setup, channel }
    }

    /// Lets both learn bits that they share.
    fn open(&mut self, shares: &Bits) -> Result<Bits, Error> {
        let message = shares.to_bytes();
        let mut theirs = vec![0; message.len()];
        self.channel.exchange(
            |outbound| {
                let mut parts = message.chunks(BYTES_PER_MESSAGE);
                parts.try_for_each(|part| outbound.send(part))
            },
            |inbound| {
                let mut parts = theirs.chunks_mut(BYTES_PER_MESSAGE);
                parts.try_for_each(|part| inbound.recv(part))
            },
        )?;
        Ok(shares ^ &Bits::from_bytes(&theirs, shares.lanes()))
    }

    fn masks(prg: &mut Prg, lanes: usize) -> Bits {
        let mut blocks = vec![Block::ZERO; lanes.div_ceil(Block::BITS)];
        prg.fill(&mut blocks);
        Bits::from_blocks(&blocks, lanes)
    }
}

impl Backend for Gmw<'_> {
    type Wires = Bits;
    type Error = Error;

    fn layers_take_rounds(&self) -> bool {
        true
    }

    fn constant(&self, bit: bool, lanes: usize) -> Bits {
        Bits::constant(bit && self.setup.side == Side::First, lanes)
    }

    fn xor(&self, a: &Bits, b: &Bits) -> Bits {
        a ^ b
    }

    fn not(&self, a: &Bits) -> Bits {
        a ^ &self.constant(true, a.lanes())
    }

    fn products(&mut self, layer: &[Product<'_, Bits>]) -> Result<Vec<Vec<Bits>>, Error> {
        let mut triples = Vec::with_capacity(layer.len());
        let mut masked = Bits::default();
        for Product { bit, vector } in layer {
            let triple = (self.setup.triples).take(vector.len(), bit.lanes(), self.channel)?;
            triple.mask(bit, vector, &mut masked);
            triples.push(triple);
        }
        let mut opened = Opened {
            bits: self.open(&masked)?,
            next: 0,
        };
        let products = triples
            .iter()
            .map(|triple| triple.product(self.setup.side, &mut opened));
        Ok(products.collect())
    }
}

/// The opened values, in order.
struct Opened {
    bits: Bits,
    next: usize,
}

impl Opened {
    fn next(&mut self, lanes: usize) -> Bits {
        let first = self.next;
        self.next += lanes;
        self.bits.range(first..self.next)
    }
}

impl Triple {
    /// Appends this party's shares of d and e.
    fn mask(&self, bit: &Bits, vector: &[Bits], masked: &mut Bits) {
        let mut vector = vector.iter();
        for part in &self.parts {
            masked.append(&(bit ^ &part.alpha));
            for (beta, bit) in part.beta.iter().zip(&mut vector) {
                masked.append(&(bit ^ beta));
            }
        }
    }

    /// This party's share of the products.
    fn product(&self, side: Side, opened: &mut Opened) -> Vec<Bits> {
        let mut products = Vec::new();
        for part in &self.parts {
            let lanes = part.alpha.lanes();
            let d = opened.next(lanes);
            for (beta, gamma) in part.beta.iter().zip(&part.gamma) {
                let e = opened.next(lanes);
                // Of d·e only one party may take a share: that is d·(β ⊕ e).
                let factor = if side == Side::First {
                    beta ^ &e
                } else {
                    beta.clone()
                };
                products.push(&(&(&d & &factor) ^ &(&e & &part.alpha)) ^ gamma);
            }
        }
        products
    }
}

impl TwoParty for Gmw<'_> {
    fn side(&self) -> Side {
        self.setup.side
    }

    fn own(&mut self, bits: &[Bits]) -> Result<Vec<Bits>, Error> {
        let masks = &mut self.setup.own_masks;
        let wires = bits
            .iter()
            .map(|bits| bits ^ &Self::masks(masks, bits.lanes()));
        Ok(wires.collect())
    }

    fn theirs(&mut self, wires: usize, lanes: usize) -> Result<Vec<Bits>, Error> {
        let masks = &mut self.setup.their_masks;
        Ok((0..wires).map(|_| Self::masks(masks, lanes)).collect())
    }

    fn shares(&self, wires: &[Bits]) -> Vec<Bits> {
        wires.to_vec()
    }

    fn channel(&mut self) -> &mut Channel {
        self.channel
    }

    fn share_in(&mut self, shares: &[Bits]) -> Result<Vec<Bits>, Error> {
        Ok(shares.to_vec())
    }
}

#[cfg(test)]
mod tests;
