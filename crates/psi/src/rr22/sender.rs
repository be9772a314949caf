use std::marker::PhantomData;

use psijoin_block::{memory::Buffer, scatter, tower::Tower};
use psijoin_channel::{Channel, Inbound};
use psijoin_encode::okvs::{self, Partition, Row};
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::{self, Base},
};

use super::{Functions, Params, joint_coin::Committed};
use crate::{Context, Error, Input, Items, Output, Party, ahead, sorted_masks::sort, stream};

/// The party that learns nothing, after the offline phase.
pub struct Sender<M, B> {
    params: Params,
    delta: Tower,
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
            b: vole.extend::<B>(params.shape.len(), channel)?,
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
            params: &params,
            functions: Functions::new::<M>(params.shape, input),
            delta,
            joint: coin.as_ref().map(Committed::joint).unwrap_or_default(),
        };

        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
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
            params,
            functions: Functions::new::<SemiHonest>(params.shape, input),
            delta: vole.delta(),
            joint: Tower::default(),
        };
        context.phase("VOLE");
        let granted = vole.begin::<B>(params.shape.len(), channel)?;

        let (reader, mut store) = ahead::queue();
        let (outputs, ()) = channel.exchange(
            |outbound| {
                let b = granted.finish(outbound)?;
                context.phase("bins");
                let items = Partition::new(items, params.shape.bins);
                context.phase("evaluation");
                Ok::<_, Error>(evaluation.run::<B, D>(b, &items, &mut store))
            },
            |inbound| Ok(reader.read(inbound, params.store_messages::<B>())?),
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

/// What it takes to evaluate the sender's items.
struct Evaluation<'a> {
    params: &'a Params,
    functions: Functions,
    delta: Tower,
    /// w, or zero.
    joint: Tower,
}

impl Evaluation<'_> {
    /// Steps 3 and 4, bin by bin as the store arrives: all outputs of H_o.
    fn run<B: Base, const D: usize>(
        &self,
        mut b: Buffer<Tower>,
        items: &Partition<D>,
        inbound: &mut dyn Inbound,
    ) -> Result<Buffer<u128>, Error> {
        let shape = self.params.shape;
        let mut outputs = Buffer::zeroed(items.digests().len());
        let mut bins: Vec<Bin<'_, D>> = b
            .chunks_exact_mut(shape.bin_slots())
            .zip(items.iter())
            .zip(scatter::split(&mut outputs, items.lens()))
            .map(|((b, (digests, _)), outputs)| Bin {
                b,
                digests,
                outputs,
            })
            .collect();
        stream::receive_into(
            inbound,
            self.params.bins(),
            |_| self.params.bin_bytes::<B>(),
            &mut bins,
            Scratch::<B>::default,
            |_, message, bins, scratch| {
                for bin in bins {
                    scratch.fold(bin, message, self.delta);
                    scratch.evaluate(bin, self);
                }
            },
        )?;
        Ok(outputs)
    }
}

/// A bin of the sender.
struct Bin<'a, const D: usize> {
    b: &'a mut [Tower],
    digests: &'a [[u8; D]],
    outputs: &'a mut [u128],
}

struct Scratch<B> {
    masked: Vec<B>,
    rows: Vec<Row>,
    values: Vec<B>,
    decoded: Vec<Tower>,
}

impl<B: Base> Scratch<B> {
    /// Step 3: b += Δ·(a + p).
    fn fold<const D: usize>(&mut self, bin: &mut Bin<'_, D>, message: &[u8], delta: Tower) {
        self.masked.resize(bin.b.len(), B::default());
        bytemuck::cast_slice_mut(&mut self.masked).copy_from_slice(message);
        B::add_products(bin.b, delta, &self.masked);
    }

    /// Step 4: H_o(Decode(b, x) + Δ·H_B(x) + w, x) for all items of the bin.
    fn evaluate<const D: usize>(&mut self, bin: &mut Bin<'_, D>, with: &Evaluation<'_>) {
        let len = bin.digests.len();
        self.rows.resize(len, Row::default());
        self.values.resize(len, B::default());
        self.decoded.resize(len, Tower::default());
        let rows = &with.functions.rows;
        rows.hash(bin.digests, &mut self.rows, &mut self.values);
        okvs::decode_bin(with.params.shape, bin.b, &self.rows, &mut self.decoded);
        B::add_products(&mut self.decoded, with.delta, &self.values);
        let joint = with.joint;
        self.decoded.iter_mut().for_each(|value| *value ^= joint);
        let functions = &with.functions;
        functions.outputs(&self.decoded, bin.digests, bin.outputs);
    }
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Self {
            masked: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            decoded: Vec::new(),
        }
    }
}
