use std::sync::{Mutex, PoisonError};

use psijoin_block::{Block, cells::Cells, positions::POSITIONS, scatter};
use psijoin_channel::{Inbound, stream};
use psijoin_encode::{Digests, okvs::Partition};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::parallel;

use super::{
    Params,
    columns::SenderColumns,
    evaluation::Evaluation,
    function::{Function, Rows},
    keys::Keys,
};
use crate::seeds::ChosenSeeds;

/// Items that are evaluated at once. A bin may have many more, if the sender has many.
const ITEMS_PER_TASK: usize = 8192;

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(ChosenSeeds);

impl Party for Sender {
    type Params = Params;

    /// Step 1.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(params.ots().choose(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        context.phases.begin("bins");
        let items = Partition::new(input.items.digests(), params.shape.bins);

        // Step 2.
        let keys = Keys::receive(input.joint_seed, context.channel)?;
        let columns = SenderColumns::new(self.0, &keys.columns());
        let evaluators = Evaluators {
            function: Function::new(keys.function(), params.columns(), params.shape.bin_rows),
            mask_key: keys.masks(),
            params,
            idle: Mutex::default(),
        };

        // Step 3, and the values of step 4 while a bin's columns are at hand.
        context.phases.begin("columns");
        let (outbound, inbound) = context.channel.halves();
        let outputs = evaluators.receive(&columns, &items, inbound)?;
        drop(items);

        // Step 4.
        context.phases.begin("masks");
        params.masks().send_unsorted(outputs, outbound)?;
        Ok(Output::Nothing)
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
    mask_key: [u8; 32],
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
        self.evaluation.hash(&shared.mask_key, outputs);
    }
}
