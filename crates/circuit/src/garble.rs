//! Yao's garbled circuits: half gates (Zahur, Rosulek and Evans, EUROCRYPT 2015), free XOR
//! (Kolesnikov and Schneider, ICALP 2008), point and permute.
//!
//! The first party garbles: a wire has two labels, W and W ⊕ Δ, for 0 and 1. The second evaluates:
//! for each wire it gets the label of the bit that the wire carries, and does not know which bit
//! that is. XOR and NOT cost nothing. For a ∧ b, the garbler sends two blocks:
//!
//! > T_G = H(A, j) ⊕ H(A ⊕ Δ, j) ⊕ p_b·Δ, and T_E = H(B, j') ⊕ H(B ⊕ Δ, j') ⊕ A,
//!
//! where p_x is the lowest bit of X, and the label of the product for 0 is
//! H(A, j) ⊕ p_a·T_G ⊕ H(B, j') ⊕ p_b·(T_E ⊕ A).
//!
//! **The hash** is π(π(x) ⊕ j) ⊕ π(x) with fixed-key AES: tweakable circular correlation robust in
//! the random-permutation model (Guo et al., S&P 2020), which is what half gates ask for; each
//! tweak j serves one half of one gate. π(x) ⊕ x with tweaked x, as in older code, is not.
//!
//! **Inputs.** Labels of the garbler's bits are pseudorandom from a seed that both know: the
//! evaluator takes label L, and the garbler L ⊕ b·Δ for 0. They cost nothing. Each of the
//! evaluator's costs a correlated OT of Δ ([`extension`](psijoin_ot::extension)). The lowest bits
//! of a wire's labels, W on one side and the evaluator's own on the other, are XOR shares of the
//! bit that it carries. What another protocol gave as labels is an input too ([`Labels::new`]).
//!
//! **Security**: semi-honest. **Cost**: 32 bytes per AND gate from the garbler; 16 AES calls for
//! two gates on its side, 8 on the other.

use std::ops::Range;

use psijoin_block::{Block, Prg};
use psijoin_runtime::parallel;

use crate::{Bits, Lanes, Product};

pub mod evaluator;
pub mod garbler;

#[cfg(test)]
mod tests;

pub use evaluator::Evaluator;
pub use garbler::Garbler;

/// Bytes that the garbler sends for an AND gate.
pub const AND_BYTES: u64 = 2 * Block::BYTES as u64;

/// The message for a gate: T_G and T_E.
type Table = [Block; 2];

/// Gates that travel together: 256 KiB.
const GATES_PER_MESSAGE: usize = 1 << 13;

/// Gates that a task computes: its labels and hashes stay in the first-level cache.
const GATES_PER_TASK: usize = 256;

/// Lanes of a circuit that are computed at once: what a comparator needs stays in the second-level
/// cache.
const LANES_AT_ONCE: usize = 1 << 12;

/// One label per lane.
#[derive(Clone)]
pub struct Labels(Vec<Block>);

impl Lanes for Labels {
    fn lanes(&self) -> usize {
        self.0.len()
    }

    fn gather(&self, lanes: &[u32]) -> Self {
        Self(lanes.iter().map(|&lane| self.0[lane as usize]).collect())
    }

    fn scatter(&mut self, lanes: &[u32], from: &Self) {
        assert_eq!(lanes.len(), from.0.len(), "a place for each lane");
        for (&lane, label) in lanes.iter().zip(&from.0) {
            self.0[lane as usize] = *label;
        }
    }

    fn range(&self, range: Range<usize>) -> Self {
        Self(self.0[range].to_vec())
    }

    fn append(&mut self, more: &Self) {
        self.0.extend_from_slice(&more.0);
    }
}

