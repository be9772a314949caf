//! The end of a text's first record, and its fields.
//!
//! This is stricter than most CSV readers, which repair what they cannot parse: a repaired
//! record may hold another key than the one that was meant.

use std::ops::Range;

use memchr::{memchr, memchr2};
use psijoin_block::marks::Marks;

use crate::{
    Fault,
    source::dialect::{Delimited, Layout},
};

/// A field's place in its record, without the quotes around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Field {
    pub(super) start: usize,
    pub(super) end: usize,
    /// `true` if it was between quotes, and so may hold line breaks.
    pub(super) quoted: bool,
    /// `true` if its text differs from the bytes in its place: there are quotes, each written
    /// twice, or escapes.
    pub(super) escaped: bool,
}

impl Field {
    /// Returns the bytes in its place in this record.
    pub(super) fn within(self, record: &str) -> &str {
        &record[self.start..self.end]
    }

    /// Returns whether it may continue on the next line.
    pub(super) fn may_hold_line_breaks(&self) -> bool {
        self.quoted || self.escaped
    }

    fn plain(start: usize, end: usize) -> Self {
        Self {
            start,
            end,
            quoted: false,
            escaped: false,
        }
    }
}

/// The reason that no record was split off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// The record does not end in these bytes.
    Partial,
    /// The field that begins at byte `at` is broken.
    Fault { at: usize, fault: Fault },
}

/// Finds the end of the first record, behind its line ending, and its fields. A blank line of a
/// delimited text, or a comment, is a record without fields.
///
/// Splits a record. `text` must not be empty. `at_end` means that nothing follows it. After a
/// fault, `fields` holds the fields before the broken one.
pub(super) fn split(
    text: &[u8],
    layout: Layout,
    at_end: bool,
    fields: &mut Vec<Field>,
) -> Result<usize, Stop> {
    fields.clear();
    match layout {
        Layout::Delimited(dialect) => split_delimited(text, dialect, at_end, fields),
        Layout::Lines => split_line(text, at_end, fields),
    }
}

fn split_line(text: &[u8], at_end: bool, fields: &mut Vec<Field>) -> Result<usize, Stop> {
    let (end, after) = line(text, at_end)?;
    fields.push(Field::plain(0, end));
    Ok(after)
}

/// Returns where the first line ends, and where the next one begins.
fn line(text: &[u8], at_end: bool) -> Result<(usize, usize), Stop> {
    let end = memchr2(b'\n', b'\r', text).unwrap_or(text.len());
    let after = line_ending(text, 0, end, at_end)?.expect("the value ends where the line does");
    Ok((end, after))
}

fn split_delimited(
    text: &[u8],
    dialect: Delimited,
    at_end: bool,
    fields: &mut Vec<Field>,
) -> Result<usize, Stop> {
    let Delimited {
        delimiter,
        quote,
        escapes,
        comment,
        ..
    } = dialect;
    if comment.is_some() && comment == text.first().copied() {
        return Ok(line(text, at_end)?.1);
    }
    if let Some(after) = line_ending(text, 0, 0, at_end)? {
        return Ok(after);
    }
    let mut start = 0;
    loop {
        let (field, end) = match quote {
            Some(quote) if text.get(start) == Some(&quote) => quoted(text, quote, start, at_end)?,
            _ if escapes => unquoted_with_escapes(text, delimiter, start),
            _ => unquoted(text, delimiter, start),
        };
        if text.get(end) == Some(&delimiter) {
            fields.push(field);
            start = end + 1;
            continue;
        }
        let Some(after) = line_ending(text, start, end, at_end)? else {
            return Err(Stop::Fault {
                at: start,
                fault: Fault::TextAfterQuote,
            });
        };
        fields.push(field);
        return Ok(after);
    }
}

/// The fields of a record that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needed {
    /// The first ones, and the number of all.
    First(usize),
    /// Nothing: only where records end.
    Ends,
}

/// No byte of UTF-8.
const NO_COMMENT: u8 = 0xff;

/// The lines of a text that are records of plain fields: without quotes, escapes, and carriage
/// returns but at their ends.
pub(super) struct PlainLines<'a> {
    text: &'a [u8],
    layout: Layout,
    needed: Needed,
    line_feeds: Marks,
    /// Empty if no fields are needed.
    delimiters: Marks,
    /// The byte that can make a line feed or a delimiter another character, if there is one.
    special: Option<u8>,
    /// The place of the next such byte, as far as it was searched.
    next_special: usize,
    has_carriage_returns: bool,
    /// The first byte of a line that is a comment, and so not plain; a byte that is in no text if
    /// there are none.
    comment: u8,
}

