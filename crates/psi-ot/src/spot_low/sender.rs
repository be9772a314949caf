use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, parallel, scatter, select};
use psijoin_channel::{Inbound, stream};
use psijoin_encode::{okvs::Partition, poly::Evaluator};
use psijoin_ot::matrix::{Row, SenderMatrix};
use psijoin_psi::{Context, Error, Input, Output, Party, Result};

use super::{BUCKETS_PER_TASK, Params};
use crate::spot::{self, Functions, Group, SenderPart};

/// Items whose masks one task computes.
const ITEMS_PER_TASK: usize = 1024;

/// The party that learns nothing, after the offline phase. Its rows have R words.
pub(super) struct Sender<const R: usize>(SenderMatrix);

impl<const R: usize> Party for Sender<R> {
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
        let items = Partition::new(input.items.digests(), extension.buckets as u32);
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

impl<const R: usize> Sender<R> {
    /// Points and rows Q(x) of all items, bucket by bucket.
    fn expand(&self, items: &Partition, functions: &Functions) -> (Vec<Element>, Vec<Row<R>>) {
        let count = items.digests().len();
        let (mut points, mut rows) = (vec![Element::ZERO; count], vec![[0; R]; count]);
        let mut buckets: Vec<_> = items
            .iter()
            .zip(scatter::split(&mut points, items.lens()))
            .zip(scatter::split(&mut rows, items.lens()))
            .collect();
        parallel::chunks_mut_with(
            &mut buckets,
            BUCKETS_PER_TASK,
            &|| SenderPart::<R>::new(select::ROWS),
            &|range, buckets, part| {
                part.expand(&self.0, range);
                for (i, (((digests, _), points), rows)) in buckets.iter_mut().enumerate() {
                    let group = Group::by_one_function(*digests);
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
fn add_values<const R: usize>(
    delta: &Row<R>,
    values: &[Vec<Element>],
    functions: &Functions,
    rows: &mut [Row<R>],
) {
    for (slice, values) in values.iter().enumerate() {
        parallel::chunks_mut(rows, ITEMS_PER_TASK, &|range, rows| {
            spot::add_masked(&functions.field, rows, slice, delta, &values[range]);
        });
    }
}

/// Step 5: H of all rows and their items.
fn outputs<const R: usize>(
    rows: Vec<Row<R>>,
    items: &Partition,
    functions: &Functions,
) -> Vec<u128> {
    let mut outputs = vec![0; rows.len()];
    parallel::chunks_mut(&mut outputs, ITEMS_PER_TASK, &|range, outputs| {
        let digests = items.digests().slice(range.clone());
        functions.outputs(&rows[range], digests, outputs);
    });
    outputs
}
