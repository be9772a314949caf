use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, scatter, select};
use psijoin_channel::{Outbound, stream};
use psijoin_encode::{Digests, okvs::Partition, poly::Interpolator};
use psijoin_ot::matrix::ReceiverMatrix;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::parallel;

use super::{BUCKETS_PER_TASK, Params};
use crate::spot::{self, Functions, Group, ReceiverPart};

/// The party that learns the result, after the offline phase.
pub(super) struct Receiver(ReceiverMatrix);

impl Party for Receiver {
    type Params = Params;

    /// Step 2.
    fn offline(params: &Params, context: &mut Context) -> Result<Self, Error> {
        Ok(Self(params.spot.offer(context)?))
    }

    fn online(self, params: &Params, input: &Input, context: &mut Context) -> Result<Output> {
        let (outbound, inbound) = context.channel.halves();
        let extension = &params.spot.extension;
        let functions = Functions::new(extension, input.joint_seed);

        // Step 3, and the own values of step 6 while the rows are at hand.
        context.phases.begin("extension");
        let items = Partition::new(input.items.digests(), extension.buckets.count as u32);
        let Expanded {
            points,
            mut slices,
            own,
        } = self.expand(params, &items, &functions);

        // Step 4.
        context.phases.begin("tree");
        let fft = AdditiveFft::new(functions.field);
        let interpolator = Interpolator::start(&fft, &points, &mut slices);
        let interpolator = interpolator.map_err(|_| params.spot.unfit_points())?;
        drop(points);
        context.phases.begin("polynomials");
        send_polynomials(params, interpolator, slices, &functions, outbound)?;

        // Step 6.
        context.phases.begin("masks");
        let found = params.spot.masks.find(&own, inbound)?;
        let positions = items.positions();
        let found = found.into_iter().map(|place| positions[place as usize]);
        Ok(Output::rows(found, positions.len()))
    }
}

/// The expanded values of the receiver's items, bucket by bucket.
struct Expanded {
    points: Vec<Element>,
    /// Slices of R(y).
    slices: Vec<Vec<Element>>,
    /// H(T(y), y).
    own: Vec<u128>,
}

/// A bucket of the receiver.
struct Bucket<'a> {
    digests: Digests<'a>,
    points: &'a mut [Element],
    slices: Vec<&'a mut [Element]>,
    own: &'a mut [u128],
}

impl Receiver {
    /// Step 3.
    fn expand(&self, params: &Params, items: &Partition, functions: &Functions) -> Expanded {
        let (count, slices) = (items.digests().len(), params.spot.extension.slices);
        let mut expanded = Expanded {
            points: vec![Element::ZERO; count],
            slices: vec![vec![Element::ZERO; count]; slices],
            own: vec![0; count],
        };
        parallel::chunks_mut_with(
            &mut expanded.buckets(items),
            BUCKETS_PER_TASK,
            &|| ReceiverPart::new(select::ROWS),
            &|range, buckets, part| {
                part.expand(&self.0, range);
                for (i, bucket) in buckets.iter_mut().enumerate() {
                    bucket.fill(i, part, functions);
                }
            },
        );
        expanded
    }
}

/// Step 4: each slice as soon as it is interpolated.
fn send_polynomials(
    params: &Params,
    interpolator: Interpolator<'_>,
    slices: Vec<Vec<Element>>,
    functions: &Functions,
    outbound: &mut dyn Outbound,
) -> Result<(), Error> {
    for slice in slices {
        let coefficients = interpolator.finish(slice);
        stream::send(outbound, params.coefficients(), &|range, message| {
            spot::pack(&functions.field, coefficients[range].iter(), message);
        })?;
    }
    Ok(())
}

impl Expanded {
    fn buckets<'a>(&'a mut self, items: &'a Partition) -> Vec<Bucket<'a>> {
        let mut buckets: Vec<Bucket<'_>> = items
            .iter()
            .zip(scatter::split(&mut self.points, items.lens()))
            .zip(scatter::split(&mut self.own, items.lens()))
            .map(|(((digests, _), points), own)| Bucket {
                digests,
                points,
                slices: Vec::with_capacity(self.slices.len()),
                own,
            })
            .collect();
        for slice in &mut self.slices {
            let parts = scatter::split(slice, items.lens());
            for (bucket, part) in buckets.iter_mut().zip(parts) {
                bucket.slices.push(part);
            }
        }
        buckets
    }
}

impl Bucket<'_> {
    /// Step 3, for a bucket whose rows are expanded.
    fn fill(&mut self, number: usize, part: &mut ReceiverPart, functions: &Functions) {
        let group = Group {
            digests: self.digests,
            runs: &[self.digests.len()],
        };
        let (points, rows) = part.evaluate(number, group, functions, self.own);
        self.points.copy_from_slice(points);
        for (i, slice) in self.slices.iter_mut().enumerate() {
            for (value, row) in slice.iter_mut().zip(rows.chunks_exact(functions.row_words)) {
                *value = spot::slice_of(&functions.field, row, i);
            }
        }
    }
}
