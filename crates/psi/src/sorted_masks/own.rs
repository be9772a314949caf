//! The receiver's side: which of its masks are among the sender's.

use psijoin_runtime::memory::{Buffer, prefetch};

use super::{
    SortedMasks,
    sort::{place_of, prefix_of, prefixed, sort_by},
};

/// The own hashes, and the order of their masks.
pub struct Own<'a> {
    masks: SortedMasks,
    hashes: &'a [u128],
    /// Prefixes of masks, and positions.
    order: Buffer<u64>,
}

/// Masks of the sender that are looked for together: they stay in the first-level cache.
const BATCH: usize = 1024;

/// The number of hashes between fetching one and using it.
const AHEAD: usize = 16;

impl<'a> Own<'a> {
    /// Sorts, on the threads of the caller's pool.
    ///
    /// # Panics
    /// If there are more than 2^32 hashes.
    pub fn new(masks: SortedMasks, hashes: &'a [u128]) -> Self {
        assert!(hashes.len() <= 1 << 32, "positions have 32 bits");
        let key_of = |position, hash: &u128| prefixed(masks.prefix(masks.mask(*hash)), position);
        Self {
            masks,
            hashes,
            order: sort_by(hashes, key_of),
        }
    }

    /// Returns the number.
    pub(super) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Calls `found(number, position)` for each of these masks, which ascend, that an own hash has:
    /// its number among them, and the position of the hash. If they do not ascend, some are missed.
    pub(super) fn find(&self, sent: impl Iterator<Item = u128>, mut found: impl FnMut(usize, u32)) {
        let mut sent = sent.peekable();
        let lowest = sent.peek().map_or(0, |mask| self.masks.prefix(*mask));
        let start = self.order.partition_point(|key| prefix_of(*key) < lowest);
        let mut own = &self.order[start..];
        let mut before = 0;
        let (mut masks, mut alike) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        while sent.peek().is_some() {
            masks.clear();
            masks.extend(sent.by_ref().take(BATCH));
            alike.clear();
            let passed = self.merge(&masks, own, &mut alike);
            self.compare(&masks, own, &alike, |mask, position| {
                found(before + mask, position);
            });
            own = &own[passed..];
            before += masks.len();
        }
    }

    /// Walks through both lists, and notes where the prefix of a mask is that of a key: the place
    /// of the mask, and of the first such key. Returns how many keys precede all masks to come.
    ///
    /// A branch on which list comes next would be a coin toss, so there is none.
    fn merge(&self, masks: &[u128], own: &[u64], alike: &mut Vec<(u32, u32)>) -> usize {
        alike.resize(masks.len() + 1, (0, 0));
        let (mut mask, mut key, mut count) = (0, 0, 0);
        while mask < masks.len() && key < own.len() {
            let (sent, mine) = (self.masks.prefix(masks[mask]), prefix_of(own[key]));
            alike[count] = (mask as u32, key as u32);
            count += usize::from(sent == mine);
            mask += usize::from(sent <= mine);
            key += usize::from(mine < sent);
        }
        alike.truncate(count);
        key
    }

    /// Tells the masks that a hash does have, each with the position of the hash.
    fn compare(
        &self,
        masks: &[u128],
        own: &[u64],
        alike: &[(u32, u32)],
        mut found: impl FnMut(usize, u32),
    ) {
        let hash_of = |key: u64| &self.hashes[place_of(key) as usize];
        for (i, (mask, first)) in alike.iter().enumerate() {
            if let Some((_, later)) = alike.get(i + AHEAD) {
                prefetch(hash_of(own[*later as usize]));
            }
            let number = *mask as usize;
            let (mask, own) = (masks[number], &own[*first as usize..]);
            let prefix = prefix_of(own[0]);
            for key in own.iter().take_while(|key| prefix_of(**key) == prefix) {
                if self.masks.mask(*hash_of(*key)) == mask {
                    found(number, place_of(*key));
                }
            }
        }
    }
}
