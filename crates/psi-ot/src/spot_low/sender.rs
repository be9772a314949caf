use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, scatter, select};
use psijoin_channel::{Inbound, stream};
use psijoin_encode::{okvs::Partition, poly::Evaluator};
use psijoin_ot::matrix::SenderMatrix;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::parallel;

use super::{BUCKETS_PER_TASK, Params};
use crate::spot::{self, Functions, Group, SenderPart};

/// Items whose masks one task computes.
const ITEMS_PER_TASK: usize = 1024;

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
        let extension = &params.spot.extension;
        let functions = Functions::new(extension, input.joint_seed);

        context.phases.begin("extension");
        let items = Partition::new(input.items.digests(), extension.buckets.count as u32);
        let (points, mut rows) = self.expand(&items, &functions);

        // Step 5.
        context.phases.begin("tree");
        let fft = AdditiveFft::new(functions.field);
        let evaluator = Evaluator::new(&fft, &points, params.coefficients().total);
        let evaluator = evaluator.map_err(|_| params.spot.unfit_points())?;
        context.phases.begin("polynomials");
        let values = evaluate(params, evaluator, &functions, inbound)?;
        add_values(&self.0.delta(), &values, &functions, &mut rows);
        drop(values);

        context.phases.begin("masks");
        let outputs = outputs(rows, &items, &functions);
        params.spot.masks.send_unsorted(outputs, outbound)?;
        Ok(Output::Nothing)
    }
}

impl Sender {
    /// Returns points and rows Q(x) of all items, bucket by bucket.
    fn expand(&self, items: &Partition, functions: &Functions) -> (Vec<Element>, Vec<u64>) {
        let count = items.digests().len();
        let row_words = functions.row_words;
        let mut points = vec![Element::ZERO; count];
        let mut rows = vec![0; count * row_words];
        let row_lens = items.lens().map(|len| len * row_words);
        let mut buckets: Vec<_> = items
            .iter()
            .zip(scatter::split(&mut points, items.lens()))
            .zip(scatter::split(&mut rows, row_lens))
            .collect();
        parallel::chunks_mut_with(
            &mut buckets,
            BUCKETS_PER_TASK,
            &|| SenderPart::new(select::ROWS),
            &|range, buckets, part| {
                part.expand(&self.0, range);
                for (i, (((digests, _), points), rows)) in buckets.iter_mut().enumerate() {
                    let group = Group {
                        digests: *digests,
                        runs: &[digests.len()],
                    };
                    points.copy_from_slice(part.evaluate(i, group, functions, rows));
                }
            },
        );
        drop(buckets);
        (points, rows)
    }
}

/// Step 5: P(x) of all items. A slice's evaluation begins as soon as the slice is there.
fn evaluate(
    params: &Params,
    evaluator: Evaluator<'_>,
    functions: &Functions,
    inbound: &mut dyn Inbound,
) -> Result<Vec<Vec<Element>>, Error> {
    let spot = &params.spot;
    let mut started = Vec::with_capacity(spot.extension.slices);
    let mut coefficients = vec![Element::ZERO; params.coefficients().total];
    for _ in 0..spot.extension.slices {
        stream::receive_into(
            inbound,
            params.coefficients(),
            &|count| spot.extension.coefficient_bytes(count),
            &mut coefficients,
            &|| (),
            &|_, message, coefficients, ()| {
                spot::unpack(&functions.field, message, coefficients.iter_mut());
            },
        )?;
        started.push(evaluator.start(&coefficients));
    }
    drop(coefficients);
    evaluator.finish(started).map_err(|_| spot.unfit_points())
}

/// Step 5: turns Q(x) into Q(x) ⊕ s·P(x).
fn add_values(delta: &[u64], values: &[Vec<Element>], functions: &Functions, rows: &mut [u64]) {
    let row_words = functions.row_words;
    for (slice, values) in values.iter().enumerate() {
        parallel::chunks_mut(rows, ITEMS_PER_TASK * row_words, &|range, rows| {
            let values = &values[range.start / row_words..range.end / row_words];
            spot::add_masked(&functions.field, rows, slice, delta, values);
        });
    }
}

/// Step 5: H of all rows and their items.
fn outputs(rows: Vec<u64>, items: &Partition, functions: &Functions) -> Vec<u128> {
    let row_words = functions.row_words;
    let mut outputs = vec![0; items.digests().len()];
    parallel::chunks_mut(&mut outputs, ITEMS_PER_TASK, &|range, outputs| {
        let digests = items.digests().slice(range.clone());
        let rows = &rows[range.start * row_words..range.end * row_words];
        functions.outputs(rows, digests, outputs);
    });
    outputs
}