impl<'a> PlainLines<'a> {
    pub(super) fn new(text: &'a [u8], layout: Layout, needed: Needed) -> Self {
        let special = match layout {
            Layout::Lines => None,
            Layout::Delimited(dialect) if dialect.escapes => Some(b'\\'),
            Layout::Delimited(dialect) => dialect.quote,
        };
        let delimiters = match (layout, needed) {
            (Layout::Delimited(dialect), Needed::First(_)) => Marks::of(dialect.delimiter, text),
            _ => Marks::default(),
        };
        let mut lines = Self {
            text,
            layout,
            needed,
            line_feeds: Marks::of(b'\n', text),
            delimiters,
            special,
            next_special: 0,
            has_carriage_returns: memchr(b'\r', text).is_some(),
            comment: match layout {
                Layout::Delimited(dialect) => dialect.comment.unwrap_or(NO_COMMENT),
                Layout::Lines => NO_COMMENT,
            },
        };
        lines.find_special(0);
        lines
    }

    /// Returns the length of the line that begins here, with its ending, and how many fields it
    /// has. Finds those that are needed, and counts all, if that is needed: a blank line of a
    /// delimited text has none; any other has at least one. `None` if the line is not plain, or
    /// does not end.
    pub(super) fn split(
        &mut self,
        start: usize,
        fields: &mut Vec<Field>,
    ) -> Option<(usize, usize)> {
        let line_feed = self.line_feeds.next(start)?;
        if self.next_special < start {
            self.find_special(start);
        }
        if self.next_special < line_feed || self.text[start] == self.comment {
            return None;
        }
        let mut end = line_feed;
        if self.has_carriage_returns
            && let Some(found) = memchr(b'\r', &self.text[start..line_feed])
        {
            end = start + found;
            if end + 1 != line_feed {
                return None;
            }
        }
        fields.clear();
        Some((line_feed + 1 - start, self.split_line(start..end, fields)))
    }

    /// Splits the line into its needed fields; returns the number of all of them.
    fn split_line(&self, line: Range<usize>, fields: &mut Vec<Field>) -> usize {
        match self.layout {
            Layout::Delimited(_) if line.is_empty() => return 0,
            Layout::Delimited(_) => {}
            Layout::Lines => {
                fields.push(Field::plain(0, line.len()));
                return 1;
            }
        }
        let Needed::First(needed) = self.needed else {
            return 1;
        };
        let mut start = line.start;
        while fields.len() < needed {
            let delimiter = self.delimiters.next_in(start..line.end);
            let end = delimiter.unwrap_or(line.end);
            fields.push(Field::plain(start - line.start, end - line.start));
            if delimiter.is_none() {
                return fields.len();
            }
            start = end + 1;
        }
        fields.len() + 1 + self.delimiters.count(start..line.end)
    }

    fn find_special(&mut self, from: usize) {
        let found = self
            .special
            .and_then(|byte| memchr(byte, &self.text[from..]));
        self.next_special = found.map_or(usize::MAX, |length| from + length);
    }
}

/// Returns a field without quotes around it, and its end. Quotes within it are text.
fn unquoted(text: &[u8], delimiter: u8, start: usize) -> (Field, usize) {
    // Most fields are so short that a plain loop beats a vectorised search.
    let end = text[start..]
        .iter()
        .position(|&byte| byte == delimiter || byte == b'\n' || byte == b'\r')
        .map_or(text.len(), |length| start + length);
    (Field::plain(start, end), end)
}

/// Returns a field without quotes around it, and its end. A delimiter or line break after a
/// backslash does not end it.
fn unquoted_with_escapes(text: &[u8], delimiter: u8, start: usize) -> (Field, usize) {
    let mut end = start;
    let mut escaped = false;
    while let Some(&byte) = text.get(end) {
        end += match byte {
            b'\\' => {
                escaped = true;
                2
            }
            b'\n' | b'\r' => break,
            _ if byte == delimiter => break,
            _ => 1,
        };
    }
    let end = end.min(text.len());
    let field = Field {
        escaped,
        ..Field::plain(start, end)
    };
    (field, end)
}

