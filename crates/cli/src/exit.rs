//! Failures that only the program knows, and the exit codes for people.

use std::{io, path::PathBuf};

use psijoin_printable::Quoted;

pub use psijoin_frontend::{Code, Failure};

/// The exit codes, for people.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  done
  1  unexpected failure, or interrupted
  2  wrong usage
  3  an input cannot be used, an output cannot be written, or memory ran out
  4  the network failed, nobody came in time, the other party went away, or a --deadline
     passed: try again
  5  the other party broke the protocol, is not who it should be, has other settings, or
     refuses this run
  6  refused by policy: fewer keys are shared than --min-intersection demands, the other
     party's set is larger than --max-peer-keys or, without it, than there is memory for, it
     gives more for a key than --take-rows or --take-bytes allow or there is memory for, a sum
     would reveal keys, or the sender's --budget does not allow the answer
  7  the other party cannot go on, for a reason that its own message tells";

/// A failure that only a program can have.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramFault {
    #[error(
        "the record {} cannot be relied on: {why}",
        psijoin_printable::path(path)
    )]
    Record { path: PathBuf, why: String },

    #[error(
        "the record {} is genuine, but it is not the one that you named: {why}",
        psijoin_printable::path(path)
    )]
    OtherRecord { path: PathBuf, why: String },

    #[error(
        "{} is not a level for PSIJOIN_LOG: the levels are off, error, warn, info and debug",
        Quoted(.0)
    )]
    LogLevel(String),

    #[error(
        "cannot use the file of shares {}: {source}",
        psijoin_printable::path(path)
    )]
    Shares { path: PathBuf, source: io::Error },

    #[error("cannot write the page {}: {source}", psijoin_printable::path(path))]
    Page { path: PathBuf, source: io::Error },

    #[error("{0}")]
    Relay(#[from] psijoin_relay::Error),

    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),

    #[error("cannot read standard input: {0}")]
    Stdin(io::Error),

    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody is asked there"))]
    #[error("cannot ask at the terminal: {0}")]
    Terminal(io::Error),

    #[cfg_attr(not(unix), expect(dead_code, reason = "nobody is asked there"))]
    #[error("a passphrase has 1 to 1024 bytes: nothing was done")]
    NoPassphrase,

    #[error("the two passphrases differ: nothing was written")]
    TwoPassphrases,

    #[error("the profile {} cannot be used: {why}", psijoin_printable::path(path))]
    Profile { path: PathBuf, why: String },

    /// Without the file's name, which means nothing to the user.
    #[error(
        "cannot use a temporary file: {} (TMPDIR says in which folder they are made)", .0.kind()
    )]
    Temporary(io::Error),
}

impl From<ProgramFault> for Failure {
    fn from(fault: ProgramFault) -> Self {
        Self::Own {
            code: match fault {
                ProgramFault::LogLevel(_)
                | ProgramFault::NoPassphrase
                | ProgramFault::TwoPassphrases => Code::Usage,
                ProgramFault::Relay(psijoin_relay::Error::Listen { .. }) => Code::Network,
                _ => Code::File,
            },
            source: Box::new(fault),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_tells_all_codes() {
        for code in 0..=Code::PeerFailed as u8 {
            assert!(TABLE.contains(&format!("\n  {code}  ")), "{code}");
        }
    }
}
