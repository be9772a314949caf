//! Writes Parquet files.

use std::{collections::BTreeMap, io, sync::Arc};

use arrow_array::{
    Array, ArrayRef, RecordBatch, RecordBatchOptions,
    cast::AsArray,
    make_array, new_null_array,
    types::{
        Time32MillisecondType, Time32SecondType, TimestampMillisecondType, TimestampSecondType,
    },
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
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
    /// The columns as they are written.
    schema: SchemaRef,
    inner: ArrowWriter<&'a mut Output<'b>>,
}

impl<'a, 'b> Writer<'a, 'b> {
    pub(super) fn new(schema: &Schema, output: &'a mut Output<'b>) -> Result<Self, Error> {
        let name = output.name;
        let fields: Vec<Field> = schema.fields().iter().map(|field| written(field)).collect();
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
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
        let inner = ArrowWriter::try_new(output, schema.clone(), Some(properties))
            .map_err(|error| cannot_write(name, io_error(error)))?;
        Ok(Self {
            name,
            schema,
            inner,
        })
    }

    /// The rows with the types that are written.
    fn fitted(&self, batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
        let columns = batch.columns().iter().map(in_milliseconds);
        let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
        let rows = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &rows)
    }

    fn failed(&self, error: ParquetError) -> Error {
        cannot_write(self.name, io_error(error))
    }
}

impl BatchWriter for Writer<'_, '_> {
    fn write(&mut self, batch: &RecordBatch) -> Result<(), Error> {
        let batch = self.fitted(batch);
        let batch = batch.map_err(|error| self.failed(ParquetError::External(Box::new(error))))?;
        let written = self.inner.write(&batch).and_then(|()| {
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

/// A column as it is written: Parquet has no timestamps in seconds: they would be written as mere
/// integers.
fn written(field: &Field) -> Field {
    field
        .clone()
        .with_data_type(without_seconds(field.data_type()))
}

fn without_seconds(data_type: &DataType) -> DataType {
    use DataType::*;
    let inner = |field: &Arc<Field>| Arc::new(written(field));
    match data_type {
        Timestamp(TimeUnit::Second, zone) => Timestamp(TimeUnit::Millisecond, zone.clone()),
        Time32(TimeUnit::Second) => Time32(TimeUnit::Millisecond),
        Dictionary(keys, values) => Dictionary(keys.clone(), Box::new(without_seconds(values))),
        List(items) => List(inner(items)),
        LargeList(items) => LargeList(inner(items)),
        FixedSizeList(items, length) => FixedSizeList(inner(items), *length),
        Map(entries, is_sorted) => Map(inner(entries), *is_sorted),
        Struct(fields) => Struct(fields.iter().map(inner).collect()),
        other => other.clone(),
    }
}

/// The values in the type that is written for theirs.
fn in_milliseconds(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let data_type = without_seconds(array.data_type());
    if data_type == *array.data_type() {
        return Ok(array.clone());
    }
    let beyond = || ArrowError::ComputeError("seconds beyond the reach of milliseconds".to_owned());
    Ok(match array.data_type() {
        DataType::Timestamp(_, zone) => {
            let moments = array
                .as_primitive::<TimestampSecondType>()
                .try_unary::<_, TimestampMillisecondType, _>(|seconds| {
                    seconds.checked_mul(1000).ok_or_else(beyond)
                })?;
            Arc::new(moments.with_timezone_opt(zone.clone()))
        }
        DataType::Time32(_) => Arc::new(
            array
                .as_primitive::<Time32SecondType>()
                .try_unary::<_, Time32MillisecondType, _>(|seconds| {
                    seconds.checked_mul(1000).ok_or_else(beyond)
                })?,
        ),
        _ => {
            let data = array.to_data();
            let children = data.child_data().iter();
            let children = children.map(|child| in_milliseconds(&make_array(child.clone())));
            let children: Vec<ArrayRef> = children.collect::<Result<_, _>>()?;
            let children = children.iter().map(|child| child.to_data()).collect();
            let builder = data.into_builder().data_type(data_type);
            make_array(builder.child_data(children).build()?)
        }
    })
}

/// Whether there are dates of 64 bits. Parquet has none, and they would be written as mere integers
/// unless types are made to fit. This also gives parts of lists other names, so it is done for
/// nothing else.
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
