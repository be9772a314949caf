//! Writers of rows that are given as texts, field by field.

use std::borrow::Cow;

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
            .map_err(|error| cannot_write(self.name, error.into()))
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
