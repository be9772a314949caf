//! One who has come, and is not joined with anybody yet.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::{Duration, Instant},
};

use psijoin_transport::{
    rendezvous::{Hello, State, Text},
    room::Source,
};
use rustix::event::{PollFd, PollFlags};

use crate::{
    pair::End,
    reception::{Heard, PIECE_BYTES, Reception},
    refusal::Refusal,
    relay::House,
};

/// The time for which somebody who was turned away may read why.
const LINGER: Duration = Duration::from_secs(1);

/// The time after which a party that confirms nothing counts as gone. It is told something more
/// often than that.
#[cfg(target_os = "linux")]
const UNCONFIRMED: Duration = Duration::from_secs(45);

/// The progress of a visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It was turned away.
    Leaving,
    /// It has not said whom it meets.
    Greeting,
    /// It waits for its peer.
    Waiting,
}

/// See the [module](self).
pub(crate) struct Visitor {
    socket: TcpStream,
    /// The other end of the connection, which may be a front end's.
    from: SocketAddr,
    /// The address that it counts for.
    pub(crate) source: Source,
    reception: Reception,
    pub(crate) standing: Standing,
    /// The time at which it came; if it is leaving, at which it was turned away.
    since: Instant,
    next_sign: Instant,
    /// It may have said something that was not read yet.
    is_ready: bool,
}

/// The result of hearing a visitor.
pub(crate) enum Step {
    Stays,
    /// It has said whom it meets.
    Guest {
        hello: Hello,
        by: Option<String>,
    },
    Gone,
}

/// The other end does not take what is said to it.
pub(crate) struct Deaf;

impl Visitor {
    pub(crate) fn new(socket: TcpStream, from: SocketAddr, house: &House) -> io::Result<Self> {
        socket.set_nonblocking(true)?;
        socket.set_nodelay(true)?;
        let now = Instant::now();
        Ok(Self {
            socket,
            from,
            source: from.into(),
            reception: Reception::new(house.access.clone()),
            standing: Standing::Greeting,
            since: now,
            next_sign: now,
            is_ready: true,
        })
    }

    /// Returns what to wait for until it can be heard, and where to note that.
    pub(crate) fn awaited(&mut self) -> (&mut bool, PollFd<'_>) {
        let socket = PollFd::new(&self.socket, PollFlags::IN);
        (&mut self.is_ready, socket)
    }

    /// Takes what it has said since the last time, if anything, and tells it that the relay lives,
    /// if that is due.
    pub(crate) fn hear(&mut self, house: &House, now: Instant) -> Result<Step, Refusal> {
        let waited = now.saturating_duration_since(self.since);
        match self.standing {
            Standing::Leaving if waited >= LINGER => return Ok(Step::Gone),
            Standing::Greeting if waited >= house.limits.greeting => {
                return Err(Refusal::TooSlow(house.limits.greeting));
            }
            _ => {}
        }
        let is_due = self.standing == Standing::Waiting && now >= self.next_sign;
        if is_due && self.sign_of_life(house, now).is_err() {
            return Ok(Step::Gone);
        }
        if !std::mem::take(&mut self.is_ready) {
            return Ok(Step::Stays);
        }
        let mut buffer = [0; PIECE_BYTES];
        let room = match self.standing {
            Standing::Leaving => PIECE_BYTES,
            _ => self.reception.room(),
        };
        match (&self.socket).read(&mut buffer[..room]) {
            Ok(0) => Ok(Step::Gone),
            Ok(_) if self.standing == Standing::Leaving => Ok(Step::Stays),
            Ok(length) => self.take_in(&mut buffer[..length], house),
            Err(error) => match error.kind() {
                ErrorKind::WouldBlock | ErrorKind::Interrupted => Ok(Step::Stays),
                _ => Ok(Step::Gone),
            },
        }
    }

    fn take_in(&mut self, said: &mut [u8], house: &House) -> Result<Step, Refusal> {
        let mut answer = Vec::new();
        let heard = self.reception.take_in(said, &mut answer);
        if let Some(address) = self.reception.forwarded_for()
            && house.front_ends.contains(&self.from.ip().to_canonical())
        {
            self.source = SocketAddr::new(address, 0).into();
        }
        let heard = heard?;
        if self.write(&answer).is_err() {
            return Ok(Step::Gone);
        }
        Ok(match heard {
            Heard::Part => Step::Stays,
            Heard::Guest { hello, by } => Step::Guest { hello, by },
            Heard::Leaves => Step::Gone,
        })
    }

    /// Lets it wait for its peer.
    pub(crate) fn wait(&mut self, house: &House, now: Instant) -> Result<(), Deaf> {
        self.standing = Standing::Waiting;
        self.expect_confirmation(true);
        self.sign_of_life(house, now)
    }

    fn sign_of_life(&mut self, house: &House, now: Instant) -> Result<(), Deaf> {
        self.next_sign = now + house.limits.sign_of_life;
        self.say(&[State::Waiting(Text::default())])
    }

    /// Tells it these states.
    pub(crate) fn say(&self, states: &[State]) -> Result<(), Deaf> {
        let mut words = Vec::new();
        for state in states {
            self.reception.say(state, &mut words);
        }
        self.write(&words)
    }

    /// Tells it why it is turned away, says nothing more, and lets it read that: a socket that is
    /// closed with unread bytes destroys what is on its way. Tells whether that takes time.
    pub(crate) fn dismiss(&mut self, refusal: &Refusal) -> bool {
        let mut words = Vec::new();
        self.reception.refuse(refusal, &mut words);
        self.standing = Standing::Leaving;
        self.since = Instant::now();
        self.write(&words).is_ok() && self.socket.shutdown(Shutdown::Write).is_ok()
    }

    /// Sends a few bytes. A socket has always room for them, unless the other end has not taken
    /// anything for days.
    fn write(&self, words: &[u8]) -> Result<(), Deaf> {
        if words.is_empty() {
            return Ok(());
        }
        match (&self.socket).write(words) {
            Ok(length) if length == words.len() => Ok(()),
            _ => Err(Deaf),
        }
    }

    /// Returns its end of a pair.
    pub(crate) fn into_end(self) -> io::Result<End> {
        self.expect_confirmation(false);
        self.socket.set_nonblocking(false)?;
        End::new(self.socket, self.from, self.reception.into_framing())
    }

    /// Lets the system end the connection of a party that confirms nothing, or not: one that is
    /// joined may let its peer wait for long.
    #[cfg(target_os = "linux")]
    fn expect_confirmation(&self, does: bool) {
        let limit = if does { UNCONFIRMED } else { Duration::ZERO };
        let limit = limit.as_millis() as u32;
        if let Err(error) = rustix::net::sockopt::set_tcp_user_timeout(&self.socket, limit) {
            tracing::debug!("{}: no time-out for the connection: {error}", self.from);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn expect_confirmation(&self, _does: bool) {}
}
