use std::io;

use psijoin_channel::{AbortCode, Channel, Error as ChannelError};

/// The result of a step of a run.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reason that a run failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The caller's input does not fit the plan.
    #[error("{0}")]
    Misuse(&'static str),

    /// No parameters exist for these sizes at this security level.
    #[error("no secure parameters for this run: {0}")]
    Parameters(#[from] psijoin_params::Error),

    /// The protocol does not compute this output.
    #[error("the protocol `{protocol}` cannot compute the output `{output}`")]
    UnsupportedOutput {
        /// The protocol.
        protocol: &'static str,
        /// The output that was asked for.
        output: String,
    },

    /// The sets are too large for one run, and the protocol opens this output part by part.
    #[error(
        "the protocol `{protocol}` cannot compute the output `{output}` in parts, as it would tell the result of each part, and more than 2^26 items are joined in parts; take `rr22-circuit`"
    )]
    NotInParts {
        /// The protocol.
        protocol: &'static str,
        /// The output that was asked for.
        output: String,
    },

    /// The protocol has no minimum intersection built in.
    #[error("the protocol `{0}` cannot withhold its result where too few items are shared")]
    CannotWithhold(&'static str),

    /// The protocol has public-key cryptography that a quantum computer breaks.
    #[error(
        "the protocol `{0}` cannot be post-quantum: it rests on discrete logarithms or on factoring, or protects nothing"
    )]
    NotPostQuantum(&'static str),

    /// The caller's table could not give its items, or keep what was found.
    #[error(transparent)]
    Table(Box<dyn std::error::Error + Send + Sync>),

    /// The channel broke, the peer went away, gave up, or sent a message of a wrong length.
    #[error(transparent)]
    Channel(#[from] ChannelError),

    /// The peer sent something that the protocol forbids.
    #[error("the other party broke the protocol: {0}")]
    Peer(&'static str),

    /// A payload is not what the peer sealed for this item. The run is over when that is found.
    #[error(
        "a payload of the other party cannot be opened: it was damaged, or the other party did not seal it as agreed"
    )]
    Payload,

    /// This machine computed wrongly.
    #[error(
        "this machine computed wrongly: {0}; that result was not sent; do not trust its memory or processor"
    )]
    Fault(&'static str),

    /// The result of a step cannot be kept, or a kept one cannot be read
    /// ([`Ledger`](crate::Ledger)).
    #[error("cannot keep what was computed: {0}")]
    Ledger(#[source] io::Error),

    /// A statistical failure, bounded by 2^-σ in advance.
    #[error("bad luck: {0}; this happens with a probability below 2^-{sigma}, run again", sigma = .1)]
    BadLuck(&'static str, u32),
}

/// The party at fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller's.
    Misuse,
    /// The caller's table's: it could not be read, or a disk is full.
    Table,
    /// The peer's: it broke the protocol.
    Peer,
    /// The network's, or the peer went away.
    Channel,
    /// Nobody's.
    BadLuck,
    /// This machine's.
    Fault,
    /// That of the place where this party keeps what it computes.
    Ledger,
}

impl Error {
    /// Returned to a caller whose set is not as large as agreed.
    pub(crate) const OTHER_NUMBER: Self =
        Self::Misuse("the number of items is not the one that was agreed on");

    /// Returned to a caller whose items were digested for another plan.
    pub(crate) const OTHER_DIGESTS: Self =
        Self::Misuse("the item digests do not have the length that the plan demands");

    /// Returned to a sender whose noise is not what was agreed on.
    pub const OTHER_NOISE: Self =
        Self::Misuse("the noise does not have a number for each total that was agreed on");

    /// Returns whose fault it is.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Misuse(_)
            | Self::Parameters(_)
            | Self::UnsupportedOutput { .. }
            | Self::NotInParts { .. }
            | Self::CannotWithhold(_)
            | Self::NotPostQuantum(_) => ErrorKind::Misuse,
            Self::Table(_) => ErrorKind::Table,
            Self::Channel(
                ChannelError::MessageLength { .. }
                | ChannelError::Malformed(_)
                | ChannelError::PeerDiffers,
            )
            | Self::Peer(_)
            | Self::Payload => ErrorKind::Peer,
            Self::Channel(ChannelError::NotKept(_)) => ErrorKind::Ledger,
            Self::Channel(ChannelError::OwnDiffers) | Self::Fault(_) => ErrorKind::Fault,
            Self::Channel(_) => ErrorKind::Channel,
            Self::Ledger(_) => ErrorKind::Ledger,
            Self::BadLuck(..) => ErrorKind::BadLuck,
        }
    }

    /// Returns what to tell the peer.
    pub fn abort_code(&self) -> AbortCode {
        match (self.kind(), self) {
            (_, Self::Channel(ChannelError::PeerDiffers)) => AbortCode::OtherRun,
            (ErrorKind::Peer, _) => AbortCode::ProtocolViolation,
            (ErrorKind::BadLuck, _) => AbortCode::BadLuck,
            (_, Self::Channel(ChannelError::TimedOut(_))) => AbortCode::TimedOut,
            (_, Self::Channel(ChannelError::Interrupted)) => AbortCode::Interrupted,
            _ => AbortCode::LocalFailure,
        }
    }
}

impl Error {
    /// Tells the peer why this party gives up. That a payload cannot be opened is not told: only
    /// payloads of shared items are opened, so a peer that seals one of them wrongly would learn
    /// whether it is shared.
    pub fn tell(&self, channel: &mut Channel) {
        if !matches!(self, Self::Payload) {
            channel.abort(self.abort_code());
        }
    }
}

impl From<psijoin_ot::Error> for Error {
    fn from(error: psijoin_ot::Error) -> Self {
        match error {
            psijoin_ot::Error::Channel(error) => Self::Channel(error),
            psijoin_ot::Error::InvalidPoint => Self::Peer("it sent an invalid group element"),
            psijoin_ot::Error::InvalidPublicKey => Self::Peer("it sent an invalid public key"),
            _ => Self::Peer("it failed a consistency check"),
        }
    }
}

impl From<psijoin_circuit::Error> for Error {
    fn from(error: psijoin_circuit::Error) -> Self {
        match error {
            psijoin_circuit::Error::Channel(error) => Self::Channel(error),
            psijoin_circuit::Error::Ot(error) => error.into(),
            _ => Self::Peer("it broke the rules of the evaluation of a circuit"),
        }
    }
}

/// Data of a run that exceeds memory is spilled as a table's is, so its errors are a table's.
impl From<psijoin_files::spill::Error> for Error {
    fn from(error: psijoin_files::spill::Error) -> Self {
        Self::Table(Box::new(error))
    }
}

impl From<psijoin_curve::Error> for Error {
    fn from(_: psijoin_curve::Error) -> Self {
        Self::Peer("it sent an invalid group element")
    }
}
