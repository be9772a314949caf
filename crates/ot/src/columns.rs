//! Bit matrices of 128 columns, each a bit of Δ: what OT extension sends, checks and transposes.

use psijoin_block::{Block, transpose};
use zeroize::Zeroize;

/// Columns of the matrices: κ.
pub(crate) const COLUMNS: usize = 128;

/// Some rows of a matrix, column by column. Wiped when it is dropped.
pub(crate) struct ColumnChunk {
    blocks: Vec<Block>,
    used_per_column: usize,
}

impl Drop for ColumnChunk {
    fn drop(&mut self) {
        self.blocks.zeroize();
    }
}

impl ColumnChunk {
    /// Returns zeros.
    pub(crate) fn new(rows: usize) -> Self {
        let mut chunk = Self {
            blocks: Vec::new(),
            used_per_column: 0,
        };
        chunk.resize(rows);
        chunk
    }

    /// Prepares it for other rows, no more than fit once it was used: memory that it left behind
    /// would not be wiped.
    pub(crate) fn resize(&mut self, rows: usize) {
        self.used_per_column = rows.div_ceil(128);
        self.blocks.resize(COLUMNS * self.stride(), Block::ZERO);
    }

    /// Blocks of 128 rows that a column holds.
    pub(crate) fn used_per_column(&self) -> usize {
        self.used_per_column
    }

    /// Returns the number of rows, with those that fill them up to whole groups.
    pub(crate) fn rows(&self) -> usize {
        whole_groups(self.used_per_column * 128)
    }

    /// Blocks from one column to the next.
    fn stride(&self) -> usize {
        self.rows() / 128
    }

    /// Returns each column, with what fills it up to a whole group of rows.
    pub(crate) fn columns_mut(&mut self) -> impl Iterator<Item = &mut [Block]> {
        let stride = self.stride();
        self.blocks.chunks_exact_mut(stride)
    }

    /// Returns each column's blocks of 128 rows.
    pub(crate) fn columns(&self) -> impl Iterator<Item = &[Block]> {
        self.blocks
            .chunks_exact(self.stride())
            .map(|column| &column[..self.used_per_column])
    }

    /// Writes all [rows](Self::rows).
    ///
    /// # Panics
    /// If there is not a place for each.
    pub(crate) fn transpose(&self, rows: &mut [Block]) {
        assert_eq!(rows.len(), self.rows(), "a place for each row");
        transpose::transpose::<2>(
            bytemuck::cast_slice(&self.blocks),
            bytemuck::cast_slice_mut(rows),
        );
    }
}

/// As many rows in whole groups: the transposition wants no others.
pub(crate) fn whole_groups(rows: usize) -> usize {
    rows.next_multiple_of(transpose::ROW_GROUP)
}
