//! What hides keys by which an engine joins rows.
//!
//! A fingerprint of a key tells whoever guesses the key that the guess is right. So what an engine
//! gets of fingerprints is veiled: sent through a permutation of all 256-bit numbers, under a key
//! that only its processes have. Equal keys stay equal, so that the engine can bring them together,
//! and nothing else can be told of them. The permutation is a Feistel network of four rounds with
//! AES as round function (Luby and Rackoff 1988).

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, make_array};
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::DataType;
use psijoin_block::{Block, aes::Aes128};
use pyo3::{exceptions::PyValueError, prelude::*};

/// The bytes of a fingerprint.
const KEY_BYTES: usize = 32;

const ROUNDS: usize = 4;

/// The keys that are sent through the network together: enough to hide the latency of AES.
const BATCH: usize = 64;

/// A permutation of 256-bit numbers.
pub(crate) struct Veil([Aes128; ROUNDS]);

impl Veil {
    pub(crate) fn new(key: [u8; 16]) -> Self {
        let mut rounds: [Block; ROUNDS] = std::array::from_fn(|round| Block(round as u128));
        Aes128::new(Block::from_bytes(key)).encrypt(&mut rounds);
        Self(rounds.map(Aes128::new))
    }

    /// Sends these numbers through the network, in place.
    fn put_on(&self, keys: &mut [Key]) {
        for keys in keys.chunks_mut(BATCH) {
            let (mut left, mut right) = ([Block(0); BATCH], [Block(0); BATCH]);
            for ((key, left), right) in keys.iter().zip(&mut left).zip(&mut right) {
                [*left, *right] = halves(key);
            }
            for round in &self.0 {
                let mut images = right;
                round.encrypt(&mut images[..keys.len()]);
                for (left, image) in left.iter_mut().zip(images) {
                    *left = Block(left.0 ^ image.0);
                }
                std::mem::swap(&mut left, &mut right);
            }
            for ((key, left), right) in keys.iter_mut().zip(left).zip(right) {
                key[..16].copy_from_slice(&left.to_bytes());
                key[16..].copy_from_slice(&right.to_bytes());
            }
        }
    }

    /// Returns for each of these fingerprints a number below `count`. Equal ones have the same, and
    /// nobody without the key can foretell it.
    pub(crate) fn buckets(&self, fingerprints: &[Key], count: u32) -> Vec<u32> {
        let mut veiled = fingerprints.to_vec();
        self.put_on(&mut veiled);
        let first = |key: &Key| u32::from_le_bytes([key[0], key[1], key[2], key[3]]);
        let scaled = |number: u32| ((u64::from(number) * u64::from(count)) >> 32) as u32;
        veiled.iter().map(|key| scaled(first(key))).collect()
    }
}

/// A fingerprint.
type Key = [u8; KEY_BYTES];

fn halves(key: &Key) -> [Block; 2] {
    let (blocks, _) = key.as_chunks::<16>();
    [Block::from_bytes(blocks[0]), Block::from_bytes(blocks[1])]
}

/// Veils an array of fingerprints, `fixed_size_binary(32)`, of which some may be null.
#[pyfunction]
pub(crate) fn veil<'py>(
    py: Python<'py>,
    key: [u8; 16],
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let keys = make_array(FromPyArrow::from_pyarrow_bound(keys)?);
    let keys = keys.as_any().downcast_ref::<FixedSizeBinaryArray>();
    let keys = keys.filter(|keys| *keys.data_type() == DataType::FixedSizeBinary(32));
    let keys = keys.ok_or_else(|| PyValueError::new_err("fingerprints have 32 bytes each"))?;
    let changed = py.detach(|| {
        let first = keys.offset() * KEY_BYTES;
        let mut bytes = keys.value_data()[first..][..keys.len() * KEY_BYTES].to_vec();
        Veil::new(key).put_on(bytes.as_chunks_mut().0);
        FixedSizeBinaryArray::new(KEY_BYTES as i32, bytes.into(), keys.nulls().cloned())
    });
    let changed: ArrayRef = Arc::new(changed);
    changed.to_data().to_pyarrow(py)
}
