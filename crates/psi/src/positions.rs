//! Sets of positions among items.

/// A set of positions, a bit each: faster than sorting them, and shorter.
pub(crate) struct PositionSet {
    /// The lowest bit of a word is that of the lowest position.
    words: Vec<u64>,
}

impl PositionSet {
    /// Returns none of this many positions.
    pub(crate) fn none(among: usize) -> Self {
        Self {
            words: vec![0; among.div_ceil(64)],
        }
    }

    /// Returns these positions, in any order, of this many.
    pub(crate) fn new(positions: impl IntoIterator<Item = u32>, among: usize) -> Self {
        let mut set = Self::none(among);
        positions
            .into_iter()
            .for_each(|position| set.insert(position));
        set
    }

    #[inline]
    pub(crate) fn insert(&mut self, position: u32) {
        self.words[position as usize / 64] |= 1 << (position % 64);
    }

    /// Returns those whose bits are one, in bytes with the lowest bit first.
    pub(crate) fn from_bytes(bytes: &[u8]) -> Self {
        let word = |bytes: &[u8]| {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        };
        Self {
            words: bytes.chunks(8).map(word).collect(),
        }
    }

    /// Returns the bits, in this many bytes.
    pub(crate) fn to_bytes(&self, count: usize) -> Vec<u8> {
        let bytes = self.words.iter().flat_map(|word| word.to_le_bytes());
        bytes.take(count).collect()
    }

    /// Returns the number.
    pub(crate) fn len(&self) -> usize {
        self.words
            .iter()
            .map(|word| word.count_ones() as usize)
            .sum()
    }

    /// Calls `each` with all of them, ascending.
    pub(crate) fn for_each(&self, mut each: impl FnMut(u32)) {
        for (word, start) in self.words.iter().zip((0_u32..).step_by(64)) {
            let mut word = *word;
            while word != 0 {
                each(start + word.trailing_zeros());
                word &= word - 1;
            }
        }
    }

    /// Returns all of them, ascending.
    pub(crate) fn ascending(&self) -> Vec<u32> {
        let mut positions = Vec::with_capacity(self.len());
        self.for_each(|position| positions.push(position));
        positions
    }

    /// Returns how many come before each of these positions, which are among them.
    pub(crate) fn ranks(&self, positions: &[u32]) -> Vec<u32> {
        let mut count = 0;
        let before = |word: &u64| {
            let before = count;
            count += word.count_ones();
            before
        };
        let before: Vec<u32> = self.words.iter().map(before).collect();
        let rank = |position: &u32| {
            let (word, bit) = (*position as usize / 64, position % 64);
            before[word] + (self.words[word] & ((1 << bit) - 1)).count_ones()
        };
        positions.iter().map(rank).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn positions_come_out_as_a_sorted_list_has_them(
            positions in prop::collection::vec(0..300_u32, 0..200),
        ) {
            let set = PositionSet::new(positions.iter().copied(), 300);
            let mut sorted = positions.clone();
            sorted.sort_unstable();
            sorted.dedup();
            prop_assert_eq!(&set.ascending(), &sorted);
            prop_assert_eq!(set.len(), sorted.len());
            let rank = |position: &u32| sorted.binary_search(position).unwrap() as u32;
            let ranks: Vec<u32> = positions.iter().map(rank).collect();
            prop_assert_eq!(set.ranks(&positions), ranks);
            let bytes = set.to_bytes(38);
            prop_assert_eq!(bytes.len(), 38);
            prop_assert_eq!(PositionSet::from_bytes(&bytes).ascending(), sorted);
        }
    }
}
