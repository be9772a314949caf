//! Rows that are encoded together, as a row group of Parquet or a batch of Arrow.

use std::{collections::HashSet, mem};

use arrow_array::{Array, RecordBatch, make_array};
use psijoin_printable::Quoted;

use crate::{Error, Progress, WriteError};

/// Makes of rows what stands in a file. Any thread can do so.
pub(super) trait Encoder: Send + Sync {
    type Encoded: Send;

    /// When a group is full.
    const FULL: Full;

    /// Returns the rows with the types that are written.
    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Misfit>;

    /// Encodes a group of such rows, which is not empty.
    fn encode(&self, group: GroupRows, progress: &Progress) -> Result<Self::Encoded, Error>;
}

/// The reason that rows cannot have the types that are written.
pub(super) enum Misfit {
    /// The format cannot hold the value in this row and this column.
    Value {
        row: usize,
        column: usize,
        /// The fault, and the way out.
        what: String,
    },
    Other(Error),
}

impl From<Error> for Misfit {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl Misfit {
    /// Returns the error of the output with the name `file` in errors. `row` returns the row of the
    /// table for a row of these.
    pub(super) fn error(self, file: &str, rows: &RecordBatch, row: impl Fn(usize) -> u64) -> Error {
        match self {
            Self::Value {
                row: place,
                column,
                what,
            } => Error::Write(WriteError::Unfit {
                file: file.to_owned(),
                reason: format!(
                    "in row {} of the table, the column {} is {what}",
                    row(place) + 1,
                    Quoted(rows.schema_ref().field(column).name()),
                ),
            }),
            Self::Other(error) => error,
        }
    }
}

/// Puts encoded groups into a file, one after the other.
pub(super) trait GroupWriter: Send {
    type Encoder: Encoder;

    fn append(&mut self, group: <Self::Encoder as Encoder>::Encoded) -> Result<(), Error>;

    /// Writes what stands behind the rows.
    fn finish(self) -> Result<(), Error>;
}

/// A group is full when it has this many rows, or takes this much memory.
pub(crate) struct Full {
    pub(crate) rows: usize,
    pub(crate) bytes: usize,
}

/// The rows of a group.
#[derive(Default)]
pub(crate) struct GroupRows {
    /// The number of rows in groups before.
    pub(super) first: usize,
    pub(crate) batches: Vec<RecordBatch>,
}

/// Collects rows until a group is full. Where groups end depends on the rows only.
#[derive(Default)]
pub(crate) struct Group {
    collected: GroupRows,
    rows: usize,
    bytes: usize,
    /// The beginnings of the buffers that are counted: batches may share some.
    buffers: HashSet<usize>,
}

impl Group {
    /// Adds rows; gives the groups that are full now.
    pub(crate) fn add(&mut self, rows: &RecordBatch, full: &Full) -> Vec<GroupRows> {
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
    pub(crate) fn take(&mut self) -> Option<GroupRows> {
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
