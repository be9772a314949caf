//! OT matrices, expanded from the seeds of their columns, one strip of rows at a time.
//!
//! From a random OT per column the receiver has both seeds of a pair. The sender, which has Δ, has
//! the seed that its bit of Δ chose. So row j of the sender is T_0 ⊕ ((T_0 ⊕ T_1) ∧ Δ), where the
//! receiver has row j of T_0 and of T_0 ⊕ T_1.

use std::ops::Range;

use psijoin_block::{
    Block, Prg,
    transpose::{ROW_GROUP, transpose_flat},
};
use zeroize::{ZeroizeOnDrop, Zeroizing};

const WORD_BITS: usize = u64::BITS as usize;

/// The layout of rows. They follow each other in slices of words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowShape {
    /// Words of a row.
    pub words: usize,
    /// Columns of a word, from bit 0 on: up to 64. There are zeros above them.
    pub columns_per_word: usize,
}

/// The share of the party that chose: Δ, and one seed of each pair.
pub struct SenderMatrix {
    delta: Zeroizing<Vec<Block>>,
    columns: Vec<Prg>,
    shape: RowShape,
}

impl SenderMatrix {
    /// Makes the matrix from Δ and the seeds that it selected.
    pub fn new(delta: Zeroizing<Vec<Block>>, seeds: &[Block], shape: RowShape) -> Self {
        Self {
            delta,
            columns: seeds.iter().map(|seed| Prg::from_seed(*seed)).collect(),
            shape,
        }
    }

    /// Returns Δ as a row.
    pub fn delta(&self) -> Zeroizing<Vec<u64>> {
        let mut row = Zeroizing::new(vec![0; self.shape.words]);
        let columns_per_word = self.shape.columns_per_word;
        for column in 0..self.columns.len() {
            let bit = self.delta[column / Block::BITS].bit(column % Block::BITS);
            let word = &mut row[column / columns_per_word];
            *word |= u64::from(bit) << (column % columns_per_word);
        }
        row
    }

    /// Rows `range` of the matrix, without what the receiver sends.
    ///
    /// # Panics
    /// If the range does not start at a multiple of 128, or `rows` has no place for each.
    pub fn expand(&self, range: Range<usize>, strip: &mut Strip, rows: &mut [u64]) {
        let first_block = strip.start(self.columns.len(), self.shape, range);
        for (column, prg) in strip.columns_mut().zip(&self.columns) {
            prg.fill_at(first_block, column);
        }
        strip.write_rows(rows);
    }

    /// Returns the layout of its rows.
    pub fn shape(&self) -> RowShape {
        self.shape
    }
}

/// The share of the other party: both seeds of each pair.
pub struct ReceiverMatrix {
    columns: Vec<[Prg; 2]>,
    shape: RowShape,
}

impl ReceiverMatrix {
    /// Makes the matrix from the seed pairs.
    pub fn new(seeds: &[[Block; 2]], shape: RowShape) -> Self {
        Self {
            columns: seeds.iter().map(|pair| pair.map(Prg::from_seed)).collect(),
            shape,
        }
    }

    /// Sets `rows` to rows `range` of T_0 and of T_0 ⊕ T_1.
    ///
    /// # Panics
    /// If the range does not start at a multiple of 128.
    pub fn expand(&self, range: Range<usize>, rows: &mut ReceiverRows) {
        let ReceiverRows { strips, t0, sum } = rows;
        t0.resize(range.len() * self.shape.words, 0);
        sum.resize(range.len() * self.shape.words, 0);
        let [first, both] = strips;
        let width = self.columns.len();
        let first_block = first.start(width, self.shape, range.clone());
        both.start(width, self.shape, range);
        let columns = first.columns_mut().zip(both.columns_mut());
        for ((t0, sum), [zero, one]) in columns.zip(&self.columns) {
            zero.fill_at(first_block, t0);
            one.fill_at(first_block, sum);
            sum.iter_mut().zip(t0).for_each(|(sum, t0)| *sum ^= *t0);
        }
        first.write_rows(t0);
        both.write_rows(sum);
    }
}

/// Some rows of both of the receiver's matrices, and room to expand them.
#[derive(Default)]
pub struct ReceiverRows {
    strips: [Strip; 2],
    /// Those of T_0.
    pub t0: Vec<u64>,
    /// Those of T_0 ⊕ T_1.
    pub sum: Vec<u64>,
}

/// Room for a strip of rows, column by column: `stride` blocks of 128 rows each. Wiped when it is
/// dropped.
#[derive(Default, ZeroizeOnDrop)]
pub struct Strip {
    stride: usize,
    /// 64 for each word of a row. Those that a word does not use stay zero.
    columns: Vec<Block>,
    row_words: usize,
    columns_per_word: usize,
    /// For a strip that is not a whole number of groups.
    rows: Vec<u64>,
}

impl Strip {
    /// Makes room for `width` columns of these rows, and returns the number of their first
    /// block.
    fn start(&mut self, width: usize, shape: RowShape, rows: Range<usize>) -> u128 {
        assert!(
            rows.start.is_multiple_of(Block::BITS),
            "a strip starts with a whole block"
        );
        self.stride = rows.len().next_multiple_of(ROW_GROUP) / Block::BITS;
        self.row_words = shape.words;
        self.columns_per_word = shape.columns_per_word;
        let words = width.div_ceil(shape.columns_per_word);
        let len = words * WORD_BITS * self.stride;
        if self.columns.len() != len {
            // Columns of another stride would lie elsewhere.
            self.columns.clear();
            self.columns.resize(len, Block::ZERO);
        }
        (rows.start / Block::BITS) as u128
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut [Block]> {
        let used = self.columns_per_word;
        self.columns
            .chunks_exact_mut(WORD_BITS * self.stride)
            .flat_map(move |word| word.chunks_exact_mut(word.len() / WORD_BITS).take(used))
    }

    fn write_rows(&mut self, rows: &mut [u64]) {
        let padded = self.stride * Block::BITS * self.row_words;
        let columns = bytemuck::cast_slice(&self.columns);
        if rows.len() == padded {
            transpose_flat(columns, self.row_words, rows);
        } else {
            self.rows.resize(padded, 0);
            transpose_flat(columns, self.row_words, &mut self.rows);
            rows.copy_from_slice(&self.rows[..rows.len()]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// It compiles only if what is secret is wiped when it is dropped.
    #[test]
    fn secrets_are_wiped() {
        fn wiped<T: ZeroizeOnDrop>(_: &T) {}
        let _ = |sender: &SenderMatrix, receiver: &ReceiverMatrix, strip: &Strip| {
            wiped(&sender.delta);
            wiped(&sender.delta());
            wiped(&sender.columns);
            wiped(&receiver.columns);
            wiped(strip);
        };
    }
}
