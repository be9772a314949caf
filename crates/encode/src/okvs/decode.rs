//! Decoding: the values of rows.

use psijoin_block::tower::Element;
use psijoin_params::okvs::Shape;
use psijoin_runtime::memory::Buffer;

use super::Row;

/// Rows that are worked on together.
pub(super) const BATCH: usize = 128;

/// The sums of eight columns, by the bits that choose them.
const SUMS: usize = 1 << 8;

/// Decodes rows in a vector of one bin, which may be any vector.
pub struct Decoder<'a, V: Element> {
    slots: &'a [V],
    columns: Columns<V>,
}

impl<'a, V: Element> Decoder<'a, V> {
    /// Makes a decoder for this vector. Takes as long as a few hundred rows.
    ///
    /// # Panics
    /// If `bin` does not have the length of a bin.
    pub fn new(shape: Shape, bin: &'a [V]) -> Self {
        assert_eq!(bin.len(), shape.bin_slots(), "a vector of one bin");
        let (slots, columns) = bin.split_at(shape.slots as usize);
        Self {
            slots,
            columns: Columns::new(columns),
        }
    }

    /// Computes the values of rows.
    ///
    /// # Panics
    /// If `rows` and `values` differ in length, or a row has slots out of range.
    pub fn decode(&self, rows: &[Row], values: &mut [V]) {
        assert_eq!(rows.len(), values.len(), "a value for each row");
        for (rows, values) in rows.chunks(BATCH).zip(values.chunks_mut(BATCH)) {
            for (row, value) in rows.iter().zip(values.iter_mut()) {
                let [x, y, z] = row.slots.map(|slot| self.slots[slot as usize]);
                *value = x ^ y ^ z;
            }
            self.columns.add(rows, values);
        }
    }
}

/// The dense columns of a bin: a table for each eight of them, of the sums of those whose bits are
/// set.
pub(super) struct Columns<V: Element>(Buffer<V>);

impl<V: Element> Columns<V> {
    pub(super) fn new(columns: &[V]) -> Self {
        let mut tables = Buffer::zeroed(columns.len().div_ceil(8) * SUMS);
        for (table, columns) in tables.chunks_exact_mut(SUMS).zip(columns.chunks(8)) {
            for (bit, column) in columns.iter().enumerate() {
                let (without, with) = table[..2 << bit].split_at_mut(1 << bit);
                for (with, without) in with.iter_mut().zip(without) {
                    *with = *without ^ *column;
                }
            }
        }
        Self(tables)
    }

    /// Adds their part of the values of rows.
    pub(super) fn add(&self, rows: &[Row], values: &mut [V]) {
        for (i, table) in self.0.chunks_exact(SUMS).enumerate() {
            let table: &[V; SUMS] = table.try_into().expect("a table of all sums");
            for (row, value) in rows.iter().zip(values.iter_mut()) {
                *value ^= table[usize::from(row.dense[i])];
            }
        }
    }
}
