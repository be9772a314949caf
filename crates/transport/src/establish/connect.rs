//! Going to the other party's address.
//!
//! Until the peer has proved who it is, any failure may be temporary: the peer does not listen yet;
//! a forwarder before it accepts first, and then closes or keeps silent; somebody else is at the
//! address for now. So all of that is tried again until the time is over. A failure that cannot
//! pass ends the wait, and so does a reason that the peer itself has given.

use std::{
    io::{self, ErrorKind, Read, Write},
    mem::{self, Discriminant},
    net::{Shutdown, SocketAddr, TcpStream, ToSocketAddrs},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::{Duration, Instant},
};

use super::{
    Established, LINGER, POLL, Patience,
    greeting::{Fault, Greeter, Greeting, Heard, PIECE_BYTES},
    introduction::Purpose,
    pace::Pace,
    tells,
};
use psijoin_printable::Word;

use crate::{Attempt, Error, Kind, Options, endpoint::Address, ticket::Ticket};

/// The waits before the first attempt is repeated, and before later ones at most.
const BACK_OFF: [Duration; 2] = [Duration::from_millis(200), Duration::from_secs(1)];

/// The wait for an address that does not even refuse, before the next is tried: in the first round,
/// and at most. Where many want to be let in at once, this side's packets may be lost, and systems
/// ask again after one second, three and seven.
const ATTEMPT: [Duration; 2] = [Duration::from_millis(500), Duration::from_secs(10)];

/// After how long it means something that an address does not even refuse: systems ask twice by
/// then.
const SILENCE: Duration = Duration::from_secs(1);

/// Connects to the peer, however late it starts to listen.
pub(crate) fn connect(address: &Address, options: &Options) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    connect_for(Purpose::Meet, address, options, patience)
}

/// Connects to the peer again, for a further stream of the session.
pub(super) fn connect_stream(
    address: &Address,
    options: &Options,
    (ticket, stream): (Ticket, u8),
    patience: &Patience<'_>,
) -> Result<Established, Error> {
    connect_for(Purpose::Dial(ticket, stream), address, options, *patience)
}

fn connect_for(
    purpose: Purpose,
    address: &Address,
    options: &Options,
    patience: Patience<'_>,
) -> Result<Established, Error> {
    let going = Going {
        address: address.as_str(),
        greeter: Greeter::connecting(&options.security, purpose)?,
        setup: options.timeouts.setup,
        patience,
    };
    let mut failures = Failures::default();
    let [mut back_off, longest_back_off] = BACK_OFF;
    let [mut attempt, longest_attempt] = ATTEMPT;
    while going.patience.left()?.is_some() {
        if let Some(established) = going.round(attempt, &mut failures)? {
            return Ok(established);
        }
        going.rest(back_off)?;
        back_off = longest_back_off.min(back_off.mul_f32(1.5));
        attempt = longest_attempt.min(2 * attempt);
    }
    Err(Error::NobodyListened {
        address: going.address.to_owned(),
        waited: going.patience.limit,
        attempt: failures.most_telling,
    })
}

/// One way to the peer.
struct Going<'a> {
    address: &'a str,
    greeter: Greeter,
    setup: Duration,
    patience: Patience<'a>,
}

/// The reason that an attempt failed.
enum Failure {
    /// The next one may not.
    Passing(Error),
    /// The next one will too.
    Lasting(Error),
    /// There was no time to learn why: this is the most that is known.
    Unfinished(Option<Error>),
}

