//! Writes typed columns, in batches of rows.

use std::{borrow::Cow, io, sync::Arc};

use arrow_array::{ArrayRef, BooleanArray, RecordBatch, builder::StringBuilder};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use arrow_select::filter::filter_record_batch;

use super::{Matches, Output, cannot_write, fields::FieldWriter, ipc, parquet};
use crate::{Error, Format, Progress, Source, error::Place, source::Selection};

/// Texts are handed to the writer when there are this many bytes or rows of them.
const BATCH_BYTES: usize = 1 << 24;
const BATCH_ROWS: usize = 8192;

/// Writes batches of rows.
pub(super) trait BatchWriter {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error>;

    /// Writes what is still held back, and what stands behind the rows.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

fn batch_writer<'a>(
    format: Format,
    schema: &SchemaRef,
    output: &'a mut Output<'_>,
) -> Result<Box<dyn BatchWriter + 'a>, Error> {
    Ok(match format {
        Format::Parquet => Box::new(parquet::Writer::new(schema, output)?),
        Format::Arrow => Box::new(ipc::Writer::new(schema, output)?),
        Format::Csv | Format::Tsv | Format::Lines => panic!("a text has no typed columns"),
    })
}

/// Copies the matching rows of typed columns, with their types.
pub(super) fn filter(
    source: &Source,
    matches: &mut Matches<'_>,
    format: Format,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let name = output.name;
    let selection = Selection::all(source)?;
    let mut writer = batch_writer(format, selection.schema(), output)?;
    matches.each_batch(&selection, progress, &mut |matches, batch| {
        let rows = 0..batch.rows.num_rows();
        let flags: Result<Vec<bool>, Error> = rows.map(|_| matches.next()).collect();
        let matching = filter_record_batch(&batch.rows, &BooleanArray::from(flags?))
            .map_err(|_| cannot_write(name, io::Error::other("rows cannot be picked from it")))?;
        writer.write(&matching)
    })?;
    writer.finish()
}

/// Writes texts as columns of strings.
pub(super) struct Strings<'a> {
    writer: Box<dyn BatchWriter + 'a>,
    schema: SchemaRef,
    columns: Vec<StringBuilder>,
    rows: usize,
    bytes: usize,
}

impl<'a> Strings<'a> {
    pub(super) fn new(
        format: Format,
        columns: &[String],
        output: &'a mut Output<'_>,
    ) -> Result<Self, Error> {
        let fields: Vec<Field> = columns
            .iter()
            .map(|name| Field::new(name, DataType::Utf8, false))
            .collect();
        let schema = Arc::new(Schema::new(fields));
        Ok(Self {
            writer: batch_writer(format, &schema, output)?,
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
            .expect("as many texts in each column, and none is null");
        (self.rows, self.bytes) = (0, 0);
        self.writer.write(&batch)
    }
}

impl FieldWriter for Strings<'_> {
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
