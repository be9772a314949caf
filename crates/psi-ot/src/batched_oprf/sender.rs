//! The party that gets the functions.

use psijoin_channel::{Inbound, joint_seed::JointSeed, stream};
use psijoin_ot::matrix::{SenderMatrix, Strip};
use psijoin_psi::{Context, Error};
use psijoin_runtime::memory::{Buffer, prefetch};
use zeroize::Zeroizing;

use super::{
    Input, Params,
    code::{self, Code, RowHash},
};

/// The party that gets the functions, after the offline phase.
pub struct Sender {
    params: Params,
    matrix: SenderMatrix,
}

impl Sender {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn setup(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let seeds = params.ots().choose(context)?;
        Ok(Self {
            params: *params,
            matrix: seeds.into_matrix(params.row_shape()),
        })
    }

    /// Step 3: the functions.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn receive(
        self,
        joint_seed: &JointSeed,
        inbound: &mut dyn Inbound,
    ) -> Result<Functions, Error> {
        let (params, delta) = (&self.params, self.matrix.delta());
        let (chunks, row_bytes) = (params.rows(), params.row_bytes());
        let row_words = delta.len();
        let mut rows = Buffer::zeroed(chunks.total * row_words);
        stream::receive_into(
            inbound,
            chunks,
            &|count| count * row_bytes,
            &mut rows,
            &Strip::default,
            &|range, message, rows, strip| {
                // q ⊕ (u_j ∧ Δ)
                self.matrix.expand(range, strip, rows);
                let rows = rows.chunks_exact_mut(row_words);
                for (row, sent) in rows.zip(message.chunks_exact(row_bytes)) {
                    code::add_masked(row, &code::from_bytes(sent), &delta);
                }
            },
        )?;
        Ok(Functions {
            code: params.code(joint_seed),
            hash: params.hash(joint_seed),
            delta,
            rows,
        })
    }
}

/// The functions, as the sender knows them.
pub struct Functions {
    code: Code,
    hash: RowHash,
    delta: Zeroizing<Vec<u64>>,
    /// q_j.
    rows: Buffer<u64>,
}

impl Functions {
    /// Returns the values of functions, each with its number, at inputs.
    ///
    /// # Panics
    /// If there is no function with a number.
    pub fn evaluate(&self, queries: impl IntoIterator<Item = (u32, Input)>) -> Vec<u128> {
        let (mut evaluator, mut values) = (Evaluator::default(), Vec::new());
        for (function, input) in queries {
            evaluator.push(function, input);
            if evaluator.len() == Evaluator::BATCH {
                evaluator.evaluate(self, &mut values);
            }
        }
        evaluator.evaluate(self, &mut values);
        values
    }
}

/// Evaluates functions at many inputs at a time, with room that is used again.
#[derive(Default)]
pub struct Evaluator {
    functions: Vec<u32>,
    inputs: Vec<Input>,
    rows: Vec<u64>,
}

impl Evaluator {
    /// Inputs that are well evaluated together: their rows fit into the second-level cache.
    pub const BATCH: usize = 2048;

    /// Adds an input of the function with this number.
    #[inline]
    pub fn push(&mut self, function: u32, input: Input) {
        self.functions.push(function);
        self.inputs.push(input);
    }

    /// Returns how many inputs were added.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Returns whether none was added.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    /// Appends the values at all inputs that were added. None is left after that.
    ///
    /// # Panics
    /// If there is no function with a number.
    pub fn evaluate(&mut self, of: &Functions, values: &mut Vec<u128>) {
        let row_words = of.delta.len();
        // A buffer looks up its pages each time that it is asked for its elements.
        let known: &[u64] = &of.rows;
        let row_of = |function: u32| &known[function as usize * row_words..][..row_words];
        // The rows arrive while the code words are computed.
        for function in &self.functions {
            for part in code::parts(row_of(*function)) {
                prefetch(part);
            }
        }
        self.rows.resize(self.inputs.len() * row_words, 0);
        of.code.encode(&mut self.inputs, &mut self.rows);
        let rows = self.rows.chunks_exact_mut(row_words);
        for (row, function) in rows.zip(&self.functions) {
            code::evaluate(row, row_of(*function), &of.delta, *function);
        }
        let done = values.len();
        values.resize(done + self.functions.len(), 0);
        of.hash.masks(&self.rows, &mut values[done..]);
        self.functions.clear();
        self.inputs.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It compiles only if what is secret is wiped when it is dropped.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let _ = |functions: &Functions| {
            wiped(&functions.delta);
            wiped(&functions.rows);
        };
    }
}
