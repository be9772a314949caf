//! The party that evaluates each function once.

use psijoin_channel::{Outbound, joint_seed::JointSeed, stream};
use psijoin_ot::matrix::{ReceiverMatrix, ReceiverRows};
use psijoin_psi::{Context, Error};
use psijoin_runtime::memory::Buffer;

use super::{
    Input, Params,
    code::{self, Code},
};

/// The party that evaluates each function once, after the offline phase.
pub struct Receiver {
    params: Params,
    matrix: ReceiverMatrix,
}

impl Receiver {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn setup(params: &Params, context: &mut Context) -> Result<Self, Error> {
        let seeds = params.ots().offer(context)?;
        Ok(Self {
            params: *params,
            matrix: seeds.into_matrix(params.row_shape()),
        })
    }

    /// Steps 2: returns the value of each function at its input. The value of a function without
    /// one is random. A `Receiver` serves once: with other inputs the messages of two calls would
    /// tell their difference.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn evaluate(
        self,
        input_of: &(dyn Fn(u32) -> Option<Input> + Sync),
        joint_seed: &JointSeed,
        outbound: &mut dyn Outbound,
    ) -> Result<Buffer<u128>, Error> {
        let params = &self.params;
        let (code, hash) = (params.code(joint_seed), params.hash(joint_seed));
        let row_words = code.row_words();
        let mut values = Buffer::<u128>::zeroed(params.functions);
        stream::send_with(
            outbound,
            params.rows(),
            &mut values,
            &Scratch::default,
            &|range, values, scratch, message| {
                let first_row = range.start as u32;
                self.matrix.expand(range, &mut scratch.rows);
                // u_j = T_0 ⊕ T_1 ⊕ C(y)
                scratch.add_code_words(first_row, input_of, &code);
                let ReceiverRows { t0, sum, .. } = &mut scratch.rows;
                code::append_bytes(sum, row_words, params.row_bytes(), message);
                for (number, row) in (first_row..).zip(t0.chunks_exact_mut(row_words)) {
                    code::tag(row, number);
                }
                hash.masks(t0, values);
                Ok::<(), Error>(())
            },
        )?;
        Ok(values)
    }
}

/// The matrix rows of one message.
#[derive(Default)]
struct Scratch {
    rows: ReceiverRows,
    inputs: Vec<Input>,
    code_words: Vec<u64>,
    /// The rows of functions that have an input.
    occupied: Vec<usize>,
}

impl Scratch {
    /// Adds the code word of each row's input to T_0 ⊕ T_1.
    fn add_code_words(
        &mut self,
        first_row: u32,
        input_of: &(dyn Fn(u32) -> Option<Input> + Sync),
        code: &Code,
    ) {
        let row_words = code.row_words();
        let sums = &mut self.rows.sum;
        self.inputs.clear();
        self.occupied.clear();
        for i in 0..sums.len() / row_words {
            if let Some(input) = input_of(first_row + i as u32) {
                self.inputs.push(input);
                self.occupied.push(i);
            }
        }
        self.code_words.resize(self.inputs.len() * row_words, 0);
        code.encode(&mut self.inputs, &mut self.code_words);
        let words = self.code_words.chunks_exact(row_words);
        for (i, word) in self.occupied.iter().zip(words) {
            code::add(&mut sums[i * row_words..][..row_words], word);
        }
    }
}
