use std::sync::{Mutex, PoisonError};

use psijoin_block::{Block, cells::Cells, parallel, positions::POSITIONS, scatter};
use psijoin_channel::Channel;
use psijoin_encode::okvs::Partition;
use psijoin_ot::iknp::{self, Model};

use super::{
    Params,
    columns::{ChosenSeeds, SenderColumns},
    evaluation::Evaluation,
    function::{Function, Rows},
    keys::Keys,
};
use crate::{Context, Error, Input, Items, Output, Party, sorted_masks::sort, stream};

/// Items that are evaluated at once. A bin may have many more, if the sender has.
const ITEMS_PER_TASK: usize = 8192;

/// The party that learns nothing, after the offline phase.
pub struct Sender {
    params: Params,
    seeds: ChosenSeeds,
}

impl Sender {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline<M: Model>(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let mut ots = iknp::Receiver::<M>::setup(channel, &mut context.rng)?;
        let columns = params.columns();
        let mut seeds = ChosenSeeds {
            choices: vec![Block::ZERO; columns.div_ceil(Block::BITS)],
            seeds: vec![Block::ZERO; columns],
        };
        context.rng.fill(&mut seeds.choices);
        ots.random(&seeds.choices, &mut seeds.seeds, channel)?;
        Ok(Self {
            params: params.clone(),
            seeds,
        })
    }

    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, seeds } = self;

        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
        let mut outputs = vec![0; items.digests().len()];
        let mut bins: Vec<Bin<'_, D>> = items
            .iter()
            .zip(scatter::split(&mut outputs, items.lens()))
            .map(|((digests, _), outputs)| Bin { digests, outputs })
            .collect();

        // Step 2.
        let keys = Keys::receive(input, channel)?;
        let columns = SenderColumns::new(seeds, &keys.columns());
        let evaluators = Evaluators {
            function: Function::new(keys.function(), params.columns(), params.shape.bin_rows),
            mask_key: keys.masks(),
            params: &params,
            idle: Mutex::default(),
        };

        // Steps 3 and 4, bin by bin as the columns arrive.
        context.phase("columns");
        let (outbound, inbound) = channel.halves();
        stream::receive_into(
            inbound,
            params.bins(),
            &|_| params.bin_bytes(),
            &mut bins,
            &Vec::new,
            &|range, message, bins, matrix| {
                matrix.resize(message.len() / Block::BYTES, Block::ZERO);
                let bin_blocks = matrix.len() / params.columns();
                let sent = message.chunks_exact(bin_blocks * Block::BYTES);
                for (i, (blocks, sent)) in matrix.chunks_exact_mut(bin_blocks).zip(sent).enumerate()
                {
                    columns.expand(i, range.start, sent, blocks);
                }
                for bin in bins {
                    evaluators.evaluate(bin, matrix);
                }
            },
        )?;
        drop(bins);
        drop(items);

        context.phase("masks");
        let sorted = sort(&outputs);
        drop(outputs);
        params.masks().send(&sorted, outbound)?;
        Ok(Output::Nothing)
    }
}

impl Party for Sender {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match input.items {
            Items::Short(items) => self.online(items, &input, channel, context),
            Items::Long(items) => self.online(items, &input, channel, context),
        }
    }
}

/// A bin of the sender.
struct Bin<'a, const D: usize> {
    digests: &'a [[u8; D]],
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
    /// The outputs of a bin's items, given the columns C_i of the bin.
    fn evaluate<const D: usize>(&self, bin: &mut Bin<'_, D>, matrix: &[Block]) {
        parallel::chunks_mut(bin.outputs, ITEMS_PER_TASK, &|range, outputs| {
            let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
            let mut evaluator = idle().pop().unwrap_or_default();
            evaluator.evaluate(self, &bin.digests[range], outputs, matrix);
            idle().push(evaluator);
        });
    }
}

impl Evaluator {
    fn evaluate<const D: usize>(
        &mut self,
        shared: &Evaluators<'_>,
        digests: &[[u8; D]],
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
