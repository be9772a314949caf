//! Errors about the columns that parties share.

use psijoin_printable::Quoted;

use psijoin_key::column_names::{differs, listed};
use psijoin_source::ErrorKind;

/// The reason that columns could not be given to the other party, or taken from it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ShareError {
    /// No columns are given or taken, or too many.
    #[error("between 1 and 256 columns can be given")]
    GivenCount,

    /// A column cannot be given.
    #[error("the column {} cannot be shared with the partner: {reason}", Quoted(.column))]
    CannotGive {
        /// The column as the user named it.
        column: String,
        /// The reason, and what to do.
        reason: String,
    },

    /// A column is to be taken that the other party does not offer.
    #[error(
        "the other party does not offer the column {}; it offers {}{}",
        Quoted(.column),
        listed(offered),
        differs(offered, .column)
    )]
    NotOffered {
        /// The column as the user named it.
        column: String,
        /// The columns that it offers.
        offered: Vec<String>,
    },

    /// Several rows have one key, and one of them is to be given.
    #[error(
        "{rows} of the rows repeat a key{}, and only one row per key can be given: remove the others, or let \
         the first row count, or give a list of rows for each key",
        first_of_them(*first)
    )]
    RepeatedKeys {
        /// The number of rows that have the key of an earlier one.
        rows: u64,
        /// The first of them, from 1, the header not counted. `None` if the table is in portions.
        first: Option<u64>,
    },

    /// More rows have one key than are given.
    #[error(
        "{} has a key that {most} rows before have, and no more can be given: allow more rows per key, or \
         remove some",
        row_of_table(*row)
    )]
    TooManyRepeated {
        /// The first row that is too many, from 1, the header not counted. `None` if the table is
        /// in portions.
        row: Option<u64>,
        /// The most rows per key that may be given.
        most: u16,
    },

    /// A row does not fit into the bytes that are given for it.
    #[error(
        "{file}: {} takes more than {most_bytes} bytes in the columns that are given: allow more, or give \
         fewer columns",
        row_of_table(*row)
    )]
    LongRow {
        /// The table as the user named it.
        file: String,
        /// The row, from 1, the header not counted. `None` if the table is in portions.
        row: Option<u64>,
        /// The most bytes of a row.
        most_bytes: usize,
    },

    /// Payloads would be too long, or rows too short.
    #[error(
        "{rows} rows of {row_bytes} bytes cannot be given for a key: they must take no more than 65,535 bytes, and \
         each row a byte for every eight columns: give fewer columns or rows, or other bytes for each"
    )]
    PayloadBytes {
        /// The bytes of a row.
        row_bytes: usize,
        /// The most rows of a key.
        rows: u16,
    },

    /// The other party's offer of columns is invalid.
    #[error("what the other party offers {0}: it is broken, cheats, or is of another version")]
    MalformedOffer(&'static str),

    /// A value that is to be given is none of its type.
    #[error(
        "{file}: row {row} of the table {what} in its column {}: correct it, or leave the column out",
        Quoted(column)
    )]
    InvalidValue {
        /// The table as the user named it.
        file: String,
        /// The row, from 1, the header not counted.
        row: u64,
        /// The column.
        column: String,
        /// The fault.
        what: &'static str,
    },

    /// The other party's payloads do not match its offer.
    #[error("{}: the other party's program is broken, or cheats", malformed_payload(*row, column.as_deref(), what))]
    MalformedPayload {
        /// The row of this party's table that it is for, from 1, the header not counted. `None` if
        /// that is not known.
        row: Option<u64>,
        /// The other party's column, if it is a value that is wrong.
        column: Option<String>,
        /// The fault.
        what: &'static str,
    },
}

impl ShareError {
    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::GivenCount | Self::NotOffered { .. } | Self::PayloadBytes { .. } => {
                ErrorKind::Usage
            }
            Self::MalformedOffer(_) | Self::MalformedPayload { .. } => ErrorKind::Peer,
            _ => ErrorKind::Input,
        }
    }
}

fn first_of_them(row: Option<u64>) -> String {
    row.map_or_else(String::new, |row| {
        format!(", the first of them row {row} of the table")
    })
}

fn row_of_table(row: Option<u64>) -> String {
    match row {
        Some(row) => format!("row {row} of the table"),
        None => "a row of the table".to_owned(),
    }
}

fn malformed_payload(row: Option<u64>, column: Option<&str>, what: &str) -> String {
    let row = match row {
        Some(row) => format!("what the other party gives for row {row} of the table"),
        None => "a row that the other party gives".to_owned(),
    };
    match column {
        Some(column) => format!("{row} {what} in its column {}", Quoted(column)),
        None => format!("{row} {what}"),
    }
}
