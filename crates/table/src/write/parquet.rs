//! Writes Parquet files.

mod kept;

use std::{collections::BTreeMap, io, sync::Arc};

use arrow_array::{
    Array, ArrayRef, RecordBatch, UInt64Array,
    cast::AsArray,
    make_array, new_null_array,
    types::{
        Date64Type, Time32MillisecondType, Time32SecondType, TimestampMillisecondType,
        TimestampSecondType,
    },
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef, TimeUnit};
use arrow_select::take::take;
use parquet::{
    arrow::{
        ArrowSchemaConverter, ArrowWriter,
        arrow_writer::{
            ArrowColumnChunk, ArrowColumnWriter, ArrowRowGroupWriterFactory, ArrowWriterOptions,
            compute_leaves,
        },
    },
    basic::Compression,
    errors::ParquetError,
    file::{metadata::KeyValue, properties::WriterProperties, writer::SerializedFileWriter},
    schema::types::{ColumnPath, SchemaDescPtr, SchemaDescriptor},
};

use super::{
    groups::{self, GroupWriter, Misfit},
    output::{Output, cannot_write},
};
use psijoin_key::panics::contained;
use psijoin_source::{
    Progress,
    typed::{Full, GroupRows, batch_of, value_type, without_shared_texts},
};

use crate::Error;
use kept::kept;

/// Encodes row groups.
pub(super) struct Encoder {
    /// The file's name in errors.
    name: String,
    /// The columns as they are written.
    schema: SchemaRef,
    columns: ArrowRowGroupWriterFactory,
}

/// A Parquet file that is being written.
pub(super) struct Writer<'a, 'b> {
    name: &'a str,
    inner: SerializedFileWriter<&'a mut Output<'b>>,
}

/// The file whose columns are written, as far as it matters to how they are.
#[derive(Default)]
pub(super) struct Like {
    /// The columns that get no dictionaries.
    pub(super) without_dictionaries: Vec<usize>,
    /// Its own schema, if it is a Parquet file.
    pub(super) schema: Option<SchemaDescPtr>,
}

/// Begins a file of these columns.
pub(super) fn create<'a, 'b>(
    schema: &Schema,
    like: &Like,
    output: &'a mut Output<'b>,
) -> Result<(Encoder, Writer<'a, 'b>), Error> {
    let name = output.name;
    let is_like_parquet = like.schema.is_some();
    let fields = schema.fields().iter().map(|field| {
        let field = written(field);
        // The values of a dictionary may be null where its keys are not, but for those of Parquet.
        let may_be_null = matches!(field.data_type(), DataType::Dictionary(..)) && !is_like_parquet;
        let nullable = field.is_nullable() || may_be_null;
        field.with_nullable(nullable)
    });
    let fields: Vec<Field> = fields.collect();
    let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
    // In one order, as the same run gives the same file.
    let pairs: BTreeMap<_, _> = schema.metadata().clone().into_iter().collect();
    let pairs = pairs
        .into_iter()
        .map(|(key, value)| KeyValue::new(key, value));
    let metadata = Some(pairs.collect::<Vec<_>>()).filter(|pairs| !pairs.is_empty());
    let builder = like
        .without_dictionaries
        .iter()
        .map(|&column| ColumnPath::from(schema.field(column).name().clone()))
        .fold(WriterProperties::builder(), |builder, path| {
            builder.set_column_dictionary_enabled(path, false)
        });
    let properties = builder
        .set_compression(Compression::SNAPPY)
        .set_coerce_types(has_long_dates(&schema))
        .set_key_value_metadata(metadata)
        .build();
    let create = || {
        let columns = columns(&schema, like.schema.as_deref())?;
        let columns = columns.map_err(ParquetError::General)?;
        let options = ArrowWriterOptions::new()
            .with_properties(properties)
            .with_parquet_schema(columns);
        ArrowWriter::try_new_with_options(output, schema.clone(), options)?.into_serialized_writer()
    };
    let (inner, columns) = create().map_err(|error| cannot_write(name, io_error(error)))?;
    let encoder = Encoder {
        name: name.to_owned(),
        schema,
        columns,
    };
    Ok((encoder, Writer { name, inner }))
}

