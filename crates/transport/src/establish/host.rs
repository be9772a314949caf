//! The other end of a connection that this side has made, whoever it is.

use std::{
    io::{ErrorKind, Read, Write},
    net::{Shutdown, SocketAddr, TcpStream},
    time::Duration,
};

use super::{LINGER, POLL, Patience, greeting::PIECE_BYTES};
use crate::{
    Error,
    bridge::Bridge,
    dial::{self, Failure},
};

/// A connection to somebody of whom nothing is known yet.
pub(crate) struct Reached {
    pub(crate) socket: TcpStream,
    /// What carries its bytes, if the socket does not lead out of this machine.
    pub(crate) bridge: Option<Bridge>,
    /// The address that it was reached at, if the socket does not tell.
    pub(crate) from: Option<SocketAddr>,
}

impl From<TcpStream> for Reached {
    fn from(socket: TcpStream) -> Self {
        Self {
            socket,
            bridge: None,
            from: None,
        }
    }
}

/// How long the other end may take.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// Until it says anything.
    pub(super) first: Duration,
    /// Until it has proved itself.
    pub(super) setup: Duration,
}

/// See the [module](self).
pub(super) struct Host<'a> {
    pub(super) reached: Reached,
    /// Until when this side tries at all.
    overall: &'a Patience<'a>,
    /// Until when the other end has to have done its part.
    setup: Patience<'a>,
    /// How long it may take once it has said something, if it has not yet.
    then: Option<Duration>,
}

impl<'a> Host<'a> {
    pub(super) fn new(
        reached: Reached,
        overall: &'a Patience<'a>,
        limits: Limits,
    ) -> Result<Self, Failure> {
        let passing = |error: std::io::Error| Failure::Passing(error.into());
        let socket = &reached.socket;
        socket.set_nodelay(true).map_err(passing)?;
        socket.set_read_timeout(Some(POLL)).map_err(passing)?;
        socket.set_write_timeout(Some(POLL)).map_err(passing)?;
        Ok(Self {
            reached,
            overall,
            setup: overall.anew(limits.first),
            then: Some(limits.setup),
        })
    }

    fn socket(&self) -> &TcpStream {
        &self.reached.socket
    }

    /// Waits for bytes.
    pub(super) fn read(&mut self, buffer: &mut [u8]) -> Result<usize, Failure> {
        loop {
            if self.setup.left().map_err(Failure::Lasting)?.is_none() {
                return Err(Failure::Passing(Error::SetupTimedOut(self.setup.limit)));
            }
            if let Err(over) = dial::left(self.overall) {
                let waited = self.setup.started.elapsed();
                return Err(match over {
                    Failure::Unfinished(_) => {
                        Failure::Unfinished(Some(Error::SetupTimedOut(waited)))
                    }
                    stopped => stopped,
                });
            }
            match self.socket().read(buffer) {
                Ok(0) => return Err(Failure::Passing(Error::ClosedDuringSetup)),
                Ok(length) => {
                    if let Some(then) = self.then.take() {
                        self.setup = self.overall.anew(then);
                    }
                    return Ok(length);
                }
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted => {
                        return Err(Failure::Passing(Error::ClosedDuringSetup));
                    }
                    _ => return Err(Failure::Passing(error.into())),
                },
            }
        }
    }

    /// Sends a few bytes, which a fresh socket always has room for. If the other end has left,
    /// what it said before is still to be read, and worth more than a broken pipe.
    pub(super) fn say(&self, bytes: &[u8]) {
        if let Err(error) = self.socket().write_all(bytes) {
            tracing::debug!("the other side does not listen: {error}");
        }
    }

    /// Gives the other end this long from now.
    pub(super) fn extend(&mut self, limit: Duration) {
        self.then = None;
        self.setup = self.overall.anew(limit);
    }

    /// Closes the connection so that what was said last arrives: a socket that is closed with
    /// unread bytes destroys what is on its way.
    pub(super) fn dismiss(mut self) {
        if self.socket().shutdown(Shutdown::Write).is_err() {
            return;
        }
        self.extend(LINGER);
        while self.read(&mut [0; PIECE_BYTES]).is_ok() {}
    }
}
