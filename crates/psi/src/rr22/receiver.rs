use std::marker::PhantomData;

use psijoin_block::{Prg, memory::Buffer, scatter, tower::Tower};
use psijoin_channel::Channel;
use psijoin_encode::okvs::{self, Encoder, Partition, Row};
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use rayon::prelude::*;

use super::{Functions, Params, joint_coin::Promised};
use crate::{
    Context, Error, Input, Items, Output, Party, protocol,
    sorted_masks::{Placed, sort},
    stream,
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
        let functions = Functions::new(params.shape, input);
        let coin = match M::CHECKED {
            true => Some(Promised::exchange(channel, &mut context.rng)?),
            false => None,
        };

        context.phase("bins");
        let items = Partition::new(items, params.shape.bins);
        let mut decoded = vec![Tower::default(); params.request.sizes.receiver() as usize];
        let bin_slots = params.shape.bin_slots();
        let mut bins: Vec<Bin<'_, B, D>> = a
            .chunks_exact(bin_slots)
            .zip(c.chunks_exact(bin_slots))
            .zip(items.iter())
            .zip(scatter::split(&mut decoded, items.lens()))
            .map(|(((a, c), (digests, _)), decoded)| Bin {
                a,
                c,
                digests,
                decoded,
                prg: context.rng.fork(),
            })
            .collect();

        // Steps 2 and 3, and the receiver's side of step 5 while the rows are at hand.
        context.phase("store");
        let (outbound, _) = channel.halves();
        stream::send_with(
            outbound,
            params.bins(),
            &mut bins,
            || Scratch::new(&params),
            |_, bins, scratch, message| {
                bins.iter_mut()
                    .try_for_each(|bin| scratch.encode(bin, &params, &functions, message))
            },
        )?;
        drop(bins);
        drop((a, c));
        if let Some(coin) = coin {
            let joint = coin.joint(channel)?;
            decoded.par_iter_mut().for_each(|value| *value ^= joint);
        }

        // Step 5.
        context.phase("outputs");
        let own = sort(outputs(&functions, &items, &decoded));
        drop((items, decoded));
        context.phase("masks");
        let mut found = Vec::new();
        let (_, inbound) = channel.halves();
        params
            .masks()
            .receive(&own, inbound, |own: &Placed| found.push(own.position))?;
        Ok(protocol::rows(vec![found]))
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

/// H_o of all own items, with their positions.
fn outputs<const D: usize>(
    functions: &Functions,
    items: &Partition<D>,
    decoded: &[Tower],
) -> Vec<Placed> {
    const CHUNK: usize = 1024;
    let mut placed = vec![Placed::default(); decoded.len()];
    placed
        .par_chunks_mut(CHUNK)
        .zip(decoded.par_chunks(CHUNK))
        .zip(items.digests().par_chunks(CHUNK))
        .zip(items.positions().par_chunks(CHUNK))
        .for_each(|(((placed, decoded), digests), positions)| {
            let mut outputs = [0; CHUNK];
            let outputs = &mut outputs[..decoded.len()];
            functions.outputs(decoded, digests, outputs);
            for ((placed, output), position) in placed.iter_mut().zip(outputs).zip(positions) {
                *placed = Placed::new(*output, *position);
            }
        });
    placed
}

/// A bin of the receiver.
struct Bin<'a, B, const D: usize> {
    a: &'a [B],
    c: &'a [Tower],
    digests: &'a [[u8; D]],
    decoded: &'a mut [Tower],
    /// Fills what the items leave free.
    prg: Prg,
}

struct Scratch<B> {
    encoder: Encoder<B>,
    rows: Vec<Row>,
    values: Vec<B>,
    store: Vec<B>,
}

impl<B: Base> Scratch<B> {
    fn new(params: &Params) -> Self {
        Self {
            encoder: Encoder::new(params.shape),
            rows: Vec::new(),
            values: Vec::new(),
            store: vec![B::default(); params.shape.bin_slots()],
        }
    }

    /// Appends a + p to the message, and decodes c.
    fn encode<const D: usize>(
        &mut self,
        bin: &mut Bin<'_, B, D>,
        params: &Params,
        functions: &Functions,
        message: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let len = bin.digests.len();
        self.rows.resize(len, Row::default());
        self.values.resize(len, B::default());
        functions
            .rows
            .hash(bin.digests, &mut self.rows, &mut self.values);
        self.encoder
            .encode_bin(&self.rows, &self.values, &mut self.store, &mut bin.prg)
            .map_err(|_| params.bad_luck("the items do not fit into the key-value store"))?;
        for (store, a) in self.store.iter_mut().zip(bin.a) {
            *store ^= *a;
        }
        message.extend_from_slice(bytemuck::cast_slice(&self.store));
        okvs::decode_bin(params.shape, bin.c, &self.rows, bin.decoded);
        Ok(())
    }
}
