use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, parallel, scatter, select};
use psijoin_channel::Channel;
use psijoin_encode::{okvs::Partition, poly::Evaluator};
use psijoin_ot::iknp::Model;

use super::{
    Params,
    receiver::{BUCKETS_PER_TASK, matrix_rows},
};
use crate::{
    Context, Error, Input, Items, Output, Party,
    ot_matrix::{Row, SenderMatrix, Strip},
    sorted_masks::sort,
    spot::{self, Functions, Group, by_size},
    stream,
};

/// Items whose masks one task computes.
const ITEMS_PER_TASK: usize = 1024;

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
    pub fn offline<M: Model>(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            matrix: params.extension.choose::<M>(channel, context)?,
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
        let functions = Functions::new(&params.extension, input);
        let delta = matrix.delta::<R>();

        context.phase("extension");
        let items = Partition::new(items, params.extension.buckets as u32);
        let (points, mut rows) = expand::<D, R>(&matrix, &functions, &items);

        // Step 5, slice by slice.
        context.phase("tree");
        let fft = AdditiveFft::new(functions.field);
        let count = params.request.sizes.receiver() as usize;
        let evaluator = Evaluator::new(&fft, &points, count).map_err(|_| params.unfit_points())?;
        context.phase("polynomials");
        let mut started = Vec::with_capacity(params.extension.slices);
        let mut coefficients = vec![Element::ZERO; count];
        for _ in 0..params.extension.slices {
            receive_slice(&params, &functions, &mut coefficients, channel)?;
            started.push(evaluator.start(&coefficients));
        }
        drop(coefficients);
        let values = evaluator
            .finish(started)
            .map_err(|_| params.unfit_points())?;
        for (slice, values) in values.into_iter().enumerate() {
            parallel::chunks_mut(&mut rows, ITEMS_PER_TASK, &|range, rows| {
                for (row, value) in rows.iter_mut().zip(&values[range]) {
                    spot::add_masked(&functions.field, row, slice, &delta, *value);
                }
            });
        }

        context.phase("masks");
        let mut outputs = vec![0; rows.len()];
        parallel::chunks_mut(&mut outputs, ITEMS_PER_TASK, &|range, outputs| {
            functions.outputs(&rows[range.clone()], &items.digests()[range], outputs);
        });
        drop(rows);
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

/// Points and rows Q(x) of all items, bucket by bucket.
fn expand<const D: usize, const R: usize>(
    matrix: &SenderMatrix,
    functions: &Functions,
    items: &Partition<D>,
) -> (Vec<Element>, Vec<Row<R>>) {
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
        &Scratch::<R>::default,
        &|range, buckets, scratch| {
            let range = matrix_rows(range);
            scratch.matrix.resize(range.len(), [0; R]);
            matrix.expand(range, &mut scratch.strip, &mut scratch.matrix);
            let matrices = scratch.matrix.chunks_exact(select::ROWS);
            for ((((digests, _), points), rows), matrix) in buckets.iter_mut().zip(matrices) {
                scratch.group.prepare(functions, digests, digests.len());
                points.copy_from_slice(&scratch.group.points);
                scratch.group.rows_of_bucket(matrix, rows);
            }
        },
    );
    drop(buckets);
    (points, rows)
}

/// The matrix of a task's buckets, and the items of one bucket.
#[derive(Default)]
struct Scratch<const R: usize> {
    strip: Strip<R>,
    matrix: Vec<Row<R>>,
    group: Group<R>,
}

fn receive_slice(
    params: &Params,
    functions: &Functions,
    coefficients: &mut [Element],
    channel: &mut Channel,
) -> Result<(), Error> {
    stream::receive_into(
        channel.halves().1,
        params.coefficients(),
        &|count| params.extension.coefficient_bytes(count),
        coefficients,
        &|| (),
        &|_, message, coefficients, ()| {
            spot::unpack(&functions.field, message, coefficients.iter_mut());
        },
    )
}
