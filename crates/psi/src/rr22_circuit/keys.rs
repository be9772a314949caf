//! Keys of the programmable PRF: an item and one of its hash functions.

use psijoin_block::{blake3_rows, memory::Buffer};
use psijoin_encode::{BinHasher, CHOICES, CuckooTable};
use rayon::prelude::*;

use super::Params;
use crate::{Error, Input, items::words};

/// Items that a task hashes.
const ITEMS_PER_TASK: usize = 1024;

/// What both expand from the joint seed.
pub(super) struct Keys {
    bins: BinHasher,
    key: [u8; 32],
}

impl Keys {
    pub(super) fn new(params: &Params, input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 rr22 circuit bins");
        Self {
            bins: BinHasher::new(*seed.first_chunk().expect("32 bytes"), params.bins.bins),
            key: input.joint_key("psijoin 2026 rr22 circuit keys"),
        }
    }

    /// The bins of each item.
    pub(super) fn bins<const D: usize>(&self, items: &[[u8; D]]) -> Buffer<[u32; CHOICES]> {
        let mut bins = Buffer::zeroed(items.len());
        bins.par_chunks_mut(ITEMS_PER_TASK)
            .zip(items.par_chunks(ITEMS_PER_TASK))
            .for_each(|(bins, items)| self.bins.hash(items, bins));
        bins
    }

    /// The keys of each item, one for each of its bins: item by item.
    pub(super) fn of_all<const D: usize>(&self, items: &[[u8; D]]) -> Buffer<[u8; D]> {
        let mut keys = Buffer::zeroed(CHOICES * items.len());
        keys.par_chunks_mut(CHOICES * ITEMS_PER_TASK)
            .zip(items.par_chunks(ITEMS_PER_TASK))
            .for_each(|(keys, items)| {
                let choices = |item| (0..CHOICES as u8).map(move |choice| (item, choice));
                self.hash(items.iter().flat_map(choices), keys);
            });
        keys
    }

    /// The keys of the items in the bins that hold one.
    pub(super) fn of_placed<const D: usize>(
        &self,
        items: &[[u8; D]],
        table: &Table,
    ) -> Buffer<[u8; D]> {
        let mut keys = Buffer::zeroed(items.len());
        keys.par_chunks_mut(ITEMS_PER_TASK)
            .zip(table.placed.par_chunks(ITEMS_PER_TASK))
            .for_each(|(keys, placed)| {
                let item = |placed: &Placed| (&items[placed.item as usize], placed.choice);
                self.hash(placed.iter().map(item), keys);
            });
        keys
    }

    fn hash<'a, const D: usize>(
        &self,
        inputs: impl Iterator<Item = (&'a [u8; D], u8)>,
        keys: &mut [[u8; D]],
    ) {
        match D {
            16 => self.hash_rows::<D, 3, 2>(inputs, keys),
            _ => self.hash_rows::<D, 5, 4>(inputs, keys),
        }
    }

    fn hash_rows<'a, const D: usize, const IN: usize, const OUT: usize>(
        &self,
        inputs: impl Iterator<Item = (&'a [u8; D], u8)>,
        keys: &mut [[u8; D]],
    ) {
        let rows: Vec<[u64; IN]> = inputs
            .map(|(item, choice)| {
                let mut row = words(item);
                row[IN - 1] = choice.into();
                row
            })
            .collect();
        let mut hashes = vec![[0; OUT]; rows.len()];
        blake3_rows::keyed_hash(&self.key, &rows, &mut hashes);
        for (key, hash) in keys.iter_mut().zip(&hashes) {
            key.copy_from_slice(bytemuck::cast_slice(hash));
        }
    }
}

/// An item of the receiver in its bin.
pub(super) struct Placed {
    pub(super) bin: u32,
    pub(super) item: u32,
    choice: u8,
}

/// The receiver's items, each in one of its bins.
pub(super) struct Table {
    /// Bin by bin.
    pub(super) placed: Vec<Placed>,
}

impl Table {
    pub(super) fn build(bins: &[[u32; CHOICES]], params: &Params) -> Result<Self, Error> {
        let table = CuckooTable::build(bins, params.bins)
            .map_err(|_| params.bad_luck("the items do not fit into the Cuckoo table"))?;
        let placed = (0..).zip(table.bins()).filter_map(|(bin, placed)| {
            placed.map(|placed| Placed {
                bin,
                item: placed.item,
                choice: placed.choice,
            })
        });
        Ok(Self {
            placed: placed.collect(),
        })
    }
}
