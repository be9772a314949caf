//! Further streams of a session: connections of their own between parties that have met.
//!
//! The side that listened lets them in where it met the peer. The side that connected dials all of
//! them at once, since each takes a few round trips. If one fails, the session is over, and both
//! sides report why within [`Timeouts::setup`](crate::Timeouts::setup), or the time that
//! [lanes](crate::Lanes) are given.
//!
//! # Why a stream is a connection of its own
//!
//! - *Long lines.* A connection never has more under way than its buffers hold. Linux 6.18, for
//!   example, has `4096 16384 4194304` in `/proc/sys/net/ipv4/tcp_wmem` and `4096 131072 33554432`
//!   in `tcp_rmem`: at most 4 MiB wait to be sent or confirmed, so at a round trip of 50 ms one
//!   connection carries at most 670 Mbit/s, and at 100 ms 335 Mbit/s, whatever the line could. n
//!   connections carry n times as much, and a lost packet slows down one of them. This is an
//!   argument, not a measurement.
//! - *Parts must not block each other.* Lanes in one connection would need flow control of their
//!   own: a part whose party computes would otherwise hold up all that comes behind it.
//! - *Others open connections one by one*: the tasks of a cluster, each of which has one lane.
//!
//! *Meeting again.* The side that listened keeps its listener (`Options::streams`) until the
//! streams are open. The side that connected dials the address that led to the peer, all streams at
//! once. Parties that met at a relay or in a folder meet there again, each stream under a name of
//! its own that comes from the joint seed. Everything that holds for strangers at the meeting holds
//! here, as it is the same code: an `Introduction` and a `Doorkeeper` are what differs between a
//! meeting and a stream.
//!
//! *Tickets.* The side that connects sends the stream's number and a keyed hash of it. The key
//! comes from the joint seed. The other side answers with another such hash, and only if the first
//! one is right and the number is not taken. Under TLS the peer's key is checked before, so a
//! ticket only keeps streams and sessions apart. Without TLS it is all that there is: strangers who
//! did not read the session are kept out, and nobody else is.
//!
//! *The last message ends the session* with streams too: `Connection::all_end_after` counts the
//! bytes over all of them together, in whichever order parts take them. All say goodbye at that
//! byte, and none before. Only lanes do, each when its own last byte has passed. A party's work
//! between two parts on one stream still shows as time, so whoever schedules parts must not look at
//! a part's result there.
//!
//! *All or nothing.* If not all streams are open in time, the session is over, and each side
//! reports what to do. Going on with fewer would have to be agreed upon again.

use std::{cell::Cell, ops::Range, time::Duration};

use psijoin_channel::joint_seed::JointSeed;

use super::{
    Established, Patience, accept::accept_streams, connect::connect_stream, failures::Failures,
    gate::Gate, relay::Place, route::Route,
};
use crate::{
    AtRelay, Error, InFolder, Lanes, Listener, Options, Sight,
    dial::Way,
    endpoint::Appointment,
    mailbox::Spot,
    rendezvous::{Side, Token},
    ticket::Ticket,
};

/// The place where the parties of a session have met.
#[derive(Debug)]
pub(crate) enum Door {
    /// Here.
    Listener(Listener),
    /// There. It is the address that led to the peer, whatever else the peer's name resolves to,
    /// unless a proxy looks it up.
    Address(Way),
    /// At a relay, in this part.
    Relay(AtRelay, Side),
    /// In a folder, in this part.
    Folder(InFolder, Side),
}

impl Door {
    /// Returns whether the peer comes to this side for streams, and not this side to the peer.
    pub(super) fn lets_in(&self) -> bool {
        match self {
            Self::Listener(_) => true,
            Self::Address(_) => false,
            Self::Relay(_, side) | Self::Folder(_, side) => *side == Side::Server,
        }
    }
}

/// Nobody is told what is seen while streams are opened.
fn unseen(_: Sight) {}

/// Further streams of a session, as both parties have agreed on them.
pub(crate) struct Streams {
    ticket: Ticket,
    joint_seed: JointSeed,
    /// Their numbers. That of the meeting's stream is 0.
    pub(super) numbers: Range<u32>,
    /// The time within which all have to be open.
    wait: Duration,
    /// `true` if processes of the peer open them, one by one.
    are_elsewhere: bool,
    options: Options,
}

impl Streams {
    /// Returns `count` streams that are made as that of the meeting, and that all end together.
    pub(crate) fn like_the_meeting(count: u8, joint_seed: &JointSeed, options: &Options) -> Self {
        Self {
            ticket: Ticket::of_streams(joint_seed),
            joint_seed: *joint_seed,
            numbers: 1..1 + u32::from(count),
            wait: options.timeouts.setup,
            are_elsewhere: false,
            options: options.clone(),
        }
    }

