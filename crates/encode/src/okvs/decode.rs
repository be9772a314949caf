//! Decoding: the values of rows.

use psijoin_block::tower::Element;
use psijoin_params::okvs::{COUPLED_WEIGHT, Shape, UNIFORM_WEIGHT};
use psijoin_runtime::memory::{Buffer, prefetch_all};

use super::Row;

/// Rows that are worked on together.
pub(super) const BATCH: usize = 128;

/// The sums of eight columns, by the bits that choose them.
const SUMS: usize = 1 << 8;

/// Decodes rows in a vector, which may be any vector, when its dense columns are there and the
/// segments of the rows.
pub struct Decoder<V: Element> {
    shape: Shape,
    columns: Columns<V>,
}

impl<V: Element> Decoder<V> {
    /// Makes a decoder for a vector with these dense columns. Takes as long as a few hundred rows.
    ///
    /// # Panics
    /// If the shape has another number of columns, or there is no such shape
    /// ([`Shape::check`]).
    pub fn new(shape: Shape, columns: &[V]) -> Self {
        shape.check();
        assert_eq!(columns.len(), shape.dense as usize, "all dense columns");
        Self {
            shape,
            columns: Columns::new(columns),
        }
    }

    /// Computes the values of rows of this start, in the slots of a vector. Only those of the
    /// segments from `start` on are read, as many as a row has slots.
    ///
    /// # Panics
    /// If `rows` and `values` differ in length, a row has slots out of range, or `slots` does not
    /// reach as far.
    pub fn decode(&self, start: usize, slots: &[V], rows: &[Row], values: &mut [V]) {
        match self.shape.weight {
            UNIFORM_WEIGHT => {
                self.decode_rows::<{ UNIFORM_WEIGHT as usize }>(start, slots, rows, values);
            }
            _ => self.decode_rows::<{ COUPLED_WEIGHT as usize }>(start, slots, rows, values),
        }
    }

    /// Fetches the last segment that the rows of this start have, if many of them are decoded next.
    /// The others were there for the starts before.
    ///
    /// # Panics
    /// If `slots` does not reach as far.
    pub fn fetch(&self, start: usize, slots: &[V]) {
        let len = self.shape.segment_slots as usize;
        let last = start + self.shape.weight as usize - 1;
        prefetch_all(&slots[last * len..][..len]);
    }

    fn decode_rows<const W: usize>(
        &self,
        start: usize,
        slots: &[V],
        rows: &[Row],
        values: &mut [V],
    ) {
        assert_eq!(rows.len(), values.len(), "a value for each row");
        let len = self.shape.segment_slots as usize;
        let segments: [&[V]; W] = std::array::from_fn(|i| &slots[(start + i) * len..][..len]);
        for (rows, values) in rows.chunks(BATCH).zip(values.chunks_mut(BATCH)) {
            for (row, value) in rows.iter().zip(values.iter_mut()) {
                let slots = segments.iter().zip(row.slots);
                *value = slots.fold(V::default(), |sum, (segment, slot)| {
                    sum ^ segment[usize::from(slot)]
                });
            }
            self.columns.add(rows, values);
        }
    }
}

/// The dense columns: a table for each eight of them, of the sums of those whose bits are set.
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
