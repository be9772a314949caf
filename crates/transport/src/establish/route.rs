//! The ways that lead to somebody who may be the peer.

use std::{fmt, net::SocketAddr, time::Duration};

use super::{
    Patience,
    host::{Limits, Reached},
    relay::Place,
};
use crate::{
    Attempt, Error, Sight,
    dial::{Dial, Failure, Way},
    mailbox::{self, Spot},
};

/// How long somebody may take for the first word after a relay has put the two together: a round
/// trip, and not long. Somebody who took the peer's place in the queue may say nothing at all.
const FIRST_WORD: Duration = Duration::from_secs(3);

/// See the [module](self).
pub(crate) enum Route<'a> {
    /// To the peer's address.
    Straight(&'a Way),
    /// To a relay's queue.
    Relay(&'a Place, &'a dyn Fn(Sight)),
    /// To a folder.
    Folder(&'a Spot, &'a dyn Fn(Sight)),
}

impl Route<'_> {
    /// Begins to go there once. Each address is given `limit` to answer.
    pub(super) fn approach<'b>(
        &'b self,
        limit: Duration,
        patience: &'b Patience<'b>,
    ) -> Result<Approach<'b>, Failure> {
        Ok(match self {
            Self::Straight(way) => Approach::Straight(way.dial(limit, patience)?),
            Self::Relay(place, sees) => {
                Approach::Relay(place.way().dial(limit, patience)?, place, patience, *sees)
            }
            Self::Folder(at, sees) => Approach::Folder(Some((*at, *sees))),
        })
    }

    /// Returns how long somebody who was reached may take, if everybody gets `setup`, and this side
    /// has `overall`.
    pub(super) fn limits(&self, setup: Duration, overall: Duration) -> Limits {
        let first = match self {
            Self::Straight(_) => setup,
            Self::Relay(..) => setup.min(FIRST_WORD),
            // Nobody has to be there.
            Self::Folder(..) => overall,
        };
        Limits { first, setup }
    }

    /// Returns who wants to know what is seen, if anybody does.
    pub(super) fn sees(&self) -> Option<&dyn Fn(Sight)> {
        match self {
            Self::Straight(_) => None,
            Self::Relay(_, sees) | Self::Folder(_, sees) => Some(*sees),
        }
    }

    /// Returns whether nobody stands between the parties, as far as is known.
    pub(super) fn is_direct(&self) -> bool {
        matches!(self, Self::Straight(Way { proxy: None, .. }))
    }

    /// Returns where the peer is, for people, if it was reached at this address.
    pub(super) fn place(&self, peer: SocketAddr) -> String {
        match self.is_direct() {
            true => peer.to_string(),
            false => self.to_string(),
        }
    }

    /// Returns what a fault of somebody who was reached means on this way.
    pub(super) fn explain(&self, error: Error) -> Error {
        match (self, error) {
            (
                Self::Straight(Way {
                    address,
                    proxy: Some(proxy),
                }),
                Error::WrongPeer { found, expected },
            ) => Error::Intercepted {
                proxy: proxy.to_string().into(),
                address: address.as_str().into(),
                found,
                expected,
            },
            (_, error) => error,
        }
    }

    /// Returns the error of a side that has not met the peer.
    pub(super) fn nobody(
        &self,
        waited: Duration,
        attempt: Option<Attempt>,
        by_invitation: bool,
    ) -> Error {
        match self {
            Self::Straight(way) => Error::NobodyListened {
                address: way.address.as_str().to_owned(),
                waited,
                attempt,
            },
            Self::Relay(place, _) => Error::NobodyAtRelay {
                relay: place.relay().to_string(),
                waited,
                attempt,
                strangers: None,
                by_invitation,
            },
            Self::Folder(at, _) => Error::NobodyInFolder {
                folder: at.folder.clone(),
                waited,
                attempt,
                strangers: None,
                by_invitation,
            },
        }
    }
}

/// Where it leads, for people.
impl fmt::Display for Route<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Straight(way) => write!(f, "{way}"),
            Self::Relay(place, _) => write!(f, "{place}"),
            Self::Folder(at, _) => {
                write!(f, "the folder {}", psijoin_printable::path(&at.folder))
            }
        }
    }
}

/// A route that is being gone.
pub(super) enum Approach<'a> {
    Straight(Dial<'a>),
    Relay(Dial<'a>, &'a Place, &'a Patience<'a>, &'a dyn Fn(Sight)),
    Folder(Option<(&'a Spot, &'a dyn Fn(Sight))>),
}

impl Approach<'_> {
    /// Returns the next who is reached, or the reason that nobody was; nothing when all has been
    /// tried.
    pub(super) fn next(&mut self) -> Option<Result<Reached, Failure>> {
        match self {
            Self::Straight(dial) => Some(dial.next()?.map(Reached::from)),
            Self::Relay(dial, place, patience, sees) => {
                let arrived = dial.next()?;
                Some(arrived.and_then(|socket| place.wait(socket, patience, *sees)))
            }
            Self::Folder(at) => {
                let (at, sees) = at.take()?;
                let opened = mailbox::dial(at, sees);
                Some(opened.map(|(socket, bridge)| Reached {
                    socket,
                    bridge: Some(bridge),
                    from: None,
                }))
            }
        }
    }
}
