//! Items as the protocols see them: fixed-size digests.
//!
//! A caller reduces each item to a 256-bit [`Fingerprint`] by a collision-resistant hash, as
//! it reads its table, and removes duplicates. When both sets are fixed, the parties agree on
//! a joint seed, and each maps its fingerprints to digests: BLAKE3 keyed by a salt from that
//! seed, 128 or 256 bits as the plan demands. Protocols see digests only. Since the salt
//! comes after the sets, nobody can have prepared items whose digests collide.
//!
//! Items that are numbers of at most 64 bits have fingerprints from which they can be read
//! ([`number`]). A plan may take them as they are ([`Plan::number_bits`](crate::Plan::number_bits)): what is compared is
//! shorter then, and no two items are taken for each other.

use psijoin_block::{Prg, blake3_rows};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{DigestBuffer, DigestVec, Digests, digests::words};
use psijoin_params::{Error, FailureBudget, Sizes, digest, numbers, parts};
use psijoin_runtime::parallel;

pub use psijoin_params::numbers::MAX_BITS;

/// The output of a collision-resistant hash of an item, such as BLAKE3's.
pub type Fingerprint = [u8; 32];

/// Bytes of a number in [`Items`].
pub(crate) const NUMBER_BYTES: usize = 16;

/// Returns the fingerprint of an item that is a number. Where items are numbers
/// ([`Request::numbers`](crate::Request::numbers)), all fingerprints are of this form.
pub fn number(number: u64) -> Fingerprint {
    numbers::fingerprint(number)
}

/// The context that the key of all digests is derived for.
const SALT: &str = "psijoin 2026 salt of item digests";

/// Fingerprints that one task digests.
const CHUNK: usize = 1024;

/// The digests of a party's distinct items, in its own order. Their length is a value:
/// [`digest_bytes`](Self::digest_bytes).
#[derive(Clone)]
pub struct Items {
    digests: DigestBuffer,
    /// The part of each item, if there are parts.
    parts: Vec<u16>,
}

impl Items {
    /// Digests `fingerprints` to `digest_bytes` (16 or 32) each, under the seed that both parties
    /// agreed on after both had fixed their sets. For a plan, use
    /// [`Plan::items`](crate::Plan::items).
    ///
    /// # Panics
    /// If `digest_bytes` is neither 16 nor 32.
    pub fn digest(
        fingerprints: &[Fingerprint],
        joint_seed: &JointSeed,
        digest_bytes: usize,
    ) -> Self {
        let salt = &salt(joint_seed);
        let mut digests = DigestBuffer::zeroed(fingerprints.len(), digest_bytes);
        match &mut digests {
            DigestBuffer::Short(digests) => {
                digest_all::<2, 16, _>(fingerprints, salt, digests, &mut [(); 0], |_| ())
            }
            DigestBuffer::Long(digests) => {
                digest_all::<4, 32, _>(fingerprints, salt, digests, &mut [(); 0], |_| ())
            }
        }
        digests.into()
    }

    /// Digests `fingerprints`, and tells which of `parts` parts each item is in: a further word of
    /// the hash that a digest is cut from. So within a part digests are uniform.
    ///
    /// # Panics
    /// If `digest_bytes` is neither 16 nor 32, or there are more than [`parts::MAX_PARTS`].
    pub(crate) fn digest_in_parts(
        fingerprints: &[Fingerprint],
        joint_seed: &JointSeed,
        digest_bytes: usize,
        parts: u32,
    ) -> Self {
        let mut digests = DigestBuffer::zeroed(fingerprints.len(), digest_bytes);
        let parts = digests_in_parts(fingerprints, &salt(joint_seed), &mut digests, parts);
        Self { digests, parts }
    }

    /// Returns the part of each item; nothing if there are no parts.
    pub fn parts(&self) -> &[u16] {
        &self.parts
    }

