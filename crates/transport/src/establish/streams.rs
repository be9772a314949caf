//! Further streams of a session: connections of their own between parties that have met.
//!
//! The side that listened lets them in where it met the peer. The side that connected dials all of
//! them at once, since each takes a few round trips. If one fails, the session is over, and both
//! sides report why within [`Timeouts::setup`](crate::Timeouts::setup).
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
//! - *Others will open connections one by one*: tasks of a cluster, or a relay.
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
//! byte, and none before. A party's work between two parts on one stream still shows as time, so
//! whoever schedules parts must not look at a part's result there.
//!
//! *All or nothing.* If not all streams are open within `Timeouts::setup`, the session is over, and
//! each side reports what to do. Going on with fewer would have to be agreed upon again.

use std::{
    sync::{Arc, Mutex},
    thread,
};

use psijoin_channel::{AbortCode, joint_seed::JointSeed};

use super::{
    Established, Patience, accept::accept_streams, connect::connect_stream, failures::Failures,
    gate::Gate, relay::Place, route::Route,
};
use crate::{
    AtRelay, Attempt, Error, InFolder, Listener, Options, Sight,
    dial::Way,
    endpoint::Appointment,
    line::Line,
    link::{Bond, Link},
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

/// Nobody is told what is seen while streams are opened: it takes seconds.
fn unseen(_: Sight) {}

/// Streams that are being opened.
pub(crate) struct Opening<'a> {
    ticket: Ticket,
    joint_seed: JointSeed,
    count: u8,
    options: &'a Options,
    /// That of the meeting. If it fails, so does the opening.
    session: &'a Link,
    bond: &'a Arc<Bond>,
    patience: Patience<'a>,
    /// Those that are open, with their numbers. They hear at once if the others fail.
    open: Mutex<Vec<(u8, Line)>>,
}

impl<'a> Opening<'a> {
    /// Prepares as many streams, for the session that `joint_seed` belongs to.
    pub(crate) fn new(
        count: u8,
        joint_seed: &JointSeed,
        options: &'a Options,
        session: &'a Link,
        bond: &'a Arc<Bond>,
    ) -> Self {
        let patience = Patience {
            session: Some(session),
            ..Patience::new(options.timeouts.setup, &options.interrupt)
        };
        Self {
            ticket: Ticket::of(joint_seed),
            joint_seed: *joint_seed,
            count,
            options,
            session,
            bond,
            patience,
            open: Mutex::default(),
        }
    }

    /// Opens them.
    ///
    /// # Errors
    /// If they cannot all be opened. Then the session has ended, and the peer knows why.
    pub(crate) fn through(&self, door: Door) -> Result<(), Error> {
        let mut failures = Failures::default();
        let gate = match &door {
            Door::Listener(listener) => Gate::of(listener),
            Door::Relay(at, side @ Side::Server) => {
                let place = |token| self.place(at, token, *side);
                match self.lanes().map(place).collect() {
                    Ok(places) => Gate::at_relay(places, self.options, &unseen, &mut failures),
                    Err(error) => Err(error),
                }
            }
            Door::Folder(at, side @ Side::Server) => {
                let folders = self.lanes().map(|token| (in_lane(at, token), *side));
                let folders = folders.collect();
                Gate::in_folders(folders, self.options, &unseen, &mut failures)
            }
            Door::Address(_) | Door::Relay(..) | Door::Folder(..) => return self.dial(&door),
        };
        let opened = gate.and_then(|gate| self.let_in(gate));
        opened
            .map_err(|error| named(error, failures))
            .inspect_err(|error| self.give_up(error))
    }

    /// Returns the names of the streams, where both sides go somewhere to meet.
    fn lanes(&self) -> impl Iterator<Item = Token> {
        (1..=self.count).map(|stream| self.lane(stream))
    }

    fn lane(&self, stream: u8) -> Token {
        Token::of_lane(&self.joint_seed, 0, stream.into())
    }

    fn place(&self, at: &AtRelay, token: Token, side: Side) -> Result<Place, Error> {
        Place::new(at, Appointment { token, side }, &self.options.proxies)
    }

