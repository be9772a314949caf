//! Writers of rows whose fields are given as texts.

use std::borrow::Cow;

use super::{
    added::Cursor,
    formula::defused,
    output::{Form, Output},
};
use psijoin_key::Place;

use crate::{Error, WriteError};

/// Writes rows of texts.
pub(super) trait FieldWriter {
    /// Writes a row, which has a field for each column. `nulls` marks those that are null and not
    /// text; they are empty. `place` is that of the row in the source.
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], place: Place) -> Result<(), Error>;

    /// Writes what is still held back.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

/// The destination of a text's records.
pub(super) trait Records {
    /// Returns the output's name in errors.
    fn output(&self) -> &str;

    /// Writes what stands before the records.
    fn header(&mut self, header: &[u8]) -> Result<(), Error>;

    fn record(&mut self, record: &[u8]) -> Result<(), Error>;

    /// Writes what is still held back.
    fn finish(&mut self) -> Result<(), Error>;
}

/// Writes records one after the other.
impl Records for &mut Output<'_> {
    fn output(&self) -> &str {
        self.name
    }

    fn header(&mut self, header: &[u8]) -> Result<(), Error> {
        self.put(header)
    }

    fn record(&mut self, record: &[u8]) -> Result<(), Error> {
        self.put(record)
    }

    fn finish(&mut self) -> Result<(), Error> {
        Ok(())
    }
}

/// Writes rows with the fields that are added to them.
pub(super) struct Widened<'a> {
    inner: Box<dyn FieldWriter + 'a>,
    added: Cursor<'a>,
}

impl<'a> Widened<'a> {
    pub(super) fn new(inner: Box<dyn FieldWriter + 'a>, added: Cursor<'a>) -> Self {
        Self { inner, added }
    }
}

impl FieldWriter for Widened<'_> {
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], place: Place) -> Result<(), Error> {
        let Self { inner, added } = self;
        added.texts(&mut |added| {
            let texts = added
                .iter()
                .map(|field| field.as_deref().unwrap_or_default());
            let fields: Vec<Cow<'_, str>> = (fields.iter().map(|field| Cow::from(&**field)))
                .chain(texts.map(Cow::from))
                .collect();
            let are_null = added.iter().map(Option::is_none);
            let nulls: Vec<bool> = nulls.iter().copied().chain(are_null).collect();
            inner.row(&fields, &nulls, place)
        })
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        self.inner.finish()
    }
}

/// Writes rows whose texts hold no formulas.
pub(super) struct WithoutFormulas<'a> {
    inner: Box<dyn FieldWriter + 'a>,
    /// The columns that hold texts.
    are_texts: Vec<bool>,
}

impl<'a> WithoutFormulas<'a> {
    pub(super) fn new(inner: Box<dyn FieldWriter + 'a>, are_texts: Vec<bool>) -> Self {
        Self { inner, are_texts }
    }
}

impl FieldWriter for WithoutFormulas<'_> {
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], place: Place) -> Result<(), Error> {
        let fields = fields.iter().zip(&self.are_texts);
        let fields: Vec<Cow<'_, str>> = fields
            .map(
                |(field, is_text)| match is_text.then(|| defused(field)).flatten() {
                    Some(defused) => Cow::from(defused),
                    None => Cow::from(&**field),
                },
            )
            .collect();
        self.inner.row(&fields, nulls, place)
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        self.inner.finish()
    }
}

/// Writes CSV, with quotes where they are needed.
///
/// This is not done by a library, since none has quotes around some empty fields and not around
/// others.
pub(super) struct Quoted<'a> {
    records: Box<dyn Records + 'a>,
    /// The form of rows: an empty field may have quotes if it is a text, and none if it is null;
    /// and a field may have quotes that begins with a single quote, as one that would be a formula
    /// without it.
    form: Form,
    line: String,
}

impl<'a> Quoted<'a> {
    pub(super) fn new(
        header: Option<&[String]>,
        form: Form,
        records: Box<dyn Records + 'a>,
    ) -> Result<Self, Error> {
        let mut quoted = Self {
            records,
            form,
            line: String::new(),
        };
        if let Some(names) = header {
            // A line without anything would be no header.
            let is_blank = matches!(names, [only] if only.is_empty());
            quoted.set_line(names.iter().map(|name| (&**name, is_blank)));
            quoted.records.header(quoted.line.as_bytes())?;
        }
        Ok(quoted)
    }

    /// Makes a line of fields, with quotes where they are asked for or needed.
    fn set_line<'f>(&mut self, fields: impl Iterator<Item = (&'f str, bool)>) {
        self.line.clear();
        for (index, (field, quote)) in fields.enumerate() {
            if index > 0 {
                self.line.push(',');
            }
            let is_defused = self.form.quote_formulas && field.starts_with('\'');
            if quote || is_defused || field.contains([',', '"', '\n', '\r']) {
                self.line.push('"');
                self.line.push_str(&field.replace('"', "\"\""));
                self.line.push('"');
            } else {
                self.line.push_str(field);
            }
        }
        self.line.push('\n');
    }
}

impl FieldWriter for Quoted<'_> {
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], _: Place) -> Result<(), Error> {
        // A blank line is no row, except for readers that tell nulls.
        let quote_empty = self.form.quote_empty;
        let is_blank = !quote_empty && fields.len() == 1;
        self.set_line(fields.iter().zip(nulls).map(|(field, &is_null)| {
            let quote = field.is_empty() && (is_blank || quote_empty && !is_null);
            (&**field, quote)
        }));
        self.records.record(self.line.as_bytes())
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.records.finish()
    }
}

