//! One bit per lane.

use std::{
    fmt,
    ops::{BitAnd, BitXor, Range},
};

use psijoin_block::Block;
use zeroize::Zeroize;

use crate::Lanes;

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// Packed bits: one per lane. Bits beyond the last lane are zero.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    lanes: usize,
}

impl Bits {
    /// Returns all zeros.
    pub fn zeros(lanes: usize) -> Self {
        Self {
            words: vec![0; lanes.div_ceil(WORD)],
            lanes,
        }
    }

    /// Returns all ones.
    pub fn ones(lanes: usize) -> Self {
        Self::from_words(vec![u64::MAX; lanes.div_ceil(WORD)], lanes)
    }

    /// Puts one bit into each lane.
    pub(crate) fn constant(bit: bool, lanes: usize) -> Self {
        if bit {
            Self::ones(lanes)
        } else {
            Self::zeros(lanes)
        }
    }

    /// Returns the first `lanes` bits of `words`, the lowest bit of each first.
    ///
    /// # Panics
    /// If there are fewer or more words than the lanes take.
    pub fn from_words(mut words: Vec<u64>, lanes: usize) -> Self {
        assert_eq!(words.len(), lanes.div_ceil(WORD), "words for the lanes");
        if let Some(last) = words.last_mut()
            && !lanes.is_multiple_of(WORD)
        {
            *last &= (1 << (lanes % WORD)) - 1;
        }
        Self { words, lanes }
    }

    /// Returns the words. Spare bits of the last one are zero.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Returns the bit of a lane.
    ///
    /// # Panics
    /// If there is no such lane.
    pub fn get(&self, lane: usize) -> bool {
        assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
        self.words[lane / WORD] >> (lane % WORD) & 1 == 1
    }

    /// Returns the bits, lane by lane.
    pub fn iter(&self) -> impl Iterator<Item = bool> {
        (0..self.lanes).map(|lane| self.words[lane / WORD] >> (lane % WORD) & 1 == 1)
    }

