//! The reasons that a join fails.

use std::{io, path::PathBuf};

use psijoin::ErrorKind as PsiKind;
use psijoin_channel::AbortCode;
use psijoin_handshake::Error as HandshakeError;
use psijoin_printable::{Quoted, humanize};
use psijoin_record::Error as RecordError;
use psijoin_table::ErrorKind as TableKind;
use psijoin_transport::Kind as TransportKind;

use crate::budget::BudgetError;
use crate::fault::{
    ColumnsFault, ElsewhereFault, LabelListFault, NoiseFault, QuestionFault, SpecFault,
    TooManyGroups, TooMuchGiven, Unable,
};

/// The reason that a party's join did not start, or ended without a result.
///
/// No message holds a key or a value of a table.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The party's table cannot be read, or its result not be written.
    #[error(transparent)]
    Table(#[from] psijoin_table::Error),

    /// The parties did not meet, or lost each other.
    #[error(transparent)]
    Transport(#[from] psijoin_transport::Error),

    /// The parties do not agree on what they do.
    #[error(transparent)]
    Handshake(#[from] HandshakeError),

    /// The protocol failed.
    #[error(transparent)]
    Psi(#[from] psijoin::Error),

    /// The folder of the job cannot be used.
    #[error(transparent)]
    Job(#[from] psijoin_job::Error),

    /// The record was not signed.
    #[error("{0}; nothing was written")]
    Unsigned(#[from] RecordError),

    /// The protocol cannot do what is asked for.
    #[error(transparent)]
    Unable(#[from] Unable),

    /// Parts of what is wanted do not go together.
    #[error(transparent)]
    Spec(#[from] SpecFault),

    /// The table lies elsewhere, and the join needs more of it.
    #[error(transparent)]
    Elsewhere(#[from] ElsewhereFault),

    /// Parts of the question do not go together.
    #[error(transparent)]
    Question(#[from] QuestionFault),

    /// The columns of numbers that are asked for are not one of each.
    #[error(transparent)]
    Columns(#[from] ColumnsFault),

    /// There would be more groups than there can be.
    #[error(transparent)]
    TooManyGroups(#[from] TooManyGroups),

    /// A list of labels cannot be used.
    #[error("{} is no list of labels: {fault}", psijoin_printable::path(file))]
    LabelList {
        /// Its file.
        file: PathBuf,
        /// What is wrong with it.
        fault: LabelListFault,
    },

    /// The noise that is asked for cannot be added.
    #[error(transparent)]
    Noise(#[from] NoiseFault),

    /// The budget does not allow the answer, or cannot be used.
    #[error(transparent)]
    Budget(#[from] BudgetError),

    /// The system gives no randomness for noise.
    #[error("no noise can be drawn, as the system gives no randomness")]
    Randomness,

    /// Too little memory is allowed.
    #[error(
        "{} of memory is too little: {} is the least that a large join works with",
        humanize::bytes(*allowed),
        humanize::bytes(*least)
    )]
    TooLittleMemory {
        /// The allowed number of bytes.
        allowed: u64,
        /// The least number of bytes that is needed.
        least: u64,
    },

    /// Fewer keys are shared than the question demands.
    #[error(
        "fewer than {} are shared, the least that was agreed on: neither side learns more of the result",
        humanize::counted(*.0, "key")
    )]
    TooFew(u64),

    /// The other party's set is larger than this party allows.
    #[error(
        "the other party has {}, and at most {} are allowed here: nothing was done",
        humanize::counted(*theirs, "key"),
        humanize::count(*most)
    )]
    TooManyPeerKeys {
        /// The number of its keys.
        theirs: u64,
        /// The most keys that it may have.
        most: u64,
    },

    /// There is not enough memory for the other party's set.
    #[error(
        "the other party has {}: with them this side needs {} of memory, and it has {}; nothing was done",
        humanize::counted(*theirs, "key"),
        humanize::bytes(*needed),
        humanize::bytes(*room)
    )]
    NoRoomForPeerKeys {
        /// The number of its keys.
        theirs: u64,
        /// Bytes that a run takes with them.
        needed: u64,
        /// Bytes that there are.
        room: u64,
    },

    /// The other party gives more than this party takes.
    #[error("the other party gives {0}: nothing was done")]
    TooMuchGiven(TooMuchGiven),

    /// A sum over a column of the receiver's, of this name, was asked for, and the sender has not
    /// allowed it.
    #[error(
        "a sum of the receiver's column {} was asked for: the receiver chooses its numbers, and \
         could read from the sum which keys you share; nothing was done",
        Quoted(.0)
    )]
    ReceiverSums(String),

    /// Groups by a column of the receiver's, of this name, of which each is shown however few keys
    /// it has, were asked for, and the sender has not allowed them.
    #[error(
        "groups by the receiver's column {} were asked for, however few keys they have: the receiver \
         chooses who is in which group, and could have groups of one key each; nothing was done",
        Quoted(.0)
    )]
    ReceiverGroups(String),

    /// The question is post-quantum, and the connection is not.
    #[error(
        "the keys of this connection were exchanged by {0}, which a quantum computer would break: the other side has \
         an older release of psijoin, and nothing was done"
    )]
    KeyExchange(psijoin_transport::KeyExchange),

    /// The key columns of the two sides differ, and this party is strict.
    #[error(
        "the keys of the two sides differ as said above, and this side is strict; nothing was done"
    )]
    UnlikeKeys,

    /// This party's table is doubtful, and it is strict.
    #[error(
        "this side's table is doubtful as said above, and this side is strict; nothing was done"
    )]
    DoubtfulTable,

    /// The two parties have different jobs.
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
    OtherJob {
        /// This party's folder.
        folder: PathBuf,
        /// `true` if this party's job has begun.
        is_ours: bool,
    },

    /// The other party has come again, for another attempt, with another set.
    #[error(
        "the other party has come again with another number of keys than in the first attempt: nothing more was done"
    )]
    OtherSet,

    /// The job was over before.
    #[error(
        "the job in {} is over: {}", psijoin_printable::path(folder),
        too_few.map_or("it is done".to_owned(), |least| Self::TooFew(least).to_string())
    )]
    JobIsOver {
        /// Its folder.
        folder: PathBuf,
        /// The minimum that was not reached, if that was its end.
        too_few: Option<u64>,
    },

    /// This party, which only helps, has done its part, and cannot know whether the other party has
    /// its result.
    #[error(
        "{0}; this side has done what it could of the job: if the other side has its result, nothing is left to do, and \
         otherwise both run the same commands again"
    )]
    Unconfirmed(Box<Error>),

    /// This party has its result, and cannot know whether the other one has.
    #[error(
        "{0}; this side has its result, and cannot know whether the other side has: both run the same commands \
         again, or, if the other side's job is done, begin anew with new folders"
    )]
    UnconfirmedResult(Box<Error>),

    /// The record cannot be written.
    #[error(
        "cannot write the record {}: {source}; there is no output either",
        psijoin_printable::path(path)
    )]
    NoRecord {
        /// Its file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// The file of shares cannot be written.
    #[error(
        "cannot use the file of shares {}: {source}",
        psijoin_printable::path(path)
    )]
    Shares {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },

    /// A file that the caller is about to write is one of the table's.
    #[error(
        "{} is a file of the table, and was to be written: nothing was written",
        psijoin_printable::path(.0)
    )]
    OverwritesInput(PathBuf),

    /// The other party only wants to agree.
    #[error("the other party only checks: nothing was done")]
    OnlyChecked,

    /// The machine has no memory, or no threads, left.
    #[error("there is not enough memory, or the system gives no more threads")]
    OutOfMemory,
}

