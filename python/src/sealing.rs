//! What hides and protects the content of an engine's files: AES-256-GCM, under a key that only the
//! engine's processes have. Each text is sealed under a nonce drawn at random, so that many
//! processes can seal without having to agree on numbers: 2^32 texts may be sealed under one key
//! (NIST SP 800-38D, 8.3). A text is bound to a label, such as the place where it belongs.

use pyo3::{exceptions::PyValueError, prelude::*, types::PyBytes};
use ring::{
    aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey},
    rand,
};

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Seals texts.
pub(crate) struct Sealing(LessSafeKey);

impl Sealing {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        let key = UnboundKey::new(&AES_256_GCM, key).expect("a key of this length");
        Self(LessSafeKey::new(key))
    }

    /// Seals a text under a label: returns the nonce, the ciphertext and the tag.
    pub(crate) fn seal(&self, label: &str, text: &[u8]) -> Vec<u8> {
        let nonce: [u8; NONCE_LEN] = rand::generate(&rand::SystemRandom::new())
            .expect("the system has randomness")
            .expose();
        let mut sealed = Vec::with_capacity(NONCE_LEN + text.len() + AES_256_GCM.tag_len());
        sealed.extend(nonce);
        sealed.extend(text);
        let (nonce, label) = (Nonce::assume_unique_for_key(nonce), Aad::from(label));
        let tag = (self.0).seal_in_place_separate_tag(nonce, label, &mut sealed[NONCE_LEN..]);
        let tag = tag.expect("a text is far smaller than what AES-GCM can seal at once");
        sealed.extend(tag.as_ref());
        sealed
    }

    /// Opens what was sealed under this key and label; `None` if it is something else.
    pub(crate) fn open(&self, label: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        let (nonce, text) = sealed.split_first_chunk()?;
        let (nonce, mut text) = (Nonce::assume_unique_for_key(*nonce), text.to_vec());
        let opened = self.0.open_in_place(nonce, Aad::from(label), &mut text);
        let length = opened.ok()?.len();
        text.truncate(length);
        Some(text)
    }
}

/// Seals a text under a label.
#[pyfunction]
pub(crate) fn seal<'py>(
    py: Python<'py>,
    key: [u8; KEY_BYTES],
    label: &str,
    text: &[u8],
) -> Bound<'py, PyBytes> {
    let sealed = py.detach(|| Sealing::new(&key).seal(label, text));
    PyBytes::new(py, &sealed)
}

/// Opens what `seal` has sealed under this key and label. Raises `ValueError` if it is something
/// else.
#[pyfunction]
pub(crate) fn unseal<'py>(
    py: Python<'py>,
    key: [u8; KEY_BYTES],
    label: &str,
    sealed: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let opened = py.detach(|| Sealing::new(&key).open(label, sealed));
    let text = opened.ok_or_else(other)?;
    Ok(PyBytes::new(py, &text))
}

/// Says that a text was not sealed so.
pub(crate) fn other() -> PyErr {
    PyValueError::new_err("it was sealed by somebody else")
}
