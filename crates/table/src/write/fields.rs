//! Writers of rows that are given as texts, field by field.

use std::{borrow::Cow, io};

use super::{Output, cannot_write};
use crate::{Error, error::Place};

/// Writes rows of texts.
pub(super) trait FieldWriter {
    /// Writes a row, which has a field for each column. `place` is where the source has it.
    fn row(&mut self, fields: &[Cow<'_, str>], place: Place) -> Result<(), Error>;

    /// Writes what is still held back.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

/// Writes CSV, with quotes where they are needed.
pub(super) struct Quoted<'a, 'b> {
    name: &'a str,
    writer: csv::Writer<&'a mut Output<'b>>,
}

impl<'a, 'b> Quoted<'a, 'b> {
    pub(super) fn new(
        header: Option<&[String]>,
        output: &'a mut Output<'b>,
    ) -> Result<Self, Error> {
        let name = output.name;
        let writer = csv::Writer::from_writer(output);
        let mut quoted = Self { name, writer };
        if let Some(names) = header {
            quoted.record(names)?;
        }
        Ok(quoted)
    }

    fn record<T: AsRef<[u8]>>(&mut self, fields: impl IntoIterator<Item = T>) -> Result<(), Error> {
        self.writer
            .write_record(fields)
            .map_err(|error| cannot_write(self.name, io_error(error)))
    }
}

/// The operating system's error as it is, so that its kind can be told.
fn io_error(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        _ => io::Error::other("the CSV writer cannot take these rows"),
    }
}

impl FieldWriter for Quoted<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>], _: Place) -> Result<(), Error> {
        self.record(fields.iter().map(|field| field.as_bytes()))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.writer
            .flush()
            .map_err(|error| cannot_write(self.name, error))
    }
}

/// Whether a text can stand as a field in TSV, which has no quotes.
pub(super) fn fits_unquoted(text: &str) -> bool {
    !text.contains(['\t', '\n', '\r'])
}

/// Writes TSV.
///
/// A row of one empty field would be a blank line, which is no row; but it has no key, and is not
/// written.
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
    fn row(&mut self, fields: &[Cow<'_, str>], place: Place) -> Result<(), Error> {
        if !fields.iter().all(|field| fits_unquoted(field)) {
            return Err(Error::Unfit {
                file: self.output.name.to_owned(),
                reason: format!(
                    "{place} of the input has a tab or a line break in a field, which a .tsv file \
                     cannot hold; write .csv or .parquet"
                ),
            });
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
    fn row(&mut self, fields: &[Cow<'_, str>], _: Place) -> Result<(), Error> {
        let [value] = fields else {
            panic!("lines hold one column")
        };
        if value.contains(['\n', '\r']) {
            return Err(Error::Unfit {
                file: self.output.name.to_owned(),
                reason: "a matching value holds a line break; write .csv or .parquet".to_owned(),
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
    use std::io::Write;

    use super::*;
    use crate::ErrorKind;

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
    fn a_reader_that_went_away_is_told_in_the_midst_of_rows() {
        let mut output = Output {
            name: "standard output",
            writer: &mut Closed,
        };
        let mut writer = Quoted::new(Some(&["id".to_owned()]), &mut output).unwrap();
        // More than the CSV writer holds back.
        let row = [Cow::Owned("x".repeat(1 << 20))];
        assert_eq!(
            writer.row(&row, Place::Line(2)).unwrap_err().kind(),
            ErrorKind::BrokenPipe
        );
    }
}
