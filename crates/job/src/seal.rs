//! Keys that seal what is kept, and hash what only has to be recognised.

use std::io;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use zeroize::Zeroizing;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// The bytes that sealing adds to a text.
pub(crate) const OVERHEAD_BYTES: usize = NONCE_LEN + 16;

/// A key of a folder, or of its owner.
pub(crate) struct Key {
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    sealing: LessSafeKey,
}

/// The error about a text that was sealed under another key or for another place, or has changed
/// since.
pub(crate) struct Unsealable;

impl Key {
    pub(crate) fn draw() -> io::Result<Self> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        random(&mut *bytes)?;
        Ok(Self::new(bytes))
    }

    pub(crate) fn new(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        let sealing = Zeroizing::new(blake3::derive_key("psijoin 2026 job: sealing", &*bytes));
        let sealing = UnboundKey::new(&AES_256_GCM, &*sealing).expect("a key of 32 bytes");
        Self {
            bytes,
            sealing: LessSafeKey::new(sealing),
        }
    }

    /// Returns the key that only the owner of `secret` has, of the folder with this salt.
    pub(crate) fn of_owner(secret: &[u8; 32], salt: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026 job: key of the owner");
        hasher.update(secret).update(salt.as_bytes());
        Self::new(Zeroizing::new(hasher.finalize().into()))
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.bytes
    }

    /// Hashes what nobody can tell from its hash who does not have the key.
    pub(crate) fn hasher(&self) -> blake3::Hasher {
        let key = Zeroizing::new(blake3::derive_key(
            "psijoin 2026 job: hashing",
            &*self.bytes,
        ));
        blake3::Hasher::new_keyed(&key)
    }

    /// Returns a nonce, and the text sealed for a place.
    pub(crate) fn seal(&self, place: &[u8], text: &[u8]) -> io::Result<Vec<u8>> {
        let mut sealed = Vec::with_capacity(text.len() + OVERHEAD_BYTES);
        let mut nonce = [0; NONCE_LEN];
        random(&mut nonce)?;
        sealed.extend(nonce);
        sealed.extend(text);
        let nonce = Nonce::assume_unique_for_key(nonce);
        let tag = (self.sealing)
            .seal_in_place_separate_tag(nonce, Aad::from(place), &mut sealed[NONCE_LEN..])
            .map_err(|_| io::Error::other("what was computed is too long to be sealed"))?;
        sealed.extend(tag.as_ref());
        Ok(sealed)
    }

    /// Returns the text that was sealed for a place.
    pub(crate) fn open(
        &self,
        place: &[u8],
        mut sealed: Vec<u8>,
    ) -> Result<Zeroizing<Vec<u8>>, Unsealable> {
        let (nonce, text) = sealed.split_at_mut_checked(NONCE_LEN).ok_or(Unsealable)?;
        let nonce = Nonce::try_assume_unique_for_key(nonce).map_err(|_| Unsealable)?;
        let opened = self.sealing.open_in_place(nonce, Aad::from(place), text);
        let len = opened.map_err(|_| Unsealable)?.len();
        sealed.drain(..NONCE_LEN);
        let mut sealed = Zeroizing::new(sealed);
        sealed.truncate(len);
        Ok(sealed)
    }
}

pub(crate) fn random(bytes: &mut [u8]) -> io::Result<()> {
    getrandom::fill(bytes).map_err(|_| io::Error::other("the operating system gives no randomness"))
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub(crate) fn from_hex(text: &str) -> Option<Vec<u8>> {
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    let byte = |pair: &[u8; 2]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    pairs
        .iter()
        .map(byte)
        .collect::<Option<_>>()
        .filter(|_| rest.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_in_its_place_only() {
        let [key, other] = [1, 2].map(|byte| Key::new(Zeroizing::new([byte; KEY_BYTES])));
        let sealed = key.seal(b"here", b"a text").unwrap();
        assert_eq!(sealed.len(), 6 + OVERHEAD_BYTES);
        let opened = |key: &Key, place: &[u8], sealed: &[u8]| {
            let opened = key.open(place, sealed.to_vec());
            opened.ok().map(|text| text.to_vec())
        };
        assert_eq!(opened(&key, b"here", &sealed), Some(b"a text".to_vec()));
        assert_eq!(opened(&key, b"there", &sealed), None);
        assert_eq!(opened(&other, b"here", &sealed), None);
        for at in 0..sealed.len() {
            let mut spoilt = sealed.clone();
            spoilt[at] ^= 1;
            assert_eq!(opened(&key, b"here", &spoilt), None);
            assert_eq!(opened(&key, b"here", &sealed[..at]), None);
        }
        assert_ne!(sealed, key.seal(b"here", b"a text").unwrap());
    }

    #[test]
    fn hexadecimal_digits() {
        assert_eq!(hex(&[0, 0xaf]), "00af");
        assert_eq!(from_hex("00af"), Some(vec![0, 0xaf]));
        for wrong in ["0", "0g", "é0"] {
            assert_eq!(from_hex(wrong), None);
        }
    }
}
