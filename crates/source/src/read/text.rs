//! Tables that are text: CSV, TSV, and one value per line.

mod blocks;
pub(crate) mod escapes;
mod records;
mod split;

pub use blocks::{Block, Blocks, Extent, Start};
pub use records::MAX_RECORD_BYTES;
pub use records::Record;
use records::Records;
pub use split::Needed;

use crate::{
    Doubt, Encoding, Error, ReadError,
    read::header::Header,
    source::{dialect::Layout, format::LINE_COLUMN, section::Section, table_file::Part},
};

/// A header is read with a buffer of this length, unless it is longer.
const HEADER_BYTES: usize = 1 << 16;

/// A text whose columns are known, and whose rows are still to be read.
pub struct Text<'a> {
    part: &'a Part,
    content: Section,
    layout: Layout,
    columns: Vec<String>,
    byte_order_mark: &'static str,
    /// The record that named them.
    raw_header: String,
    /// The number of bytes before the rows, and the line on which those begin.
    rows_start: u64,
    rows_line: u64,
}

impl<'a> Text<'a> {
    /// Opens a part of a table that is text.
    pub(crate) fn open(part: &'a Part, layout: Layout) -> Result<Self, Error> {
        let content = part.open()?;
        let mut records = Records::new(
            content.clone(),
            part.name(),
            layout,
            part.encoding(),
            vec![0; HEADER_BYTES],
        );
        let byte_order_mark = records.byte_order_mark()?;
        if let Layout::Delimited(dialect) = layout {
            records.skip_lines(dialect.skipped_lines)?;
        }
        let mut raw_header = String::new();
        let columns = match layout {
            Layout::Lines => vec![LINE_COLUMN.to_owned()],
            Layout::Delimited(dialect) if !dialect.header => {
                let fields = records.fields_ahead()?.ok_or_else(|| {
                    Error::Read(ReadError::NoRows {
                        file: part.name().to_owned(),
                    })
                })?;
                (1..=fields).map(|number| number.to_string()).collect()
            }
            Layout::Delimited(_) => {
                let header = records.next()?.ok_or_else(|| {
                    Error::Read(ReadError::NoHeader {
                        file: part.name().to_owned(),
                    })
                })?;
                raw_header.push_str(header.raw());
                (0..header.len())
                    .map(|index| header.field(index).into_owned())
                    .collect()
            }
        };
        Ok(Self {
            part,
            layout,
            columns,
            byte_order_mark,
            raw_header,
            rows_start: records.position(),
            rows_line: records.line(),
            content,
        })
    }

    /// Returns the name of the text in errors.
    pub fn name(&self) -> &'a str {
        self.part.name()
    }

    /// Returns its length, in UTF-8.
    pub fn bytes(&self) -> u64 {
        self.part.bytes()
    }

    /// Returns its encoding.
    pub fn encoding(&self) -> Encoding {
        self.part.encoding()
    }

    /// Returns its columns, to find some by their names.
    pub fn header(&self) -> Header<'_> {
        Header {
            file: self.name(),
            names: &self.columns,
            layout: Some(self.layout),
            has_positions: true,
        }
    }

    /// Returns the names of its columns.
    pub fn columns(&self) -> &[String] {
        &self.columns
    }

    /// Returns the doubts about the text's form that the first record suggests.
    pub(crate) fn doubts(&self) -> Result<Vec<Doubt>, Error> {
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
                false => self.first_field()?,
            };
            let likelier = first.and_then(|field| dialect.likelier_delimiter(&field));
            doubts.extend(likelier.map(Doubt::Undivided));
        }
        Ok(doubts)
    }

    /// Returns the first field of the first row.
    fn first_field(&self) -> Result<Option<String>, Error> {
        let mut rows = self.records(self.rows_start, vec![0; HEADER_BYTES]);
        Ok(rows.next()?.map(|row| row.field(0).into_owned()))
    }

    /// Returns the records from this byte on, where lines have the number 0.
    fn records(&self, from: u64, buffer: Vec<u8>) -> Records<'a, Section> {
        let rest = self.content.at(from);
        let records = Records::new(rest, self.name(), self.layout, self.encoding(), buffer);
        records.behind(from, 0)
    }

    /// Returns the byte order mark, if there is one.
    pub fn byte_order_mark(&self) -> &'static str {
        self.byte_order_mark
    }

    /// Returns the record that names the columns, as it is; empty if there is none.
    pub fn raw_header(&self) -> &str {
        &self.raw_header
    }

    /// Splits that record into its fields again, and gives it to `take`, if there is one.
    ///
    /// # Errors
    /// If it is no record.
    pub fn read_header(&self, take: &mut dyn FnMut(&Record<'_>)) -> Result<(), Error> {
        let raw = self.raw_header.as_bytes();
        let buffer = vec![0; raw.len().max(1)];
        let mut records = Records::new(raw, self.name(), self.layout, self.encoding(), buffer);
        if let Some(header) = records.next()? {
            take(&header);
        }
        Ok(())
    }

    /// Returns the number of bytes before the rows.
    pub fn rows_start(&self) -> u64 {
        self.rows_start
    }

    /// Returns the line of the first row, or of the blank lines before it, from 1.
    pub fn rows_line(&self) -> u64 {
        self.rows_line
    }
}
