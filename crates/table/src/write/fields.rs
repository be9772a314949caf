//! Writers of rows that are given as texts, field by field.

use std::{borrow::Cow, io};

use super::{Output, cannot_write};
use crate::Error;

/// Writes rows of texts.
pub(super) trait FieldWriter {
    /// Writes a row, which has a field for each column.
    fn row(&mut self, fields: &[Cow<'_, str>]) -> Result<(), Error>;

    /// Writes what is still held back.
    fn finish(self: Box<Self>) -> Result<(), Error>;
}

/// Writes CSV or TSV, with quotes where they are needed.
pub(super) struct Separated<'a, 'b> {
    name: &'a str,
    writer: csv::Writer<&'a mut Output<'b>>,
}

impl<'a, 'b> Separated<'a, 'b> {
    pub(super) fn new(
        delimiter: u8,
        columns: &[String],
        output: &'a mut Output<'b>,
    ) -> Result<Self, Error> {
        let name = output.name;
        let writer = csv::WriterBuilder::new()
            .delimiter(delimiter)
            .from_writer(output);
        let mut separated = Self { name, writer };
        separated.record(columns)?;
        Ok(separated)
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

impl FieldWriter for Separated<'_, '_> {
    fn row(&mut self, fields: &[Cow<'_, str>]) -> Result<(), Error> {
        self.record(fields.iter().map(|field| field.as_bytes()))
    }

    fn finish(mut self: Box<Self>) -> Result<(), Error> {
        self.writer
            .flush()
            .map_err(|error| cannot_write(self.name, error))
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
    fn row(&mut self, fields: &[Cow<'_, str>]) -> Result<(), Error> {
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
        let mut writer = Separated::new(b',', &["id".to_owned()], &mut output).unwrap();
        // More than the CSV writer holds back.
        let row = [Cow::Owned("x".repeat(1 << 20))];
        assert_eq!(writer.row(&row).unwrap_err().kind(), ErrorKind::BrokenPipe);
    }
}
