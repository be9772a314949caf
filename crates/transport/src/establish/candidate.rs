//! Somebody who has come to a party that waits.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags};

use super::{
    Established, LINGER,
    greeting::{Fault, Greeter, Greeting, Heard, PIECE_BYTES},
    host::Reached,
    pace::Pace,
};
use crate::{Error, bridge::Bridge, rendezvous::Side};

/// The proofs of a candidate so far. Where there is room for nobody else, those who have shown
/// least go first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It was turned away, and is only given the time to read why.
    Leaving,
    /// It has not said its first words, or not all of them.
    Unheard,
    /// It has. They may be anybody's.
    Heard,
    /// It has sent what only the peer can send.
    Recognised,
}

impl Standing {
    pub(super) const ALL: [Self; 4] = [Self::Leaving, Self::Unheard, Self::Heard, Self::Recognised];

    /// Returns how many may have it at once. In sum they are fewer than the descriptors that a
    /// process has on most systems (1,024).
    pub(super) fn seats(self) -> usize {
        match self {
            Self::Leaving => 32,
            // Whoever speaks as soon as it can has done so by the time that half as many have come
            // after it.
            Self::Unheard => 256,
            Self::Heard => 64,
            // All streams of a session at once.
            Self::Recognised => 256,
        }
    }
}

/// See the [module](self).
pub(super) struct Candidate {
    socket: TcpStream,
    bridge: Option<Bridge>,
    pub(super) from: SocketAddr,
    greeting: Greeting,
    pace: Pace,
    standing: Standing,
    /// It may have said something that was not read yet.
    is_ready: bool,
    /// Its first words wait for an answer.
    asks: bool,
    /// By how much its clock seemed to differ from this side's.
    clocks_differ: Option<Duration>,
    /// The time at which it came; if it is leaving, at which it was turned away.
    pub(super) since: Instant,
}

/// The result of hearing a candidate.
pub(super) enum Step {
    Stays,
    /// It has said its first words, and is to be [let in](Candidate::let_in) or to
    /// [wait](Candidate::keep_waiting).
    Asks,
    IsPeer,
    Gone,
}

impl Candidate {
    pub(super) fn new(
        reached: Reached,
        from: SocketAddr,
        greeter: &Greeter,
    ) -> Result<Self, Error> {
        let Reached { socket, bridge, .. } = reached;
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let (greeting, first) = greeter.greet()?;
        let candidate = Self {
            socket,
            bridge,
            from,
            greeting,
            pace: Pace::default(),
            standing: Standing::Unheard,
            is_ready: true,
            asks: false,
            clocks_differ: None,
            since: Instant::now(),
        };
        candidate.say(&first);
        Ok(candidate)
    }

    pub(super) fn standing(&self) -> Standing {
        self.standing
    }

    /// Returns whether it waits for an answer to its first words.
    pub(super) fn asks(&self) -> bool {
        self.asks
    }

    /// Returns the bytes by which it wants to be recognised.
    pub(super) fn knock(&self) -> &[u8] {
        self.greeting.knock().unwrap_or_default()
    }

    /// Returns what to wait for until it can be heard, and where to note that.
    pub(super) fn awaited(&mut self) -> (&mut bool, PollFd<'_>) {
        let socket = PollFd::new(&self.socket, PollFlags::IN);
        (&mut self.is_ready, socket)
    }

    /// Takes what it has said since the last time, if anything.
    pub(super) fn hear(&mut self, setup: Duration, now: Instant) -> Result<Step, Error> {
        let is_leaving = self.standing == Standing::Leaving;
        let waited = now.saturating_duration_since(self.since);
        if is_leaving && waited >= LINGER {
            return Ok(Step::Gone);
        }
        if !is_leaving && waited >= setup {
            return Err(Error::SetupTimedOut(setup));
        }
        if self.asks || !std::mem::take(&mut self.is_ready) {
            return Ok(Step::Stays);
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
                let mut answer = Vec::new();
                let heard = self.greeting.take_in(&buffer[..length], &mut answer);
                self.reply(heard, &answer)
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

    /// Answers somebody who is recognised.
    pub(super) fn let_in(&mut self) -> Result<Step, Error> {
        self.standing = Standing::Recognised;
        self.answer()
    }

    /// Lets it wait among those who may be anybody.
    pub(super) fn keep_waiting(&mut self, clocks_differ: Option<Duration>) -> Result<Step, Error> {
        self.standing = Standing::Heard;
        self.asks = true;
        self.clocks_differ = clocks_differ;
        Ok(Step::Stays)
    }

    /// Answers its first words.
    pub(super) fn answer(&mut self) -> Result<Step, Error> {
        self.asks = false;
        let mut answer = Vec::new();
        let heard = self.greeting.answer(&mut answer);
        self.reply(heard, &answer)
    }

    fn reply(&mut self, heard: Result<Heard, Fault>, answer: &[u8]) -> Result<Step, Error> {
        if !answer.is_empty() {
            self.pace.says(Instant::now());
            self.say(answer);
        }
        self.pace.listens(Instant::now());
        match heard {
            Ok(Heard::Peer) => Ok(Step::IsPeer),
            Ok(Heard::Hello) => Ok(Step::Asks),
            Ok(Heard::Part) => Ok(Step::Stays),
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
    pub(super) fn dismiss(&mut self) -> bool {
        self.standing = Standing::Leaving;
        self.asks = false;
        self.since = Instant::now();
        self.socket.shutdown(Shutdown::Write).is_ok()
    }

    pub(super) fn into_established(self) -> Result<Established, (SocketAddr, Box<Error>)> {
        if let Some(by) = self.clocks_differ {
            tracing::warn!(
                "the other party's clock and this one's are {} s apart: with many strangers at this \
                 address, it could not have been told from them",
                by.as_secs()
            );
        }
        match self.socket.set_nonblocking(false) {
            Ok(()) => Ok(Established {
                place: self.from.to_string(),
                is_direct: true,
                socket: self.socket,
                bridge: self.bridge,
                measured: self.pace.measured(&self.greeting),
                stream: self.greeting.stream(),
                side: Side::Server,
                tls: self.greeting.into_tls(),
            }),
            Err(error) => Err((self.from, Box::new(error.into()))),
        }
    }
}
