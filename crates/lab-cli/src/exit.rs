//! Every failure of the program, and the exit code that it ends with.

use std::{borrow::Cow, io, path::PathBuf};

use psijoin_cli::exit::{self, Code};
use psijoin_lab::measurements::{JournalError, MeasureError};

/// The exit codes, for people: those of `psijoin` that can come up here.
pub(crate) const TABLE: &str = "\
Exit codes:
  0  done
  1  unexpected failure, or interrupted
  2  wrong usage
  3  an input cannot be used, an output cannot be written, or memory ran out";

/// The hint for a missing results file.
const MEASURE: &str = "`psijoin-lab run` measures; its --results says in which file";

/// The reason that the program did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The failures that `psijoin` shares.
    #[error(transparent)]
    Shared(#[from] exit::Failure),

    #[error(transparent)]
    Results(#[from] JournalError),

    #[error(transparent)]
    Run(MeasureError),

    #[error("{} contains no measurements yet", psijoin_printable::path(.0))]
    NothingMeasured(PathBuf),

    #[error("cannot write {}: {source}", psijoin_printable::path(path))]
    NotWritten { path: PathBuf, source: io::Error },

    #[error("the result of {0} is wrong; this is a bug in psijoin")]
    WrongResult(&'static str),
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Journal(error) => Self::Results(error),
            error => Self::Run(error),
        }
    }
}

impl From<psijoin::Error> for Failure {
    fn from(error: psijoin::Error) -> Self {
        Self::Shared(error.into())
    }
}

impl From<psijoin_session::Error> for Failure {
    fn from(error: psijoin_session::Error) -> Self {
        Self::Shared(error.into())
    }
}

impl From<psijoin_session::QuestionFault> for Failure {
    fn from(error: psijoin_session::QuestionFault) -> Self {
        Self::Shared(error.into())
    }
}

impl From<psijoin_transport::Error> for Failure {
    fn from(error: psijoin_transport::Error) -> Self {
        Self::Shared(error.into())
    }
}

impl Failure {
    /// There is no memory left.
    pub(crate) const OUT_OF_MEMORY: Self = Self::Shared(exit::Failure::OUT_OF_MEMORY);

    /// Returns the failure for wrong usage.
    pub(crate) fn usage(why: impl Into<String>) -> Self {
        Self::Shared(exit::Failure::Usage(why.into()))
    }

    /// Returns the exit code.
    pub(crate) fn exit_code(&self) -> Code {
        match self {
            Self::Shared(failure) => failure.exit_code(),
            Self::Results(_) | Self::NothingMeasured(_) | Self::NotWritten { .. } => Code::File,
            Self::Run(_) | Self::WrongResult(_) => Code::Unexpected,
        }
    }

    /// Returns the way out, if the message does not name it.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Shared(failure) => psijoin_cli::hints::of_failure(failure),
            Self::Results(JournalError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Some(MEASURE.into())
            }
            Self::NothingMeasured(_) => Some(MEASURE.into()),
            _ => None,
        }
    }
}
