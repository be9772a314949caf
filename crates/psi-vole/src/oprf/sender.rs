//! The party that gets the function.

use std::marker::PhantomData;

use psijoin_block::tower::Tower;
use psijoin_channel::{Inbound, stream};
use psijoin_encode::{
    Digests,
    okvs::{Decoder, Row},
};
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use psijoin_psi::{
    Context, Error,
    output_hash::{Outputs, Piece},
};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

use super::{Inputs, Layout};

/// The sender after step 1. With the receiver's store, this is the function.
pub(crate) struct Sender<B> {
    delta: Zeroizing<Tower>,
    b: Buffer<Tower>,
    base: PhantomData<B>,
}

impl<B: Base> Sender<B> {
    /// Step 1.
    pub(crate) fn offline<M: Model>(layout: &Layout, context: &mut Context) -> Result<Self, Error> {
        let granted = Self::begin::<M>(layout, context)?;
        Ok(Self::new(granted.finish(context.channel)?))
    }

    /// Returns the first half of step 1.
    pub(crate) fn begin<M: Model>(
        layout: &Layout,
        context: &mut Context,
    ) -> Result<vole::Granted<M>, Error> {
        context.phases.begin("base OT");
        let mut vole =
            vole::Sender::<M>::setup(layout.base_ots, context.channel, &mut context.rng)?;
        context.phases.begin("VOLE");
        Ok(vole.begin::<B>(layout.shape.len(), context.channel)?)
    }

    /// Returns what both halves of step 1 give.
    pub(crate) fn new((delta, b): vole::Sent) -> Self {
        Self {
            delta,
            b,
            base: PhantomData,
        }
    }

    /// Steps 3 and 4, bin by bin as the store arrives: all outputs of H_o, in the order of the
    /// bins. w is zero if the parties are semi-honest. They fill `outputs`.
    pub(crate) fn evaluate(
        mut self,
        inputs: &Inputs<'_>,
        w: Tower,
        inbound: &mut dyn Inbound,
        mut outputs: Outputs,
    ) -> Result<Outputs, Error> {
        let (layout, delta) = (inputs.layout, &*self.delta);
        let mut bins: Vec<_> = (self.b.chunks_exact_mut(layout.shape.bin_slots()))
            .zip(inputs.items.iter())
            .zip(outputs.split(inputs.items.lens()))
            .map(|((b, (items, _)), outputs)| Bin { b, items, outputs })
            .collect();
        stream::receive_into(
            inbound,
            layout.bins(),
            &|_| layout.bin_bytes::<B>(),
            &mut bins,
            &Scratch::<B>::default,
            &|_, store, bins, scratch| {
                for bin in bins {
                    scratch.fold(bin, store, delta);
                    scratch.evaluate(bin, inputs, delta, w);
                }
            },
        )?;
        Ok(outputs)
    }
}

struct Bin<'a> {
    b: &'a mut [Tower],
    items: Digests<'a>,
    outputs: Piece<'a>,
}

struct Scratch<B> {
    /// a + p.
    store: Vec<B>,
    rows: Vec<Row>,
    /// H_B of each item.
    values: Vec<B>,
    decoded: Vec<Tower>,
}

impl<B: Base> Scratch<B> {
    /// Step 3: b += Δ·(a + p).
    fn fold(&mut self, bin: &mut Bin<'_>, store: &[u8], delta: &Tower) {
        self.store.resize(bin.b.len(), B::default());
        B::unpack(store, &mut self.store);
        B::add_products(bin.b, *delta, &self.store);
    }

    /// Step 4: H_o(Decode(b, x) + Δ·H_B(x) + w, x) for all items of the bin.
    fn evaluate(&mut self, bin: &mut Bin<'_>, inputs: &Inputs<'_>, delta: &Tower, w: Tower) {
        let len = bin.items.len();
        self.rows.resize(len, Row::default());
        self.values.resize(len, B::default());
        self.decoded.resize(len, Tower::default());
        (inputs.rows).hash(bin.items, &mut self.rows, &mut self.values);
        Decoder::new(inputs.layout.shape, bin.b).decode(&self.rows, &mut self.decoded);
        B::add_products(&mut self.decoded, *delta, &self.values);
        inputs.hash(&mut self.decoded, w, bin.items, &mut bin.outputs);
    }
}

impl<B> Default for Scratch<B> {
    fn default() -> Self {
        Self {
            store: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            decoded: Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It compiles only if what is secret is wiped when it is dropped.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
        let _ = |sender: &Sender<Tower>| {
            wiped(&sender.delta);
            wiped(&sender.b);
        };
    }
}
