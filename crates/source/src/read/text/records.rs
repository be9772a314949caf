//! Reads a text record by record.

use std::{
    borrow::Cow,
    io::{self, Read},
    mem,
    ops::{ControlFlow, Range},
    str,
};

use memchr::{memchr, memchr_iter};

use super::{
    escapes::unescaped,
    split::{Field, Needed, PlainLines, Stop, split},
};
use crate::{
    Encoding, Error, Fault, ReadError, SourceError,
    source::dialect::{Delimited, Layout},
};

/// The longest record that is read, in bytes (64 MiB). In a longer one a quote is open.
pub const MAX_RECORD_BYTES: usize = 1 << 26;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The records of a text, header included, or from some record on.
///
/// Holds one buffer, which grows to the length of the longest record.
pub(super) struct Records<'a, R> {
    input: R,
    name: &'a str,
    layout: Layout,
    /// The encoding that the input was decoded from.
    encoding: Encoding,
    buffer: Vec<u8>,
    /// The part of the buffer that is yet to be split.
    start: usize,
    end: usize,
    /// The number of the input's bytes before the buffer's content.
    before: u64,
    /// `true` if the input has ended, so that nothing follows the buffer's content.
    at_end: bool,
    /// The line at `start`.
    line: u64,
    /// The limit on the bytes of a record.
    most_bytes: usize,
    /// The fields of records that are needed.
    needed: Needed,
    fields: Vec<Field>,
}

impl<'a, R: Read> Records<'a, R> {
    /// Returns the records of an input that is UTF-8, or decoded to it. The buffer must not be
    /// empty.
    pub(super) fn new(
        input: R,
        name: &'a str,
        layout: Layout,
        encoding: Encoding,
        buffer: Vec<u8>,
    ) -> Self {
        assert!(!buffer.is_empty(), "there is a buffer");
        Self {
            input,
            name,
            layout,
            encoding,
            buffer,
            start: 0,
            end: 0,
            before: 0,
            at_end: false,
            line: 1,
            most_bytes: MAX_RECORD_BYTES,
            needed: Needed::First(usize::MAX),
            fields: Vec::new(),
        }
    }

    /// Says that the input is what follows this many bytes, and that its first line has this
    /// number.
    pub(super) fn behind(self, before: u64, line: u64) -> Self {
        Self {
            before,
            line,
            ..self
        }
    }

    /// Says that records of more bytes are too long.
    pub(super) fn up_to(self, most_bytes: usize) -> Self {
        Self { most_bytes, ..self }
    }

    /// Says that records need not have all their fields.
    pub(super) fn with_fields(self, needed: Needed) -> Self {
        Self { needed, ..self }
    }

    pub(super) fn into_buffer(self) -> Vec<u8> {
        self.buffer
    }

    /// Returns the number of bytes before the next record.
    pub(super) fn position(&self) -> u64 {
        self.before + self.start as u64
    }