    /// Returns the number of ones.
    pub fn count_ones(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Returns the lanes of all, one after the other.
    pub fn concat(wires: &[Self]) -> Self {
        let mut all = Self::default();
        for wire in wires {
            all.append(wire);
        }
        all
    }

    /// Returns the parts of as many lanes.
    ///
    /// # Panics
    /// If there are fewer lanes.
    pub fn split(&self, lanes: &[usize]) -> Vec<Self> {
        let mut first = 0;
        let parts = lanes.iter().map(|lanes| {
            first += lanes;
            self.range(first - lanes..first)
        });
        parts.collect()
    }

    /// Returns eight lanes per byte, the lowest bit first.
    pub fn to_bytes(&self) -> Vec<u8> {
        let bytes = self.words.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(self.lanes.div_ceil(8)).collect()
    }

    /// Returns what [`to_bytes`](Self::to_bytes) gave. Bits beyond the last lane are ignored.
    ///
    /// # Panics
    /// If the number of bytes is not what the lanes take.
    pub fn from_bytes(bytes: &[u8], lanes: usize) -> Self {
        assert_eq!(bytes.len(), lanes.div_ceil(8), "bytes for the lanes");
        let words = bytes.chunks(8).map(|chunk| {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(word)
        });
        Self::from_words(words.collect(), lanes)
    }

    /// Returns 128 lanes per block, the lowest bit first.
    pub fn to_blocks(&self) -> Vec<Block> {
        let blocks = self.words.chunks(2).map(|words| {
            let high = words.get(1).copied().unwrap_or(0);
            Block(u128::from(words[0]) | u128::from(high) << WORD)
        });
        blocks.collect()
    }

    /// Returns the first `lanes` bits of blocks.
    ///
    /// # Panics
    /// If the number of blocks is not what the lanes take.
    pub fn from_blocks(blocks: &[Block], lanes: usize) -> Self {
        assert_eq!(
            blocks.len(),
            lanes.div_ceil(Block::BITS),
            "blocks for the lanes"
        );
        let words = blocks
            .iter()
            .flat_map(|block| [block.0 as u64, (block.0 >> WORD) as u64]);
        Self::from_words(words.take(lanes.div_ceil(WORD)).collect(), lanes)
    }

    /// Returns a bit of each block.
    pub(crate) fn of_rows(rows: &[Block], bit: usize) -> Self {
        let words = rows.chunks(WORD).map(|rows| {
            let bits = rows.iter().enumerate();
            bits.fold(0, |word, (i, row)| word | u64::from(row.bit(bit)) << i)
        });
        Self::from_words(words.collect(), rows.len())
    }

    /// Returns the lanes of numbers, turned into wires: wire j has bit j of each number.
    pub fn transposed(numbers: &[u128], wires: usize) -> Vec<Self> {
        (0..wires)
            .map(|wire| {
                numbers
                    .iter()
                    .map(|number| number >> wire & 1 == 1)
                    .collect()
            })
            .collect()
    }

    /// Returns the numbers whose bits the wires have, the lowest first.
    ///
    /// # Panics
    /// If there are more than 128 wires.
    pub fn numbers(wires: &[Self]) -> Vec<u128> {
        assert!(wires.len() <= 128, "numbers have 128 bits");
        let mut numbers = vec![0; wires.first().map_or(0, |wire| wire.lanes)];
        for (wire, bits) in wires.iter().enumerate() {
            for (number, bit) in numbers.iter_mut().zip(bits.iter()) {
                *number |= u128::from(bit) << wire;
            }
        }
        numbers
    }
}

impl FromIterator<bool> for Bits {
    fn from_iter<I: IntoIterator<Item = bool>>(bits: I) -> Self {
        let (mut words, mut lanes) = (Vec::new(), 0);
        for bit in bits {
            if lanes % WORD == 0 {
                words.push(0);
            }
            words[lanes / WORD] |= u64::from(bit) << (lanes % WORD);
            lanes += 1;
        }
        Self { words, lanes }
    }
}

impl BitXor for &Bits {
    type Output = Bits;
    fn bitxor(self, other: Self) -> Bits {
        self.zip(other, |a, b| a ^ b)
    }
}

impl BitAnd for &Bits {
    type Output = Bits;
    fn bitand(self, other: Self) -> Bits {
        self.zip(other, |a, b| a & b)
    }
}

impl Bits {
    fn zip(&self, other: &Self, gate: impl Fn(u64, u64) -> u64) -> Self {
        assert_eq!(self.lanes, other.lanes, "as many lanes");
        let words = self.words.iter().zip(&other.words);
        Self {
            words: words.map(|(a, b)| gate(*a, *b)).collect(),
            lanes: self.lanes,
        }
    }
}

impl Lanes for Bits {
    fn lanes(&self) -> usize {
        self.lanes
    }

    fn gather(&self, lanes: &[u32]) -> Self {
        let words = lanes.chunks(WORD).map(|lanes| {
            let bits = lanes.iter().enumerate();
            bits.fold(0, |word, (i, &lane)| {
                word | u64::from(self.get(lane as usize)) << i
            })
        });
        Self::from_words(words.collect(), lanes.len())
    }

    fn scatter(&mut self, lanes: &[u32], from: &Self) {
        assert_eq!(lanes.len(), from.lanes, "a place for each lane");
        for (&lane, bit) in lanes.iter().zip(from.iter()) {
            let lane = lane as usize;
            assert!(lane < self.lanes, "lane {lane} of {}", self.lanes);
            let word = &mut self.words[lane / WORD];
            *word = *word & !(1 << (lane % WORD)) | u64::from(bit) << (lane % WORD);
        }
    }

