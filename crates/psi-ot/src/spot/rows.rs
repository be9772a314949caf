//! The rows of items: what a thread expands of the matrix, and what selectors pick from that.
//!
//! A task expands the rows of some *parts* of the matrix: bins of `spot_fast`, which may have several
//! buckets each, or single buckets of `spot_low`.

use std::ops::Range;

use psijoin_block::gf2k::{Element, Field};
use psijoin_ot::matrix::{ReceiverMatrix, ReceiverRows, Row, SenderMatrix, Strip};

use super::functions::{Functions, Group, Selection};

/// The sender's rows of some parts of the matrix, and those of the items of one.
pub(crate) struct SenderPart<const R: usize> {
    rows_per_part: usize,
    strip: Strip<R>,
    matrix: Vec<Row<R>>,
    selection: Selection<R>,
}

impl<const R: usize> SenderPart<R> {
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
        self.matrix.resize(rows.len(), [0; R]);
        matrix.expand(rows, &mut self.strip, &mut self.matrix);
    }

    /// Sets `q` to Q(x) of the items of a part, which is counted from the first one that is
    /// expanded. Returns their points.
    pub(crate) fn evaluate(
        &mut self,
        part: usize,
        group: Group<'_>,
        functions: &Functions,
        q: &mut [Row<R>],
    ) -> &[Element] {
        let matrix = &self.matrix[rows_of(part..part + 1, self.rows_per_part)];
        self.selection.prepare(functions, group);
        self.selection.rows(group.digests, matrix, q);
        &self.selection.points
    }
}

/// The receiver's rows of some parts of the matrices, and those of the items of one.
pub(crate) struct ReceiverPart<const R: usize> {
    rows_per_part: usize,
    matrices: ReceiverRows<R>,
    selection: Selection<R>,
    rows: Vec<Row<R>>,
}

impl<const R: usize> ReceiverPart<R> {
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
    ) -> (&mut Vec<Element>, &[Row<R>]) {
        let part = rows_of(part..part + 1, self.rows_per_part);
        let ReceiverRows { t0, sum, .. } = &self.matrices;
        self.selection.prepare(functions, group);
        self.rows.resize(group.digests.len(), [0; R]);
        (self.selection).rows(group.digests, &t0[part.clone()], &mut self.rows);
        functions.outputs(&self.rows, group.digests, own);
        (self.selection).rows(group.digests, &sum[part], &mut self.rows);
        (&mut self.selection.points, &self.rows)
    }
}

/// The rows of these parts.
fn rows_of(parts: Range<usize>, rows_per_part: usize) -> Range<usize> {
    parts.start * rows_per_part..parts.end * rows_per_part
}

/// Slice `slice` of a row, as an element of the field.
#[inline]
pub(crate) fn slice_of<const R: usize>(field: &Field, row: &Row<R>, slice: usize) -> Element {
    field.from_words([row[2 * slice], row[2 * slice + 1]])
}

/// Adds s·P(x) to a slice of each row of the sender, given P(x).
pub(crate) fn add_masked<const R: usize>(
    field: &Field,
    rows: &mut [Row<R>],
    slice: usize,
    delta: &Row<R>,
    values: &[Element],
) {
    for (row, value) in rows.iter_mut().zip(values) {
        for (i, word) in (2 * slice..).zip(field.to_words(*value)) {
            row[i] ^= word & delta[i];
        }
    }
}