    /// Returns these of a session's lanes.
    pub(crate) fn lanes(lanes: &Lanes, which: Range<u32>, options: &Options) -> Self {
        Self {
            ticket: Ticket::of_lanes(&lanes.joint_seed),
            joint_seed: lanes.joint_seed,
            numbers: 1 + which.start..1 + which.end,
            wait: lanes.wait,
            are_elsewhere: lanes.are_elsewhere,
            options: Options {
                security: lanes.security(options),
                ..options.clone()
            },
        }
    }

    pub(crate) fn options(&self) -> &Options {
        &self.options
    }

    /// Returns whether processes of the peer open them, one by one.
    pub(super) fn are_elsewhere(&self) -> bool {
        self.are_elsewhere
    }

    /// Returns the error of a side that misses some lanes, if processes of the peer open them:
    /// the numbers are those of streams that are open.
    pub(super) fn missing(&self, error: Error, open: &[u32]) -> Error {
        match error {
            Error::TooFewStreams {
                waited,
                attempt,
                strangers,
                ..
            } if self.are_elsewhere => {
                let numbers = self.numbers.clone();
                let missing = numbers.filter(|number| !open.contains(number));
                Error::LanesMissing {
                    missing: missing.map(|number| number - 1).collect(),
                    lanes: self.numbers.len() as u32,
                    waited,
                    attempt,
                    strangers: strangers.map(Box::new),
                }
            }
            error => error,
        }
    }

    /// Opens the only one of them, for a process that has not met the peer itself.
    pub(crate) fn open_alone(&self, door: &Door) -> Result<Established, Error> {
        let patience = self.patience();
        if !door.lets_in() {
            return self.dial(door, self.numbers.start, &patience);
        }
        let opened = Cell::default();
        self.let_in(door, &patience, |established| {
            opened.set(Some(established));
            Ok(())
        })?;
        Ok(opened.take().expect("one was let in"))
    }

    /// Returns how long this side waits for them.
    pub(super) fn patience(&self) -> Patience<'_> {
        Patience::new(self.wait, &self.options.interrupt)
    }

    /// Lets all of them in where the peer comes to. `start` gets each as it comes.
    ///
    /// # Errors
    /// That of `start`, and [`Error::TooFewStreams`] once patience is over.
    ///
    /// # Panics
    /// If the peer does not come to this side.
    pub(super) fn let_in(
        &self,
        door: &Door,
        patience: &Patience<'_>,
        start: impl Fn(Established) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut failures = Failures::default();
        let gate = match door {
            Door::Listener(listener) => Gate::of(listener),
            Door::Relay(at, side) => {
                let place = |stream| self.place(at, stream, *side);
                let places: Result<Vec<_>, Error> = self.numbers.clone().map(place).collect();
                places.and_then(|places| {
                    Gate::at_relay(places, &self.options, &unseen, &mut failures)
                })
            }
            Door::Folder(at, side) => {
                let spots = (self.numbers.clone()).map(|stream| (self.spot(at, stream), *side));
                Gate::in_folders(spots.collect(), &self.options, &unseen, &mut failures)
            }
            Door::Address(_) => unreachable!("this side goes to the peer's address"),
        };
        let expected = (self.ticket.clone(), self.numbers.clone());
        let opened =
            gate.and_then(|gate| accept_streams(gate, &self.options, expected, patience, start));
        opened.map_err(|error| named(error, failures))
    }

    /// Goes where the peer waits for one of them.
    ///
    /// # Panics
    /// If the peer comes to this side.
    pub(super) fn dial(
        &self,
        door: &Door,
        stream: u32,
        patience: &Patience<'_>,
    ) -> Result<Established, Error> {
        let go = |route: &Route<'_>| {
            let purpose = (self.ticket.clone(), stream);
            connect_stream(route, &self.options, purpose, patience)
        };
        match door {
            Door::Listener(_) => unreachable!("others come to a listener"),
            Door::Address(way) => go(&Route::Straight(way)),
            Door::Relay(at, side) => {
                let place = self.place(at, stream, *side)?;
                go(&Route::Relay(&place, &unseen))
            }
            Door::Folder(at, _) => go(&Route::Folder(&self.spot(at, stream), &unseen)),
        }
    }

    /// Returns the name of a stream, where both sides go somewhere to meet.
    fn token(&self, stream: u32) -> Token {
        Token::of_lane(&self.joint_seed, 0, stream)
    }

    /// Returns the place of a stream whose parties have met at a relay.
    fn place(&self, at: &AtRelay, stream: u32, side: Side) -> Result<Place, Error> {
        let appointment = Appointment {
            token: self.token(stream),
            side,
        };
        Place::new(at, appointment, &self.options.proxies)
    }

    /// Returns the place of a stream whose parties have met in a folder.
    fn spot(&self, at: &InFolder, stream: u32) -> Spot {
        Spot {
            folder: at.folder.clone(),
            token: self.token(stream),
        }
    }
}

/// Returns the error with the most telling of this side's attempts.
fn named(mut error: Error, failures: Failures) -> Error {
    if let Error::TooFewStreams { attempt, .. } = &mut error {
        *attempt = failures.into_most_telling().map(Box::new);
    }
    error
}
