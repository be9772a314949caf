//! The ways in which somebody comes to a party that waits: to its listener, or where both go.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{Ipv4Addr, SocketAddr, TcpStream},
    sync::{Arc, mpsc},
    thread,
    time::Duration,
};

use rustix::event::{PollFd, PollFlags};

use super::{
    Established, Patience,
    choice::Choice,
    connect::{ATTEMPT, BACK_OFF, Going},
    failures::Failures,
    host::Reached,
    introduction::Purpose,
    relay::Place,
    route::Route,
};
use crate::{
    Error, Interrupt, Kind, Listener, Options, Sight,
    bridge::{Stop, pair},
    dial::Failure,
    mailbox::{self, Spot},
    rendezvous::Side,
};

/// The pause between two who come to one place in a queue.
const PAUSE: Duration = Duration::from_millis(10);

/// See the [module](self).
pub(super) enum Gate<'a> {
    Listener(&'a Listener),
    /// Threads go and wait elsewhere, and hand over whoever comes there.
    Elsewhere(Elsewhere<'a>),
}

/// Nobody is let in.
pub(super) enum Shut {
    /// The system has no room for one more, for now.
    ForNow(io::Error),
    /// Nobody will ever come.
    ForGood(Error),
    /// This side has come to the peer.
    Met(Box<Established>),
}

impl<'a> Gate<'a> {
    /// Opens the gate of a listener.
    pub(super) fn of(listener: &'a Listener) -> Result<Self, Error> {
        listener.open()?;
        listener.socket.set_nonblocking(true)?;
        Ok(Self::Listener(listener))
    }

    /// Waits at these places in queues of relays, of either part. What is seen there is told to
    /// `sees`, and failed attempts are noted.
    pub(super) fn at_relay(
        places: Vec<Place>,
        options: &Options,
        sees: &'a dyn Fn(Sight),
        failures: &'a mut Failures,
    ) -> Result<Self, Error> {
        let shown = places.first().map(Place::to_string).unwrap_or_default();
        let (mut gate, reporter) = Elsewhere::new(shown, false, sees, failures)?;
        for place in places {
            let (reporter, stop) = (reporter.clone(), gate.stop.clone());
            match place.side() {
                Side::Server => {
                    let interrupt = options.interrupt.clone();
                    start(move || keep_place(&place, &interrupt, &stop, &reporter))?;
                }
                Side::Client => {
                    let (options, choice) = (options.clone(), gate.share_choice());
                    start(move || {
                        let sees = |sight| reporter.tell(News::Sight(sight));
                        go_there(
                            &Route::Relay(&place, &sees),
                            &options,
                            &choice,
                            &stop,
                            &reporter,
                        );
                    })?;
                }
            }
        }
        Ok(Self::Elsewhere(gate))
    }

    /// Looks into these folders, of either part.
    pub(super) fn in_folders(
        spots: Vec<(Spot, Side)>,
        options: &Options,
        sees: &'a dyn Fn(Sight),
        failures: &'a mut Failures,
    ) -> Result<Self, Error> {
        let shown = spots.first();
        let shown = shown.map(|(at, _)| psijoin_printable::path(&at.folder));
        let shown = format!("the folder {}", shown.unwrap_or_default());
        let (mut gate, reporter) = Elsewhere::new(shown, true, sees, failures)?;
        for (at, side) in spots {
            let (reporter, stop) = (reporter.clone(), gate.stop.clone());
            match side {
                Side::Server => start(move || look_into(&at, &stop, &reporter))?,
                Side::Client => {
                    let (options, choice) = (options.clone(), gate.share_choice());
                    start(move || {
                        let sees = |sight| reporter.tell(News::Sight(sight));
                        go_there(
                            &Route::Folder(&at, &sees),
                            &options,
                            &choice,
                            &stop,
                            &reporter,
                        );
                    })?;
                }
            }
        }
        Ok(Self::Elsewhere(gate))
    }

    /// Returns who has come, if anybody has.
    pub(super) fn accept(&mut self) -> Result<Option<(Reached, SocketAddr)>, Shut> {
        let listener = match self {
            Self::Elsewhere(gate) => return gate.accept(),
            Self::Listener(listener) => listener,
        };
        loop {
            match listener.socket.accept() {
                Ok((socket, from)) => return Ok(Some((socket.into(), from))),
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(None),
                    // Somebody has left before being let in.
                    ErrorKind::Interrupted
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::ConnectionReset => {}
                    _ => return Err(Shut::ForNow(error)),
                },
            }
        }
    }

    /// Returns what to wait for until somebody comes.
    pub(super) fn awaited(&self) -> PollFd<'_> {
        match self {
            Self::Listener(listener) => PollFd::new(&listener.socket, PollFlags::IN),
            Self::Elsewhere(gate) => PollFd::new(&gate.woken, PollFlags::IN),
        }
    }

    /// Returns where those who come are, for people, if it is not the address that they come from.
    pub(super) fn place(&self) -> Option<&str> {
        match self {
            Self::Listener(_) => None,
            Self::Elsewhere(gate) => Some(&gate.place),
        }
    }

    /// Returns what has to be held while candidates are heard, if this side may meet somebody else
    /// meanwhile.
    pub(super) fn choice(&self) -> Option<Choice> {
        match self {
            Self::Listener(_) => None,
            Self::Elsewhere(gate) => gate.choice.clone(),
        }
    }

    /// Returns whether it takes so long to come here that clocks cannot be compared.
    pub(super) fn is_slow(&self) -> bool {
        matches!(self, Self::Elsewhere(Elsewhere { is_slow: true, .. }))
    }
}

