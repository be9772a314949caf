//! The file that a store spills to.

use std::{
    fs::File,
    io,
    sync::{
        OnceLock,
        atomic::{AtomicU64, Ordering},
    },
};

use super::{Error, Folder};
use crate::positioned::{read_exact_at, write_all_at};

/// A temporary file that is created when something is written to it for the first time.
pub(super) struct SpillFile {
    folder: Folder,
    file: OnceLock<File>,
    bytes: AtomicU64,
}

impl SpillFile {
    pub(super) fn new(folder: &Folder) -> Self {
        Self {
            folder: folder.clone(),
            file: OnceLock::new(),
            bytes: AtomicU64::new(0),
        }
    }

    /// Returns the number of bytes in it.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Returns a place at its end for this many bytes.
    pub(super) fn place(&self, bytes: usize) -> u64 {
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed)
    }

    pub(super) fn write(&self, bytes: &[u8], place: u64) -> Result<(), Error> {
        let written = write_all_at(self.created()?, bytes, place);
        written.map_err(|source| {
            use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
            let folder = self.folder.path().to_owned();
            match source.kind() {
                StorageFull | QuotaExceeded | FileTooLarge => Error::Full { folder, source },
                _ => Error::Write { folder, source },
            }
        })
    }

    pub(super) fn read(&self, bytes: &mut [u8], place: u64) -> Result<(), Error> {
        let read = read_exact_at(self.created()?, bytes, place);
        read.map_err(|source| match source.kind() {
            io::ErrorKind::UnexpectedEof => self.damaged(),
            _ => Error::Read {
                folder: self.folder.path().to_owned(),
                source,
            },
        })
    }

    pub(super) fn damaged(&self) -> Error {
        Error::Damaged {
            folder: self.folder.path().to_owned(),
        }
    }

    fn created(&self) -> Result<&File, Error> {
        if let Some(file) = self.file.get() {
            return Ok(file);
        }
        // Of two threads that create one at the same time, one drops its own.
        let file = self.folder.create()?;
        Ok(self.file.get_or_init(|| file))
    }
}

#[cfg(test)]
impl SpillFile {
    /// Spills to this file instead.
    pub(super) fn over(file: File) -> Self {
        Self {
            folder: Folder::new("/its/folder"),
            file: file.into(),
            bytes: AtomicU64::new(0),
        }
    }

    /// Returns the file, once something was spilled.
    pub(super) fn file(&self) -> Option<&File> {
        self.file.get()
    }
}
