use std::ops::Range;

use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, parallel, scatter, select};
use psijoin_channel::Channel;
use psijoin_encode::{okvs::Partition, poly::Interpolator};
use psijoin_ot::iknp::Model;

use super::Params;
use crate::{
    Context, Error, Input, Items, Output, Party,
    ot_matrix::{ReceiverMatrix, Row, Strip},
    protocol,
    sorted_masks::Own,
    spot::{self, Functions, Group, by_size},
    stream,
};

/// Buckets whose rows one task expands: half a megabyte with their columns.
pub(super) const BUCKETS_PER_TASK: usize = 32;

/// The rows of these buckets in the matrix.
pub(super) fn matrix_rows(buckets: Range<usize>) -> Range<usize> {
    buckets.start * select::ROWS..buckets.end * select::ROWS
}

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
    pub fn offline<M: Model>(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        Ok(Self {
            params: params.clone(),
            matrix: params.extension.offer::<M>(channel, context)?,
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

        // Step 3, and the own values of step 6 while the rows are at hand.
        context.phase("extension");
        let items = Partition::new(items, params.extension.buckets as u32);
        let Expanded {
            points,
            mut slices,
            own,
        } = expand::<D, R>(&params, &matrix, &functions, &items);

        // Step 4.
        context.phase("tree");
        let fft = AdditiveFft::new(functions.field);
        let interpolator = Interpolator::start(&fft, &points, &mut slices);
        let interpolator = interpolator.map_err(|_| params.unfit_points())?;
        drop(points);
        context.phase("polynomials");
        for slice in slices {
            let coefficients = interpolator.finish(slice);
            let (outbound, _) = channel.halves();
            stream::send(outbound, params.coefficients(), &|range, message| {
                spot::pack(&functions.field, coefficients[range].iter(), message);
                Ok(())
            })?;
        }
        drop(interpolator);

        // Step 6.
        context.phase("masks");
        let masks = params.masks();
        let own = Own::new(masks, &own);
        let found = masks.receive(&own, channel.halves().1)?;
        let positions = found
            .into_iter()
            .flatten()
            .map(|place| items.positions()[place as usize]);
        Ok(protocol::rows(positions, items.positions().len()))
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

/// What the receiver's items have, bucket by bucket.
struct Expanded {
    points: Vec<Element>,
    /// Slices of R(y).
    slices: Vec<Vec<Element>>,
    /// H(T(y), y).
    own: Vec<u128>,
}

/// A bucket of the receiver.
struct Bucket<'a, const D: usize> {
    digests: &'a [[u8; D]],
    points: &'a mut [Element],
    slices: Vec<&'a mut [Element]>,
    own: &'a mut [u128],
}

fn expand<const D: usize, const R: usize>(
    params: &Params,
    matrix: &ReceiverMatrix,
    functions: &Functions,
    items: &Partition<D>,
) -> Expanded {
    let count = items.digests().len();
    let mut expanded = Expanded {
        points: vec![Element::ZERO; count],
        slices: vec![vec![Element::ZERO; count]; params.extension.slices],
        own: vec![0; count],
    };
    let mut buckets: Vec<Bucket<'_, D>> = items
        .iter()
        .zip(scatter::split(&mut expanded.points, items.lens()))
        .zip(scatter::split(&mut expanded.own, items.lens()))
        .map(|(((digests, _), points), own)| Bucket {
            digests,
            points,
            slices: Vec::with_capacity(params.extension.slices),
            own,
        })
        .collect();
    for slice in &mut expanded.slices {
        let parts = scatter::split(slice, items.lens());
        for (bucket, part) in buckets.iter_mut().zip(parts) {
            bucket.slices.push(part);
        }
    }
    parallel::chunks_mut_with(
        &mut buckets,
        BUCKETS_PER_TASK,
        &Scratch::<R>::default,
        &|range, buckets, scratch| {
            let range = matrix_rows(range);
            scratch.t0.resize(range.len(), [0; R]);
            scratch.sum.resize(range.len(), [0; R]);
            matrix.expand(
                range,
                &mut scratch.strips,
                &mut scratch.t0,
                &mut scratch.sum,
            );
            for (i, bucket) in buckets.iter_mut().enumerate() {
                scratch.fill(i, bucket, functions);
            }
        },
    );
    drop(buckets);
    expanded
}

/// Rows of a task, and of the items of one bucket.
#[derive(Default)]
struct Scratch<const R: usize> {
    strips: [Strip<R>; 2],
    t0: Vec<Row<R>>,
    /// T ⊕ U.
    sum: Vec<Row<R>>,
    group: Group<R>,
    rows: Vec<Row<R>>,
}

impl<const R: usize> Scratch<R> {
    fn fill<const D: usize>(
        &mut self,
        number: usize,
        bucket: &mut Bucket<'_, D>,
        functions: &Functions,
    ) {
        let matrix = number * select::ROWS..(number + 1) * select::ROWS;
        self.group
            .prepare(functions, bucket.digests, bucket.digests.len());
        bucket.points.copy_from_slice(&self.group.points);
        self.rows.resize(bucket.digests.len(), [0; R]);
        self.group
            .rows_of_bucket(&self.t0[matrix.clone()], &mut self.rows);
        functions.outputs(&self.rows, bucket.digests, bucket.own);
        self.group.rows_of_bucket(&self.sum[matrix], &mut self.rows);
        for (i, slice) in bucket.slices.iter_mut().enumerate() {
            for (value, row) in slice.iter_mut().zip(&self.rows) {
                *value = spot::slice_of(&functions.field, row, i);
            }
        }
    }
}
