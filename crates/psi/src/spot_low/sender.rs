use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, scatter, select};
use psijoin_channel::Channel;
use psijoin_encode::{okvs::Partition, poly::Evaluator};
use psijoin_ot::iknp::Model;
use rayon::prelude::*;

use super::{Params, receiver::BUCKETS_PER_TASK};
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
            let places = rows.par_iter_mut().zip(values).with_min_len(ITEMS_PER_TASK);
            places.for_each(|(row, value)| {
                spot::add_masked(&functions.field, row, slice, &delta, value);
            });
        }

        context.phase("masks");
        let mut outputs = vec![0; rows.len()];
        outputs
            .par_chunks_mut(ITEMS_PER_TASK)
            .zip(rows.par_chunks(ITEMS_PER_TASK))
            .zip(items.digests().par_chunks(ITEMS_PER_TASK))
            .for_each(|((outputs, rows), digests)| functions.outputs(rows, digests, outputs));
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
    let buckets: Vec<_> = items
        .iter()
        .zip(scatter::split(&mut points, items.lens()))
        .zip(scatter::split(&mut rows, items.lens()))
        .collect();
    buckets
        .into_par_iter()
        .chunks(BUCKETS_PER_TASK)
        .enumerate()
        .for_each_init(
            || (Strip::default(), Vec::new(), Group::default()),
            |(strip, expanded, group): &mut (Strip<R>, Vec<Row<R>>, Group<R>), (task, buckets)| {
                let range = super::receiver::matrix_rows(task, buckets.len());
                expanded.resize(range.len(), [0; R]);
                matrix.expand(range, strip, expanded);
                let matrices = expanded.chunks_exact(select::ROWS);
                for ((((digests, _), points), rows), matrix) in buckets.into_iter().zip(matrices) {
                    group.prepare(functions, digests, digests.len());
                    points.copy_from_slice(&group.points);
                    group.rows_of_bucket(matrix, rows);
                }
            },
        );
    (points, rows)
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
        |count| params.extension.coefficient_bytes(count),
        coefficients,
        || (),
        |_, message, coefficients, ()| {
            spot::unpack(&functions.field, message, coefficients.iter_mut());
        },
    )?;
    Ok(())
}
