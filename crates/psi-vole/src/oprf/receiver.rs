//! The party that gets the values at its items.

use psijoin_block::{
    Prg, scatter,
    tower::{Element, Tower},
};
use psijoin_channel::{Outbound, stream};
use psijoin_encode::{
    Digests,
    okvs::{Decoder, Encoder, Row, RowHasher},
};
use psijoin_ot::{
    iknp::Model,
    vole::{self, Base},
};
use psijoin_psi::{Context, Error, output_hash::Outputs};
use psijoin_runtime::{memory::Buffer, parallel};

use super::{Inputs, Layout};

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
    /// Steps 2, 3 and 5 for semi-honest parties: the values at all items, in the order of the bins.
    pub(crate) fn evaluate(
        self,
        inputs: &Inputs<'_>,
        context: &mut Context,
    ) -> Result<Buffer<u128>, Error> {
        let Self { a, c } = self;
        let rows = inputs.send_store(&a, context.channel.halves().0, &mut context.rng)?;
        drop(a);
        let outputs = Outputs::hashes(rows.len());
        let outputs = inputs.outputs(c, rows, Tower::default(), outputs);
        Ok(outputs.hashes)
    }
}

impl Inputs<'_> {
    /// Steps 2 and 3 of the receiver, bin by bin: the rows of all items, in the order of the bins.
    pub(crate) fn send_store<B: Base>(
        &self,
        a: &[B],
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<Buffer<Row>, Error> {
        let mut rows = Buffer::zeroed(self.items.digests().len());
        let mut bins: Vec<_> = (a.chunks_exact(self.layout.shape.bin_slots()))
            .zip(self.items.iter())
            .zip(scatter::split(&mut rows, self.items.lens()))
            .map(|((a, (items, _)), rows)| (a, items, rows, rng.fork()))
            .collect();
        stream::send_with(
            outbound,
            self.layout.bins(),
            &mut bins,
            &|| BinEncoder::<B>::new(self.layout, &self.rows),
            &|_, bins, encoder, message| {
                bins.iter_mut().try_for_each(|(a, items, rows, prg)| {
                    let store = encoder.encode(*items, rows, |_| (), prg)?;
                    for (store, a) in store.iter_mut().zip(*a) {
                        *store ^= *a;
                    }
                    B::pack(store, message);
                    Ok::<_, Error>(())
                })
            },
        )?;
        Ok(rows)
    }

    /// Returns the receiver's values of step 5: H_o(Decode(c, y) + w, y) of all items, in the order
    /// of the bins. They fill `outputs`.
    pub(crate) fn outputs(
        &self,
        c: Buffer<Tower>,
        rows: Buffer<Row>,
        w: Tower,
        mut outputs: Outputs,
    ) -> Outputs {
        let shape = self.layout.shape;
        let mut rest = &rows[..];
        let mut bins: Vec<_> = (c.chunks_exact(shape.bin_slots()))
            .zip(self.items.iter())
            .zip(outputs.split(self.items.lens()))
            .map(|((c, (items, _)), outputs)| {
                let (rows, after) = rest.split_at(items.len());
                rest = after;
                (c, rows, items, outputs)
            })
            .collect();
        parallel::each_mut_with(&mut bins, &Vec::new, &|_, bin, decoded| {
            let (c, rows, items, outputs) = bin;
            decoded.resize(rows.len(), Tower::default());
            Decoder::new(shape, c).decode(rows, decoded);
            self.hash(decoded, w, *items, outputs);
        });
        outputs
    }
}

/// The state of a thread that encodes bins of a store.
pub(crate) struct BinEncoder<'a, V> {
    layout: &'a Layout,
    rows: &'a RowHasher,
    encoder: Encoder<V>,
    values: Vec<V>,
    store: Vec<V>,
}

impl<'a, V: Element> BinEncoder<'a, V> {
    pub(crate) fn new(layout: &'a Layout, rows: &'a RowHasher) -> Self {
        Self {
            layout,
            rows,
            encoder: Encoder::new(layout.shape),
            values: Vec::new(),
            store: vec![V::default(); layout.shape.bin_slots()],
        }
    }

    /// Returns the store of a bin, and the rows of its keys. A key has the value that comes with
    /// its row, unless `program` puts another one in its place.
    pub(crate) fn encode(
        &mut self,
        keys: Digests<'_>,
        rows: &mut [Row],
        program: impl FnOnce(&mut [V]),
        rng: &mut Prg,
    ) -> Result<&mut [V], Error> {
        self.values.resize(keys.len(), V::default());
        self.rows.hash(keys, rows, &mut self.values);
        program(&mut self.values);
        (self.encoder)
            .encode_bin(rows, &self.values, &mut self.store, rng)
            .map_err(|_| self.layout.bad_luck())?;
        Ok(&mut self.store)
    }
}
