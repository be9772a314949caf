//! One outgoing connection, as the world is.
//!
//! - *A name has several addresses*, and some of them may lead nowhere: a machine often has an IPv6
//!   address that its network does not carry. So all are tried, IPv6 and IPv4 in turn, each
//!   a quarter of a second after the one before or as soon as that has failed. The first that
//!   connects is taken (RFC 8305, "Happy Eyeballs").
//! - *A company lets nothing out but what goes through its proxy.* A proxy is asked to [connect]
//!   there, and then passes bytes as they are. [`Proxies`] tells which one, if any.
//!
//! [connect]: https://www.rfc-editor.org/rfc/rfc9110#name-connect
//!
//! Whoever is at the other end, nothing is known of it yet.

use std::{
    fmt, io,
    io::ErrorKind,
    net::{TcpStream, ToSocketAddrs},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use psijoin_printable::Word;

use crate::{
    Error,
    endpoint::Address,
    patience::{POLL, Patience},
};

mod exempt;
mod proxy;
mod race;
mod tunnel;

pub use proxy::{Proxies, Proxy, ProxyFault};

use race::Race;

/// The reason that an attempt failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The next one may not.
    Passing(Error),
    /// This address will never do, and another one may.
    Useless(Error),
    /// The next one will too.
    Lasting(Error),
    /// There was no time to learn why: this is the most that is known.
    Unfinished(Option<Error>),
}

impl Failure {
    /// Returns it with another error in the place of its own.
    fn map(self, explain: impl FnOnce(Error) -> Error) -> Self {
        match self {
            Self::Passing(error) => Self::Passing(explain(error)),
            Self::Useless(error) => Self::Useless(explain(error)),
            Self::Lasting(error @ (Error::Interrupted | Error::Channel(_))) => Self::Lasting(error),
            Self::Lasting(error) => Self::Lasting(explain(error)),
            Self::Unfinished(error) => Self::Unfinished(error.map(explain)),
        }
    }
}

/// A place, and the proxy on the way there, if there is one.
#[derive(Debug, Clone)]
pub(crate) struct Way {
    pub(crate) address: Address,
    pub(crate) proxy: Option<Proxy>,
}

/// The place, for people.
impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", Word(self.address.as_str()))?;
        match &self.proxy {
            Some(proxy) => write!(f, " through the proxy {proxy}"),
            None => Ok(()),
        }
    }
}

impl Way {
    /// Begins to dial. Each address is given this long to answer.
    pub(crate) fn dial<'a>(
        &'a self,
        limit: Duration,
        patience: &'a Patience<'a>,
    ) -> Result<Dial<'a>, Failure> {
        let next = self.proxy.as_ref().map_or(&self.address, Proxy::address);
        let race = Race::begin(next, limit, patience).map_err(|failure| self.explain(failure))?;
        Ok(Dial {
            way: self,
            race,
            patience,
        })
    }

    /// Says that it is the proxy that cannot be reached, if there is one.
    fn explain(&self, failure: Failure) -> Failure {
        match &self.proxy {
            None => failure,
            Some(proxy) => {
                failure.map(|error| self.fault(proxy, ProxyFault::Unreachable(Box::new(error))))
            }
        }
    }

    fn fault(&self, proxy: &Proxy, why: ProxyFault) -> Error {
        Error::Proxy {
            proxy: proxy.to_string(),
            address: self.address.as_str().to_owned(),
            why,
        }
    }
}

/// Attempts to connect to one place.
pub(crate) struct Dial<'a> {
    way: &'a Way,
    race: Race<'a>,
    patience: &'a Patience<'a>,
}

impl Dial<'_> {
    /// Returns the next connection, or the reason that there was none; nothing when all addresses
    /// have been tried.
    pub(crate) fn next(&mut self) -> Option<Result<TcpStream, Failure>> {
        let Self {
            way,
            race,
            patience,
        } = self;
        let reached = race.next()?.map_err(|failure| way.explain(failure));
        Some(match &way.proxy {
            None => reached,
            Some(proxy) => reached.and_then(|socket| {
                let fault = |why| way.fault(proxy, why);
                tunnel::open(socket, proxy, &way.address, fault, patience)
            }),
        })
    }
}

/// Runs a system call that nothing can interrupt on a thread of its own, which is left to itself
/// when patience ends.
pub(crate) fn apart<T: Send + 'static>(
    patience: &Patience<'_>,
    call: impl FnOnce() -> io::Result<T> + Send + 'static,
    explain: impl FnOnce(io::Error) -> Error,
) -> Result<T, Failure> {
    left(patience)?;
    let (result, results) = mpsc::sync_channel(1);
    thread::Builder::new()
        .name("psijoin-connect".into())
        .spawn(move || {
            // Nobody may be waiting any more.
            let _ = result.send(call());
        })
        .map_err(|no_thread| Failure::Lasting(Error::Thread(no_thread)))?;
    loop {
        match results.recv_timeout(POLL) {
            Ok(Ok(value)) => return Ok(value),
            Ok(Err(error)) if lasts(&error) => return Err(Failure::Useless(explain(error))),
            Ok(Err(error)) => return Err(Failure::Passing(explain(error))),
            Err(RecvTimeoutError::Timeout) => drop(left(patience)?),
            Err(RecvTimeoutError::Disconnected) => {
                let panicked = io::Error::other("the connecting thread panicked");
                return Err(Failure::Lasting(panicked.into()));
            }
        }
    }
}

/// Returns how long this side may still try.
pub(crate) fn left(patience: &Patience<'_>) -> Result<Duration, Failure> {
    match patience.left() {
        Ok(Some(left)) => Ok(left),
        Ok(None) => Err(Failure::Unfinished(None)),
        Err(interrupted) => Err(Failure::Lasting(interrupted)),
    }
}

/// Returns whether the same call will fail again.
fn lasts(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::PermissionDenied | ErrorKind::Unsupported
    )
}

/// Returns the addresses of a place, as the system knows them.
fn resolve(place: &Address, patience: &Patience<'_>) -> Result<Vec<std::net::SocketAddr>, Failure> {
    let host = place.as_str().to_owned();
    let addresses = apart(
        patience,
        move || host.to_socket_addrs(),
        |source| Error::Resolve {
            address: place.as_str().to_owned(),
            source,
        },
    );
    match addresses {
        Ok(addresses) => Ok(addresses.collect()),
        // A name has no other address by which it could be looked up.
        Err(Failure::Useless(error)) => Err(Failure::Lasting(error)),
        Err(failure) => Err(failure),
    }
}
