//! Hashes that are uniform modulo a large number.

use psijoin_params::public_key::UNIFORM_BITS;

/// Uniform bytes that hit each number with the same probability, up to 2^-128, when they are
/// reduced to one.
pub(crate) const BYTES: usize = UNIFORM_BITS as usize / 8;

/// Returns a keyed hash of each row: BLAKE3's extendable output.
pub(crate) fn hash(key: &[u8; 32], rows: &[[u64; 4]]) -> Vec<[u8; BYTES]> {
    let hash = |row: &[u64; 4]| {
        let mut hasher = blake3::Hasher::new_keyed(key);
        hasher.update(bytemuck::cast_slice(row));
        let mut bytes = [0; BYTES];
        hasher.finalize_xof().fill(&mut bytes);
        bytes
    };
    rows.iter().map(hash).collect()
}
