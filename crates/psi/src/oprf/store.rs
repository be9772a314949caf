use psijoin_block::{Prg, memory::Buffer, parallel, scatter, tower::Tower};
use psijoin_channel::Outbound;
use psijoin_encode::okvs::{self, Encoder, Partition, Row};
use psijoin_ot::vole::Base;

use super::{Functions, Layout};
use crate::{Error, stream};

/// The receiver's items, and how they are laid out.
pub(crate) struct Store<'a, const D: usize> {
    pub(crate) layout: &'a Layout,
    pub(crate) functions: &'a Functions,
    pub(crate) items: &'a Partition<D>,
}

impl<const D: usize> Store<'_, D> {
    /// Steps 2 and 3: the rows of all items, bin by bin.
    pub(crate) fn send<B: Base>(
        &self,
        a: &[B],
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<Buffer<Row>, Error> {
        let mut rows = Buffer::zeroed(self.items.digests().len());
        let mut bins: Vec<Bin<'_, B, D>> = a
            .chunks_exact(self.layout.shape.bin_slots())
            .zip(self.items.iter())
            .zip(scatter::split(&mut rows, self.items.lens()))
            .map(|((a, (digests, _)), rows)| Bin {
                a,
                digests,
                rows,
                prg: rng.fork(),
            })
            .collect();
        stream::send_with(
            outbound,
            self.layout.bins(),
            &mut bins,
            &|| Scratch::new(self.layout),
            &|_, bins, scratch, message| {
                bins.iter_mut()
                    .try_for_each(|bin| scratch.encode(bin, self, message))
            },
        )?;
        Ok(rows)
    }

    /// H_o(Decode(c, y) + w, y) of all items.
    pub(crate) fn outputs(
        &self,
        c: Buffer<Tower>,
        rows: Buffer<Row>,
        joint: Tower,
    ) -> Buffer<u128> {
        let mut outputs = Buffer::zeroed(rows.len());
        let mut rest = &rows[..];
        let mut bins: Vec<_> = c
            .chunks_exact(self.layout.shape.bin_slots())
            .zip(self.items.iter())
            .zip(scatter::split(&mut outputs, self.items.lens()))
            .map(|((c, (digests, _)), outputs)| {
                let (rows, after) = rest.split_at(digests.len());
                rest = after;
                (c, rows, digests, outputs)
            })
            .collect();
        parallel::each_mut_with(&mut bins, &Vec::new, &|_, bin, decoded| {
            let (c, rows, digests, outputs) = bin;
            decoded.resize(rows.len(), Tower::default());
            okvs::decode_bin(self.layout.shape, c, rows, decoded);
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
    fn new(layout: &Layout) -> Self {
        Self {
            encoder: Encoder::new(layout.shape),
            values: Vec::new(),
            store: vec![B::default(); layout.shape.bin_slots()],
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
            .map_err(|_| with.layout.bad_luck())?;
        for (store, a) in self.store.iter_mut().zip(bin.a) {
            *store ^= *a;
        }
        message.extend_from_slice(bytemuck::cast_slice(&self.store));
        Ok(())
    }
}
