//! Every failure that front ends have in common, and the exit code that the program ends with.

use std::{error, io, path::PathBuf, process::ExitCode};

use psijoin_channel::AbortCode;
use psijoin_handshake::Error as HandshakeError;
use psijoin_printable::humanize;
use psijoin_session::{Error, ErrorKind};

use crate::Remedy;

/// The exit code of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Code {
    /// By bad luck or a bug, or as somebody interrupted it.
    Unexpected = 1,
    /// The request is invalid.
    Usage = 2,
    /// Files or memory of this party.
    File = 3,
    /// The network: a retry may succeed later.
    Network = 4,
    /// The other party broke the protocol, is not the expected one, or has other settings.
    Peer = 5,
    /// A party's policy refuses this run.
    Policy = 6,
    /// The other party cannot continue, for a reason of its own.
    PeerFailed = 7,
}

impl From<Code> for ExitCode {
    fn from(code: Code) -> Self {
        Self::from(code as u8)
    }
}

/// The reason that a request failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The request is invalid, with this message.
    #[error("{0}")]
    Usage(String),

    /// The join failed, or what belongs to it.
    #[error("{0}")]
    Session(Error),

    /// The terms cannot be used.
    #[error("the terms in {} cannot be used: {why}", psijoin_printable::path(path))]
    Terms {
        /// Their file.
        path: PathBuf,
        /// The reason.
        why: String,
    },

    /// The measurements of a machine cannot be read.
    #[error("cannot read {}: {source}", psijoin_printable::path(path))]
    Calibration {
        /// Its file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// Something panicked.
    #[error("internal failure at {file}:{line}; this is a bug: please report this line")]
    Bug {
        /// In this file.
        file: &'static str,
        /// At this line.
        line: u32,
    },

    /// It took longer than this number of seconds.
    #[error(
        "the run did not end within the {} that it was given",
        humanize::counted((*.0).into(), "second")
    )]
    Deadline(u32),

    /// No report can be written, as was found before the run.
    #[error(
        "no report can be written to {}: {source}",
        psijoin_printable::path(path)
    )]
    NoReport {
        /// Its file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// The report was not written at the end.
    #[error(
        "cannot write the report {}: {source}; the run itself ended as said above",
        psijoin_printable::path(path)
    )]
    Report {
        /// Its file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// An error that only one front end knows.
    #[error("{source}")]
    Own {
        /// The exit code.
        code: Code,
        /// The error.
        source: Box<dyn error::Error + Send + Sync>,
    },
}

impl<E: IntoSession> From<E> for Failure {
    fn from(error: E) -> Self {
        Self::Session(error.into())
    }
}

impl From<psijoin_peers::Error> for Failure {
    fn from(error: psijoin_peers::Error) -> Self {
        use psijoin_peers::Error::*;
        Self::Own {
            code: match error {
                File { .. } | Malformed { .. } | Later { .. } => Code::File,
                Randomness => Code::Unexpected,
                _ => Code::Usage,
            },
            source: Box::new(error),
        }
    }
}

/// An error of what a session is made of.
pub trait IntoSession: Into<Error> {}

impl IntoSession for Error {}
impl IntoSession for psijoin_source::Error {}
impl IntoSession for psijoin_table::Error {}
impl IntoSession for psijoin_table::KeyError {}
impl IntoSession for psijoin_transport::Error {}
impl IntoSession for HandshakeError {}
impl IntoSession for psijoin::Error {}
impl IntoSession for psijoin_job::Error {}
impl IntoSession for psijoin_record::Error {}
impl IntoSession for psijoin_session::BudgetError {}
impl IntoSession for psijoin_session::NoiseFault {}
impl IntoSession for psijoin_session::QuestionFault {}
impl IntoSession for psijoin_session::SpecFault {}

impl Failure {
    /// There is no memory left.
    pub const OUT_OF_MEMORY: Self = Self::Session(Error::OutOfMemory);

    /// Returns the exit code.
    pub fn exit_code(&self) -> Code {
        match self {
            Self::Usage(_) | Self::Calibration { .. } => Code::Usage,
            Self::Session(error) => Code::of(error),
            Self::Terms { .. } | Self::NoReport { .. } | Self::Report { .. } => Code::File,
            Self::Deadline(_) => Code::Network,
            Self::Bug { .. } => Code::Unexpected,
            Self::Own { code, .. } => *code,
        }
    }

    /// Returns whether the same command may succeed later without any change.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Session(error) => error.may_pass(),
            failure => failure.exit_code() == Code::Network,
        }
    }

    /// Returns the code that the other party gets.
    pub fn abort_code(&self) -> AbortCode {
        match self {
            Self::Session(error) => error.abort_code(),
            Self::Deadline(_) => AbortCode::DeadlinePassed,
            Self::Bug { .. } => AbortCode::InternalFailure,
            _ => AbortCode::LocalFailure,
        }
    }

    /// Returns what users can do about it, if anything.
    pub fn remedy(&self) -> Option<Remedy> {
        match self {
            Self::Session(error) => Remedy::of_error(error),
            Self::Calibration { .. } => Some(Remedy::NewCalibration),
            _ => None,
        }
    }
}

impl Code {
    /// Returns how the program ends with an error of a session.
    pub(crate) fn of(error: &Error) -> Self {
        match error.kind() {
            ErrorKind::Usage => Self::Usage,
            ErrorKind::Local => Self::File,
            ErrorKind::Network => Self::Network,
            ErrorKind::Peer => Self::Peer,
            ErrorKind::Policy => Self::Policy,
            ErrorKind::PeerFailed => Self::PeerFailed,
            _ => Self::Unexpected,
        }
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
            (AbortCode::ReceiverGroups, Code::Peer),
            (AbortCode::UnlikeItems, Code::Peer),
            (AbortCode::NotOffered, Code::Peer),
            (AbortCode::Interrupted, Code::Network),
            (AbortCode::BadLuck, Code::Network),
            (AbortCode::TimedOut, Code::Network),
            (AbortCode::ProtocolViolation, Code::Peer),
            (AbortCode::Incompatible, Code::Peer),
            (AbortCode::Refused, Code::Policy),
            (AbortCode::BudgetSpent, Code::Policy),
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
    }
}
