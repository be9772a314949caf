//! Copies rows of a text to one of the same format, byte for byte, but for
//! [formulas](super::formula) if there are to be none.

use std::{
    borrow::Cow,
    fmt::{self, Display},
    mem,
    ops::Range,
};

use arrow_schema::Field;
use psijoin_printable::Quoted;

use super::{
    added::{AddedTexts, Cursor},
    aligned::{Buckets, InTable, Order},
    output::{Chosen, Output, holds_texts},
    without_formulas::{field_without_formulas, header_without_formulas, record_without_formulas},
};
use psijoin_key::Place;
use psijoin_source::{
    Encoding, Progress, Source,
    text::{Layout, Needed, Record, Start, Text},
};

use crate::{
    Error, WriteError,
    in_order::{HandOver, in_order_by_pieces},
    keys::{KnownBlock, KnownBlocks},
};

/// The most bytes of a block's rows that wait for those before them.
const MOST_WAITING: usize = 1 << 20;

/// Writes the header, and the chosen rows behind it. Only blocks with such rows are read, in
/// parallel, each from where its first row is known to begin.
pub(super) fn chosen(
    source: &Source,
    (layout, quote_formulas): (Layout, bool),
    chosen: &Chosen<'_>,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let mut blocks = KnownBlocks::new(source, layout, chosen.rows, chosen.starts)?;
    let copy = Copy {
        source,
        layout,
        quote_formulas,
        chosen,
        output: output.name.to_owned(),
    };
    let mut written = Written {
        output,
        encoding: source.encoding(),
        missing_ending: None,
    };
    written.put(&copy.header(blocks.text())?)?;
    if let Some(order) = chosen.order {
        return copy.aligned(&mut blocks, order, &mut written, progress);
    }
    let mut bytes_left = source.bytes();
    in_order_by_pieces(
        &mut || blocks.next_block().transpose(),
        &Vec::new,
        &|block, buffer, hand_over| copy.copied(block?, buffer, &mut |piece| hand_over(Ok(piece))),
        &mut |copied: Result<Copied, Error>| {
            let copied = copied?;
            written.put(&copied)?;
            bytes_left -= copied.bytes_read;
            Ok(progress.advance(copied.bytes_read)?)
        },
    )?;
    // The other blocks had no such rows.
    Ok(progress.advance(bytes_left)?)
}

/// Copying rows.
struct Copy<'a> {
    source: &'a Source,
    layout: Layout,
    quote_formulas: bool,
    chosen: &'a Chosen<'a>,
    /// The output's name in errors.
    output: String,
}

