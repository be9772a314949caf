//! Writes files of Arrow's own format.
//!
//! Arrays may share what is not in their rows: the values of a dictionary, the texts behind views.
//! The file must hold nothing from rows that do not match, so dictionaries are written as their
//! values, and the texts behind views are copied.

use std::{io, mem, sync::Arc};

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions,
    cast::AsArray,
    types::{BinaryViewType, StringViewType},
};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::{concat::concat_batches, take::take};

use super::{Output, cannot_write, typed::BatchWriter};
use crate::Error;

/// A batch is written when there are this many rows, or bytes.
const BATCH_ROWS: usize = 1 << 16;
const BATCH_BYTES: usize = 1 << 24;

/// An Arrow file that is being written.
pub(super) struct Writer<'a, 'b> {
    name: &'a str,
    inner: FileWriter<&'a mut Output<'b>>,
    schema: SchemaRef,
    pending: Vec<RecordBatch>,
    rows: usize,
    bytes: usize,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(schema: &Schema, output: &'a mut Output<'b>) -> Result<Self, Error> {
        let name = output.name;
        let fields: Vec<Field> = schema.fields().iter().map(|field| written(field)).collect();
        let schema = Schema::new_with_metadata(fields, schema.metadata().clone());
        let inner = FileWriter::try_new(output, &schema)
            .map_err(|error| cannot_write(name, io_error(error)))?;
        Ok(Self {
            name,
            inner,
            schema: Arc::new(schema),
            pending: Vec::new(),
            rows: 0,
            bytes: 0,
        })
    }

    /// The rows of a batch without anything else.
    fn compact(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().map(compact);
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(
            self.schema.clone(),
            columns.collect::<Result<_, _>>()?,
            &options,
        )
    }

    fn flush(&mut self) -> Result<(), ArrowError> {
        (self.rows, self.bytes) = (0, 0);
        match &*mem::take(&mut self.pending) {
            [] => Ok(()),
            pending => self.inner.write(&concat_batches(&self.schema, pending)?),
        }
    }

    fn take(&mut self, batch: &RecordBatch) -> Result<(), ArrowError> {
        if batch.num_rows() == 0 {
            return Ok(());
        }
        let batch = self.compact(batch)?;
        self.rows += batch.num_rows();
        self.bytes += batch.get_array_memory_size();
        self.pending.push(batch);
        match self.rows >= BATCH_ROWS || self.bytes >= BATCH_BYTES {
            true => self.flush(),
            false => Ok(()),
        }
    }
}

impl BatchWriter for Writer<'_, '_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let taken = self.take(batch);
        taken.map_err(|error| cannot_write(self.name, io_error(error)))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        let finished = self.flush().and_then(|()| self.inner.finish());
        finished.map_err(|error| cannot_write(self.name, io_error(error)))
    }
}

/// The operating system's error, if that is what made the Arrow writer fail. The writer's own
/// words may hold values of the table: they are not passed on.
fn io_error(error: ArrowError) -> io::Error {
    match error {
        ArrowError::IoError(_, error) => error,
        _ => io::Error::other("the Arrow writer cannot take these rows"),
    }
}

/// Whether a column can be written without anything from other rows.
pub(super) fn can_hold(field: &Field) -> bool {
    match written(field).data_type() {
        DataType::Utf8View | DataType::BinaryView => true,
        other => !may_share(other),
    }
}

/// Whether arrays of this type may share what is not in their rows, once these are picked.
fn may_share(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(..) | Utf8View | BinaryView | ListView(_) | LargeListView(_) => true,
        List(items) | LargeList(items) | FixedSizeList(items, _) | Map(items, _) => {
            may_share(items.data_type())
        }
        Struct(fields) => fields.iter().any(|field| may_share(field.data_type())),
        Union(fields, _) => fields.iter().any(|(_, field)| may_share(field.data_type())),
        RunEndEncoded(_, values) => may_share(values.data_type()),
        _ => false,
    }
}

/// A column as it is written.
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
        DataType::Utf8View => Arc::new(array.as_byte_view::<StringViewType>().gc()),
        DataType::BinaryView => Arc::new(array.as_byte_view::<BinaryViewType>().gc()),
        _ => array.clone(),
    })
}
