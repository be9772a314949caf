//! Errors about an output.

use std::io;

use psijoin_printable::Quoted;
use psijoin_source::{ErrorKind, Format};

use crate::WhichRows;

/// The reason that rows could not be written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteError {
    /// The choice of rows does not exist.
    #[error("there are no rows {}; the rows to write are shared, unshared or all", Quoted(.0))]
    UnknownRows(String),

    /// Nulls are to be told from empty texts where there are none, or no way to write them.
    #[error(
        "quotes around empty texts tell them from nulls when Parquet or Arrow is written as CSV, but here \
         the table is {from} and the output {to}: leave them out"
    )]
    NoNulls {
        /// The format of the table.
        from: Format,
        /// The format of the output.
        to: Format,
    },

    /// Formulas are to be quoted where no spreadsheet looks for them.
    #[error(
        "quotes around formulas are for .csv and .tsv, in which spreadsheets look for formulas, but here the output is {to}: leave \
         them out"
    )]
    NoFormulas {
        /// The format of the output.
        to: Format,
    },

    /// The name of the output has no known ending.
    #[error(
        "cannot tell the format of {file} from its name: the endings known are {endings}",
        endings = Format::ENDINGS
    )]
    OutputEnding {
        /// The file as the user named it.
        file: String,
    },

    /// The output is a directory.
    #[error("cannot write {file}: it is a directory")]
    OutputIsDirectory {
        /// The file as the user named it.
        file: String,
    },

    /// The output would replace the input.
    #[error("cannot write {file}: it is the input")]
    OutputIsInput {
        /// The file as the user named it.
        file: String,
    },

    /// The output would be one of the inputs the next time.
    #[error(
        "cannot write {file}: the next run would read it as a part of the input (write it \
         outside of the folder, or with a name that the pattern does not match)"
    )]
    OutputAmongInputs {
        /// The file as the user named it.
        file: String,
    },

    /// The output could not be created.
    #[error("cannot create {file}: {cause}")]
    Create {
        /// The file as the user named it.
        file: String,
        /// The operating system's error.
        cause: io::Error,
    },

    /// Several rows have one key, and one row per key is to be written.
    #[error(
        "{rows} of the rows repeat a key, the first of them row {first} of the table, and aligned rows are one per \
         key: remove the others, or let the first row of each key count"
    )]
    RepeatedAligned {
        /// The number of rows that have the key of an earlier one.
        rows: u64,
        /// The first of them, from 1, the header not counted.
        first: u64,
    },

    /// Lists of rows with one key are to be aligned.
    #[error(
        "aligned rows are one per key, and no lists: refuse repeated keys, or let the first row of each count"
    )]
    AlignedList,

    /// Other rows than shared ones are to be aligned.
    #[error(
        "only shared rows can be aligned, since the others have no counterpart: write these alone, or do not align them"
    )]
    AlignedOthers(WhichRows),

    /// The format of the output cannot hold the table.
    #[error("cannot write {file}: {reason}")]
    Unfit {
        /// The file as the user named it.
        file: String,
        /// The reason that the format does not fit, and what would.
        reason: String,
    },

    /// The output could not be written. If it was a file, nothing is left of it, unless it has its
    /// name and only a power cut could undo that.
    #[error("cannot write {file}: {cause}")]
    Write {
        /// The file as the user named it.
        file: String,
        /// The operating system's error.
        cause: io::Error,
    },
}

impl WriteError {
    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::UnknownRows(_)
            | Self::NoNulls { .. }
            | Self::NoFormulas { .. }
            | Self::AlignedList
            | Self::AlignedOthers(_) => ErrorKind::Usage,
            Self::RepeatedAligned { .. } => ErrorKind::Input,
            Self::Write { cause, .. } if cause.kind() == io::ErrorKind::BrokenPipe => {
                ErrorKind::BrokenPipe
            }
            _ => ErrorKind::Output,
        }
    }
}
