use psijoin_block::{Prg, gf2k::Element, parallel, scatter};
use psijoin_channel::Channel;
use psijoin_encode::{Chosen, TwoChoiceTable, poly::Quadratic};
use psijoin_ot::iknp::SemiHonest;

use super::Params;
use crate::{
    Context, Error, Input, Items, Output, Party,
    ot_matrix::{ReceiverMatrix, Row, Strip},
    protocol,
    sorted_masks::Own,
    spot::{self, Functions, Group, by_size},
    stream,
};

/// The party that learns the result, after the offline phase.
pub struct Receiver {
    params: Params,
    matrix: ReceiverMatrix,
}

impl Receiver {
    /// Step 2.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            matrix: params.extension.offer::<SemiHonest>(channel, context)?,
        })
    }

    fn online<const D: usize, const R: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, matrix } = self;
        let with = Step {
            params: &params,
            matrix: &matrix,
            functions: Functions::new(&params.extension, input),
            items,
        };

        // Step 3.
        context.phase("2-choice hashing");
        let table = place(&params, items, input)?;

        // Step 4, and the own values of step 6 while the rows are at hand.
        context.phase("polynomials");
        let mut own = vec![0; items.len()];
        let own_of_bins = scatter::split(&mut own, table.lens());
        let mut bins: Vec<Bin<'_>> = own_of_bins
            .into_iter()
            .enumerate()
            .map(|(bin, own)| Bin {
                items: table.bin(bin),
                own,
                prg: context.rng.fork(),
            })
            .collect();
        stream::send_with(
            channel.halves().0,
            params.bins(),
            &mut bins,
            &|| Scratch::<D, R>::new(&params),
            &|range, bins, scratch, message| {
                scratch.expand(range.start, bins.len(), &with);
                let mut bins = bins.iter_mut().enumerate();
                bins.try_for_each(|(i, bin)| scratch.interpolate(i, bin, &with, message))
            },
        )?;
        drop(bins);

        // Step 6.
        context.phase("masks");
        let masks = params.masks();
        let own = Own::new(masks, &own);
        let found = masks.receive(&own, channel.halves().1)?;
        let positions = found
            .into_iter()
            .flatten()
            .map(|place| table.items()[place as usize].item);
        Ok(protocol::rows(positions, items.len()))
    }
}

impl Party for Receiver {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        by_size!(self, input, channel, context)
    }
}

/// Each item in one of its bins.
fn place<const D: usize>(
    params: &Params,
    items: &[[u8; D]],
    input: &Input<'_>,
) -> Result<TwoChoiceTable, Error> {
    const ITEMS_PER_TASK: usize = 4096;
    let hasher = Functions::bins(input, params.shape.bins);
    let mut choices = vec![[0; 2]; items.len()];
    parallel::chunks_mut(&mut choices, ITEMS_PER_TASK, &|range, choices| {
        Functions::hash_to_bins(&hasher, &items[range], choices);
    });
    TwoChoiceTable::build(&choices, params.shape)
        .map_err(|_| params.bad_luck("the items do not fit into the bins"))
}

/// What all bins need.
struct Step<'a, const D: usize> {
    params: &'a Params,
    matrix: &'a ReceiverMatrix,
    functions: Functions,
    items: &'a [[u8; D]],
}

/// A bin of the receiver.
struct Bin<'a> {
    items: &'a [Chosen],
    /// H(T(y‖b), y) of each.
    own: &'a mut [u128],
    /// For the dummies.
    prg: Prg,
}

/// The rows of the bins of one message, and the items of one bin.
struct Scratch<const D: usize, const R: usize> {
    strips: [Strip<R>; 2],
    t0: Vec<Row<R>>,
    /// T ⊕ U.
    sum: Vec<Row<R>>,
    digests: Vec<[u8; D]>,
    group: Group<R>,
    rows: Vec<Row<R>>,
    /// Values, then coefficients.
    slices: Vec<Element>,
    quadratic: Quadratic,
}

impl<const D: usize, const R: usize> Scratch<D, R> {
    fn new(params: &Params) -> Self {
        Self {
            strips: Default::default(),
            t0: Vec::new(),
            sum: Vec::new(),
            digests: Vec::new(),
            group: Group::default(),
            rows: Vec::new(),
            slices: Vec::new(),
            quadratic: Quadratic::new(params.extension.field()),
        }
    }

    fn expand(&mut self, first_bin: usize, bins: usize, with: &Step<'_, D>) {
        let rows = with.params.extension.rows();
        self.t0.resize(bins * rows, [0; R]);
        self.sum.resize(bins * rows, [0; R]);
        let range = first_bin * rows..(first_bin + bins) * rows;
        with.matrix
            .expand(range, &mut self.strips, &mut self.t0, &mut self.sum);
    }

    /// Appends the polynomials of a bin, the one with this number in the message.
    fn interpolate(
        &mut self,
        number: usize,
        bin: &mut Bin<'_>,
        with: &Step<'_, D>,
        message: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let (functions, field) = (&with.functions, &with.functions.field);
        let rows = with.params.extension.rows();
        let matrix = number * rows..(number + 1) * rows;
        self.digests.clear();
        let digests = bin
            .items
            .iter()
            .map(|chosen| with.items[chosen.item as usize]);
        self.digests.extend(digests);
        let firsts = bin.items.partition_point(|chosen| !chosen.choice);
        self.group.prepare(functions, &self.digests, firsts);
        self.rows.resize(bin.items.len(), [0; R]);
        self.group
            .rows(&self.digests, &self.t0[matrix.clone()], &mut self.rows);
        functions.outputs(&self.rows, &self.digests, bin.own);
        self.group
            .rows(&self.digests, &self.sum[matrix], &mut self.rows);

        // Dummies: random points with random values.
        let capacity = with.params.shape.capacity as usize;
        let mut random = || field.from_words(bytemuck::cast(bin.prg.block().to_bytes()));
        self.group.points.resize_with(capacity, &mut random);
        self.slices.clear();
        for slice in 0..with.params.extension.slices {
            let values = self
                .rows
                .iter()
                .map(|row| spot::slice_of(field, row, slice));
            self.slices.extend(values);
            self.slices.resize_with((slice + 1) * capacity, &mut random);
        }
        self.quadratic
            .interpolate(&self.group.points, &mut self.slices)
            .map_err(|_| {
                with.params
                    .bad_luck("the items do not fit into a polynomial")
            })?;
        spot::pack(field, self.slices.iter(), message);
        Ok(())
    }
}
