//! The last hash of a protocol: from what both parties know of a shared item to its mask, and to a
//! key.

use std::{iter, ops::Range};

use bytemuck::{Pod, cast_slice, cast_slice_mut};
use psijoin_block::{blake3_rows, scatter};
use psijoin_encode::{Digests, digests::words};
use psijoin_runtime::memory::Buffer;

/// Keyed BLAKE3 of a value of 128 bits and the item that it belongs to.
pub struct OutputHash(pub [u8; 32]);

/// Rows that are hashed at a time.
const BATCH: usize = 256;

/// The hashes of items, place by place.
pub struct Outputs {
    /// Of each item 128 bits that its mask is made from.
    pub hashes: Buffer<u128>,
    /// The next 128 bits of each item, independent of its hash. There are none if only masks are
    /// needed.
    pub keys: Buffer<u128>,
}

impl Outputs {
    /// Returns room for the hashes of items, without keys.
    pub fn hashes(items: usize) -> Self {
        Self {
            hashes: Buffer::zeroed(items),
            keys: Buffer::zeroed(0),
        }
    }

    /// Returns room for the hashes and the keys of items.
    pub fn with_keys(items: usize) -> Self {
        Self {
            hashes: Buffer::zeroed(items),
            keys: Buffer::zeroed(items),
        }
    }

    /// Hashes and keys, of words of each item.
    pub fn from_words(words: &[[u64; 4]]) -> Self {
        let mut outputs = Self::with_keys(words.len());
        let hashes = outputs.hashes.iter_mut().zip(&mut *outputs.keys);
        for ((hash, key), words) in hashes.zip(words) {
            [*hash, *key] = bytemuck::cast(*words);
        }
        outputs
    }

    /// Pieces of these lengths, one after the other from the start.
    ///
    /// # Panics
    /// If there are fewer outputs.
    pub fn split(&mut self, lens: impl Iterator<Item = usize> + Clone) -> Vec<Piece<'_>> {
        let has_keys = usize::from(!self.keys.is_empty());
        let keys = scatter::split(&mut self.keys, lens.clone().map(|len| len * has_keys));
        let hashes = scatter::split(&mut self.hashes, lens);
        let pieces = hashes.into_iter().zip(keys);
        pieces
            .map(|(hashes, keys)| Piece { hashes, keys })
            .collect()
    }
}

/// The outputs of some items.
pub struct Piece<'a> {
    hashes: &'a mut [u128],
    /// None if there are no keys.
    keys: &'a mut [u128],
}

impl Piece<'_> {
    /// Returns pieces of `len` outputs, the last one perhaps shorter.
    ///
    /// # Panics
    /// If `len` is 0.
    pub fn chunks(&mut self, len: usize) -> impl Iterator<Item = Piece<'_>> {
        let keys = self
            .keys
            .chunks_mut(len)
            .map(Some)
            .chain(iter::repeat_with(|| None));
        let pieces = self.hashes.chunks_mut(len).zip(keys);
        pieces.map(|(hashes, keys)| Piece {
            hashes,
            keys: keys.unwrap_or_default(),
        })
    }
}

impl OutputHash {
    /// Computes the hashes of values of 128 bits, with the digests of their items.
    pub fn hash<T: Pod>(&self, values: &[T], digests: Digests<'_>, outputs: &mut [u128]) {
        let outputs: &mut [[u64; 2]] = cast_slice_mut(outputs);
        for_each_batch(values, digests, |batch, rows| {
            rows.hash(&self.0, &mut outputs[batch]);
        });
    }

