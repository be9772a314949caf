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
                scratch.part.expand(&self.0, range);
                let mut bins = bins.iter_mut().enumerate();
                bins.try_for_each(|(i, bin)| scratch.interpolate(i, bin, &interpolation, message))
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

/// The bins of one message, and the items of one bin.
struct Scratch {
    part: ReceiverPart,
    digests: DigestVec,
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
            slices: Vec::new(),
            quadratic: Quadratic::new(extension.field()),
        }
    }

    /// Step 4: appends the polynomials of a bin, the one with this number in the message.
    fn interpolate(
        &mut self,
        number: usize,
        bin: &mut Bin<'_>,
        interpolation: &Interpolation<'_>,
        message: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let Interpolation {
            params,
            functions,
            items,
        } = interpolation;
        let field = &functions.field;
        let chosen = bin.items.iter().map(|chosen| chosen.item as usize);
        self.digests.gather(*items, chosen);
        // R(y‖b), and the own values
        let group = Group {
            digests: self.digests.as_digests(),
            firsts: bin.items.partition_point(|chosen| !chosen.choice),
        };
        let (points, rows) = self.part.evaluate(number, group, functions, bin.own);

        // Dummies: random points with random values.
        let capacity = params.shape.capacity as usize;
        let mut random = || field.from_words(bytemuck::cast(bin.prg.block().to_bytes()));
        points.resize_with(capacity, &mut random);
        self.slices.clear();
        for slice in 0..params.spot.extension.slices {
            let rows = rows.chunks_exact(functions.row_words);
            let values = rows.map(|row| spot::slice_of(field, row, slice));
            self.slices.extend(values);
            self.slices.resize_with((slice + 1) * capacity, &mut random);
        }

        // P(y‖b) = R(y‖b)
        (self.quadratic.interpolate(points, &mut self.slices))
            .map_err(|_| params.spot.unfit_points())?;
        spot::pack(field, self.slices.iter(), message);
        Ok(())
    }
}