    /// Returns the line on which the next record begins, if it is not blank.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Skips the byte order mark, to be called before the first record is read; empty if there
    /// is none.
    pub(super) fn byte_order_mark(&mut self) -> Result<&'static str, Error> {
        while self.end < BYTE_ORDER_MARK.len() && !self.at_end {
            self.fill()?;
        }
        if self.buffer[..self.end].starts_with(BYTE_ORDER_MARK.as_bytes()) {
            self.start = BYTE_ORDER_MARK.len();
            return Ok(BYTE_ORDER_MARK);
        }
        Ok("")
    }

    /// Skips this many lines, whatever is in them; fewer if the text ends.
    pub(super) fn skip_lines(&mut self, lines: u64) -> Result<(), Error> {
        let layout = mem::replace(&mut self.layout, Layout::Lines);
        for _ in 0..lines {
            match self.split_off()? {
                Some(length) => self.skip_blank(length),
                None => break,
            }
        }
        self.layout = layout;
        Ok(())
    }

    /// Returns the next record that is not blank, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
        while let Some(length) = self.split_off()? {
            if !self.fields.is_empty() {
                return self.take(length).map(Some);
            }
            self.skip_blank(length);
        }
        Ok(None)
    }

    /// Calls `take` with each record that begins before this byte of the input and is not blank,
    /// until it breaks off.
    pub(super) fn each_before(
        &mut self,
        until: u64,
        take: &mut impl FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        loop {
            if self.each_in_buffer(until, take).is_break() || self.position() >= until {
                return Ok(());
            }
            // It does not end in the buffer, or is faulty.
            match self.split_off()? {
                None => return Ok(()),
                Some(length) if self.fields.is_empty() => self.skip_blank(length),
                Some(length) => {
                    if take(self.take(length)?).is_break() {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// Calls `take` with the records that lie in the buffer as a whole, up to one that is faulty.
    /// Most are *plain*: lines without anything that could make a line feed or a delimiter another
    /// character.
    fn each_in_buffer(
        &mut self,
        until: u64,
        take: &mut impl FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let first = self.position();
        let text = valid_prefix(&self.buffer[self.start..self.end]);
        let bytes = text.as_bytes();
        let mut plain = PlainLines::new(bytes, self.layout, self.needed);
        let (mut at, mut line) = (0, self.line);
        let mut flow = ControlFlow::Continue(());
        while flow.is_continue() && first + (at as u64) < until {
            let (length, count, lines);
            if let Some(found) = plain.split(at, &mut self.fields) {
                ((length, count), lines) = (found, 1);
            } else if let Ok(found) = split(&bytes[at..], self.layout, false, &mut self.fields) {
                (length, count) = (found, self.fields.len());
                let raw = &text[at..at + length];
                if broken_escape(raw, &self.fields, self.layout).is_some() {
                    break;
                }
                lines = lines_of(raw, &self.fields);
            } else {
                break;
            }
            let record = Record {
                raw: &text[at..at + length],
                fields: &self.fields,
                count,
                layout: self.layout,
                line,
            };
            if count > 0 {
                flow = take(record);
            }
            at += length;
            line += lines;
        }
        self.start += at;
        self.line = line;
        flow
    }

    /// Returns the number of fields of the next record, which is still to be read; `None` at the
    /// end.
    pub(super) fn fields_ahead(&mut self) -> Result<Option<usize>, Error> {
        let Some(record) = self.next()? else {
            return Ok(None);
        };
        let (length, line, fields) = (record.raw.len(), record.line, record.len());
        // The record lies in the buffer until the next is wanted.
        self.start -= length;
        self.line = line;
        Ok(Some(fields))
    }

    /// Skips the rest of a line; returns whether a line feed ended it before this byte of the
    /// input.
    pub(super) fn skip_line(&mut self, until: u64) -> Result<bool, Error> {
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += length + 1;
                return Ok(self.position() <= until);
            }
            self.start = self.end;
            if self.at_end || self.position() >= until {
                return Ok(false);
            }
            self.fill()?;
        }
    }

    /// Returns whether a record of this many fields, or a blank line, seems to follow.
    pub(super) fn seems_to_have(&mut self, columns: usize) -> bool {
        match self.split_off() {
            Ok(Some(_)) => self.fields.is_empty() || self.fields.len() == columns,
            Ok(None) => true,
            Err(_) => false,
        }
    }

    /// Returns the length of the next record, which is in the buffer then, and its fields with it;
    /// `None` at the end.
    fn split_off(&mut self) -> Result<Option<usize>, Error> {
        loop {
            if self.start == self.end {
                if self.at_end {
                    return Ok(None);
                }
                self.fill()?;
                continue;
            }
            let text = &self.buffer[self.start..self.end];
            match split(text, self.layout, self.at_end, &mut self.fields) {
                Ok(length) => return Ok(Some(length)),
                Err(Stop::Partial) => self.fill()?,
                Err(Stop::Fault { at, fault }) => return Err(self.malformed(at, fault)),
            }
        }
    }

    fn skip_blank(&mut self, length: usize) {
        self.start += length;
        self.line += 1;
    }

    fn take(&mut self, length: usize) -> Result<Record<'_>, Error> {
        let (start, line) = (self.start, self.line);
        let raw = match str::from_utf8(&self.buffer[start..start + length]) {
            Ok(raw) => raw,
            Err(error) => {
                let at = error.valid_up_to();
                let before = self.fields.partition_point(|field| field.start <= at);
                self.fields.truncate(before.saturating_sub(1));
                return Err(self.malformed(at, self.not_encoded()));
            }
        };
        if let Some(index) = broken_escape(raw, &self.fields, self.layout) {
            let at = self.fields[index].start;
            self.fields.truncate(index);
            return Err(self.malformed(at, Fault::UnknownEscape));
        }
        self.start += length;
        self.line += lines_of(raw, &self.fields);
        Ok(Record {
            raw,
            fields: &self.fields,
            count: self.fields.len(),
            layout: self.layout,
            line,
        })
    }

    /// Moves what is yet to be split to the buffer's beginning, and reads more after it.
    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.before += self.start as u64;
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.end >= self.most_bytes {
                return Err(self.malformed(0, Fault::TooLong));
            }
            self.buffer.resize(self.most_bytes.min(2 * self.end), 0);
        }
        while self.end < self.buffer.len() && !self.at_end {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(bytes) => self.end += bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::Source(SourceError::Read {
                        file: self.name.to_owned(),
                        cause: source,
                    }));
                }
            }
        }
        Ok(())
    }

    fn not_encoded(&self) -> Fault {
        match self.encoding == Encoding::UTF_8 {
            true => Fault::NotUtf8,
            false => Fault::NotEncoded(self.encoding),
        }
    }

    /// Returns a fault at byte `at` of the record that was to be split off, in the field behind
    /// those found.
    fn malformed(&self, at: usize, fault: Fault) -> Error {
        let before = &self.buffer[self.start..self.start + at];
        Error::Read(ReadError::Malformed {
            file: self.name.to_owned(),
            line: self.line + line_feeds(before),
            field: self.fields.len() + 1,
            fault,
        })
    }
}

