//! Rows that go together, as a row group of Parquet or a batch of Arrow.

use std::{collections::HashSet, mem};

use arrow_array::{Array, RecordBatch, make_array};

/// A group is full when it has this many rows, or takes this much memory.
#[derive(Debug, Clone, Copy)]
pub struct Full {
    /// The number of rows.
    pub rows: usize,
    /// The memory.
    pub bytes: usize,
}

/// The rows of a group.
#[derive(Debug, Default)]
pub struct GroupRows {
    /// The number of rows in groups before.
    pub first: usize,
    /// The rows, in order.
    pub batches: Vec<RecordBatch>,
}

/// Collects rows until a group is full. Where groups end depends on the rows only.
#[derive(Debug, Default)]
pub struct Group {
    collected: GroupRows,
    rows: usize,
    bytes: usize,
    /// The beginnings of the buffers that are counted: batches may share some.
    buffers: HashSet<usize>,
}

impl Group {
    /// Adds rows; gives the groups that are full now.
    pub fn add(&mut self, rows: &RecordBatch, full: &Full) -> Vec<GroupRows> {
        let mut groups = Vec::new();
        let mut start = 0;
        while start < rows.num_rows() {
            let count = (rows.num_rows() - start).min(full.rows - self.rows);
            self.push(rows.slice(start, count));
            start += count;
            if self.rows == full.rows || self.bytes >= full.bytes {
                groups.extend(self.take());
            }
        }
        groups
    }

    fn push(&mut self, rows: RecordBatch) {
        self.rows += rows.num_rows();
        rows.columns().iter().for_each(|column| self.count(column));
        self.collected.batches.push(rows);
    }

    /// Gives the rows since the last group, if there are any.
    pub fn take(&mut self) -> Option<GroupRows> {
        let group = mem::take(self);
        self.collected.first = group.collected.first + group.rows;
        Some(group.collected).filter(|collected| !collected.batches.is_empty())
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
            assert!(group.add(&numbers(rows), &FULL).is_empty());
        }
        let groups = group.add(&numbers(205), &FULL).into_iter();
        let rows: Vec<(usize, Vec<usize>)> = groups
            .chain(group.take())
            .map(|group| {
                let rows = group.batches.iter().map(RecordBatch::num_rows);
                (group.first, rows.collect())
            })
            .collect();
        assert_eq!(
            rows,
            [
                (0, vec![60, 39, 1]),
                (100, vec![100]),
                (200, vec![100]),
                (300, vec![4])
            ]
        );
        assert!(group.take().is_none());
    }

    #[test]
    fn groups_end_when_they_take_much_memory() {
        let mut group = Group::default();
        let long = |text: &str| batch(Arc::new(StringArray::from(vec![text.repeat(600_000)])));
        assert!(group.add(&long("x"), &FULL).is_empty());
        assert_eq!(group.add(&long("y"), &FULL)[0].batches.len(), 2);
        assert!(group.take().is_none());
    }

    #[test]
    fn what_batches_share_counts_once() {
        let mut group = Group::default();
        let values: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(600_000)]));
        for _ in 0..9 {
            let keys = Int32Array::from(vec![0; 10]);
            let words = DictionaryArray::<Int32Type>::new(keys, values.clone());
            assert!(group.add(&batch(Arc::new(words)), &FULL).is_empty());
        }
    }
}
