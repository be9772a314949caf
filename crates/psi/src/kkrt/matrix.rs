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
    pub(super) fn expand<const R: usize>(&self, range: Range<usize>, rows: &mut [Row<R>]) {
        let mut strip = Strip::new(self.columns.len(), range);
        for (column, prg) in strip
            .columns
            .chunks_exact_mut(strip.stride)
            .zip(&self.columns)
        {
            prg.fill_at(strip.first_block, column);
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
        t0: &mut [Row<R>],
        sum: &mut [Row<R>],
    ) {
        let mut first = Strip::new(self.columns.len(), range.clone());
        let mut both = Strip::new(self.columns.len(), range);
        let stride = first.stride;
        for ((first_column, column), [zero, one]) in (first.columns.chunks_exact_mut(stride))
            .zip(both.columns.chunks_exact_mut(stride))
            .zip(&self.columns)
        {
            zero.fill_at(first.first_block, first_column);
            one.fill_at(both.first_block, column);
            for (sum, first) in column.iter_mut().zip(first_column) {
                *sum ^= *first;
            }
        }
        first.write_rows(t0);
        both.write_rows(sum);
    }
}

/// A strip of rows, column by column: `stride` blocks of 128 rows each.
struct Strip {
    first_block: u128,
    stride: usize,
    columns: Vec<Block>,
}

impl Strip {
    fn new(width: usize, rows: Range<usize>) -> Self {
        assert!(
            rows.start.is_multiple_of(Block::BITS),
            "a strip starts with a whole block"
        );
        let stride = rows.len().next_multiple_of(ROW_GROUP) / Block::BITS;
        let first_block = (rows.start / Block::BITS) as u128;
        Self {
            first_block,
            stride,
            columns: vec![Block::ZERO; width * stride],
        }
    }

    fn write_rows<const R: usize>(&self, rows: &mut [Row<R>]) {
        let padded = self.stride * Block::BITS;
        let columns = bytemuck::cast_slice(&self.columns);
        if rows.len() == padded {
            transpose(columns, rows);
        } else {
            let mut all = vec![[0; R]; padded];
            transpose(columns, &mut all);
            rows.copy_from_slice(&all[..rows.len()]);
        }
    }
}
