//! What hides a table's keys, and what is found of them, in files of an engine.
//!
//! A fingerprint of a key tells whoever guesses the key that the guess is right. So what an engine
//! writes of fingerprints is veiled: sent through a permutation of all 256-bit numbers, under a key
//! that only its processes have. Equal keys stay equal, so that the engine can bring them together,
//! and nothing else can be told of them. The permutation is a Feistel network of four rounds with
//! AES as round function (Luby and Rackoff 1988).
//!
//! What a lane reports is sealed: AES-256-GCM, under a key of one session, in which each report has
//! a number of its own.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, FixedSizeBinaryArray, make_array};
use arrow_pyarrow::{FromPyArrow, ToPyArrow};
use arrow_schema::DataType;
use psijoin_block::{Block, aes::Aes128};
use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};

/// The bytes of a fingerprint.
const KEY_BYTES: usize = 32;

const ROUNDS: usize = 4;

/// The keys that are sent through the network together: enough to hide the latency of AES.
const BATCH: usize = 64;

/// A permutation of 256-bit numbers.
struct Veil([Aes128; ROUNDS]);

impl Veil {
    fn new(key: [u8; 16]) -> Self {
        let mut rounds: [Block; ROUNDS] = std::array::from_fn(|round| Block(round as u128));
        Aes128::new(Block::from_bytes(key)).encrypt(&mut rounds);
        Self(rounds.map(Aes128::new))
    }

    /// Sends these numbers through the network, in place.
    fn put_on(&self, keys: &mut [u8]) {
        for keys in keys.chunks_mut(BATCH * KEY_BYTES) {
            let (mut left, mut right) = halves(keys);
            for round in &self.0 {
                add(&mut left, round, &right);
                std::mem::swap(&mut left, &mut right);
            }
            join(keys, &left, &right);
        }
    }

    /// Undoes [`Self::put_on`].
    fn take_off(&self, keys: &mut [u8]) {
        for keys in keys.chunks_mut(BATCH * KEY_BYTES) {
            let (mut left, mut right) = halves(keys);
            for round in self.0.iter().rev() {
                std::mem::swap(&mut left, &mut right);
                add(&mut left, round, &right);
            }
            join(keys, &left, &right);
        }
    }
}

/// Adds the round's image of the right halves to the left ones.
fn add(left: &mut [Block], round: &Aes128, right: &[Block]) {
    let mut images = right.to_vec();
    round.encrypt(&mut images);
    for (left, image) in left.iter_mut().zip(images) {
        *left = Block(left.0 ^ image.0);
    }
}

fn halves(keys: &[u8]) -> (Vec<Block>, Vec<Block>) {
    let (blocks, _) = keys.as_chunks::<16>();
    let (pairs, _) = blocks.as_chunks::<2>();
    let halves = pairs.iter().map(|pair| pair.map(Block::from_bytes));
    halves.map(|[left, right]| (left, right)).unzip()
}

fn join(keys: &mut [u8], left: &[Block], right: &[Block]) {
    let halves = left
        .iter()
        .zip(right)
        .flat_map(|(left, right)| [left, right]);
    for (bytes, half) in keys.chunks_exact_mut(16).zip(halves) {
        bytes.copy_from_slice(&half.to_bytes());
    }
}

/// Veils an array of fingerprints, `fixed_size_binary(32)`, of which some may be null. `key` has 16
/// bytes.
#[pyfunction]
pub(crate) fn veil<'py>(
    py: Python<'py>,
    key: [u8; 16],
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    through(py, keys, |keys| Veil::new(key).put_on(keys))
}

/// Undoes `veil`.
#[pyfunction]
pub(crate) fn unveil<'py>(
    py: Python<'py>,
    key: [u8; 16],
    keys: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    through(py, keys, |keys| Veil::new(key).take_off(keys))
}

fn through<'py>(
    py: Python<'py>,
    keys: &Bound<'py, PyAny>,
    work: impl FnOnce(&mut [u8]) + Send,
) -> PyResult<Bound<'py, PyAny>> {
    let keys = make_array(FromPyArrow::from_pyarrow_bound(keys)?);
    let keys = keys.as_any().downcast_ref::<FixedSizeBinaryArray>();
    let keys = keys.filter(|keys| *keys.data_type() == DataType::FixedSizeBinary(32));
    let keys = keys.ok_or_else(|| PyValueError::new_err("fingerprints have 32 bytes each"))?;
    let changed = py.detach(|| {
        let first = keys.offset() * KEY_BYTES;
        let mut bytes = keys.value_data()[first..][..keys.len() * KEY_BYTES].to_vec();
        work(&mut bytes);
        FixedSizeBinaryArray::new(KEY_BYTES as i32, bytes.into(), keys.nulls().cloned())
    });
    let changed: ArrayRef = Arc::new(changed);
    changed.to_data().to_pyarrow(py)
}

/// Seals a text that has this number among all that are sealed under this key.
#[pyfunction]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    key: [u8; 32],
    number: u32,
    text: &[u8],
) -> Bound<'py, PyBytes> {
    let mut text = text.to_vec();
    let sealed = sealing(&key).seal_in_place_append_tag(nonce(number), Aad::empty(), &mut text);
    sealed.expect("a report is far smaller than what AES-GCM can seal at once");
    PyBytes::new(py, &text)
}

/// Opens what `seal` has sealed under this key and number. Raises `ValueError` if it is something
/// else.
#[pyfunction]
pub(crate) fn unseal<'py>(
    py: Python<'py>,
    key: [u8; 32],
    number: u32,
    sealed: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let mut sealed = sealed.to_vec();
    let opened = sealing(&key).open_in_place(nonce(number), Aad::empty(), &mut sealed);
    let text = opened.map_err(|_| PyValueError::new_err("it was sealed by somebody else"))?;
    Ok(PyBytes::new(py, text))
}

fn sealing(key: &[u8; 32]) -> LessSafeKey {
    LessSafeKey::new(UnboundKey::new(&AES_256_GCM, key).expect("a key has 32 bytes"))
}

fn nonce(number: u32) -> Nonce {
    let mut nonce = [0; NONCE_LEN];
    nonce[..4].copy_from_slice(&number.to_le_bytes());
    Nonce::assume_unique_for_key(nonce)
}
