//! The way of each item to its part, for whoever sorts a table before anything runs on it.

use std::fmt;

use psijoin_channel::joint_seed::JointSeed;
use psijoin_params::parts::MAX_PARTS;
use zeroize::Zeroize;

use crate::items::{self, Fingerprint};

/// Bytes of a router.
const BYTES: usize = 32 + 2 * size_of::<u32>();

/// Tells in which part of a session each item is. It holds the salt of the session's digests, and
/// nothing else that is secret: whoever has it can test guesses of items against digests, and
/// cannot take part in the session.
#[derive(Clone, PartialEq, Eq)]
pub struct Router {
    salt: [u8; 32],
    digest_bytes: u32,
    parts: u32,
}

impl Router {
    /// Returns that of a session of this number of parts, whose items are digested under this seed.
    pub(crate) fn new(joint_seed: &JointSeed, digest_bytes: usize, parts: u32) -> Self {
        Self {
            salt: items::salt(joint_seed),
            digest_bytes: digest_bytes as u32,
            parts,
        }
    }

    /// Returns the number of parts.
    pub fn parts(&self) -> u32 {
        self.parts
    }

    /// Returns the part of each of these items.
    pub fn place(&self, fingerprints: &[Fingerprint]) -> Vec<u16> {
        items::parts_of(
            fingerprints,
            &self.salt,
            self.digest_bytes as usize,
            self.parts,
        )
    }

    /// Returns it as bytes, for processes that sort items.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = [self.digest_bytes, self.parts].map(u32::to_le_bytes);
        [&self.salt, numbers.as_flattened()].concat()
    }

    /// Reads what [`Self::to_bytes`] has written; `None` if it is something else.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; BYTES] = bytes.try_into().ok()?;
        let (salt, numbers) = bytes.split_first_chunk::<32>()?;
        let (digest_bytes, parts) = numbers.split_first_chunk::<4>()?;
        let router = Self {
            salt: *salt,
            digest_bytes: u32::from_le_bytes(*digest_bytes),
            parts: u32::from_le_bytes(parts.try_into().ok()?),
        };
        let is_one =
            matches!(router.digest_bytes, 16 | 32) && (1..=MAX_PARTS).contains(&router.parts);
        is_one.then_some(router)
    }
}

impl Drop for Router {
    fn drop(&mut self) {
        self.salt.zeroize();
    }
}

/// Without the salt.
impl fmt::Debug for Router {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Router")
            .field("parts", &self.parts)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Items;

    #[test]
    fn items_are_placed_where_they_are_digested() {
        let fingerprints: Vec<Fingerprint> = (0..3000_u64)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let seed = JointSeed::insecure_fixed([9; 32]);
        for bytes in [16, 32] {
            let items = Items::digest_in_parts(&fingerprints, &seed, bytes, 7);
            let router = Router::new(&seed, bytes, 7);
            assert_eq!(router.place(&fingerprints), items.parts());
            let read = Router::from_bytes(&router.to_bytes()).unwrap();
            assert_eq!((read.parts(), &read), (7, &router));
        }
    }

    #[test]
    fn other_bytes_are_no_router() {
        let seed = JointSeed::insecure_fixed([9; 32]);
        let bytes = Router::new(&seed, 16, 7).to_bytes();
        assert_eq!(Router::from_bytes(&bytes[1..]), None);
        for (place, value) in [(32, 17), (36, 0), (39, 1)] {
            let mut bytes = bytes.clone();
            bytes[place] = value;
            assert_eq!(Router::from_bytes(&bytes), None, "{place}");
        }
    }
}
