//! Attempts at all addresses of a place, which overlap.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind},
    net::{SocketAddr, TcpStream},
    sync::mpsc::{self, Receiver, RecvTimeoutError, Sender},
    thread,
    time::{Duration, Instant},
};

use super::{Failure, lasts, resolve};
use crate::{
    Error,
    endpoint::Address,
    patience::{POLL, Patience},
};

/// The head start of each address (RFC 8305, section 8, "Connection Attempt Delay").
const HEAD_START: Duration = Duration::from_millis(250);

/// After how long it means something that an address does not even refuse: systems ask twice by
/// then.
const SILENCE: Duration = Duration::from_secs(1);

/// See the [module](self).
pub(super) struct Race<'a> {
    place: &'a Address,
    limit: Duration,
    patience: &'a Patience<'a>,
    began: Instant,
    /// Those that were not tried yet.
    waiting: VecDeque<SocketAddr>,
    /// The time at which the next is tried, unless all before have failed by then.
    next_start: Instant,
    running: usize,
    ended: Receiver<Ended>,
    end: Sender<Ended>,
}

/// An attempt that came to its end.
struct Ended {
    waited: Duration,
    outcome: io::Result<TcpStream>,
}

impl<'a> Race<'a> {
    /// Looks up the place. Each of its addresses will be given this long to answer.
    pub(super) fn begin(
        place: &'a Address,
        limit: Duration,
        patience: &'a Patience<'a>,
    ) -> Result<Self, Failure> {
        let waiting = in_turn(resolve(place, patience)?);
        let (end, ended) = mpsc::channel();
        Ok(Self {
            place,
            limit,
            patience,
            began: Instant::now(),
            waiting,
            next_start: Instant::now(),
            running: 0,
            ended,
            end,
        })
    }

    /// Returns the next that connects, or the reason that one did not; nothing when all were tried.
    pub(super) fn next(&mut self) -> Option<Result<TcpStream, Failure>> {
        loop {
            let now = Instant::now();
            if (self.running == 0 || now >= self.next_start)
                && let Some(address) = self.waiting.pop_front()
            {
                if let Err(failure) = self.start(address) {
                    return Some(Err(failure));
                }
                self.next_start = now + HEAD_START;
            }
            if self.running == 0 {
                return None;
            }
            let pause = match self.waiting.is_empty() {
                true => POLL,
                false => self.next_start.saturating_duration_since(now).min(POLL),
            };
            match self.ended.recv_timeout(pause) {
                Ok(Ended { waited, outcome }) => {
                    self.running -= 1;
                    self.next_start = Instant::now();
                    return Some(outcome.map_err(|error| self.judge(error, waited)));
                }
                Err(RecvTimeoutError::Timeout) => match self.patience.left() {
                    Ok(Some(_)) => {}
                    over => {
                        self.give_up();
                        return Some(Err(match over {
                            Ok(_) => Failure::Unfinished(self.silence(self.began.elapsed())),
                            Err(stopped) => Failure::Lasting(stopped),
                        }));
                    }
                },
                Err(RecvTimeoutError::Disconnected) => unreachable!("this side has a sender, too"),
            }
        }
    }

    /// Connects on a thread of its own: systems do not interrupt that. If somebody else wins, it
    /// is left to itself, and so is its socket.
    fn start(&mut self, address: SocketAddr) -> Result<(), Failure> {
        let left = match self.patience.left() {
            Ok(left) => left.unwrap_or_default(),
            Err(stopped) => return Err(Failure::Lasting(stopped)),
        };
        let limit = self.limit.min(left).max(Duration::from_millis(1));
        let end = self.end.clone();
        let attempt = move || {
            let started = Instant::now();
            let outcome = connect_once(address, limit);
            let waited = started.elapsed();
            // Nobody may be waiting any more.
            let _ = end.send(Ended { waited, outcome });
        };
        thread::Builder::new()
            .name("psijoin-connect".into())
            .spawn(attempt)
            .map_err(|no_thread| Failure::Lasting(Error::Thread(no_thread)))?;
        self.running += 1;
        Ok(())
    }

    fn give_up(&mut self) {
        self.waiting.clear();
        self.running = 0;
    }

    /// Returns what it means that an attempt failed after this time.
    fn judge(&self, source: io::Error, waited: Duration) -> Failure {
        if source.kind() == ErrorKind::TimedOut {
            return match self.silence(waited) {
                Some(silence) => Failure::Passing(silence),
                None => Failure::Unfinished(None),
            };
        }
        let is_useless = lasts(&source);
        let error = Error::Connect {
            address: self.place.as_str().to_owned(),
            source,
        };
        match is_useless {
            true => Failure::Useless(error),
            false => Failure::Passing(error),
        }
    }

