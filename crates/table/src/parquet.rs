//! Parquet files, batch by batch.

mod chunks;
mod pieces;

use std::io::{self, Read, Seek, SeekFrom};

use arrow_array::RecordBatch;
use arrow_schema::{ArrowError, SchemaRef};
use parquet::{
    arrow::{
        ProjectionMask,
        arrow_reader::{
            ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
            ParquetRecordBatchReaderBuilder,
        },
    },
    errors::ParquetError,
    file::{FOOTER_SIZE, metadata::FooterTail},
};

use crate::{
    Error,
    arrow::{FileBatches, FilePieces, TypedFile},
    contained,
    error::{ParquetFault, nameless},
    part::Part,
    section::Section,
};

/// Rows that are decoded at once.
const BATCH_ROWS: usize = 8192;

/// A Parquet file whose footer has been read.
pub(crate) struct Reader<'a> {
    part: &'a Part,
    section: Section,
    metadata: ArrowReaderMetadata,
}

impl<'a> Reader<'a> {
    pub(crate) fn open(part: &'a Part) -> Result<Self, Error> {
        let mut section = part.open()?;
        if has_encrypted_footer(&mut section) {
            return Err(fault(part, ParquetFault::Encrypted));
        }
        let options = ArrowReaderOptions::new();
        let metadata = contained(part, || ArrowReaderMetadata::load(&section, options))?;
        Ok(Self {
            part,
            section,
            metadata,
        })
    }
}

/// Whether the footer is there and encrypted. A file that is not Parquet, or cannot be read, is
/// left to the reader.
fn has_encrypted_footer(section: &mut Section) -> bool {
    let mut tail = [0; FOOTER_SIZE];
    let read = section
        .seek(SeekFrom::End(-(FOOTER_SIZE as i64)))
        .and_then(|_| section.read_exact(&mut tail));
    read.is_ok() && FooterTail::try_from(tail).is_ok_and(|tail| tail.is_encrypted_footer())
}

impl<'a> TypedFile<'a> for Reader<'a> {
    fn schema(&self) -> &SchemaRef {
        self.metadata.schema()
    }

    fn check(&self, columns: &[usize]) -> Result<(), Error> {
        // The row groups of a broken file need not have the schema's columns.
        let unreadable = || Ok(chunks::unreadable(&self.metadata, columns));
        match contained(self.part, unreadable)? {
            Some(unreadable) => Err(fault(self.part, unreadable)),
            None => Ok(()),
        }
    }

    fn batches(self: Box<Self>, columns: &[usize]) -> Result<FileBatches<'a>, Error> {
        let Self {
            part,
            section,
            metadata,
        } = *self;
        let rows_total = rows_total(&metadata);
        let mask = ProjectionMask::roots(metadata.parquet_schema(), columns.iter().copied());
        let reader = contained(part, || {
            ParquetRecordBatchReaderBuilder::new_with_metadata(section, metadata)
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

    fn pieces(self: Box<Self>, columns: &[usize]) -> Result<FilePieces<'a>, Error> {
        Ok(Box::new(pieces::Pieces::new(*self, columns)))
    }
}

/// All rows of a file, as it says itself.
fn rows_total(metadata: &ArrowReaderMetadata) -> u64 {
    let metadata = metadata.metadata().file_metadata();
    metadata.num_rows().max(0) as u64
}

/// How much of a file corresponds to this many of its rows.
fn bytes_of(part: &Part, rows: u64, rows_total: u64) -> u64 {
    let share = rows.min(rows_total) as f64 / rows_total.max(1) as f64;
    (part.bytes() as f64 * share) as u64
}

/// The rows of a Parquet file, some thousand at a time.
struct Batches<'a> {
    part: &'a Part,
    reader: ParquetRecordBatchReader,
    rows: u64,
    rows_total: u64,
}

impl Iterator for Batches<'_> {
    /// Rows, and how much of the file lies before those that follow: the bytes that correspond to
    /// the rows read.
    type Item = Result<(RecordBatch, u64), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = contained(self.part, || Ok(self.reader.next().transpose()?)).transpose()?;
        Some(batch.map(|batch| {
            self.rows += batch.num_rows() as u64;
            (batch, bytes_of(self.part, self.rows, self.rows_total))
        }))
    }
}

/// Runs the Parquet reader, which on some broken files panics rather than return an error.
fn contained<T>(part: &Part, read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Error> {
    match contained::contained(read) {
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
        // Errors in rows come as texts.
        ParquetError::External(inner) => matches!(
            inner.downcast_ref(),
            Some(ArrowError::ParquetError(text)) if text.starts_with("NYI")
        ),
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
