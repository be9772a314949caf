//! The rows of items: what a thread expands of the matrix, and what selectors pick from that.
//!
//! A task expands the rows of some *parts* of the matrix: those of bins of `spot_fast` that share a
//! bucket, or of one that has several, or single buckets of `spot_low`.

use std::ops::Range;

use psijoin_block::gf2k::{Element, Field};
use psijoin_ot::matrix::{ReceiverMatrix, ReceiverRows, SenderMatrix, Strip};

use super::functions::{Functions, Group, Selection};

/// The sender's rows of some parts of the matrix, and those of the items of one.
pub(crate) struct SenderPart {
    rows_per_part: usize,
    strip: Strip,
    matrix: Vec<u64>,
    selection: Selection,
}

impl SenderPart {
    pub(crate) fn new(rows_per_part: usize) -> Self {
        Self {
            rows_per_part,
            strip: Strip::default(),
            matrix: Vec::new(),
            selection: Selection::default(),
        }
    }

    /// Expands these parts of the matrix.
    pub(crate) fn expand(&mut self, matrix: &SenderMatrix, parts: Range<usize>) {
        let rows = rows_of(parts, self.rows_per_part);
        self.matrix.resize(rows.len() * matrix.shape().words, 0);
        matrix.expand(rows, &mut self.strip, &mut self.matrix);
    }

    /// Sets `q` to Q(x) of the items of a part, which is counted from the first one that is
    /// expanded. Returns their points.
    pub(crate) fn evaluate(
        &mut self,
        part: usize,
        group: Group<'_>,
        functions: &Functions,
        q: &mut [u64],
    ) -> &[Element] {
        let row_words = functions.row_words;
        let matrix = &self.matrix[rows_of(part..part + 1, self.rows_per_part * row_words)];
        self.selection.prepare(functions, group);
        (self.selection).rows(group.digests, row_words, matrix, q);
        &self.selection.points
    }
}

/// The receiver's rows of some parts of the matrices, and those of the items of one.
pub(crate) struct ReceiverPart {
    rows_per_part: usize,
    matrices: ReceiverRows,
    selection: Selection,
    rows: Vec<u64>,
}

impl ReceiverPart {
    pub(crate) fn new(rows_per_part: usize) -> Self {
        Self {
            rows_per_part,
            matrices: ReceiverRows::default(),
            selection: Selection::default(),
            rows: Vec::new(),
        }
    }

    /// Expands these parts of the matrices.
    pub(crate) fn expand(&mut self, matrix: &ReceiverMatrix, parts: Range<usize>) {
        matrix.expand(rows_of(parts, self.rows_per_part), &mut self.matrices);
    }

    /// Sets `own` to H(T(y), y) of the items of a part, which is counted from the first one that is
    /// expanded. Returns their points and R(y).
    pub(crate) fn evaluate(
        &mut self,
        part: usize,
        group: Group<'_>,
        functions: &Functions,
        own: &mut [u128],
    ) -> (&[Element], &[u64]) {
        let row_words = functions.row_words;
        let part = rows_of(part..part + 1, self.rows_per_part * row_words);
        let ReceiverRows { t0, sum, .. } = &self.matrices;
        self.selection.prepare(functions, group);
        self.rows.resize(group.digests.len() * row_words, 0);
        (self.selection).rows(group.digests, row_words, &t0[part.clone()], &mut self.rows);
        functions.outputs(&self.rows, group.digests, own);
        (self.selection).rows(group.digests, row_words, &sum[part], &mut self.rows);
        (&self.selection.points, &self.rows)
    }
}

/// Returns the rows of these parts.
fn rows_of(parts: Range<usize>, rows_per_part: usize) -> Range<usize> {
    parts.start * rows_per_part..parts.end * rows_per_part
}

/// Returns slice `slice` of a row, as an element of the field.
#[inline]
pub(crate) fn slice_of(field: &Field, row: &[u64], slice: usize) -> Element {
    field.from_words([row[2 * slice], row[2 * slice + 1]])
}

/// Adds s·P(x) to a slice of each row of the sender, given P(x).
pub(crate) fn add_masked(
    field: &Field,
    rows: &mut [u64],
    slice: usize,
    delta: &[u64],
    values: &[Element],
) {
    for (row, value) in rows.chunks_exact_mut(delta.len()).zip(values) {
        for (i, word) in (2 * slice..).zip(field.to_words(*value)) {
            row[i] ^= word & delta[i];
        }
    }
}
