use std::{
    env,
    fs::File,
    io,
    path::{Path, PathBuf},
};

use super::Error;
use crate::permissions;

/// A folder for temporary files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder(PathBuf);

impl Folder {
    /// This folder. Nothing is asked of it before something is spilled.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Returns the system's folder for temporary files: `TMPDIR`, or `/tmp`. Some systems hold it
    /// in memory.
    pub fn temporary() -> Self {
        Self(env::temp_dir())
    }

    /// Returns where it is, as the caller named it.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Returns how many bytes this user may still write to its file system, quotas apart;
    /// [`u64::MAX`] if that is unknown.
    ///
    /// # Errors
    /// [`Error::Room`] if it cannot be asked, as a folder that does not exist.
    pub fn free_bytes(&self) -> Result<u64, Error> {
        free_bytes(self.path()).map_err(|source| Error::Room {
            folder: self.0.clone(),
            source,
        })
    }

    /// Checks that there is room for this many bytes, and that files can be created, before any
    /// data move.
    ///
    /// # Errors
    /// [`Error::NoRoom`] if there is less; [`Error::Create`] or [`Error::Room`] if the folder is
    /// none, or cannot be written.
    pub fn check_room(&self, needed_bytes: u64) -> Result<(), Error> {
        self.create()?;
        let free_bytes = self.free_bytes()?;
        if free_bytes < needed_bytes {
            return Err(Error::NoRoom {
                folder: self.0.clone(),
                needed_bytes,
                free_bytes,
            });
        }
        Ok(())
    }

    /// Returns a new file without a name, which its owner alone may open.
    pub(super) fn create(&self) -> Result<File, Error> {
        let created = tempfile::tempfile_in(self.path()).map_err(|error| Error::Create {
            folder: self.0.clone(),
            source: plain(error),
        });
        created.inspect(|file| {
            // Anybody without a way to a file cannot open it, whatever its rights are; so it does
            // not matter if the file system knows none.
            permissions::restrict(file);
        })
    }
}

#[cfg(unix)]
fn free_bytes(folder: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(folder)?;
    Ok(match found.f_blocks {
        // As some network file systems answer.
        0 => u64::MAX,
        _ => found.f_bavail.saturating_mul(found.f_frsize),
    })
}

#[cfg(windows)]
fn free_bytes(folder: &Path) -> io::Result<u64> {
    fs4::available_space(folder)
}

/// Returns an error of `tempfile` names the folder, as the caller does.
fn plain(error: io::Error) -> io::Error {
    match error.raw_os_error() {
        Some(code) => io::Error::from_raw_os_error(code),
        None => io::Error::from(error.kind()),
    }
}
