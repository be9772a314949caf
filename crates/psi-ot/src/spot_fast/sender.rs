use psijoin_block::gf2k::Element;
use psijoin_channel::stream;
use psijoin_encode::poly::Quadratic;
use psijoin_ot::matrix::SenderMatrix;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use zeroize::Zeroizing;

use super::{
    Bins, Params,
    simple::{Bin, SimpleTable},
};
use crate::spot::{self, Functions, SenderPart};

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
        let evaluation = Evaluation {
            params,
            functions: Functions::new(&params.spot.extension, input.joint_seed),
            delta: matrix.delta(),
        };

        // Both bins of each item.
        context.phases.begin("hashing");
        let items = input.items.digests();
        let table = SimpleTable::new(items, &Bins::new(params, input.joint_seed));

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
                scratch.part.expand(matrix, range);
                let messages = message.chunks_exact(params.bin_bytes());
                for (i, (bin, message)) in bins.iter_mut().zip(messages).enumerate() {
                    scratch.evaluate(i, bin, message, &evaluation);
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
    delta: Zeroizing<Vec<u64>>,
}

/// The bins of one message, and the items of one bin.
struct Scratch {
    part: SenderPart,
    rows: Vec<u64>,
    coefficients: Vec<Element>,
    values: Vec<Element>,
    quadratic: Quadratic,
}

impl Scratch {
    fn new(params: &Params) -> Self {
        let extension = &params.spot.extension;
        Self {
            part: SenderPart::new(extension.rows()),
            rows: Vec::new(),
            coefficients: vec![Element::ZERO; params.bin_coefficients()],
            values: Vec::new(),
            quadratic: Quadratic::new(extension.field()),
        }
    }

    /// Step 5: computes the outputs of a bin, the one with this number in the message.
    fn evaluate(
        &mut self,
        number: usize,
        bin: &mut Bin<'_>,
        message: &[u8],
        evaluation: &Evaluation<'_>,
    ) {
        let count = bin.outputs.len();
        if count == 0 {
            return;
        }
        let Evaluation {
            params,
            functions,
            delta,
        } = evaluation;
        // Q(x‖b)
        self.rows.resize(count * functions.row_words, 0);
        let points = (self.part).evaluate(number, bin.group, functions, &mut self.rows);
        // P(x‖b)
        spot::unpack(&functions.field, message, self.coefficients.iter_mut());
        self.values
            .resize(params.spot.extension.slices * count, Element::ZERO);
        let capacity = params.shape.capacity as usize;
        (self.quadratic).evaluate(points, capacity, &self.coefficients, &mut self.values);
        // H(Q(x‖b) ⊕ s·P(x‖b), x)
        for (slice, values) in self.values.chunks_exact(count).enumerate() {
            spot::add_masked(&functions.field, &mut self.rows, slice, delta, values);
        }
        functions.outputs(&self.rows, bin.group.digests, bin.outputs);
    }
}
