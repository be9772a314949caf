//! Items in bins of a Cuckoo table without a stash, and keys: an item and one of its hash functions.
//!
//! The receiver's items have one key each, by which it looks up what its bin is about; those of the sender
//! have one for each of their bins.

use psijoin_block::{blake3_rows, memory::Buffer, parallel};
use psijoin_encode::{BinHasher, CHOICES, CuckooTable};
use psijoin_params::{
    FailureBudget, Sizes,
    cuckoo::{self, Costs, Shape},
    digest,
};

use crate::{Error, Input, items::words};

/// The sender's keys.
pub(crate) fn sender_keys(sizes: Sizes) -> u64 {
    CHOICES as u64 * sizes.sender()
}

/// The length of digests and keys of which no two are alike, within a sixteenth of the failure
/// budget.
pub(crate) fn digest_bytes(sizes: Sizes, budget: &mut FailureBudget) -> Result<usize, Error> {
    let keys = sender_keys(sizes) + sizes.receiver();
    let bytes = digest::bytes_among(keys, budget.share(1.0 / 32.0))?;
    budget.charge("digest collision", digest::collision(sizes, bytes))?;
    budget.charge("key collision", digest::collision_among(keys, bytes))?;
    Ok(bytes)
}

/// Bins for the receiver's items, without a stash, within an eighth of the failure budget.
pub(crate) fn without_stash(sizes: Sizes, budget: &mut FailureBudget) -> Result<Shape, Error> {
    // Bins alone are weighed: nothing is to find no bin.
    let costs = Costs {
        bin_bits: 1,
        stash_bits: u64::from(cuckoo::MAX_BINS),
    };
    let bins = cuckoo::smallest(sizes.receiver(), budget.share(0.125), costs)?;
    budget.charge("Cuckoo hashing", cuckoo::failure(sizes.receiver(), bins))?;
    Ok(bins)
}

/// Items that a task hashes.
const ITEMS_PER_TASK: usize = 1024;

/// What both expand from the joint seed.
pub(crate) struct Keys {
    bins: BinHasher,
    key: [u8; 32],
}

impl Keys {
    /// For a table of this shape. The joint seed serves two purposes: bins, and keys.
    pub(crate) fn new(shape: Shape, purposes: [&str; 2], input: &Input<'_>) -> Self {
        let [seed, key] = purposes.map(|purpose| input.joint_key(purpose));
        Self {
            bins: BinHasher::new(*seed.first_chunk().expect("32 bytes"), shape.bins),
            key,
        }
    }

    /// The bins of each item.
    pub(crate) fn bins<const D: usize>(&self, items: &[[u8; D]]) -> Buffer<[u32; CHOICES]> {
        let mut bins = Buffer::zeroed(items.len());
        parallel::chunks_mut(&mut bins, ITEMS_PER_TASK, &|range, bins| {
            self.bins.hash(&items[range], bins);
        });
        bins
    }

    /// The keys of each item, one for each of its bins: item by item.
    pub(crate) fn of_all<const D: usize>(&self, items: &[[u8; D]]) -> Buffer<[u8; D]> {
        let mut keys = Buffer::zeroed(CHOICES * items.len());
        parallel::chunks_mut(&mut keys, CHOICES * ITEMS_PER_TASK, &|range, keys| {
            let items = &items[range.start / CHOICES..range.end / CHOICES];
            let choices = |item| (0..CHOICES as u8).map(move |choice| (item, choice));
            self.hash(items.iter().flat_map(choices), keys);
        });
        keys
    }

    /// The keys of the items in the bins that hold one.
    pub(crate) fn of_placed<const D: usize>(
        &self,
        items: &[[u8; D]],
        table: &Table,
    ) -> Buffer<[u8; D]> {
        let mut keys = Buffer::zeroed(items.len());
        parallel::chunks_mut(&mut keys, ITEMS_PER_TASK, &|range, keys| {
            let item = |placed: &Placed| (&items[placed.item as usize], placed.choice);
            self.hash(table.placed[range].iter().map(item), keys);
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
pub(crate) struct Placed {
    pub(crate) bin: u32,
    pub(crate) item: u32,
    choice: u8,
}

/// The receiver's items, each in one of its bins.
pub(crate) struct Table {
    /// Bin by bin.
    pub(crate) placed: Vec<Placed>,
}

impl Table {
    /// Places items in one of their bins each. `sigma` is for the error that says how unlikely it is that
    /// they do not fit.
    pub(crate) fn build(bins: &[[u32; CHOICES]], shape: Shape, sigma: u32) -> Result<Self, Error> {
        let table = CuckooTable::build(bins, shape)
            .map_err(|_| Error::BadLuck("the items do not fit into the Cuckoo table", sigma))?;
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
