use std::{io, time::Duration};

/// The reason that a message could not be sent or received.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The peer went away without saying why.
    #[error("the other party closed the connection before the protocol was done")]
    Closed,

    /// The peer went away without saying why, or what stands between the two did.
    #[error(
        "the other party, or the relay or proxy between, ended the connection before the protocol was done"
    )]
    Cut,

    /// Nothing moved for as long as the channel was told to wait.
    #[error("nothing was heard from the other party for {} s", .0.as_secs_f32())]
    TimedOut(Duration),

    /// The peer sent a message of another length than the protocol prescribes.
    #[error("the other party sent a message of {received} bytes where {expected} were due")]
    MessageLength {
        /// Bytes that the protocol prescribes.
        expected: usize,
        /// Bytes that the peer announced.
        received: usize,
    },

    /// The peer sent something that is not a message at all.
    #[error("the other party sent something that is not part of the protocol: {0}")]
    Malformed(&'static str),

    /// The peer gave up and said why.
    #[error("the other party gave up: {0}")]
    PeerAborted(AbortCode),

    /// This party was told to stop, for example by Ctrl-C.
    #[error("interrupted")]
    Interrupted,

    /// This party gave up over another stream of the same session, whose error has the reason.
    #[error("the session was ended on this side, over another of its streams")]
    EndedElsewhere,

    /// The other party's messages are not those that a [witness](crate::witness) remembers.
    #[error(
        "this is not the set of the first attempt: the other party does not say what it said then; it goes on with its own \
         table as it was, or both sides begin anew with new job folders"
    )]
    PeerDiffers,

    /// This party's messages are not those that a [witness](crate::witness) remembers.
    #[error(
        "this side does not compute what it computed in the first attempt, which has been said to the other party: go on \
         with the same build and machine, or begin anew on both sides with new job folders"
    )]
    OwnDiffers,

    /// The received messages cannot be remembered, so they are not answered.
    #[error("cannot keep what was heard: {0}")]
    NotKept(#[source] io::Error),

    /// The network failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
}

impl Error {
    /// Returns whether a [witness](crate::witness) refused what was to be said. The channel is not
    /// broken.
    pub(crate) fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::PeerDiffers | Self::OwnDiffers | Self::NotKept(_)
        )
    }
}

/// For reporting one failure to both halves of a channel. The clone of an I/O error keeps its kind
/// and text.
impl Clone for Error {
    fn clone(&self) -> Self {
        match self {
            Self::Closed => Self::Closed,
            Self::Cut => Self::Cut,
            Self::TimedOut(waited) => Self::TimedOut(*waited),
            &Self::MessageLength { expected, received } => {
                Self::MessageLength { expected, received }
            }
            Self::Malformed(what) => Self::Malformed(what),
            Self::PeerAborted(code) => Self::PeerAborted(*code),
            Self::Interrupted => Self::Interrupted,
            Self::EndedElsewhere => Self::EndedElsewhere,
            Self::PeerDiffers => Self::PeerDiffers,
            Self::OwnDiffers => Self::OwnDiffers,
            Self::NotKept(error) => Self::NotKept(same(error)),
            Self::Io(error) => Self::Io(same(error)),
        }
    }
}

/// Returns an error of the same kind, with the same text.
fn same(error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), error.to_string())
}