    /// Returns what it means that nothing was heard for this time, if it means anything.
    fn silence(&self, waited: Duration) -> Option<Error> {
        (waited >= SILENCE).then(|| Error::NoAnswer {
            address: self.place.as_str().to_owned(),
            waited,
        })
    }
}

/// Returns addresses of IPv6 and of IPv4 in turn, as far as there are both: those of each kind in
/// their order, which is that of the system's preference.
fn in_turn(addresses: Vec<SocketAddr>) -> VecDeque<SocketAddr> {
    let (six, four): (Vec<_>, Vec<_>) = addresses.into_iter().partition(SocketAddr::is_ipv6);
    let (mut six, mut four) = (six.into_iter(), four.into_iter());
    let mut sorted = VecDeque::new();
    loop {
        let pair = [six.next(), four.next()];
        if pair == [None; 2] {
            return sorted;
        }
        sorted.extend(pair.into_iter().flatten());
    }
}

fn connect_once(address: SocketAddr, limit: Duration) -> io::Result<TcpStream> {
    let socket = TcpStream::connect_timeout(&address, limit)?;
    // A port of this machine that nobody listens at can be given to the very socket that
    // tries to reach it, which then talks to itself.
    if socket.local_addr()? == socket.peer_addr()? {
        return Err(ErrorKind::ConnectionRefused.into());
    }
    Ok(socket)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use crate::Interrupt;

    fn addresses(texts: &[&str]) -> Vec<SocketAddr> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    #[test]
    fn both_kinds_take_turns_and_the_newer_comes_first() {
        let [a, b, c] = ["192.0.2.1:7", "192.0.2.2:7", "192.0.2.3:7"];
        let [x, y] = ["[2001:db8::1]:7", "[2001:db8::2]:7"];
        for (given, expected) in [
            (&[a, b, c, x, y][..], &[x, a, y, b, c][..]),
            (&[y, x, a], &[y, a, x]),
            (&[b, a], &[b, a]),
            (&[x], &[x]),
            (&[], &[]),
        ] {
            assert_eq!(in_turn(addresses(given)), addresses(expected));
        }
    }

    fn race<'a>(
        place: &'a Address,
        waiting: Vec<SocketAddr>,
        patience: &'a Patience<'a>,
    ) -> Race<'a> {
        let mut race = Race::begin(place, Duration::from_secs(20), patience).unwrap();
        race.waiting = waiting.into();
        race
    }

    /// 192.0.2.1 is for documents, and nobody's.
    #[test]
    fn an_address_that_leads_nowhere_delays_the_next_no_longer_than_its_head_start() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Address::from(listener.local_addr().unwrap());
        let interrupt = Interrupt::new();
        let patience = Patience::new(Duration::from_secs(60), &interrupt);
        let nowhere = "192.0.2.1:7".parse().unwrap();
        let waiting = vec![nowhere, listener.local_addr().unwrap()];
        let mut race = race(&place, waiting, &patience);
        // It may also fail at once, where there is no network.
        let connected = std::iter::from_fn(|| race.next()).find_map(Result::ok);
        let peer = connected.unwrap().peer_addr().unwrap();
        assert_eq!(peer, listener.local_addr().unwrap());
    }

    #[test]
    fn all_addresses_are_tried_until_there_are_no_more() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let place = Address::from(listener.local_addr().unwrap());
        let interrupt = Interrupt::new();
        let patience = Patience::new(Duration::from_secs(60), &interrupt);
        let listening = listener.local_addr().unwrap();
        // No test can listen there.
        let nobody = "127.0.0.1:1".parse().unwrap();
        let waiting = vec![nobody, listening, listening];
        let mut race = race(&place, waiting, &patience);
        let outcomes: Vec<_> = std::iter::from_fn(|| race.next()).collect();
        let connected: Vec<_> = outcomes.iter().map(Result::is_ok).collect();
        assert_eq!(connected, [false, true, true]);
    }

    #[test]
    fn an_interrupt_ends_it() {
        let place = "127.0.0.1:1".parse().unwrap();
        let interrupt = Interrupt::new();
        let patience = Patience::new(Duration::from_secs(60), &interrupt);
        let mut race = race(&place, vec!["192.0.2.1:7".parse().unwrap()], &patience);
        interrupt.trigger();
        let ended: Vec<_> = std::iter::from_fn(|| race.next()).collect();
        let [Err(Failure::Lasting(Error::Interrupted))] = &ended[..] else {
            panic!("{ended:?}");
        };
    }
}
