//! Writes Parquet files.

use std::{collections::BTreeMap, io, sync::Arc};

use arrow_array::{RecordBatch, new_null_array};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties},
};

use super::{Output, cannot_write, typed::BatchWriter};
use crate::{Error, contained::contained};

/// A row group ends when it takes this much memory.
const ROW_GROUP_BYTES: usize = 1 << 27;

/// A Parquet file that is being written.
pub(super) struct Writer<'a, 'b> {
    name: &'a str,
    inner: ArrowWriter<&'a mut Output<'b>>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(schema: SchemaRef, output: &'a mut Output<'b>) -> Result<Self, Error> {
        let name = output.name;
        // In one order, as the same run gives the same file.
        let pairs: BTreeMap<_, _> = schema.metadata().clone().into_iter().collect();
        let pairs = pairs
            .into_iter()
            .map(|(key, value)| KeyValue::new(key, value));
        let metadata = Some(pairs.collect::<Vec<_>>()).filter(|pairs| !pairs.is_empty());
        let properties = WriterProperties::builder()
            .set_compression(Compression::SNAPPY)
            .set_coerce_types(has_long_dates(&schema))
            .set_key_value_metadata(metadata)
            .build();
        let inner = ArrowWriter::try_new(output, schema, Some(properties))
            .map_err(|error| cannot_write(name, io_error(error)))?;
        Ok(Self { name, inner })
    }

    fn failed(&self, error: ParquetError) -> Error {
        cannot_write(self.name, io_error(error))
    }
}

impl BatchWriter for Writer<'_, '_> {
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

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.inner
            .finish()
            .map(drop)
            .map_err(|error| self.failed(error))
    }
}

/// Whether there are dates of 64 bits. Parquet has none, and they would be written as mere integers
/// unless types are made to fit; which also gives parts of lists other names, so that nothing else
/// is.
fn has_long_dates(schema: &Schema) -> bool {
    let fields = schema.flattened_fields();
    fields
        .iter()
        .any(|field| *field.data_type() == DataType::Date64)
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

/// Whether Parquet has a type for this column, which the writer tells by writing it.
pub(super) fn can_hold(field: &Field) -> bool {
    let field = field.clone().with_nullable(true);
    let write = || -> Result<(), ParquetError> {
        let null = new_null_array(field.data_type(), 1);
        let schema = Arc::new(Schema::new(vec![field]));
        let mut writer = ArrowWriter::try_new(io::sink(), schema.clone(), None)?;
        writer.write(&RecordBatch::try_new(schema, vec![null])?)?;
        writer.close().map(drop)
    };
    matches!(contained(write), Some(Ok(())))
}
