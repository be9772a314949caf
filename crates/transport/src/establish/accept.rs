//! Waiting for the other party at an address.
//!
//! Whoever connects is a candidate. The first that proves to be the peer ends the wait. Nothing
//! that any other candidate does ends it, or keeps the peer from being heard.
//!
//! One thread hears all candidates in turn, without blocking on any. So no thread can fail to
//! start, turning a candidate away is closing its socket, and a flood is let in no faster than it
//! is answered. When there are too many candidates, those that have come least far go first, the
//! oldest of them before the others.

use std::{
    io::{ErrorKind, Read, Write},
    mem,
    net::{Shutdown, SocketAddr, TcpStream},
    thread,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{
    Established, LINGER, POLL, Patience,
    greeting::{Fault, Greeter, Greeting, PIECE_BYTES},
    introduction::{Purpose, Register},
    pace::Pace,
    turned_away::TurnedAway,
};
use crate::{Error, Kind, Listener, Options, error::Strangers, ticket::Ticket};

/// How many candidates are heard at once.
const MAX_CANDIDATES: usize = 128;

/// How many are let in before all are heard again: few enough that a candidate is heard several
/// times before those that come after it can push it out.
const MAX_ADMITTED: usize = 16;

/// How long to wait for the system to have room for one more connection.
const SHORTAGE: Duration = Duration::from_millis(5);

/// Waits for the peer.
pub(crate) fn accept(listener: &Listener, options: &Options) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let mut entrance = Entrance::new(listener, options, Purpose::Meet)?;
    match entrance.next(&patience)? {
        Some(established) => Ok(established),
        None => Err(Error::NobodyConnected {
            address: listener.address().as_str().to_owned(),
            waited: patience.limit,
            strangers: entrance.close(),
        }),
    }
}

/// Waits for further streams of a session, for all together no longer than `patience` lasts. `let_in`
/// gets each as it comes.
pub(super) fn accept_streams(
    listener: &Listener,
    options: &Options,
    (ticket, count): (Ticket, u8),
    patience: &Patience<'_>,
    let_in: impl Fn(Established) -> Result<(), Error>,
) -> Result<(), Error> {
    let purpose = Purpose::LetIn(Register::new(ticket, count));
    let mut entrance = Entrance::new(listener, options, purpose)?;
    for opened in 0..count {
        match entrance.next(patience)? {
            Some(stream) => let_in(stream)?,
            None => {
                return Err(Error::TooFewStreams {
                    opened,
                    agreed: count,
                    waited: patience.limit,
                    attempt: None,
                    strangers: entrance.close(),
                });
            }
        }
    }
    Ok(())
}

/// The listening socket and all who have come.
struct Entrance<'a> {
    listener: &'a Listener,
    greeter: Greeter,
    setup: Duration,
    /// In the order in which they came.
    candidates: Vec<Candidate>,
    turned_away: TurnedAway,
    /// Once, the system had nothing left for one more connection.
    was_short: bool,
}

/// Nobody can be let in for now.
struct Short;

impl<'a> Entrance<'a> {
    fn new(listener: &'a Listener, options: &Options, purpose: Purpose) -> Result<Self, Error> {
        listener.socket.set_nonblocking(true)?;
        Ok(Self {
            listener,
            greeter: Greeter::listening(&options.security, purpose)?,
            setup: options.timeouts.setup,
            candidates: Vec::new(),
            turned_away: TurnedAway::default(),
            was_short: false,
        })
    }

    /// Waits for a connection whose other end proves to be the peer; nothing comes if patience ends.
    fn next(&mut self, patience: &Patience<'_>) -> Result<Option<Established>, Error> {
        while patience.left()?.is_some() {
            let is_short = self.admit().is_err();
            if let Some(established) = self.hear() {
                self.turned_away.log();
                return Ok(Some(established));
            }
            self.turned_away.log_if_due();
            if is_short {
                thread::sleep(SHORTAGE);
            } else {
                self.wait();
            }
        }
        Ok(None)
    }