/// Returns whether a text can stand as a field in TSV, which has no quotes.
pub(super) fn fits_unquoted(text: &str) -> bool {
    !text.contains(['\t', '\n', '\r'])
}

/// Writes TSV.
pub(super) struct Unquoted<'a> {
    records: Box<dyn Records + 'a>,
    line: String,
}

impl<'a> Unquoted<'a> {
    /// Writes the header, whose names must fit.
    pub(super) fn new(
        header: Option<&[String]>,
        mut records: Box<dyn Records + 'a>,
    ) -> Result<Self, Error> {
        if let Some(names) = header {
            records.header((names.join("\t") + "\n").as_bytes())?;
        }
        Ok(Self {
            records,
            line: String::new(),
        })
    }
}

impl FieldWriter for Unquoted<'_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], place: Place) -> Result<(), Error> {
        let unfit = |what: &str| {
            Error::Write(WriteError::Unfit {
                file: self.records.output().to_owned(),
                reason: format!(
                    "{place} of the input has {what}, which a .tsv file cannot hold; write .csv or \
                 .parquet"
                ),
            })
        };
        if !fields.iter().all(|field| fits_unquoted(field)) {
            return Err(unfit("a tab or a line break in a field"));
        }
        if matches!(fields, [only] if only.is_empty()) {
            return Err(unfit("an empty field alone"));
        }
        self.line.clear();
        for (index, field) in fields.iter().enumerate() {
            if index > 0 {
                self.line.push('\t');
            }
            self.line.push_str(field);
        }
        self.line.push('\n');
        self.records.record(self.line.as_bytes())
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.records.finish()
    }
}

/// Writes the only field of each row on a line.
pub(super) struct Lines<'a> {
    records: Box<dyn Records + 'a>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(records: Box<dyn Records + 'a>) -> Self {
        Self { records }
    }
}

impl FieldWriter for Lines<'_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], _: Place) -> Result<(), Error> {
        let [value] = fields else {
            panic!("lines hold one column")
        };
        if value.contains(['\n', '\r']) {
            return Err(Error::Write(WriteError::Unfit {
                file: self.records.output().to_owned(),
                reason: "a value holds a line break; write .csv or .parquet".to_owned(),
            }));
        }
        self.records.record(format!("{value}\n").as_bytes())
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.records.finish()
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use proptest::prelude::*;

    use super::*;
    use psijoin_source::{ErrorKind, Format};

    fn form(quote_empty: bool) -> Form {
        Form {
            format: Format::Csv,
            quote_empty,
            quote_formulas: false,
        }
    }

    fn csv(names: &[String], quote_empty: bool, rows: &[Vec<Option<String>>]) -> String {
        let mut bytes = Vec::new();
        let mut output = Output {
            name: "t.csv",
            writer: &mut bytes,
        };
        let form = form(quote_empty);
        let mut writer = Quoted::new(Some(names), form, Box::new(&mut output)).unwrap();
        for row in rows {
            let fields: Vec<_> = row
                .iter()
                .map(|field| field.as_deref().unwrap_or_default().into())
                .collect();
            let nulls: Vec<_> = row.iter().map(Option::is_none).collect();
            writer.row(&fields, &nulls, Place::Row(1)).unwrap();
        }
        drop(writer);
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn nulls_are_told_from_empty_texts_on_request() {
        let names = ["a", "b, \"c\""].map(str::to_owned);
        let text = |text: &str| Some(text.to_owned());
        let rows = [
            vec![text(""), None],
            vec![None, text("\n")],
            vec![text("x y"), text("\"")],
        ];
        assert_eq!(
            csv(&names, true, &rows),
            "a,\"b, \"\"c\"\"\"\n\"\",\n,\"\n\"\nx y,\"\"\"\"\n"
        );
        assert_eq!(
            csv(&names, false, &rows),
            "a,\"b, \"\"c\"\"\"\n,\n,\"\n\"\nx y,\"\"\"\"\n"
        );
        assert_eq!(csv(&[String::new()], false, &[]), "\"\"\n");
    }

    proptest! {
        #[test]
        fn others_read_what_is_written(
            rows in prop::collection::vec(
                prop::collection::vec(prop::option::of("[a,\"\r\n é;]{0,4}"), 3),
                0..5,
            ),
            quote_empty: bool,
        ) {
            let names = ["x", "y", "z"].map(str::to_owned);
            let written = csv(&names, quote_empty, &rows);
            let mut reader = csv::Reader::from_reader(written.as_bytes());
            let read: Vec<Vec<String>> = reader
                .records()
                .map(|record| record.unwrap().iter().map(str::to_owned).collect())
                .collect();
            let texts = |row: &Vec<Option<String>>| -> Vec<String> {
                row.iter().map(|field| field.clone().unwrap_or_default()).collect()
            };
            prop_assert_eq!(read, rows.iter().map(texts).collect::<Vec<_>>());
        }
    }

    struct Closed;

    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_reader_that_went_away_is_told() {
        let mut output = Output {
            name: "standard output",
            writer: &mut Closed,
        };
        let written = Quoted::new(Some(&["id".to_owned()]), form(false), Box::new(&mut output));
        assert_eq!(written.err().unwrap().kind(), ErrorKind::BrokenPipe);
    }
}
