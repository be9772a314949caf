//! Decoding: the values of rows.

use psijoin_block::tower::{Element, Gf64};
use psijoin_params::okvs::Shape;

use super::Row;

/// Rows that are worked on together.
pub(super) const BATCH: usize = 128;

/// Computes the values of rows in a vector of one bin, which may be any vector.
///
/// # Panics
/// If `rows` and `values` differ in length, `bin` does not have the length of a bin, or a row has
/// slots out of range.
pub fn decode_bin<V: Element>(shape: Shape, bin: &[V], rows: &[Row], values: &mut [V]) {
    assert_eq!(rows.len(), values.len(), "a value for each row");
    assert_eq!(bin.len(), shape.bin_slots(), "a vector of one bin");
    let columns = Columns::of(bin, shape);
    let slots = &bin[..shape.slots as usize];
    for (rows, values) in rows.chunks(BATCH).zip(values.chunks_mut(BATCH)) {
        for (row, value) in rows.iter().zip(values.iter_mut()) {
            let [x, y, z] = row.slots;
            *value = slots[x as usize] ^ slots[y as usize] ^ slots[z as usize];
        }
        columns.add(rows, values);
    }
}

/// The dense columns and the check column of a bin.
pub(super) struct Columns<'a, V> {
    dense: &'a [V],
    check: &'a [V],
}

impl<'a, V: Element> Columns<'a, V> {
    pub(super) fn of(bin: &'a [V], shape: Shape) -> Self {
        let (dense, check) = bin[shape.slots as usize..].split_at(shape.dense as usize);
        Self { dense, check }
    }

    /// Adds their part of the values of up to [`BATCH`] rows.
    #[inline(always)]
    pub(super) fn add(&self, rows: &[Row], values: &mut [V]) {
        let mut at = [Gf64::default(); BATCH];
        let at = &mut at[..rows.len()];
        let each = |at: &mut [Gf64], coefficient: fn(&Row) -> Gf64| {
            for (at, row) in at.iter_mut().zip(rows) {
                *at = coefficient(row);
            }
        };
        each(at, |row| row.dense);
        V::add_polynomials(values, at, self.dense);
        if !self.check.is_empty() {
            each(at, |row| Gf64(row.check.into()));
            V::add_polynomials(values, at, self.check);
        }
    }
}
