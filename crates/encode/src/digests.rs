//! Digests of items, all of one width: 16 or 32 bytes.
//!
//! The width is a value and not a type, so that what works on digests is compiled once. It is asked
//! for once per batch of items, outside of the loop over them.

use std::{fmt, ops::Range};

use psijoin_block::{Block, aes::Aes128};
use psijoin_runtime::{memory::Buffer, parallel};

/// A run of digests of one width, borrowed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Digests<'a> {
    /// Of 16 bytes.
    Short(&'a [[u8; 16]]),
    /// Of 32 bytes.
    Long(&'a [[u8; 32]]),
}

impl<'a> Digests<'a> {
    /// Returns the number of digests.
    #[inline]
    pub fn len(self) -> usize {
        match self {
            Self::Short(digests) => digests.len(),
            Self::Long(digests) => digests.len(),
        }
    }

    /// Returns whether there are none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Returns the width: 16 or 32.
    #[inline]
    pub fn digest_bytes(self) -> usize {
        match self {
            Self::Short(_) => 16,
            Self::Long(_) => 32,
        }
    }

    /// Returns the digests at these positions.
    ///
    /// # Panics
    /// If the range ends beyond the last one.
    #[inline]
    pub fn slice(self, range: Range<usize>) -> Self {
        match self {
            Self::Short(digests) => Self::Short(&digests[range]),
            Self::Long(digests) => Self::Long(&digests[range]),
        }
    }

    /// Runs of `per_chunk` digests, the last one perhaps shorter.
    ///
    /// # Panics
    /// If `per_chunk` is 0.
    #[inline]
    pub fn chunks(self, per_chunk: usize) -> impl Iterator<Item = Self> {
        let starts = (0..self.len()).step_by(per_chunk);
        starts.map(move |start| self.slice(start..self.len().min(start + per_chunk)))
    }

    /// Sorts the digests in ascending order, by the threads of the caller's pool.
    pub fn sorted(self) -> DigestVec {
        match self {
            Self::Short(digests) => DigestVec::Short(sorted(digests)),
            Self::Long(digests) => DigestVec::Long(sorted(digests)),
        }
    }

    /// As [`sorted`](Self::sorted), with the position that each digest had.
    pub fn sorted_with_positions(self) -> (DigestVec, Vec<u32>) {
        match self {
            Self::Short(digests) => {
                let (sorted, positions) = sorted_with_positions(digests);
                (DigestVec::Short(sorted), positions)
            }
            Self::Long(digests) => {
                let (sorted, positions) = sorted_with_positions(digests);
                (DigestVec::Long(sorted), positions)
            }
        }
    }

    /// Returns digest number `i` as little-endian words; a short one is padded with zeros.
    ///
    /// # Panics
    /// If there is no such digest.
    #[inline]
    pub fn words(self, i: usize) -> [u64; 4] {
        match self {
            Self::Short(digests) => words(&digests[i]),
            Self::Long(digests) => words(&digests[i]),
        }
    }

    /// Compresses each digest to one block, as CBC-MAC does before its last encryption: a short
    /// digest is the block itself, a long one becomes its encrypted first half ⊕ its second half.
    ///
    /// # Panics
    /// If the slices differ in length.
    #[inline]
    pub fn fold(self, cipher: &Aes128, folded: &mut [Block]) {
        assert_eq!(self.len(), folded.len(), "a block for each digest");
        match self {
            Self::Short(digests) => {
                for (folded, digest) in folded.iter_mut().zip(digests) {
                    *folded = Block::from_bytes(*digest);
                }
            }
            Self::Long(digests) => fold_halves(digests, cipher, folded),
        }
    }
}

fn sorted<const D: usize>(digests: &[[u8; D]]) -> Vec<[u8; D]> {
    let mut digests = digests.to_vec();
    parallel::sort_unstable(&mut digests);
    digests
}

fn sorted_with_positions<const D: usize>(digests: &[[u8; D]]) -> (Vec<[u8; D]>, Vec<u32>) {
    let mut placed: Vec<_> = digests.iter().copied().zip(0_u32..).collect();
    parallel::sort_unstable(&mut placed);
    placed.into_iter().unzip()
}

/// Returns a digest as little-endian words, padded with zeros.
#[inline]
pub fn words<const D: usize>(digest: &[u8; D]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(digest.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

fn fold_halves(digests: &[[u8; 32]], cipher: &Aes128, folded: &mut [Block]) {
    let halves: &[[[u8; 16]; 2]] = bytemuck::cast_slice(digests);
    for (folded, [first, _]) in folded.iter_mut().zip(halves) {
        *folded = Block::from_bytes(*first);
    }
    cipher.encrypt(folded);
    for (folded, [_, second]) in folded.iter_mut().zip(halves) {
        *folded ^= Block::from_bytes(*second);
    }
}

/// Says how many digests there are and how wide they are. The digests themselves are private.
impl fmt::Debug for Digests<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Digests")
            .field("len", &self.len())
            .field("digest_bytes", &self.digest_bytes())
            .finish_non_exhaustive()
    }
}

/// Digests of one width, owned.
#[derive(Clone, PartialEq, Eq)]
pub enum DigestVec {
    /// Of 16 bytes.
    Short(Vec<[u8; 16]>),
    /// Of 32 bytes.
    Long(Vec<[u8; 32]>),
}

impl DigestVec {
    /// Returns `len` digests of `digest_bytes` bytes, all zero.
    ///
    /// # Panics
    /// If digests have neither 16 nor 32 bytes.
    pub fn zeroed(len: usize, digest_bytes: usize) -> Self {
        match digest_bytes {
            16 => Self::Short(vec![[0; 16]; len]),
            32 => Self::Long(vec![[0; 32]; len]),
            _ => panic!("digests have 16 or 32 bytes"),
        }
    }

    /// Returns all of them.
    pub fn as_digests(&self) -> Digests<'_> {
        match self {
            Self::Short(digests) => Digests::Short(digests),
            Self::Long(digests) => Digests::Long(digests),
        }
    }

    /// Replaces the contents by the digests at these positions of `from`. Memory is kept from call
    /// to call.
    ///
    /// # Panics
    /// If the widths differ, or there is no digest at a position.
    pub fn gather(&mut self, from: Digests<'_>, positions: impl Iterator<Item = usize>) {
        match (self, from) {
            (Self::Short(digests), Digests::Short(from)) => {
                digests.clear();
                digests.extend(positions.map(|position| from[position]));
            }
            (Self::Long(digests), Digests::Long(from)) => {
                digests.clear();
                digests.extend(positions.map(|position| from[position]));
            }
            _ => panic!("digests of one width"),
        }
    }
}

