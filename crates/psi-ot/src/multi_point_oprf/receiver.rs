//! The party that gets the values at its items only.

use psijoin_block::{Block, cells::Cells, positions::POSITIONS, scatter};
use psijoin_channel::{Outbound, joint_seed::JointSeed, stream};
use psijoin_encode::{Digests, okvs::Partition};
use psijoin_psi::{Context, Error};

use super::{
    Params, Values,
    columns::ReceiverColumns,
    evaluation::Evaluation,
    function::{Function, Rows},
    keys::Keys,
};
use crate::seeds::SeedPairs;

/// The party that gets the values at its items only, after the offline phase.
pub struct Receiver {
    params: Params,
    seeds: SeedPairs,
}

impl Receiver {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn setup(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self {
            params: *params,
            seeds: params.ots().offer(context)?,
        })
    }

    /// Steps 2, 3 and 5: the values at these distinct items.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn evaluate(
        self,
        items: Digests<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Values, Error> {
        let params = &self.params;
        // Step 2.
        let keys = Keys::draw(joint_seed, context.channel, &mut context.rng)?;
        let matrix = Matrix {
            columns: ReceiverColumns::new(&self.seeds, &keys.columns()),
            function: Function::new(keys.function(), params.columns(), params.shape.bin_rows),
            value_key: keys.values(),
            params,
        };
        context.phases.begin("bins");
        let items = Partition::new(items, params.shape.bins);

        // Step 3, and step 5 while the rows are at hand.
        context.phases.begin("columns");
        let (outbound, _) = context.channel.halves();
        let values = matrix.send(&items, outbound)?;
        Ok(Values { values, items })
    }
}

/// The input that the bins are made from.
struct Matrix<'a> {
    columns: ReceiverColumns,
    function: Function,
    value_key: [u8; 32],
    params: &'a Params,
}

impl Matrix<'_> {
    /// Step 3: sends all Δ_i, bin by bin. Returns H2 of what each item meets.
    fn send(&self, items: &Partition, outbound: &mut dyn Outbound) -> Result<Vec<u128>, Error> {
        let mut outputs = vec![0; items.digests().len()];
        let mut bins: Vec<Bin<'_>> = (0..)
            .zip(items.iter())
            .zip(scatter::split(&mut outputs, items.lens()))
            .map(|((number, (digests, _)), outputs)| Bin {
                number,
                digests,
                outputs,
            })
            .collect();
        stream::send_with(
            outbound,
            self.params.bins(),
            &mut bins,
            &|| Scratch::new(self.params),
            &|_, bins, scratch, message| {
                for bin in bins {
                    scratch.fill(bin, self, message);
                }
                Ok::<(), Error>(())
            },
        )?;
        drop(bins);
        Ok(outputs)
    }
}

/// A bin of the receiver.
struct Bin<'a> {
    number: usize,
    digests: Digests<'a>,
    outputs: &'a mut [u128],
}

struct Scratch {
    inputs: Vec<Block>,
    rows: Rows,
    /// A_i of the bin.
    column: Vec<Block>,
    /// A'_i of the bin.
    other: Vec<Block>,
    /// D_i, and then Δ_i.
    difference: Vec<Block>,
    a: Cells,
    d: Cells,
    evaluation: Evaluation,
}

impl Scratch {
    fn new(params: &Params) -> Self {
        let blocks = params.shape.bin_rows as usize / Block::BITS;
        Self {
            inputs: Vec::new(),
            rows: Rows::default(),
            column: vec![Block::ZERO; blocks],
            other: vec![Block::ZERO; blocks],
            difference: vec![Block::ZERO; blocks],
            a: Cells::new(),
            d: Cells::new(),
            evaluation: Evaluation::default(),
        }
    }

    /// Appends the Δ_i of the bin to the message, and evaluates its items.
    fn fill(&mut self, bin: &mut Bin<'_>, matrix: &Matrix<'_>, message: &mut Vec<u8>) {
        let columns = matrix.params.columns();
        matrix.function.inputs(bin.digests, &mut self.inputs);
        self.evaluation.resize(bin.digests.len(), columns);
        for group in 0..matrix.function.groups() {
            matrix.function.rows(group, &self.inputs, &mut self.rows);
            let first = group * POSITIONS;
            for column in first..columns.min(first + POSITIONS) {
                let pair = [&mut *self.column, &mut *self.other];
                matrix.columns.expand(column, bin.number, pair);
                self.a.spread(bytemuck::cast_slice(&self.column));
                self.d.set(matrix.params.shape.bin_rows as usize);
                let met = self.evaluation.column_mut(column);
                let rows = self.rows.column(column - first);
                self.a.read_and_clear(&mut self.d, rows, met);
                self.append_difference(message);
            }
        }
        self.evaluation.hash(&matrix.value_key, bin.outputs);
    }

    /// Appends Δ_i = A_i ⊕ D_i ⊕ A'_i.
    fn append_difference(&mut self, message: &mut Vec<u8>) {
        self.d.pack(bytemuck::cast_slice_mut(&mut self.difference));
        let pairs = self.column.iter().zip(&self.other);
        for (difference, (a, other)) in self.difference.iter_mut().zip(pairs) {
            *difference ^= *a ^ *other;
        }
        message.extend_from_slice(bytemuck::cast_slice(&self.difference));
    }
}