    /// Returns those that are open, in the order of their numbers.
    pub(crate) fn into_lines(self) -> Vec<Line> {
        let mut open = self.open.into_inner().expect(UNPOISONED);
        open.sort_unstable_by_key(|&(stream, _)| stream);
        open.into_iter().map(|(_, line)| line).collect()
    }

    fn let_in(&self, gate: Gate<'_>) -> Result<(), Error> {
        let expected = (self.ticket.clone(), self.count);
        let start = |established| self.start(established);
        accept_streams(gate, self.options, expected, &self.patience, start)
    }

    /// Goes where the peer waits for a stream.
    fn connect(&self, door: &Door, stream: u8) -> Result<Established, Error> {
        match door {
            Door::Listener(_) => unreachable!("others come to a listener"),
            Door::Address(way) => self.go(&Route::Straight(way), stream),
            Door::Relay(at, side) => {
                let place = self.place(at, self.lane(stream), *side)?;
                self.go(&Route::Relay(&place, &unseen), stream)
            }
            Door::Folder(at, _) => {
                let at = in_lane(at, self.lane(stream));
                self.go(&Route::Folder(&at, &unseen), stream)
            }
        }
    }

    fn go(&self, route: &Route<'_>, stream: u8) -> Result<Established, Error> {
        let purpose = (self.ticket.clone(), stream);
        connect_stream(route, self.options, purpose, &self.patience)
    }

    fn dial(&self, door: &Door) -> Result<(), Error> {
        let dial = |stream| {
            self.connect(door, stream)
                .and_then(|established| self.start(established))
                // This ends the other attempts, too.
                .inspect_err(|error| self.give_up(error))
        };
        let failures: Vec<_> = thread::scope(|scope| {
            let start = |stream| {
                thread::Builder::new()
                    .name("psijoin-dial".into())
                    .spawn_scoped(scope, move || dial(stream))
                    .map_err(Error::Thread)
                    .inspect_err(|error| self.give_up(error))
            };
            let dialling: Vec<_> = (1..=self.count).map(start).collect();
            let dialled = dialling.into_iter().map(|thread| {
                let panicked = |panic| std::panic::resume_unwind(panic);
                thread.and_then(|thread| thread.join().unwrap_or_else(panicked))
            });
            dialled.filter_map(Result::err).collect()
        });
        // That the session has ended is what others make of the failure of one.
        let is_consequence = |error: &Error| matches!(error, Error::Channel(_));
        match failures.into_iter().min_by_key(is_consequence) {
            None => Ok(()),
            Some(error) => Err(self.explain(error)),
        }
    }

    /// Keeps a stream alive from now on.
    fn start(&self, established: Established) -> Result<(), Error> {
        let stream = established.stream;
        let line = Line::start(established, self.options, self.bond)?;
        self.open.lock().expect(UNPOISONED).push((stream, line));
        Ok(())
    }

    /// Returns why not all streams could be opened, from why one could not be dialled.
    fn explain(&self, error: Error) -> Error {
        let attempt = match error {
            Error::Interrupted | Error::Thread(_) | Error::Channel(_) => return error,
            Error::NobodyListened { attempt, .. }
            | Error::NobodyAtRelay { attempt, .. }
            | Error::NobodyInFolder { attempt, .. } => attempt,
            lasting => Some(Attempt {
                why: Box::new(lasting),
                is_last: true,
            }),
        };
        Error::TooFewStreams {
            opened: self.open.lock().expect(UNPOISONED).len() as u8,
            agreed: self.count,
            waited: self.patience.started.elapsed(),
            attempt: attempt.map(Box::new),
            strangers: None,
        }
    }

    /// Ends the session, if it has not ended yet.
    fn give_up(&self, error: &Error) {
        match error {
            Error::Channel(_) => {}
            // Whoever triggers it may not have come to this session yet.
            Error::Interrupted => {
                let code = self.options.interrupt.reason();
                self.session
                    .interrupt(code.unwrap_or(AbortCode::Interrupted));
            }
            Error::Thread(_) => self.session.abort(AbortCode::OutOfMemory),
            _ => self.session.abort(AbortCode::TooFewStreams),
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

/// Returns the place of a stream whose parties have met in a folder.
fn in_lane(at: &InFolder, token: Token) -> Spot {
    Spot {
        folder: at.folder.clone(),
        token,
    }
}

const UNPOISONED: &str = "no thread panics while it holds this lock";
