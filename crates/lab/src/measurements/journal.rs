//! The file of measured runs.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, Read, Write},
    path::{Path, PathBuf},
};

use super::Measurement;

/// A file of measured runs, to which lines are added.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    measurements: Vec<Measurement>,
    cut_off: bool,
}

/// The reason that there are no results.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("cannot use the results in {path}: {source}")]
    File {
        /// Its path.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// Somebody else writes to the file.
    #[error(
        "another `psijoin-lab run` writes to {path}: wait until it ends, as two at once disturb each other"
    )]
    Busy {
        /// Its path.
        path: String,
    },
    /// A line before the last one is no measured run.
    #[error(
        "line {line} of {path} is not a measured run ({reason}): remove the line, or take another file"
    )]
    Line {
        /// The file.
        path: String,
        /// From 1 on.
        line: usize,
        /// The reason.
        reason: String,
    },
}

impl Journal {
    /// Opens a file, or makes an empty one. A last line that was cut off is removed. The file is
    /// locked meanwhile.
    ///
    /// # Errors
    /// If the file cannot be read or written, somebody else writes to it, or another line is no
    /// measured run.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut options = OpenOptions::new();
        let file = options.create(true).read(true).append(true).open(path);
        let mut file = file.map_err(failed(path))?;
        // If the file system has no locks, it goes without.
        if let Err(TryLockError::WouldBlock) = file.try_lock() {
            let path = psijoin_printable::path(path);
            return Err(JournalError::Busy { path });
        }
        let mut text = String::new();
        file.read_to_string(&mut text).map_err(failed(path))?;
        let (measurements, whole_bytes) = parse(&text, path)?;
        let cut_off = whole_bytes < text.len();
        if cut_off {
            file.set_len(whole_bytes as u64).map_err(failed(path))?;
        } else if !text.is_empty() && !text.ends_with('\n') {
            file.write_all(b"\n").map_err(failed(path))?;
        }
        Ok(Self {
            path: path.to_owned(),
            file,
            measurements,
            cut_off,
        })
    }

    /// Returns the runs in a file, which stays as it is.
    ///
    /// # Errors
    /// If the file cannot be read, or a line is no measured run; the last one may be cut off.
    pub fn read(path: &Path) -> Result<Vec<Measurement>, JournalError> {
        let text = std::fs::read_to_string(path).map_err(failed(path))?;
        Ok(parse(&text, path)?.0)
    }

    /// Returns all runs, from the first to the last.
    pub fn measurements(&self) -> &[Measurement] {
        &self.measurements
    }

    /// Returns a warning if the last line was cut off, as when a run was interrupted.
    pub fn warning(&self) -> Option<String> {
        let path = psijoin_printable::path(&self.path);
        self.cut_off.then(|| {
            format!("the last line of {path} was cut off, so this run has to be made again")
        })
    }

    /// Adds a run.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn append(&mut self, measurement: Measurement) -> Result<(), JournalError> {
        let mut line = serde_json::to_string(&measurement).expect("numbers and names are JSON");
        line.push('\n');
        let written = self.file.write_all(line.as_bytes());
        written
            .and_then(|()| self.file.flush())
            .map_err(failed(&self.path))?;
        self.measurements.push(measurement);
        Ok(())
    }
}

fn failed(path: &Path) -> impl Fn(io::Error) -> JournalError {
    move |source| JournalError::File {
        path: psijoin_printable::path(path),
        source,
    }
}

/// Returns the runs, and the bytes of the lines that are whole.
fn parse(text: &str, path: &Path) -> Result<(Vec<Measurement>, usize), JournalError> {
    let mut measurements = Vec::new();
    let mut read_bytes = 0;
    for (number, line) in (1..).zip(text.split_inclusive('\n')) {
        match serde_json::from_str(line) {
            Ok(measurement) => measurements.push(measurement),
            Err(_) if line.trim().is_empty() => (),
            Err(_) if !line.ends_with('\n') => break,
            Err(error) => {
                return Err(JournalError::Line {
                    path: psijoin_printable::path(path),
                    line: number,
                    reason: without_position(&error),
                });
            }
        }
        read_bytes += line.len();
    }
    Ok((measurements, read_bytes))
}

/// Returns the reason for a bad line. Its number is known better here.
fn without_position(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let end = text.find(" at line ").unwrap_or(text.len());
    text[..end].to_owned()
}