impl Going<'_> {
    /// Tries all addresses that the name resolves to, each for at most this time until it answers.
    ///
    /// # Errors
    /// If no later round can do better.
    fn round(
        &self,
        limit: Duration,
        failures: &mut Failures,
    ) -> Result<Option<Established>, Error> {
        let addresses = match self.resolve() {
            Ok(addresses) => addresses,
            Err(failure) => {
                self.pass(failure, failures)?;
                return Ok(None);
            }
        };
        let mut lasting = None;
        let mut may_pass = addresses.is_empty();
        for address in addresses {
            match self.attempt(address, limit) {
                Ok(established) => return Ok(Some(established)),
                // Another of the addresses may work.
                Err(Failure::Lasting(error @ Error::Connect { .. })) => lasting = Some(error),
                Err(failure) => {
                    may_pass = true;
                    self.pass(failure, failures)?;
                }
            }
        }
        match lasting {
            Some(error) if !may_pass => Err(error),
            _ => Ok(None),
        }
    }

    fn resolve(&self) -> Result<Vec<SocketAddr>, Failure> {
        let host = self.address.to_owned();
        let addresses = self.call(
            move |_| host.to_socket_addrs(),
            |source| Error::Resolve {
                address: self.address.to_owned(),
                source,
            },
        )?;
        Ok(addresses.collect())
    }

    fn attempt(&self, address: SocketAddr, limit: Duration) -> Result<Established, Failure> {
        // Made before, so that the other side hears it as soon as it lets this one in.
        let (greeting, first) = self.greeter.greet().map_err(Failure::Lasting)?;
        let started = Instant::now();
        let socket = self.call(
            move |left| connect_once(address, left.min(limit)),
            |source| Error::Connect {
                address: self.address.to_owned(),
                source,
            },
        );
        let socket = socket.map_err(|failure| self.judge_silence(failure, started.elapsed()))?;
        self.greet(socket, greeting, &first)
    }

    /// Returns what it means that an attempt to connect has ended without an answer.
    fn judge_silence(&self, failure: Failure, waited: Duration) -> Failure {
        let no_answer = || Error::NoAnswer {
            address: self.address.to_owned(),
            waited,
        };
        let is_long = waited >= SILENCE;
        match failure {
            Failure::Passing(Error::Connect { source, .. })
                if source.kind() == ErrorKind::TimedOut =>
            {
                match is_long {
                    true => Failure::Passing(no_answer()),
                    false => Failure::Unfinished(None),
                }
            }
            Failure::Unfinished(None) => Failure::Unfinished(is_long.then(no_answer)),
            failure => failure,
        }
    }

    /// Makes sure who is at the other end, and that it speaks psijoin.
    fn greet(
        &self,
        socket: TcpStream,
        mut greeting: Greeting,
        first: &[u8],
    ) -> Result<Established, Failure> {
        let host = Host::new(socket, &self.patience, self.setup)?;
        let mut pace = Pace::default();
        pace.says(Instant::now());
        host.say(first);
        loop {
            let mut buffer = [0; PIECE_BYTES];
            pace.listens(Instant::now());
            let length = host.read(&mut buffer[..greeting.room()])?;
            pace.heard(Instant::now(), length);
            let mut answer = Vec::new();
            let heard = greeting.take_in(&buffer[..length], &mut answer);
            if !answer.is_empty() {
                pace.says(Instant::now());
            }
            host.say(&answer);
            match heard {
                Ok(Heard::Peer) => {
                    return Ok(Established {
                        socket: host.socket,
                        measured: pace.measured(&greeting),
                        stream: greeting.stream(),
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
                        Failure::Passing(error)
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
        match failure {
            Failure::Passing(error) => failures.note(error, self.address),
            Failure::Lasting(error) => return Err(error),
            Failure::Unfinished(Some(error)) if failures.tell() < tells(&error) => {
                failures.note(error, self.address);
            }
            Failure::Unfinished(_) => {}
        }
        Ok(())
    }

    fn rest(&self, how_long: Duration) -> Result<(), Error> {
        let rest = self.patience.anew(how_long);
        while let (Some(_), Some(left)) = (self.patience.left()?, rest.left()?) {
            thread::sleep(POLL.min(left));
        }
        Ok(())
    }

    /// Runs a system call that nothing can interrupt on a thread of its own, which is left to
    /// itself when patience ends.
    fn call<T: Send + 'static>(
        &self,
        call: impl FnOnce(Duration) -> io::Result<T> + Send + 'static,
        explain: impl FnOnce(io::Error) -> Error,
    ) -> Result<T, Failure> {
        let left = self.left()?;
        let (result, results) = mpsc::sync_channel(1);
        thread::Builder::new()
            .name("psijoin-connect".into())
            .spawn(move || {
                // Nobody may be waiting any more.
                let _ = result.send(call(left));
            })
            .map_err(|no_thread| Failure::Lasting(Error::Thread(no_thread)))?;
        loop {
            match results.recv_timeout(POLL) {
                Ok(Ok(value)) => return Ok(value),
                Ok(Err(error)) if lasts(&error) => return Err(Failure::Lasting(explain(error))),
                Ok(Err(error)) => return Err(Failure::Passing(explain(error))),
                Err(RecvTimeoutError::Timeout) => drop(self.left()?),
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(Failure::Lasting(
                        io::Error::other("the connecting thread panicked").into(),
                    ));
                }
            }
        }
    }

    /// Returns how long this side may still try.
    fn left(&self) -> Result<Duration, Failure> {
        match self.patience.left() {
            Ok(Some(left)) => Ok(left),
            Ok(None) => Err(Failure::Unfinished(None)),
            Err(interrupted) => Err(Failure::Lasting(interrupted)),
        }
    }
}

/// Returns whether the same call will fail again.
fn lasts(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::InvalidInput | ErrorKind::PermissionDenied | ErrorKind::Unsupported
    )
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

/// The other end, whoever it is.
struct Host<'a> {
    socket: TcpStream,
    /// Until when this side tries at all.
    overall: &'a Patience<'a>,
    /// Until when the other end has to have proved itself.
    setup: Patience<'a>,
}

impl<'a> Host<'a> {
    fn new(socket: TcpStream, overall: &'a Patience<'a>, setup: Duration) -> Result<Self, Failure> {
        let passing = |error: io::Error| Failure::Passing(error.into());
        socket.set_nodelay(true).map_err(passing)?;
        socket.set_read_timeout(Some(POLL)).map_err(passing)?;
        socket.set_write_timeout(Some(POLL)).map_err(passing)?;
        Ok(Self {
            socket,
            overall,
            setup: overall.anew(setup),
        })
    }

    /// Waits for bytes.
    fn read(&self, buffer: &mut [u8]) -> Result<usize, Failure> {
        loop {
            if self.setup.left().map_err(Failure::Lasting)?.is_none() {
                return Err(Failure::Passing(Error::SetupTimedOut(self.setup.limit)));
            }
            if self.overall.left().map_err(Failure::Lasting)?.is_none() {
                let waited = self.setup.started.elapsed();
                return Err(Failure::Unfinished(Some(Error::SetupTimedOut(waited))));
            }
            match (&self.socket).read(buffer) {
                Ok(0) => return Err(Failure::Passing(Error::ClosedDuringSetup)),
                Ok(length) => return Ok(length),
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
    fn say(&self, bytes: &[u8]) {
        if let Err(error) = (&self.socket).write_all(bytes) {
            tracing::debug!("the other side does not listen: {error}");
        }
    }

    /// Closes the connection so that what was said last arrives: a socket that is closed with
    /// unread bytes destroys what is on its way.
    fn dismiss(self) {
        if self.socket.shutdown(Shutdown::Write).is_err() {
            return;
        }
        let leaving = Self {
            setup: self.overall.anew(LINGER),
            ..self
        };
        while leaving.read(&mut [0; PIECE_BYTES]).is_ok() {}
    }
}

/// The failed attempts so far.
#[derive(Default)]
struct Failures {
    most_telling: Option<Attempt>,
    logged: Vec<Discriminant<Error>>,
}

impl Failures {
    /// Returns how much they tell.
    fn tell(&self) -> u8 {
        self.most_telling
            .as_ref()
            .map_or(0, |attempt| tells(&attempt.why))
    }

    fn note(&mut self, error: Error, address: &str) {
        // Once for each kind of failure: there are few, and as many attempts as there is time.
        let kind = mem::discriminant(&error);
        if !self.logged.contains(&kind) {
            self.logged.push(kind);
            tracing::warn!(
                "the other party was not met at {} yet, trying again: {error}",
                Word(address)
            );
        }
        match &mut self.most_telling {
            Some(other) if tells(&other.why) > tells(&error) => other.is_last = false,
            most_telling => {
                *most_telling = Some(Attempt {
                    why: Box::new(error),
                    is_last: true,
                });
            }
        }
    }
}
