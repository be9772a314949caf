//! Going to where the other party is: to its address, to a relay, or to a folder.
//!
//! Until the peer has proved who it is, any failure may be temporary: the peer does not listen yet;
//! a forwarder before it accepts first, and then closes or keeps silent; somebody else is at the
//! address for now, or takes the peer's place at the relay. So all of that is tried again until the
//! time is over. A failure that cannot pass ends the wait, and so does a reason that the peer
//! itself has given.

use std::time::{Duration, Instant};

use super::{
    Established, Patience,
    choice::Choice,
    failures::Failures,
    greeting::{Fault, Greeter, Greeting, Heard, PIECE_BYTES},
    host::{Host, Reached},
    introduction::Purpose,
    pace::Pace,
    route::Route,
    tells,
};
use crate::{
    Error, Kind, Options,
    dial::{Failure, Way},
    endpoint::Sight,
    rendezvous::Side,
    ticket::Ticket,
};

/// The waits before the first attempt is repeated, and before later ones at most.
pub(super) const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// The wait for an address that does not even refuse, before the next is tried: in the first round,
/// and at most. Where many want to be let in at once, this side's packets may be lost, and systems
/// ask again after one second, three and seven.
pub(super) const ATTEMPT: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// Connects to the peer, however late it starts to listen.
pub(crate) fn connect(way: &Way, options: &Options) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    go(
        Purpose::to_connect(options),
        &Route::Straight(way),
        options,
        patience,
    )
}

/// Connects to the peer again, for a further stream of the session.
pub(super) fn connect_stream(
    route: &Route<'_>,
    options: &Options,
    (ticket, stream): (Ticket, u32),
    patience: &Patience<'_>,
) -> Result<Established, Error> {
    go(Purpose::Dial(ticket, stream), route, options, *patience)
}

/// Goes there until the peer is met.
pub(super) fn go(
    purpose: Purpose,
    route: &Route<'_>,
    options: &Options,
    patience: Patience<'_>,
) -> Result<Established, Error> {
    let mut failures = Failures::default();
    let met = Going::new(purpose, route, options, patience)?.until_met(&mut failures)?;
    met.ok_or_else(|| {
        let by_invitation = options.security.is_by_invitation();
        route.nobody(patience.limit, failures.into_most_telling(), by_invitation)
    })
}

/// One way to the peer.
pub(super) struct Going<'a> {
    route: &'a Route<'a>,
    greeter: Greeter,
    setup: Duration,
    patience: Patience<'a>,
    /// Other ways are gone at the same time.
    choice: Option<&'a Choice>,
}

/// The result of one round.
enum Round {
    Peer(Box<Established>),
    /// Somebody else.
    Stranger,
    Nobody,
}

impl<'a> Going<'a> {
    pub(super) fn new(
        purpose: Purpose,
        route: &'a Route<'a>,
        options: &Options,
        patience: Patience<'a>,
    ) -> Result<Self, Error> {
        Ok(Self {
            route,
            greeter: Greeter::connecting(&options.security, purpose)?,
            setup: options.timeouts.setup,
            patience,
            choice: None,
        })
    }

    /// Goes there beside others of this side, of which one may meet somebody.
    pub(super) fn beside_others(self, choice: &'a Choice) -> Self {
        Self {
            choice: Some(choice),
            ..self
        }
    }

    /// Goes there until the peer is met; nothing comes if patience ends.
    pub(super) fn until_met(&self, failures: &mut Failures) -> Result<Option<Established>, Error> {
        let [mut back_off, longest_back_off] = BACK_OFF;
        let [mut attempt, longest_attempt] = ATTEMPT;
        while self.patience.left()?.is_some() {
            match self.round(attempt, failures)? {
                Round::Peer(established) => return Ok(Some(*established)),
                // The next one in the relay's queue may be the peer.
                Round::Stranger if matches!(self.route, Route::Relay(..)) => {
                    [back_off, _] = BACK_OFF;
                }
                Round::Stranger | Round::Nobody => {}
            }
            self.patience.rest(back_off)?;
            back_off = longest_back_off.min(back_off.mul_f32(1.5));
            attempt = longest_attempt.min(2 * attempt);
        }
        Ok(None)
    }

