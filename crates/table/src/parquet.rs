//! Tables in Parquet files.

mod cell;
mod chunks;
mod key_cell;

use std::{
    borrow::Cow,
    collections::BTreeSet,
    io::{self, Read, Seek, SeekFrom},
    sync::Arc,
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{ArrowError, DataType, Field, SchemaBuilder, SchemaRef};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderOptions, ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder,
        },
    },
    basic::LogicalType,
    errors::ParquetError,
    file::{FOOTER_SIZE, metadata::FooterTail},
    schema::types::TypePtr,
};

use key_cell::KeyColumn;

pub(crate) use cell::{Column, has_text};

use crate::{
    Error, Inspection, Progress, Source, contained,
    error::{ParquetFault, Place, nameless},
    meaning::Kind,
    numbers::may_be_numbers,
    table::{Builder, Wanted},
};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 8192;

/// A Parquet file whose footer has been read.
pub(crate) type Reader = ParquetRecordBatchReaderBuilder<std::fs::File>;

pub(crate) fn open(source: &Source) -> Result<Reader, Error> {
    open_with(source, ArrowReaderOptions::new())
}

/// Opens a file whose columns are to be written to another one.
///
/// Parquet has no dates of 64 bits: where Arrow has them for dates of Parquet, they are read as
/// dates of 32 bits, since they would be written as mere integers.
pub(crate) fn open_to_copy(source: &Source) -> Result<Reader, Error> {
    let reader = open(source)?;
    let columns = reader.parquet_schema().root_schema().get_fields();
    let is_date =
        |column: &TypePtr| column.get_basic_info().logical_type_ref() == Some(&LogicalType::Date);
    let mut schema = SchemaBuilder::from(&**reader.schema());
    let mut has_long_dates = false;
    for (index, column) in columns.iter().enumerate() {
        let field = schema.field_mut(index);
        if *field.data_type() == DataType::Date64 && is_date(column) {
            *field = Arc::new(field.as_ref().clone().with_data_type(DataType::Date32));
            has_long_dates = true;
        }
    }
    if !has_long_dates {
        return Ok(reader);
    }
    let schema = Arc::new(schema.finish());
    open_with(source, ArrowReaderOptions::new().with_schema(schema))
}

fn open_with(source: &Source, options: ArrowReaderOptions) -> Result<Reader, Error> {
    let file = source.file().try_clone().map_err(|error| Error::Read {
        file: source.name().to_owned(),
        source: error,
    })?;
    if has_encrypted_footer(&file) {
        return Err(fault(source, ParquetFault::Encrypted));
    }
    contained(source, || Reader::try_new_with_options(file, options))
}

/// Whether the footer is there and encrypted. A file that is none, or cannot be read, is the
/// reader's affair.
fn has_encrypted_footer(mut file: &std::fs::File) -> bool {
    let mut tail = [0; FOOTER_SIZE];
    let read = file
        .seek(SeekFrom::End(-(FOOTER_SIZE as i64)))
        .and_then(|_| file.read_exact(&mut tail));
    read.is_ok() && FooterTail::try_from(tail).is_ok_and(|tail| tail.is_encrypted_footer())
}

/// The names of the top-level columns.
pub(crate) fn columns(reader: &Reader) -> Vec<String> {
    reader
        .schema()
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect()
}

