use psijoin_block::{memory::Buffer, scatter, tower::Tower};
use psijoin_channel::Inbound;
use psijoin_encode::okvs::{self, Partition, Row};
use psijoin_ot::vole::Base;
use zeroize::Zeroizing;

use super::{Functions, Layout};
use crate::{Error, stream};

/// What it takes to evaluate the sender's items.
pub(crate) struct Evaluation<'a> {
    pub(crate) layout: &'a Layout,
    pub(crate) functions: Functions,
    pub(crate) delta: Zeroizing<Tower>,
    /// w, or zero.
    pub(crate) joint: Tower,
}

impl Evaluation<'_> {
    /// Steps 3 and 4, bin by bin as the store arrives: all outputs of H_o.
    pub(crate) fn run<B: Base, const D: usize>(
        &self,
        mut b: Buffer<Tower>,
        items: &Partition<D>,
        inbound: &mut dyn Inbound,
    ) -> Result<Buffer<u128>, Error> {
        let shape = self.layout.shape;
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
            self.layout.bins(),
            &|_| self.layout.bin_bytes::<B>(),
            &mut bins,
            &Scratch::<B>::default,
            &|_, message, bins, scratch| {
                for bin in bins {
                    scratch.fold(bin, message, &self.delta);
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
    fn fold<const D: usize>(&mut self, bin: &mut Bin<'_, D>, message: &[u8], delta: &Tower) {
        self.masked.resize(bin.b.len(), B::default());
        bytemuck::cast_slice_mut(&mut self.masked).copy_from_slice(message);
        B::add_products(bin.b, *delta, &self.masked);
    }

    /// Step 4: H_o(Decode(b, x) + Δ·H_B(x) + w, x) for all items of the bin.
    fn evaluate<const D: usize>(&mut self, bin: &mut Bin<'_, D>, with: &Evaluation<'_>) {
        let len = bin.digests.len();
        self.rows.resize(len, Row::default());
        self.values.resize(len, B::default());
        self.decoded.resize(len, Tower::default());
        let rows = &with.functions.rows;
        rows.hash(bin.digests, &mut self.rows, &mut self.values);
        okvs::decode_bin(with.layout.shape, bin.b, &self.rows, &mut self.decoded);
        B::add_products(&mut self.decoded, *with.delta, &self.values);
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
