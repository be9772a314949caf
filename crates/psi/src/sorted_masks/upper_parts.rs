//! Numbers that never decrease, as a vector of bits: the i-th is u if bit u + i is one.

use std::ops::Range;

use psijoin_channel::{Inbound, stream};

use super::{LowerParts, MASKS_PER_MESSAGE, SortedMasks};
use crate::Error;

/// Appends these bytes of the vector to an empty message, given all hashes.
pub(super) fn pack(
    masks: SortedMasks,
    hashes: &[u128],
    bytes: Range<usize>,
    message: &mut Vec<u8>,
) {
    let bit_of = |index: usize| masks.upper(masks.mask(hashes[index])) + index;
    let bits = 8 * bytes.start..8 * bytes.end;
    message.resize(bytes.len(), 0);
    for index in first(hashes.len(), |index| bit_of(index) >= bits.start)..hashes.len() {
        let bit = bit_of(index);
        if bit >= bits.end {
            break;
        }
        let bit = bit - bits.start;
        message[bit / 8] |= 1 << (bit % 8);
    }
}

/// Returns the first index that `is_late`, given that all after it are as well; `len` if there is
/// none.
fn first(len: usize, is_late: impl Fn(usize) -> bool) -> usize {
    let (mut start, mut end) = (0, len);
    while start < end {
        let middle = start + (end - start) / 2;
        match is_late(middle) {
            true => end = middle,
            false => start = middle + 1,
        }
    }
    start
}

/// The vector.
pub(super) struct UpperParts {
    words: Vec<u64>,
    /// The bit of the first mask of each message of lower parts.
    starts: Vec<usize>,
}

impl UpperParts {
    /// Receives the vector.
    ///
    /// # Errors
    /// If the channel breaks, or it does not hold as many masks as planned, all in their range.
    pub(super) fn receive(masks: SortedMasks, inbound: &mut dyn Inbound) -> Result<Self, Error> {
        let messages = masks.upper_messages();
        let mut words = vec![0_u64; messages.total.div_ceil(8)];
        let bytes = &mut bytemuck::cast_slice_mut(&mut words)[..messages.total];
        stream::receive_into(
            inbound,
            messages,
            &|length| length,
            bytes,
            &|| (),
            &|_, message, bytes, ()| bytes.copy_from_slice(message),
        )?;
        words
            .iter_mut()
            .for_each(|word| *word = u64::from_le(*word));
        // With the right number of ones the number of zeros is right, and no sum exceeds it.
        let used = masks.upper_bits() as usize % 64;
        let last = words.last().copied().unwrap_or(0);
        let (starts, ones) = starts(&words);
        if ones != masks.count || (used > 0 && last >> used != 0) {
            return Err(Error::Peer("its masks are out of range"));
        }
        Ok(Self { words, starts })
    }

    /// Returns the masks at `indices`, which are those of one message, given their lower parts.
    pub(super) fn masks<'a>(
        &'a self,
        indices: Range<usize>,
        lower_parts: LowerParts<'a>,
    ) -> Masks<'a> {
        let start = self.starts[indices.start / MASKS_PER_MESSAGE];
        let word = start / 64;
        Masks {
            words: &self.words,
            word,
            pending: self.words[word] >> (start % 64) << (start % 64),
            first: indices.start,
            indices,
            lower_parts,
        }
    }
}

/// Returns the bit of every one that begins a message, and how many ones there are.
fn starts(words: &[u64]) -> (Vec<usize>, usize) {
    let (mut starts, mut ones) = (Vec::new(), 0);
    for (i, word) in words.iter().enumerate() {
        let before = ones;
        ones += word.count_ones() as usize;
        let next = starts.len() * MASKS_PER_MESSAGE;
        if next < ones {
            let rest = (before..next).fold(*word, |rest, _| rest & (rest - 1));
            starts.push(64 * i + rest.trailing_zeros() as usize);
        }
    }
    (starts, ones)
}

/// The masks of a message.
pub(super) struct Masks<'a> {
    words: &'a [u64],
    /// The word that is read.
    word: usize,
    /// Its ones that are still to come.
    pending: u64,
    /// The first index of the message.
    first: usize,
    indices: Range<usize>,
    lower_parts: LowerParts<'a>,
}

impl Iterator for Masks<'_> {
    type Item = u128;

    #[inline(always)]
    fn next(&mut self) -> Option<u128> {
        let index = self.indices.next()?;
        while self.pending == 0 {
            self.word += 1;
            self.pending = self.words[self.word];
        }
        let bit = 64 * self.word + self.pending.trailing_zeros() as usize;
        self.pending &= self.pending - 1;
        let upper = (bit - index) as u128;
        let low = self.lower_parts.get(index - self.first);
        Some(upper.checked_shl(self.lower_parts.bits()).unwrap_or(0) | low)
    }
}
