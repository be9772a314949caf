use std::marker::PhantomData;

use psijoin_block::{memory::Buffer, tower::Tower};
use psijoin_channel::Channel;
use psijoin_encode::okvs::Partition;
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::{self, Base},
};
use zeroize::Zeroizing;

use super::{Params, joint_coin::Committed};
use crate::{
    Context, Error, Input, Items, Output, Party, ahead,
    oprf::{Evaluation, Functions},
    sorted_masks::sort,
};

/// The party that learns nothing, after the offline phase.
pub struct Sender<M, B> {
    params: Params,
    delta: Zeroizing<Tower>,
    b: Buffer<Tower>,
    kind: PhantomData<(M, B)>,
}

impl<M: Model, B: Base> Sender<M, B> {
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
        let mut vole = vole::Sender::<M>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        Ok(Self {
            params: params.clone(),
            delta: vole.delta(),
            b: vole.extend::<B>(params.oprf.shape.len(), channel)?,
            kind: PhantomData,
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
            params, delta, b, ..
        } = self;
        let coin = match M::CHECKED {
            true => Some(Committed::exchange(channel, &mut context.rng)?),
            false => None,
        };
        let evaluation = Evaluation {
            layout: &params.oprf,
            functions: Functions::new::<M>(params.oprf.shape, input),
            delta,
            joint: coin.as_ref().map(Committed::joint).unwrap_or_default(),
        };

        context.phase("bins");
        let items = Partition::new(items, params.oprf.shape.bins);
        context.phase("evaluation");
        let outputs = evaluation.run::<B, D>(b, &items, channel.halves().1)?;
        if let Some(coin) = coin {
            coin.open(channel)?;
        }
        send_masks(&params, outputs, channel, context)
    }
}

impl<B: Base> Sender<SemiHonest, B> {
    /// All steps. The store arrives while the vector OLE is still computed.
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
        context.phase("base OT");
        let mut vole = vole::Sender::<SemiHonest>::setup(channel, &mut context.rng)?;
        let evaluation = Evaluation {
            layout: &params.oprf,
            functions: Functions::new::<SemiHonest>(params.oprf.shape, input),
            delta: vole.delta(),
            joint: Tower::default(),
        };
        context.phase("VOLE");
        let granted = vole.begin::<B>(params.oprf.shape.len(), channel)?;

        let (reader, mut store) = ahead::queue();
        let (outputs, ()) = channel.exchange(
            |outbound| {
                let b = granted.finish(outbound)?;
                context.phase("bins");
                let items = Partition::new(items, params.oprf.shape.bins);
                context.phase("evaluation");
                Ok::<_, Error>(evaluation.run::<B, D>(b, &items, &mut store))
            },
            |inbound| Ok(reader.read(inbound, params.oprf.messages::<B>())?),
        )?;
        send_masks(params, outputs?, channel, context)
    }
}

impl<M: Model, B: Base> Party for Sender<M, B> {
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

/// The masks of step 4.
fn send_masks(
    params: &Params,
    outputs: Buffer<u128>,
    channel: &mut Channel,
    context: &mut Context,
) -> Result<Output, Error> {
    context.phase("masks");
    let sorted = sort(&outputs);
    drop(outputs);
    params.masks().send(&sorted, channel.halves().0)?;
    Ok(Output::Nothing)
}
