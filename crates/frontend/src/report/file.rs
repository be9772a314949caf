//! The destination of a report.

use std::path::{Path, PathBuf};

use psijoin_files::{AtomicFile, Existing};
use psijoin_printable::Json;
use serde::Serialize;

use crate::Failure;

/// The destination of a report, checked before the run.
pub struct ReportFile {
    /// As the user named it.
    path: PathBuf,
    file: AtomicFile,
}

impl ReportFile {
    /// Makes sure that a file can be written there. A report of an earlier run will be replaced.
    ///
    /// # Errors
    /// [`Failure::NoReport`] if not.
    pub(crate) fn prepare(path: &Path) -> Result<Self, Failure> {
        let file = AtomicFile::prepare(path, Existing::Replace);
        Ok(Self {
            file: file.map_err(|source| Failure::NoReport {
                path: path.to_owned(),
                source,
            })?,
            path: path.to_owned(),
        })
    }

    /// Writes the report, all of it or nothing.
    ///
    /// # Errors
    /// [`Failure::Report`].
    pub(crate) fn write(&self, report: &impl Serialize) -> Result<(), Failure> {
        let staged = self.file.stage(|file| {
            let text = serde_json::to_string_pretty(report)?;
            writeln!(file, "{}", Json(&text))
        });
        staged
            .and_then(|staged| staged.commit())
            .map_err(|source| Failure::Report {
                path: self.path.clone(),
                source,
            })
    }
}
