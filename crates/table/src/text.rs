//! Tables that are text: CSV, TSV, and one value a line.

mod records;
mod split;

use std::io::Read;

pub use records::MAX_RECORD_BYTES;
pub(crate) use records::Record;
use records::Records;

use crate::{Error, Progress, Source, dialect::Layout, section::Section};

/// The name of the only column of a file of lines.
pub const LINE_COLUMN: &str = "value";

/// Opens the parts of a table that is text, one after the other.
pub(crate) fn parts<'a>(
    source: &'a Source,
    layout: Layout,
    progress: &'a Progress,
) -> impl Iterator<Item = Result<Table<'a, Section>, Error>> {
    let mut columns = None;
    source.parts().iter().map(move |part| {
        let table = Table::open(part.open()?, part.name(), layout, progress)?;
        // They were compared when the source was opened.
        match *columns.get_or_insert_with(|| table.columns.clone()) == table.columns {
            true => Ok(table),
            false => Err(part.changed()),
        }
    })
}

/// A text whose columns are known, and whose rows are being read.
pub(crate) struct Table<'a, R> {
    name: &'a str,
    records: Records<'a, R>,
    columns: Vec<String>,
    /// Whether the first record named them.
    has_header: bool,
    byte_order_mark: &'static [u8],
    /// The record that named them.
    header: Vec<u8>,
}

impl<'a, R: Read> Table<'a, R> {
    pub(crate) fn open(
        input: R,
        name: &'a str,
        layout: Layout,
        progress: &'a Progress,
    ) -> Result<Self, Error> {
        let mut records = Records::new(input, name, layout, progress);
        let byte_order_mark = records.byte_order_mark()?;
        let mut raw_header = Vec::new();
        let has_header = matches!(layout, Layout::Delimited(dialect) if dialect.header);
        let columns = match layout {
            Layout::Lines => vec![LINE_COLUMN.to_owned()],
            Layout::Delimited(dialect) if !dialect.header => {
                let fields = records.fields_ahead()?.ok_or_else(|| Error::NoRows {
                    file: name.to_owned(),
                })?;
                (1..=fields).map(|number| number.to_string()).collect()
            }
            Layout::Delimited(_) => {
                let header = records.next()?.ok_or_else(|| Error::NoHeader {
                    file: name.to_owned(),
                })?;
                raw_header.extend_from_slice(header.raw().as_bytes());
                (0..header.len())
                    .map(|index| header.field(index).into_owned())
                    .collect()
            }
        };
        Ok(Self {
            name,
            records,
            columns,
            has_header,
            byte_order_mark,
            header: raw_header,
        })
    }

    /// What errors call it.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// The byte order mark, if there is one.
    pub(crate) fn byte_order_mark(&self) -> &'static [u8] {
        self.byte_order_mark
    }

    /// The record that names the columns, byte for byte; empty if there is none.
    pub(crate) fn header(&self) -> &[u8] {
        &self.header
    }

    /// The next row, which has as many fields as there are columns; `None` at the end.
    pub(crate) fn next_row(&mut self) -> Result<Option<Record<'_>>, Error> {
        let expected = self.columns.len();
        match self.records.next()? {
            Some(row) if row.len() != expected => Err(Error::Ragged {
                file: self.name.to_owned(),
                line: row.line(),
                found: row.len(),
                expected,
                has_header: self.has_header,
            }),
            row => Ok(row),
        }
    }
}
