//! The interface that circuits are written against.

use std::ops::Range;

use psijoin_channel::Channel;

use crate::{Bits, Error};

/// Packed bits that travel together: 64 KiB.
pub(crate) const BYTES_PER_MESSAGE: usize = 1 << 16;

/// Wires of many lanes: lane i of each belongs to the i-th instance of a circuit that is computed
/// for many inputs at once.
pub trait Lanes: Clone + Send + Sync {
    /// Returns the number of lanes.
    fn lanes(&self) -> usize;

    /// Returns these lanes, in this order.
    ///
    /// # Panics
    /// If a lane does not exist. So do all functions of this trait.
    fn gather(&self, lanes: &[u32]) -> Self;

    /// Moves lane i of `from` to lane `lanes[i]`.
    fn scatter(&mut self, lanes: &[u32], from: &Self);

    /// Returns a range of lanes.
    fn range(&self, range: Range<usize>) -> Self;

    /// Appends the lanes of `more`.
    fn append(&mut self, more: &Self);
}

/// A bit that multiplies each bit of a vector, lane by lane.
#[derive(Debug)]
pub struct Product<'a, W> {
    /// The bit.
    pub bit: &'a W,
    /// The vector.
    pub vector: &'a [W],
}

/// Evaluates gates as a circuit asks for them.
pub trait Backend {
    /// Wires.
    type Wires: Lanes;
    /// The error of a failed evaluation.
    type Error;

    /// Returns whether a layer of products costs a round trip, so that shallow circuits are better
    /// than small ones.
    fn layers_take_rounds(&self) -> bool;

    /// Returns the number of lanes that are best computed at once, where the order of gates is
    /// free: all, by default.
    fn lanes_at_once(&self) -> usize {
        usize::MAX
    }

    /// Returns a wire that carries a public bit.
    fn constant(&self, bit: bool, lanes: usize) -> Self::Wires;

    /// Returns a ⊕ b.
    fn xor(&self, a: &Self::Wires, b: &Self::Wires) -> Self::Wires;

    /// Returns ¬a.
    fn not(&self, a: &Self::Wires) -> Self::Wires;

    /// Returns a layer of AND gates: `bit` ∧ v for each v of each product's vector.
    ///
    /// # Errors
    /// If the peer or the channel to it fails.
    fn products(
        &mut self,
        layer: &[Product<'_, Self::Wires>],
    ) -> Result<Vec<Vec<Self::Wires>>, Self::Error>;

    /// Returns a ∧ b.
    ///
    /// # Errors
    /// As [`products`](Self::products).
    fn and(&mut self, a: &Self::Wires, b: &Self::Wires) -> Result<Self::Wires, Self::Error> {
        let vector = std::slice::from_ref(b);
        let mut products = self.products(&[Product { bit: a, vector }])?;
        Ok(products.pop().and_then(|mut p| p.pop()).expect("one gate"))
    }
}

/// A party whose engine is chosen at run time, so that a circuit is compiled once for all that have
/// the same wires. Each call is for many lanes, beside which it costs nothing.
impl<W: Lanes> Backend for &mut (dyn TwoParty<Wires = W> + '_) {
    type Wires = W;
    type Error = Error;

    fn layers_take_rounds(&self) -> bool {
        (**self).layers_take_rounds()
    }

    fn lanes_at_once(&self) -> usize {
        (**self).lanes_at_once()
    }

    fn constant(&self, bit: bool, lanes: usize) -> W {
        (**self).constant(bit, lanes)
    }

    fn xor(&self, a: &W, b: &W) -> W {
        (**self).xor(a, b)
    }

    fn not(&self, a: &W) -> W {
        (**self).not(a)
    }

    fn products(&mut self, layer: &[Product<'_, W>]) -> Result<Vec<Vec<W>>, Error> {
        (**self).products(layer)
    }
}

/// One of the two parties.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// The one that garbles.
    First,
    /// The one that evaluates what was garbled.
    Second,
}

impl Side {
    /// Returns the other party.
    pub fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }
}

/// A party that evaluates a circuit together with a peer, which runs the same functions in the
/// same order.
pub trait TwoParty: Backend<Error = Error> {
    /// Returns which one this is.
    fn side(&self) -> Side;

    /// Wires that carry this party's bits; the peer calls [`theirs`](Self::theirs).
    ///
    /// # Errors
    /// If the peer or the channel to it fails. So do the functions below.
    fn own(&mut self, bits: &[Bits]) -> Result<Vec<Self::Wires>, Error>;

    /// Wires that carry the peer's bits, `lanes` each.
    fn theirs(&mut self, wires: usize, lanes: usize) -> Result<Vec<Self::Wires>, Error>;

    /// This party's XOR shares of what wires carry.
    fn shares(&self, wires: &[Self::Wires]) -> Vec<Bits>;

    /// Leads to the peer.
    fn channel(&mut self) -> &mut Channel;

    /// Wires that carry the XOR of what the parties hold: as many on both sides, of as many lanes.
    fn share_in(&mut self, shares: &[Bits]) -> Result<Vec<Self::Wires>, Error> {
        let lanes = shares.first().map_or(0, Lanes::lanes);
        let (ours, theirs) = match self.side() {
            Side::First => {
                let ours = self.own(shares)?;
                (ours, self.theirs(shares.len(), lanes)?)
            }
            Side::Second => {
                let theirs = self.theirs(shares.len(), lanes)?;
                (self.own(shares)?, theirs)
            }
        };
        let wires = ours.iter().zip(&theirs);
        Ok(wires.map(|(ours, theirs)| self.xor(ours, theirs)).collect())
    }

    /// Lets the peer learn what wires carry: it calls [`learn`](Self::learn).
    fn reveal(&mut self, wires: &[Self::Wires]) -> Result<(), Error> {
        let message = Bits::concat(&self.shares(wires)).to_bytes();
        for part in message.chunks(BYTES_PER_MESSAGE) {
            self.channel().send(part)?;
        }
        Ok(())
    }

    /// Learns what wires carry: the peer calls [`reveal`](Self::reveal).
    fn learn(&mut self, wires: &[Self::Wires]) -> Result<Vec<Bits>, Error> {
        let ours = self.shares(wires);
        let lanes: Vec<usize> = ours.iter().map(Lanes::lanes).collect();
        let mut message = vec![0; lanes.iter().sum::<usize>().div_ceil(8)];
        for part in message.chunks_mut(BYTES_PER_MESSAGE) {
            self.channel().recv(part)?;
        }
        let theirs = Bits::from_bytes(&message, lanes.iter().sum()).split(&lanes);
        Ok(ours.iter().zip(&theirs).map(|(a, b)| a ^ b).collect())
    }
}
