//! Items in bins of a Cuckoo table without a stash, and keys. A key is a hash of an item and a
//! number ([`KeyHash`]): here that of one of its hash functions.
//!
//! Each of the receiver's items is in one bin and has one key, which looks up the sender's hint for
//! that bin. Each of the sender's items has a key for each of its bins.

use psijoin_block::blake3_rows;
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{BinHasher, CHOICES, CuckooTable, DigestBuffer, Digests};
use psijoin_params::{
    FailureBudget, Sizes,
    cuckoo::{self, Costs, Shape},
    digest,
};
use psijoin_psi::{BaseParams, Error, Request};
use psijoin_runtime::{memory::Buffer, parallel};

/// Returns how many keys the sender has.
pub fn sender_keys(sizes: Sizes) -> u64 {
    CHOICES as u64 * sizes.sender()
}

/// Returns what protocols with bins derive first, for the keys of both parties: see
/// [`base_params_of`].
///
/// # Errors
/// As [`base_params_of`].
pub fn base_params(request: &Request) -> Result<BaseParams, Error> {
    base_params_of(
        request,
        sender_keys(request.sizes) + request.sizes.receiver(),
    )
}

/// Returns the shortest digests, and this many keys of both parties as long as digests, that are
/// all different, within a sixteenth of the failure budget.
///
/// # Errors
/// If there are none.
pub fn base_params_of(request: &Request, keys: u64) -> Result<BaseParams, Error> {
    let share = FailureBudget::new(request.security).share(1.0 / 32.0);
    let bytes = digest::bytes_among(keys, share)?;
    let mut base = BaseParams::with_digests(request, bytes)?;
    (base.budget).charge("key collision", digest::collision_among(keys, bytes))?;
    Ok(base)
}

/// Returns bins for the receiver's items, without a stash, within an eighth of the failure budget.
///
/// # Errors
/// If no number of bins is enough.
pub fn without_stash(sizes: Sizes, budget: &mut FailureBudget) -> Result<Shape, Error> {
    // Only bins are weighed: every item must find a bin.
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

/// The keys that both expand from the joint seed.
pub struct Keys {
    bins: BinHasher,
    hash: KeyHash,
}

impl Keys {
    /// Derives the keys for a table of this shape. The joint seed serves two purposes: bins, and
    /// keys.
    pub fn new(shape: Shape, purposes: [&str; 2], joint_seed: &JointSeed) -> Self {
        let [seed, key] = purposes.map(|purpose| joint_seed.key(purpose));
        Self {
            bins: BinHasher::new(*seed.first_chunk().expect("32 bytes"), shape.bins),
            hash: KeyHash::new(key),
        }
    }

    /// Returns the bins of each item.
    pub fn bins(&self, items: Digests<'_>) -> Buffer<[u32; CHOICES]> {
        let mut bins = Buffer::zeroed(items.len());
        parallel::chunks_mut(&mut bins, ITEMS_PER_TASK, &|range, bins| {
            self.bins.hash(items.slice(range), bins);
        });
        bins
    }

    /// Returns the keys of each item, one for each of its bins: item by item.
    pub fn of_all(&self, items: Digests<'_>) -> DigestBuffer {
        (self.hash).keys(items, CHOICES * items.len(), &|key| {
            (key / CHOICES, (key % CHOICES) as u64)
        })
    }

    /// Returns the keys of the items in the bins that hold one.
    pub fn of_placed(&self, items: Digests<'_>, table: &Table) -> DigestBuffer {
        self.hash.keys(items, table.placed.len(), &|key| {
            let placed = &table.placed[key];
            (placed.item as usize, placed.choice.into())
        })
    }
}

/// A hash of an item and a number: an item has a key of its own in each of several sets.
#[derive(Clone)]
pub struct KeyHash([u8; 32]);

impl KeyHash {
    /// Returns the hash under this key, which both parties know.
    pub fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Returns `count` keys, as wide as the items. `input` gives the position of a key's item, and
    /// its number. On the threads of the caller's pool.
    pub fn keys(&self, items: Digests<'_>, count: usize, input: &Input<'_>) -> DigestBuffer {
        match items {
            Digests::Short(_) => {
                let mut keys = Buffer::<[u8; 16]>::zeroed(count);
                let bytes = bytemuck::cast_slice_mut(&mut keys);
                self.hash_rows::<3, 2>(items, input, bytes);
                DigestBuffer::Short(keys)
            }
            Digests::Long(_) => {
                let mut keys = Buffer::<[u8; 32]>::zeroed(count);
                let bytes = bytemuck::cast_slice_mut(&mut keys);
                self.hash_rows::<5, 4>(items, input, bytes);
                DigestBuffer::Long(keys)
            }
        }
    }

    /// Hashes items of `OUT` words, which are `IN` words with a number.
    fn hash_rows<const IN: usize, const OUT: usize>(
        &self,
        items: Digests<'_>,
        input: &Input<'_>,
        keys: &mut [u8],
    ) {
        let key_bytes = OUT * size_of::<u64>();
        let task_bytes = CHOICES * ITEMS_PER_TASK * key_bytes;
        parallel::chunks_mut(keys, task_bytes, &|range, keys| {
            let row = |key| {
                let (item, number) = input(key);
                let mut row = [0; IN];
                row[..OUT].copy_from_slice(&items.words(item)[..OUT]);
                row[OUT] = number;
                row
            };
            let rows = range.start / key_bytes..range.end / key_bytes;
            let rows: Vec<[u64; IN]> = rows.map(row).collect();
            let mut hashes = vec![[0; OUT]; rows.len()];
            blake3_rows::keyed_hash(&self.0, &rows, &mut hashes);
            keys.copy_from_slice(bytemuck::cast_slice(&hashes));
        });
    }
}

/// The position of the item of the key at a place, and its number.
pub type Input<'a> = dyn Fn(usize) -> (usize, u64) + Sync + 'a;

/// An item of the receiver in its bin.
pub struct Placed {
    /// The bin.
    pub bin: u32,
    /// The item's position.
    pub item: u32,
    choice: u8,
}

/// The receiver's items, each in one of its bins.
pub struct Table {
    /// Bin by bin.
    pub placed: Vec<Placed>,
}

impl Table {
    /// Places each item in one of its bins.
    ///
    /// # Errors
    /// If the items do not fit, which is less likely than 2^-`sigma`.
    pub fn build(bins: &[[u32; CHOICES]], shape: Shape, sigma: u32) -> Result<Self, Error> {
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