/// Returns the columns as they are written, if those of a Parquet file come first.
///
/// # Errors
/// Within, the name of one that would lose the meaning of its values.
fn columns(
    schema: &Schema,
    file: Option<&SchemaDescriptor>,
) -> Result<Result<SchemaDescriptor, String>, ParquetError> {
    let converter = ArrowSchemaConverter::new().with_coerce_types(has_long_dates(schema));
    let columns = converter.convert(schema)?;
    Ok(match file {
        Some(file) => kept(file, &columns),
        None => Ok(columns),
    })
}

/// Returns the first of the columns of a Parquet file that would lose the meaning of its values.
pub(super) fn first_to_lose(schema: &Schema, file: &SchemaDescriptor) -> Option<String> {
    let fields: Vec<Field> = schema.fields().iter().map(|field| written(field)).collect();
    columns(&Schema::new(fields), Some(file)).ok()?.err()
}

impl Encoder {
    /// Returns the columns of a row group, each to be encoded on its own.
    fn column_writers(&self) -> Result<Vec<ArrowColumnWriter>, Error> {
        // The number of the group matters to encrypted files only.
        let columns = self.columns.create_column_writers(0);
        columns.map_err(|error| cannot_write(&self.name, io_error(error)))
    }

    fn cannot_take(&self, error: ArrowError) -> Error {
        let error = ParquetError::External(Box::new(error));
        cannot_write(&self.name, io_error(error))
    }

    fn write(
        &self,
        batch: &RecordBatch,
        columns: &mut [ArrowColumnWriter],
    ) -> Result<(), ParquetError> {
        let mut columns = columns.iter_mut();
        for (field, column) in self.schema.fields().iter().zip(batch.columns()) {
            for leaf in compute_leaves(field, column)? {
                let writer = columns.next().expect("one for each leaf of the schema");
                writer.write(&leaf)?;
            }
        }
        Ok(())
    }
}

impl groups::Encoder for Encoder {
    type Encoded = Vec<ArrowColumnChunk>;

    const FULL: Full = Full {
        rows: 1 << 18,
        bytes: 1 << 25,
    };

    fn fitted(&self, rows: &RecordBatch) -> Result<RecordBatch, Misfit> {
        let columns = rows.columns().iter().enumerate();
        let columns = columns.map(|(number, column)| {
            let column = without_shared_texts(column);
            held(&column).map_err(|error| match first_beyond(&column) {
                Some(row) => Misfit::Value {
                    row,
                    column: number,
                    what: beyond(column.data_type()),
                },
                None => self.cannot_take(error).into(),
            })
        });
        let columns: Vec<ArrayRef> = columns.collect::<Result<_, _>>()?;
        let fitted = batch_of(self.schema.clone(), columns, rows.num_rows());
        fitted.map_err(|error| self.cannot_take(error).into())
    }

    fn encode(
        &self,
        group: GroupRows,
        progress: &Progress,
    ) -> Result<Vec<ArrowColumnChunk>, Error> {
        let mut columns = self.column_writers()?;
        for batch in group.batches {
            progress.check()?;
            self.write(&batch, &mut columns)
                .map_err(|error| cannot_write(&self.name, io_error(error)))?;
        }
        let chunks = columns.into_iter().map(ArrowColumnWriter::close);
        let chunks: Result<_, ParquetError> = chunks.collect();
        chunks.map_err(|error| cannot_write(&self.name, io_error(error)))
    }
}

impl GroupWriter for Writer<'_, '_> {
    type Encoder = Encoder;

    fn append(&mut self, group: Vec<ArrowColumnChunk>) -> Result<(), Error> {
        let append = || {
            let mut row_group = self.inner.next_row_group()?;
            for chunk in group {
                chunk.append_to_row_group(&mut row_group)?;
            }
            row_group.close().map(drop)
        };
        append().map_err(|error| cannot_write(self.name, io_error(error)))
    }

    fn finish(mut self) -> Result<(), Error> {
        let finished = self.inner.finish();
        finished
            .map(drop)
            .map_err(|error| cannot_write(self.name, io_error(error)))
    }
}

/// Returns a column as it is written: Parquet has no timestamps in seconds: they would be written
/// as mere integers.
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

