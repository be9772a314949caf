use std::{fmt, io, path::PathBuf};

/// The reason that data could not be written to disk, or read back from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No temporary file can be created in the folder.
    #[error(
        "cannot make a temporary file in {}: {source} (name a folder on a disk that you may write to)", psijoin_printable::path(.folder)
    )]
    Create {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The folder's file system has no more room, or this user may take no more of it.
    #[error(
        "no more room in {} for what does not fit into memory: {source} (free some, name another \
         folder, or allow more memory)", psijoin_printable::path(.folder)
    )]
    Full {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The folder's file system has less room than will be needed.
    #[error(
        "up to {} will not fit into memory, and {} has room for {} (free some, name another folder, \
         or allow more memory)",
        Size(*.needed_bytes), psijoin_printable::path(.folder), Size(*.free_bytes)
    )]
    NoRoom {
        /// The folder.
        folder: PathBuf,
        /// The bytes that are needed.
        needed_bytes: u64,
        /// The bytes that are free.
        free_bytes: u64,
    },

    /// The file system cannot be asked how much room there is.
    #[error("cannot tell how much room there is in {}: {source} (name another folder for temporary files)", psijoin_printable::path(.folder))]
    Room {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The temporary file could not be written.
    #[error("cannot write to a temporary file in {}: {source} (name another folder for temporary files)", psijoin_printable::path(.folder))]
    Write {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The temporary file could not be read.
    #[error("cannot read a temporary file in {}: {source} (name another folder for temporary files)", psijoin_printable::path(.folder))]
    Read {
        /// The folder.
        folder: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// The bytes on disk are not those that were written.
    #[error(
        "what was written to a temporary file in {} has changed, or was not written completely: do not trust that disk, and \
         name another folder for temporary files", psijoin_printable::path(.folder)
    )]
    Damaged {
        /// The folder.
        folder: PathBuf,
    },
}

/// Bytes, for people.
struct Size(u64);

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, bytes) = match self.0 {
            0..1_000_000 => ("kB", 1e3),
            1_000_000..1_000_000_000 => ("MB", 1e6),
            _ => ("GB", 1e9),
        };
        write!(f, "{:.1} {unit}", self.0 as f64 / bytes)
    }
}
