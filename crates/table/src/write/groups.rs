//! Rows that are encoded together, as a row group of Parquet or a batch of Arrow.

use arrow_array::RecordBatch;
use psijoin_printable::Quoted;
use psijoin_source::{
    Progress,
    typed::{Full, GroupRows},
};

use crate::{Error, WriteError};

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
