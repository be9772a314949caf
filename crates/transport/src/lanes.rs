//! Lanes: streams of a session of which each ends by itself, and which other processes than the one
//! that has met the peer may open.
//!
//! A session in parts runs its parts over lanes. Each is a connection between the parties, found as
//! a [further stream](crate::Connection::open_streams) is, with three differences.
//!
//! - *Keys of the session.* Both parties tell each other, over the pinned connection of their
//!   meeting, the fingerprint of a key that they have made for this session alone. TLS of a lane is
//!   by these. So a process that runs a lane needs no key that anybody is known by: whoever steals
//!   what it has can take part in the lanes of this session, while it lasts, and in nothing else.
//! - *An end of its own.* A lane says goodbye when its own last byte has passed. No process has to
//!   know what passes over the others.
//! - *A number of four bytes*, since a cluster may have more lanes than one byte can count.

use std::time::Duration;

use psijoin_channel::{Channel, joint_seed::JointSeed};

use crate::{
    AtRelay, Connection, Error, Fingerprint, Identity, Options, Security,
    endpoint::Address,
    establish::{Door, Streams},
    rendezvous::Side,
};

/// The lanes of a session, as both parties have agreed on them.
#[derive(Debug, Clone)]
pub struct Lanes {
    /// The number of all of them.
    pub count: u32,
    /// The seed that both drew when they met.
    pub joint_seed: JointSeed,
    /// The keys of this session; `None` without TLS.
    pub keys: Option<LaneKeys>,
    /// The time within which all have to be open.
    pub wait: Duration,
    /// `true` if processes of the other party open them, one by one.
    pub are_elsewhere: bool,
}

/// The keys by which TLS of lanes is made.
#[derive(Debug, Clone)]
pub struct LaneKeys {
    /// That of this side, made for this session.
    pub own: Identity,
    /// The fingerprint of the other side's.
    pub peer: Fingerprint,
}

/// The place where processes of a party that has met its peer elsewhere go for lanes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LanesAt {
    /// The address at which the peer listens.
    Address(Address),
    /// The relay at which the parties have met, and the part of this side. The appointments mean
    /// nothing here: each lane has one of its own.
    Relay(AtRelay, Side),
}

impl Lanes {
    /// Returns the protection of lanes by a party of these options.
    pub(crate) fn security(&self, options: &Options) -> Security {
        match &self.keys {
            Some(LaneKeys { own, peer }) => Security::PinnedTls {
                identity: own.clone(),
                peer: *peer,
            },
            None => options.security.clone(),
        }
    }

    /// Opens one lane, in a process that has not met the peer itself. The connection is this
    /// lane's alone.
    ///
    /// # Errors
    /// [`Error::LaneAlone`] if it is not open within [`Self::wait`]; [`Error::Interrupted`]; and
    /// what no later attempt could change.
    pub fn open(
        &self,
        lane: u32,
        at: &LanesAt,
        options: &Options,
    ) -> Result<(Connection, Channel), Error> {
        let door = match at {
            LanesAt::Address(address) => Door::Address(options.proxies.way(address)),
            LanesAt::Relay(at, side) => Door::Relay(at.clone(), *side),
        };
        let streams = Streams::lanes(self, lane..lane + 1, options);
        let opened = Connection::of_stream(&streams, &door);
        opened.map_err(|error| self.alone(lane, error))
    }

    /// Returns the error of a process that has met nobody for this lane.
    fn alone(&self, lane: u32, error: Error) -> Error {
        let (attempt, strangers) = match error {
            Error::NobodyListened { attempt, .. } => (attempt.map(Box::new), None),
            Error::NobodyAtRelay {
                attempt, strangers, ..
            } => (attempt.map(Box::new), strangers),
            Error::TooFewStreams {
                attempt, strangers, ..
            } => (attempt, strangers.map(Box::new)),
            other => return other,
        };
        Error::LaneAlone {
            lane,
            lanes: self.count,
            waited: self.wait,
            attempt,
            strangers,
        }
    }
}
