//! The party that gets the function.

use std::sync::{Mutex, PoisonError};

use psijoin_block::{Block, cells::Cells, positions::POSITIONS, scatter};
use psijoin_channel::{Inbound, joint_seed::JointSeed, stream};
use psijoin_encode::{Digests, okvs::Partition};
use psijoin_psi::{Context, Error};
use psijoin_runtime::parallel;

use super::{
    Params, Values,
    columns::SenderColumns,
    evaluation::Evaluation,
    function::{Function, Rows},
    keys::Keys,
};
use crate::seeds::ChosenSeeds;

/// Items that are evaluated at once. A bin may have many more, if the sender has many.
const ITEMS_PER_TASK: usize = 8192;

/// The party that gets the function, after the offline phase.
pub struct Sender {
    params: Params,
    seeds: ChosenSeeds,
}

impl Sender {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn setup(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self {
            params: *params,
            seeds: params.ots().choose(context)?,
        })
    }

    /// Steps 2 to 4: the values at these distinct items.
    ///
    /// # Errors
    /// If the channel breaks, or the peer misbehaves.
    pub fn evaluate(
        self,
        items: Digests<'_>,
        joint_seed: &JointSeed,
        context: &mut Context,
    ) -> Result<Values, Error> {
        let params = &self.params;
        context.phases.begin("bins");
        let items = Partition::new(items, params.shape.bins);

        // Step 2.
        let keys = Keys::receive(joint_seed, context.channel)?;
        let columns = SenderColumns::new(self.seeds, &keys.columns());
        let evaluators = Evaluators {
            function: Function::new(keys.function(), params.columns(), params.shape.bin_rows),
            value_key: keys.values(),
            params,
            idle: Mutex::default(),
        };

        // Step 3, and step 4 while a bin's columns are at hand.
        context.phases.begin("columns");
        let (_, inbound) = context.channel.halves();
        let values = evaluators.receive(&columns, &items, inbound)?;
        Ok(Values { values, items })
    }
}

/// A bin of the sender.
struct Bin<'a> {
    digests: Digests<'a>,
    outputs: &'a mut [u128],
}

/// Step 4, on all threads: a bin with many items keeps several busy.
struct Evaluators<'a> {
    function: Function,
    value_key: [u8; 32],
    params: &'a Params,
    idle: Mutex<Vec<Evaluator>>,
}

#[derive(Default)]
struct Evaluator {
    inputs: Vec<Block>,
    rows: Rows,
    cells: Cells,
    evaluation: Evaluation,
}

impl Evaluators<'_> {
    /// Step 3: receives all Δ_i, bin by bin. Returns H2 of what each item meets in the columns C_i.
    fn receive(
        &self,
        columns: &SenderColumns,
        items: &Partition,
        inbound: &mut dyn Inbound,
    ) -> Result<Vec<u128>, Error> {
        let mut outputs = vec![0; items.digests().len()];
        let mut bins: Vec<Bin<'_>> = items
            .iter()
            .zip(scatter::split(&mut outputs, items.lens()))
            .map(|((digests, _), outputs)| Bin { digests, outputs })
            .collect();
        stream::receive_into(
            inbound,
            self.params.bins(),
            &|_| self.params.bin_bytes(),
            &mut bins,
            &Vec::new,
            &|range, message, bins, matrix| {
                matrix.resize(message.len() / Block::BYTES, Block::ZERO);
                let bin_blocks = matrix.len() / self.params.columns();
                let sent = message.chunks_exact(bin_blocks * Block::BYTES);
                for (i, (blocks, sent)) in matrix.chunks_exact_mut(bin_blocks).zip(sent).enumerate()
                {
                    columns.expand(i, range.start, sent, blocks);
                }
                for bin in bins {
                    self.evaluate(bin, matrix);
                }
            },
        )?;
        drop(bins);
        Ok(outputs)
    }

    /// Computes the outputs of a bin's items, given the columns C_i of the bin.
    fn evaluate(&self, bin: &mut Bin<'_>, matrix: &[Block]) {
        parallel::chunks_mut(bin.outputs, ITEMS_PER_TASK, &|range, outputs| {
            let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let mut evaluator = idle().pop().unwrap_or_default();
            evaluator.evaluate(self, bin.digests.slice(range), outputs, matrix);
            idle().push(evaluator);
        });
    }
}

impl Evaluator {
    fn evaluate(
        &mut self,
        shared: &Evaluators<'_>,
        digests: Digests<'_>,
        outputs: &mut [u128],
        matrix: &[Block],
    ) {
        let columns = shared.params.columns();
        let bin_blocks = matrix.len() / columns;
        shared.function.inputs(digests, &mut self.inputs);
        self.evaluation.resize(digests.len(), columns);
        for group in 0..shared.function.groups() {
            shared.function.rows(group, &self.inputs, &mut self.rows);
            let first = group * POSITIONS;
            for column in first..columns.min(first + POSITIONS) {
                let blocks = &matrix[column * bin_blocks..][..bin_blocks];
                self.cells.spread(bytemuck::cast_slice(blocks));
                let rows = self.rows.column(column - first);
                self.cells.read(rows, self.evaluation.column_mut(column));
            }
        }
        self.evaluation.hash(&shared.value_key, outputs);
    }
}