    /// Fills up to `len` items with random digests, which no item of anybody has.
    ///
    /// # Panics
    /// If there are more items than that.
    pub fn fill_up(&mut self, len: usize, rng: &mut Prg) {
        let own = self.len();
        self.digests.resize(len);
        match &mut self.digests {
            DigestBuffer::Short(digests) => rng.fill_bytes(digests[own..].as_flattened_mut()),
            DigestBuffer::Long(digests) => rng.fill_bytes(digests[own..].as_flattened_mut()),
        }
    }

    /// Returns distinct items that are numbers, as they are, for a plan that takes them so
    /// ([`Plan::number_bits`](crate::Plan::number_bits)). All other plans require digests.
    pub fn numbers(items: &[u64]) -> Self {
        let item = |number: &u64| u128::from(*number).to_le_bytes();
        DigestVec::Short(items.iter().map(item).collect()).into()
    }

    /// Returns the numbers of these fingerprints. A fingerprint that is not of a number makes an
    /// item that is too long for any plan.
    pub(crate) fn of_numbers(fingerprints: &[Fingerprint]) -> Self {
        let item = |fingerprint: &Fingerprint| {
            let number = numbers::of_fingerprint(fingerprint);
            number.map_or(u128::MAX, u128::from).to_le_bytes()
        };
        DigestVec::Short(fingerprints.iter().map(item).collect()).into()
    }

    /// Returns whether all items are numbers of at most this many bits.
    pub(crate) fn are_numbers(&self, bits: u32) -> bool {
        let fits = |i| {
            let [number, rest @ ..] = self.digests().words(i);
            number.checked_shr(bits).unwrap_or(0) == 0 && rest == [0; 3]
        };
        (0..self.len()).all(fits)
    }

    /// Returns the number of items.
    pub fn len(&self) -> usize {
        self.digests().len()
    }

    /// Returns whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of bytes of a digest.
    pub fn digest_bytes(&self) -> usize {
        self.digests().digest_bytes()
    }

    /// Returns the digests.
    pub fn digests(&self) -> Digests<'_> {
        self.digests.as_digests()
    }

    /// Returns the digests at these positions as words, short ones padded with zeros.
    pub fn rows(&self, positions: impl Iterator<Item = u32>) -> Vec<[u64; 4]> {
        let digests = self.digests();
        positions.map(|i| digests.words(i as usize)).collect()
    }
}

/// Digests that were made before, and are in no part or all in one.
impl From<DigestBuffer> for Items {
    fn from(digests: DigestBuffer) -> Self {
        Self {
            digests,
            parts: Vec::new(),
        }
    }
}

/// As from a buffer.
impl From<DigestVec> for Items {
    fn from(digests: DigestVec) -> Self {
        DigestBuffer::from(digests).into()
    }
}

/// Returns the length of the shortest digests that are all different, within an eighth of the
/// failure budget.
///
/// # Errors
/// If there are none.
pub fn digest_bytes(sizes: Sizes, budget: &mut FailureBudget) -> Result<usize, Error> {
    let bytes = digest::bytes(sizes, budget.share(0.125))?;
    budget.charge("digest collision", digest::collision(sizes, bytes))?;
    Ok(bytes)
}

/// Returns the key of all digests of a session.
pub(crate) fn salt(joint_seed: &JointSeed) -> [u8; 32] {
    joint_seed.key(SALT)
}

/// Returns the part of each item, as [`Items::digest_in_parts`] does.
///
/// # Panics
/// As there.
pub(crate) fn parts_of(
    fingerprints: &[Fingerprint],
    salt: &[u8; 32],
    digest_bytes: usize,
    parts: u32,
) -> Vec<u16> {
    let mut digests = DigestBuffer::zeroed(fingerprints.len(), digest_bytes);
    digests_in_parts(fingerprints, salt, &mut digests, parts)
}

/// Digests fingerprints, and returns the part of each.
fn digests_in_parts(
    fingerprints: &[Fingerprint],
    salt: &[u8; 32],
    digests: &mut DigestBuffer,
    parts: u32,
) -> Vec<u16> {
    assert!(
        parts <= parts::MAX_PARTS,
        "not more parts than there can be"
    );
    let mut of_items = vec![0; fingerprints.len()];
    let part = |word| ((u128::from(word) * u128::from(parts)) >> 64) as u16;
    match digests {
        DigestBuffer::Short(digests) => {
            digest_all::<3, 16, _>(fingerprints, salt, digests, &mut of_items, part)
        }
        DigestBuffer::Long(digests) => {
            digest_all::<5, 32, _>(fingerprints, salt, digests, &mut of_items, part)
        }
    }
    of_items
}

