//! Errors about tables: an enum for each room, and this one around them.

mod kind;

use std::io;

use crate::{KeyError, ReadError, ShareError, SourceError, WriteError};

pub use kind::ErrorKind;

/// The reason that a table could not be read, or the matching rows could not be written.
///
/// The texts name files, lines and fields, and never hold a value of the table. Nor do they name
/// the columns of a text, except as the user called them, since the first record of a text without
/// a header is a row. `Debug` shows no more. A text includes the operating system's error, which
/// `source` does not repeat.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// About the key.
    #[error(transparent)]
    Key(#[from] KeyError),

    /// About the table's files.
    #[error(transparent)]
    Source(#[from] SourceError),

    /// About what the table holds.
    #[error(transparent)]
    Read(#[from] ReadError),

    /// About columns that are given to the other party, or taken from it.
    #[error(transparent)]
    Share(#[from] ShareError),

    /// About the output.
    #[error(transparent)]
    Write(#[from] WriteError),

    /// Data that exceed memory could not be put on disk, or not be read back from there.
    #[error(transparent)]
    Spill(#[from] psijoin_files::spill::Error),

    /// [`Progress::interrupt`](crate::Progress::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Returns the error of a row whose place counts from a line, or row, that has this many before
    /// it.
    pub(crate) fn later(mut self, by: u64) -> Self {
        match &mut self {
            Self::Read(ReadError::Malformed { line, .. }) => *line += by,
            Self::Read(ReadError::Ragged { rows, .. }) => rows.places.move_on(by),
            Self::Read(ReadError::Number(sorts)) => {
                sorts.iter_mut().for_each(|cells| cells.places.move_on(by));
            }
            _ => {}
        }
        self
    }

    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Key(error) if error.is_usage() => ErrorKind::Usage,
            Self::Key(_) | Self::Read(_) => ErrorKind::Input,
            Self::Source(error) => error.kind(),
            Self::Share(error) => error.kind(),
            Self::Write(error) => error.kind(),
            Self::Spill(_) => ErrorKind::Output,
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}

/// Returns an error without what a library has put around it, such as names of temporary files and
/// values of the table.
pub(crate) fn nameless(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(_) => error,
        None => error.kind().into(),
    }
}
