//! Tables of the caller's: rows of Arrow data.

use std::fmt;

use arrow_array::RecordBatchReader;
use psijoin::spill::Folder;
use psijoin_source::{Error, Progress, Source};
use psijoin_table::Destination;

/// The destination of rows that the caller wants back.
pub(crate) type Back = fn(&Source) -> Result<Destination, psijoin_table::Error>;

/// A table of the caller's: rows of Arrow data, and what comes back of them.
pub struct ArrowTable {
    name: String,
    rows: Box<dyn RecordBatchReader + Send>,
    is_stream: bool,
    by_number: bool,
}

impl ArrowTable {
    /// Returns these rows, which are in memory, and stay there. Errors call the table by its name.
    pub fn in_memory(name: &str, rows: impl RecordBatchReader + Send + 'static) -> Self {
        Self {
            name: name.to_owned(),
            rows: Box::new(rows),
            is_stream: false,
            by_number: false,
        }
    }

    /// Returns rows that come one after the other, such as those of a query: a join copies them to
    /// a temporary file, and holds few of them in memory.
    pub fn stream(name: &str, rows: impl RecordBatchReader + Send + 'static) -> Self {
        Self {
            is_stream: true,
            ..Self::in_memory(name, rows)
        }
    }

    /// Lets the numbers of rows come back instead of the rows, from 0 on, in a column before those
    /// that are added. It is for a caller who has the rows at hand. Columns that the join does not
    /// read may then have whatever type.
    pub fn by_number(self) -> Self {
        Self {
            by_number: true,
            ..self
        }
    }

    /// Returns its name in errors.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns where rows go, given the source that the table became.
    pub(crate) fn back(&self) -> Back {
        match self.by_number {
            true => |_| Ok(Destination::row_numbers()),
            false => Destination::in_memory,
        }
    }

    /// Reads the rows.
    pub(crate) fn open(self, folder: &Folder, progress: &Progress) -> Result<Source, Error> {
        match self.is_stream {
            true => Source::copy(&self.name, self.rows, folder, progress),
            false => Source::collect(&self.name, self.rows, progress),
        }
    }
}

impl fmt::Debug for ArrowTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrowTable")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