/// Digests of the first words of a hash of `WORDS` words. `place` makes of its last word what
/// `places` get, if they are any.
fn digest_all<const WORDS: usize, const BYTES: usize, P: Send>(
    fingerprints: &[Fingerprint],
    salt: &[u8; 32],
    digests: &mut [[u8; BYTES]],
    places: &mut [P],
    place: impl Fn(u64) -> P + Sync,
) {
    let mut places = places.chunks_mut(CHUNK);
    let mut tasks: Vec<_> = (digests.chunks_mut(CHUNK))
        .zip(fingerprints.chunks(CHUNK))
        .map(|(digests, fingerprints)| (digests, fingerprints, places.next().unwrap_or_default()))
        .collect();
    parallel::each_mut(&mut tasks, &|_, (digests, fingerprints, places)| {
        let mut rows = [[0_u64; 4]; CHUNK];
        let mut hashes = [[0_u64; WORDS]; CHUNK];
        let (rows, hashes) = (&mut rows[..digests.len()], &mut hashes[..digests.len()]);
        for (row, fingerprint) in rows.iter_mut().zip(*fingerprints) {
            *row = words(fingerprint);
        }
        blake3_rows::keyed_hash(salt, rows, hashes);
        for (digest, hash) in digests.iter_mut().zip(&*hashes) {
            digest.copy_from_slice(&bytemuck::cast_slice(hash)[..BYTES]);
        }
        for (of_item, hash) in places.iter_mut().zip(hashes) {
            *of_item = place(hash[WORDS - 1]);
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

    #[test]
    fn parts_have_about_as_many_items_and_digests_stay() {
        const ITEMS: u64 = 10_000;
        let fingerprints: Vec<Fingerprint> = (0..ITEMS)
            .map(|i| *blake3::hash(&i.to_le_bytes()).as_bytes())
            .collect();
        let seed = JointSeed::insecure_fixed([9; 32]);
        for bytes in [16, 32] {
            let items = Items::digest_in_parts(&fingerprints, &seed, bytes, 7);
            let plain = Items::digest(&fingerprints, &seed, bytes);
            assert!(items.digests() == plain.digests());
            assert!(plain.parts().is_empty());
            for part in 0..7 {
                let count = items.parts().iter().filter(|of| **of == part).count();
                // Six standard deviations.
                assert!(count.abs_diff(ITEMS as usize / 7) < 210, "{count}");
            }
        }
    }

    #[test]
    fn a_fingerprint_of_something_else_is_no_number() {
        let of = |fingerprint| Items::of_numbers(&[number(1), fingerprint]);
        assert_eq!(of(number(9)).digests(), Items::numbers(&[1, 9]).digests());
        for (bits, most) in [(1, 1), (32, (1 << 32) - 1), (64, u64::MAX)] {
            assert!(of(number(most)).are_numbers(bits));
            assert!(bits == 64 || !of(number(most + 1)).are_numbers(bits));
            let mut other = number(1);
            other[31] = 1;
            assert!(!of(other).are_numbers(bits));
        }
    }

    #[test]
    fn what_fills_up_is_random_and_comes_last() {
        for bytes in [16, 32] {
            let mut items = Items::digest(&[[1; 32]], &JointSeed::insecure_fixed([1; 32]), bytes);
            let own = items.digests().words(0);
            items.fill_up(3, &mut Prg::from_os());
            let filled: Vec<_> = (0..items.len()).map(|i| items.digests().words(i)).collect();
            assert_eq!((filled.len(), filled[0]), (3, own));
            assert_ne!(filled[1], filled[2]);
            assert_ne!(filled[1][bytes / 8 - 1], 0);
        }
    }
}
