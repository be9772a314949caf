use psijoin_block::{Prg, gf2k::Element, scatter};
use psijoin_channel::stream;
use psijoin_encode::{Chosen, DigestVec, Digests, TwoChoiceTable, poly::Quadratic};
use psijoin_ot::matrix::ReceiverMatrix;
use psijoin_psi::{Context, Error, Input, Output, Party, Result};
use psijoin_runtime::parallel;

use super::{Bins, Params};
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
        let interpolation = Interpolation {
            params,
            functions: Functions::new(&params.spot.extension, input.joint_seed),
            items: input.items.digests(),
        };

        // Step 3.
        context.phases.begin("2-choice hashing");
        let bins = Bins::new(params, input.joint_seed);
        let table = place(params, interpolation.items, &bins)?;

        // Step 4, and the own values of step 6 while the rows are at hand.
        context.phases.begin("polynomials");
        let mut own = vec![0; input.items.len()];
        stream::send_with(
            outbound,
            params.bins(),
            &mut bins_of(&table, &mut own, &mut context.rng),
            &|| Scratch::new(params, interpolation.items.digest_bytes()),
            &|range, bins, scratch, message| {
                scratch.part.expand(&self.0, params.parts(range));
                let mut parts = bins.chunks_mut(params.bins_per_part()).enumerate();
                parts
                    .try_for_each(|(i, bins)| scratch.interpolate(i, bins, &interpolation, message))
            },
        )?;

        // Step 6.
        context.phases.begin("masks");
        let found = params.spot.masks.find(&own, inbound)?;
        let item = |place: u32| table.items()[place as usize].item;
        Ok(Output::rows(found.into_iter().map(item), input.items.len()))
    }
}

/// Step 3: each item in one of its bins.
fn place(params: &Params, items: Digests<'_>, bins: &Bins) -> Result<TwoChoiceTable, Error> {
    const ITEMS_PER_TASK: usize = 4096;
    let mut choices = vec![[0; 2]; items.len()];
    parallel::chunks_mut(&mut choices, ITEMS_PER_TASK, &|range, choices| {
        bins.hash(items.slice(range), choices);
    });
    let table = TwoChoiceTable::build(&choices, params.shape);
    table.map_err(|_| {
        let request = &params.spot.base.request;
        request.bad_luck("the items do not fit into the bins")
    })
}

/// A bin of the receiver.
struct Bin<'a> {
    items: &'a [Chosen],
    /// H(T(y‖b), y) of each.
    own: &'a mut [u128],
    /// For the dummies.
    prg: Prg,
}

/// Returns the bins, with their parts of the own values.
fn bins_of<'a>(table: &'a TwoChoiceTable, own: &'a mut [u128], rng: &mut Prg) -> Vec<Bin<'a>> {
    let parts = scatter::split(own, table.lens());
    let bins = parts.into_iter().enumerate().map(|(bin, own)| Bin {
        items: table.bin(bin),
        own,
        prg: rng.fork(),
    });
    bins.collect()
}

/// The state of step 4, for all bins.
struct Interpolation<'a> {
    params: &'a Params,
    functions: Functions,
    items: Digests<'a>,
}

/// The rows of one message, and the items of bins that share buckets.
struct Scratch {
    part: ReceiverPart,
    digests: DigestVec,
    /// Lengths of the runs of items with the same hash function.
    runs: Vec<usize>,
    /// H(T(y), y) of all these items.
    own: Vec<u128>,
    points: Vec<Element>,
    /// Values, then coefficients.
    slices: Vec<Element>,
    quadratic: Quadratic,
}

impl Scratch {
    fn new(params: &Params, digest_bytes: usize) -> Self {
        let extension = &params.spot.extension;
        Self {
            part: ReceiverPart::new(extension.rows()),
            digests: DigestVec::zeroed(0, digest_bytes),
            runs: Vec::new(),
            own: Vec::new(),
            points: Vec::new(),
            slices: Vec::new(),
            quadratic: Quadratic::new(extension.field()),
        }
    }

    /// Step 4: appends the polynomials of bins that share buckets, the part with this number in the
    /// message.
    fn interpolate(
        &mut self,
        number: usize,
        bins: &mut [Bin<'_>],
        interpolation: &Interpolation<'_>,
        message: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Interpolation {
            params,
            functions,
            items,
        } = interpolation;
        let chosen = bins.iter().flat_map(|bin| bin.items);
        self.digests
            .gather(*items, chosen.map(|chosen| chosen.item as usize));
        self.runs.clear();
        for bin in bins.iter() {
            let firsts = bin.items.partition_point(|chosen| !chosen.choice);
            self.runs.extend([firsts, bin.items.len() - firsts]);
        }
        // R(y‖b), and the own values
        let group = Group {
            digests: self.digests.as_digests(),
            runs: &self.runs,
        };
        self.own.resize(group.digests.len(), 0);
        let (mut points, mut rows) = (self.part).evaluate(number, group, functions, &mut self.own);

        let field = &functions.field;
        let capacity = params.shape.capacity as usize;
        let mut own = &self.own[..];
        self.points.clear();
        self.slices.clear();
        for bin in bins.iter_mut() {
            let count = bin.items.len();
            bin.own.copy_from_slice(split_off(&mut own, count));
            // Dummies: random points with random values.
            let dummies = capacity - count;
            let mut random = || field.from_words(bytemuck::cast(bin.prg.block().to_bytes()));
            self.points.extend(split_off(&mut points, count));
            self.points.extend((0..dummies).map(|_| random()));
            let rows = split_off(&mut rows, count * functions.row_words);
            for slice in 0..params.spot.extension.slices {
                let rows = rows.chunks_exact(functions.row_words);
                let values = rows.map(|row| spot::slice_of(field, row, slice));
                self.slices.extend(values);
                self.slices.extend((0..dummies).map(|_| random()));
            }
        }
        // P(y‖b) = R(y‖b)
        (self
            .quadratic
            .interpolate(capacity, &self.points, &mut self.slices))
        .map_err(|_| params.spot.unfit_points())?;
        for coefficients in self.slices.chunks_exact(params.bin_coefficients()) {
            spot::pack(field, coefficients.iter(), message);
        }
        Ok(())
    }
}

/// Takes the first elements off a slice.
fn split_off<'a, T>(rest: &mut &'a [T], count: usize) -> &'a [T] {
    let (first, after) = rest.split_at(count);
    *rest = after;
    first
}
