//! Which elements of a bin make up the value of an item.

use bytemuck::{Pod, Zeroable};
use psijoin_block::{
    blake3_rows,
    tower::{Element, Gf64},
};
use psijoin_params::okvs::Shape;

use crate::hashing::among_others;

/// Items that are hashed together.
const BATCH: usize = 64;

/// The first 32 bits of a word of 64.
const LOW: u64 = (1 << 32) - 1;

/// The coefficients of an item in its bin: 1 for three slots, dense, dense², dense³, … for
/// the dense columns, and a last one for the check column, where there is one.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// Three distinct slots.
    pub slots: [u32; 3],
    /// The coefficient in the check column.
    pub check: u32,
    /// The powers of this one are the coefficients of the dense columns.
    pub dense: Gf64,
}

/// Derives the row of an item, and the value that it is to have, from its digest.
///
/// Both come from BLAKE3 of the digest under the key: words 0 to 3 of 32 bits are the slots
/// (each as a fraction of 2^32 of the slots that are left) and the check, the next 64 bits
/// the dense coefficient, and the next 64 or 128 the value.
///
/// The failure bound of [`psijoin_params::okvs`] holds for keys that are drawn after the
/// items are fixed.
#[derive(Clone)]
pub struct RowHasher {
    key: [u8; 32],
    slots: u32,
}

impl RowHasher {
    /// For stores of this shape.
    pub fn new(key: [u8; 32], shape: Shape) -> Self {
        Self {
            key,
            slots: shape.slots,
        }
    }

    /// Computes rows and values of digests of D = 16 or 32 bytes, for values of 64 or 128
    /// bits.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash<const D: usize, V: Element>(
        &self,
        digests: &[[u8; D]],
        rows: &mut [Row],
        values: &mut [V],
    ) {
        const { assert!(D == 16 || D == 32, "digests have 16 or 32 bytes") };
        assert!(
            digests.len() == rows.len() && digests.len() == values.len(),
            "a row and a value for each digest"
        );
        match (D, size_of::<V>()) {
            (16, 8) => self.hash_words::<D, 2, 4, V>(digests, rows, values),
            (16, 16) => self.hash_words::<D, 2, 5, V>(digests, rows, values),
            (32, 8) => self.hash_words::<D, 4, 4, V>(digests, rows, values),
            (32, 16) => self.hash_words::<D, 4, 5, V>(digests, rows, values),
            _ => unreachable!("elements have 8 or 16 bytes"),
        }
    }

    fn hash_words<const D: usize, const IN: usize, const OUT: usize, V: Element>(
        &self,
        digests: &[[u8; D]],
        rows: &mut [Row],
        values: &mut [V],
    ) {
        let mut words = [[0; IN]; BATCH];
        let mut hashes = [[0; OUT]; BATCH];
        let outputs = rows.chunks_mut(BATCH).zip(values.chunks_mut(BATCH));
        for (digests, (rows, values)) in digests.chunks(BATCH).zip(outputs) {
            let words = &mut words[..digests.len()];
            let hashes = &mut hashes[..digests.len()];
            bytemuck::cast_slice_mut::<_, u8>(words).copy_from_slice(digests.as_flattened());
            for word in words.as_flattened_mut() {
                *word = u64::from_le(*word);
            }
            blake3_rows::keyed_hash(&self.key, words, hashes);
            for ((row, value), hash) in rows.iter_mut().zip(values).zip(hashes) {
                let pick = |word: u64, from: u32| ((word * u64::from(from)) >> 32) as u32;
                *row = Row {
                    slots: among_others([
                        pick(hash[0] & LOW, self.slots),
                        pick(hash[0] >> 32, self.slots - 1),
                        pick(hash[1] & LOW, self.slots - 2),
                    ]),
                    check: (hash[1] >> 32) as u32,
                    dense: Gf64(hash[2]),
                };
                *value = bytemuck::pod_read_unaligned(bytemuck::cast_slice(&hash[3..]));
            }
        }
    }
}
