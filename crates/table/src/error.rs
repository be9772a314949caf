//! Errors about tables: an enum for each room, and this one around them.

use psijoin_source::{ErrorKind, ReadError, SourceError};

use crate::{KeyError, ShareError, WriteError, portions::PortionFault};

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

    /// About portions of a table.
    #[error(transparent)]
    Portion(#[from] PortionFault),

    /// About the output.
    #[error(transparent)]
    Write(#[from] WriteError),

    /// Data that exceed memory could not be put on disk, or not be read back from there.
    #[error(transparent)]
    Spill(#[from] psijoin_files::spill::Error),

    /// The table holds more rows than can be numbered.
    #[error(
        "{file} has more than {} rows, the most that one table can have: divide it and run once for \
         each part",
        crate::MAX_ROWS
    )]
    TooManyRows {
        /// The table as the user named it.
        file: String,
    },

    /// The table holds more distinct keys than the protocols can take.
    #[error(
        "{file} has more than {} distinct keys, the most that one run can take",
        crate::MAX_ITEMS
    )]
    TooManyItems {
        /// The table as the user named it.
        file: String,
    },

    /// Rows with one key have several labels.
    #[error(
        "{file}: rows with the same key have different values in the column {}, in {}, and a key \
         is in one group: make the values of each key equal, or group by another column",
        psijoin_printable::Quoted(column),
        psijoin_printable::humanize::counted(*rows, "row")
    )]
    UnlikeLabels {
        /// The table as the user named it.
        file: String,
        /// The column of labels.
        column: String,
        /// The number of rows that differ from one before.
        rows: u64,
    },

    /// [`Progress::interrupt`](crate::Progress::interrupt) was called.
    #[error("interrupted")]
    Interrupted,
}

impl From<psijoin_source::Error> for Error {
    fn from(error: psijoin_source::Error) -> Self {
        match error {
            psijoin_source::Error::Source(error) => Self::Source(error),
            psijoin_source::Error::Read(error) => Self::Read(error),
            psijoin_source::Error::Interrupted => Self::Interrupted,
        }
    }
}

impl Error {
    /// Returns the error of a row whose place counts from a line, or row, that has this many before
    /// it.
    pub(crate) fn later(mut self, by: u64) -> Self {
        if let Self::Read(error) = &mut self {
            error.move_on(by);
        }
        self
    }

    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Key(error) if error.is_usage() => ErrorKind::Usage,
            Self::Key(_)
            | Self::Read(_)
            | Self::TooManyRows { .. }
            | Self::TooManyItems { .. }
            | Self::UnlikeLabels { .. } => ErrorKind::Input,
            Self::Source(error) => error.kind(),
            Self::Share(error) => error.kind(),
            Self::Portion(fault) => fault.kind(),
            Self::Write(error) => error.kind(),
            Self::Spill(_) => ErrorKind::Output,
            Self::Interrupted => ErrorKind::Interrupted,
        }
    }
}