impl From<Digests<'_>> for DigestVec {
    fn from(digests: Digests<'_>) -> Self {
        match digests {
            Digests::Short(digests) => Self::Short(digests.to_vec()),
            Digests::Long(digests) => Self::Long(digests.to_vec()),
        }
    }
}

/// As [`Digests`] do.
impl fmt::Debug for DigestVec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_digests().fmt(f)
    }
}

/// Digests of one width in a [`Buffer`]: for all items of a set or of a part, and for tables that
/// are filled or read at random. They are wiped when they are dropped.
#[derive(Clone)]
pub enum DigestBuffer {
    /// Of 16 bytes.
    Short(Buffer<[u8; 16]>),
    /// Of 32 bytes.
    Long(Buffer<[u8; 32]>),
}

impl DigestBuffer {
    /// Returns `len` digests of `digest_bytes` bytes, all zero.
    ///
    /// # Panics
    /// If digests have neither 16 nor 32 bytes.
    pub fn zeroed(len: usize, digest_bytes: usize) -> Self {
        match digest_bytes {
            16 => Self::Short(Buffer::zeroed(len)),
            32 => Self::Long(Buffer::zeroed(len)),
            _ => panic!("digests have 16 or 32 bytes"),
        }
    }

    /// Returns all of them.
    pub fn as_digests(&self) -> Digests<'_> {
        match self {
            Self::Short(digests) => Digests::Short(digests),
            Self::Long(digests) => Digests::Long(digests),
        }
    }

    /// Makes them `len`, by zeros at the end or by cutting the last off.
    pub fn resize(&mut self, len: usize) {
        match self {
            Self::Short(digests) => digests.resize(len),
            Self::Long(digests) => digests.resize(len),
        }
    }
}

impl From<Digests<'_>> for DigestBuffer {
    fn from(digests: Digests<'_>) -> Self {
        match digests {
            Digests::Short(digests) => Self::Short(digests.into()),
            Digests::Long(digests) => Self::Long(digests.into()),
        }
    }
}

/// Leaves the digests where they are.
impl From<DigestVec> for DigestBuffer {
    fn from(digests: DigestVec) -> Self {
        match digests {
            DigestVec::Short(digests) => Self::Short(digests.into()),
            DigestVec::Long(digests) => Self::Long(digests.into()),
        }
    }
}

