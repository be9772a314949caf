//! From a fresh socket to a peer that is known to be the right one.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, Instant},
};

use rustls::Connection;

use crate::{
    Error, Interrupt, Kind, Options, Security,
    preamble::{self, PREAMBLE_BYTES},
    tls,
};

mod accept;
mod connect;

pub(crate) use accept::accept;
pub(crate) use connect::connect;

/// How often a wait looks whether it shall end.
const POLL: Duration = Duration::from_millis(50);

/// How long a party that refuses waits for the other to take its reason.
const LINGER: Duration = Duration::from_secs(1);

/// A connection whose other end has proved to be the peer.
pub(crate) struct Established {
    pub(crate) socket: TcpStream,
    pub(crate) tls: Option<Connection>,
}

/// Which end of the connection this side is.
#[derive(Clone, Copy)]
enum Side {
    Connecting,
    Listening,
}

/// How long a wait may go on.
#[derive(Clone, Copy)]
struct Patience<'a> {
    started: Instant,
    limit: Duration,
    interrupt: &'a Interrupt,
    /// Set when another candidate has proved to be the peer.
    cancelled: Option<&'a AtomicBool>,
}

impl<'a> Patience<'a> {
    fn new(limit: Duration, interrupt: &'a Interrupt) -> Self {
        Self {
            started: Instant::now(),
            limit,
            interrupt,
            cancelled: None,
        }
    }

    /// What is left, or [`Error::Interrupted`], or `late` if nothing is left.
    fn left(&self, late: impl FnOnce(Duration) -> Error) -> Result<Duration, Error> {
        let is_cancelled = self
            .cancelled
            .is_some_and(|flag| flag.load(Ordering::Relaxed));
        if is_cancelled || self.interrupt.is_triggered() {
            return Err(Error::Interrupted);
        }
        let left = self.limit.saturating_sub(self.started.elapsed());
        if left.is_zero() {
            Err(late(self.limit))
        } else {
            Ok(left)
        }
    }
}

/// Makes sure who is at the other end of `socket`, and that it speaks psijoin.
fn authenticate(
    socket: TcpStream,
    side: Side,
    options: &Options,
    cancelled: Option<&AtomicBool>,
) -> Result<Established, Error> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(POLL))?;
    socket.set_write_timeout(Some(POLL))?;
    let patience = Patience {
        cancelled,
        ..Patience::new(options.timeouts.setup, &options.interrupt)
    };
    let candidate = Candidate { socket, patience };
    let secured = match &options.security {
        Security::InsecurePlaintext => candidate.greet().map(|()| None),
        Security::PinnedTls { identity, peer } => {
            let mut connection = match side {
                Side::Connecting => tls::connecting(identity, *peer)?,
                Side::Listening => tls::listening(identity, *peer)?,
            };
            candidate
                .greet_in_tls(&mut connection)
                .map_err(|failure| {
                    failure.explain(|error| tls::explain(error, identity.fingerprint()))
                })
                .map(|()| Some(connection))
        }
    };
    match secured {
        Ok(tls) => Ok(Established {
            socket: candidate.socket,
            tls,
        }),
        Err(error) => {
            if error.kind() == Kind::Peer {
                candidate.dismiss();
            }
            Err(error)
        }
    }
}

/// The other end of a socket, of which nothing is known yet.
struct Candidate<'a> {
    socket: TcpStream,
    patience: Patience<'a>,
}

/// Why TLS came to nothing: a fault of its own, or of anything below it.
enum Failure {
    Tls(rustls::Error),
    Other(Error),
}

impl Failure {
    fn explain(self, explain_tls: impl FnOnce(rustls::Error) -> Error) -> Error {
        match self {
            Self::Tls(error) => explain_tls(error),
            Self::Other(error) => error,
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Other(error)
    }
}

impl From<rustls::Error> for Failure {
    fn from(error: rustls::Error) -> Self {
        Self::Tls(error)
    }
}

impl Candidate<'_> {
    /// Exchanges preambles without any protection.
    fn greet(&self) -> Result<(), Error> {
        self.say(&preamble::ours());
        let mut received = [0; PREAMBLE_BYTES];
        let mut filled = 0;
        while filled < PREAMBLE_BYTES {
            filled += self.read(&mut received[filled..])?;
            preamble::check(&received[..filled])?;
        }
        Ok(())
    }

    /// Goes through the TLS handshake and exchanges preambles inside of it.
    ///
    /// The side that connected is done with the handshake before the other has judged its
    /// key: only the other's preamble shows that it was accepted.
    fn greet_in_tls(&self, tls: &mut Connection) -> Result<(), Failure> {
        let mut is_first = true;
        while tls.is_handshaking() {
            self.say_in_tls(tls);
            let mut raw = [0; 4096];
            let length = self.read(&mut raw)?;
            let taken_in = self.take_in(tls, &raw[..length], |_| ());
            if std::mem::take(&mut is_first) {
                preamble::check_not_bare(&raw[..length])?;
            }
            taken_in?;
        }
        // Into a buffer without a limit: this cannot fail.
        tls.writer()
            .write_all(&preamble::ours())
            .map_err(Error::Io)?;
        self.say_in_tls(tls);
        let mut received = [0; PREAMBLE_BYTES];
        let mut filled = 0;
        loop {
            filled += read_available(tls, &mut received[filled..]);
            preamble::check(&received[..filled])?;
            if filled == PREAMBLE_BYTES {
                return Ok(());
            }
            let mut raw = [0; 4096];
            let length = self.read(&mut raw)?;
            self.take_in(tls, &raw[..length], |tls| {
                filled += read_available(tls, &mut received[filled..]);
            })?;
        }
    }

    /// Gives bytes to TLS, and tells the peer if TLS finds fault with them.
    fn take_in(
        &self,
        tls: &mut Connection,
        bytes: &[u8],
        plaintext: impl FnMut(&mut Connection),
    ) -> Result<(), rustls::Error> {
        tls::take_in(tls, bytes, plaintext).inspect_err(|_| self.say_in_tls(tls))
    }

    /// Waits for bytes.
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Error> {
        loop {
            self.patience.left(Error::SetupTimedOut)?;
            match (&self.socket).read(buffer) {
                Ok(0) => return Err(Error::ClosedDuringSetup),
                Ok(length) => return Ok(length),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                        return Err(Error::ClosedDuringSetup);
                    }
                    _ => return Err(Error::Io(error)),
                },
            }
        }
    }

    /// Sends a few bytes, which a fresh socket always has room for. If the peer has left, what
    /// it said before is still to be read, and worth more than a broken pipe.
    fn say(&self, bytes: &[u8]) {
        if let Err(error) = (&self.socket).write_all(bytes) {
            tracing::debug!("a peer left while the connection was being set up: {error}");
        }
    }

    fn say_in_tls(&self, tls: &mut Connection) {
        let mut bytes = Vec::new();
        tls::write_out(tls, &mut bytes).expect("writing to memory never fails");
        self.say(&bytes);
    }

    /// Closes the connection so that what was said last arrives: a socket that is closed with
    /// unread bytes destroys what is on its way.
    fn dismiss(self) {
        if self.socket.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let patience = Patience {
            started: Instant::now(),
            limit: LINGER,
            ..self.patience
        };
        let leaving = Candidate { patience, ..self };
        while leaving.read(&mut [0; 4096]).is_ok() {}
    }
}

/// Takes what plaintext there is.
fn read_available(tls: &mut Connection, buffer: &mut [u8]) -> usize {
    // An error says that there is none.
    tls.reader().read(buffer).unwrap_or(0)
}
