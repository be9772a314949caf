//! Sorting uniform keys.

use std::ops::Range;

use bytemuck::Pod;
use psijoin_block::scatter;
use psijoin_runtime::{memory::Buffer, parallel};

/// A type of values that are sorted.
pub(super) trait Key: Pod + Ord + Send + Sync {
    /// Returns its highest bits: keys are in their order, except where these are equal.
    fn top(self) -> u64;
}

impl Key for u128 {
    #[inline]
    fn top(self) -> u64 {
        (self >> 64) as u64
    }
}

/// Keys of a bucket, about: they and their copy stay in the first-level cache.
const BUCKET_LEN: usize = 512;

/// More streams than this would be written at random.
const MAX_BUCKETS: usize = 1 << 12;

/// More keys than this with one slot are not taken for uniform.
const MAX_SLOT_LEN: u32 = 32;

/// Sorts on the threads of the caller's pool: the topmost bits choose the bucket, the next ones its
/// slot, and a slot has one key or two. Hashes that are not uniform are sorted as well, but more
/// slowly.
pub fn sort(hashes: &[u128]) -> Buffer<u128> {
    sort_by(hashes, |_, hash| *hash)
}

impl Key for u64 {
    #[inline]
    fn top(self) -> u64 {
        self
    }
}

/// Returns a prefix of 32 bits, and a place in the lower half: what is sorted is short, and few
/// hashes have the same prefix without being the same.
pub(super) fn prefixed(prefix: u32, place: usize) -> u64 {
    u64::from(prefix) << 32 | place as u64
}

/// Returns the prefix of a key.
#[inline]
pub(super) fn prefix_of(key: u64) -> u32 {
    (key >> 32) as u32
}

/// Returns where the hash of a key is.
#[inline]
pub(super) fn place_of(key: u64) -> u32 {
    key as u32
}

/// Returns the places of hashes in the order of the hashes. Sorts on the threads of the caller's
/// pool.
///
/// # Panics
/// If there are more than 2^32 hashes.
pub fn order(hashes: &[u128]) -> Vec<u32> {
    assert!(hashes.len() <= 1 << 32, "places have 32 bits");
    let mut keys = sort_by(hashes, |place, hash| prefixed((hash >> 96) as u32, place));
    for alike in keys.chunk_by_mut(|a, b| prefix_of(*a) == prefix_of(*b)) {
        if alike.len() > 1 {
            alike.sort_unstable_by_key(|key| hashes[place_of(*key) as usize]);
        }
    }
    keys.iter().map(|key| place_of(*key)).collect()
}

/// Sorts the keys of elements, given the position of each. Each is made twice.
pub(super) fn sort_by<S: Sync, T: Key>(
    elements: &[S],
    key_of: impl Fn(usize, &S) -> T + Sync,
) -> Buffer<T> {
    let buckets = (elements.len() / BUCKET_LEN)
        .next_power_of_two()
        .min(MAX_BUCKETS);
    let bits = buckets.ilog2();

    let per_unit = elements.len().div_ceil(parallel::threads()).max(1);
    let units: Vec<&[S]> = elements.chunks(per_unit).collect();
    let counts = parallel::map(units.len(), &|i| {
        let mut counts = vec![0; buckets];
        for element in units[i] {
            counts[digit(key_of(0, element), 0, bits)] += 1;
        }
        counts
    });
    let mut sorted = Buffer::zeroed(elements.len());
    let (mut places, ranges) = scatter::places(&mut sorted, &counts);
    parallel::each_mut(&mut places, &|i, places| {
        for (element, position) in units[i].iter().zip(i * per_unit..) {
            let key = key_of(position, element);
            places[digit(key, 0, bits)].push(key);
        }
    });
    drop(places);
    let mut sorted_buckets = scatter::split(&mut sorted, ranges.iter().map(Range::len));
    parallel::each_mut_with(&mut sorted_buckets, &Slots::default, &|_, bucket, slots| {
        slots.sort(bucket, bits);
    });
    sorted
}

/// Returns `bits` bits of a key, after the first `skipped` ones.
#[inline]
fn digit<T: Key>(key: T, skipped: u32, bits: u32) -> usize {
    // Without bits the mask is zero, whatever the shift.
    (key.top() >> ((64 - skipped - bits) % 64)) as usize & ((1 << bits) - 1)
}

/// Memory that sorting a bucket takes.
struct Slots<T> {
    copy: Vec<T>,
    /// The place of the next key of each slot.
    places: Vec<u32>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Self {
            copy: Vec::new(),
            places: Vec::new(),
        }
    }
}

impl<T: Key> Slots<T> {
    /// Sorts keys that have their first `skipped` bits in common.
    fn sort(&mut self, bucket: &mut [T], skipped: u32) {
        let slots = bucket.len().next_power_of_two();
        let slot_of = |key: &T| digit(*key, skipped, slots.ilog2());
        self.places.clear();
        self.places.resize(slots, 0);
        for key in bucket.iter() {
            self.places[slot_of(key)] += 1;
        }
        let (mut next, mut longest) = (0, 0);
        for place in &mut self.places {
            longest = longest.max(*place);
            next += std::mem::replace(place, next);
        }
        if longest > MAX_SLOT_LEN {
            return bucket.sort_unstable();
        }
        self.copy.clear();
        self.copy.extend_from_slice(bucket);
        for key in &self.copy {
            let place = &mut self.places[slot_of(key)];
            bucket[*place as usize] = *key;
            *place += 1;
        }
        insertion_sort(bucket);
    }
}

/// Sorts keys that are nearly in order.
fn insertion_sort<T: Key>(keys: &mut [T]) {
    for end in 1..keys.len() {
        let key = keys[end];
        let mut place = end;
        while place > 0 && key < keys[place - 1] {
            keys[place] = keys[place - 1];
            place -= 1;
        }
        keys[place] = key;
    }
}
