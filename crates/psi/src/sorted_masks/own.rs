//! The receiver's side: which of its masks are among the sender's.

use std::ops::RangeInclusive;

use psijoin_block::memory::{Buffer, prefetch};

use super::{Key, SortedMasks, sort::sort_by};

/// The own hashes, and the order of their masks.
///
/// What is sorted is short: a prefix of 32 bits of each mask, and in the lower half of the word
/// the position. Few masks have the same prefix without being the same.
pub struct Own<'a> {
    masks: SortedMasks,
    hashes: &'a [u128],
    order: Buffer<u64>,
}

impl Key for u64 {
    #[inline]
    fn top(self) -> u64 {
        self
    }
}

/// Keys that are looked at together, since whether to go on is hard to foresee.
const STEP: usize = 4;

/// Hashes that are looked at together, once they are in the cache.
const BATCH: usize = 256;

impl<'a> Own<'a> {
    /// Sorts, on the caller's rayon pool.
    ///
    /// # Panics
    /// If there are more than 2^32 hashes.
    pub fn new(masks: SortedMasks, hashes: &'a [u128]) -> Self {
        assert!(hashes.len() <= 1 << 32, "positions have 32 bits");
        let range = masks.leading_range();
        let key_of = |position, hash: &u128| {
            let product = u128::from((hash >> 64) as u64) * u128::from(range);
            (product >> 96 << 32) as u64 | position as u64
        };
        Self {
            masks,
            hashes,
            order: sort_by(hashes, key_of),
        }
    }

    /// The positions of the own hashes whose masks are among these, which ascend, or else the
    /// sender misses some.
    pub(super) fn find(&self, sent: impl Iterator<Item = u128>) -> Vec<u32> {
        let mut sent = sent.peekable();
        let lowest = sent.peek().map_or(0, |mask| *self.keys_of(*mask).start());
        let start = self.order.partition_point(|key| *key < lowest);
        let mut own = &self.order[start..];
        let (mut found, mut alike) = (Vec::new(), Vec::with_capacity(BATCH));
        for mask in sent {
            let keys = self.keys_of(mask);
            own = skip(own, *keys.start());
            for key in own.iter().take_while(|key| *key <= keys.end()) {
                let position = *key as u32;
                prefetch(&self.hashes[position as usize]);
                alike.push((mask, position));
            }
            if alike.len() >= BATCH {
                self.compare(&mut alike, &mut found);
            }
        }
        self.compare(&mut alike, &mut found);
        found
    }

    /// The keys that hashes with this mask may have. A key's prefix comes from a product of the
    /// leading 64 bits of both factors, so that it may be less by one than that of the mask.
    #[inline]
    fn keys_of(&self, mask: u128) -> RangeInclusive<u64> {
        let prefixes = self.masks.prefixes(mask);
        let last_position = u64::from(u32::MAX);
        prefixes.start().saturating_sub(1) << 32..=prefixes.end() << 32 | last_position
    }

    /// Moves the positions of hashes that do have the mask beside.
    fn compare(&self, alike: &mut Vec<(u128, u32)>, found: &mut Vec<u32>) {
        for (mask, position) in alike.drain(..) {
            if self.masks.mask(self.hashes[position as usize]) == mask {
                found.push(position);
            }
        }
    }
}

/// The keys from `lowest` on.
#[inline]
fn skip(mut keys: &[u64], lowest: u64) -> &[u64] {
    while let Some(next) = keys.first_chunk::<STEP>() {
        let less: usize = next.iter().map(|key| usize::from(*key < lowest)).sum();
        keys = &keys[less..];
        if less < STEP {
            return keys;
        }
    }
    let less = keys.iter().take_while(|key| **key < lowest).count();
    &keys[less..]
}