impl Labels {
    /// Returns a wire from its labels, one per lane, that another protocol gave both parties: for
    /// the garbler those of 0, and for the evaluator those of the bits that it carries. The labels
    /// of 1 are those of 0 with the garbler's [Δ](garbler::Setup::delta) added, and whoever made
    /// them drew those of 0 at random.
    pub fn new(labels: Vec<Block>) -> Self {
        Self(labels)
    }

    fn xor(&self, other: &Self) -> Self {
        assert_eq!(self.0.len(), other.0.len(), "as many lanes");
        Self(self.0.iter().zip(&other.0).map(|(a, b)| *a ^ *b).collect())
    }

    /// Adds Δ where a bit is one.
    fn offset(&mut self, bits: &Bits, delta: &Block) {
        for (label, bit) in self.0.iter_mut().zip(bits.iter()) {
            *label ^= *delta & Block::splat(bit);
        }
    }

    fn lowest_bits(&self) -> Bits {
        self.0.iter().map(|label| label.bit(0)).collect()
    }
}

/// Labels for the garbler's bits, the same on both sides.
fn common_labels(seed: &mut Prg, lanes: usize) -> Labels {
    let mut labels = vec![Block::ZERO; lanes];
    seed.fill(&mut labels);
    Labels(labels)
}

/// Returns the tweak of the second half of a gate.
fn second_tweak(gate: u64) -> u64 {
    gate | 1 << 63
}

/// The gates of a layer: both inputs of each, and their products. The memory is used again and
/// again.
#[derive(Default)]
struct Layer {
    a: Vec<Block>,
    b: Vec<Block>,
    products: Vec<Block>,
    tables: Vec<Table>,
}

impl Layer {
    fn set_inputs(&mut self, layer: &[Product<'_, Labels>]) {
        self.a.clear();
        self.b.clear();
        for Product { bit, vector } in layer {
            for other in *vector {
                assert_eq!(bit.0.len(), other.0.len(), "as many lanes");
                self.a.extend_from_slice(&bit.0);
                self.b.extend_from_slice(&other.0);
            }
        }
        self.products.resize(self.a.len(), Block::ZERO);
        self.tables.resize(self.a.len(), Table::default());
    }

    /// Returns all of them.
    fn gates(&mut self) -> Gates<'_> {
        Gates {
            a: &self.a,
            b: &self.b,
            products: &mut self.products,
            tables: &mut self.tables,
        }
    }

    /// Returns the products, wire by wire.
    fn outputs(&self, layer: &[Product<'_, Labels>]) -> Vec<Vec<Labels>> {
        let mut products = &self.products[..];
        let mut wire = |lanes: usize| {
            let (wire, rest) = products.split_at(lanes);
            products = rest;
            Labels(wire.to_vec())
        };
        let vectors = layer.iter().map(|product| {
            let wires = product.vector.iter();
            wires.map(|other| wire(other.lanes())).collect()
        });
        vectors.collect()
    }
}

/// Gates of a layer.
struct Gates<'a> {
    a: &'a [Block],
    b: &'a [Block],
    products: &'a mut [Block],
    tables: &'a mut [Table],
}

impl Gates<'_> {
    /// Calls `compute` with the gates of one task each, and the number of the first of them.
    fn compute(&mut self, first: u64, compute: &(dyn Fn(u64, &mut Gates<'_>) + Sync)) {
        let mut tasks: Vec<Gates<'_>> = self.chunks(GATES_PER_TASK).collect();
        parallel::each_mut(&mut tasks, &|task, gates| {
            compute(first + (task * GATES_PER_TASK) as u64, gates);
        });
    }

    /// Returns at most `len` gates at a time.
    fn chunks(&mut self, len: usize) -> impl Iterator<Item = Gates<'_>> {
        let inputs = self.a.chunks(len).zip(self.b.chunks(len));
        let outputs = (self.products.chunks_mut(len)).zip(self.tables.chunks_mut(len));
        inputs
            .zip(outputs)
            .map(|((a, b), (products, tables))| Gates {
                a,
                b,
                products,
                tables,
            })
    }
}