impl Copy<'_> {
    /// Returns the text before the rows.
    fn header(&self, text: &Text<'_>) -> Result<Copied, Error> {
        let (layout, encoding) = (self.layout, text.encoding());
        let mut copied = Copied {
            records: InTable {
                bytes: encoding.encode(text.byte_order_mark()).into_owned(),
                ends: Vec::new(),
            },
            missing_ending: None,
            bytes_read: 0,
        };
        let header = match layout {
            Layout::Delimited(dialect) if self.quote_formulas => {
                let header = header_without_formulas(text, dialect)?;
                Cow::from(header.ok_or_else(|| self.cannot_quote("the header"))?)
            }
            _ => Cow::from(text.raw_header()),
        };
        match self.chosen.added {
            Some(added) if layout.has_header() => {
                let names = added.schema.fields().iter();
                let names = names.map(|field| Some(field.name().clone())).collect();
                let suffix = self.suffix(&names, |_| true, encoding, &"the header")?;
                copied.add(&header, (layout, encoding), Some(&suffix), "\n");
            }
            _ if header.is_empty() => {}
            _ => copied.add(&header, (layout, encoding), None, "\n"),
        }
        Ok(copied)
    }

    /// Copies the chosen rows of all blocks in an order.
    fn aligned(
        &self,
        blocks: &mut KnownBlocks<'_>,
        order: &Order<'_>,
        written: &mut Written<'_, '_>,
        progress: &Progress,
    ) -> Result<(), Error> {
        let buckets = Buckets::new(order);
        let (mut rows, mut bytes_left) = (0, self.source.bytes());
        let mut next_block = || -> Result<Option<(usize, KnownBlock<'_>)>, Error> {
            Ok(blocks.next_block()?.map(|block| {
                let first = rows;
                rows += self.chosen.rows.ones(block.rows.clone()).count();
                (first, block)
            }))
        };
        in_order_by_pieces(
            &mut || next_block().transpose(),
            &Vec::new,
            &|block, buffer, hand_over| {
                let (mut first, block) = block?;
                let mut part = |mut copied: Copied| {
                    let rows = first..first + copied.records.ends.len();
                    if !buckets.end_with(rows.clone()) {
                        copied.end_line(self.source.encoding());
                    }
                    let parted = buckets.part_records(first, &copied.records)?;
                    first = rows.end;
                    Ok((parted, copied.bytes_read))
                };
                let last = self.copied(block, buffer, &mut |piece| hand_over(Ok(part(piece)?)))?;
                part(last)
            },
            &mut |parted: Result<_, Error>| {
                let (parted, bytes_read) = parted?;
                buckets.append(&parted)?;
                bytes_left -= bytes_read;
                Ok(progress.advance(bytes_read)?)
            },
        )?;
        // The other blocks had no such rows.
        progress.advance(bytes_left)?;
        if order.rows.count() > 0 {
            written.end_line()?;
        }
        buckets.write_records(written.output, progress)
    }

    /// Copies the chosen rows of a block. With what is added to them, they may take much more
    /// memory than the block: what is beyond [`MOST_WAITING`] is handed over.
    fn copied(
        &self,
        known: KnownBlock<'_>,
        buffer: &mut Vec<u8>,
        hand_over: &mut HandOver<'_, Copied>,
    ) -> Result<Copied, Error> {
        let (source, chosen) = (self.source, self.chosen);
        let text = (self.layout, known.block.text.encoding());
        let Range { start: begin, end } = known.block.bytes;
        let mut copied = Copied {
            records: InTable {
                // Capacity that is not needed is never written to, so it takes no memory.
                bytes: Vec::with_capacity((end - begin) as usize),
                ends: Vec::new(),
            },
            missing_ending: None,
            bytes_read: end - begin,
        };
        let mut added = chosen
            .added
            .map(|added| Cursor::new(added, chosen.rows, known.rows.clone()));
        let (mut rows, mut ending) = (known.rows, line_ending(known.is_after_crlf));
        let needed = match self.quote_formulas {
            true => Needed::First(usize::MAX),
            false => Needed::Ends,
        };
        let block = &known.block;
        let (_, error) = block.each_row(Start::Known(begin), needed, buffer, &mut |row| {
            let number = rows.next().ok_or_else(|| source.changed())?;
            if chosen.rows.get(number) {
                let place = RowOfTable(number);
                let raw = self.record(row, place)?;
                match &mut added {
                    None => copied.add(&raw, text, None, ending),
                    Some(added) => added.texts(&mut |fields| {
                        let suffix = self.suffix(fields, holds_texts, text.1, &place)?;
                        copied.add(&raw, text, Some(&suffix), ending);
                        if copied.records.bytes.len() > MOST_WAITING {
                            hand_over(copied.piece())?;
                        }
                        Ok(())
                    })?,
                }
            }
            ending = line_ending(row.raw().ends_with("\r\n"));
            Ok(())
        });
        match error {
            Some(error) => Err(error),
            None if rows.is_empty() => Ok(copied),
            None => Err(source.changed().into()),
        }
    }

    /// Returns a row of the table as it is written.
    fn record<'r>(&self, row: &Record<'r>, place: RowOfTable) -> Result<Cow<'r, str>, Error> {
        match self.layout {
            Layout::Delimited(dialect) if self.quote_formulas => {
                let record = record_without_formulas(row, dialect);
                record.ok_or_else(|| self.cannot_quote(place))
            }
            _ => Ok(row.raw().into()),
        }
    }

    /// Fields that are added, as they stand behind the others at this place.
    fn suffix(
        &self,
        fields: &AddedTexts,
        are_texts: impl Fn(&Field) -> bool,
        encoding: Encoding,
        place: &dyn Display,
    ) -> Result<Vec<u8>, Error> {
        let (Layout::Delimited(dialect), Some(added)) = (self.layout, self.chosen.added) else {
            panic!("fields are added to delimited ones")
        };
        let mut suffix = Vec::new();
        for (field, column) in fields.iter().zip(added.schema.fields()) {
            let unfit = |what: &str| {
                let column = Quoted(column.name());
                self.unfit(place, &format!("gets, in the column {column}, {what}"))
            };
            let written = match self.quote_formulas && are_texts(column) {
                true => field_without_formulas(dialect, field.as_deref()),
                false => dialect.written(field.as_deref()),
            };
            let written = written.ok_or_else(|| unfit("a delimiter or a line break"))?;
            let written = format!("{}{written}", char::from(dialect.delimiter));
            let encoded = encoding.try_encode(&written);
            let encoded = encoded.ok_or_else(|| unfit("a character that its encoding lacks"))?;
            suffix.extend_from_slice(&encoded);
        }
        Ok(suffix)
    }

    fn cannot_quote(&self, place: impl Display) -> Error {
        self.unfit(
            &place,
            "gets a single quote, which is the delimiter or begins a comment, before a formula",
        )
    }

    fn unfit(&self, place: &dyn Display, what: &str) -> Error {
        Error::Write(WriteError::Unfit {
            file: self.output.clone(),
            reason: format!(
                "{place} {what}, which a text like the input cannot hold; write .parquet"
            ),
        })
    }
}

