//! The last hash of a protocol: from what both parties know of a shared item to its mask.

use bytemuck::Pod;
use psijoin_block::blake3_rows;
use psijoin_encode::{Digests, digests::words};

/// Keyed BLAKE3 of a value of 128 bits and the item that it belongs to.
pub struct OutputHash(pub [u8; 32]);

/// Rows that are hashed at a time.
const BATCH: usize = 256;

impl OutputHash {
    /// The hashes of values of 128 bits, with the digests of their items.
    pub fn hash<T: Pod>(&self, values: &[T], digests: Digests<'_>, outputs: &mut [u128]) {
        let values: &[[u64; 2]] = bytemuck::cast_slice(values);
        match digests {
            Digests::Short(digests) => self.hash_rows::<16, 4>(values, digests, outputs),
            Digests::Long(digests) => self.hash_rows::<32, 6>(values, digests, outputs),
        }
    }

    fn hash_rows<const D: usize, const WORDS: usize>(
        &self,
        values: &[[u64; 2]],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        let mut rows = [[0; WORDS]; BATCH];
        let inputs = values.chunks(BATCH).zip(digests.chunks(BATCH));
        for ((values, digests), outputs) in inputs.zip(outputs.chunks_mut(BATCH)) {
            let rows = &mut rows[..values.len()];
            for (row, (value, digest)) in rows.iter_mut().zip(values.iter().zip(digests)) {
                row[..WORDS - 2].copy_from_slice(&words(digest)[..WORDS - 2]);
                row[WORDS - 2..].copy_from_slice(value);
            }
            let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
            blake3_rows::keyed_hash(&self.0, rows, outputs);
        }
    }
}
