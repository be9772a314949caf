//! Tables that are text: CSV, TSV, and one value a line.

mod records;
mod split;

use std::io::Read;

pub use records::MAX_RECORD_BYTES;
pub(crate) use records::Record;
use records::Records;

use crate::{Error, Progress, dialect::Layout};

/// The name of the only column of a file of lines.
pub const LINE_COLUMN: &str = "value";

/// A text whose columns are known, and whose rows are being read.
pub(crate) struct Table<'a, R> {
    name: &'a str,
    records: Records<'a, R>,
    columns: Vec<String>,
    /// Whether the first record named them.
    has_header: bool,
    preamble: Vec<u8>,
}

impl<'a, R: Read> Table<'a, R> {
    pub(crate) fn open(
        input: R,
        name: &'a str,
        layout: Layout,
        progress: &'a Progress,
    ) -> Result<Self, Error> {
        let mut records = Records::new(input, name, layout, progress);
        let mut preamble = records.byte_order_mark()?.to_vec();
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
                preamble.extend_from_slice(header.raw().as_bytes());
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
            preamble,
        })
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What stands before the rows, byte for byte: the byte order mark and the header, if any.
    pub(crate) fn preamble(&self) -> &[u8] {
        &self.preamble
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
