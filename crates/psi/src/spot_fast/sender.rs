use std::ops::Range;

use psijoin_block::{gf2k::Element, memory::Buffer, parallel, scatter};
use psijoin_channel::Channel;
use psijoin_encode::poly::Quadratic;
use psijoin_ot::iknp::SemiHonest;
use zeroize::Zeroizing;

use super::Params;
use crate::{
    Context, Error, Input, Items, Output, Party,
    ot_matrix::{Row, SenderMatrix, Strip},
    sorted_masks::sort,
    spot::{self, Functions, Group, by_size},
    stream,
};

/// The party that learns nothing, after the offline phase.
pub struct Sender {
    params: Params,
    matrix: SenderMatrix,
}

impl Sender {
    /// Steps 1 and 2.
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
            matrix: params.extension.choose::<SemiHonest>(channel, context)?,
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
            delta: matrix.delta::<R>(),
        };

        context.phase("hashing");
        let table = SimpleTable::new(&params, items, input);

        // Step 5, bin by bin as the polynomials arrive.
        context.phase("polynomials");
        let mut outputs = vec![0; 2 * items.len()];
        let mut bins = table.bins(&mut outputs);
        stream::receive_into(
            channel.halves().1,
            params.bins(),
            &|count| count * params.bin_bytes(),
            &mut bins,
            &|| Scratch::<R>::new(&params),
            &|range, message, bins, scratch| {
                scratch.expand(range.start, bins.len(), &with);
                let messages = message.chunks_exact(params.bin_bytes());
                for (i, (bin, message)) in bins.iter_mut().zip(messages).enumerate() {
                    scratch.evaluate(i, bin, message, &with);
                }
            },
        )?;

        context.phase("masks");
        let sorted = sort(&outputs);
        drop(outputs);
        params.masks().send(&sorted, channel.halves().0)?;
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
        by_size!(self, input, channel, context)
    }
}

/// Each item in both of its bins: simple hashing.
struct SimpleTable<const D: usize> {
    digests: Buffer<[u8; D]>,
    /// Where the items are that are in a bin by their first hash function, then those by
    /// their second one, bin by bin.
    ranges: Vec<Range<usize>>,
}

/// A bin of the sender.
struct Bin<'a, const D: usize> {
    digests: &'a [[u8; D]],
    /// So many of them are there by their first hash function.
    firsts: usize,
    /// H(Q(x‖b) ⊕ s·P(x‖b), x) of each.
    outputs: &'a mut [u128],
}

impl<const D: usize> SimpleTable<D> {
    fn new(params: &Params, items: &[[u8; D]], input: &Input<'_>) -> Self {
        const MIN_UNIT: usize = 1 << 14;
        let hasher = Functions::bins(input, params.shape.bins);
        let per_unit = items.len().div_ceil(parallel::threads()).max(MIN_UNIT);
        let units: Vec<&[[u8; D]]> = items.chunks(per_unit).collect();
        let (choices, counts): (Vec<_>, Vec<_>) = parallel::map(units.len(), &|i| {
            let mut choices = vec![[0; 2]; units[i].len()];
            Functions::hash_to_bins(&hasher, units[i], &mut choices);
            let mut counts = vec![0; 2 * params.shape.bins as usize];
            for place in choices.iter().flat_map(places) {
                counts[place] += 1;
            }
            (choices, counts)
        })
        .into_iter()
        .unzip();
        let mut digests = Buffer::zeroed(2 * items.len());
        let (mut targets, ranges) = scatter::places(&mut digests, &counts);
        parallel::each_mut(&mut targets, &|i, targets| {
            for (choices, item) in choices[i].iter().zip(units[i]) {
                for place in places(choices) {
                    targets[place].push(*item);
                }
            }
        });
        Self { digests, ranges }
    }

    /// The bins, with their parts of the outputs.
    fn bins<'a>(&'a self, outputs: &'a mut [u128]) -> Vec<Bin<'a, D>> {
        let pairs = self.ranges.chunks_exact(2);
        let outputs = scatter::split(
            outputs,
            pairs.clone().map(|pair| pair[0].len() + pair[1].len()),
        );
        pairs
            .zip(outputs)
            .map(|(pair, outputs)| Bin {
                digests: &self.digests[pair[0].start..pair[1].end],
                firsts: pair[0].len(),
                outputs,
            })
            .collect()
    }
}

/// Where an item goes by each of its hash functions.
fn places(choices: &[u32; 2]) -> [usize; 2] {
    [2 * choices[0] as usize, 2 * choices[1] as usize + 1]
}

/// What all bins need.
struct Step<'a, const R: usize> {
    params: &'a Params,
    matrix: &'a SenderMatrix,
    functions: Functions,
    delta: Zeroizing<Row<R>>,
}

/// The rows of the bins of one message, and the items of one bin.
struct Scratch<const R: usize> {
    strip: Strip<R>,
    q: Vec<Row<R>>,
    group: Group<R>,
    rows: Vec<Row<R>>,
    coefficients: Vec<Element>,
    values: Vec<Element>,
    quadratic: Quadratic,
}

impl<const R: usize> Scratch<R> {
    fn new(params: &Params) -> Self {
        Self {
            strip: Strip::default(),
            q: Vec::new(),
            group: Group::default(),
            rows: Vec::new(),
            coefficients: vec![Element::ZERO; params.bin_coefficients()],
            values: Vec::new(),
            quadratic: Quadratic::new(params.extension.field()),
        }
    }

    fn expand(&mut self, first_bin: usize, bins: usize, with: &Step<'_, R>) {
        let rows = with.params.extension.rows();
        self.q.resize(bins * rows, [0; R]);
        let range = first_bin * rows..(first_bin + bins) * rows;
        with.matrix.expand(range, &mut self.strip, &mut self.q);
    }

    /// Computes the outputs of a bin, the one with this number in the message.
    fn evaluate<const D: usize>(
        &mut self,
        number: usize,
        bin: &mut Bin<'_, D>,
        message: &[u8],
        with: &Step<'_, R>,
    ) {
        let count = bin.digests.len();
        if count == 0 {
            return;
        }
        let (functions, field) = (&with.functions, &with.functions.field);
        let rows = with.params.extension.rows();
        self.group.prepare(functions, bin.digests, bin.firsts);
        self.rows.resize(count, [0; R]);
        let matrix = &self.q[number * rows..(number + 1) * rows];
        self.group.rows(bin.digests, matrix, &mut self.rows);

        spot::unpack(field, message, self.coefficients.iter_mut());
        self.values
            .resize(with.params.extension.slices * count, Element::ZERO);
        self.quadratic.evaluate(
            &self.group.points,
            with.params.shape.capacity as usize,
            &self.coefficients,
            &mut self.values,
        );
        for (slice, values) in self.values.chunks_exact(count).enumerate() {
            for (row, value) in self.rows.iter_mut().zip(values) {
                spot::add_masked(field, row, slice, &with.delta, *value);
            }
        }
        functions.outputs(&self.rows, bin.digests, bin.outputs);
    }
}
