use std::marker::PhantomData;

use psijoin_block::{Prg, memory::Buffer, scatter, tower::Tower};
use psijoin_channel::{Channel, Outbound};
use psijoin_encode::okvs::{self, Encoder, Partition, Row};
use psijoin_ot::{
    iknp::{Model, SemiHonest},
    vole::{self, Base},
};
use rayon::prelude::*;

use super::{Functions, Params, joint_coin::Promised};
use crate::{Context, Error, Input, Items, Output, Party, protocol, sorted_masks::Own, stream};

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
        let (a, c) = vole.extend(params.shape.len(), channel)?;
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
        let functions = Functions::new::<M>(params.shape, input);
        let coin = match M::CHECKED {
            true => Some(Promised::exchange(channel, &mut context.rng)?),
            false => None,
        };

        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
        context.phase("store");
        let store = Store {
            params: &params,
            functions: &functions,
            items: &items,
        };
        let rows = store.send(&a, channel.halves().0, context)?;
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
        let functions = Functions::new::<SemiHonest>(params.shape, input);
        context.phase("base OT");
        let mut vole = vole::Receiver::<SemiHonest>::setup(channel, &mut context.rng)?;
        context.phase("VOLE");
        let planted = vole.begin::<B>(params.shape.len(), channel)?;
        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
        context.phase("store");
        let store = Store {
            params,
            functions: &functions,
            items: &items,
        };
        let (rows, corrections) = channel.exchange(
            |outbound| store.send(planted.a(), outbound, context),
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

/// The receiver's items, and how they are laid out.
struct Store<'a, const D: usize> {
    params: &'a Params,
    functions: &'a Functions,
    items: &'a Partition<D>,
}

impl<const D: usize> Store<'_, D> {
    /// Steps 2 and 3: the rows of all items, bin by bin.
    fn send<B: Base>(
        &self,
        a: &[B],
        outbound: &mut dyn Outbound,
        context: &mut Context,
    ) -> Result<Buffer<Row>, Error> {
        let mut rows = Buffer::zeroed(self.items.digests().len());
        let mut bins: Vec<Bin<'_, B, D>> = a
            .chunks_exact(self.params.shape.bin_slots())
            .zip(self.items.iter())
            .zip(scatter::split(&mut rows, self.items.lens()))
            .map(|((a, (digests, _)), rows)| Bin {
                a,
                digests,
                rows,
                prg: context.rng.fork(),
            })
            .collect();
        stream::send_with(
            outbound,
            self.params.bins(),
            &mut bins,
            || Scratch::new(self.params),
            |_, bins, scratch, message| {
                bins.iter_mut()
                    .try_for_each(|bin| scratch.encode(bin, self, message))
            },
        )?;
        Ok(rows)
    }

    /// H_o(Decode(c, y) + w, y) of all items.
    fn outputs(&self, c: Buffer<Tower>, rows: Buffer<Row>, joint: Tower) -> Buffer<u128> {
        let mut outputs = Buffer::zeroed(rows.len());
        let mut rest = &rows[..];
        let bins: Vec<_> = c
            .chunks_exact(self.params.shape.bin_slots())
            .zip(self.items.iter())
            .zip(scatter::split(&mut outputs, self.items.lens()))
            .map(|((c, (digests, _)), outputs)| {
                let (rows, after) = rest.split_at(digests.len());
                rest = after;
                (c, rows, digests, outputs)
            })
            .collect();
        bins.into_par_iter()
            .for_each_init(Vec::new, |decoded, (c, rows, digests, outputs)| {
                decoded.resize(rows.len(), Tower::default());
                okvs::decode_bin(self.params.shape, c, rows, decoded);
                decoded.iter_mut().for_each(|value| *value ^= joint);
                self.functions.outputs(decoded, digests, outputs);
            });
        outputs
    }
}

/// A bin of the receiver.
struct Bin<'a, B, const D: usize> {
    a: &'a [B],
    digests: &'a [[u8; D]],
    rows: &'a mut [Row],
    /// Fills what the items leave free.
    prg: Prg,
}

struct Scratch<B> {
    encoder: Encoder<B>,
    values: Vec<B>,
    store: Vec<B>,
}

impl<B: Base> Scratch<B> {
    fn new(params: &Params) -> Self {
        Self {
            encoder: Encoder::new(params.shape),
            values: Vec::new(),
            store: vec![B::default(); params.shape.bin_slots()],
        }
    }

    /// Appends a + p to the message.
    fn encode<const D: usize>(
        &mut self,
        bin: &mut Bin<'_, B, D>,
        with: &Store<'_, D>,
        message: &mut Vec<u8>,
    ) -> Result<(), Error> {
        self.values.resize(bin.digests.len(), B::default());
        let rows = &with.functions.rows;
        rows.hash(bin.digests, bin.rows, &mut self.values);
        self.encoder
            .encode_bin(bin.rows, &self.values, &mut self.store, &mut bin.prg)
            .map_err(|_| {
                let what = "the items do not fit into the key-value store";
                with.params.bad_luck(what)
            })?;
        for (store, a) in self.store.iter_mut().zip(bin.a) {
            *store ^= *a;
        }
        message.extend_from_slice(bytemuck::cast_slice(&self.store));
        Ok(())
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
