//! Rows that are encoded together, as a row group of Parquet or a batch of Arrow.

use std::{collections::HashSet, mem};

use arrow_array::{Array, RecordBatch, make_array};

use crate::{Error, Progress};

/// Makes of rows what stands in a file. Any thread can do so.
pub(super) trait Encoder: Sync {
    type Encoded: Send;

    /// When a group is full.
    const FULL: Full;

    /// The rows with the types that are written.
    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Error>;

    /// Encodes a group of such rows, which is not empty.
    fn encode(&self, group: Vec<RecordBatch>, progress: &Progress) -> Result<Self::Encoded, Error>;
}

/// Puts encoded groups into a file, one after the other.
pub(super) trait GroupWriter {
    type Encoder: Encoder;

    fn append(&mut self, group: <Self::Encoder as Encoder>::Encoded) -> Result<(), Error>;

    /// Writes what stands behind the rows.
    fn finish(self) -> Result<(), Error>;
}

/// A group is full when it has this many rows, or bytes of memory.
pub(super) struct Full {
    pub(super) rows: usize,
    pub(super) bytes: usize,
}

/// Collects rows until a group is full. Where groups end depends on the rows only.
#[derive(Default)]
pub(super) struct Group {
    batches: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
    /// Where the buffers begin that are counted: batches may share some.
    buffers: HashSet<usize>,
}

impl Group {
    /// Adds rows; gives the group if it is full now.
    pub(super) fn add(&mut self, batch: RecordBatch, full: &Full) -> Option<Vec<RecordBatch>> {
        if batch.num_rows() == 0 {
            return None;
        }
        self.rows += batch.num_rows();
        for column in batch.columns() {
            self.count(column);
        }
        self.batches.push(batch);
        match self.rows >= full.rows || self.bytes >= full.bytes {
            true => self.take(),
            false => None,
        }
    }

    /// Gives the rows since the last group, if there are any.
    pub(super) fn take(&mut self) -> Option<Vec<RecordBatch>> {
        let group = mem::take(self);
        Some(group.batches).filter(|batches| !batches.is_empty())
    }

    fn count(&mut self, array: &dyn Array) {
        let data = array.to_data();
        for buffer in data.buffers() {
            if self.buffers.insert(buffer.data_ptr().as_ptr() as usize) {
                self.bytes += buffer.capacity();
            }
        }
        for child in data.child_data() {
            self.count(&make_array(child.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, DictionaryArray, Int32Array, StringArray, types::Int32Type};

    use super::*;

    const FULL: Full = Full {
        rows: 100,
        bytes: 1 << 20,
    };

    fn batch(column: ArrayRef) -> RecordBatch {
        RecordBatch::try_from_iter([("column", column)]).unwrap()
    }

    fn numbers(rows: i32) -> RecordBatch {
        batch(Arc::new(Int32Array::from_iter_values(0..rows)))
    }

    #[test]
    fn groups_end_when_they_have_enough_rows() {
        let mut group = Group::default();
        assert!(group.take().is_none());
        for rows in [60, 0, 39] {
            assert!(group.add(numbers(rows), &FULL).is_none());
        }
        let full = group.add(numbers(1), &FULL).unwrap();
        let rows: Vec<usize> = full.iter().map(RecordBatch::num_rows).collect();
        assert_eq!(rows, [60, 39, 1]);
        assert!(group.take().is_none());
        assert!(group.add(numbers(1), &FULL).is_none());
        assert_eq!(group.take().unwrap().len(), 1);
    }

    #[test]
    fn groups_end_when_they_take_much_memory() {
        let mut group = Group::default();
        let long: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600_000)]));
        let other: ArrayRef = Arc::new(StringArray::from(vec!["y".repeat(600_000)]));
        assert!(group.add(batch(long), &FULL).is_none());
        assert_eq!(group.add(batch(other), &FULL).unwrap().len(), 2);
    }

    #[test]
    fn what_batches_share_counts_once() {
        let mut group = Group::default();
        let values: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600_000)]));
        for _ in 0..9 {
            let keys = Int32Array::from(vec![0; 10]);
            let words = DictionaryArray::<Int32Type>::new(keys, values.clone());
            assert!(group.add(batch(Arc::new(words)), &FULL).is_none());
        }
    }
}
