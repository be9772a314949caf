use psijoin_block::{Block, cells::Cells, positions::POSITIONS, scatter};
use psijoin_channel::Channel;
use psijoin_encode::okvs::Partition;
use psijoin_ot::iknp::{self, Model};

use super::{
    Params,
    columns::{ReceiverColumns, SeedPairs},
    evaluation::Evaluation,
    function::{Function, Rows},
    keys::Keys,
};
use crate::{Context, Error, Input, Items, Output, Party, protocol, sorted_masks::Own, stream};

/// The party that learns the result, after the offline phase.
pub struct Receiver {
    params: Params,
    seeds: SeedPairs,
}

impl Receiver {
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
        let mut ots = iknp::Sender::<M>::setup(channel, &mut context.rng)?;
        let mut seeds = SeedPairs(vec![[Block::ZERO; 2]; params.columns()]);
        ots.random(&mut seeds.0, channel)?;
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

        // Step 2.
        let keys = Keys::draw(input, channel, &mut context.rng)?;
        let matrix = Matrix {
            columns: ReceiverColumns::new(&seeds, &keys.columns()),
            function: Function::new(keys.function(), params.columns(), params.shape.bin_rows),
            mask_key: keys.masks(),
            params: &params,
        };

        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
        let mut outputs = vec![0; items.digests().len()];
        let mut bins: Vec<Bin<'_, D>> = (0..)
            .zip(items.iter())
            .zip(scatter::split(&mut outputs, items.lens()))
            .map(|((number, (digests, _)), outputs)| Bin {
                number,
                digests,
                outputs,
            })
            .collect();

        // Step 3, and the receiver's side of step 5 while the rows are at hand.
        context.phase("columns");
        let (outbound, inbound) = channel.halves();
        stream::send_with(
            outbound,
            params.bins(),
            &mut bins,
            &|| Scratch::new(&params),
            &|_, bins, scratch, message| {
                for bin in bins {
                    scratch.fill(bin, &matrix, message);
                }
                Ok(())
            },
        )?;
        drop(bins);

        // Step 5.
        context.phase("masks");
        let own = Own::new(params.masks(), &outputs);
        let found = params.masks().receive(&own, inbound)?;
        let positions = items.positions();
        let rows = found
            .iter()
            .flatten()
            .map(|place| positions[*place as usize]);
        Ok(protocol::rows(rows, positions.len()))
    }
}

impl Party for Receiver {
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

/// What the bins are made from.
struct Matrix<'a> {
    columns: ReceiverColumns,
    function: Function,
    mask_key: [u8; 32],
    params: &'a Params,
}

/// A bin of the receiver.
struct Bin<'a, const D: usize> {
    number: usize,
    digests: &'a [[u8; D]],
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
    fn fill<const D: usize>(
        &mut self,
        bin: &mut Bin<'_, D>,
        matrix: &Matrix<'_>,
        message: &mut Vec<u8>,
    ) {
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
        self.evaluation.hash(&matrix.mask_key, bin.outputs);
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