/// Returns a field in quotes, the first of them at `start`, and the place behind the last.
fn quoted(text: &[u8], quote: u8, start: usize, at_end: bool) -> Result<(Field, usize), Stop> {
    let mut escaped = false;
    let mut from = start + 1;
    loop {
        let Some(length) = memchr(quote, &text[from..]) else {
            return Err(if at_end {
                Stop::Fault {
                    at: start,
                    fault: Fault::UnclosedQuote,
                }
            } else {
                Stop::Partial
            });
        };
        let found = from + length;
        if text.get(found + 1) != Some(&quote) {
            return Ok((
                Field {
                    start: start + 1,
                    end: found,
                    quoted: true,
                    escaped,
                },
                found + 1,
            ));
        }
        escaped = true;
        from = found + 2;
    }
}

/// Returns the place after the line ending at `end`, or `None` if something else is there. The end
/// of the text ends a line, too. `field` is where the field before it began.
fn line_ending(text: &[u8], field: usize, end: usize, at_end: bool) -> Result<Option<usize>, Stop> {
    match &text[end..] {
        [b'\n', ..] => Ok(Some(end + 1)),
        [b'\r', b'\n', ..] => Ok(Some(end + 2)),
        [] | [b'\r'] if !at_end => Err(Stop::Partial),
        [] => Ok(Some(end)),
        [b'\r', ..] => Err(Stop::Fault {
            at: field,
            fault: Fault::BareCarriageReturn,
        }),
        _ => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split_csv(text: &str, at_end: bool) -> Result<(usize, Vec<&str>), Stop> {
        let mut fields = Vec::new();
        let end = split(
            text.as_bytes(),
            Layout::Delimited(Delimited::CSV),
            at_end,
            &mut fields,
        )?;
        Ok((
            end,
            fields
                .iter()
                .map(|field| &text[field.start..field.end])
                .collect(),
        ))
    }

    #[test]
    fn a_record_ends_with_its_line() {
        assert_eq!(split_csv("a,b\nc", false), Ok((4, vec!["a", "b"])));
        assert_eq!(split_csv("a,b\r\nc", false), Ok((5, vec!["a", "b"])));
        assert_eq!(split_csv(",\n", false), Ok((2, vec!["", ""])));
        assert_eq!(split_csv("a,b", true), Ok((3, vec!["a", "b"])));
        assert_eq!(split_csv("a,", true), Ok((2, vec!["a", ""])));
        assert_eq!(split_csv("\r\na", true), Ok((2, vec![])));
    }

    #[test]
    fn quotes_hide_what_they_hold() {
        assert_eq!(
            split_csv("\"a,\r\n\",b\n", false),
            Ok((9, vec!["a,\r\n", "b"]))
        );
        assert_eq!(split_csv("\"\",x\n", false), Ok((5, vec!["", "x"])));
        assert_eq!(split_csv("\"a\"\"\"\n", false), Ok((6, vec!["a\"\""])));
        assert_eq!(
            split_csv("5\",a\"b\"\n", false),
            Ok((8, vec!["5\"", "a\"b\""]))
        );
    }

    #[test]
    fn every_cut_is_partial_and_no_fault() {
        let text = "a,\"b\"\"c\r\n\",d\r\n";
        for end in 1..text.len() {
            assert_eq!(split_csv(&text[..end], false), Err(Stop::Partial), "{end}");
        }
    }

    #[test]
    fn faults_name_the_field() {
        let fault = |at, fault| Err(Stop::Fault { at, fault });
        assert_eq!(split_csv("a,\"b\n", true), fault(2, Fault::UnclosedQuote));
        assert_eq!(split_csv("a,\"b\"\"", true), fault(2, Fault::UnclosedQuote));
        assert_eq!(
            split_csv("\"a\"b,c\n", true),
            fault(0, Fault::TextAfterQuote)
        );
        assert_eq!(
            split_csv("a,b\rc\n", true),
            fault(2, Fault::BareCarriageReturn)
        );
        assert_eq!(
            split_csv("a,\"b\"\r", true),
            fault(2, Fault::BareCarriageReturn)
        );
    }

    #[test]
    fn lines_have_one_field() {
        let split_line = |text: &str, at_end| {
            let mut fields = Vec::new();
            split(text.as_bytes(), Layout::Lines, at_end, &mut fields).map(|end| (end, fields))
        };
        let field = |end| vec![Field::plain(0, end)];
        assert_eq!(split_line("a,\"b\nc", false), Ok((5, field(4))));
        assert_eq!(split_line("\r\nc", false), Ok((2, field(0))));
        assert_eq!(split_line("c", false), Err(Stop::Partial));
        assert_eq!(split_line("c", true), Ok((1, field(1))));
        assert_eq!(
            split_line("a\rb\n", true),
            Err(Stop::Fault {
                at: 0,
                fault: Fault::BareCarriageReturn
            })
        );
    }
}
