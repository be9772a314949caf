//! The sender's hints: a key-value store of what its keys are programmed to, masked by the PRF.

use std::ops::Range;

use psijoin_block::{Prg, scatter, tower::Element};
use psijoin_channel::{Inbound, Outbound, joint_seed::JointSeed};
use psijoin_encode::{
    Digests,
    okvs::{Items, Partition, Row, RowHasher},
};
use psijoin_psi::Error;
use psijoin_runtime::memory::Buffer;

use super::masks::{Of, mask};
use crate::oprf::{GROUP, Layout};

/// The parameters for sending hints, or reading them, on either side.
pub(super) struct Hints<'a> {
    layout: &'a Layout,
    rows: RowHasher,
    /// The keys in the order of the hints' bins. The keys came in the order of the OPRF's bins,
    /// which is nearly the same: those of a bin lie close together.
    keys: Partition,
    /// The PRF at each of the keys, in the order that they came in.
    outputs: Buffer<u128>,
}

impl<'a> Hints<'a> {
    /// Makes hints for these keys of a party, and the PRF at each of them. A key's place is that in
    /// this list.
    pub(super) fn new(
        layout: &'a Layout,
        joint_seed: &JointSeed,
        keys: Digests<'_>,
        outputs: Buffer<u128>,
    ) -> Self {
        let key = joint_seed.key("psijoin 2026 rr22 circuit hints");
        Self {
            layout,
            rows: RowHasher::pseudorandom(key, layout.shape),
            keys: Partition::new(keys, layout.shape.starts),
            outputs,
        }
    }

    /// Sends a store. `program` gives the values that the keys at some places are to have, which
    /// are then masked.
    pub(super) fn send<V: Element>(
        &self,
        of: Of,
        program: &(dyn Fn(&[u32], &mut [V]) + Sync),
        outbound: &mut dyn Outbound,
        rng: &mut Prg,
    ) -> Result<(), Error> {
        let program = |range: Range<usize>, hints: &mut [V]| {
            let places = &self.keys.positions()[range];
            program(places, hints);
            mask(of, self.outputs_at(places), hints);
        };
        let items = Items::hashed(&self.rows, &self.keys).programmed(&program);
        self.layout.send(&items, None, outbound, rng)
    }

    /// Receives a store: calls `found` with the place of each key, and what the store has for it.
    pub(super) fn receive<V: Element>(
        &self,
        of: Of,
        inbound: &mut dyn Inbound,
        mut found: impl FnMut(usize, V),
    ) -> Result<(), Error> {
        let mut hinted = self.decode::<V>(inbound)?;
        let places = self.keys.positions();
        mask(of, self.outputs_at(places), &mut hinted);
        for (hint, place) in hinted.iter().zip(places) {
            found(*place as usize, *hint);
        }
        Ok(())
    }

    /// Returns the PRF at the keys of these places.
    fn outputs_at(&self, places: &[u32]) -> impl Iterator<Item = u128> {
        places.iter().map(|place| self.outputs[*place as usize])
    }

    /// Returns what the store that arrives has for each of [`keys`](Self::keys), under its mask.
    fn decode<V: Element>(&self, inbound: &mut dyn Inbound) -> Result<Buffer<V>, Error> {
        let mut values = Buffer::zeroed(self.keys.digests().len());
        let mut starts: Vec<_> = (self.keys.iter().map(|(keys, _)| keys))
            .zip(scatter::split(&mut values, self.keys.lens()))
            .collect();
        let mut store = Buffer::zeroed(self.layout.shape.len());
        self.layout.receive::<V, _, _>(
            inbound,
            &mut store,
            &V::unpack,
            &mut starts,
            &|store, (keys, values)| {
                let mut rows = [Row::default(); GROUP];
                for (keys, values) in keys.chunks(GROUP).zip(values.chunks_mut(GROUP)) {
                    let rows = &mut rows[..keys.len()];
                    self.rows.hash(keys, rows, values);
                    store.decode(rows, values);
                }
            },
        )?;
        Ok(values)
    }
}
