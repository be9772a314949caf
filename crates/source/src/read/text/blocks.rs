//! Texts in blocks, whose rows threads find in parallel.
//!
//! Where a row begins is known for sure only once all before is read: a line feed may stand between
//! quotes. So a thread *guesses* where the first row of its block begins, and whoever knows where
//! the block before ends checks that.

use std::{
    mem,
    ops::{ControlFlow, Range},
    slice,
    sync::Arc,
};

use super::{Needed, Record, Records, Text};
use psijoin_key::Place;

use crate::{
    Error, Fault, RaggedRows, ReadError,
    source::{dialect::Layout, section::Section, table_file::Part},
};

/// The end of a block's last row beyond the block is read with it, if it is as short as this.
const TAIL_BYTES: usize = 1 << 14;

/// As many lines are tried for the first one of a block.
const MOST_GUESSES: usize = 16;

/// The blocks of the parts of a table, in their order. Each part has one at least.
pub struct Blocks<'a> {
    layout: Layout,
    block_bytes: u64,
    text: Arc<Text<'a>>,
    /// The part that `text` is.
    part: u32,
    /// The beginning of the text's next block; `None` if there is no further one.
    next: Option<u64>,
    further: slice::Iter<'a, Part>,
}

impl<'a> Blocks<'a> {
    /// Returns the blocks of this table, of this many bytes each.
    ///
    /// # Errors
    /// If the header of its first part cannot be read.
    pub(crate) fn new(parts: &'a [Part], layout: Layout, block_bytes: u64) -> Result<Self, Error> {
        let mut further = parts.iter();
        let first = further.next().expect("a table has a part");
        let text = Text::open(first, layout)?;
        Ok(Self {
            layout,
            block_bytes,
            next: Some(text.rows_start),
            text: Arc::new(text),
            part: 0,
            further,
        })
    }

    /// Returns the text whose block comes next, or came last.
    pub fn text(&self) -> &Arc<Text<'a>> {
        &self.text
    }

    /// Opens the next part, if there is one.
    fn open_next(&mut self) -> Result<bool, Error> {
        let Some(part) = self.further.next() else {
            return Ok(false);
        };
        let text = Text::open(part, self.layout)?;
        // They were compared when the source was opened.
        if text.columns != self.text.columns {
            return Err(part.changed());
        }
        self.next = Some(text.rows_start);
        self.text = Arc::new(text);
        self.part += 1;
        Ok(true)
    }
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Result<Block<'a>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next.is_none() {
            match self.open_next() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => {
                    self.further = [].iter();
                    return Some(Err(error));
                }
            }
        }
        let start = self.next?;
        let end = start.saturating_add(self.block_bytes);
        let end = end.min(self.text.bytes());
        self.next = (end < self.text.bytes()).then_some(end);
        Some(Ok(Block::new(self.text.clone(), self.part, start..end)))
    }
}

/// The rows of a text that begin in some of its bytes.
pub struct Block<'a> {
    /// The text.
    pub text: Arc<Text<'a>>,
    /// The text among those of the table, from 0.
    pub part: u32,
    /// Its bytes in which the rows begin.
    pub bytes: Range<u64>,
}

/// The beginning of a block's first row.
#[derive(Clone, Copy)]
pub enum Start {
    /// This byte of the text.
    Known(u64),
    /// Behind the first line feed from the byte before the block on, or one of the next few.
    Guessed,
}

/// The extent of a block's rows.
#[derive(Debug)]
pub struct Extent {
    /// The beginning of the first one, blank lines before it included; `None` if that was to be
    /// guessed and was not.
    pub start: Option<u64>,
    /// The beginning of the row behind them.
    pub end: u64,
    /// The number of their lines.
    pub lines: u64,
    /// `true` if the last of them ends in CRLF; `None` if there is none.
    pub ends_in_crlf: Option<bool>,
}

impl<'a> Block<'a> {
    /// Returns those that begin in these bytes.
    pub fn new(text: Arc<Text<'a>>, part: u32, bytes: Range<u64>) -> Self {
        Self { text, part, bytes }
    }

    /// Returns whether it has the first rows of its text.
    pub fn is_first(&self) -> bool {
        self.bytes.start == self.text.rows_start
    }

    /// Returns the number of the text's bytes that are done with this block, the header with the
    /// first.
    pub fn done_bytes(&self) -> u64 {
        match self.is_first() {
            true => self.bytes.end,
            false => self.bytes.end - self.bytes.start,
        }
    }

