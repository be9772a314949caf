//! From a fresh socket to a peer that is known to be the right one.
//!
//! Until the other end has proved who it is, it is a stranger, and none of its messages may decide
//! anything. Its faults are logged, and reported at the end if the peer was not met. It neither
//! ends nor delays the wait for the peer.

use std::{net::TcpStream, time::Duration};

use psijoin_channel::path::Measured;
use rustls::Connection;

use crate::{
    Error, RelayFault,
    bridge::Bridge,
    patience::{POLL, Patience},
    rendezvous::Side,
};

mod accept;
mod candidate;
mod choice;
mod connect;
mod doorkeeper;
mod failures;
mod folder;
mod gate;
mod greeting;
mod host;
mod introduction;
mod inviting;
mod opening;
mod pace;
mod relay;
mod route;
mod streams;
mod turned_away;

pub(crate) use accept::accept;
pub(crate) use connect::connect;
pub(crate) use folder::meet_in_folder;
pub(crate) use opening::Opening;
pub(crate) use relay::meet_at_relay;
pub(crate) use streams::{Door, Streams};

/// The time for which a party that refuses waits for the other to take its reason.
const LINGER: Duration = Duration::from_secs(1);

/// A connection whose other end has proved to be the peer.
pub(crate) struct Established {
    /// Where it is, for people.
    pub(crate) place: String,
    /// `true` if nobody stands between, as far as is known.
    pub(crate) is_direct: bool,
    pub(crate) socket: TcpStream,
    /// What carries its bytes, if the socket does not lead out of this machine.
    pub(crate) bridge: Option<Bridge>,
    pub(crate) tls: Option<Connection>,
    pub(crate) measured: Measured,
    /// The number of the stream: 0 for that of a meeting.
    pub(crate) stream: u32,
    /// The part of this side in TLS.
    pub(crate) side: Side,
}

/// Returns how much an error of a stranger tells about a mistake that somebody made: the one that
/// tells most is shown when the peer was not met.
fn tells(error: &Error) -> u8 {
    match error {
        Error::WrongPeer { .. }
        | Error::Intercepted { .. }
        | Error::NoneOfThese { .. }
        | Error::ReplacedKey { .. }
        | Error::Invitation(_)
        | Error::Refused { .. }
        | Error::Encryption { .. }
        | Error::Version { .. } => 3,
        Error::NotPsijoin(_)
        | Error::Tls(_)
        | Error::OtherSession
        | Error::Proxy { .. }
        | Error::Relay {
            why:
                RelayFault::Refused(_)
                | RelayFault::NotARelay(_)
                | RelayFault::Tls(_)
                | RelayFault::Upgrade(_),
            ..
        } => 2,
        Error::Relay { .. } => 1,
        Error::ClosedDuringSetup | Error::SetupTimedOut(_) | Error::NoAnswer { .. } => 1,
        _ => 0,
    }
}
