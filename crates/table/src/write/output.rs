//! Rows to write, and where they go.

use std::io::{self, Write};

use arrow_schema::Field;

use super::{
    added::{Added, Cursor},
    aligned::Order,
};
use psijoin_source::{Format, typed::value_type};

use crate::{
    Error, WriteError,
    keys::{BlockStart, bitmap::Bitmap},
};

/// The rows that are written.
pub(crate) struct Chosen<'a> {
    pub(crate) rows: &'a Bitmap,
    /// The places of a text's rows: the beginning of each block that has rows.
    pub(crate) starts: &'a [BlockStart],
    /// The columns that are added to them, if there are some.
    pub(crate) added: Option<&'a Added<'a>>,
    /// Their order, if it is not the table's.
    pub(crate) order: Option<&'a Order<'a>>,
}

impl<'a> Chosen<'a> {
    /// Returns what is added to the rows, one after the other.
    pub(super) fn cursor(&self) -> Option<Cursor<'a>> {
        let rows = 0..self.rows.len();
        let added = self.added;
        added.map(|added| Cursor::new(added, self.rows, rows))
    }
}

/// The form of written rows.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Form {
    pub(crate) format: Format,
    /// `true` if CSV tells empty texts from nulls.
    pub(crate) quote_empty: bool,
    /// `true` if CSV and TSV have no formulas.
    pub(crate) quote_formulas: bool,
}

/// The destination of rows, and its name in errors.
pub(crate) struct Output<'a> {
    pub(crate) name: &'a str,
    pub(crate) writer: &'a mut (dyn Write + Send),
}

impl Output<'_> {
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), Error> {
        self.write_all(bytes)
            .map_err(|source| cannot_write(self.name, source))
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

pub(super) fn cannot_write(file: &str, source: io::Error) -> Error {
    Error::Write(WriteError::Write {
        file: file.to_owned(),
        cause: source,
    })
}

pub(super) fn holds_texts(column: &Field) -> bool {
    value_type(column.data_type()).is_string()
}