/// Returns whether values of this type may be beyond what Parquet holds, or are written in another
/// one.
fn may_be_beyond(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Timestamp(TimeUnit::Second, _) | Time32(TimeUnit::Second) | Date64 => true,
        Dictionary(_, values) => may_be_beyond(values),
        List(items) | LargeList(items) | FixedSizeList(items, _) | Map(items, _) => {
            may_be_beyond(items.data_type())
        }
        Struct(fields) => fields.iter().any(|field| may_be_beyond(field.data_type())),
        _ => false,
    }
}

/// Returns the values as Parquet holds them, in the type that is written for theirs.
///
/// # Errors
/// If it cannot hold one of them.
fn held(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    const DAY: i64 = 86_400_000;
    if !may_be_beyond(array.data_type()) {
        return Ok(array.clone());
    }
    let beyond = || ArrowError::ComputeError("a value beyond what Parquet holds".to_owned());
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
        // The writer makes days of 32 bits of these, without a look at what is lost.
        DataType::Date64 => Arc::new(
            array
                .as_primitive::<Date64Type>()
                .try_unary::<_, Date64Type, _>(|milliseconds| {
                    let days = i32::try_from(milliseconds.div_euclid(DAY));
                    days.map(|days| i64::from(days) * DAY).map_err(|_| beyond())
                })?,
        ),
        nested => {
            let data_type = without_seconds(nested);
            let data = array.to_data();
            let children = data.child_data().iter();
            let children = children.map(|child| held(&make_array(child.clone())));
            let children: Vec<ArrayRef> = children.collect::<Result<_, _>>()?;
            let children = children.iter().map(|child| child.to_data()).collect();
            let builder = data.into_builder().data_type(data_type);
            make_array(builder.child_data(children).build()?)
        }
    })
}

/// Returns the first row whose value Parquet cannot hold.
fn first_beyond(column: &ArrayRef) -> Option<usize> {
    let is_beyond = |row: &usize| {
        let row = UInt64Array::from_value(*row as u64, 1);
        take(column, &row, None).is_ok_and(|value| held(&value).is_err())
    };
    (0..column.len()).find(is_beyond)
}

/// Returns what a value of this type is that Parquet cannot hold, and what to do.
fn beyond(data_type: &DataType) -> String {
    let value = match value_type(data_type) {
        DataType::Timestamp(..) => "a timestamp",
        DataType::Time32(_) => "a time of day",
        DataType::Date64 => "a date",
        _ => "a value",
    };
    format!("{value} that Parquet cannot hold; write .arrow, or leave the column out")
}

/// Returns whether there are dates of 64 bits. Parquet has none, and they would be written as mere
/// integers unless types are made to fit. This also gives parts of lists other names, so it is done
/// for nothing else.
fn has_long_dates(schema: &Schema) -> bool {
    let fields = schema.flattened_fields();
    fields
        .iter()
        .any(|field| *field.data_type() == DataType::Date64)
}

fn has_intervals(field: &Field) -> bool {
    let schema = Schema::new(vec![field.clone()]);
    let fields = schema.flattened_fields();
    fields
        .iter()
        .any(|field| matches!(field.data_type(), DataType::Interval(_)))
}

/// Returns the operating system's error, if that is what made the Parquet writer fail. The writer's
/// own words may hold values of the table: they are not passed on.
fn io_error(error: ParquetError) -> io::Error {
    let other = || io::Error::other("the Parquet writer cannot take these rows");
    match error {
        ParquetError::External(inner) => inner.downcast().map_or_else(|_| other(), |error| *error),
        _ => other(),
    }
}

/// Returns whether Parquet has a type for this column, which the writer tells by writing it. It
/// takes intervals, too, but those of Parquet have no negative parts.
pub(super) fn can_hold(field: &Field) -> bool {
    let field = field.clone().with_nullable(true);
    if has_intervals(&field) {
        return false;
    }
    let write = || -> Result<(), ParquetError> {
        let null = new_null_array(field.data_type(), 1);
        let schema = Arc::new(Schema::new(vec![field]));
        let mut writer = ArrowWriter::try_new(io::sink(), schema.clone(), None)?;
        writer.write(&RecordBatch::try_new(schema, vec![null])?)?;
        writer.close().map(drop)
    };
    matches!(contained(write), Some(Ok(())))
}