impl From<psijoin_source::Error> for Error {
    fn from(error: psijoin_source::Error) -> Self {
        Self::Table(error.into())
    }
}

impl From<psijoin_table::KeyError> for Error {
    fn from(error: psijoin_table::KeyError) -> Self {
        Self::Table(error.into())
    }
}

/// The party that has to act on an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid.
    Usage,
    /// Files or memory of this party.
    Local,
    /// The network: the same may succeed later.
    Network,
    /// The other party broke the protocol, is not the expected one, or has other settings.
    Peer,
    /// A party's policy refuses this run.
    Policy,
    /// The other party cannot go on, for a reason of its own.
    PeerFailed,
    /// Whoever called has stopped it.
    Interrupted,
    /// Bad luck, or a bug.
    Unexpected,
}

impl Error {
    /// Returns whose affair it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Table(error) => match error.kind() {
                TableKind::Usage => ErrorKind::Usage,
                TableKind::Input | TableKind::Output | TableKind::BrokenPipe => ErrorKind::Local,
                TableKind::Peer => ErrorKind::Peer,
                TableKind::Interrupted => ErrorKind::Interrupted,
                _ => ErrorKind::Unexpected,
            },
            Self::Transport(error) => of_transport(error.kind()),
            Self::Psi(psijoin::Error::Channel(error))
            | Self::Handshake(HandshakeError::Channel(error)) => of_transport(error.into()),
            Self::Handshake(error) => match error {
                HandshakeError::Setting { .. } => ErrorKind::Usage,
                HandshakeError::SetTooLarge(_) => ErrorKind::Local,
                _ => ErrorKind::Peer,
            },
            Self::Psi(error) => match error.kind() {
                PsiKind::Peer => ErrorKind::Peer,
                PsiKind::Table | PsiKind::Ledger => ErrorKind::Local,
                _ => ErrorKind::Unexpected,
            },
            Self::Job(error) => match error.kind() {
                psijoin_job::Kind::Usage => ErrorKind::Usage,
                _ => ErrorKind::Local,
            },
            Self::Unsigned(error) => of_record(error),
            Self::Unable(_)
            | Self::Spec(_)
            | Self::Elsewhere(_)
            | Self::Question(_)
            | Self::Columns(_)
            | Self::TooManyGroups(_)
            | Self::LabelList { .. }
            | Self::Noise(_)
            | Self::TooLittleMemory { .. }
            | Self::OverwritesInput(_) => ErrorKind::Usage,
            Self::Budget(error) if !error.is_refusal() => ErrorKind::Local,
            Self::TooFew(_)
            | Self::Budget(_)
            | Self::JobIsOver { .. }
            | Self::TooManyPeerKeys { .. }
            | Self::NoRoomForPeerKeys { .. }
            | Self::TooMuchGiven(_)
            | Self::ReceiverSums(_)
            | Self::ReceiverGroups(_) => ErrorKind::Policy,
            Self::UnlikeKeys
            | Self::OnlyChecked
            | Self::OtherJob { .. }
            | Self::OtherSet
            | Self::KeyExchange(_) => ErrorKind::Peer,
            Self::Unconfirmed(error) | Self::UnconfirmedResult(error) => error.kind(),
            Self::OutOfMemory
            | Self::Randomness
            | Self::NoRecord { .. }
            | Self::DoubtfulTable
            | Self::Shares { .. } => ErrorKind::Local,
        }
    }

    /// Returns whether the same join may succeed later, though nobody changes anything.
    pub fn may_pass(&self) -> bool {
        match self {
            error if error.is_exhaustion() => true,
            Self::Psi(psijoin::Error::BadLuck(..)) => true,
            error => matches!(error.kind(), ErrorKind::Network | ErrorKind::Interrupted),
        }
    }

    /// Returns whether another process of this party is at it: the other party's business is with
    /// that one.
    pub fn is_at_work_elsewhere(&self) -> bool {
        matches!(self, Self::Job(psijoin_job::Error::InUse(_)))
    }

    /// Returns whether a connection was lost, and nobody has given up.
    pub(crate) fn is_lost_connection(&self) -> bool {
        use psijoin_channel::Error::*;
        use psijoin_transport::Error::{ClosedDuringSetup, Io as IoDuringSetup};
        if let Self::Transport(ClosedDuringSetup | IoDuringSetup(_)) = self {
            return true;
        }
        matches!(
            self.of_channel(),
            Some(
                Closed
                    | Cut
                    | TimedOut(_)
                    | Io(_)
                    | PeerAborted(AbortCode::ConnectionLost | AbortCode::TimedOut)
            )
        )
    }

    /// Returns whether the other party has lost a lane, and comes again.
    pub fn is_lane_lost(&self) -> bool {
        use psijoin_channel::Error::PeerAborted;
        matches!(self.of_channel(), Some(PeerAborted(AbortCode::LaneLost)))
    }

    fn of_channel(&self) -> Option<&psijoin_channel::Error> {
        match self {
            Self::Transport(psijoin_transport::Error::Channel(error))
            | Self::Psi(psijoin::Error::Channel(error))
            | Self::Handshake(HandshakeError::Channel(error))
            | Self::Unsigned(RecordError::Channel(error)) => Some(error),
            _ => None,
        }
    }

    /// Returns whether the machine had no memory or threads left.
    fn is_exhaustion(&self) -> bool {
        match self {
            Self::OutOfMemory => true,
            Self::Transport(error) => error.kind() == TransportKind::Exhausted,
            _ => false,
        }
    }

    /// Returns what the other party is told.
    pub fn abort_code(&self) -> AbortCode {
        match self {
            Self::Psi(error) => error.abort_code(),
            Self::Handshake(HandshakeError::Malformed(_)) => AbortCode::ProtocolViolation,
            error @ (Self::Handshake(_) | Self::Transport(_))
                if error.kind() == ErrorKind::Peer =>
            {
                AbortCode::Incompatible
            }
            Self::TooManyPeerKeys { .. } | Self::NoRoomForPeerKeys { .. } => {
                AbortCode::TooManyItems
            }
            Self::TooMuchGiven(_) => AbortCode::TooMuchGiven,
            Self::ReceiverSums(_) => AbortCode::ReceiverSums,
            Self::ReceiverGroups(_) => AbortCode::ReceiverGroups,
            Self::Budget(error) if error.is_refusal() => AbortCode::BudgetSpent,
            Self::UnlikeKeys => AbortCode::UnlikeItems,
            Self::OtherSet => AbortCode::OtherRun,
            Self::Table(psijoin_table::Error::Share(psijoin_table::ShareError::NotOffered {
                ..
            })) => AbortCode::NotOffered,
            Self::OtherJob { .. }
            | Self::KeyExchange(_)
            | Self::Unsigned(RecordError::OtherDocument | RecordError::PeerCannotSign) => {
                AbortCode::Incompatible
            }
            Self::Unsigned(RecordError::WrongSignature) => AbortCode::ProtocolViolation,
            // Processes of this party have failed, and its table may be as it should.
            Self::Elsewhere(ElsewhereFault::GivenUp | ElsewhereFault::Lanes { .. }) => {
                AbortCode::InternalFailure
            }
            error if error.is_exhaustion() => AbortCode::OutOfMemory,
            error if error.kind() == ErrorKind::Interrupted => AbortCode::Interrupted,
            _ => AbortCode::LocalFailure,
        }
    }
}

fn of_transport(kind: TransportKind) -> ErrorKind {
    match kind {
        TransportKind::Usage => ErrorKind::Usage,
        TransportKind::LocalFile | TransportKind::Exhausted => ErrorKind::Local,
        TransportKind::Network => ErrorKind::Network,
        TransportKind::Peer => ErrorKind::Peer,
        TransportKind::Policy => ErrorKind::Policy,
        TransportKind::PeerFailed => ErrorKind::PeerFailed,
        TransportKind::Interrupted => ErrorKind::Interrupted,
        _ => ErrorKind::Unexpected,
    }
}

fn of_record(error: &RecordError) -> ErrorKind {
    match error {
        RecordError::CannotSign => ErrorKind::Usage,
        RecordError::Channel(error) => of_transport(error.into()),
        _ => ErrorKind::Peer,
    }
}
