//! Meeting at a relay, to which both parties go.
//!
//! Each says under which name it waits, and hears from the relay how that goes, until it is put
//! together with the other ([`rendezvous`](crate::rendezvous)). What follows is as if one had
//! connected to the other: the client of TLS is the party that has come, and the server the one
//! that lets it in.
//!
//! Whoever knows the name can take the other party's place in the queue, again and again.
//!
//! - *The server of TLS* keeps several places, and hands over whoever comes as a candidate of its
//!   [entrance](super::accept). Meanwhile the next waits already. So nobody who says nothing keeps
//!   the peer out.
//! - *The client of TLS* has one place. Two would be worse: the server might take the one for the
//!   peer, and this side the other. It gives somebody who says nothing no more than a few seconds,
//!   and is in the queue again at once.

use std::{
    cell::Cell,
    fmt,
    io::{self, ErrorKind, Read, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use psijoin_printable::Word;
use ring::rand::{SecureRandom, SystemRandom};

use super::{
    Established, POLL, Patience, accept::meet_at, connect::go, failures::Failures, gate::Gate,
    host::Reached, introduction::Purpose, route::Route,
};
use crate::{
    AtRelay, Error, Options, Proxies, RelayAddress, RelayFault, Sight,
    bridge::websocket,
    dial::{Failure, Way},
    endpoint::Appointment,
    rendezvous::{AccessKey, Hello, Side, State, StateDecoder},
};

/// The time within which a relay says something, once it has said anything: it does every 15
/// seconds.
const SILENCE: Duration = Duration::from_secs(50);

/// The wait for its first word.
const GREETING: Duration = Duration::from_secs(10);

/// A party's place in the queue of a relay.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    relay: RelayAddress,
    way: Way,
    hello: Hello,
    access: Option<AccessKey>,
}

impl Place {
    /// Returns a new place in the queue of this appointment.
    pub(super) fn new(
        at: &AtRelay,
        appointment: Appointment,
        proxies: &Proxies,
    ) -> Result<Self, Error> {
        let Appointment { token, side } = appointment;
        let mut client = [0; 8];
        SystemRandom::new()
            .fill(&mut client)
            .map_err(|_| Error::Randomness)?;
        Ok(Self {
            relay: at.relay.clone(),
            way: proxies.way(at.relay.address()),
            hello: Hello {
                side,
                token,
                client,
                has_key: at.access.is_some(),
            },
            access: at.access.clone(),
        })
    }

    pub(super) fn side(&self) -> Side {
        self.hello.side
    }

    pub(super) fn relay(&self) -> &RelayAddress {
        &self.relay
    }

    pub(super) fn way(&self) -> &Way {
        &self.way
    }

    fn fault(&self, why: RelayFault) -> Error {
        Error::Relay {
            relay: self.relay.to_string(),
            why,
        }
    }

    /// Waits at the relay, at the other end of `socket`, for somebody.
    pub(super) fn wait(
        &self,
        socket: TcpStream,
        patience: &Patience<'_>,
        sees: &dyn Fn(Sight),
    ) -> Result<Reached, Failure> {
        let from = socket.peer_addr().ok();
        let mut reached = match self.relay.web() {
            None => Reached::from(socket),
            Some(web) => {
                let address = self.relay.address();
                let greeting = patience.anew(GREETING);
                let fault = |why| self.fault(why);
                let bridged = websocket::open(socket, (address, web), fault, &greeting);
                let (socket, bridge) = bridged?;
                Reached {
                    socket,
                    bridge: Some(bridge),
                    from: None,
                }
            }
        };
        reached.from = from;
        self.queue(&reached.socket, patience, sees)?;
        Ok(reached)
    }

    /// Stands in the queue until it is this side's turn.
    fn queue(
        &self,
        mut socket: &TcpStream,
        patience: &Patience<'_>,
        sees: &dyn Fn(Sight),
    ) -> Result<(), Failure> {
        let passing = |why| Failure::Passing(self.fault(why));
        let broken = |error: io::Error| match error.kind() {
            ErrorKind::ConnectionReset | ErrorKind::ConnectionAborted | ErrorKind::BrokenPipe => {
                passing(RelayFault::Closed)
            }
            _ => Failure::Passing(error.into()),
        };
        socket.set_nodelay(true).map_err(broken)?;
        socket.set_read_timeout(Some(POLL)).map_err(broken)?;
        // It is short, and a fresh socket has room for it.
        socket.write_all(&self.hello.encode()).map_err(broken)?;
        let mut states = StateDecoder::new();
        let (mut heard, mut silence) = (Instant::now(), GREETING);
        loop {
            if heard.elapsed() >= silence {
                return Err(passing(RelayFault::Silent(silence)));
            }
            crate::dial::left(patience)?;
            let mut piece = [0; 64];
            // No byte more than the state: what follows the last one is the other party's.
            let due = states.due().min(piece.len());
            let mut said = match socket.read(&mut piece[..due]) {
                Ok(0) => return Err(passing(RelayFault::Closed)),
                Ok(length) => &piece[..length],
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {
                        continue;
                    }
                    _ => return Err(broken(error)),
                },
            };
            (heard, silence) = (Instant::now(), SILENCE);
            let state = states.next_state(&mut said);
            match state.map_err(|fault| passing(RelayFault::NotARelay(fault)))? {
                None => {}
                Some(State::Go) => return Ok(()),
                Some(State::Waiting(_)) => sees(Sight::Waiting),
                Some(State::Here(_)) => sees(Sight::Here),
                Some(State::Refused(why)) => return Err(passing(RelayFault::Refused(why))),
                Some(State::Forbidden(why)) => {
                    return Err(Failure::Lasting(self.fault(RelayFault::Forbidden(why))));
                }
                Some(State::Draining(_)) => return Err(passing(RelayFault::Draining)),
                Some(State::Challenge(nonce)) => {
                    let Some(key) = &self.access else {
                        return Err(Failure::Lasting(self.fault(RelayFault::NeedsKey)));
                    };
                    let answer = key.answer(&nonce, &self.hello).encode();
                    socket.write_all(&answer).map_err(broken)?;
                }
            }
        }
    }
}