/// Returns the first field of this record in which a backslash begins no escape.
fn broken_escape(raw: &str, fields: &[Field], layout: Layout) -> Option<usize> {
    let Layout::Delimited(Delimited {
        escapes: true,
        delimiter,
        ..
    }) = layout
    else {
        return None;
    };
    let is_broken = |field: &Field| unescaped(field.within(raw), delimiter).is_none();
    fields
        .iter()
        .position(|field| field.escaped && is_broken(field))
}

/// Returns the number of lines of a record.
fn lines_of(raw: &str, fields: &[Field]) -> u64 {
    match fields.iter().any(Field::may_hold_line_breaks) {
        true => line_feeds(raw.as_bytes()),
        false => 1,
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

/// As much of a text as is UTF-8.
fn valid_prefix(bytes: &[u8]) -> &str {
    str::from_utf8(bytes).unwrap_or_else(|error| {
        str::from_utf8(&bytes[..error.valid_up_to()]).expect("it was found valid")
    })
}

/// A record of a text.
#[derive(Debug, Clone, Copy)]
pub struct Record<'a> {
    raw: &'a str,
    fields: &'a [Field],
    /// The number of fields; the last ones may be missing in `fields`.
    count: usize,
    layout: Layout,
    line: u64,
}

impl<'a> Record<'a> {
    /// Returns the record as it stands in the text, with its line ending.
    #[inline]
    pub fn raw(&self) -> &'a str {
        self.raw
    }

    /// Returns the line on which it begins, from 1.
    #[inline]
    pub fn line(&self) -> u64 {
        self.line
    }

    /// Returns the number of its fields.
    #[inline]
    #[expect(clippy::len_without_is_empty, reason = "a record has a field")]
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns the place of a field in the record, with the quotes around it.
    pub fn place(&self, index: usize) -> Range<usize> {
        let Field {
            start, end, quoted, ..
        } = self.fields[index];
        let quote = usize::from(quoted);
        start - quote..end + quote
    }

    /// Returns a field's text, without the quotes around it and without escapes. A null is the
    /// empty text.
    #[inline]
    pub fn field(&self, index: usize) -> Cow<'a, str> {
        let field = self.fields[index];
        let text = field.within(self.raw);
        let dialect = match self.layout {
            Layout::Delimited(dialect) if field.escaped => dialect,
            _ => return text.into(),
        };
        match dialect.quote {
            Some(quote) => {
                let quote = char::from(quote);
                text.replace(&format!("{quote}{quote}"), quote.encode_utf8(&mut [0; 1]))
            }
            None => unescaped(text, dialect.delimiter).expect("a broken escape is no record's"),
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::dialect::Delimited;
    use proptest::prelude::*;

    /// Gives a few bytes at a time, as a pipe may.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = self.1.min(buffer.len());
            self.0.read(&mut buffer[..bytes])
        }
    }

    fn records<R: Read>(input: R, dialect: Delimited, buffer_bytes: usize) -> Records<'static, R> {
        let (layout, buffer) = (Layout::Delimited(dialect), vec![0; buffer_bytes]);
        Records::new(input, "t.csv", layout, Encoding::UTF_8, buffer)
    }

    /// The line, the raw text and the fields of each record.
    type Found = Vec<(u64, String, Vec<String>)>;

    fn read(text: &[u8], buffer_bytes: usize) -> Result<Found, Error> {
        read_in(Delimited::CSV, text, buffer_bytes)
    }

    fn read_in(dialect: Delimited, text: &[u8], buffer_bytes: usize) -> Result<Found, Error> {
        let mut records = records(Dripping(text, 3), dialect, buffer_bytes);
        let mut found = Vec::new();
        while let Some(record) = records.next()? {
            found.push(shown(&record));
        }
        Ok(found)
    }

    fn shown(record: &Record<'_>) -> (u64, String, Vec<String>) {
        let fields = (0..record.len()).map(|index| record.field(index).into_owned());
        (record.line(), record.raw().to_owned(), fields.collect())
    }

    fn message(text: &[u8]) -> String {
        let large = read(text, 1 << 10).unwrap_err().to_string();
        assert_eq!(read(text, 1).unwrap_err().to_string(), large);
        large
    }

    #[test]
    fn lines_are_counted_through_quotes_and_blanks() {
        let records = read(b"\n\r\na,b\r\n\"1\n2\",\"x\"\"y\"\n\nc,d", 4).unwrap();
        let lines: Vec<u64> = records.iter().map(|record| record.0).collect();
        assert_eq!(lines, [3, 4, 7]);
        assert_eq!(records[1].1, "\"1\n2\",\"x\"\"y\"\n");
        assert_eq!(records[1].2, ["1\n2", "x\"y"]);
        assert_eq!(records[2].1, "c,d");
    }

    #[test]
    fn faults_name_line_and_field() {
        for (text, expected) in [
            (
                &b"a,b\n\"1\n\",\xe9\n"[..],
                "t.csv, line 3, field 2: not UTF-8 (say how the file is encoded, or save it as UTF-8)",
            ),
            (
                b"\xff\xfea",
                "t.csv, line 1, field 1: not UTF-8 (say how the file is encoded, or save it as UTF-8)",
            ),
            (
                b"a,b\nc,\"d\ne\n",
                "t.csv, line 2, field 2: a quote is opened and never closed (if quotes are mere \
                 characters in this file, say that it has no quotes)",
            ),
            (
                b"a,b\n\"c\"d,e\n",
                "t.csv, line 2, field 1: text after the closing quote (a quote within quotes is \
                 written twice; if quotes are mere characters in this file, say that it has no quotes)",
            ),
            (
                b"a,b\rc,d\r",
                "t.csv, line 1, field 2: a carriage return without a line feed (lines must end \
                 in LF or CRLF)",
            ),
        ] {
            assert_eq!(message(text), expected);
        }
    }

    #[test]
    fn an_open_quote_does_not_fill_the_memory() {
        let input = (&b"a\n\""[..]).chain(io::repeat(b'x'));
        let mut records = records(input, Delimited::CSV, 3000);
        assert!(records.next().unwrap().is_some());
        assert_eq!(
            records.next().unwrap_err().to_string(),
            "t.csv, line 2, field 1: the record is longer than 64 MiB (is a quote left open? if \
             quotes are mere characters in this file, say that it has no quotes)"
        );
        assert!(records.buffer.len() <= MAX_RECORD_BYTES);
    }

    proptest! {
        /// Whatever is accepted is what the `csv` crate reads, and nothing is lost.
        #[test]
        fn agrees_with_the_csv_crate(text in "[ab,\"\r\n]{0,24}", buffer_bytes in 1usize..20) {
            let Ok(records) = read(text.as_bytes(), buffer_bytes) else { return Ok(()) };
            let mut reader = csv::ReaderBuilder::new()
                .has_headers(false)
                .flexible(true)
                .from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> = reader
                .records()
                .map(|record| record.unwrap().iter().map(str::to_owned).collect())
                .collect();
            let fields: Vec<_> = records.iter().map(|record| record.2.clone()).collect();
            prop_assert_eq!(fields, expected);

            let raw: String = records.iter().map(|record| record.1.as_str()).collect();
            let without_blanks = |text: &str| text.replace(['\r', '\n'], "");
            prop_assert_eq!(without_blanks(&raw), without_blanks(&text));
        }

        /// The buffer's size and the bytes' grouping change nothing, faults included.
        #[test]
        fn buffering_changes_nothing(
            text in prop::collection::vec(prop::sample::select(b"a,\"\r\n\xe9".to_vec()), 0..24),
            buffer_bytes in 1usize..20,
        ) {
            let told = |result: Result<_, Error>| result.map_err(|error| error.to_string());
            prop_assert_eq!(told(read(&text, buffer_bytes)), told(read(&text, 1 << 10)));
        }

        /// Nor does it, how records are asked for: one by one, or many at once with some fields.
        #[test]
        fn records_are_the_same_many_at_once(
            text in prop::collection::vec(
                prop::sample::select(b"aaaa,,,\"\n\n\n\r\\\xe9\xc3\xa9".to_vec()),
                0..40,
            ),
            quote in prop::sample::select(vec![None, Some(b'"')]),
            wanted in 0_usize..4,
            buffer_bytes in 1_usize..50,
            until in 0_u64..50,
        ) {
            let escapes = quote.is_none();
            let dialect = Delimited { quote, escapes, ..Delimited::CSV };
            let told = |record: &Record<'_>| {
                let fields = (0..wanted.min(record.len())).map(|i| record.field(i).into_owned());
                (record.line(), record.raw().to_owned(), record.len(), fields.collect::<Vec<_>>())
            };
            let mut expected = Vec::new();
            let mut singly = records(&text[..], dialect, 1 << 10);
            let error = loop {
                let record = singly.next().map(|record| record.as_ref().map(told));
                match record {
                    Ok(Some(record)) if singly.position() - record.1.len() as u64 >= until => {
                        break None;
                    }
                    Ok(Some(record)) => expected.push(record),
                    Ok(None) => break None,
                    Err(error) => break (singly.position() < until).then(|| error.to_string()),
                }
            };
            let mut found = Vec::new();
            let mut many = records(Dripping(&text, 3), dialect, buffer_bytes).with_fields(Needed::First(wanted));
            let result = many.each_before(until, &mut |record| {
                found.push(told(&record));
                ControlFlow::Continue(())
            });
            prop_assert_eq!(found, expected);
            prop_assert_eq!(result.err().map(|error| error.to_string()), error);
        }

        /// Nor do they for escapes.
        #[test]
        fn buffering_changes_no_escapes(
            text in prop::collection::vec(prop::sample::select(b"a\t\\Nn\r\n\xc3\xa9".to_vec()), 0..24),
            buffer_bytes in 1usize..20,
        ) {
            let told = |result: Result<_, Error>| result.map_err(|error| error.to_string());
            let dialect = Delimited { escapes: true, ..Delimited::TSV };
            let read = |bytes| told(read_in(dialect, &text, bytes));
            prop_assert_eq!(read(buffer_bytes), read(1 << 10));
        }
    }
}
