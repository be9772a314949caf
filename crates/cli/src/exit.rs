//! Every failure of the program, and the exit code that it ends with.

use std::{borrow::Cow, io, path::PathBuf, process::ExitCode};

use psijoin::ErrorKind as PsiKind;
use psijoin_channel::AbortCode;
use psijoin_handshake::Error as HandshakeError;
use psijoin_lab::measurements::{JournalError, MeasureError};
use psijoin_printable::Quoted;
use psijoin_record::Error as RecordError;
use psijoin_table::ErrorKind as TableKind;
use psijoin_transport::Kind as TransportKind;

use crate::{humanize, settings};

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

/// What to do without results of the laboratory.
const MEASURE: &str = "`psijoin lab run` measures; its --results says in which file";

/// How the program ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Code {
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
pub(crate) enum Failure {
    #[error("{0}")]
    Usage(String),

    #[error(transparent)]
    Table(#[from] psijoin_table::Error),

    #[error(transparent)]
    Transport(#[from] psijoin_transport::Error),

    #[error(transparent)]
    Handshake(#[from] psijoin_handshake::Error),

    #[error(transparent)]
    Psi(#[from] psijoin::Error),

    #[error(
        "fewer than {} are shared: by --min-intersection, neither side learns more of the result",
        humanize::counted(*.0, "key")
    )]
    TooFew(u64),

    #[error(
        "the other party has {}, and --max-peer-keys here is {}: nothing was done",
        humanize::counted(*theirs, "key"),
        humanize::count(*most)
    )]
    TooManyPeerKeys { theirs: u64, most: u64 },

    #[error(
        "the other party has {}: with them this side needs {} of memory, and it has {}; nothing was done",
        humanize::counted(*theirs, "key"),
        humanize::bytes(*needed),
        humanize::bytes(*room)
    )]
    NoRoomForPeerKeys { theirs: u64, needed: u64, room: u64 },

    #[error("the other party gives {0}: nothing was done")]
    TooMuchGiven(String),

    #[error(
        "a sum of the receiver's column {} was asked for: the receiver chooses its numbers, and \
         could read from the sum which keys you share; nothing was done",
        Quoted(.0)
    )]
    ReceiverSums(String),

    #[error(
        "the keys of the two sides differ as said above, and --strict refuses that; nothing was done"
    )]
    UnlikeKeys,

    #[error(
        "this side's table is doubtful as said above, and --strict refuses that; nothing was done"
    )]
    DoubtfulTable,

    #[error(transparent)]
    Job(#[from] psijoin_job::Error),

    #[error(
        "{} and the job folder {}: give both sides the folders of the same job, or begin anew on both sides with new \
         folders",
        if *is_ours {
            "the other party does not have the job that goes on here,"
        } else {
            "the other party goes on with a job that is not the one here,"
        },
        psijoin_printable::path(folder)
    )]
    OtherJob { folder: PathBuf, is_ours: bool },

    #[error(
        "the job in {} is over: {}", psijoin_printable::path(folder),
        too_few.map_or("it is done".to_owned(), |least| Self::TooFew(least).to_string())
    )]
    JobIsOver {
        folder: PathBuf,
        /// The minimum that was not reached.
        too_few: Option<u64>,
    },

    #[error(
        "{0}; this side has done what it could of the job: if the other side has its result, nothing is left to do, and \
         otherwise both run the same commands again"
    )]
    Unconfirmed(Box<Failure>),

    #[error(
        "{0}; this side has its result, and cannot know whether the other side has: both run the same commands \
         again, or, if the other side's job is done, begin anew with new folders"
    )]
    UnconfirmedResult(Box<Failure>),

    #[error("the terms in {} cannot be used: {why}", psijoin_printable::path(path))]
    Terms { path: PathBuf, why: String },

    #[error("{0}; nothing was written")]
    Unsigned(#[from] RecordError),

    #[error(
        "cannot write the record {}: {source}; there is no output either",
        psijoin_printable::path(path)
    )]
    NoRecord { path: PathBuf, source: io::Error },

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

    #[error("the other party only checks (--check): nothing was done")]
    OnlyChecked,

    #[error("there is not enough memory, or the system gives no more threads")]
    OutOfMemory,

    #[error("internal failure at {file}:{line}; this is a bug: please report this line")]
    Bug { file: &'static str, line: u32 },

    #[error("the run did not end within the {} of --deadline", humanize::counted((*.0).into(), "second"))]
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

    #[error(transparent)]
    LabResults(#[from] JournalError),

    #[error(transparent)]
    LabRun(MeasureError),

    #[error("{} contains no measurements yet", psijoin_printable::path(.0))]
    NothingMeasured(PathBuf),

    #[error("cannot write {}: {source}", psijoin_printable::path(path))]
    NotWritten { path: PathBuf, source: io::Error },

    #[error("cannot write to standard output: {0}")]
    Stdout(io::Error),

    /// Without the file's name, which means nothing to the user.
    #[error(
        "cannot use a temporary file: {} (TMPDIR says in which folder they are made)", .0.kind()
    )]
    Temporary(io::Error),

    #[error("the result of {0} is wrong; this is a bug in psijoin")]
    WrongResult(&'static str),
}

