//! A file that appears when it is complete, and not at all otherwise.

use std::{
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use tempfile::{Builder, NamedTempFile};

/// Where a file will be.
#[derive(Debug)]
pub(crate) struct WholeFile(PathBuf);

/// A file that is complete, and on the disk, but for its name.
#[derive(Debug)]
pub(crate) struct Staged {
    file: NamedTempFile,
    path: PathBuf,
}

impl WholeFile {
    /// Makes sure that a file can be written there.
    pub(crate) fn prepare(path: &Path) -> io::Result<Self> {
        let file = Self(path.to_owned());
        file.temporary()?;
        Ok(file)
    }

    /// Where it will be.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Writes it under another name.
    pub(crate) fn stage(
        &self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<Staged> {
        let mut buffered = BufWriter::new(self.temporary()?);
        write(&mut buffered)?;
        let file = buffered.into_inner().map_err(|error| error.into_error())?;
        file.as_file().sync_all()?;
        Ok(Staged {
            file,
            path: self.0.clone(),
        })
    }

    fn temporary(&self) -> io::Result<NamedTempFile> {
        if self.0.is_dir() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let folder = match self.0.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        };
        Builder::new().prefix(".psijoin-").tempfile_in(folder)
    }
}

impl Staged {
    /// Gives it its name, instead of what has that name now.
    pub(crate) fn commit(self) -> io::Result<()> {
        self.file.persist(&self.path)?;
        Ok(())
    }
}