    /// Tries all that the route leads to, each address for at most this time until it answers.
    ///
    /// # Errors
    /// If no later round can do better.
    fn round(&self, limit: Duration, failures: &mut Failures) -> Result<Round, Error> {
        let mut approach = match self.route.approach(limit, &self.patience) {
            Ok(approach) => approach,
            Err(failure) => {
                self.pass(failure, failures)?;
                return Ok(Round::Nobody);
            }
        };
        let (mut round, mut useless, mut may_pass) = (Round::Nobody, None, false);
        loop {
            let prepared = self.prepare()?;
            let Some(reached) = approach.next() else {
                break;
            };
            let established = match reached {
                Ok(reached) => {
                    round = Round::Stranger;
                    self.greet(reached, prepared)
                }
                Err(failure) => Err(failure),
            };
            match established {
                Ok(established) => return Ok(Round::Peer(established.into())),
                // Another of the addresses may work.
                Err(Failure::Useless(error)) => useless = Some(error),
                Err(failure) => {
                    may_pass = true;
                    self.pass(failure, failures)?;
                }
            }
        }
        match useless {
            Some(error) if !may_pass => Err(error),
            _ => Ok(round),
        }
    }

    /// Makes a greeting before anybody is reached, so that the other side hears it as soon as it
    /// lets this one in. Where that may take hours, it would be too old by then.
    fn prepare(&self) -> Result<Option<(Greeting, Vec<u8>)>, Error> {
        match self.route {
            Route::Straight(_) => self.greeter.greet().map(Some),
            _ => Ok(None),
        }
    }

    /// Makes sure who is at the other end, and that it speaks psijoin.
    fn greet(
        &self,
        reached: Reached,
        prepared: Option<(Greeting, Vec<u8>)>,
    ) -> Result<Established, Failure> {
        let prepared = prepared.map_or_else(|| self.greeter.greet(), Ok);
        let (mut greeting, first) = prepared.map_err(Failure::Lasting)?;
        let limits = self.route.limits(self.setup, self.patience.limit);
        let mut host = Host::new(reached, &self.patience, limits)?;
        let mut pace = Pace::default();
        pace.says(Instant::now());
        host.say(&first);
        let mut right = None;
        loop {
            let mut buffer = [0; PIECE_BYTES];
            pace.listens(Instant::now());
            let length = host.read(&mut buffer[..greeting.room()])?;
            pace.heard(Instant::now(), length);
            let mut answer = Vec::new();
            let heard = greeting.take_in(&buffer[..length], &mut answer);
            if !answer.is_empty() {
                // It may tell the other side that it is met.
                if let (Some(choice), None) = (self.choice, &right) {
                    right = Some(choice.take().ok_or(Failure::Unfinished(None))?);
                }
                pace.says(Instant::now());
            }
            host.say(&answer);
            match heard {
                Ok(Heard::Peer) => {
                    if let Some(right) = right {
                        right.choose();
                    }
                    let Reached { socket, bridge, .. } = host.reached;
                    let peer = socket.peer_addr();
                    let place = self
                        .route
                        .place(peer.map_err(|e| Failure::Passing(e.into()))?);
                    return Ok(Established {
                        place,
                        is_direct: self.route.is_direct(),
                        socket,
                        bridge,
                        measured: pace.measured(&greeting),
                        stream: greeting.stream(),
                        side: Side::Client,
                        tls: greeting.into_tls(),
                    });
                }
                Ok(Heard::Part | Heard::Hello) => {}
                Err(Fault {
                    error,
                    is_authenticated,
                }) => {
                    if error.kind() == Kind::Peer {
                        host.dismiss();
                    }
                    return Err(if is_authenticated && !matches!(error, Error::Tls(_)) {
                        Failure::Lasting(error)
                    } else {
                        Failure::Passing(self.route.explain(error))
                    });
                }
            }
        }
    }

    /// Notes an attempt that failed, if the next one may not.
    ///
    /// # Errors
    /// The reason that will not pass.
    fn pass(&self, failure: Failure, failures: &mut Failures) -> Result<(), Error> {
        let no_sight = |_: Sight| {};
        let sees = self.route.sees().unwrap_or(&no_sight);
        match failure {
            Failure::Passing(error) => failures.note(error, self.route, sees),
            Failure::Lasting(error) | Failure::Useless(error) => return Err(error),
            Failure::Unfinished(Some(error)) if failures.tell() < tells(&error) => {
                failures.note(error, self.route, sees);
            }
            Failure::Unfinished(_) => {}
        }
        Ok(())
    }
}
