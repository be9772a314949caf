//! Writes files of Arrow's own format.
//!
//! Arrays may share what is not in their rows: the values of a dictionary, the texts behind views.
//! The file must hold nothing from rows that do not match, so dictionaries are written as their
//! values, and the texts behind views are copied.

use std::{io, sync::Arc};

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::{concat::concat_batches, take::take};

use super::{
    groups::{self, GroupWriter, Misfit},
    output::{Output, cannot_write},
};
use psijoin_source::{
    Progress,
    typed::{Full, GroupRows, batch_of, may_share, without_shared_texts},
};

use crate::Error;

/// Puts rows together.
pub(super) struct Encoder {
    /// The file's name in errors.
    name: String,
    /// The columns as they are written.
    schema: SchemaRef,
}

/// An Arrow file that is being written.
pub(super) struct Writer<'a, 'b> {
    name: &'a str,
    inner: FileWriter<&'a mut Output<'b>>,
}

/// Begins a file of these columns.
pub(super) fn create<'a, 'b>(
    schema: &Schema,
    output: &'a mut Output<'b>,
) -> Result<(Encoder, Writer<'a, 'b>), Error> {
    let name = output.name;
    let fields: Vec<Field> = schema.fields().iter().map(|field| written(field)).collect();
    let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
    let inner = FileWriter::try_new(output, &schema)
        .map_err(|error| cannot_write(name, io_error(error)))?;
    let encoder = Encoder {
        name: name.to_owned(),
        schema: Arc::new(schema),
    };
    Ok((encoder, Writer { name, inner }))
}

impl groups::Encoder for Encoder {
    type Encoded = RecordBatch;

    const FULL: Full = Full {
        rows: 1 << 16,
        bytes: 1 << 24,
    };

    /// Returns the rows of a batch without anything else.
    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Misfit> {
        let columns: Result<_, ArrowError> = rows.columns().iter().map(compact).collect();
        let fitted =
            columns.and_then(|columns| batch_of(self.schema.clone(), columns, rows.num_rows()));
        fitted.map_err(|error| cannot_write(&self.name, io_error(error)).into())
    }

    fn encode(&self, group: GroupRows, progress: &Progress) -> Result<RecordBatch, Error> {
        progress.check()?;
        let rows = concat_batches(&self.schema, &group.batches);
        // The rows of a batch may be in two groups, with one buffer of texts behind the views of
        // both.
        let columns =
            |rows: &RecordBatch| rows.columns().iter().map(without_shared_texts).collect();
        rows.and_then(|rows| batch_of(self.schema.clone(), columns(&rows), rows.num_rows()))
            .map_err(|error| cannot_write(&self.name, io_error(error)))
    }
}

impl GroupWriter for Writer<'_, '_> {
    type Encoder = Encoder;

    fn append(&mut self, group: RecordBatch) -> Result<(), Error> {
        let written = self.inner.write(&group);
        written.map_err(|error| cannot_write(self.name, io_error(error)))
    }

    fn finish(mut self) -> Result<(), Error> {
        let finished = self.inner.finish();
        finished.map_err(|error| cannot_write(self.name, io_error(error)))
    }
}

/// Returns the operating system's error, if that is what made the Arrow writer fail. The writer's
/// own words may hold values of the table: they are not passed on.
fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        _ => io::Error::other("the Arrow writer cannot take these rows"),
    }
}

/// Returns whether a column can be written without anything from other rows.
pub(super) fn can_hold(field: &Field) -> bool {
    match written(field).data_type() {
        DataType::Utf8View | DataType::BinaryView => true,
        other => !may_share(other),
    }
}

/// Returns a column as it is written.
fn written(field: &Field) -> Field {
    match field.data_type() {
        DataType::Dictionary(_, values) => {
            let field = field.clone();
            field.with_data_type((**values).clone()).with_nullable(true)
        }
        _ => field.clone(),
    }
}

fn compact(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    Ok(match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            compact(&take(dictionary.values(), dictionary.keys(), None)?)?
        }
        _ => without_shared_texts(array),
    })
}
