//! Parquet files, batch by batch.

use std::io;

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{ParquetRecordBatchReader, ParquetRecordBatchReaderBuilder},
    },
    errors::ParquetError,
};

use crate::{
    Error,
    arrow::{FileBatches, TypedFile},
    containment,
    error::{ParquetFault, nameless},
    section::Section,
    source::Part,
};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 8192;

/// A Parquet file whose footer has been read.
pub(crate) struct Reader<'a> {
    part: &'a Part,
    builder: ParquetRecordBatchReaderBuilder<Section>,
}

impl<'a> Reader<'a> {
    pub(crate) fn open(part: &'a Part) -> Result<Self, Error> {
        let section = part.open()?;
        let builder = contained(part, || ParquetRecordBatchReaderBuilder::try_new(section))?;
        Ok(Self { part, builder })
    }
}

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        self.builder.schema()
    }

    fn batches(self: Box<Self>, columns: &[usize]) -> Result<FileBatches<'a>, Error> {
        let Self { part, builder } = *self;
        let rows_total = builder.metadata().file_metadata().num_rows().max(0) as u64;
        let mask = ProjectionMask::roots(builder.parquet_schema(), columns.iter().copied());
        let reader = contained(part, || {
            builder
                .with_projection(mask)
                .with_batch_size(BATCH_ROWS)
                .build()
        })?;
        Ok(Box::new(Batches {
            part,
            reader,
            rows: 0,
            rows_total,
        }))
    }
}

/// The rows of a Parquet file, some thousand at a time.
struct Batches<'a> {
    part: &'a Part,
    reader: ParquetRecordBatchReader,
    rows: u64,
    rows_total: u64,
}

impl Iterator for Batches<'_> {
    /// Rows, and how much of the file lies before those that follow: as many of its bytes as
    /// correspond to the rows read.
    type Item = Result<(RecordBatch, u64), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = contained(self.part, || Ok(self.reader.next().transpose()?)).transpose()?;
        Some(batch.map(|batch| {
            self.rows += batch.num_rows() as u64;
            let share = self.rows.min(self.rows_total) as f64 / self.rows_total.max(1) as f64;
            (batch, (self.part.bytes() as f64 * share) as u64)
        }))
    }
}

/// Runs the Parquet reader, which on some broken files panics rather than return an error.
fn contained<T>(part: &Part, read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match containment::contained(read) {
        Some(read) => read.map_err(|error| cannot_read(part, error)),
        None => Err(broken(part)),
    }
}

pub(crate) fn broken(part: &Part) -> Error {
    fault(part, ParquetFault::Broken)
}

fn fault(part: &Part, fault: ParquetFault) -> Error {
    Error::Parquet {
        file: part.name().to_owned(),
        fault,
    }
}

/// The reader's own words may hold values of the table: they are not passed on.
fn cannot_read(part: &Part, error: ParquetError) -> Error {
    let is_unsupported = match &error {
        ParquetError::NYI(_) => true,
        ParquetError::General(text) => lacks_feature(text),
        // Errors in rows come as texts.
        ParquetError::External(inner) => match inner.downcast_ref() {
            Some(ArrowError::ParquetError(text)) => text.starts_with("NYI") || lacks_feature(text),
            _ => false,
        },
        _ => false,
    };
    if is_unsupported {
        return fault(part, ParquetFault::Unsupported);
    }
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => Error::Read {
                file: part.name().to_owned(),
                source: nameless(*error),
            },
            Err(_) => broken(part),
        },
        _ => broken(part),
    }
}

fn lacks_feature(text: &str) -> bool {
    text.contains("Disabled feature at compile time")
}
