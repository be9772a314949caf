use psijoin_block::{
    memory::Buffer,
    parallel,
    tower::{Gf64, Tower},
};
use psijoin_channel::Channel;
use psijoin_circuit::equality;
use psijoin_encode::{CHOICES, okvs::Partition};
use psijoin_ot::{
    iknp::SemiHonest,
    vole::{self, Base},
};
use zeroize::Zeroizing;

use super::{
    Params,
    hints::Hints,
    masks::{Of, masks},
};
use crate::{
    Context, Error, Input, Items, Output, Party, functions,
    oprf::{Evaluation, Functions},
};

/// The party that learns nothing, after the offline phase.
pub struct Sender<B> {
    params: Params,
    delta: Zeroizing<Tower>,
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
        Ok(Self {
            output: functions::Sender::offline(params.function(), channel, &mut context.rng)?,
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
        let (items, order) = sorted(items);
        let keys = params.keys(input);
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
        // The item and the bin of a key.
        let belongs = |place: u32| {
            let key = keys.positions()[place as usize] as usize;
            let (item, choice) = (key / CHOICES, key % CHOICES);
            (order[item] as usize, bins[item][choice] as usize)
        };
        let target_masks = masks::<B>(Of::Target, &outputs);
        let program = |places: &[u32], hints: &mut [B]| {
            for (hint, place) in hints.iter_mut().zip(places) {
                *hint = targets[belongs(*place).1] ^ target_masks[*place as usize];
            }
        };
        hints.send(&program, outbound, &mut context.rng)?;
        drop(target_masks);
        let mut numbers = Vec::new();
        for (column, of_items) in input.columns.iter().enumerate() {
            let mut of_bins = vec![0_u64; params.lanes()];
            context
                .rng
                .fill_bytes(bytemuck::cast_slice_mut(&mut of_bins));
            let column_masks = masks::<Gf64>(Of::Column(column), &outputs);
            let program = |places: &[u32], hints: &mut [Gf64]| {
                for (hint, place) in hints.iter_mut().zip(places) {
                    let (item, bin) = belongs(*place);
                    let rest = (of_items[item] as u64).wrapping_sub(of_bins[bin]);
                    *hint = Gf64(rest) ^ column_masks[*place as usize];
                }
            };
            hints.send(&program, outbound, &mut context.rng)?;
            numbers.push(of_bins);
        }
        drop((keys, outputs, bins, items, order));

        // Step 5.
        context.phase("equality tests");
        let shares = tests.equal(&targets, params.number_bits(), channel)?;

        // Step 6.
        context.phase("output");
        output.release(shares, numbers, channel)
    }
}

/// The items in ascending order, so that nothing depends on the order that they had, and where each
/// was.
fn sorted<const D: usize>(items: &[[u8; D]]) -> (Vec<[u8; D]>, Vec<u32>) {
    let mut placed: Vec<_> = items.iter().copied().zip(0_u32..).collect();
    parallel::sort_unstable(&mut placed);
    placed.into_iter().unzip()
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
