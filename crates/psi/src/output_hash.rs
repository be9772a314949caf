//! The last hash of a protocol: from what both parties know of a shared item to its mask.

use bytemuck::Pod;
use psijoin_block::blake3_rows;

use crate::items::words;

/// Keyed BLAKE3 of a value of 128 bits and the item that it belongs to.
pub(crate) struct OutputHash(pub(crate) [u8; 32]);

impl OutputHash {
    /// The hashes of values, with the digests of their items.
    pub(crate) fn hash<T: Pod, const D: usize>(
        &self,
        values: &[T],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        match D {
            16 => self.hash_rows::<T, D, 4>(values, digests, outputs),
            _ => self.hash_rows::<T, D, 6>(values, digests, outputs),
        }
    }

    fn hash_rows<T: Pod, const D: usize, const WORDS: usize>(
        &self,
        values: &[T],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        const BATCH: usize = 256;
        let mut rows = [[0; WORDS]; BATCH];
        let inputs = values.chunks(BATCH).zip(digests.chunks(BATCH));
        for ((values, digests), outputs) in inputs.zip(outputs.chunks_mut(BATCH)) {
            let rows = &mut rows[..values.len()];
            for (row, (value, digest)) in rows.iter_mut().zip(values.iter().zip(digests)) {
                let value: [u64; 2] = bytemuck::cast(*value);
                *row = words(digest);
                row[WORDS - 2..].copy_from_slice(&value);
            }
            let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
            blake3_rows::keyed_hash(&self.0, rows, outputs);
        }
    }
}