/// Digests that are these numbers, for tests.
#[cfg(test)]
pub(crate) fn numbers(numbers: Range<u64>, digest_bytes: usize) -> DigestVec {
    fn digest<const D: usize>(number: u64) -> [u8; D] {
        let mut digest = [0; D];
        digest[..8].copy_from_slice(&number.to_le_bytes());
        digest
    }
    match digest_bytes {
        16 => DigestVec::Short(numbers.map(digest).collect()),
        _ => DigestVec::Long(numbers.map(digest).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Digests of both widths.
    fn both(len: u64) -> [DigestVec; 2] {
        [16, 32].map(|digest_bytes| numbers(5..5 + len, digest_bytes))
    }

    #[test]
    fn words_are_those_of_the_digest_and_then_zeros() {
        let short = [std::array::from_fn(|i| i as u8)];
        let long = [std::array::from_fn(|i| i as u8)];
        let words = [0, 1, 2, 3].map(|word| 0x0706_0504_0302_0100 + word * 0x0808_0808_0808_0808);
        assert_eq!(Digests::Long(&long).words(0), words);
        assert_eq!(Digests::Short(&short).words(0), [words[0], words[1], 0, 0]);
    }

    #[test]
    fn chunks_are_slices_of_one_width() {
        for digests in &both(10) {
            let digests = digests.as_digests();
            let lens: Vec<_> = digests.chunks(4).map(Digests::len).collect();
            assert_eq!(lens, [4, 4, 2]);
            for (chunk, range) in digests.chunks(4).zip([0..4, 4..8, 8..10]) {
                assert_eq!(chunk, digests.slice(range.clone()));
                assert_eq!(chunk.digest_bytes(), digests.digest_bytes());
                assert_eq!(chunk.words(1), digests.words(range.start + 1));
            }
            assert!(digests.slice(3..3).is_empty() && !digests.is_empty());
            assert_eq!(digests.slice(3..3).chunks(4).count(), 0);
        }
    }

    #[test]
    fn a_fold_is_cbc_mac_but_for_the_last_encryption() {
        let cipher = Aes128::new(Block(3));
        let long: [[u8; 32]; 2] = [std::array::from_fn(|i| i as u8), [7; 32]];
        let (first, second) = (long.map(|it| half(it, 0)), long.map(|it| half(it, 16)));
        let mut folded = [Block::ZERO; 2];
        Digests::Short(&first.map(Block::to_bytes)).fold(&cipher, &mut folded);
        assert!(folded == first);
        let mut expected = first;
        cipher.encrypt(&mut expected);
        Digests::Long(&long).fold(&cipher, &mut folded);
        assert!(folded == [0, 1].map(|i| expected[i] ^ second[i]));
    }

    fn half(digest: [u8; 32], at: usize) -> Block {
        Block::from_bytes(*digest[at..].first_chunk().unwrap())
    }

    #[test]
    fn gathering_replaces_what_was_there() {
        for digests in &both(10) {
            let all = digests.as_digests();
            let mut gathered = DigestVec::zeroed(20, all.digest_bytes());
            for positions in [vec![9, 0, 9], vec![], vec![4]] {
                gathered.gather(all, positions.iter().copied());
                let gathered = gathered.as_digests();
                assert_eq!(gathered.len(), positions.len());
                let words = (0..gathered.len()).map(|i| gathered.words(i));
                assert!(words.eq(positions.iter().map(|i| all.words(*i))));
            }
        }
    }

    #[test]
    #[should_panic(expected = "digests of one width")]
    fn widths_are_not_mixed() {
        let [short, long] = both(1);
        DigestVec::zeroed(0, 16).gather(short.as_digests(), 0..1);
        DigestVec::zeroed(0, 16).gather(long.as_digests(), 0..1);
    }

    #[test]
    #[should_panic(expected = "16 or 32 bytes")]
    fn there_is_no_other_width() {
        DigestVec::zeroed(1, 24);
    }

    #[test]
    fn what_is_printed_does_not_say_what_the_digests_are() {
        let digests = DigestVec::Short(vec![[77; 16]; 3]);
        let printed = "Digests { len: 3, digest_bytes: 16, .. }";
        assert_eq!(format!("{digests:?}"), printed);
        assert_eq!(format!("{:?}", digests.as_digests()), printed);
    }
}
