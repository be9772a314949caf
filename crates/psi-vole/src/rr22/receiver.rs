use std::marker::PhantomData;

use psijoin_block::{memory::Buffer, tower::Tower};
use psijoin_channel::Channel;
use psijoin_encode::okvs::Partition;
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::{self, Base},
};

use super::{Params, joint_coin::Promised};
use crate::{
    Context, Error, Input, Items, Output, Party,
    oprf::{Functions, Store},
    protocol,
    sorted_masks::Own,
};

/// The party that learns the result, after the offline phase.
pub struct Receiver<M, B: Base> {
    params: Params,
    a: Buffer<B>,
    c: Buffer<Tower>,
    model: PhantomData<M>,
}

impl<M: Model, B: Base> Receiver<M, B> {
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
        let mut vole = vole::Receiver::<M>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        let (a, c) = vole.extend(params.oprf.shape.len(), channel)?;
        Ok(Self {
            params: params.clone(),
            a,
            c,
            model: PhantomData,
        })
    }

    fn online<const D: usize>(
        self,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let Self { params, a, c, .. } = self;
        let functions = Functions::new::<M>(params.oprf.shape, input);
        let coin = match M::CHECKED {
            true => Some(Promised::exchange(channel, &mut context.rng)?),
            false => None,
        };

        context.phase("bins");
        let items = Partition::new(items, params.oprf.shape.bins);
        context.phase("store");
        let store = Store {
            layout: &params.oprf,
            functions: &functions,
            items: &items,
        };
        let rows = store.send(&a, channel.halves().0, &mut context.rng)?;
        drop(a);
        let joint = match coin {
            Some(coin) => coin.joint(channel)?,
            None => Tower::default(),
        };
        context.phase("outputs");
        let outputs = store.outputs(c, rows, joint);
        receive_masks(&params, &items, &outputs, channel, context)
    }
}

impl<B: Base> Receiver<SemiHonest, B> {
    /// All steps. The store is on its way while the vector OLE is still computed.
    ///
    /// # Errors
    /// If the channel breaks or the peer misbehaves.
    pub fn at_once(
        params: &Params,
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        match input.items {
            Items::Short(items) => Self::all_steps(params, items, input, channel, context),
            Items::Long(items) => Self::all_steps(params, items, input, channel, context),
        }
    }

    fn all_steps<const D: usize>(
        params: &Params,
        items: &[[u8; D]],
        input: &Input<'_>,
        channel: &mut Channel,
        context: &mut Context,
    ) -> Result<Output, Error> {
        let functions = Functions::new::<SemiHonest>(params.oprf.shape, input);
        context.phase("base OT");
        let mut vole = vole::Receiver::<SemiHonest>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        let planted = vole.begin::<B>(params.oprf.shape.len(), channel)?;
        context.phase("bins");
        let items = Partition::new(items, params.oprf.shape.bins);
        context.phase("store");
        let store = Store {
            layout: &params.oprf,
            functions: &functions,
            items: &items,
        };
        let (rows, corrections) = channel.exchange(
            |outbound| store.send(planted.a(), outbound, &mut context.rng),
            |inbound| Ok(planted.corrections(inbound)?),
        )?;
        context.phase("VOLE");
        let c = planted.finish(corrections);
        context.phase("outputs");
        let outputs = store.outputs(c, rows, Tower::default());
        receive_masks(params, &items, &outputs, channel, context)
    }
}

impl<M: Model, B: Base> Party for Receiver<M, B> {
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

/// Step 5.
fn receive_masks<const D: usize>(
    params: &Params,
    items: &Partition<D>,
    outputs: &[u128],
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Output, Error> {
    let own = Own::new(params.masks(), outputs);
    context.phase("masks");
    let (_, inbound) = channel.halves();
    let found = params.masks().receive(&own, inbound)?;
    let positions = items.positions();
    let found = found
        .iter()
        .flatten()
        .map(|place| positions[*place as usize]);
    Ok(protocol::rows(found, positions.len()))
}