pub(crate) fn read_keys(
    source: &Source,
    wanted: &Wanted<'_>,
    progress: &Progress,
) -> Result<Inspection, Error> {
    let reader = open(source)?;
    let names = columns(&reader);
    let header = source.header(&names);
    let key_columns = wanted.key.resolve(&header)?;
    refuse_keys(source, &reader, &key_columns)?;
    let number_columns = header.find_all(wanted.numbers)?;
    refuse_numbers(source, &reader, &number_columns)?;

    // The reader gives the wanted columns in the file's order.
    let columns: BTreeSet<_> = key_columns.iter().chain(&number_columns).copied().collect();
    let places = |among: &[usize]| -> Vec<usize> {
        let place = |column| columns.range(..column).count();
        among.iter().map(place).collect()
    };
    let (key_places, number_places) = (places(&key_columns), places(&number_columns));
    let mask = ProjectionMask::roots(reader.parquet_schema(), columns.iter().copied());

    let key_names = header.names_of(&key_columns);
    let uuids: Vec<bool> = key_names
        .iter()
        .map(|name| is_uuid(&reader, name))
        .collect();
    let kinds = key_columns.iter().zip(&uuids).map(|(&column, &is_uuid)| {
        Kind::of_type(reader.schema().field(column).data_type(), is_uuid)
    });
    let named_kinds = key_names.into_iter().zip(kinds).collect();
    let mut keys = Builder::new(source.name(), wanted, named_kinds);
    let mut text = String::new();
    let mut rows = 0;
    for batch in Batches::new(source, reader.with_projection(mask), progress)? {
        let batch = batch?;
        let at = |&place: &usize| batch.column(place);
        let key_arrays = key_places.iter().map(at).zip(&uuids);
        let key_texts = key_arrays
            .map(|(array, &is_uuid)| KeyColumn::new(array, is_uuid).ok_or_else(|| broken(source)))
            .collect::<Result<Vec<_>, Error>>()?;
        let number_texts = texts(source, number_places.iter().map(at))?;
        for row in 0..batch.num_rows() {
            rows += 1;
            let place = Place::Row(rows);
            for (position, column) in key_texts.iter().enumerate() {
                text.clear();
                let field = column.write(row, &mut text).map(|()| Cow::Borrowed(&*text));
                keys.key_field(position, field, place)?;
            }
            let Some(item) = keys.finish_row()? else {
                continue;
            };
            for (index, column) in number_texts.iter().enumerate() {
                text.clear();
                column.write(row, &mut text);
                keys.add_number(index, item, &text, place)?;
            }
        }
    }
    Ok(keys.finish())
}

/// Checks that these columns can be read, and be a key, as far as the footer tells.
pub(crate) fn check_key(source: &Source, key: &[usize]) -> Result<(), Error> {
    refuse_keys(source, &open(source)?, key)
}

/// Checks that all columns can be read, as far as the footer tells.
pub(crate) fn check_columns(source: &Source) -> Result<(), Error> {
    let reader = open(source)?;
    let all: Vec<usize> = (0..columns(&reader).len()).collect();
    refuse_chunks(source, &reader, &all)
}

/// As [`crate::check_numbers`], for a Parquet file.
pub(crate) fn check_numbers(source: &Source, names: &[String]) -> Result<(), Error> {
    let reader = open(source)?;
    let columns = columns(&reader);
    let indices = source.header(&columns).find_all(names)?;
    refuse_numbers(source, &reader, &indices)
}

/// The columns of a batch as texts.
pub(crate) fn texts<'a>(
    source: &Source,
    arrays: impl Iterator<Item = &'a ArrayRef>,
) -> Result<Vec<Column<'a>>, Error> {
    // Columns whose type has no text were refused, but a broken file can hold another type than
    // its schema says.
    arrays
        .map(|array| Column::new(array).ok_or_else(|| broken(source)))
        .collect()
}

/// Whether the file says that the top-level column of this name holds UUIDs, of which Arrow's type,
/// binary data of 16 bytes, tells nothing.
fn is_uuid(reader: &Reader, name: &str) -> bool {
    let fields = reader.parquet_schema().root_schema().get_fields();
    fields.iter().any(|field| {
        let info = field.get_basic_info();
        info.name() == name && info.logical_type_ref() == Some(&LogicalType::Uuid)
    })
}

fn refuse_chunks(source: &Source, reader: &Reader, columns: &[usize]) -> Result<(), Error> {
    // The row groups of a broken file need not have the schema's columns.
    match contained(source, || Ok(chunks::unreadable(reader, columns)))? {
        Some(unreadable) => Err(fault(source, unreadable)),
        None => Ok(()),
    }
}

