//! Tables in Parquet files.

mod calendar;
mod cell;

use std::{
    borrow::Cow,
    panic::{AssertUnwindSafe, catch_unwind},
};

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, SchemaRef};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
};

pub(crate) use cell::{Column, has_text};

use crate::{Error, KeySpec, KeyTable, Progress, Source, table::Builder};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 8192;

/// A Parquet file whose footer has been read.
pub(crate) type Reader = ParquetRecordBatchReaderBuilder<std::fs::File>;

pub(crate) fn open(source: &Source) -> Result<Reader, Error> {
    let file = source.file().try_clone().map_err(|error| Error::Read {
        file: source.name().to_owned(),
        source: error,
    })?;
    contained(source, || Reader::try_new(file))
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
    key: &KeySpec,
    progress: &Progress,
) -> Result<KeyTable, Error> {
    let reader = open(source)?;
    let indices = key.resolve(source.name(), &columns(&reader))?;
    refuse_types(source, reader.schema(), &indices)?;

    // The reader gives the wanted columns in the file's order.
    let mut in_file_order = indices.clone();
    in_file_order.sort_unstable();
    let place = |index| {
        in_file_order
            .binary_search(index)
            .expect("it is one of them")
    };
    let places: Vec<usize> = indices.iter().map(place).collect();
    let mask = ProjectionMask::roots(reader.parquet_schema(), in_file_order.iter().copied());

    let mut keys = Builder::new(source.name(), key);
    let mut text = String::new();
    for batch in Batches::new(source, reader.with_projection(mask), progress)? {
        let batch = batch?;
        let columns = texts(source, places.iter().map(|&place| batch.column(place)))?;
        for row in 0..batch.num_rows() {
            for (position, column) in columns.iter().enumerate() {
                text.clear();
                column.write(row, &mut text);
                keys.fingerprinter.field(position, Cow::Borrowed(&text));
            }
            keys.finish_row()?;
        }
    }
    Ok(keys.finish())
}

/// The columns of a batch as texts.
pub(crate) fn texts<'a>(
    source: &Source,
    arrays: impl Iterator<Item = &'a ArrayRef>,
) -> Result<Vec<Column<'a>>, Error> {
    // Columns whose type has no text were refused, but a broken file can hold another type than
    // its schema says.
    let other = || ParquetError::General("a column is not of the type it should be".to_owned());
    arrays
        .map(|array| Column::new(array).ok_or_else(|| cannot_read(source, other())))
        .collect()
}

fn refuse_types(source: &Source, schema: &SchemaRef, key: &[usize]) -> Result<(), Error> {
    for &index in key {
        let field = schema.field(index);
        let data_type = match field.data_type() {
            DataType::Dictionary(_, values) => values,
            other => other,
        };
        if data_type.is_floating() || !has_text(data_type) {
            return Err(Error::KeyType {
                file: source.name().to_owned(),
                column: field.name().clone(),
                data_type: data_type.clone(),
            });
        }
    }
    Ok(())
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
        let reader = reader
            .with_batch_size(BATCH_ROWS)
            .build()
            .map_err(|error| cannot_read(source, error))?;
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
    let broken = || ParquetError::General("the file is broken".to_owned());
    // What the reader leaves behind is dropped with it.
    catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(broken()))
        .map_err(|error| cannot_read(source, error))
}

fn cannot_read(source: &Source, error: ParquetError) -> Error {
    Error::Parquet {
        file: source.name().to_owned(),
        source: error,
    }
}
