use psijoin_block::{
    memory::Buffer,
    tower::{Gf64, Tower},
};
use psijoin_channel::Channel;
use psijoin_circuit::equality;
use psijoin_encode::okvs::Partition;
use psijoin_ot::{
    iknp::SemiHonest,
    vole::{self, Base},
};

use super::{
    Params,
    hints::Hints,
    masks::{Of, masks},
};
use crate::{
    Context, Error, Input, Items, Output, Party,
    bins::Table,
    functions::{self, Compared},
    oprf::{Functions, Store},
};

/// The party that learns the result, after the offline phase.
pub struct Receiver<B: Base> {
    params: Params,
    a: Buffer<B>,
    c: Buffer<Tower>,
    tests: equality::Receiver,
    output: functions::Receiver,
}

impl<B: Base> Receiver<B> {
    /// Step 1.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn offline(
        params: &Params,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Self, Error> {
        context.phase("base OT");
        let mut vole = vole::Receiver::<SemiHonest>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        let (a, c) = vole.extend(params.oprf.shape.len(), channel)?;
        context.phase("lookups");
        let mut tests = equality::Receiver::set_up(channel, &mut context.rng)?;
        tests.prepare(params.lookups(), channel)?;
        context.phase("output OTs");
        Ok(Self {
            output: functions::Receiver::offline(params.function(), channel, &mut context.rng)?,
            params: params.clone(),
            a,
            c,
            tests,
        })
    }

    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self {
            params,
            a,
            c,
            mut tests,
            output,
        } = self;

        // Step 2.
        context.phase("hashing");
        let keys = params.keys(input);
        let table = Table::build(&keys.bins(items), params.bins, params.sigma())?;
        let keys = Partition::new(&keys.of_placed(items, &table), params.oprf.shape.bins);

        // Step 3.
        context.phase("store");
        let (outbound, inbound) = channel.halves();
        let store = Store {
            layout: &params.oprf,
            functions: &Functions::new::<SemiHonest>(params.oprf.shape, input),
            items: &keys,
        };
        let rows = store.send(&a, outbound, &mut context.rng)?;
        drop(a);
        let outputs = store.outputs(c, rows, Tower::default());

        // Step 4.
        context.phase("hints");
        let of_hints = Partition::new(keys.digests(), params.hints.shape.bins);
        let hints = Hints {
            layout: &params.hints,
            rows: &params.hint_rows(input),
            keys: &of_hints,
        };
        // What was hinted for a key, and the place and the bin of that key.
        let by_bin = || {
            let places = of_hints.positions().iter().map(|place| *place as usize);
            let bin = |place: usize| table.placed[keys.positions()[place] as usize].bin as usize;
            places.map(move |place| (place, bin(place))).enumerate()
        };
        let mut targets: Buffer<B> = Buffer::zeroed(params.lanes());
        context
            .rng
            .fill_bytes(bytemuck::cast_slice_mut(&mut targets));
        let hinted: Buffer<B> = hints.receive(inbound)?;
        let target_masks = masks::<B>(Of::Target, &outputs);
        for (i, (place, bin)) in by_bin() {
            targets[bin] = hinted[i] ^ target_masks[place];
        }
        drop((hinted, target_masks));
        let mut numbers = Vec::new();
        for column in 0..params.request.output.columns().sender {
            let hinted: Buffer<Gf64> = hints.receive(inbound)?;
            let column_masks = masks::<Gf64>(Of::Column(column), &outputs);
            let mut of_bins = vec![0_u64; params.lanes()];
            for (i, (place, bin)) in by_bin() {
                of_bins[bin] = (hinted[i] ^ column_masks[place]).0;
            }
            numbers.push(of_bins);
        }
        drop((of_hints, keys, outputs));

        // Step 5.
        context.phase("equality tests");
        let shares = tests.equal(&targets, params.number_bits(), channel)?;

        // Step 6.
        context.phase("output");
        let compared = Compared {
            shares,
            placed: &mut table.placed.iter().map(|placed| (placed.bin, placed.item)),
            items: items.len(),
            numbers,
            columns: input.columns,
        };
        output.learn(compared, channel)
    }
}

impl<B: Base> Party for Receiver<B> {
    fn run(
        self: Box<Self>,
        input: Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match input.items {
            Items::Short(items) => self.online(items, &input, channel, context),
            Items::Long(items) => self.online(items, &input, channel, context),
        }
    }
}
