use psijoin_block::gf2k::Element;
use psijoin_channel::stream;
use psijoin_encode::{Digests, poly::Quadratic};
use psijoin_ot::matrix::SenderMatrix;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use zeroize::Zeroizing;

use super::{
    Bins, Params,
    simple::{Bin, SimpleTable},
};
use crate::spot::{self, Functions, Group, SenderPart};

/// The party that learns nothing, after the offline phase.
pub(super) struct Sender(SenderMatrix);

impl Party for Sender {
    type Params = Params;

    /// Steps 1 and 2.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(params.spot.choose(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let Self(matrix) = &self;

        // Both bins of each item.
        context.phases.begin("hashing");
        let items = input.items.digests();
        let table = SimpleTable::new(items, &Bins::new(params, input.joint_seed));
        let evaluation = Evaluation {
            params,
            functions: Functions::new(&params.spot.extension, input.joint_seed),
            items: table.items(),
            delta: matrix.delta(),
        };

        // Step 5, bin by bin as the polynomials arrive.
        context.phases.begin("polynomials");
        let mut outputs = vec![0; 2 * items.len()];
        stream::receive_into(
            inbound,
            params.bins(),
            &|count| count * params.bin_bytes(),
            &mut table.bins(&mut outputs),
            &|| Scratch::new(params),
            &|range, message, bins, scratch| {
                scratch.part.expand(matrix, params.parts(range));
                let bins_per_part = params.bins_per_part();
                let messages = message.chunks(bins_per_part * params.bin_bytes());
                let parts = bins.chunks_mut(bins_per_part).zip(messages);
                for (i, (bins, message)) in parts.enumerate() {
                    scratch.evaluate(i, bins, message, &evaluation);
                }
            },
        )?;

        context.phases.begin("masks");
        params.spot.masks.send_unsorted(outputs, outbound)?;
        Ok(Output::Nothing)
    }
}

/// The state of step 5, for all bins.
struct Evaluation<'a> {
    params: &'a Params,
    functions: Functions,
    /// The items, bin after bin.
    items: Digests<'a>,
    delta: Zeroizing<Vec<u64>>,
}

/// The rows of one message, and the items of bins that share buckets.
struct Scratch {
    part: SenderPart,
    /// Lengths of the runs of items with the same hash function.
    runs: Vec<usize>,
    rows: Vec<u64>,
    coefficients: Vec<Element>,
    values: Vec<Element>,
    outputs: Vec<u128>,
    quadratic: Quadratic,
}

impl Scratch {
    fn new(params: &Params) -> Self {
        let extension = &params.spot.extension;
        Self {
            part: SenderPart::new(extension.rows()),
            runs: Vec::new(),
            rows: Vec::new(),
            coefficients: vec![Element::ZERO; params.bin_coefficients()],
            values: Vec::new(),
            outputs: Vec::new(),
            quadratic: Quadratic::new(extension.field()),
        }
    }

    /// Step 5: computes the outputs of bins that share buckets, the part with this number in the
    /// message.
    fn evaluate(
        &mut self,
        number: usize,
        bins: &mut [Bin<'_>],
        message: &[u8],
        evaluation: &Evaluation<'_>,
    ) {
        let Evaluation {
            params,
            functions,
            items,
            delta,
        } = evaluation;
        self.runs.clear();
        self.runs.extend(bins.iter().flat_map(|bin| bin.counts));
        let first = bins.first().map_or(0, |bin| bin.first);
        let count: usize = self.runs.iter().sum();
        let group = Group {
            digests: items.slice(first..first + count),
            runs: &self.runs,
        };
        // Q(x‖b)
        let row_words = functions.row_words;
        self.rows.resize(count * row_words, 0);
        let mut points = (self.part).evaluate(number, group, functions, &mut self.rows);
        let mut rows = &mut self.rows[..];
        let capacity = params.shape.capacity as usize;
        for (bin, message) in bins.iter().zip(message.chunks_exact(params.bin_bytes())) {
            let count = bin.outputs.len();
            if count == 0 {
                continue;
            }
            let (here, after) = points.split_at(count);
            points = after;
            // P(x‖b)
            spot::unpack(&functions.field, message, self.coefficients.iter_mut());
            self.values
                .resize(params.spot.extension.slices * count, Element::ZERO);
            (self.quadratic).evaluate(here, capacity, &self.coefficients, &mut self.values);
            // Q(x‖b) ⊕ s·P(x‖b)
            let (here, after) = rows.split_at_mut(count * row_words);
            rows = after;
            for (slice, values) in self.values.chunks_exact(count).enumerate() {
                spot::add_masked(&functions.field, here, slice, delta, values);
            }
        }
        // H
        self.outputs.resize(count, 0);
        functions.outputs(&self.rows, group.digests, &mut self.outputs);
        let mut outputs = &self.outputs[..];
        for bin in bins {
            let (here, after) = outputs.split_at(bin.outputs.len());
            bin.outputs.copy_from_slice(here);
            outputs = after;
        }
    }
}