/// Threads that wait elsewhere, until this is dropped.
pub(super) struct Elsewhere<'a> {
    place: String,
    is_slow: bool,
    news: mpsc::Receiver<News>,
    /// Has something to read when there is news.
    woken: TcpStream,
    stop: Stop,
    /// Made by this side's threads, too, if some of them go to the peer.
    choice: Option<Choice>,
    sees: &'a dyn Fn(Sight),
    failures: &'a mut Failures,
}

/// What a thread reports.
enum News {
    Somebody(Reached),
    Met(Box<Established>),
    Sight(Sight),
    Failed(Error),
    /// The thread has ended: no later attempt can go better.
    Lost(Error),
}

/// Reports to the gate.
#[derive(Clone)]
pub(super) struct Reporter {
    news: mpsc::Sender<News>,
    wake: Arc<TcpStream>,
}

impl Reporter {
    fn tell(&self, news: News) {
        // If nobody listens any more, or there is news that was not heard yet, that is all right.
        let _ = self.news.send(news);
        let _ = (&*self.wake).write(&[0]);
    }

    pub(super) fn attempt_failed(&self, error: Error) {
        self.tell(News::Failed(error));
    }

    /// Returns whether it goes on.
    fn failed(&self, failure: Failure) -> bool {
        match failure {
            Failure::Lasting(Error::Interrupted) => return false,
            Failure::Lasting(error) => {
                self.tell(News::Lost(error));
                return false;
            }
            Failure::Passing(error)
            | Failure::Useless(error)
            | Failure::Unfinished(Some(error)) => self.tell(News::Failed(error)),
            Failure::Unfinished(None) => {}
        }
        true
    }
}

impl<'a> Elsewhere<'a> {
    fn new(
        place: String,
        is_slow: bool,
        sees: &'a dyn Fn(Sight),
        failures: &'a mut Failures,
    ) -> Result<(Self, Reporter), Error> {
        let [woken, wake] = pair()?;
        woken.set_nonblocking(true)?;
        wake.set_nonblocking(true)?;
        let (told, news) = mpsc::channel();
        let gate = Self {
            place,
            is_slow,
            news,
            woken,
            stop: Stop::default(),
            choice: None,
            sees,
            failures,
        };
        let reporter = Reporter {
            news: told,
            wake: wake.into(),
        };
        Ok((gate, reporter))
    }

    /// Returns the choice for a thread that goes to the peer.
    fn share_choice(&mut self) -> Choice {
        self.choice.get_or_insert_default().clone()
    }

