//! The OT matrices, expanded from their seeds a strip of rows at a time.

use std::ops::Range;

use psijoin_block::{
    Block, Prg,
    transpose::{ROW_GROUP, transpose},
};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use super::code::Row;

/// The sender's share: Δ, and one seed of each pair.
pub(super) struct SenderMatrix {
    delta: Secret,
    columns: Vec<Prg>,
}

/// Bits that are wiped when they are dropped.
#[derive(ZeroizeOnDrop)]
struct Secret(Vec<Block>);

impl SenderMatrix {
    /// From Δ and the seeds that it selected, which are wiped.
    pub(super) fn new(delta: &[Block], seeds: &mut [Block]) -> Self {
        let columns = seeds.iter().map(|seed| Prg::from_seed(*seed)).collect();
        seeds.zeroize();
        Self {
            delta: Secret(delta.to_vec()),
            columns,
        }
    }

    /// Δ as a row.
    pub(super) fn delta<const R: usize>(&self) -> Zeroizing<Row<R>> {
        let mut row = Zeroizing::new([0; R]);
        let words: &[u64] = bytemuck::cast_slice(&self.delta.0);
        row[..words.len()].copy_from_slice(words);
        row
    }

    /// Rows `range` of the matrix, without what the receiver sends.
    ///
    /// # Panics
    /// If the range does not start at a multiple of 128.
    pub(super) fn expand<const R: usize>(
        &self,
        range: Range<usize>,
        strip: &mut Strip<R>,
        rows: &mut [Row<R>],
    ) {
        let first_block = strip.start(self.columns.len(), range);
        for (column, prg) in strip.columns_mut().zip(&self.columns) {
            prg.fill_at(first_block, column);
        }
        strip.write_rows(rows);
    }
}

/// The receiver's share: both seeds of each pair.
pub(super) struct ReceiverMatrix {
    columns: Vec<[Prg; 2]>,
}

impl ReceiverMatrix {
    /// From the seed pairs, which are wiped.
    pub(super) fn new(seeds: &mut [[Block; 2]]) -> Self {
        let columns = seeds.iter().map(|pair| pair.map(Prg::from_seed)).collect();
        seeds.as_flattened_mut().zeroize();
        Self { columns }
    }

    /// Rows `range` of T_0, and of T_0 ⊕ T_1.
    ///
    /// # Panics
    /// If the range does not start at a multiple of 128.
    pub(super) fn expand<const R: usize>(
        &self,
        range: Range<usize>,
        [first, both]: &mut [Strip<R>; 2],
        t0: &mut [Row<R>],
        sum: &mut [Row<R>],
    ) {
        let first_block = first.start(self.columns.len(), range.clone());
        both.start(self.columns.len(), range);
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

/// Room for a strip of rows, column by column: `stride` blocks of 128 rows each.
#[derive(Default)]
pub(super) struct Strip<const R: usize> {
    stride: usize,
    columns: Vec<Block>,
    /// For a strip that is no whole number of groups.
    rows: Vec<Row<R>>,
}

impl<const R: usize> Strip<R> {
    /// Makes room for `width` columns of these rows, and returns the number of their first
    /// block.
    fn start(&mut self, width: usize, rows: Range<usize>) -> u128 {
        assert!(
            rows.start.is_multiple_of(Block::BITS),
            "a strip starts with a whole block"
        );
        self.stride = rows.len().next_multiple_of(ROW_GROUP) / Block::BITS;
        self.columns.resize(width * self.stride, Block::ZERO);
        (rows.start / Block::BITS) as u128
    }

    fn columns_mut(&mut self) -> impl Iterator<Item = &mut [Block]> {
        self.columns.chunks_exact_mut(self.stride)
    }

    fn write_rows(&mut self, rows: &mut [Row<R>]) {
        let padded = self.stride * Block::BITS;
        let columns = bytemuck::cast_slice(&self.columns);
        if rows.len() == padded {
            transpose(columns, rows);
        } else {
            self.rows.resize(padded, [0; R]);
            transpose(columns, &mut self.rows);
            rows.copy_from_slice(&self.rows[..rows.len()]);
        }
    }
}
