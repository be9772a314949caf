//! The elements of a bin that make up the value of an item.

use bytemuck::{Pod, Zeroable};
use psijoin_block::{Block, Prg, aes::Aes128, blake3_rows, tower::Element};
use psijoin_params::okvs::{MAX_DENSE, Shape};

use crate::{Digests, hashing::among_others};

/// Items that are hashed together.
const BATCH: usize = 64;

/// Bytes of F's output that the slots come from.
const SLOT_BYTES: usize = 12;

/// Bytes of the bits for the dense columns.
const DENSE_BYTES: usize = MAX_DENSE as usize / 8;

/// The first 32 bits of a word of 64.
const LOW: u64 = (1 << 32) - 1;

/// The coefficients of an item in its bin: 1 for three slots, and 0 or 1 for each dense column.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// Three distinct slots.
    pub slots: [u32; 3],
    /// A bit for each dense column, the lowest bit of the first byte first. The others are zero.
    pub dense: [u8; DENSE_BYTES],
}

impl Row {
    /// Returns the bits for the first `count` dense columns.
    pub(super) fn columns(&self, count: usize) -> u128 {
        let mut bytes = [0; 16];
        bytes[..DENSE_BYTES].copy_from_slice(&self.dense);
        u128::from_le_bytes(bytes) & low_bits(count)
    }
}

/// Returns a number whose `count` lowest bits are ones, for less than 128.
fn low_bits(count: usize) -> u128 {
    (1 << count) - 1
}

/// Derives the row of an item, and the value that it is to have, from its digest.
///
/// Both come from a function F of the digest under the key: the first three words of 32 bits are
/// the slots (each as a fraction of 2^32 of the slots that are left), the next bytes have the bits
/// for the dense columns, as many as it takes, and the bytes after them are the value.
///
/// The failure bound of [`psijoin_params::okvs`] holds for keys that are drawn after the
/// items are fixed.
#[derive(Clone)]
pub struct RowHasher {
    key: [u8; 32],
    /// With them F of a digest of a block is AES_k0, AES_k1 and AES_k2, one after the other. F of
    /// all else is keyed BLAKE3.
    ciphers: Option<Box<[Aes128; Self::CIPHERS]>>,
    slots: u32,
    dense: usize,
}

impl RowHasher {
    /// The number of block ciphers of the pseudorandom function, for digests of a block.
    pub const CIPHERS: usize = 3;

    /// Makes the function for stores of this shape, with a pseudorandom function: for items that
    /// were fixed before the key was known to anybody.
    pub fn pseudorandom(key: [u8; 32], shape: Shape) -> Self {
        let mut keys = [Block::ZERO; Self::CIPHERS];
        let seed = *key.first_chunk().expect("32 bytes");
        Prg::from_seed(Block::from_bytes(seed)).fill(&mut keys);
        Self {
            key,
            ciphers: Some(Box::new(keys.map(Aes128::new))),
            slots: shape.slots,
            dense: shape.dense as usize,
        }
    }

    /// Makes the function for stores of this shape, with a random oracle: for parties that may
    /// choose items when they know the key.
    pub fn oracle(key: [u8; 32], shape: Shape) -> Self {
        Self {
            key,
            ciphers: None,
            slots: shape.slots,
            dense: shape.dense as usize,
        }
    }

    /// Computes rows and values of digests.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash<V: Element>(&self, digests: Digests<'_>, rows: &mut [Row], values: &mut [V]) {
        assert!(
            digests.len() == rows.len() && digests.len() == values.len(),
            "a row and a value for each digest"
        );
        let bytes = SLOT_BYTES + self.dense.div_ceil(8) + V::BYTES;
        match bytes.div_ceil(8) {
            ..=4 => self.hash_words::<4, V>(digests, rows, values),
            5 => self.hash_words::<5, V>(digests, rows, values),
            _ => unreachable!("slots, 96 bits and a value of 128 have 40 bytes"),
        }
    }

    fn hash_words<const OUT: usize, V: Element>(
        &self,
        digests: Digests<'_>,
        rows: &mut [Row],
        values: &mut [V],
    ) {
        let value_at = SLOT_BYTES + self.dense.div_ceil(8);
        let columns = low_bits(self.dense);
        let mut hashes = [[0; OUT]; BATCH];
        let outputs = rows.chunks_mut(BATCH).zip(values.chunks_mut(BATCH));
        for (digests, (rows, values)) in digests.chunks(BATCH).zip(outputs) {
            let hashes = &mut hashes[..digests.len()];
            self.evaluate(digests, hashes);
            for ((row, value), hash) in rows.iter_mut().zip(values).zip(hashes) {
                let pick = |word: u64, from: u32| ((word * u64::from(from)) >> 32) as u32;
                let bytes: &[u8] = bytemuck::cast_slice(hash);
                let dense = bytes[SLOT_BYTES..].first_chunk().expect("28 of 32 bytes");
                let dense = (u128::from_le_bytes(*dense) & columns).to_le_bytes();
                *row = Row {
                    slots: among_others([
                        pick(hash[0] & LOW, self.slots),
                        pick(hash[0] >> 32, self.slots - 1),
                        pick(hash[1] & LOW, self.slots - 2),
                    ]),
                    dense: *dense.first_chunk().expect("12 of 16 bytes"),
                };
                *value = V::from_bytes(&bytes[value_at..][..V::BYTES]);
            }
        }
    }

    /// Computes F of up to [`BATCH`] digests.
    fn evaluate<const OUT: usize>(&self, digests: Digests<'_>, outputs: &mut [[u64; OUT]]) {
        match (digests, &self.ciphers) {
            (Digests::Short(digests), Some(ciphers)) => {
                encrypt(&**ciphers, digests.as_flattened(), outputs);
            }
            (Digests::Short(digests), None) => {
                keyed_hash::<2, OUT>(&self.key, digests.as_flattened(), outputs);
            }
            (Digests::Long(digests), _) => {
                keyed_hash::<4, OUT>(&self.key, digests.as_flattened(), outputs);
            }
        }
    }
}

/// Computes keyed BLAKE3 of digests of IN words each.
fn keyed_hash<const IN: usize, const OUT: usize>(
    key: &[u8; 32],
    bytes: &[u8],
    outputs: &mut [[u64; OUT]],
) {
    let mut words = [[0; IN]; BATCH];
    let words = &mut words[..outputs.len()];
    bytemuck::cast_slice_mut::<_, u8>(words).copy_from_slice(bytes);
    for word in words.as_flattened_mut() {
        *word = u64::from_le(*word);
    }
    blake3_rows::keyed_hash(key, words, outputs);
}

/// Computes the ciphertexts of each block of `bytes`, one after the other.
fn encrypt<const OUT: usize>(ciphers: &[Aes128], bytes: &[u8], outputs: &mut [[u64; OUT]]) {
    let mut blocks = [Block::ZERO; BATCH];
    let blocks = &mut blocks[..outputs.len()];
    for (number, cipher) in ciphers.iter().take(OUT.div_ceil(2)).enumerate() {
        bytemuck::cast_slice_mut(blocks).copy_from_slice(bytes);
        cipher.encrypt(blocks);
        for (output, block) in outputs.iter_mut().zip(&*blocks) {
            for (word, half) in output[2 * number..]
                .iter_mut()
                .zip([block.0, block.0 >> 64])
            {
                *word = half as u64;
            }
        }
    }
}
