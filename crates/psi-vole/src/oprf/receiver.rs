//! The party that gets the values at its items.

use psijoin_block::{
    Prg,
    tower::{Gf64, Tower},
};
use psijoin_channel::Outbound;
use psijoin_encode::okvs::Items;
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use psijoin_psi::{Context, Error, output_hash::Outputs};
use psijoin_runtime::memory::Buffer;

use super::{GROUP, Group, Inputs, Layout};

/// The receiver after step 1.
pub(crate) struct Receiver<B: Base> {
    pub(crate) a: Buffer<B>,
    pub(crate) c: Buffer<Tower>,
}

impl<B: Base> Receiver<B> {
    /// Step 1.
    pub(crate) fn offline<M: Model>(layout: &Layout, context: &mut Context) -> Result<Self, Error> {
        let planted = Self::begin::<M>(layout, context)?;
        let (a, c) = planted.finish(context.channel)?;
        Ok(Self { a, c })
    }

    /// Returns the first half of step 1.
    pub(crate) fn begin<M: Model>(
        layout: &Layout,
        context: &mut Context,
    ) -> Result<vole::Planted<M, B>, Error> {
        context.phases.begin("base OT");
        let mut vole =
            vole::Receiver::<M>::setup(layout.base_ots, context.channel, &mut context.rng)?;
        context.phases.begin("VOLE");
        Ok(vole.begin::<B>(layout.shape.len(), context.channel)?)
    }
}

impl<B: Base> Receiver<B> {
    /// Steps 2, 3 and 5 for semi-honest parties: the values at all items, in the order of their
    /// starts.
    pub(crate) fn evaluate(
        self,
        inputs: &Inputs<'_>,
        context: &mut Context,
    ) -> Result<Buffer<u128>, Error> {
        let Self { a, c } = self;
        inputs.send_store(&a, context.channel.halves().0, &mut context.rng)?;
        drop(a);
        let outputs = Outputs::hashes(inputs.items.digests().len());
        let outputs = inputs.outputs(c, Tower::default(), outputs);
        Ok(outputs.hashes)
    }
}

impl Inputs<'_> {
    /// Steps 2 and 3 of the receiver.
    pub(crate) fn send_store<B: Base>(
        &self,
        a: &[B],
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let items = Items::<B>::hashed(&self.rows, &self.items);
        self.layout.send(&items, Some(a), outbound, rng)
    }

    /// Returns the receiver's values of step 5: H_o(Decode(c, y) + w, y) of all items, in the order
    /// of their starts. They fill `outputs`.
    pub(crate) fn outputs(&self, c: Buffer<Tower>, w: Tower, mut outputs: Outputs) -> Outputs {
        let mut starts = self.starts(&mut outputs);
        self.layout
            .each_start(&c, &mut starts, &|store, (items, outputs)| {
                // H_B is not needed any more.
                let mut group = Group::<Gf64>::default();
                for (items, mut outputs) in items.chunks(GROUP).zip(outputs.chunks(GROUP)) {
                    let (rows, _, decoded) = group.hash(&self.rows, items);
                    store.decode(rows, decoded);
                    self.hash(decoded, w, items, &mut outputs);
                }
            });
        drop(starts);
        outputs
    }
}
