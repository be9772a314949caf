use std::{io, path::PathBuf};

use psijoin_printable::Word;

/// The reason that a relay does not run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// It cannot listen at an address.
    #[error("cannot listen at {}: {source}", Word(.address))]
    Listen {
        /// The address.
        address: String,
        /// The operating system's error.
        source: io::Error,
    },

    /// The file of access keys cannot be read.
    #[error(
        "cannot read the access keys in {}: {source}",
        psijoin_printable::path(path)
    )]
    AccessFile {
        /// The file.
        path: PathBuf,
        /// The operating system's error.
        source: io::Error,
    },

    /// A line of the file of access keys is none.
    #[error(
        "line {line} of {}: {reason}; each line holds a name and a key of 64 hexadecimal digits, \
         as `openssl rand -hex 32` prints one",
        psijoin_printable::path(path)
    )]
    AccessLine {
        /// The file.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// The reason.
        reason: &'static str,
    },

    /// The file of access keys has none.
    #[error(
        "there is no access key in {}, so nobody could come",
        psijoin_printable::path(path)
    )]
    NoAccessKey {
        /// The file.
        path: PathBuf,
    },

    /// The operating system gave no randomness.
    #[error("the operating system gave no random bytes")]
    Randomness,

    /// The operating system gives no thread.
    #[error("there is not enough memory, or the system gives no more threads: {0}")]
    Thread(#[source] io::Error),

    /// The relay's own socket failed.
    #[error("the relay's socket failed: {0}")]
    Io(#[from] io::Error),
}
