//! Items as the protocols see them: fixed-size digests.
//!
//! A caller reduces each item to a 256-bit [`Fingerprint`] by a collision-resistant hash, as
//! it reads its table, and removes duplicates. When both sets are fixed, the parties agree on
//! a joint seed, and each maps its fingerprints to digests: BLAKE3 keyed by a salt from that
//! seed, 128 or 256 bits as the plan demands. Protocols see digests only. Since the salt
//! comes after the sets, nobody can have prepared items whose digests collide.

use psijoin_block::{blake3_rows, parallel};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{DigestVec, Digests, digests::words};
use psijoin_params::{Error, FailureBudget, Sizes, digest};

/// The output of a collision-resistant hash of an item, such as BLAKE3's.
pub type Fingerprint = [u8; 32];

/// Fingerprints that one task digests.
const CHUNK: usize = 1024;

/// The digests of a party's distinct items, in its own order. How long a digest is, is a value:
/// [`digest_bytes`](Self::digest_bytes).
#[derive(Clone)]
pub struct Items(DigestVec);

impl Items {
    /// Digests `fingerprints` to `digest_bytes` (16 or 32: [`Plan::digest_bytes`](crate::Plan::digest_bytes)) each,
    /// under the seed that both parties agreed on after both had fixed their sets.
    ///
    /// # Panics
    /// If `digest_bytes` is neither 16 nor 32.
    pub fn digest(
        fingerprints: &[Fingerprint],
        joint_seed: &JointSeed,
        digest_bytes: usize,
    ) -> Self {
        let salt = joint_seed.key("psijoin 2026 salt of item digests");
        let mut digests = DigestVec::zeroed(fingerprints.len(), digest_bytes);
        match &mut digests {
            DigestVec::Short(digests) => digest_all::<2, 16>(fingerprints, &salt, digests),
            DigestVec::Long(digests) => digest_all::<4, 32>(fingerprints, &salt, digests),
        }
        Self(digests)
    }

    /// Distinct items that are numbers of at most 64 bits, as they are, for a plan of short
    /// items (`psz::Params::short`). All other plans require digests.
    pub fn numbers(items: &[u64]) -> Self {
        let item = |number: &u64| u128::from(*number).to_le_bytes();
        Self(DigestVec::Short(items.iter().map(item).collect()))
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        self.digests().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of a digest.
    pub fn digest_bytes(&self) -> usize {
        self.digests().digest_bytes()
    }

    /// The digests.
    pub fn digests(&self) -> Digests<'_> {
        self.0.as_digests()
    }

    /// The digests at these positions as words, short ones padded with zeros.
    pub fn rows(&self, positions: impl Iterator<Item = u32>) -> Vec<[u64; 4]> {
        let digests = self.digests();
        positions.map(|i| digests.words(i as usize)).collect()
    }
}

/// For tests: digests of nothing.
impl From<DigestVec> for Items {
    fn from(digests: DigestVec) -> Self {
        Self(digests)
    }
}

/// The length of the shortest digests that are all different, within an eighth of the failure
/// budget.
///
/// # Errors
/// If there are none.
pub fn digest_bytes(sizes: Sizes, budget: &mut FailureBudget) -> Result<usize, Error> {
    let bytes = digest::bytes(sizes, budget.share(0.125))?;
    budget.charge("digest collision", digest::collision(sizes, bytes))?;
    Ok(bytes)
}

fn digest_all<const WORDS: usize, const BYTES: usize>(
    fingerprints: &[Fingerprint],
    salt: &[u8; 32],
    digests: &mut [[u8; BYTES]],
) {
    parallel::chunks_mut(digests, CHUNK, &|range, digests| {
        let mut rows = [[0_u64; 4]; CHUNK];
        let mut hashes = [[0_u64; WORDS]; CHUNK];
        let (rows, hashes) = (&mut rows[..digests.len()], &mut hashes[..digests.len()]);
        for (row, fingerprint) in rows.iter_mut().zip(&fingerprints[range]) {
            *row = words(fingerprint);
        }
        blake3_rows::keyed_hash(salt, rows, hashes);
        for (digest, hash) in digests.iter_mut().zip(hashes) {
            digest.copy_from_slice(bytemuck::cast_slice(hash));
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_keyed_blake3() {
        let fingerprints: Vec<Fingerprint> = (0..CHUNK as u64 + 3)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let seed = JointSeed::insecure_fixed([9; 32]);
        let salt = seed.key("psijoin 2026 salt of item digests");
        let [short, long] = [16, 32].map(|bytes| Items::digest(&fingerprints, &seed, bytes));
        assert_eq!((short.digest_bytes(), long.digest_bytes()), (16, 32));
        for (i, fingerprint) in fingerprints.iter().enumerate() {
            let expected = words(blake3::keyed_hash(&salt, fingerprint).as_bytes());
            assert_eq!(long.digests().words(i), expected);
            assert_eq!(short.digests().words(i), [expected[0], expected[1], 0, 0]);
        }
    }

    #[test]
    fn another_seed_gives_other_digests() {
        let digest = |seed| {
            let items = Items::digest(&[[1; 32]], &JointSeed::insecure_fixed([seed; 32]), 16);
            items.digests().words(0)
        };
        assert_ne!(digest(1), digest(2));
    }
}
