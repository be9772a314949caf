//! Reads a text record by record.

use std::{
    borrow::Cow,
    io::{self, Read},
    str,
};

use super::{
    escapes::unescaped,
    split::{Field, Stop, split},
};
use crate::{
    Encoding, Error, Progress,
    dialect::{Delimited, Layout},
    error::Fault,
};

/// The longest record that is read, in bytes (64 MiB). In a longer one a quote is open.
pub const MAX_RECORD_BYTES: usize = 1 << 26;

const BUFFER_BYTES: usize = 1 << 18;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The records of a text, header included.
///
/// Holds one buffer, as long as the longest record and at least 256 KiB.
pub(super) struct Records<'a, R> {
    input: R,
    name: &'a str,
    layout: Layout,
    /// What the input was decoded from.
    encoding: Encoding,
    progress: &'a Progress,
    buffer: Vec<u8>,
    /// The part of the buffer that is yet to be split.
    start: usize,
    end: usize,
    /// Whether the input has ended, so that nothing follows the buffer's content.
    at_end: bool,
    /// The line at `start`, from 1.
    line: u64,
    fields: Vec<Field>,
}

impl<'a, R: Read> Records<'a, R> {
    /// The records of an input that is UTF-8, or decoded to it.
    pub(super) fn new(
        input: R,
        name: &'a str,
        layout: Layout,
        encoding: Encoding,
        progress: &'a Progress,
    ) -> Self {
        Self {
            input,
            name,
            layout,
            encoding,
            progress,
            buffer: vec![0; BUFFER_BYTES],
            start: 0,
            end: 0,
            at_end: false,
            line: 1,
            fields: Vec::new(),
        }
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

    /// The next record that is not blank, or `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record<'_>>, Error> {
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
                Ok(length) if self.fields.is_empty() => {
                    self.start += length;
                    self.line += 1;
                }
                Ok(length) => return self.take(length).map(Some),
                Err(Stop::Partial) => self.fill()?,
                Err(Stop::Fault { at, fault }) => return Err(self.malformed(at, fault)),
            }
        }
    }

    /// How many fields the next record has, which is still to be read; `None` at the end.
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
        if let Some(index) = self.broken_escape(raw) {
            let at = self.fields[index].start;
            self.fields.truncate(index);
            return Err(self.malformed(at, Fault::UnknownEscape));
        }
        self.start += length;
        self.line += match self.fields.iter().any(Field::may_hold_line_breaks) {
            true => line_feeds(raw.as_bytes()),
            false => 1,
        };
        Ok(Record {
            raw,
            fields: &self.fields,
            layout: self.layout,
            line,
        })
    }

    /// Moves what is yet to be split to the buffer's beginning, and reads more after it.
    fn fill(&mut self) -> Result<(), Error> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        if self.end == self.buffer.len() {
            if self.end >= MAX_RECORD_BYTES {
                return Err(self.malformed(0, Fault::TooLong));
            }
            self.buffer.resize(2 * self.end, 0);
        }
        while self.end < self.buffer.len() && !self.at_end {
            match self.input.read(&mut self.buffer[self.end..]) {
                Ok(0) => self.at_end = true,
                Ok(bytes) => {
                    self.end += bytes;
                    self.progress.advance(bytes as u64)?;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(source) => {
                    return Err(Error::Read {
                        file: self.name.to_owned(),
                        source,
                    });
                }
            }
        }
        Ok(())
    }

    /// The first field of this record in which a backslash begins no escape.
    fn broken_escape(&self, raw: &str) -> Option<usize> {
        let Layout::Delimited(Delimited {
            escapes: true,
            delimiter,
            ..
        }) = self.layout
        else {
            return None;
        };
        let is_broken = |field: &Field| unescaped(field.within(raw), delimiter).is_none();
        self.fields
            .iter()
            .position(|field| field.escaped && is_broken(field))
    }

    fn not_encoded(&self) -> Fault {
        match self.encoding == Encoding::UTF_8 {
            true => Fault::NotUtf8,
            false => Fault::NotEncoded(self.encoding),
        }
    }

    /// A fault at byte `at` of the record that was to be split off, in the field behind those
    /// found.
    fn malformed(&self, at: usize, fault: Fault) -> Error {
        let before = &self.buffer[self.start..self.start + at];
        Error::Malformed {
            file: self.name.to_owned(),
            line: self.line + line_feeds(before),
            field: self.fields.len() + 1,
            fault,
        }
    }
}

