//! Errors about a table's files: an enum for each room, and this one around them.

mod kind;

use std::io;

use crate::{ReadError, SourceError};

pub use kind::ErrorKind;

/// The reason that a table's files could not be read.
///
/// The texts name files, lines and fields, and never hold a value of the table. Nor do they name
/// the columns of a text, except as the user called them, since the first record of a text without
/// a header is a row. `Debug` shows no more. A text includes the operating system's error, which
/// `source` does not repeat.
///
/// Exhaustive, unlike the enums within: the error of a crate that reads keys, or writes rows, has
/// these variants beside its own.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// About the files.
    #[error(transparent)]
    Source(#[from] SourceError),

    /// About what they hold.
    #[error(transparent)]
    Read(#[from] ReadError),

    /// [`Progress::interrupt`](crate::Progress::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}

impl Error {
    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Source(error) => error.kind(),
            Self::Read(_) => ErrorKind::Input,
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
