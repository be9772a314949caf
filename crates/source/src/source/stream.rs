//! Arrow data that come as a stream, which can be read once. A table is read twice.

use std::{fs::File, io, path::Path, sync::Arc};

use arrow_array::{RecordBatch, RecordBatchReader};
use arrow_ipc::writer::FileWriter;
use arrow_schema::{ArrowError, Schema};
use arrow_select::concat::concat_batches;
use psijoin_files::spill::Folder;

use super::Source;
use crate::{
    Error, Progress, ReadError, SourceError,
    error::nameless,
    read::arrow::{Full, Group, GroupRows, owned},
    source::table_file::Content,
};

/// When rows are written: many small batches would take long to read.
const FULL: Full = Full {
    rows: 1 << 16,
    bytes: 1 << 24,
};

impl Source {
    /// Returns a table [in memory](Self::of_batches) of the rows of a stream. `name` is its name in
    /// errors.
    ///
    /// # Errors
    /// If the stream fails, and as there.
    pub fn collect(
        name: &str,
        stream: impl RecordBatchReader,
        progress: &Progress,
    ) -> Result<Self, Error> {
        let schema = stream.schema();
        let batches = stream.map(|rows| {
            progress.check()?;
            rows.map_err(|_| broken(name))
        });
        let batches = batches.collect::<Result<_, _>>()?;
        Self::of_batches(name, schema, batches)
    }

    /// Returns a table of the rows of a stream, such as those of a query. Few are in memory at
    /// once: they are copied to a temporary file without a name in this folder. `name` is the
    /// table's name in errors.
    ///
    /// It is read as an [Arrow file](crate#files) would be that has the values of dictionaries in
    /// their place.
    ///
    /// # Errors
    /// If the stream fails, if an Arrow file cannot hold its rows, or if the temporary file cannot
    /// be written.
    pub fn copy(
        name: &str,
        stream: impl RecordBatchReader,
        folder: &Folder,
        progress: &Progress,
    ) -> Result<Self, Error> {
        progress.start(0);
        let file = Copy(name).write(stream, folder.path(), progress)?;
        let metadata = file
            .metadata()
            .map_err(|error| Copy(name).cannot_keep(error))?;
        let copy = Content::Copy {
            file: Arc::new(file),
            start: 0,
            bytes: metadata.len(),
        };
        Ok(Self::typed(name, copy))
    }
}

/// Copies the rows of the table of this name.
struct Copy<'a>(&'a str);

impl Copy<'_> {
    fn write(
        &self,
        stream: impl RecordBatchReader,
        folder: &Path,
        progress: &Progress,
    ) -> Result<File, Error> {
        let file = tempfile::tempfile_in(folder).map_err(|error| self.cannot_keep(error))?;
        let schema = stream.schema();
        let none = self.fitting(owned(&RecordBatch::new_empty(schema.clone())))?;
        let fields = none.schema_ref().fields().clone();
        let schema = Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()));
        let mut writer = self.fitting(FileWriter::try_new_buffered(file, &schema))?;
        let mut write = |rows: GroupRows| {
            let rows = self.fitting(concat_batches(&schema, &rows.batches))?;
            self.fitting(writer.write(&rows))?;
            progress.advance(rows.get_array_memory_size() as u64)
        };
        let mut group = Group::default();
        for rows in stream {
            let rows = rows.map_err(|_| broken(self.0))?;
            let rows = self.fitting(owned(&rows))?;
            group
                .add(&rows, &FULL)
                .into_iter()
                .try_for_each(&mut write)?;
        }
        group.take().map_or(Ok(()), write)?;
        self.fitting(writer.finish())?;
        let file = self.fitting(writer.into_inner())?;
        file.into_inner()
            .map_err(|error| self.cannot_keep(error.into_error()))
    }

    /// Returns the result, and an error without the library's own words, which may hold values of
    /// the table.
    fn fitting<T>(&self, result: Result<T, ArrowError>) -> Result<T, Error> {
        result.map_err(|error| match error {
            ArrowError::IoError(_, error) => self.cannot_keep(error),
            _ => unfit(self.0, "an Arrow file cannot hold its rows"),
        })
    }

    fn cannot_keep(&self, error: io::Error) -> Error {
        Error::Source(SourceError::Spool {
            file: self.0.to_owned(),
            cause: nameless(error),
        })
    }
}

/// Returns the error about a stream. The text of its source may hold values of the table, so it is
/// not passed on.
fn broken(name: &str) -> Error {
    unfit(name, "what gives its rows has failed")
}

fn unfit(name: &str, reason: &str) -> Error {
    Error::Read(ReadError::Frame {
        table: name.to_owned(),
        reason: reason.to_owned(),
    })
}
