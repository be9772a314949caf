//! The party that gets the function.

use std::marker::PhantomData;

use psijoin_block::tower::Tower;
use psijoin_channel::Inbound;
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use psijoin_psi::{Context, Error, output_hash::Outputs};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

use super::{GROUP, Group, Inputs, Layout, Start, store::Arrived};

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

    /// Steps 3 and 4, start by start as the store arrives, for semi-honest parties: all outputs of
    /// H_o, in this order. They fill `outputs`.
    pub(crate) fn evaluate(
        mut self,
        inputs: &Inputs<'_>,
        inbound: &mut dyn Inbound,
        mut outputs: Outputs,
    ) -> Result<Outputs, Error> {
        let (delta, w) = (&*self.delta, Tower::default());
        let mut starts = inputs.starts(&mut outputs);
        inputs.layout.receive::<B, _, _>(
            inbound,
            &mut self.b,
            &|packed, b| add_store::<B>(*delta, packed, b),
            &mut starts,
            &|store, start| evaluate_start::<B>(inputs, *delta, w, &store, start),
        )?;
        drop(starts);
        Ok(outputs)
    }

    /// Step 3 alone.
    pub(crate) fn receive(
        &mut self,
        layout: &Layout,
        inbound: &mut dyn Inbound,
    ) -> Result<(), Error> {
        let delta = &*self.delta;
        layout.receive::<B, _, _>(
            inbound,
            &mut self.b,
            &|packed, b| add_store::<B>(*delta, packed, b),
            &mut vec![(); layout.shape.starts as usize],
            &|_, ()| (),
        )
    }

    /// Step 4, when the store is there: all outputs of H_o, in the order of starts. They fill
    /// `outputs`.
    pub(crate) fn outputs(self, inputs: &Inputs<'_>, w: Tower, mut outputs: Outputs) -> Outputs {
        let delta = &*self.delta;
        let mut starts = inputs.starts(&mut outputs);
        (inputs.layout).each_start(&self.b, &mut starts, &|store, start| {
            evaluate_start::<B>(inputs, *delta, w, &store, start);
        });
        drop(starts);
        outputs
    }
}

/// Step 3: b += Δ·(a + p).
fn add_store<B: Base>(delta: Tower, packed: &[u8], b: &mut [Tower]) {
    let mut store = vec![B::default(); b.len()];
    B::unpack(packed, &mut store);
    B::add_products(b, delta, &store);
}

/// Step 4 for the items of a start: H_o(Decode(b, x) + Δ·H_B(x) + w, x).
fn evaluate_start<B: Base>(
    inputs: &Inputs<'_>,
    delta: Tower,
    w: Tower,
    store: &Arrived<'_, Tower>,
    (items, outputs): &mut Start<'_>,
) {
    let mut group = Group::<B>::default();
    for (items, mut outputs) in items.chunks(GROUP).zip(outputs.chunks(GROUP)) {
        let (rows, values, decoded) = group.hash(&inputs.rows, items);
        store.decode(rows, decoded);
        B::add_products(decoded, delta, values);
        inputs.hash(decoded, w, items, &mut outputs);
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