    fn accept(&mut self) -> Result<Option<(Reached, SocketAddr)>, Shut> {
        // Read before the news: what comes after that wakes this side again.
        while matches!((&self.woken).read(&mut [0; 64]), Ok(1..)) {}
        while let Ok(news) = self.news.try_recv() {
            match news {
                News::Somebody(reached) => {
                    let nowhere = SocketAddr::from((Ipv4Addr::UNSPECIFIED, 0));
                    let from = reached.from.unwrap_or(nowhere);
                    return Ok(Some((reached, from)));
                }
                News::Met(established) => return Err(Shut::Met(established)),
                News::Sight(sight) => (self.sees)(sight),
                News::Failed(error) => self.failures.note(error, &self.place, self.sees),
                News::Lost(error) => return Err(Shut::ForGood(error)),
            }
        }
        Ok(None)
    }
}

impl Drop for Elsewhere<'_> {
    fn drop(&mut self) {
        self.stop.stop();
    }
}

fn start(wait: impl FnOnce() + Send + 'static) -> Result<(), Error> {
    let thread = thread::Builder::new().name("psijoin-wait".into());
    thread.spawn(wait).map_err(Error::Thread).map(drop)
}

/// Waits at a place in the queue of a relay, again and again.
fn keep_place(place: &Place, interrupt: &Interrupt, stop: &Stop, reporter: &Reporter) {
    let patience = Patience {
        stop: Some(stop),
        ..Patience::new(Duration::MAX, interrupt)
    };
    let sees = |sight| reporter.tell(News::Sight(sight));
    let route = Route::Relay(place, &sees);
    let [mut back_off, longest_back_off] = BACK_OFF;
    let [mut attempt, longest_attempt] = ATTEMPT;
    while matches!(patience.left(), Ok(Some(_))) {
        let reached = match route.approach(attempt, &patience) {
            Err(failure) => Err(failure),
            Ok(mut approach) => loop {
                match approach.next() {
                    Some(Ok(reached)) => break Ok(Some(reached)),
                    Some(Err(failure)) => {
                        if !reporter.failed(failure) {
                            return;
                        }
                    }
                    None => break Ok(None),
                }
            },
        };
        let pause = match reached {
            Ok(Some(reached)) => {
                reporter.tell(News::Somebody(reached));
                [back_off, _] = BACK_OFF;
                PAUSE
            }
            Ok(None) => back_off,
            Err(failure) => match reporter.failed(failure) {
                true => back_off,
                false => return,
            },
        };
        if patience.rest(pause).is_err() {
            return;
        }
        if pause == back_off {
            back_off = longest_back_off.min(back_off.mul_f32(1.5));
            attempt = longest_attempt.min(2 * attempt);
        }
    }
}

/// Goes to the peer, beside others of this side.
fn go_there(
    route: &Route<'_>,
    options: &Options,
    choice: &Choice,
    stop: &Stop,
    reporter: &Reporter,
) {
    let patience = Patience {
        stop: Some(stop),
        ..Patience::new(Duration::MAX, &options.interrupt)
    };
    let mut failures = Failures::reported_to(reporter.clone());
    let going = Going::new(Purpose::to_connect(options), route, options, patience);
    let met = going.and_then(|going| going.beside_others(choice).until_met(&mut failures));
    let is_one_of_several = options.security.only_peer().is_none();
    match met {
        Ok(Some(established)) => reporter.tell(News::Met(established.into())),
        Ok(None) | Err(Error::Interrupted) => {}
        // Another one may come.
        Err(error) if is_one_of_several && error.kind() == Kind::Peer => {
            reporter.attempt_failed(error);
        }
        Err(error) => reporter.tell(News::Lost(error)),
    }
}

/// Looks into a folder for those who come there.
fn look_into(at: &Spot, stop: &Stop, reporter: &Reporter) {
    reporter.tell(News::Sight(Sight::Waiting));
    let looked = mailbox::listen(at, stop, |(socket, bridge)| {
        reporter.tell(News::Sight(Sight::Here));
        reporter.tell(News::Somebody(Reached {
            socket,
            bridge: Some(bridge),
            from: None,
        }));
    });
    if let Err(error) = looked {
        reporter.tell(News::Lost(error));
    }
}