    /// Hashes values, and makes keys where there is room for them.
    ///
    /// # Panics
    /// If the piece is shorter than the values are.
    pub fn fill<T: Pod>(&self, values: &[T], digests: Digests<'_>, piece: &mut Piece<'_>) {
        if piece.keys.is_empty() {
            return self.hash(values, digests, piece.hashes);
        }
        let mut wide = [[0_u64; 4]; BATCH];
        for_each_batch(values, digests, |batch, rows| {
            let wide = &mut wide[..batch.len()];
            rows.hash(&self.0, wide);
            let wide: &[[[u64; 2]; 2]] = cast_slice(wide);
            let hashes: &mut [[u64; 2]] = cast_slice_mut(&mut piece.hashes[batch.clone()]);
            let keys: &mut [[u64; 2]] = cast_slice_mut(&mut piece.keys[batch]);
            for ((hash, key), wide) in hashes.iter_mut().zip(keys).zip(wide) {
                [*hash, *key] = *wide;
            }
        });
    }
}

/// The hash's input for some items: digests of either length, and values.
enum Rows<'a> {
    Short(&'a [[u64; 4]]),
    Long(&'a [[u64; 6]]),
}

impl Rows<'_> {
    fn hash<const OUT: usize>(&self, key: &[u8; 32], outputs: &mut [[u64; OUT]]) {
        match self {
            Self::Short(rows) => blake3_rows::keyed_hash(key, rows, outputs),
            Self::Long(rows) => blake3_rows::keyed_hash(key, rows, outputs),
        }
    }
}

/// Gives the rows of each batch of items to `each`, with their places.
fn for_each_batch<T: Pod>(
    values: &[T],
    digests: Digests<'_>,
    mut each: impl FnMut(Range<usize>, Rows<'_>),
) {
    let values = cast_slice(values);
    match digests {
        Digests::Short(digests) => {
            fill_rows(values, digests, |batch, rows| {
                each(batch, Rows::Short(rows))
            });
        }
        Digests::Long(digests) => {
            fill_rows(values, digests, |batch, rows| each(batch, Rows::Long(rows)));
        }
    }
}

fn fill_rows<const D: usize, const WORDS: usize>(
    values: &[[u64; 2]],
    digests: &[[u8; D]],
    mut each: impl FnMut(Range<usize>, &[[u64; WORDS]]),
) {
    let mut rows = [[0; WORDS]; BATCH];
    let inputs = values.chunks(BATCH).zip(digests.chunks(BATCH));
    for ((values, digests), start) in inputs.zip((0..).step_by(BATCH)) {
        let rows = &mut rows[..values.len()];
        for (row, (value, digest)) in rows.iter_mut().zip(values.iter().zip(digests)) {
            row[..WORDS - 2].copy_from_slice(&words(digest)[..WORDS - 2]);
            row[WORDS - 2..].copy_from_slice(value);
        }
        each(start..start + rows.len(), rows);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bin by bin, and at lengths beside that of a batch.
    #[test]
    fn a_key_is_what_follows_a_hash() {
        let lens = [0, 1, BATCH - 1, BATCH + 1, 2 * BATCH];
        let items: usize = lens.iter().sum();
        let digests: Vec<[u8; 16]> = (0..items as u128).map(u128::to_le_bytes).collect();
        let values: Vec<u128> = (0..items as u128).map(|i| i << 64 | 3).collect();
        let hash = OutputHash([6; 32]);
        let mut outputs = Outputs::with_keys(items);
        let mut start = 0;
        for mut piece in outputs.split(lens.into_iter()) {
            let range = start..start + piece.hashes.len();
            start = range.end;
            let digests = Digests::Short(&digests[range.clone()]);
            hash.fill(&values[range], digests, &mut piece);
        }
        let expected: Vec<[u64; 4]> = (digests.iter().zip(&values))
            .map(|(digest, value)| {
                let row = [&digest[..], &value.to_le_bytes()].concat();
                bytemuck::cast(*blake3::keyed_hash(&[6; 32], &row).as_bytes())
            })
            .collect();
        let expected = Outputs::from_words(&expected);
        assert!(outputs.hashes[..] == expected.hashes[..] && outputs.keys[..] == expected.keys[..]);
        let mut hashes = vec![0; items];
        hash.hash(&values, Digests::Short(&digests), &mut hashes);
        assert!(hashes == outputs.hashes[..]);
    }
}
