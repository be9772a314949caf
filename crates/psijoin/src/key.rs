//! Items as keys of one text.

use psijoin_psi::Fingerprint;

pub(crate) const SPELLING_VERSION: u32 = 4;

pub(crate) const TEXT: &str = "text";

pub(crate) fn fingerprint(text: &[u8]) -> Fingerprint {
    let mut hasher = blake3::Hasher::new_derive_key("psijoin 2026-01 table key fingerprint v1");
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text);
    hasher.finalize().into()
}