impl From<MeasureError> for Failure {
    fn from(error: MeasureError) -> Self {
        match error {
            MeasureError::Journal(error) => Self::LabResults(error),
            error => Self::LabRun(error),
        }
    }
}

impl Failure {
    /// The exit code.
    pub(crate) fn exit_code(&self) -> Code {
        match self {
            Self::Usage(_) | Self::LogLevel(_) => Code::Usage,
            Self::Table(error) => match error.kind() {
                TableKind::Usage => Code::Usage,
                TableKind::Input | TableKind::Output | TableKind::BrokenPipe => Code::File,
                TableKind::Peer => Code::Peer,
                _ => Code::Unexpected,
            },
            Self::Transport(error) => of_transport(error.kind()),
            Self::Psi(psijoin::Error::Channel(error))
            | Self::Handshake(HandshakeError::Channel(error)) => of_transport(error.into()),
            Self::Handshake(error) => match error {
                HandshakeError::Setting { .. } => Code::Usage,
                HandshakeError::SetTooLarge(_) => Code::File,
                _ => Code::Peer,
            },
            Self::Psi(error) => match error.kind() {
                PsiKind::Peer => Code::Peer,
                PsiKind::Table | PsiKind::Ledger => Code::File,
                _ => Code::Unexpected,
            },
            Self::TooFew(_)
            | Self::JobIsOver { .. }
            | Self::TooManyPeerKeys { .. }
            | Self::NoRoomForPeerKeys { .. }
            | Self::TooMuchGiven(_)
            | Self::ReceiverSums(_) => Code::Policy,
            Self::UnlikeKeys | Self::OnlyChecked | Self::OtherJob { .. } => Code::Peer,
            Self::Unconfirmed(failure) | Self::UnconfirmedResult(failure) => failure.exit_code(),
            Self::Job(error) => match error.kind() {
                psijoin_job::Kind::Usage => Code::Usage,
                _ => Code::File,
            },
            Self::Unsigned(error) => of_record(error),
            Self::OutOfMemory
            | Self::Terms { .. }
            | Self::NoRecord { .. }
            | Self::Record { .. }
            | Self::OtherRecord { .. }
            | Self::DoubtfulTable
            | Self::NoReport { .. }
            | Self::Report { .. }
            | Self::Shares { .. }
            | Self::LabResults(_)
            | Self::NothingMeasured(_)
            | Self::NotWritten { .. }
            | Self::Stdout(_)
            | Self::Temporary(_) => Code::File,
            Self::Deadline(_) => Code::Network,
            Self::LabRun(_) | Self::Bug { .. } | Self::WrongResult(_) => Code::Unexpected,
        }
    }

