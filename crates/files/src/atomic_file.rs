//! A file that appears when it is complete, and not at all otherwise.
//!
//! Until its commit it is *staged*: it lies beside its place under a name of its own, readable by
//! its owner alone, and what an earlier run left in that place stays. A staged file is locked as
//! long as its process lives. One whose process was killed is removed by the next
//! [`AtomicFile::prepare`] in that folder.

mod rights;
mod staging;

use std::{
    fs::{self, Metadata, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

pub(crate) use staging::Temporary;
pub use staging::{remove_abandoned, remove_staged};

use crate::folder;

/// The treatment of a file that has the name already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existing {
    /// It is replaced, at the commit.
    Replace,
    /// It is kept: nothing is written in its place.
    Keep,
}

/// The place of a future file.
#[derive(Debug)]
pub struct AtomicFile {
    /// As the user named it.
    path: PathBuf,
    place: Place,
}

/// A file's place, with no link left to follow.
#[derive(Debug, Clone)]
struct Place {
    folder: PathBuf,
    path: PathBuf,
    existing: Existing,
    /// A file as it is created there: a new one gets its rights, and none gets more.
    fresh: Box<Metadata>,
}

/// A file that is complete, and on the disk, except that it does not have its name yet. When
/// dropped, it is gone.
#[derive(Debug)]
#[must_use = "a staged file goes away unless it is committed"]
pub struct Staged {
    file: Temporary,
    place: Place,
}

impl AtomicFile {
    /// Makes sure that a file can be written there, so that a run does not fail at its end, and
    /// removes what killed runs left in its folder.
    ///
    /// A symbolic link is followed: what it leads to is replaced, and the link stays.
    ///
    /// # Errors
    /// If no file can be created there, what is there cannot be written or is no regular file (of
    /// the kind [`IsADirectory`](io::ErrorKind::IsADirectory) if it is a directory), or it is a
    /// link that leads nowhere; with [`Existing::Keep`], of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), if anything is there.
    pub fn prepare(path: &Path, existing: Existing) -> io::Result<Self> {
        let target = target(path, existing)?;
        let folder = target.parent().ok_or(io::ErrorKind::IsADirectory)?;
        // Only trying tells whether a file can be created, and which rights it gets.
        let probe = Temporary::probe(folder)?;
        let fresh = Box::new(probe.file().metadata()?);
        remove_abandoned(folder, &fresh);
        Ok(Self {
            path: path.to_owned(),
            place: Place {
                folder: folder.to_owned(),
                path: target,
                existing,
                fresh,
            },
        })
    }

    /// Returns where it will be, as [`prepare`](Self::prepare) was told.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes the file to the disk, without its name yet. All possible failures, such as a full
    /// disk, have happened when this returns. Then nothing is left.
    ///
    /// # Errors
    /// Those of `write`, and those of the operating system.
    pub fn stage(
        &self,
        write: impl FnOnce(&mut (dyn Write + Send)) -> io::Result<()>,
    ) -> io::Result<Staged> {
        let mut unfinished = self.begin()?;
        write(&mut unfinished)?;
        unfinished.finish()
    }

    /// Begins the file, for a writer with errors of its own.
    ///
    /// # Errors
    /// Those of the operating system.
    pub fn begin(&self) -> io::Result<Unfinished> {
        Ok(Unfinished {
            file: BufWriter::new(Temporary::staged(&self.place.folder)?),
            place: self.place.clone(),
        })
    }
}

/// A staged file that is being written. When dropped, it is gone.
#[derive(Debug)]
pub struct Unfinished {
    file: BufWriter<Temporary>,
    place: Place,
}

impl Unfinished {
    /// Ends the file, on the disk.
    ///
    /// # Errors
    /// Those of the operating system. Nothing is left then.
    pub fn finish(self) -> io::Result<Staged> {
        let file = self.file.into_inner().map_err(|error| error.into_error())?;
        file.file().sync_all()?;
        Ok(Staged {
            file,
            place: self.place,
        })
    }
}

impl Write for Unfinished {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Staged {
    /// Gives the file its name, and the rights that both the file that it replaces and a new one
    /// have, or otherwise those of a new one. A power cut after this returns does not undo it.
    ///
    /// # Errors
    /// If the operating system refuses; with [`Existing::Keep`], of the kind
    /// [`AlreadyExists`](io::ErrorKind::AlreadyExists), if the name is taken by now. The file is
    /// gone then, unless it has its name and only a power cut could undo that.
    pub fn commit(self) -> io::Result<()> {
        let Self { file, place } = self;
        let replaced = match place.existing {
            Existing::Keep => None,
            Existing::Replace => match fs::metadata(&place.path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                replaced => Some(replaced?),
            },
        };
        let model = replaced.as_ref().unwrap_or(&place.fresh);
        rights::give(file.file(), model, &place.fresh)?;
        file.file().sync_all()?;
        file.rename(&place.path, place.existing)
            .map_err(|error| match error.kind() {
                io::ErrorKind::AlreadyExists => taken(),
                _ => error,
            })?;
        folder::sync(&place.folder)
    }
}

/// Returns the file that `path` leads to, or the place of a new one, without links.
fn target(path: &Path, existing: Existing) -> io::Result<PathBuf> {
    let no_file = |reason| Err(io::Error::new(io::ErrorKind::InvalidInput, reason));
    match fs::metadata(path) {
        Ok(found) if found.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ if existing == Existing::Keep && fs::symlink_metadata(path).is_ok() => Err(taken()),
        Ok(found) if !found.is_file() => no_file("it is no regular file"),
        Ok(_) => {
            // A file that is read-only is not to be replaced, though its folder might allow it.
            OpenOptions::new().write(true).open(path)?;
            fs::canonicalize(path)
        }
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Err(_) if fs::symlink_metadata(path).is_ok() => {
            no_file("it is a symbolic link that leads nowhere")
        }
        Err(_) => {
            let name = path.file_name().ok_or(io::ErrorKind::IsADirectory)?;
            Ok(fs::canonicalize(folder::parent(path))?.join(name))
        }
    }
}

fn taken() -> io::Error {
    io::Error::new(
        io::ErrorKind::AlreadyExists,
        "it exists already, and is to be kept",
    )
}