    /// Lets in those who wait outside, or some of them.
    ///
    /// # Errors
    /// The system has no descriptor or no memory for one more connection. That passes, and sooner
    /// because a candidate has gone.
    fn admit(&mut self) -> Result<(), Short> {
        for _ in 0..MAX_ADMITTED {
            let (socket, from) = match self.listener.socket.accept() {
                Ok(connected) => connected,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(()),
                    // Somebody has left before being let in.
                    ErrorKind::Interrupted
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::ConnectionReset => continue,
                    _ => {
                        if !mem::replace(&mut self.was_short, true) {
                            tracing::warn!("nobody could be let in for a moment: {error}");
                        }
                        self.evict();
                        return Err(Short);
                    }
                },
            };
            tracing::debug!("{from} connected");
            if self.candidates.len() >= MAX_CANDIDATES {
                self.evict();
            }
            match Candidate::new(socket, from, &self.greeter) {
                Ok(candidate) => self.candidates.push(candidate),
                Err(error) => self.turned_away.note(from, error),
            }
        }
        Ok(())
    }

    /// Waits a moment for somebody to come or to say something.
    fn wait(&self) {
        let candidates = self.candidates.iter().map(|candidate| &candidate.socket);
        let mut awaited: Vec<_> = candidates
            .map(|socket| PollFd::new(socket, PollFlags::IN))
            .chain([PollFd::new(&self.listener.socket, PollFlags::IN)])
            .collect();
        let limit = Timespec {
            tv_sec: 0,
            tv_nsec: POLL.subsec_nanos().into(),
        };
        if let Err(error) = poll(&mut awaited, Some(&limit)) {
            tracing::debug!("waiting for several connections failed: {error}");
            thread::sleep(SHORTAGE);
        }
    }

    /// Turns away the candidate that is least likely to be the peer.
    fn evict(&mut self) {
        let ranks = self.candidates.iter().map(|candidate| candidate.stage);
        let Some((index, _)) = ranks.enumerate().min_by_key(|&(_, stage)| stage) else {
            return;
        };
        let candidate = self.candidates.remove(index);
        if candidate.stage != Stage::Leaving {
            let error = Error::SetupTimedOut(candidate.since.elapsed());
            self.turned_away.note(candidate.from, error);
        }
    }

    /// Hears every candidate once, until one is the peer.
    fn hear(&mut self) -> Option<Established> {
        let mut index = 0;
        while let Some(candidate) = self.candidates.get_mut(index) {
            match candidate.hear(self.setup) {
                Ok(Step::Stays) => index += 1,
                Ok(Step::Gone) => drop(self.candidates.remove(index)),
                Ok(Step::IsPeer) => match self.candidates.remove(index).into_established() {
                    Ok(established) => return Some(established),
                    Err((from, error)) => self.turned_away.note(from, error),
                },
                Err(error) => {
                    let (from, kind) = (candidate.from, error.kind());
                    self.turned_away.note(from, error);
                    if kind == Kind::Peer && candidate.dismiss() {
                        index += 1;
                    } else {
                        self.candidates.remove(index);
                    }
                }
            }
        }
        None
    }

    /// Ends the wait. Those who are still there were not the peer.
    fn close(mut self) -> Option<Strangers> {
        while !self.candidates.is_empty() {
            self.evict();
        }
        self.turned_away.into_strangers()
    }
}

/// How far a candidate has come. Who has come less far is turned away first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    /// It was turned away, and is only given the time to read why.
    Leaving,
    /// It has said nothing.
    Silent,
    /// It has said something.
    Speaking,
    /// It has said something that there was an answer to.
    Answered,
}

/// Somebody who connected.
struct Candidate {
    socket: TcpStream,
    from: SocketAddr,
    greeting: Greeting,
    pace: Pace,
    stage: Stage,
    /// When it came; if it is leaving, when it was turned away.
    since: Instant,
}

/// The result of hearing a candidate.
enum Step {
    Stays,
    IsPeer,
    Gone,
}

impl Candidate {
    fn new(socket: TcpStream, from: SocketAddr, greeter: &Greeter) -> Result<Self, Error> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let (greeting, first) = greeter.greet()?;
        let candidate = Self {
            socket,
            from,
            greeting,
            pace: Pace::default(),
            stage: Stage::Silent,
            since: Instant::now(),
        };
        candidate.say(&first);
        Ok(candidate)
    }

    /// Takes what it has said since the last time, if anything.
    fn hear(&mut self, setup: Duration) -> Result<Step, Error> {
        let is_leaving = self.stage == Stage::Leaving;
        let waited = self.since.elapsed();
        if is_leaving && waited >= LINGER {
            return Ok(Step::Gone);
        }
        if !is_leaving && waited >= setup {
            return Err(Error::SetupTimedOut(setup));
        }
        let mut buffer = [0; PIECE_BYTES];
        let room = if is_leaving {
            PIECE_BYTES
        } else {
            self.greeting.room()
        };
        match (&self.socket).read(&mut buffer[..room]) {
            Ok(0) if is_leaving => Ok(Step::Gone),
            Ok(0) => Err(Error::ClosedDuringSetup),
            Ok(_) if is_leaving => Ok(Step::Stays),
            Ok(length) => {
                self.pace.heard(Instant::now(), length);
                self.take_in(&buffer[..length])
            }
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(Step::Stays),
                _ if is_leaving => Ok(Step::Gone),
                ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                    Err(Error::ClosedDuringSetup)
                }
                _ => Err(Error::Io(error)),
            },
        }
    }

    fn take_in(&mut self, bytes: &[u8]) -> Result<Step, Error> {
        let mut answer = Vec::new();
        let taken_in = self.greeting.take_in(bytes, &mut answer);
        let reached = if answer.is_empty() {
            Stage::Speaking
        } else {
            self.pace.says(Instant::now());
            Stage::Answered
        };
        self.say(&answer);
        self.pace.listens(Instant::now());
        self.stage = self.stage.max(reached);
        match taken_in {
            Ok(true) => Ok(Step::IsPeer),
            Ok(false) => Ok(Step::Stays),
            Err(Fault { error, .. }) => Err(error),
        }
    }

    /// Sends a few bytes, which a fresh socket always has room for. If the other end has left,
    /// what it said before is still to be read, and worth more than a broken pipe.
    fn say(&self, bytes: &[u8]) {
        if let Err(error) = (&self.socket).write_all(bytes) {
            tracing::debug!("{} does not listen: {error}", self.from);
        }
    }

    /// Says nothing more, and lets the other end read what was said last: a socket that is
    /// closed with unread bytes destroys what is on its way. Tells whether that takes time.
    fn dismiss(&mut self) -> bool {
        self.stage = Stage::Leaving;
        self.since = Instant::now();
        self.socket.shutdown(Shutdown::Write).is_ok()
    }

    fn into_established(self) -> Result<Established, (SocketAddr, Error)> {
        match self.socket.set_nonblocking(false) {
            Ok(()) => Ok(Established {
                socket: self.socket,
                measured: self.pace.measured(&self.greeting),
                stream: self.greeting.stream(),
                tls: self.greeting.into_tls(),
            }),
            Err(error) => Err((self.from, error.into())),
        }
    }
}