    /// Calls `take` with the block's rows, each of as many fields as there are columns, if fields
    /// are needed at all. Their lines count from the first one, which is 0.
    ///
    /// As [`each_record`](Self::each_record), and with an error if a row has more or fewer fields.
    pub fn each_row<E: From<Error>>(
        &self,
        start: Start,
        needed: Needed,
        buffer: &mut Vec<u8>,
        take: &mut impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> (Extent, Option<E>) {
        self.each_record(
            start,
            needed,
            buffer,
            &mut |row| match needed == Needed::Ends || self.has_all_fields(row) {
                true => take(row),
                false => Err(self.ragged(row).into()),
            },
        )
    }

    /// Calls `take` with the block's rows, of however many fields. Their lines count from the first
    /// one, which is 0.
    ///
    /// With the extent comes the error that stopped it: `take`'s own, or that of the row behind
    /// those taken. After a wrong guess both mean nothing.
    pub fn each_record<E: From<Error>>(
        &self,
        start: Start,
        needed: Needed,
        buffer: &mut Vec<u8>,
        take: &mut impl FnMut(&Record<'_>) -> Result<(), E>,
    ) -> (Extent, Option<E>) {
        let mut extent = Extent {
            start: None,
            end: self.bytes.end,
            lines: 0,
            ends_in_crlf: None,
        };
        let start = match self.is_first() {
            true => Start::Known(self.bytes.start),
            false => start,
        };
        let mut records = self.records(start, buffer).with_fields(needed);
        let begins = match start {
            Start::Known(_) => Ok(true),
            Start::Guessed => self.guess(&mut records),
        };
        let mut refused = None;
        let read = begins.and_then(|begins| {
            if !begins {
                return Ok(());
            }
            extent.start = Some(records.position());
            records.each_before(self.bytes.end, &mut |row| {
                extent.ends_in_crlf = Some(row.raw().ends_with("\r\n"));
                match take(&row) {
                    Ok(()) => ControlFlow::Continue(()),
                    Err(error) => {
                        refused = Some(error);
                        ControlFlow::Break(())
                    }
                }
            })
        });
        if matches!(start, Start::Guessed)
            && matches!(
                read,
                Err(Error::Read(ReadError::Malformed {
                    fault: Fault::TooLong,
                    ..
                }))
            )
        {
            // If the guess is wrong, it is worth no more memory.
            extent.start = None;
        }
        extent.end = records.position();
        extent.lines = records.line();
        *buffer = records.into_buffer();
        (extent, refused.or(read.err().map(E::from)))
    }

    /// Returns the records from the block's start on, or from the byte before if it is to be
    /// guessed.
    fn records(&self, start: Start, buffer: &mut Vec<u8>) -> Records<'a, Section> {
        let bytes = (self.bytes.end - self.bytes.start) as usize;
        let wanted = bytes + bytes.clamp(1, TAIL_BYTES);
        let mut buffer = mem::take(buffer);
        buffer.resize(wanted, 0);
        // A long record may have been in it.
        buffer.shrink_to(2 * wanted);
        match start {
            Start::Known(from) => self.text.records(from, buffer),
            Start::Guessed => {
                let from = self.bytes.start.saturating_sub(1);
                self.text.records(from, buffer).up_to(4 * wanted)
            }
        }
    }

    /// Moves on to where the first row of the block seems to begin; `false` if none seems to.
    fn guess(&self, records: &mut Records<'a, Section>) -> Result<bool, Error> {
        for _ in 0..MOST_GUESSES {
            if !records.skip_line(self.bytes.end)? {
                return Ok(false);
            }
            let is_likely = records.position() >= self.bytes.end
                || !self.text.layout.may_hide_line_feeds()
                || records.seems_to_have(self.text.columns.len());
            if is_likely {
                break;
            }
        }
        Ok(true)
    }

    /// Returns whether a row has as many fields as there are columns.
    #[inline]
    pub fn has_all_fields(&self, row: &Record<'_>) -> bool {
        row.len() == self.text.columns.len()
    }

    /// Returns the error of a row that has not.
    #[cold]
    pub fn ragged(&self, row: &Record<'_>) -> Error {
        let place = Place::Line(row.line());
        Error::Read(ReadError::Ragged {
            rows: RaggedRows::of_one(row.len(), self.text.name(), place),
            expected: self.text.columns.len(),
            has_header: self.text.layout.has_header(),
        })
    }
}
