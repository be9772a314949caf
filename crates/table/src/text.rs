//! Tables that are text: CSV, TSV, and one value per line.

mod escapes;
mod records;
mod split;

use std::io::Read;

pub use records::MAX_RECORD_BYTES;
pub(crate) use records::Record;
use records::Records;

use crate::{
    Doubt, Encoding, Error, Progress, dialect::Layout, format::LINE_COLUMN, header::Header,
};

/// A text whose columns are known, and whose rows are being read.
pub(crate) struct Table<'a, R> {
    name: &'a str,
    records: Records<'a, R>,
    layout: Layout,
    columns: Vec<String>,
    byte_order_mark: &'static str,
    /// The record that named them.
    raw_header: String,
}

impl<'a, R: Read> Table<'a, R> {
    /// Opens a text that is UTF-8, or is decoded to it from this encoding.
    pub(crate) fn open(
        input: R,
        name: &'a str,
        layout: Layout,
        encoding: Encoding,
        progress: &'a Progress,
    ) -> Result<Self, Error> {
        let mut records = Records::new(input, name, layout, encoding, progress);
        let byte_order_mark = records.byte_order_mark()?;
        let mut raw_header = String::new();
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
                raw_header.push_str(header.raw());
                (0..header.len())
                    .map(|index| header.field(index).into_owned())
                    .collect()
            }
        };
        Ok(Self {
            name,
            records,
            layout,
            columns,
            byte_order_mark,
            raw_header,
        })
    }

    /// How errors call the text.
    pub(crate) fn name(&self) -> &'a str {
        self.name
    }

    pub(crate) fn header(&self) -> Header<'_> {
        Header {
            file: self.name,
            names: &self.columns,
            layout: Some(self.layout),
        }
    }

    pub(crate) fn columns(&self) -> &[String] {
        &self.columns
    }

    /// What the first record suggests about how the text is written. The text is then read no
    /// further.
    pub(crate) fn doubts(mut self) -> Result<Vec<Doubt>, Error> {
        let Layout::Delimited(dialect) = self.layout else {
            return Ok(Vec::new());
        };
        let mut doubts = Vec::new();
        if dialect.header {
            let is_separator_line = self.columns[0].starts_with("sep=");
            doubts.extend(is_separator_line.then_some(Doubt::SeparatorLine));
            let in_quotes = |name: &&String| self.layout.has_stray_quotes(name);
            let quoted = self.columns.iter().filter(in_quotes).count() as u64;
            doubts.extend((quoted > 0).then_some(Doubt::QuotedNames(quoted)));
        }
        if self.columns.len() == 1 {
            let first = match dialect.header {
                true => Some(self.columns[0].clone()),
                false => self.next_row()?.map(|row| row.field(0).into_owned()),
            };
            let likelier = first.and_then(|field| dialect.likelier_delimiter(&field));
            doubts.extend(likelier.map(Doubt::Undivided));
        }
        Ok(doubts)
    }

    /// The byte order mark, if there is one.
    pub(crate) fn byte_order_mark(&self) -> &'static str {
        self.byte_order_mark
    }

    /// The record that names the columns, as it is; empty if there is none.
    pub(crate) fn raw_header(&self) -> &str {
        &self.raw_header
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
                has_header: self.layout.has_header(),
            }),
            row => Ok(row),
        }
    }
}
