//! The bytes of one file of a table, and whether they are still those that were there at first.

use std::{
    fs::{self, File, Metadata},
    io,
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
    time::SystemTime,
};

use crate::{
    Compression, Encoding, Error, SourceError,
    read::{frame::Frame, parquet::int96, row_numbers::RowNumbers},
    source::section::Section,
};

/// A file of a table, or what came as a stream, or from memory.
#[derive(Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// The path of the file, whatever path the user's name is; `None` for a stream, and in memory.
    pub(crate) path: Option<PathBuf>,
    /// The compression of the text that `content` is a copy of.
    pub(crate) compression: Option<Compression>,
    /// The encoding of the text; if not UTF-8, `content` is a copy in UTF-8.
    pub(crate) encoding: Encoding,
    pub(crate) content: Content,
    /// The values in its folders' names, for each of the table's partition columns.
    pub(crate) partition: Vec<Option<String>>,
    /// The findings about its timestamps of 96 bits, once there are any.
    pub(crate) int96: OnceLock<int96::Found>,
}

/// The place of a part's bytes.
#[derive(Debug)]
pub(crate) enum Content {
    /// In the file itself, as it was when it was first opened. A table may have more files than a
    /// process can open, so it may be closed until it is read.
    File {
        held: Option<Arc<File>>,
        version: Version,
    },
    /// In a temporary file without a name, from `start` on, which parts may share.
    Copy {
        file: Arc<File>,
        start: u64,
        bytes: u64,
    },
    Memory(Arc<[u8]>),
    /// In no bytes: the rows are there already.
    Frame(Frame),
    /// In no bytes: they are counted.
    RowNumbers(RowNumbers),
}

/// The facts that show whether a file was changed, or is another one by now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Version {
    pub(crate) bytes: u64,
    modified: Option<SystemTime>,
    identity: Option<(u64, u64)>,
}

impl From<&Metadata> for Version {
    fn from(metadata: &Metadata) -> Self {
        Self {
            bytes: metadata.len(),
            modified: metadata.modified().ok(),
            identity: identity(metadata),
        }
    }
}

/// Returns the numbers of the device and of the file on it, where the operating system has such.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> Option<(u64, u64)> {
    None
}

impl Part {
    /// Returns its name, as the user or the folder has it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns its encoding, if it is a text.
    pub(crate) fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// Returns its length, decompressed, and in UTF-8 if it is a text.
    pub(crate) fn bytes(&self) -> u64 {
        match &self.content {
            Content::File { version, .. } => version.bytes,
            Content::Copy { bytes, .. } => *bytes,
            Content::Memory(bytes) => bytes.len() as u64,
            Content::Frame(frame) => frame.bytes(),
            Content::RowNumbers(numbers) => numbers.bytes(),
        }
    }

    /// Returns the values in its folders' names, for each of the table's partition columns.
    pub(crate) fn partition(&self) -> &[Option<String>] {
        &self.partition
    }

    /// Returns its bytes from the beginning.
    ///
    /// # Errors
    /// If it cannot be opened, or is not what it was.
    ///
    /// # Panics
    /// If it is a frame or counted, and has no bytes.
    pub(crate) fn open(&self) -> Result<Section, Error> {
        match &self.content {
            Content::Memory(bytes) => Ok(Section::of_memory(bytes.clone())),
            Content::Frame(_) | Content::RowNumbers(_) => panic!("rows without bytes"),
            Content::Copy { file, start, bytes } => Ok(Section::new(file.clone(), *start, *bytes)),
            Content::File { held, version } => {
                let file = match held {
                    Some(file) => file.clone(),
                    None => Arc::new(self.reopened().map_err(|error| self.cannot_read(error))?),
                };
                let now = file.metadata().map_err(|error| self.cannot_read(error))?;
                match Version::from(&now) == *version {
                    true => Ok(Section::new(file, 0, version.bytes)),
                    false => Err(self.changed()),
                }
            }
        }
    }

    fn reopened(&self) -> io::Result<File> {
        File::open(self.path.as_ref().ok_or(io::ErrorKind::NotFound)?)
    }

    /// # Errors
    /// If it is not what it was when it was first opened.
    pub(crate) fn check_unchanged(&self) -> Result<(), Error> {
        let Content::File { held, version } = &self.content else {
            return Ok(());
        };
        let now = match (held, &self.path) {
            (Some(file), _) => file.metadata(),
            (None, Some(path)) => fs::metadata(path),
            (None, None) => return Ok(()),
        };
        match now {
            Ok(now) if Version::from(&now) == *version => Ok(()),
            _ => Err(self.changed()),
        }
    }

    /// Closes the file until it is read.
    pub(crate) fn close(&mut self) {
        if let Content::File { held, .. } = &mut self.content {
            *held = None;
        }
    }

    /// Returns whether this is the file at this path, which leads through no links.
    pub(crate) fn is_at(&self, path: &Path) -> bool {
        self.path.as_deref() == Some(path)
    }

    pub(crate) fn changed(&self) -> Error {
        Error::Source(SourceError::Changed {
            file: self.name.clone(),
        })
    }

    pub(crate) fn cannot_read(&self, source: io::Error) -> Error {
        Error::Source(SourceError::Read {
            file: self.name.clone(),
            cause: source,
        })
    }
}