fn line_feeds(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|&&byte| byte == b'\n').count() as u64
}

/// A record of a text.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Record<'a> {
    raw: &'a str,
    fields: &'a [Field],
    layout: Layout,
    line: u64,
}

impl<'a> Record<'a> {
    /// The record as it stands in the text, with its line ending.
    pub(crate) fn raw(&self) -> &'a str {
        self.raw
    }

    /// The line on which it begins, from 1.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The number of its fields.
    pub(crate) fn len(&self) -> usize {
        self.fields.len()
    }

    /// A field's text, without the quotes around it and without escapes. A null is the empty
    /// text.
    pub(crate) fn field(&self, index: usize) -> Cow<'a, str> {
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
    use crate::dialect::Delimited;
    use proptest::prelude::*;

    /// Gives a few bytes at a time, as a pipe may.
    struct Dripping<'a>(&'a [u8], usize);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let bytes = self.1.min(buffer.len());
            self.0.read(&mut buffer[..bytes])
        }
    }

    fn records<R: Read>(input: R, dialect: Delimited, progress: &Progress) -> Records<'_, R> {
        let layout = Layout::Delimited(dialect);
        Records::new(input, "t.csv", layout, Encoding::UTF_8, progress)
    }

    /// The line, the raw text and the fields of each record.
    type Found = Vec<(u64, String, Vec<String>)>;

    fn read(text: &[u8], buffer_bytes: usize) -> Result<Found, Error> {
        read_in(Delimited::CSV, text, buffer_bytes)
    }

    fn read_in(dialect: Delimited, text: &[u8], buffer_bytes: usize) -> Result<Found, Error> {
        let progress = Progress::default();
        let input = Dripping(text, 3);
        let mut records = records(input, dialect, &progress);
        records.buffer.truncate(buffer_bytes);
        let mut found = Vec::new();
        while let Some(record) = records.next()? {
            let fields = (0..record.len()).map(|index| record.field(index).into_owned());
            found.push((record.line(), record.raw().to_owned(), fields.collect()));
        }
        Ok(found)
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
                "t.csv, line 3, field 2: not UTF-8 (say how the file is encoded, as in --encoding \
                 windows-1252, or save it as UTF-8)",
            ),
            (
                b"\xff\xfea",
                "t.csv, line 1, field 1: not UTF-8 (say how the file is encoded, as in --encoding \
                 windows-1252, or save it as UTF-8)",
            ),
            (
                b"a,b\nc,\"d\ne\n",
                "t.csv, line 2, field 2: a quote is opened and never closed (if quotes are mere \
                 characters in this file, say --quote none)",
            ),
            (
                b"a,b\n\"c\"d,e\n",
                "t.csv, line 2, field 1: text after the closing quote (a quote within quotes is \
                 written twice; if quotes are mere characters in this file, say --quote none)",
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
        let progress = Progress::default();
        let input = (&b"a\n\""[..]).chain(io::repeat(b'x'));
        let mut records = records(input, Delimited::CSV, &progress);
        assert!(records.next().unwrap().is_some());
        assert_eq!(
            records.next().unwrap_err().to_string(),
            "t.csv, line 2, field 1: the record is longer than 64 MiB (is a quote left open? if \
             quotes are mere characters in this file, say --quote none)"
        );
        assert!(records.buffer.len() <= MAX_RECORD_BYTES);
    }

    #[test]
    fn an_interrupt_ends_the_pass() {
        let progress = Progress::default();
        progress.interrupt();
        let mut records = records(&b"a"[..], Delimited::CSV, &progress);
        assert!(matches!(records.next(), Err(Error::Interrupted)));
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
            let shown = |result: Result<_, Error>| result.map_err(|error| error.to_string());
            prop_assert_eq!(shown(read(&text, buffer_bytes)), shown(read(&text, 1 << 10)));
        }

        /// Nor do they for escapes.
        #[test]
        fn buffering_changes_no_escapes(
            text in prop::collection::vec(prop::sample::select(b"a\t\\Nn\r\n\xc3\xa9".to_vec()), 0..24),
            buffer_bytes in 1usize..20,
        ) {
            let shown = |result: Result<_, Error>| result.map_err(|error| error.to_string());
            let dialect = Delimited { escapes: true, ..Delimited::TSV };
            let read = |bytes| shown(read_in(dialect, &text, bytes));
            prop_assert_eq!(read(buffer_bytes), read(1 << 10));
        }
    }
}
