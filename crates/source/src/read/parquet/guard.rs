//! Calls of the library, which may fail, or panic, on broken files.

use std::io;

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;
use psijoin_key::panics;

use crate::{
    Error, ParquetFault, ReadError, SourceError, error::nameless, source::table_file::Part,
};

/// Runs the Parquet reader on a file's footer.
pub(super) fn in_footer<T>(
    part: &Part,
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, Error> {
    contained(part, || ParquetFault::Footer, read)
}

/// Runs the Parquet reader, which on some broken files panics rather than return an error. If the
/// file is broken, `find` tells what is wrong.
pub(super) fn contained<T>(
    part: &Part,
    find: impl FnOnce() -> ParquetFault,
    read: impl FnOnce() -> Result<T, ParquetError>,
) -> Result<T, Error> {
    match panics::contained(read) {
        Some(read) => read.map_err(|error| cannot_read(part, find, error)),
        None => Err(fault(part, find())),
    }
}

/// Returns the error that the file's rows are not of the types in its footer.
pub(crate) fn broken(part: &Part) -> Error {
    fault(part, ParquetFault::Types)
}

pub(super) fn fault(part: &Part, fault: ParquetFault) -> Error {
    Error::Read(ReadError::Parquet {
        file: part.name().to_owned(),
        fault,
    })
}

/// Returns an error without the reader's own words, which may hold values of the table.
fn cannot_read(part: &Part, find: impl FnOnce() -> ParquetFault, error: ParquetError) -> Error {
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
    // The library gives no other sign of it.
    if error.to_string().contains("CRC checksum mismatch") {
        return fault(part, ParquetFault::Checksum);
    }
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) if error.raw_os_error().is_some() => Error::Source(SourceError::Read {
                file: part.name().to_owned(),
                cause: nameless(*error),
            }),
            _ => fault(part, find()),
        },
        _ => fault(part, find()),
    }
}
