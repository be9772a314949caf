//! The places of a byte in a text: a bit per byte, so that short searches cost no call each.

use std::ops::Range;

use crate::cpu::{self, multiversion};

const WORD_BITS: usize = 64;

/// The places of one byte in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Marks {
    /// A bit per byte of the text, the lowest of a word first, and zeros behind its end.
    words: Vec<u64>,
}

impl Marks {
    /// Returns all places of `byte`.
    pub fn of(byte: u8, text: &[u8]) -> Self {
        let mut words = vec![0; text.len().div_ceil(WORD_BITS)];
        on_backend(cpu::best(), byte, text, &mut words);
        Self { words }
    }

    /// Returns the first place that is not before `from`.
    #[inline]
    pub fn next(&self, from: usize) -> Option<usize> {
        self.next_in(from..usize::MAX)
    }

    /// Returns the first place in this range. The bytes behind the range cost nothing, however far
    /// the next place is.
    #[inline]
    pub fn next_in(&self, range: Range<usize>) -> Option<usize> {
        let mut word = range.start / WORD_BITS;
        let mut bits = self.words.get(word)? & (u64::MAX << (range.start % WORD_BITS));
        while bits == 0 {
            word += 1;
            if word * WORD_BITS >= range.end {
                return None;
            }
            bits = *self.words.get(word)?;
        }
        let place = word * WORD_BITS + bits.trailing_zeros() as usize;
        (place < range.end).then_some(place)
    }

    /// Returns how many places are in this range.
    ///
    /// # Panics
    /// If the range ends behind the text's last word.
    #[inline]
    pub fn count(&self, range: Range<usize>) -> usize {
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (range.start / WORD_BITS, (range.end - 1) / WORD_BITS);
        let words = &self.words[first..=last];
        let outside = |word: u64, bits: u64| (word & bits).count_ones() as usize;
        let before = outside(words[0], !(u64::MAX << (range.start % WORD_BITS)));
        let behind = outside(
            words[words.len() - 1],
            (u64::MAX - 1) << ((range.end - 1) % WORD_BITS),
        );
        let all: usize = words.iter().map(|word| word.count_ones() as usize).sum();
        all - before - behind
    }
}

multiversion! {
    fn on_backend(byte: u8, text: &[u8], words: &mut [u64])
    portable all_words::<Portable>(byte, text, words);
    avx2 all_words::<Avx2>(byte, text, words);
    avx512 all_words::<Avx512>(byte, text, words);
}

#[inline(always)]
fn all_words<C: Compare>(byte: u8, text: &[u8], words: &mut [u64]) {
    let (chunks, rest) = text.as_chunks::<WORD_BITS>();
    for (word, chunk) in words.iter_mut().zip(chunks) {
        *word = C::equal(chunk, byte);
    }
    if !rest.is_empty() {
        // The padding must not be found.
        let mut padded = [!byte; WORD_BITS];
        padded[..rest.len()].copy_from_slice(rest);
        words[chunks.len()] = C::equal(&padded, byte);
    }
}

/// LLVM does not make a vector comparison of a loop that gathers bits, so the wide versions are
/// spelled out.
trait Compare {
    /// Returns which bytes of a chunk are this one.
    fn equal(chunk: &[u8; WORD_BITS], byte: u8) -> u64;
}

/// Eight bytes at a time.
struct Portable;

impl Compare for Portable {
    #[inline(always)]
    fn equal(chunk: &[u8; WORD_BITS], byte: u8) -> u64 {
        const LOW_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
        /// Brings the lowest bit of each byte into the highest byte.
        const GATHER: u64 = 0x0102_0408_1020_4080;
        let wanted = u64::from_le_bytes([byte; 8]);
        let (words, _) = chunk.as_chunks::<8>();
        words.iter().rev().fold(0, |mask, &word| {
            // Its zero bytes are the places. The sums stay within their bytes.
            let other = u64::from_le_bytes(word) ^ wanted;
            let is_zero = !(((other & LOW_BITS) + LOW_BITS) | other | LOW_BITS);
            mask << 8 | (is_zero >> 7).wrapping_mul(GATHER) >> 56
        })
    }
}

#[cfg(target_arch = "x86_64")]
use x86::{Avx2, Avx512};

/// The intrinsics below are safe wherever their instruction set is there, and only functions call
/// them that `cpu::multiversion` compiled for, and calls on, a processor that has it.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Compare, WORD_BITS};

    pub(super) struct Avx2;

    impl Compare for Avx2 {
        #[inline(always)]
        fn equal(chunk: &[u8; WORD_BITS], byte: u8) -> u64 {
            let halves: [__m256i; 2] = bytemuck::cast(*chunk);
            let [low, high] = halves.map(|half| {
                // SAFETY: see the module.
                unsafe {
                    let equal = _mm256_cmpeq_epi8(half, _mm256_set1_epi8(byte as i8));
                    u64::from(_mm256_movemask_epi8(equal) as u32)
                }
            });
            high << 32 | low
        }
    }

    pub(super) struct Avx512;

    impl Compare for Avx512 {
        #[inline(always)]
        fn equal(chunk: &[u8; WORD_BITS], byte: u8) -> u64 {
            // SAFETY: see the module.
            unsafe { _mm512_cmpeq_epi8_mask(bytemuck::cast(*chunk), _mm512_set1_epi8(byte as i8)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Block, Prg};

    #[test]
    fn every_place_is_found() {
        let lengths: Range<usize> = if cfg!(miri) { 63..66 } else { 0..200 };
        for length in lengths {
            let mut prg = Prg::from_seed(Block(length as u128));
            // Neighbours of the byte, and those that differ from it in the highest bit only.
            let choices = [b',', b',' - 1, b',' + 1, b',' | 0x80, !b',', 0, 0xff];
            let byte = |_| choices[usize::from(prg.bytes::<1>()[0]) % choices.len()];
            let text: Vec<u8> = (0..length).map(byte).collect();
            let is_place = |place: &usize| text[*place] == b',';
            for backend in cpu::available() {
                let mut words = vec![0; length.div_ceil(WORD_BITS)];
                on_backend(backend, b',', &text, &mut words);
                let marks = Marks { words };
                for from in 0..=length {
                    let next = (from..length).find(is_place);
                    assert_eq!(marks.next(from), next, "{backend:?}, {length}, {from}");
                    let count = (from..length).filter(is_place).count();
                    assert_eq!(marks.count(from..length), count);
                    let first = (0..from).find(is_place);
                    assert_eq!(marks.next_in(0..from), first);
                    assert_eq!(marks.next_in(from..from), None);
                    let count = (0..from).filter(is_place).count();
                    assert_eq!(marks.count(0..from), count);
                }
            }
        }
    }

    #[test]
    fn there_is_nothing_in_an_empty_text() {
        let marks = Marks::of(b'\n', b"");
        assert_eq!(marks.next(0), None);
        assert_eq!(marks.count(0..0), 0);
    }
}
