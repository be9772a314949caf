//! Evaluation in the clear: what other backends are tested against, and how the gates of a circuit
//! are counted before it is run.

use std::{collections::BTreeMap, convert::Infallible};

use crate::{Backend, Bits, Lanes, Product};

/// The numbers of gates of a circuit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Gates {
    /// Lanes of products, by the length of their vectors.
    pub products: BTreeMap<usize, u64>,
    /// Layers of products that follow each other.
    pub layers: u64,
}

impl Gates {
    /// Returns the number of AND gates of two bits.
    pub fn ands(&self) -> u64 {
        let gates = self.products.iter();
        gates.map(|(&length, lanes)| length as u64 * lanes).sum()
    }

    /// Adds those of a circuit that follows.
    pub(crate) fn add(&mut self, other: &Self) {
        self.layers += other.layers;
        for (&length, lanes) in &other.products {
            *self.products.entry(length).or_default() += lanes;
        }
    }

    /// Adds a layer.
    pub(crate) fn count<W: Lanes>(&mut self, layer: &[Product<'_, W>]) {
        self.layers += 1;
        for Product { bit, vector } in layer {
            *self.products.entry(vector.len()).or_default() += bit.lanes() as u64;
        }
    }
}

/// Evaluates in the clear, and counts.
#[derive(Debug)]
pub struct Plain {
    gates: Gates,
    shallow: bool,
}

impl Plain {
    /// Wants few gates, as garbling does.
    pub fn small() -> Self {
        Self {
            gates: Gates::default(),
            shallow: false,
        }
    }

    /// Wants few layers, as GMW does.
    pub fn shallow() -> Self {
        Self {
            shallow: true,
            ..Self::small()
        }
    }

    /// Returns the gates so far.
    pub fn gates(&self) -> &Gates {
        &self.gates
    }
}

impl Backend for Plain {
    type Wires = Bits;
    type Error = Infallible;

    fn layers_take_rounds(&self) -> bool {
        self.shallow
    }

    fn constant(&self, bit: bool, lanes: usize) -> Bits {
        Bits::constant(bit, lanes)
    }

    fn xor(&self, a: &Bits, b: &Bits) -> Bits {
        a ^ b
    }

    fn not(&self, a: &Bits) -> Bits {
        a ^ &Bits::ones(a.lanes())
    }

    fn products(&mut self, layer: &[Product<'_, Bits>]) -> Result<Vec<Vec<Bits>>, Infallible> {
        self.gates.count(layer);
        let products = layer.iter().map(|Product { bit, vector }| {
            let vector = vector.iter();
            vector.map(|other| *bit & other).collect()
        });
        Ok(products.collect())
    }
}
