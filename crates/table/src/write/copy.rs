//! Copies rows of a text to one of the same format, byte for byte.

use std::{iter::Peekable, ops::Range, slice, sync::Arc};

use super::Output;
use crate::{
    Encoding, Error, MatchingRows, Progress, Source,
    dialect::Layout,
    in_order::in_order,
    table::{BlockStart, bitmap::Bitmap},
    text::{Block, Needed, Start, Text},
};

/// Writes the header, and the matching rows behind it. Only blocks with such rows are read, in
/// parallel, each from where its first row is known to begin.
pub(super) fn matching(
    source: &Source,
    layout: Layout,
    MatchingRows { rows, starts }: &MatchingRows<'_>,
    output: &mut Output<'_>,
    progress: &Progress,
) -> Result<(), Error> {
    let text = Arc::new(source.text(0, layout)?);
    let mut written = Written {
        output,
        encoding: source.encoding(),
        missing_ending: None,
    };
    written.put(&header(&text))?;
    let mut pieces = Pieces {
        source,
        layout,
        matching: rows,
        text,
        part: 0,
        starts: starts.iter().peekable(),
    };
    let mut bytes_left = source.bytes();
    in_order(
        &mut || pieces.next_piece().transpose(),
        &Vec::new,
        &|piece, buffer| piece?.copied(source, rows, buffer),
        &mut |copied| {
            let copied = copied?;
            written.put(&copied)?;
            bytes_left -= copied.bytes_read;
            progress.advance(copied.bytes_read)
        },
    )?;
    // The others had no such rows.
    progress.advance(bytes_left)
}

/// What precedes the rows.
fn header(text: &Text<'_>) -> Copied {
    let (encoding, header) = (text.encoding(), text.raw_header());
    let mut bytes = encoding.encode(text.byte_order_mark()).into_owned();
    bytes.extend_from_slice(&encoding.encode(header));
    let is_unended = !header.is_empty() && !header.ends_with('\n');
    Copied {
        bytes,
        missing_ending: is_unended.then_some("\n"),
        bytes_read: 0,
    }
}

/// The pieces that have matching rows, in order.
struct Pieces<'a> {
    source: &'a Source,
    layout: Layout,
    matching: &'a Bitmap,
    /// The text that was opened last, and which one of the table it is.
    text: Arc<Text<'a>>,
    part: u32,
    starts: Peekable<slice::Iter<'a, BlockStart>>,
}

impl<'a> Pieces<'a> {
    fn next_piece(&mut self) -> Result<Option<Piece<'a>>, Error> {
        while let Some(start) = self.starts.next() {
            let next = self.starts.peek();
            let rows = start.row..next.map_or(self.matching.len(), |next| next.row);
            if !self.matching.any(rows.clone()) {
                continue;
            }
            if self.part != start.part {
                self.text = Arc::new(self.source.text(start.part as usize, self.layout)?);
                self.part = start.part;
            }
            let in_text = next.filter(|next| next.part == start.part);
            let end = in_text.map_or(self.text.bytes(), |next| next.byte);
            let text = self.text.clone();
            return Ok(Some(Piece {
                block: Block::new(text, start.part, start.byte..end),
                rows,
                is_after_crlf: start.is_after_crlf,
            }));
        }
        Ok(None)
    }
}

/// Rows of a text that follow each other.
struct Piece<'a> {
    block: Block<'a>,
    /// The rows, of the table, from 0.
    rows: Range<u64>,
    /// Whether the line before them ends in CRLF.
    is_after_crlf: bool,
}

impl Piece<'_> {
    /// Copies the matching ones of its rows.
    fn copied(
        self,
        source: &Source,
        matching: &Bitmap,
        buffer: &mut Vec<u8>,
    ) -> Result<Copied, Error> {
        let encoding = self.block.text.encoding();
        let Range { start: begin, end } = self.block.bytes;
        let mut copied = Copied {
            // What is not needed of it is never written to, so it takes no memory.
            bytes: Vec::with_capacity((end - begin) as usize),
            missing_ending: None,
            bytes_read: end - begin,
        };
        let (mut rows, mut ending) = (self.rows, line_ending(self.is_after_crlf));
        let (_, error) =
            self.block
                .each_row(Start::Known(begin), Needed::Ends, buffer, &mut |row| {
                    let raw = row.raw();
                    let number = rows.next().ok_or_else(|| source.changed())?;
                    if matching.get(number) {
                        copied.bytes.extend_from_slice(&encoding.encode(raw));
                        copied.missing_ending = (!raw.ends_with('\n')).then_some(ending);
                    }
                    ending = line_ending(raw.ends_with("\r\n"));
                    Ok(())
                });
        match error {
            Some(error) => Err(error),
            None if rows.is_empty() => Ok(copied),
            None => Err(source.changed()),
        }
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
    bytes: Vec<u8>,
    /// The ending of its neighbours, which the last record gets if it has none and another follows,
    /// as the last one of a file may.
    missing_ending: Option<&'static str>,
    /// How much of the source was read.
    bytes_read: u64,
}

/// What was written so far.
struct Written<'a, 'b> {
    output: &'a mut Output<'b>,
    encoding: Encoding,
    missing_ending: Option<&'static str>,
}

impl Written<'_, '_> {
    fn put(&mut self, copied: &Copied) -> Result<(), Error> {
        if copied.bytes.is_empty() {
            return Ok(());
        }
        if let Some(ending) = self.missing_ending.take() {
            self.output.put(&self.encoding.encode(ending))?;
        }
        self.missing_ending = copied.missing_ending;
        self.output.put(&copied.bytes)
    }
}