/// The code that a party which gives up sends its peer. It never carries data, since an error text
/// could hold something private.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
#[repr(u8)]
pub enum AbortCode {
    /// Its own input or output cannot be used.
    LocalFailure = 1,
    /// The sender of the code found that the peer broke the protocol.
    ProtocolViolation = 2,
    /// The two sides were not set up alike.
    Incompatible = 3,
    /// It was interrupted by its user.
    Interrupted = 4,
    /// Its policy forbids the run.
    Refused = 5,
    /// A statistical failure: it may try again with fresh randomness.
    BadLuck = 6,
    /// It heard nothing for too long.
    TimedOut = 7,
    /// It has no memory left.
    OutOfMemory = 8,
    /// It met a fault of its own, or of its machine.
    InternalFailure = 9,
    /// The deadline that its user set has passed.
    DeadlinePassed = 10,
    /// This side's set is larger than it allows.
    TooManyItems = 11,
    /// It allows no sums of the receiver's columns.
    ReceiverSums = 12,
    /// The two sides' items differ in meaning, and it demands that they do not.
    UnlikeItems = 13,
    /// It lost one of several connections to this side.
    ConnectionLost = 14,
    /// It could not open all connections that both parties had agreed on.
    TooFewStreams = 15,
    /// It wants a column that this side does not offer.
    NotOffered = 16,
    /// This side gives more with each item than it takes.
    TooMuchGiven = 17,
    /// This side did not send what it sent in an earlier attempt.
    OtherRun = 18,
    /// It has lost a lane, and comes again.
    LaneLost = 19,
    /// It allows no groups of the receiver's columns that may have a single key.
    ReceiverGroups = 20,
    /// Its budget does not allow the answer.
    BudgetSpent = 21,
    /// A reason that this version does not know: the peer's may be a later one.
    Unknown = 0,
}

impl AbortCode {
    /// Returns the code with this number on the wire; [`Unknown`](Self::Unknown) if this version
    /// has none.
    pub fn from_wire(code: u8) -> Self {
        use AbortCode::*;
        [
            LocalFailure,
            ProtocolViolation,
            Incompatible,
            Interrupted,
            Refused,
            BadLuck,
            TimedOut,
            OutOfMemory,
            InternalFailure,
            DeadlinePassed,
            TooManyItems,
            ReceiverSums,
            UnlikeItems,
            ConnectionLost,
            TooFewStreams,
            NotOffered,
            TooMuchGiven,
            OtherRun,
            LaneLost,
            ReceiverGroups,
            BudgetSpent,
        ]
        .into_iter()
        .find(|known| *known as u8 == code)
        .unwrap_or(Unknown)
    }
}

impl std::fmt::Display for AbortCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::LocalFailure => {
                "it cannot use its own input or output (its own message says what is wrong)"
            }
            Self::ProtocolViolation => "it says that this side broke the protocol",
            Self::Incompatible => "it was started with other settings than this side",
            Self::Interrupted => "it was interrupted by its user",
            Self::Refused => "its policy forbids the run",
            Self::BadLuck => "it met a statistical failure (run again: fresh randomness is drawn; a job begins anew, in new folders)",
            Self::TimedOut => "it heard nothing from this side for too long",
            Self::OutOfMemory => "it ran out of memory",
            Self::InternalFailure => "it met an internal failure, which is not this side's fault",
            Self::DeadlinePassed => "the deadline that its user set has passed",
            Self::TooManyItems => "this side's set is larger than it allows",
            Self::ReceiverSums => "it does not allow sums of the receiver's columns",
            Self::ReceiverGroups => {
                "it does not allow groups by the receiver's columns without a least size of 2 or more"
            }
            Self::BudgetSpent => "its budget for this side does not allow this answer",
            Self::UnlikeItems => {
                "its keys and this side's differ in kind, and it demands that they do not"
            }
            Self::ConnectionLost => "it lost one of its connections to this side",
            Self::TooFewStreams => {
                "it could not open all connections between the two sides (a firewall may let only \
                 one pass: start both sides with one thread, which needs no other)"
            }
            Self::NotOffered => "it asks for a column that this side does not offer",
            Self::TooMuchGiven => {
                "it takes less for each key than this side gives (give fewer columns, fewer rows for \
                 each key, or fewer bytes for each row)"
            }
            Self::OtherRun => {
                "this is not the set of the first attempt: this side did not say what it said then (another table, or a job \
                 folder that was put back)"
            }
            Self::LaneLost => "it lost a process that ran a part of the join",
            Self::Unknown => "for a reason that this version does not know",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_survive_the_wire_and_unknown_ones_say_so() {
        for number in 1..=21 {
            assert_eq!(AbortCode::from_wire(number) as u8, number);
        }
        for number in [0, 22, 255] {
            assert_eq!(AbortCode::from_wire(number), AbortCode::Unknown);
        }
        let error = Error::PeerAborted(AbortCode::Unknown).to_string();
        assert!(
            error.ends_with("for a reason that this version does not know"),
            "{error}"
        );
    }
}
