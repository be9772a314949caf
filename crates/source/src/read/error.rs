//! Errors about the contents of a table.

use arrow_schema::DataType;
use psijoin_printable::{Quoted, Word};

use psijoin_key::{BadCells, bad_cells};

use crate::{ArrowFault, Columns, Encoding, LabelFault, NumberFault, ParquetFault, RaggedRows};

/// The reason that the content of a table could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The input is not a Parquet file, or is a broken one.
    #[error("cannot read {file} as Parquet: {fault}")]
    Parquet {
        /// The file as the user named it.
        file: String,
        /// The fault.
        fault: ParquetFault,
    },

    /// The input is not an Arrow file or stream, or is a broken one.
    #[error("cannot read {file} as Arrow: {fault}")]
    Arrow {
        /// The file as the user named it.
        file: String,
        /// The fault.
        fault: ArrowFault,
    },

    /// The table in memory does not fit its schema.
    #[error("cannot read {table}: {reason}")]
    Frame {
        /// The table as the caller named it.
        table: String,
        /// The contradiction.
        reason: String,
    },

    /// The table has no header line.
    #[error("{file} has no header: its first line must name the columns (is it empty?)")]
    NoHeader {
        /// The file as the user named it.
        file: String,
    },

    /// The table has no header, as was said, and no row either.
    #[error("{file} has no rows: without a header, the first row shows how many columns there are")]
    NoRows {
        /// The file as the user named it.
        file: String,
    },

    /// A text breaks the format's rules.
    #[error("{file}, line {line}, field {field}: {fault}")]
    Malformed {
        /// The file as the user named it.
        file: String,
        /// The line on which the fault is, from 1.
        line: u64,
        /// The field in which it is, from 1.
        field: usize,
        /// The fault.
        fault: Fault,
    },

    /// A row has more or fewer fields than the header, or the first row.
    #[error(
        "{rows} {} has {expected} (does a field hold the delimiter, \
         without quotes around it? or is the file written in another way than it is read?)",
        match (.rows.found, .has_header) {
            (Some(_), true) => "where the header",
            (Some(_), false) => "where the first row",
            (None, true) => "than the header, which",
            (None, false) => "than the first row, which",
        }
    )]
    Ragged {
        /// The rows.
        rows: RaggedRows,
        /// The number of fields of the header, or of the first row.
        expected: usize,
        /// `true` if the table has a header.
        has_header: bool,
    },

    /// The table has several columns, and no key column was named.
    #[error(
        "{file} has {} columns: its key columns have to be named{}",
        .columns.count(), .columns.behind_their_number()
    )]
    NoKey {
        /// The file as the user named it.
        file: String,
        /// The table's columns.
        columns: Columns,
    },

    /// The table has no column of this name.
    #[error("{file} has no column {}; {columns}", Quoted(.column))]
    MissingColumn {
        /// The file as the user named it.
        file: String,
        /// The column asked for.
        column: String,
        /// The table's columns.
        columns: Columns,
    },

    /// The table has more than one column of this name.
    #[error(
        "{file} has more than one column {}: the name of a column that is read must \
         be unique (rename one of them)",
        Quoted(.column)
    )]
    AmbiguousColumn {
        /// The file as the user named it.
        file: String,
        /// The column asked for.
        column: String,
    },

    /// The values of this column have no canonical text.
    #[error(
        "{file}: the column {} holds {data_type}, which cannot be a key \
         (keys are text, numbers, booleans, dates, times or binary data)",
        Quoted(.column)
    )]
    KeyType {
        /// The file as the user named it.
        file: String,
        /// The key column.
        column: String,
        /// Its type.
        data_type: DataType,
    },

    /// The values of this column mean something that their type does not tell.
    #[error(
        "{file}: the column {} holds values of the type {}, for which psijoin knows no one spelling: convert them to text, \
         numbers, booleans, dates or times first",
        Quoted(.column),
        Word(.meant)
    )]
    UnknownMeaning {
        /// The file as the user named it.
        file: String,
        /// The column.
        column: String,
        /// The extension type of Arrow, or the logical type of Parquet.
        meant: String,
    },

    /// Cells of columns of numbers cannot be added up.
    #[error("{}", bad_cells::listed(.0))]
    Number(Vec<BadCells<NumberFault>>),

    /// The values of this column are no numbers.
    #[error(
        "{file}: the column {} holds {data_type}, which cannot be added up \
         (text, integers, decimals with at most 18 places and floating-point numbers can)",
        Quoted(.column)
    )]
    NumberType {
        /// The file as the user named it.
        file: String,
        /// The column of numbers.
        column: String,
        /// Its type.
        data_type: DataType,
    },

    /// A cell of a column of labels holds none.
    #[error("{0}")]
    Label(BadCells<LabelFault>),

    /// The values of this column have no canonical text.
    #[error(
        "{file}: the column {} holds {data_type}, by which keys cannot be grouped \
         (by text, numbers, booleans, dates, times or binary data they can)",
        Quoted(.column)
    )]
    LabelType {
        /// The file as the user named it.
        file: String,
        /// The column of labels.
        column: String,
        /// Its type.
        data_type: DataType,
    },
}

impl ReadError {
    /// Moves the places of an error that count from a line, or row, which has this many before it.
    pub fn move_on(&mut self, by: u64) {
        match self {
            Self::Malformed { line, .. } => *line += by,
            Self::Ragged { rows, .. } => rows.places.move_on(by),
            Self::Number(sorts) => {
                sorts.iter_mut().for_each(|cells| cells.places.move_on(by));
            }
            Self::Label(cells) => cells.places.move_on(by),
            _ => {}
        }
    }
}

/// A fault of a field of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// Bytes that are not UTF-8.
    #[error("not UTF-8 (say how the file is encoded, or save it as UTF-8)")]
    NotUtf8,
    /// Bytes that the encoding does not define, be it given or that of a byte order mark.
    #[error("not {0} (the file is damaged, or encoded in another way)")]
    NotEncoded(Encoding),
    /// A quoted field that never ends.
    #[error(
        "a quote is opened and never closed (if quotes are mere characters in this file, say that \
         it has no quotes)"
    )]
    UnclosedQuote,
    /// Text between a closing quote and the end of the field.
    #[error(
        "text after the closing quote (a quote within quotes is written twice; if quotes are mere \
         characters in this file, say that it has no quotes)"
    )]
    TextAfterQuote,
    /// A backslash that begins no escape, in a text with escapes.
    #[error(
        "an invalid escape sequence (a backslash itself is written twice; if backslashes \
         are mere characters in this file, read it without escapes; delete a last line \\., which is an end mark)"
    )]
    UnknownEscape,
    /// A carriage return that is not part of a line ending.
    #[error("a carriage return without a line feed (lines must end in LF or CRLF)")]
    BareCarriageReturn,
    /// A record longer than [`MAX_RECORD_BYTES`](crate::MAX_RECORD_BYTES).
    #[error(
        "the record is longer than 64 MiB (is a quote left open? if quotes are mere characters in \
         this file, say that it has no quotes)"
    )]
    TooLong,
}