    /// Whether the same command may succeed later, though nobody changes anything.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            failure if failure.is_exhaustion() => true,
            Self::Psi(psijoin::Error::BadLuck(..)) => true,
            failure => failure.exit_code() == Code::Network || failure.is_interruption(),
        }
    }

    /// Whether another process of this party is at it: the other party's business is with that one.
    pub(crate) fn is_at_work_elsewhere(&self) -> bool {
        matches!(self, Self::Job(psijoin_job::Error::InUse(_)))
    }

    /// Whether a connection was lost, and nobody has given up.
    pub(crate) fn is_lost_connection(&self) -> bool {
        use psijoin_channel::Error::*;
        use psijoin_transport::Error::{ClosedDuringSetup, Io as IoDuringSetup};
        let error = match self {
            Self::Transport(ClosedDuringSetup | IoDuringSetup(_)) => return true,
            Self::Transport(psijoin_transport::Error::Channel(error))
            | Self::Psi(psijoin::Error::Channel(error))
            | Self::Handshake(HandshakeError::Channel(error))
            | Self::Unsigned(RecordError::Channel(error)) => error,
            _ => return false,
        };
        matches!(
            error,
            Closed
                | TimedOut(_)
                | Io(_)
                | PeerAborted(AbortCode::ConnectionLost | AbortCode::TimedOut)
        )
    }

    /// Whether the machine had no memory or threads left.
    fn is_exhaustion(&self) -> bool {
        match self {
            Self::OutOfMemory => true,
            Self::Transport(error) => error.kind() == TransportKind::Exhausted,
            _ => false,
        }
    }

    /// Whether the user stopped the program.
    pub(crate) fn is_interruption(&self) -> bool {
        match self {
            Self::Table(error) => error.kind() == TableKind::Interrupted,
            Self::Transport(error) => error.kind() == TransportKind::Interrupted,
            Self::Psi(psijoin::Error::Channel(error))
            | Self::Handshake(HandshakeError::Channel(error))
            | Self::Unsigned(RecordError::Channel(error)) => {
                TransportKind::from(error) == TransportKind::Interrupted
            }
            _ => false,
        }
    }

    /// The code that the other party gets.
    pub(crate) fn abort_code(&self) -> AbortCode {
        match self {
            Self::Psi(error) => error.abort_code(),
            Self::Handshake(HandshakeError::Malformed(_)) => AbortCode::ProtocolViolation,
            failure @ (Self::Handshake(_) | Self::Transport(_))
                if failure.exit_code() == Code::Peer =>
            {
                AbortCode::Incompatible
            }
            Self::TooManyPeerKeys { .. } | Self::NoRoomForPeerKeys { .. } => {
                AbortCode::TooManyItems
            }
            Self::TooMuchGiven(_) => AbortCode::TooMuchGiven,
            Self::ReceiverSums(_) => AbortCode::ReceiverSums,
            Self::UnlikeKeys => AbortCode::UnlikeItems,
            Self::Table(psijoin_table::Error::NotOffered { .. }) => AbortCode::NotOffered,
            Self::OtherJob { .. }
            | Self::Unsigned(RecordError::OtherDocument | RecordError::PeerCannotSign) => {
                AbortCode::Incompatible
            }
            Self::Unsigned(RecordError::WrongSignature) => AbortCode::ProtocolViolation,
            failure if failure.is_exhaustion() => AbortCode::OutOfMemory,
            Self::Deadline(_) => AbortCode::DeadlinePassed,
            Self::Bug { .. } => AbortCode::InternalFailure,
            failure if failure.is_interruption() => AbortCode::Interrupted,
            _ => AbortCode::LocalFailure,
        }
    }

    /// What to do about it, if the message does not say.
    pub(crate) fn hint(&self) -> Option<Cow<'static, str>> {
        match self {
            Self::Handshake(HandshakeError::Mismatch(on)) => {
                settings::ways_out(on.iter().map(|one| &*one.field)).map(Cow::Owned)
            }
            other => other.advice().map(Cow::Borrowed),
        }
    }

    fn advice(&self) -> Option<&'static str> {
        match self {
            Self::Psi(psijoin::Error::Channel(psijoin_channel::Error::PeerAborted(
                AbortCode::NotOffered,
            ))) => Some(
                "tell the other side which columns --give here names, as they are spelled here, or let it say --take all",
            ),
            Self::Transport(psijoin_transport::Error::IdentityFile { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Some("`psijoin keygen` makes an identity")
            }
            Self::LabResults(JournalError::File { source, .. })
                if source.kind() == io::ErrorKind::NotFound =>
            {
                Some(MEASURE)
            }
            Self::NothingMeasured(_) => Some(MEASURE),
            Self::Transport(error) if is_of_keys(error) => Some(
                "each side gives the fingerprint that the other's `psijoin keygen` printed as --peer",
            ),
            Self::Handshake(HandshakeError::Setting { name, .. }) if name == settings::OUTPUT => {
                Some("ask for fewer columns, or for columns with shorter names")
            }
            Self::Table(
                psijoin_table::Error::Number { .. } | psijoin_table::Error::NumberType { .. },
            ) => Some(
                "if the other side's column is meant, both name it as sender.COLUMN or receiver.COLUMN",
            ),
            Self::Table(psijoin_table::Error::Key(_)) => Some(
                "--bad-keys null takes cells that cannot be read for empty ones; `psijoin keys` counts them",
            ),
            Self::TooManyPeerKeys { .. } => Some(
                "if such a large set is right, raise --max-peer-keys; as the sender, consider what \
                 a receiver learns if it puts in every key it can think of",
            ),
            Self::NoRoomForPeerKeys { .. } => Some(
                "give more --memory, or run on a machine that has more; --max-peer-keys N tries it all the same",
            ),
            Self::TooMuchGiven(_) => Some(
                "take fewer columns (--take), allow more here, or let the other party give less: a smaller K of \
                 --repeated list:K, or a smaller --give-bytes",
            ),
            Self::Job(psijoin_job::Error::Io { source, .. }) if is_no_room(source) => Some(
                "nothing is lost: make room there, and both run the same commands again; they go on with what was kept",
            ),
            Self::ReceiverSums(_) => Some(
                "--allow-sums-that-reveal-keys allows it: see \"What an answer tells\" in \
                 docs/functions.md first",
            ),
            Self::Handshake(HandshakeError::Setting { .. }) => Some(
                "give fewer key columns, or fewer rules: one column can hold several joined beforehand",
            ),
            Self::NoRecord { source, .. } if source.kind() == io::ErrorKind::AlreadyExists => Some(
                "a record may be evidence, so it is never replaced: name a new file, or move the old one",
            ),
            _ => None,
        }
    }
}

