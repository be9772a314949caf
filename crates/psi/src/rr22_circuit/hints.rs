//! The sender's hints: a key-value store of what its keys are programmed to, masked by the PRF.

use psijoin_block::{Prg, memory::Buffer, scatter, tower::Element};
use psijoin_channel::{Inbound, Outbound};
use psijoin_encode::okvs::{self, Encoder, Partition, Row, RowHasher};

use crate::{Error, oprf::Layout, stream};

/// Keys of either party, in the order of the OPRF's partition, and where the bins of the hints
/// begin: a partition of the same fractions, so that each bin's keys lie close together.
pub(super) struct Hints<'a, const D: usize> {
    pub(super) layout: &'a Layout,
    pub(super) rows: &'a RowHasher,
    pub(super) keys: &'a Partition<D>,
}

impl<const D: usize> Hints<'_, D> {
    /// Sends a store. `program` says what it has for the keys at some places.
    pub(super) fn send<V: Element>(
        &self,
        program: &(dyn Fn(&[u32], &mut [V]) + Sync),
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let mut bins: Vec<_> = self.keys.iter().map(|keys| (keys, rng.fork())).collect();
        let scratch = || Scratch {
            encoder: Encoder::new(self.layout.shape),
            rows: Vec::new(),
            values: Vec::new(),
            store: vec![V::default(); self.layout.shape.bin_slots()],
        };
        stream::send_with(
            outbound,
            self.layout.bins(),
            &mut bins,
            &scratch,
            &|_, bins, scratch, message| {
                bins.iter_mut().try_for_each(|((keys, places), prg)| {
                    scratch.prepare(keys, self.rows);
                    program(places, &mut scratch.values);
                    (scratch.encode(prg, message)).map_err(|_| self.layout.bad_luck())
                })
            },
        )
    }

    /// Receives it: what it has for each key, in the order of the hints' own partition.
    pub(super) fn receive<V: Element>(
        &self,
        inbound: &mut dyn Inbound,
    ) -> Result<Buffer<V>, Error> {
        let mut values = Buffer::zeroed(self.keys.digests().len());
        let mut bins: Vec<_> = (self.keys.iter().map(|(keys, _)| keys))
            .zip(scatter::split(&mut values, self.keys.lens()))
            .collect();
        let shape = self.layout.shape;
        stream::receive_into(
            inbound,
            self.layout.bins(),
            &|_| self.layout.bin_bytes::<V>(),
            &mut bins,
            &|| (vec![V::default(); shape.bin_slots()], Vec::new()),
            &|_, message, bins, (store, rows)| {
                for (keys, values) in bins {
                    bytemuck::cast_slice_mut(store).copy_from_slice(message);
                    rows.resize(keys.len(), Row::default());
                    self.rows.hash(keys, rows, values);
                    okvs::decode_bin(shape, store, rows, values);
                }
            },
        )?;
        Ok(values)
    }
}

struct Scratch<V> {
    encoder: Encoder<V>,
    rows: Vec<Row>,
    values: Vec<V>,
    store: Vec<V>,
}

impl<V: Element> Scratch<V> {
    /// Computes the rows of a bin's keys, and makes room for as many values.
    fn prepare<const D: usize>(&mut self, keys: &[[u8; D]], hasher: &RowHasher) {
        self.rows.resize(keys.len(), Row::default());
        self.values.resize(keys.len(), V::default());
        hasher.hash(keys, &mut self.rows, &mut self.values);
    }

    /// Appends the store of a bin with these rows and values.
    fn encode(
        &mut self,
        prg: &mut Prg,
        message: &mut Vec<u8>,
    ) -> Result<(), psijoin_encode::Error> {
        self.encoder
            .encode_bin(&self.rows, &self.values, &mut self.store, prg)?;
        message.extend_from_slice(bytemuck::cast_slice(&self.store));
        Ok(())
    }
}
