//! The reasons for which a relay does not join somebody with anybody.

use std::time::Duration;

use psijoin_transport::{rendezvous, websocket};

/// The reason that somebody is turned away. The text is for whoever has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("{0}")]
    Words(#[from] rendezvous::Fault),
    #[error("{0}")]
    WebSocket(#[from] websocket::Fault),
    #[error("the party did not say within {} s whom it meets", .0.as_secs_f32())]
    TooSlow(Duration),
    #[error("the party sent bytes before it was joined with its peer")]
    TooEarly,
    #[error("this relay serves only those who have an access key: ask whoever runs it for one")]
    NoKey,
    #[error("this relay does not know that access key: it was mistyped, or it was withdrawn")]
    WrongKey,
    #[error("too many strangers have come to this relay at once: try again")]
    Crowd,
    #[error(
        "{0} connections from this address wait at this relay already, and no more may; an access \
         key lifts this limit, if the relay has any"
    )]
    WaitingOfAddress(usize),
    #[error(
        "{0} sessions from this address go through this relay already, and no more may; an access \
         key lifts this limit, if the relay has any"
    )]
    PairsOfAddress(usize),
    #[error(
        "{0} connections wait on this side of the meeting already: somebody else may know where \
         the two parties meet"
    )]
    Queue(usize),
    #[error("{0} connections wait at this relay already, and it takes no more: try again later")]
    Waiting(usize),
    #[error("{0} sessions go through this relay already, and it takes no more: try again later")]
    Pairs(usize),
    #[error("others came who had fewer places in the queue: try again")]
    Displaced,
    #[error("a newer connection of this party has taken its place")]
    Replaced,
    #[error("this relay is at the limits of its machine: try again later")]
    Exhausted,
    #[error("this relay is about to stop: try again in a while")]
    Draining,
}

impl Refusal {
    /// Its reason, as metrics have it.
    pub(crate) const REASONS: [&str; 16] = [
        "words",
        "websocket",
        "too_slow",
        "too_early",
        "no_key",
        "wrong_key",
        "crowd",
        "waiting_of_address",
        "pairs_of_address",
        "queue",
        "waiting",
        "pairs",
        "displaced",
        "replaced",
        "exhausted",
        "draining",
    ];

    /// Returns whether it holds however often the party comes again.
    pub(crate) fn lasts(&self) -> bool {
        matches!(self, Self::Words(_) | Self::NoKey | Self::WrongKey)
    }

    /// Returns the place of its reason in [`REASONS`](Self::REASONS).
    pub(crate) fn reason(&self) -> usize {
        match self {
            Self::Words(_) => 0,
            Self::WebSocket(_) => 1,
            Self::TooSlow(_) => 2,
            Self::TooEarly => 3,
            Self::NoKey => 4,
            Self::WrongKey => 5,
            Self::Crowd => 6,
            Self::WaitingOfAddress(_) => 7,
            Self::PairsOfAddress(_) => 8,
            Self::Queue(_) => 9,
            Self::Waiting(_) => 10,
            Self::Pairs(_) => 11,
            Self::Displaced => 12,
            Self::Replaced => 13,
            Self::Exhausted => 14,
            Self::Draining => 15,
        }
    }
}
