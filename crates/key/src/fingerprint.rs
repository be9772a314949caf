//! The fingerprint of a key: 256 bits that depend on its canonical texts.

use psijoin_params::numbers;

/// The BLAKE3 context under which fingerprints are derived.
pub(crate) const CONTEXT: &str = "psijoin 2026-01 table key fingerprint v1";

/// Returns the fingerprint of a key with these canonical fields, none of which is empty.
pub(crate) fn fingerprint_of(fields: &[String]) -> [u8; 32] {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    for field in fields {
        hasher.update(&(field.len() as u64).to_le_bytes());
        hasher.update(field.as_bytes());
    }
    hasher.finalize().into()
}

/// Returns the fingerprint of a key that is one number, as the rule `number:BITS` leaves it.
pub(crate) fn fingerprint_of_number(canonical: &str) -> [u8; 32] {
    numbers::fingerprint(
        canonical
            .parse()
            .expect("the rule leaves digits of 64 bits"),
    )
}
