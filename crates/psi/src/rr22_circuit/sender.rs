use psijoin_block::{memory::Buffer, tower::Tower};
use psijoin_channel::Channel;
use psijoin_circuit::equality;
use psijoin_encode::{CHOICES, okvs::Partition};
use psijoin_ot::{
    iknp::SemiHonest,
    vole::{self, Base},
};
use rayon::prelude::*;

use super::{Params, hints::Hints, keys::Keys, params::low};
use crate::{
    Context, Error, Input, Items, Output, Party, functions,
    oprf::{Evaluation, Functions},
};

/// The party that learns nothing, after the offline phase.
pub struct Sender<B> {
    params: Params,
    delta: Tower,
    b: Buffer<Tower>,
    tests: equality::Sender,
    output: functions::Sender,
    base: std::marker::PhantomData<B>,
}

impl<B: Base> Sender<B> {
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
        let mut vole = vole::Sender::<SemiHonest>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        let b = vole.extend::<B>(params.oprf.shape.len(), channel)?;
        context.phase("lookups");
        let mut tests = equality::Sender::set_up(channel, &mut context.rng)?;
        tests.prepare(params.lookups(), channel)?;
        context.phase("output OTs");
        let output = &params.request.output;
        Ok(Self {
            output: functions::Sender::offline(output, params.lanes(), channel, &mut context.rng)?,
            params: params.clone(),
            delta: vole.delta(),
            b,
            tests,
            base: std::marker::PhantomData,
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
            delta,
            b,
            mut tests,
            output,
            ..
        } = self;

        // Step 2.
        context.phase("hashing");
        // Nothing is to depend on their order.
        let mut items = items.to_vec();
        items.par_sort_unstable();
        let keys = Keys::new(&params, input);
        let bins = keys.bins(&items);
        let keys = Partition::new(&keys.of_all(&items), params.oprf.shape.bins);

        // Step 3.
        context.phase("evaluation");
        let (outbound, inbound) = channel.halves();
        let evaluation = Evaluation {
            layout: &params.oprf,
            functions: Functions::new::<SemiHonest>(params.oprf.shape, input),
            delta,
            joint: Tower::default(),
        };
        let outputs = evaluation.run::<B, D>(b, &keys, inbound)?;

        // Step 4.
        context.phase("hints");
        let mut targets: Buffer<B> = Buffer::zeroed(params.lanes());
        context
            .rng
            .fill_bytes(bytemuck::cast_slice_mut(&mut targets));
        let hints = Hints {
            layout: &params.hints,
            rows: &params.hint_rows(input),
            keys: &Partition::new(keys.digests(), params.hints.shape.bins),
        };
        let hint = |place: u32| {
            let key = keys.positions()[place as usize] as usize;
            let bin = bins[key / CHOICES][key % CHOICES];
            targets[bin as usize] ^ low::<B>(outputs[place as usize])
        };
        hints.send(hint, outbound, &mut context.rng)?;
        drop((keys, outputs, bins, items));

        // Step 5.
        context.phase("equality tests");
        let shares = tests.equal(&targets, params.number_bits(), channel)?;

        // Step 6.
        context.phase("output");
        output.release(&shares, channel)?;
        Ok(Output::Nothing)
    }
}

impl<B: Base> Party for Sender<B> {
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