fn refuse_keys(source: &Source, reader: &Reader, key: &[usize]) -> Result<(), Error> {
    refuse_chunks(source, reader, key)?;
    match first_other(reader.schema(), key, key_cell::can_be_key) {
        Some((column, data_type)) => Err(Error::KeyType {
            file: source.name().to_owned(),
            column,
            data_type,
        }),
        None => Ok(()),
    }
}

fn refuse_numbers(source: &Source, reader: &Reader, numbers: &[usize]) -> Result<(), Error> {
    refuse_chunks(source, reader, numbers)?;
    match first_other(reader.schema(), numbers, may_be_numbers) {
        Some((column, data_type)) => Err(Error::NumberType {
            file: source.name().to_owned(),
            column,
            data_type,
        }),
        None => Ok(()),
    }
}

/// The name and the type of the first of these columns whose values are not of a type that fits.
fn first_other(
    schema: &SchemaRef,
    columns: &[usize],
    fits: impl Fn(&DataType) -> bool,
) -> Option<(String, DataType)> {
    columns.iter().find_map(|&index| {
        let field = schema.field(index);
        let data_type = value_type(field);
        (!fits(data_type)).then(|| (field.name().clone(), data_type.clone()))
    })
}

/// The type of a column's values, which a dictionary may hold.
fn value_type(field: &Field) -> &DataType {
    match field.data_type() {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// The rows of a Parquet file, some thousand at a time.
pub(crate) struct Batches<'a> {
    source: &'a Source,
    reader: ParquetRecordBatchReader,
    progress: &'a Progress,
    rows: u64,
    rows_total: u64,
    bytes_told: u64,
}

impl<'a> Batches<'a> {
    pub(crate) fn new(
        source: &'a Source,
        reader: Reader,
        progress: &'a Progress,
    ) -> Result<Self, Error> {
        let rows_total = reader.metadata().file_metadata().num_rows().max(0) as u64;
        let reader = contained(source, || reader.with_batch_size(BATCH_ROWS).build())?;
        Ok(Self {
            source,
            reader,
            progress,
            rows: 0,
            rows_total,
            bytes_told: 0,
        })
    }

    /// Reports as many of the file's bytes as correspond to the rows read.
    fn advance(&mut self, batch: RecordBatch) -> Result<RecordBatch, Error> {
        self.rows += batch.num_rows() as u64;
        let share = self.rows.min(self.rows_total) as f64 / self.rows_total.max(1) as f64;
        let bytes = (self.source.bytes() as f64 * share) as u64;
        self.progress.advance(bytes - self.bytes_told)?;
        self.bytes_told = bytes;
        Ok(batch)
    }
}

impl Iterator for Batches<'_> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = contained(self.source, || Ok(self.reader.next().transpose()?));
        let advanced = batch.and_then(|batch| batch.map(|batch| self.advance(batch)).transpose());
        advanced.transpose()
    }
}

/// Runs the Parquet reader, which on some broken files panics rather than return an error.
fn contained<T>(
    source: &Source,
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, Error> {
    match contained::contained(read) {
        Some(read) => read.map_err(|error| cannot_read(source, error)),
        None => Err(broken(source)),
    }
}

fn broken(source: &Source) -> Error {
    fault(source, ParquetFault::Broken)
}

fn fault(source: &Source, fault: ParquetFault) -> Error {
    Error::Parquet {
        file: source.name().to_owned(),
        fault,
    }
}

/// The reader's own words may hold values of the table: they are not passed on.
fn cannot_read(source: &Source, error: ParquetError) -> Error {
    let is_unsupported = match &error {
        ParquetError::NYI(_) => true,
        // Errors in rows come as texts.
        ParquetError::External(inner) => matches!(
            inner.downcast_ref(),
            Some(ArrowError::ParquetError(text)) if text.starts_with("NYI")
        ),
        _ => false,
    };
    if is_unsupported {
        return fault(source, ParquetFault::Unsupported);
    }
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => Error::Read {
                file: source.name().to_owned(),
                source: nameless(*error),
            },
            Err(_) => broken(source),
        },
        _ => broken(source),
    }
}