/// The relay, for people.
impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the relay {}", Word(&self.relay.to_string()))?;
        match &self.way.proxy {
            Some(proxy) => write!(f, ", reached through the proxy {proxy}"),
            None => Ok(()),
        }
    }
}

/// Returns the error of a meeting without a name.
pub(super) fn no_name() -> Error {
    io::Error::other("the parties have no name to meet under").into()
}

/// The places that the server of TLS keeps in each queue.
const PLACES: usize = 2;

/// Meets the peer at a relay.
pub(crate) fn meet_at_relay(
    at: &AtRelay,
    options: &Options,
    sees: &dyn Fn(Sight),
) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    let sees = &once(sees);
    let place = |appointment: &Appointment| Place::new(at, appointment.clone(), &options.proxies);
    let places = match &*at.appointments {
        [] => return Err(no_name()),
        [only] if only.side == Side::Client => {
            let route = &Route::Relay(&place(only)?, sees);
            return go(Purpose::to_connect(options), route, options, patience);
        }
        several => several.iter().flat_map(|appointment| {
            let places = match appointment.side {
                Side::Server => PLACES,
                Side::Client => 1,
            };
            std::iter::repeat_n(appointment, places)
        }),
    };
    let places = places.map(place).collect::<Result<_, _>>()?;
    let mut failures = Failures::default();
    let gate = Gate::at_relay(places, options, sees, &mut failures)?;
    let met = meet_at(gate, options, &patience)?;
    met.map_err(|strangers| Error::NobodyAtRelay {
        relay: at.relay.to_string(),
        waited: patience.limit,
        attempt: failures.into_most_telling(),
        strangers: strangers.map(Box::new),
        by_invitation: options.security.is_by_invitation(),
    })
}

/// Returns what tells a sight to `sees` unless it is no news: a relay repeats what it sees, and
/// whoever lets others in waits for the next of them as soon as somebody is there.
pub(super) fn once(sees: &dyn Fn(Sight)) -> impl Fn(Sight) {
    let last = Cell::new(None);
    move |sight| {
        let before = last.take();
        let is_known = match (&before, &sight) {
            (Some(Sight::Waiting | Sight::Here), Sight::Waiting) => true,
            (before, sight) => before.as_ref() == Some(sight),
        };
        match is_known {
            true => last.set(before),
            false => {
                last.set(Some(sight.clone()));
                sees(sight);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn nobody_hears_twice_that_the_other_is_not_there() {
        let told = RefCell::new(Vec::new());
        let tell = |sight| told.borrow_mut().push(sight);
        let sees = once(&tell);
        let trouble = Sight::Trouble("the relay is gone".to_owned());
        for sight in [
            Sight::Waiting,
            Sight::Waiting,
            Sight::Here,
            Sight::Waiting,
            Sight::Here,
            trouble.clone(),
            Sight::Waiting,
        ] {
            sees(sight);
        }
        drop(sees);
        let expected = [Sight::Waiting, Sight::Here, trouble, Sight::Waiting];
        assert_eq!(told.into_inner(), expected);
    }
}
