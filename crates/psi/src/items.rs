//! Items as the protocols see them: fixed-size digests.
//!
//! A caller reduces each item to a 256-bit [`Fingerprint`] by a collision-resistant hash, as
//! it reads its table, and removes duplicates. When both sets are fixed, the parties agree on
//! a joint seed, and each maps its fingerprints to digests: BLAKE3 keyed by a salt from that
//! seed, 128 or 256 bits as the plan demands. Protocols see digests only. Since the salt
//! comes after the sets, nobody can have prepared items whose digests collide.

use psijoin_block::{blake3_rows, parallel};
use psijoin_params::{Error, FailureBudget, Sizes, digest};

/// The output of a collision-resistant hash of an item, such as BLAKE3's.
pub type Fingerprint = [u8; 32];

/// Fingerprints that one task digests.
const CHUNK: usize = 1024;

/// The digests of a party's distinct items, in its own order.
#[derive(Clone)]
pub enum Items {
    /// 128 bits each.
    Short(Vec<[u8; 16]>),
    /// 256 bits each.
    Long(Vec<[u8; 32]>),
}

impl Items {
    /// Digests `fingerprints` to `digest_bytes` (16 or 32: [`Plan::digest_bytes`](crate::Plan::digest_bytes)) each,
    /// under the seed that both parties agreed on after both had fixed their sets.
    ///
    /// # Panics
    /// If `digest_bytes` is neither 16 nor 32.
    pub fn digest(
        fingerprints: &[Fingerprint],
        joint_seed: &[u8; 32],
        digest_bytes: usize,
    ) -> Self {
        let salt = blake3::derive_key("psijoin 2026 salt of item digests", joint_seed);
        match digest_bytes {
            16 => Self::Short(digest_all::<2, 16>(fingerprints, &salt)),
            32 => Self::Long(digest_all::<4, 32>(fingerprints, &salt)),
            _ => panic!("digests have 16 or 32 bytes"),
        }
    }

    /// Distinct items that are numbers of at most 64 bits, as they are, for a plan of short
    /// items ([`psz::Params::short`](crate::psz::Params::short)). All other plans want digests.
    pub fn numbers(items: &[u64]) -> Self {
        let item = |number: &u64| u128::from(*number).to_le_bytes();
        Self::Short(items.iter().map(item).collect())
    }

    /// How many items there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Short(items) => items.len(),
            Self::Long(items) => items.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The digests at these positions as words, short ones padded with zeros.
    pub(crate) fn rows(&self, positions: impl Iterator<Item = u32>) -> Vec<[u64; 4]> {
        positions
            .map(|i| match self {
                Self::Short(items) => words(&items[i as usize]),
                Self::Long(items) => words(&items[i as usize]),
            })
            .collect()
    }

    /// Bytes of a digest.
    pub fn digest_bytes(&self) -> usize {
        match self {
            Self::Short(_) => 16,
            Self::Long(_) => 32,
        }
    }
}

/// The length of the shortest digests of which no two are alike, within an eighth of the
/// failure budget.
pub(crate) fn digest_bytes(sizes: Sizes, budget: &mut FailureBudget) -> Result<usize, Error> {
    let bytes = digest::bytes(sizes, budget.share(0.125))?;
    budget.charge("digest collision", digest::collision(sizes, bytes))?;
    Ok(bytes)
}

fn digest_all<const WORDS: usize, const BYTES: usize>(
    fingerprints: &[Fingerprint],
    salt: &[u8; 32],
) -> Vec<[u8; BYTES]> {
    let mut digests = vec![[0; BYTES]; fingerprints.len()];
    parallel::chunks_mut(&mut digests, CHUNK, &|range, digests| {
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
    digests
}

/// Bytes as little-endian words, padded with zeros to `WORDS`.
pub(crate) fn words<const WORDS: usize>(bytes: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(bytes.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// Calls `online` of a party for the digests of its input.
macro_rules! by_digest {
    ($party:expr, $input:expr, $channel:expr, $context:expr) => {
        match $input.items {
            $crate::Items::Short(items) => $party.online(items, &$input, $channel, $context),
            $crate::Items::Long(items) => $party.online(items, &$input, $channel, $context),
        }
    };
}
pub(crate) use by_digest;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_keyed_blake3() {
        let fingerprints: Vec<Fingerprint> = (0..CHUNK as u64 + 3)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let seed = [9; 32];
        let salt = blake3::derive_key("psijoin 2026 salt of item digests", &seed);
        let Items::Short(short) = Items::digest(&fingerprints, &seed, 16) else {
            unreachable!()
        };
        let Items::Long(long) = Items::digest(&fingerprints, &seed, 32) else {
            unreachable!()
        };
        for ((fingerprint, short), long) in fingerprints.iter().zip(short).zip(long) {
            let expected = blake3::keyed_hash(&salt, fingerprint);
            assert_eq!(short, expected.as_bytes()[..16]);
            assert_eq!(long, *expected.as_bytes());
        }
    }

    #[test]
    fn another_seed_gives_other_digests() {
        let digest = |seed| match Items::digest(&[[1; 32]], &[seed; 32], 16) {
            Items::Short(digests) => digests[0],
            Items::Long(_) => unreachable!(),
        };
        assert_ne!(digest(1), digest(2));
    }
}