/// A row of the table, by its number from 0 on.
#[derive(Clone, Copy)]
struct RowOfTable(u64);

impl Display for RowOfTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of the table", Place::Row(self.0 + 1))
    }
}

fn line_ending(is_crlf: bool) -> &'static str {
    match is_crlf {
        true => "\r\n",
        false => "\n",
    }
}

/// Records as they were encoded.
struct Copied {
    records: InTable,
    /// The ending of its neighbours, which the last record gets if it has none and another follows,
    /// as the last one of a file may.
    missing_ending: Option<&'static str>,
    /// The number of the source's bytes that were read.
    bytes_read: u64,
}

impl Copied {
    /// Returns the part that was copied so far, and keeps nothing of it.
    fn piece(&mut self) -> Self {
        Self {
            records: mem::take(&mut self.records),
            missing_ending: self.missing_ending.take(),
            bytes_read: 0,
        }
    }

    /// Adds a record, with something behind its fields. `ending` is that of its neighbours.
    fn add(
        &mut self,
        raw: &str,
        (layout, encoding): (Layout, Encoding),
        suffix: Option<&[u8]>,
        ending: &'static str,
    ) {
        self.end_line(encoding);
        let own_ending = ending_of(raw, layout);
        let fields = &raw[..raw.len() - own_ending.len()];
        match suffix {
            None => self.records.push(&[&encoding.encode(raw)]),
            Some(suffix) => self.records.push(&[
                &encoding.encode(fields),
                suffix,
                &encoding.encode(own_ending),
            ]),
        }
        self.missing_ending = own_ending.is_empty().then_some(ending);
    }

    /// Gives the last record the ending of its neighbours, if it has none.
    fn end_line(&mut self, encoding: Encoding) {
        if let Some(ending) = self.missing_ending.take() {
            self.records.extend_last(&encoding.encode(ending));
        }
    }
}

/// Returns the end of a record; nothing if it is the last one of a text, and has none.
fn ending_of(raw: &str, layout: Layout) -> &str {
    let Some(line) = raw.strip_suffix('\n') else {
        return "";
    };
    if matches!(layout, Layout::Delimited(dialect) if dialect.escapes) {
        let backslashes = line.len() - line.trim_end_matches('\\').len();
        if !backslashes.is_multiple_of(2) {
            // The line feed is a character of the last field.
            return "";
        }
    }
    let fields = line.strip_suffix('\r').unwrap_or(line);
    &raw[fields.len()..]
}

/// The output so far.
struct Written<'a, 'b> {
    output: &'a mut Output<'b>,
    encoding: Encoding,
    missing_ending: Option<&'static str>,
}

impl Written<'_, '_> {
    fn put(&mut self, copied: &Copied) -> Result<(), Error> {
        if copied.records.bytes.is_empty() {
            return Ok(());
        }
        self.end_line()?;
        self.missing_ending = copied.missing_ending;
        self.output.put(&copied.records.bytes)
    }

    /// Gives the last record the ending of its neighbours, if it has none.
    fn end_line(&mut self) -> Result<(), Error> {
        match self.missing_ending.take() {
            Some(ending) => self.output.put(&self.encoding.encode(ending)),
            None => Ok(()),
        }
    }
}
