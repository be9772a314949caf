//! Keeps rows in memory, in the types that they have in Arrow files.
//!
//! The kept rows hold nothing of rows that are not chosen: not in the values of a dictionary, nor
//! in buffers that are shared with the source. A data frame with few chosen rows would otherwise
//! stay in memory as long as these.

use std::{io, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::concat::{concat, concat_batches};

use super::{
    groups::{self, GroupWriter, Misfit},
    output::cannot_write,
};
use psijoin_source::{
    Progress,
    typed::{Full, GroupRows, batch_of, can_own, may_share, owned},
};

use crate::Error;

/// Rows in memory, and how errors call them.
pub(super) struct Kept<'a> {
    pub(super) name: &'a str,
    pub(super) schema: SchemaRef,
    pub(super) batches: Vec<RecordBatch>,
}

impl<'a> Kept<'a> {
    pub(super) fn new(name: &'a str) -> Self {
        Self {
            name,
            schema: Arc::new(Schema::empty()),
            batches: Vec::new(),
        }
    }
}

/// Puts rows together.
pub(super) struct Encoder {
    name: String,
    /// The columns as they are kept.
    schema: SchemaRef,
}

/// Adds batches to those that are kept.
pub(super) struct Writer<'a>(&'a mut Vec<RecordBatch>);

/// Begins to keep rows of these columns.
pub(super) fn create<'a>(
    schema: &SchemaRef,
    kept: &'a mut Kept<'_>,
) -> Result<(Encoder, Writer<'a>), Error> {
    let none = owned(&RecordBatch::new_empty(schema.clone()));
    let none = none.map_err(|_| cannot_keep(kept.name))?;
    let fields = none.schema_ref().fields().clone();
    kept.schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    let encoder = Encoder {
        name: kept.name.to_owned(),
        schema: kept.schema.clone(),
    };
    Ok((encoder, Writer(&mut kept.batches)))
}

impl Encoder {
    fn owned(&self, rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = owned(rows)?.columns().to_vec();
        batch_of(self.schema.clone(), columns, rows.num_rows())
    }

    /// Returns the result, and an error without the library's own words, which may hold values of
    /// the table.
    fn or_error<T>(&self, result: Result<T, ArrowError>) -> Result<T, Error> {
        result.map_err(|_| cannot_keep(&self.name))
    }
}

impl groups::Encoder for Encoder {
    type Encoded = RecordBatch;

    const FULL: Full = Full {
        rows: 1 << 16,
        bytes: 1 << 24,
    };

    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Misfit> {
        let columns: Result<_, ArrowError> =
            rows.columns().iter().map(without_other_items).collect();
        let rows = columns.and_then(|columns| batch_of(rows.schema(), columns, rows.num_rows()));
        Ok(self.or_error(rows.and_then(|rows| self.owned(&rows)))?)
    }

    fn encode(&self, group: GroupRows, progress: &Progress) -> Result<RecordBatch, Error> {
        progress.check()?;
        // If all rows of a batch are chosen, they are not copied yet; and a single batch would not
        // be copied here.
        let nothing = RecordBatch::new_empty(self.schema.clone());
        let batches = group.batches.iter().chain([&nothing]);
        let rows = concat_batches(&self.schema, batches);
        // The rows of a batch may be in two groups, with one buffer of texts behind the views of
        // both.
        self.or_error(rows.and_then(|rows| self.owned(&rows)))
    }
}

impl GroupWriter for Writer<'_> {
    type Encoder = Encoder;

    fn append(&mut self, group: RecordBatch) -> Result<(), Error> {
        self.0.push(group);
        Ok(())
    }

    fn finish(self) -> Result<(), Error> {
        Ok(())
    }
}

/// Returns the column; if it is nested, without the items of other rows, each of which would be
/// looked at again and again.
fn without_other_items(column: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match column.data_type() {
        DataType::Dictionary(..) | DataType::Utf8View | DataType::BinaryView => Ok(column.clone()),
        nested if may_share(nested) => concat(&[column, &column.slice(0, 0)]),
        _ => Ok(column.clone()),
    }
}

/// Returns whether a column can be kept without anything from other rows.
pub(super) fn can_hold(field: &Field) -> bool {
    can_own(field.data_type())
}

fn cannot_keep(name: &str) -> Error {
    cannot_write(name, io::Error::other("rows cannot be picked from it"))
}
