//! The elements of a store that make up the value of an item.

use bytemuck::{Pod, Zeroable};
use psijoin_block::{Block, Prg, aes::Aes128, blake3_rows, tower::Element};
use psijoin_params::okvs::{COUPLED_WEIGHT, MAX_DENSE, Shape};

use crate::Digests;

/// Items that are hashed together.
const BATCH: usize = 64;

/// The most slots of a row.
const ROW_SLOTS: usize = COUPLED_WEIGHT as usize;

/// Bytes of F's output that a slot comes from.
const SLOT_BYTES: usize = 4;

/// Bytes of the bits for the dense columns.
const DENSE_BYTES: usize = MAX_DENSE as usize / 8;

/// The coefficients of an item: 1 for a slot in each of the segments from its start on, and 0 or 1
/// for each dense column.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Row {
    /// The place of the slot in each segment. If there are only three slots, the last is zero.
    pub slots: [u16; ROW_SLOTS],
    /// A bit for each dense column, the lowest bit of the first byte first. The others are zero.
    pub dense: [u8; DENSE_BYTES],
}

impl Row {
    /// Returns the slots among those of all segments, for a row of this start.
    pub(super) fn slots_from(
        &self,
        start: usize,
        shape: Shape,
    ) -> impl Iterator<Item = usize> + use<> {
        let (slots, len) = (self.slots, shape.segment_slots as usize);
        let segments = start..start + shape.weight as usize;
        segments
            .zip(slots)
            .map(move |(segment, slot)| segment * len + usize::from(slot))
    }

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
/// Both come from a function F of the digest under the key: the first words of 32 bits are the
/// slots (each as a fraction of 2^32 of the slots of a segment), the next bytes have the bits for
/// the dense columns, as many as it takes, and the bytes after them are the value.
///
/// The failure bound of [`psijoin_params::okvs`] holds for keys that are drawn after the
/// items are fixed.
#[derive(Clone)]
pub struct RowHasher {
    key: [u8; 32],
    /// With them F of a digest of a block is AES_k0, AES_k1 and AES_k2, one after the other. F of
    /// all else is keyed BLAKE3.
    ciphers: Option<Box<[Aes128; Self::CIPHERS]>>,
    shape: Shape,
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
            ciphers: Some(Box::new(keys.map(Aes128::new))),
            ..Self::oracle(key, shape)
        }
    }

    /// Makes the function for stores of this shape, with a random oracle: for parties that may
    /// choose items when they know the key.
    pub fn oracle(key: [u8; 32], shape: Shape) -> Self {
        Self {
            key,
            ciphers: None,
            shape,
        }
    }

    /// Returns the shape of the stores.
    pub fn shape(&self) -> Shape {
        self.shape
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
        let bytes = self.value_at() + V::BYTES;
        match bytes.div_ceil(8) {
            ..=4 => self.hash_words::<4, V>(digests, rows, values),
            5 => self.hash_words::<5, V>(digests, rows, values),
            6 => self.hash_words::<6, V>(digests, rows, values),
            _ => unreachable!("four slots, 96 bits and a value of 128 have 44 bytes"),
        }
    }

    /// Returns the byte of F's output at which the bits for dense columns begin.
    fn dense_at(&self) -> usize {
        SLOT_BYTES * self.shape.weight as usize
    }

    /// Returns the byte of F's output at which the value begins.
    fn value_at(&self) -> usize {
        self.dense_at() + self.shape.dense.div_ceil(8) as usize
    }

    fn hash_words<const OUT: usize, V: Element>(
        &self,
        digests: Digests<'_>,
        rows: &mut [Row],
        values: &mut [V],
    ) {
        let (dense_at, value_at) = (self.dense_at(), self.value_at());
        let columns = low_bits(self.shape.dense as usize);
        let (weight, slots) = (
            self.shape.weight as usize,
            u64::from(self.shape.segment_slots),
        );
        let mut hashes = [[0; OUT]; BATCH];
        let outputs = rows.chunks_mut(BATCH).zip(values.chunks_mut(BATCH));
        for (digests, (rows, values)) in digests.chunks(BATCH).zip(outputs) {
            let hashes = &mut hashes[..digests.len()];
            self.evaluate(digests, hashes);
            for ((row, value), hash) in rows.iter_mut().zip(values).zip(hashes) {
                let bytes: &[u8] = bytemuck::cast_slice(hash);
                let dense = bytes[dense_at..].first_chunk().expect("28 of 32 bytes");
                let dense = (u128::from_le_bytes(*dense) & columns).to_le_bytes();
                let fractions: &[u32] = bytemuck::cast_slice(hash);
                let mut of_row = [0; ROW_SLOTS];
                for (slot, fraction) in of_row.iter_mut().zip(&fractions[..weight]) {
                    *slot = ((u64::from(*fraction) * slots) >> 32) as u16;
                }
                *row = Row {
                    slots: of_row,
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