    fn range(&self, range: Range<usize>) -> Self {
        assert!(range.end <= self.lanes, "lanes {range:?} of {}", self.lanes);
        let (first, shift) = (range.start / WORD, range.start % WORD);
        let word = |i: usize| self.words.get(i).copied().unwrap_or(0);
        let words = (0..range.len().div_ceil(WORD)).map(|i| match shift {
            0 => word(first + i),
            _ => word(first + i) >> shift | word(first + i + 1) << (WORD - shift),
        });
        Self::from_words(words.collect(), range.len())
    }

    fn append(&mut self, more: &Self) {
        let shift = self.lanes % WORD;
        for &word in &more.words {
            if shift > 0 {
                *self.words.last_mut().expect("it has lanes") |= word << shift;
            }
            self.words.push(if shift > 0 {
                word >> (WORD - shift)
            } else {
                word
            });
        }
        self.lanes += more.lanes;
        self.words.truncate(self.lanes.div_ceil(WORD));
    }
}

impl Zeroize for Bits {
    fn zeroize(&mut self) {
        self.words.zeroize();
        self.lanes = 0;
    }
}

/// Shows no bits: they may be secret.
impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Bits({} lanes)", self.lanes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::{collection::vec, prelude::*};

    use super::*;

    fn bools(bits: &Bits) -> Vec<bool> {
        assert_eq!(bits.words.len(), bits.lanes.div_ceil(WORD));
        assert_eq!(bits.count_ones(), bits.iter().filter(|bit| *bit).count());
        bits.iter().collect()
    }

    proptest! {
        #[test]
        fn lanes_are_where_a_vector_has_them(
            a in vec(any::<bool>(), 0..200),
            b in vec(any::<bool>(), 0..200),
            from: prop::sample::Index,
            seed: u32,
        ) {
            let (packed_a, packed_b): (Bits, Bits) =
                (a.iter().copied().collect(), b.iter().copied().collect());
            let mut both = packed_a.clone();
            both.append(&packed_b);
            prop_assert_eq!(bools(&both), [&a[..], &b].concat());

            let start = if a.is_empty() { 0 } else { from.index(a.len()) };
            prop_assert_eq!(bools(&packed_a.range(start..a.len())), &a[start..]);
            prop_assert_eq!(bools(&both.range(start..a.len())), &a[start..]);

            if !a.is_empty() {
                let lanes: Vec<u32> = (0..a.len() as u32)
                    .map(|i| i.wrapping_mul(seed) % a.len() as u32)
                    .collect();
                let gathered: Vec<bool> = lanes.iter().map(|&lane| a[lane as usize]).collect();
                prop_assert_eq!(bools(&packed_a.gather(&lanes)), gathered);
                let (mut scattered, mut expected) = (packed_a.clone(), a.clone());
                scattered.scatter(&lanes, &packed_a);
                for (&lane, bit) in lanes.iter().zip(&a) {
                    expected[lane as usize] = *bit;
                }
                prop_assert_eq!(bools(&scattered), expected);
            }
        }

        #[test]
        fn packed_bits_return(bits in vec(any::<bool>(), 0..300), cut: prop::sample::Index) {
            let packed: Bits = bits.iter().copied().collect();
            let lanes = bits.len();
            prop_assert!(Bits::from_bytes(&packed.to_bytes(), lanes) == packed);
            prop_assert!(Bits::from_blocks(&packed.to_blocks(), lanes) == packed);
            let cut = cut.index(lanes + 1);
            let parts = packed.split(&[cut, 0, lanes - cut]);
            prop_assert!(Bits::concat(&parts) == packed);
        }

        #[test]
        fn numbers_return(numbers in vec(any::<u128>(), 0..70)) {
            let wires = Bits::transposed(&numbers, 128);
            prop_assert_eq!(Bits::numbers(&wires), if numbers.is_empty() { vec![] } else { numbers });
        }
    }

    #[test]
    fn ones_end_with_the_last_lane() {
        for lanes in [0, 1, 63, 64, 65, 128] {
            assert_eq!(Bits::ones(lanes).count_ones(), lanes);
            assert_eq!(Bits::zeros(lanes).count_ones(), 0);
        }
    }
}
