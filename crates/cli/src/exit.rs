//! Every failure of the program, and the exit code that it ends with.

use std::{borrow::Cow, io, path::PathBuf, process::ExitCode};

use psijoin_channel::AbortCode;
use psijoin_handshake::Error as HandshakeError;
use psijoin_printable::Quoted;
use psijoin_session::{Error, ErrorKind};

use crate::{humanize, ways_out};

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
     gives more for a key than --take-rows or --take-bytes allow or there is memory for, or a
     sum would reveal keys
  7  the other party cannot go on, for a reason that its own message tells";

/// The exit codes of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    Unexpected = 1,
    Usage = 2,
    File = 3,
    Network = 4,
    Peer = 5,
    Policy = 6,
    PeerFailed = 7,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// Why the program did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    #[error("{0}")]
    Usage(String),

    #[error("{0}")]
    Session(Error),

    #[error("the terms in {} cannot be used: {why}", psijoin_printable::path(path))]
    Terms { path: PathBuf, why: String },

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

    #[error("internal failure at {file}:{line}; this is a bug: please report this line")]
    Bug { file: &'static str, line: u32 },

    #[error(
        "the run did not end within the {} that it was given",
        humanize::counted((*.0).into(), "second")
    )]
    Deadline(u32),

    #[error(
        "no report can be written to {}: {source}",
        psijoin_printable::path(path)
    )]
    NoReport { path: PathBuf, source: io::Error },

    #[error(
        "cannot write the report {}: {source}; the run itself ended as said above",
        psijoin_printable::path(path)
    )]
    Report { path: PathBuf, source: io::Error },

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

    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),

    /// Without the file's name, which means nothing to the user.
    #[error(
        "cannot use a temporary file: {} (TMPDIR says in which folder they are made)", .0.kind()
    )]
    Temporary(io::Error),
}

impl<E: IntoSession> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Session(error.into())
    }
}

/// An error of what a session is made of.
pub trait IntoSession: Into<Error> {}

impl IntoSession for Error {}
impl IntoSession for psijoin_table::Error {}
impl IntoSession for psijoin_table::KeyError {}
impl IntoSession for psijoin_transport::Error {}
impl IntoSession for HandshakeError {}
impl IntoSession for psijoin::Error {}
impl IntoSession for psijoin_job::Error {}
impl IntoSession for psijoin_record::Error {}
impl IntoSession for psijoin_session::QuestionFault {}
impl IntoSession for psijoin_session::SpecFault {}

impl Failure {
    /// There is no memory left.
    pub const OUT_OF_MEMORY: Self = Self::Session(Error::OutOfMemory);

    /// Returns the exit code.
    pub fn exit_code(&self) -> Code {
        match self {
            Self::Usage(_) | Self::LogLevel(_) => Code::Usage,
            Self::Session(error) => code_of(error),
            Self::Terms { .. }
            | Self::Record { .. }
            | Self::OtherRecord { .. }
            | Self::NoReport { .. }
            | Self::Report { .. }
            | Self::Shares { .. }
            | Self::Stdout(_)
            | Self::Temporary(_) => Code::File,
            Self::Deadline(_) => Code::Network,
            Self::Bug { .. } => Code::Unexpected,
        }
    }

    /// Returns whether the same command may succeed later without any change.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Session(error) => error.may_pass(),
            failure => failure.exit_code() == Code::Network,
        }
    }

    /// Returns the code that the other party gets.
    pub(crate) fn abort_code(&self) -> AbortCode {
        match self {
            Self::Session(error) => error.abort_code(),
            Self::Deadline(_) => AbortCode::DeadlinePassed,
            Self::Bug { .. } => AbortCode::InternalFailure,
            _ => AbortCode::LocalFailure,
        }
    }

    /// Returns the options or commands that do something about it.
    pub fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Session(error) => ways_out::of_error(error),
            _ => None,
        }
    }
}

/// Returns the exit code of an error of a session.
pub(crate) fn code_of(error: &Error) -> Code {
    match error.kind() {
        ErrorKind::Usage => Code::Usage,
        ErrorKind::Local => Code::File,
        ErrorKind::Network => Code::Network,
        ErrorKind::Peer => Code::Peer,
        ErrorKind::Policy => Code::Policy,
        ErrorKind::PeerFailed => Code::PeerFailed,
        _ => Code::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use psijoin_channel::Error as ChannelError;
    use psijoin_record::Error as RecordError;

    use super::*;

    fn code(failure: impl Into<Failure>) -> Code {
        failure.into().exit_code()
    }

    #[test]
    fn what_the_peer_says_decides_whose_fault_it_is() {
        for (said, expected) in [
            (AbortCode::LocalFailure, Code::PeerFailed),
            (AbortCode::InternalFailure, Code::PeerFailed),
            (AbortCode::OutOfMemory, Code::Network),
            (AbortCode::DeadlinePassed, Code::Network),
            (AbortCode::TooManyItems, Code::Peer),
            (AbortCode::TooMuchGiven, Code::Peer),
            (AbortCode::ReceiverSums, Code::Peer),
            (AbortCode::UnlikeItems, Code::Peer),
            (AbortCode::NotOffered, Code::Peer),
            (AbortCode::Interrupted, Code::Network),
            (AbortCode::BadLuck, Code::Network),
            (AbortCode::TimedOut, Code::Network),
            (AbortCode::ProtocolViolation, Code::Peer),
            (AbortCode::Incompatible, Code::Peer),
            (AbortCode::Refused, Code::Policy),
        ] {
            let error = || ChannelError::PeerAborted(said);
            assert_eq!(code(psijoin::Error::from(error())), expected, "{said}");
            assert_eq!(code(psijoin_transport::Error::from(error())), expected);
        }
    }

    #[test]
    fn failures_have_the_codes_that_the_help_tells() {
        assert_eq!(code(psijoin::Error::Misuse("a bug")), Code::Unexpected);
        assert_eq!(code(psijoin::Error::Peer("a lie")), Code::Peer);
        assert_eq!(code(psijoin::Error::BadLuck("rare", 40)), Code::Unexpected);
        assert_eq!(
            code(psijoin::Error::from(ChannelError::Interrupted)),
            Code::Unexpected
        );
        assert_eq!(
            code(psijoin::Error::from(ChannelError::MessageLength {
                expected: 1,
                received: 2
            })),
            Code::Peer
        );
        assert_eq!(
            code("x".parse::<psijoin_table::ColumnRules>().unwrap_err()),
            Code::Usage
        );
        assert_eq!(
            code(psijoin_table::share::GivenColumns::from_bytes(&[]).unwrap_err()),
            Code::Peer
        );
        assert_eq!(code(psijoin_table::Error::Interrupted), Code::Unexpected);
        assert_eq!(Failure::from(Error::TooFew(3)).exit_code(), Code::Policy);
        assert_eq!(Failure::from(Error::UnlikeKeys).exit_code(), Code::Peer);
        assert_eq!(Failure::from(Error::DoubtfulTable).exit_code(), Code::File);
        assert_eq!(Failure::from(Error::OnlyChecked).exit_code(), Code::Peer);
        assert_eq!(code(RecordError::CannotSign), Code::Usage);
        assert_eq!(code(RecordError::WrongSignature), Code::Peer);
        assert_eq!(code(RecordError::from(ChannelError::Closed)), Code::Network);
        let lost = ChannelError::Io(io::ErrorKind::ConnectionReset.into());
        assert_eq!(code(RecordError::from(lost)), Code::Network);
        for code in 0..=7 {
            assert!(TABLE.contains(&format!("\n  {code}  ")), "{code}");
        }
    }
}
