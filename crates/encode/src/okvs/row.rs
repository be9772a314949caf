//! Which elements of a bin make up the value of an item.

use bytemuck::{Pod, Zeroable};
use psijoin_block::{
    Block, Prg,
    aes::Aes128,
    blake3_rows,
    tower::{Element, Gf64},
};
use psijoin_params::okvs::Shape;

use crate::{Digests, hashing::among_others};

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
/// Both come from a function F of the digest under the key: the first four words of 32 bits
/// are the slots (each as a fraction of 2^32 of the slots that are left) and the check, the
/// next 64 bits the dense coefficient, and the next 64 or 128 the value.
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
}

impl RowHasher {
    /// How many block ciphers the pseudorandom function has, for digests of a block.
    pub const CIPHERS: usize = 3;

    /// For stores of this shape, with a pseudorandom function: for items that were fixed before
    /// the key was known to anybody.
    pub fn pseudorandom(key: [u8; 32], shape: Shape) -> Self {
        let mut keys = [Block::ZERO; Self::CIPHERS];
        let seed = *key.first_chunk().expect("32 bytes");
        Prg::from_seed(Block::from_bytes(seed)).fill(&mut keys);
        Self {
            key,
            ciphers: Some(Box::new(keys.map(Aes128::new))),
            slots: shape.slots,
        }
    }

    /// For stores of this shape, with a random oracle: for parties that may choose items when
    /// they know the key.
    pub fn oracle(key: [u8; 32], shape: Shape) -> Self {
        Self {
            key,
            ciphers: None,
            slots: shape.slots,
        }
    }

    /// Computes rows and values of digests, for values of 64 or 128 bits.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash<V: Element>(&self, digests: Digests<'_>, rows: &mut [Row], values: &mut [V]) {
        assert!(
            digests.len() == rows.len() && digests.len() == values.len(),
            "a row and a value for each digest"
        );
        match size_of::<V>() {
            8 => self.hash_words::<4, V>(digests, rows, values),
            16 => self.hash_words::<5, V>(digests, rows, values),
            _ => unreachable!("elements have 8 or 16 bytes"),
        }
    }

    fn hash_words<const OUT: usize, V: Element>(
        &self,
        digests: Digests<'_>,
        rows: &mut [Row],
        values: &mut [V],
    ) {
        let mut hashes = [[0; OUT]; BATCH];
        let outputs = rows.chunks_mut(BATCH).zip(values.chunks_mut(BATCH));
        for (digests, (rows, values)) in digests.chunks(BATCH).zip(outputs) {
            let hashes = &mut hashes[..digests.len()];
            self.evaluate(digests, hashes);
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

    /// F of up to [`BATCH`] digests.
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

/// Keyed BLAKE3 of digests of IN words each.
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

/// The ciphertexts of each block of `bytes`, one after the other.
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
