//! Writers of Parquet files.

use std::{borrow::Cow, io, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, builder::StringBuilder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;
use parquet::{
    arrow::{ARROW_SCHEMA_META_KEY, ArrowWriter},
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};

use super::{Matches, Output, cannot_write, fields::FieldWriter};
use crate::{
    Error, Progress, Source,
    error::Place,
    parquet::{Batches, open_to_copy},
};

/// A row group ends when it takes this much memory.
const ROW_GROUP_BYTES: usize = 1 << 27;

/// Texts are handed to the Parquet writer when there are this many bytes of them, or rows.
const BATCH_BYTES: usize = 1 << 24;
const BATCH_ROWS: usize = 8192;

/// Copies the matching rows from Parquet to Parquet, with their types.
pub(super) fn filter(
    source: &Source,
    matches: &mut Matches<'_, impl Iterator<Item = bool>>,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let reader = open_to_copy(source)?;
    let metadata = reader.metadata().file_metadata().key_value_metadata();
    let mut writer = Writer::new(reader.schema().clone(), metadata, output)?;
    for batch in Batches::new(source, reader, progress)? {
        let batch = batch?;
        let flags: Result<Vec<bool>, Error> =
            (0..batch.num_rows()).map(|_| matches.next()).collect();
        let matching = filter_record_batch(&batch, &BooleanArray::from(flags?))
            .map_err(|error| writer.failed(error.into()))?;
        writer.write(&matching)?;
    }
    writer.finish()
}

/// A Parquet file that is being written.
struct Writer<'a, 'b> {
    name: &'a str,
    inner: ArrowWriter<&'a mut Output<'b>>,
}

impl<'a, 'b> Writer<'a, 'b> {
    fn new(
        schema: SchemaRef,
        metadata: Option<&Vec<KeyValue>>,
        output: &'a mut Output<'b>,
    ) -> Result<Self, Error> {
        let name = output.name;
        // The schema is the writer's own affair, and would stand there twice.
        let metadata = metadata.map(|pairs| {
            pairs
                .iter()
                .filter(|pair| pair.key != ARROW_SCHEMA_META_KEY)
                .cloned()
                .collect()
        });
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_key_value_metadata(metadata)
            .build();
        let inner = ArrowWriter::try_new(output, schema, Some(properties))
            .map_err(|error| cannot_write(name, io_error(error)))?;
        Ok(Self { name, inner })
    }

    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let written = self.inner.write(batch).and_then(|()| {
            if self.inner.in_progress_size() > ROW_GROUP_BYTES {
                self.inner.flush()
            } else {
                Ok(())
            }
        });
        written.map_err(|error| self.failed(error))
    }

    fn finish(mut self) -> Result<(), Error> {
        self.inner
            .finish()
            .map(drop)
            .map_err(|error| self.failed(error))
    }

    fn failed(&self, error: ParquetError) -> Error {
        cannot_write(self.name, io_error(error))
    }
}

/// The operating system's error, if that is what made the Parquet writer fail. The writer's own
/// words may hold values of the table: they are not passed on.
fn io_error(error: ParquetError) -> io::Error {
    let other = || io::Error::other("the Parquet writer cannot take these rows");
    match error {
        ParquetError::External(inner) => inner.downcast().map_or_else(|_| other(), |error| *error),
        _ => other(),
    }
}

/// Writes texts as columns of strings.
pub(super) struct Strings<'a, 'b> {
    writer: Writer<'a, 'b>,
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    rows: usize,
    bytes: usize,
}

impl<'a, 'b> Strings<'a, 'b> {
    pub(super) fn new(columns: &[String], output: &'a mut Output<'b>) -> Result<Self, Error> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|name| Field::new(name, DataType::Utf8, false))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self {
            writer: Writer::new(schema.clone(), None, output)?,
            schema,
            columns: columns.iter().map(|_| StringBuilder::new()).collect(),
            rows: 0,
            bytes: 0,
        })
    }

    fn flush(&mut self) -> Result<(), Error> {
        let arrays = self
            .columns
            .iter_mut()
            .map(|column| Arc::new(column.finish()) as ArrayRef);
        let batch = RecordBatch::try_new(self.schema.clone(), arrays.collect())
            .map_err(|error| self.writer.failed(error.into()))?;
        (self.rows, self.bytes) = (0, 0);
        self.writer.write(&batch)
    }
}

impl FieldWriter for Strings<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], _: Place) -> Result<(), Error> {
        for (column, field) in self.columns.iter_mut().zip(fields) {
            column.append_value(field);
            self.bytes += field.len();
        }
        self.rows += 1;
        if self.rows == BATCH_ROWS || self.bytes >= BATCH_BYTES {
            self.flush()
        } else {
            Ok(())
        }
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.flush()?;
        self.writer.finish()
    }
}