/// Whether there is no more room for a file.
fn is_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge)
}

/// Whether the parties did not meet because one of them does not have the key that it should have.
fn is_of_keys(error: &psijoin_transport::Error) -> bool {
    use psijoin_transport::Error::*;
    match error {
        WrongPeer { .. } | Refused { .. } => true,
        NobodyListened { attempt, .. } => {
            (attempt.as_ref()).is_some_and(|attempt| is_of_keys(&attempt.why))
        }
        NobodyConnected { strangers, .. } => {
            (strangers.as_ref()).is_some_and(|strangers| is_of_keys(&strangers.why))
        }
        _ => false,
    }
}

fn of_transport(kind: TransportKind) -> Code {
    match kind {
        TransportKind::Usage => Code::Usage,
        TransportKind::LocalFile => Code::File,
        TransportKind::Network => Code::Network,
        TransportKind::Peer => Code::Peer,
        TransportKind::Policy => Code::Policy,
        TransportKind::PeerFailed => Code::PeerFailed,
        TransportKind::Exhausted => Code::File,
        _ => Code::Unexpected,
    }
}

fn of_record(error: &RecordError) -> Code {
    match error {
        RecordError::CannotSign => Code::Usage,
        RecordError::Channel(error) => of_transport(error.into()),
        _ => Code::Peer,
    }
}

#[cfg(test)]
mod tests {
    use psijoin_channel::Error as ChannelError;

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
            code(psijoin_table::given::GivenColumns::from_bytes(&[]).unwrap_err()),
            Code::Peer
        );
        assert_eq!(code(psijoin_table::Error::Interrupted), Code::Unexpected);
        assert_eq!(Failure::TooFew(3).exit_code(), Code::Policy);
        assert_eq!(Failure::UnlikeKeys.exit_code(), Code::Peer);
        assert_eq!(Failure::DoubtfulTable.exit_code(), Code::File);
        assert_eq!(Failure::OnlyChecked.exit_code(), Code::Peer);
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
