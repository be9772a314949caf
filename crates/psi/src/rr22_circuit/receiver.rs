use psijoin_block::{memory::Buffer, tower::Tower};
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
    keys::{Keys, Table},
    params::low,
};
use crate::{
    Context, Error, Input, Items, Output, Party, functions,
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
        let output = &params.request.output;
        Ok(Self {
            output: functions::Receiver::offline(
                output,
                params.lanes(),
                channel,
                &mut context.rng,
            )?,
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
        let keys = Keys::new(&params, input);
        let table = Table::build(&keys.bins(items), &params)?;
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
        let hinted: Buffer<B> = hints.receive(inbound)?;
        let mut numbers: Buffer<B> = Buffer::zeroed(params.lanes());
        context
            .rng
            .fill_bytes(bytemuck::cast_slice_mut(&mut numbers));
        for (hint, place) in hinted.iter().zip(of_hints.positions()) {
            let place = *place as usize;
            let placed = &table.placed[keys.positions()[place] as usize];
            numbers[placed.bin as usize] = *hint ^ low::<B>(outputs[place]);
        }
        drop((hinted, of_hints, keys, outputs));

        // Step 5.
        context.phase("equality tests");
        let shares = tests.equal(&numbers, params.number_bits(), channel)?;

        // Step 6.
        context.phase("output");
        let placed = table.placed.iter().map(|placed| (placed.bin, placed.item));
        output.learn(&shares, placed, items.len(), channel)
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
