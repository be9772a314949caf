//! Writers of rows whose fields are given as texts.

use std::borrow::Cow;

use super::{Output, added::Cursor};
use crate::{Error, error::Place};

/// Writes rows of texts.
pub(super) trait FieldWriter {
    /// Writes a row, which has a field for each column. `nulls` says which of them are null and not
    /// text; they are empty. `place` is where the source has the row.
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], place: Place) -> Result<(), Error>;

    /// Writes what is still held back.
    fn finish(self: Box<Self>) -> Result<(), Error>;
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
        for added in self.added.texts()? {
            let texts = added
                .iter()
                .map(|field| field.as_deref().unwrap_or_default());
            let fields: Vec<Cow<'_, str>> = (fields.iter().map(|field| Cow::from(&**field)))
                .chain(texts.map(Cow::from))
                .collect();
            let are_null = added.iter().map(Option::is_none);
            let nulls: Vec<bool> = nulls.iter().copied().chain(are_null).collect();
            self.inner.row(&fields, &nulls, place)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        self.inner.finish()
    }
}

/// Writes CSV, with quotes where they are needed.
///
/// This is not done by a library, since none has quotes around some empty fields and not around
/// others.
pub(super) struct Quoted<'a, 'b> {
    output: &'a mut Output<'b>,
    /// Whether an empty field has quotes if it is a text, and none if it is null.
    quote_empty: bool,
    line: String,
}

impl<'a, 'b> Quoted<'a, 'b> {
    pub(super) fn new(
        header: Option<&[String]>,
        quote_empty: bool,
        output: &'a mut Output<'b>,
    ) -> Result<Self, Error> {
        let mut quoted = Self {
            output,
            quote_empty,
            line: String::new(),
        };
        if let Some(names) = header {
            // A line without anything would be no header.
            let is_blank = matches!(names, [only] if only.is_empty());
            quoted.record(names.iter().map(|name| (&**name, is_blank)))?;
        }
        Ok(quoted)
    }

    /// Writes fields, with quotes where they are asked for or needed.
    fn record<'f>(&mut self, fields: impl Iterator<Item = (&'f str, bool)>) -> Result<(), Error> {
        self.line.clear();
        for (index, (field, quote)) in fields.enumerate() {
            if index > 0 {
                self.line.push(',');
            }
            if quote || field.contains([',', '"', '\n', '\r']) {
                self.line.push('"');
                self.line.push_str(&field.replace('"', "\"\""));
                self.line.push('"');
            } else {
                self.line.push_str(field);
            }
        }
        self.line.push('\n');
        self.output.put(self.line.as_bytes())
    }
}

impl FieldWriter for Quoted<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>], nulls: &[bool], _: Place) -> Result<(), Error> {
        // A blank line is no row, except for readers that tell nulls.
        let is_blank = !self.quote_empty && fields.len() == 1;
        let quote_empty = self.quote_empty;
        self.record(fields.iter().zip(nulls).map(|(field, &is_null)| {
            let quote = field.is_empty() && (is_blank || quote_empty && !is_null);
            (&**field, quote)
        }))
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// Whether a text can stand as a field in TSV, which has no quotes.
pub(super) fn fits_unquoted(text: &str) -> bool {
    !text.contains(['\t', '\n', '\r'])
}

/// Writes TSV.
pub(super) struct Unquoted<'a, 'b> {
    output: &'a mut Output<'b>,
    line: String,
}

impl<'a, 'b> Unquoted<'a, 'b> {
    /// The names of a header must fit.
    pub(super) fn new(
        header: Option<&[String]>,
        output: &'a mut Output<'b>,
    ) -> Result<Self, Error> {
        if let Some(names) = header {
            output.put((names.join("\t") + "\n").as_bytes())?;
        }
        Ok(Self {
            output,
            line: String::new(),
        })
    }
}

impl FieldWriter for Unquoted<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], place: Place) -> Result<(), Error> {
        let unfit = |what: &str| Error::Unfit {
            file: self.output.name.to_owned(),
            reason: format!(
                "{place} of the input has {what}, which a .tsv file cannot hold; write .csv or \
                 .parquet"
            ),
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
        self.output.put(self.line.as_bytes())
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

/// Writes the only field of each row on a line.
pub(super) struct Lines<'a, 'b> {
    output: &'a mut Output<'b>,
}

impl<'a, 'b> Lines<'a, 'b> {
    pub(super) fn new(output: &'a mut Output<'b>) -> Self {
        Self { output }
    }
}

impl FieldWriter for Lines<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: &[bool], _: Place) -> Result<(), Error> {
        let [value] = fields else {
            panic!("lines hold one column")
        };
        if value.contains(['\n', '\r']) {
            return Err(Error::Unfit {
                file: self.output.name.to_owned(),
                reason: "a value holds a line break; write .csv or .parquet".to_owned(),
            });
        }
        self.output.put(value.as_bytes())?;
        self.output.put(b"\n")
    }

    fn finish(self: Box<Self>) -> Result<(), Error> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};

    use proptest::prelude::*;

    use super::*;
    use crate::ErrorKind;

    fn csv(names: &[String], quote_empty: bool, rows: &[Vec<Option<String>>]) -> String {
        let mut bytes = Vec::new();
        let mut output = Output {
            name: "t.csv",
            writer: &mut bytes,
        };
        let mut writer = Quoted::new(Some(names), quote_empty, &mut output).unwrap();
        for row in rows {
            let fields: Vec<_> = row
                .iter()
                .map(|field| field.as_deref().unwrap_or_default().into())
                .collect();
            let nulls: Vec<_> = row.iter().map(Option::is_none).collect();
            writer.row(&fields, &nulls, Place::Row(1)).unwrap();
        }
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
        let written = Quoted::new(Some(&["id".to_owned()]), false, &mut output);
        assert_eq!(written.err().unwrap().kind(), ErrorKind::BrokenPipe);
    }
}
