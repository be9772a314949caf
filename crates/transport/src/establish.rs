//! From a fresh socket to a peer that is known to be the right one.
//!
//! Until the other end has proved who it is, it is a stranger, and none of its messages may decide
//! anything. Its faults are logged, and reported at the end if the peer was not met. It neither
//! ends nor delays the wait for the peer.

use std::{
    net::TcpStream,
    time::{Duration, Instant},
};

use psijoin_channel::path::Measured;
use rustls::Connection;

use crate::{Error, Interrupt, link::Link};

mod accept;
mod candidate;
mod connect;
mod doorkeeper;
mod greeting;
mod introduction;
mod pace;
mod streams;
mod turned_away;

pub(crate) use accept::accept;
pub(crate) use connect::connect;
pub(crate) use streams::{Door, Opening};

/// The time between two checks whether a wait is to end.
const POLL: Duration = Duration::from_millis(50);

/// The time for which a party that refuses waits for the other to take its reason.
const LINGER: Duration = Duration::from_secs(1);

/// A connection whose other end has proved to be the peer.
pub(crate) struct Established {
    pub(crate) socket: TcpStream,
    pub(crate) tls: Option<Connection>,
    pub(crate) measured: Measured,
    /// The number of the stream: 0 for that of a meeting.
    pub(crate) stream: u8,
}

/// The limits of a wait.
#[derive(Clone, Copy)]
struct Patience<'a> {
    started: Instant,
    limit: Duration,
    interrupt: &'a Interrupt,
    /// The session that the wait is for, if its failure ends the wait, too.
    session: Option<&'a Link>,
}

impl<'a> Patience<'a> {
    fn new(limit: Duration, interrupt: &'a Interrupt) -> Self {
        Self {
            started: Instant::now(),
            limit,
            interrupt,
            session: None,
        }
    }

    /// Returns a wait of another length that the same things end.
    fn anew(&self, limit: Duration) -> Self {
        Self {
            started: Instant::now(),
            limit,
            ..*self
        }
    }

    /// Returns what is left, or nothing if it is over.
    ///
    /// # Errors
    /// [`Error::Interrupted`], and why the session has failed.
    fn left(&self) -> Result<Option<Duration>, Error> {
        if self.interrupt.is_triggered() {
            return Err(Error::Interrupted);
        }
        if let Some(failed) = self.session.and_then(Link::failed) {
            return Err(failed.into());
        }
        let left = self.limit.saturating_sub(self.started.elapsed());
        Ok((!left.is_zero()).then_some(left))
    }
}

/// Returns how much an error of a stranger tells about a mistake that somebody made: the one that
/// tells most is shown when the peer was not met.
fn tells(error: &Error) -> u8 {
    match error {
        Error::WrongPeer { .. }
        | Error::Refused { .. }
        | Error::Encryption { .. }
        | Error::Version { .. } => 3,
        Error::NotPsijoin(_) | Error::Tls(_) | Error::OtherSession => 2,
        Error::ClosedDuringSetup | Error::SetupTimedOut(_) | Error::NoAnswer { .. } => 1,
        _ => 0,
    }
}
