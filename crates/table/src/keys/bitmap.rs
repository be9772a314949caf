//! A bit for each row of a table.

use std::ops::Range;

/// See the [module](self).
#[derive(Debug, Clone)]
pub(crate) struct Bitmap {
    len: u64,
    words: Vec<u64>,
}

impl Bitmap {
    /// Makes a map of `len` bits, none of which is set.
    pub(crate) fn new(len: u64) -> Self {
        let words = len.div_ceil(64) as usize;
        Self {
            len,
            words: vec![0; words],
        }
    }

    /// Returns the first `len` bits of these words, the lowest of each first.
    ///
    /// # Panics
    /// Unless there are as many words as these bits take.
    pub(crate) fn from_words(words: Vec<u64>, len: u64) -> Self {
        assert_eq!(words.len() as u64, len.div_ceil(64), "words for the bits");
        Self { len, words }
    }

    /// Returns the bits that are not set in this one.
    pub(crate) fn complement(&self) -> Self {
        let mut words: Vec<u64> = self.words.iter().map(|word| !word).collect();
        if let Some(last) = words.last_mut() {
            *last &= u64::MAX >> (self.len.wrapping_neg() % 64);
        }
        Self::from_words(words, self.len)
    }

    /// Returns those of these bits that are set, in order.
    pub(crate) fn ones(&self, range: Range<u64>) -> impl Iterator<Item = u64> + Send {
        range.filter(|&index| self.get(index))
    }

    /// Returns the number of bits.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    pub(crate) fn set(&mut self, index: u64) {
        self.words[(index / 64) as usize] |= 1 << (index % 64);
    }

    pub(crate) fn get(&self, index: u64) -> bool {
        self.words[(index / 64) as usize] >> (index % 64) & 1 == 1
    }

    /// Returns how many bits are set.
    pub(crate) fn count(&self) -> u64 {
        self.words
            .iter()
            .map(|word| u64::from(word.count_ones()))
            .sum()
    }

    /// Returns whether one of these bits is set.
    pub(crate) fn any(&self, mut range: Range<u64>) -> bool {
        while range.start < range.end {
            let word = self.words[(range.start / 64) as usize] >> (range.start % 64);
            let bits = (64 - range.start % 64).min(range.end - range.start);
            if word & (u64::MAX >> (64 - bits)) != 0 {
                return true;
            }
            range.start += bits;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn bits_are_those_that_were_set(
            bits in prop::collection::vec(prop::bool::weighted(0.03), 0..300),
            ends: [prop::sample::Index; 2],
        ) {
            let mut bitmap = Bitmap::new(bits.len() as u64);
            for (index, _) in (0..).zip(&bits).filter(|(_, bit)| **bit) {
                bitmap.set(index);
            }
            prop_assert_eq!(bitmap.count() as usize, bits.iter().filter(|bit| **bit).count());
            prop_assert!((0..).zip(&bits).all(|(index, bit)| bitmap.get(index) == *bit));
            let complement = bitmap.complement();
            prop_assert!((0..).zip(&bits).all(|(index, bit)| complement.get(index) != *bit));
            prop_assert_eq!(bitmap.count() + complement.count(), bits.len() as u64);
            prop_assert!(bitmap.ones(0..bitmap.len()).all(|index| bits[index as usize]));
            let ends = ends.map(|end| end.index(bits.len() + 1));
            let range = ends[0].min(ends[1])..ends[0].max(ends[1]);
            let any = bitmap.any(range.start as u64..range.end as u64);
            prop_assert_eq!(any, bits[range].iter().any(|bit| *bit));
        }
    }
}
