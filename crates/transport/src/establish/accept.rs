//! Waiting for the other party at an address, or for it to come where both go.
//!
//! Whoever comes is a candidate. The first that proves to be the peer ends the wait. Nothing
//! that any other candidate does ends it, or keeps the peer from being heard.
//!
//! One thread hears all candidates in turn, without blocking on any. So no thread can fail to
//! start, turning a candidate away is closing its socket, and a flood is let in no faster than it
//! is heard. A candidate's [standing](Standing) is what it has shown. Each standing has seats of
//! its own, so those of one take none from another: the peer knocks, and then competes with nobody.
//! Where seats are short, an address takes them from itself: see [`room`](crate::room).

use std::{
    mem,
    ops::Range,
    thread,
    time::{Duration, Instant},
};

use ring::rand::SystemRandom;
use rustix::event::{Timespec, poll};

use super::{
    Established, POLL, Patience,
    candidate::{Candidate, Standing, Step},
    doorkeeper::Doorkeeper,
    gate::{Gate, Shut},
    greeting::Greeter,
    introduction::{Purpose, Register},
    turned_away::TurnedAway,
};
use crate::{
    Error, Kind, Listener, Options, error::Strangers, knock::Verdict, room, ticket::Ticket,
};

/// The number that are let in before all are heard again. All of them are heard before any has to
/// leave.
const MAX_ADMITTED: usize = 64;

/// The wait for the system to have room for one more connection.
const SHORTAGE: Duration = Duration::from_millis(5);

/// The pause after an answer to a stranger, as a multiple of the answer's time: so answers, each of
/// which costs as much as letting a dozen in, take a fifth of the time at most.
const REST: u32 = 4;

/// Waits for the peer.
pub(crate) fn accept(listener: &Listener, options: &Options) -> Result<Established, Error> {
    let patience = Patience::new(options.timeouts.meet, &options.interrupt);
    match meet_at(Gate::of(listener)?, options, &patience)? {
        Ok(established) => {
            listener.close()?;
            Ok(established)
        }
        Err(strangers) => Err(Error::NobodyConnected {
            address: listener.address().as_str().to_owned(),
            waited: patience.limit,
            strangers,
        }),
    }
}

/// Waits for the peer at a gate. If it has not come when patience ends, those who came instead are
/// returned.
pub(super) fn meet_at(
    gate: Gate<'_>,
    options: &Options,
    patience: &Patience<'_>,
) -> Result<Result<Established, Option<Strangers>>, Error> {
    let mut entrance = Entrance::new(gate, options, Purpose::to_accept(options))?;
    let met = entrance.next(patience)?;
    Ok(met.ok_or_else(|| entrance.close()))
}

/// Waits for further streams of a session, for all together no longer than `patience` lasts.
/// `let_in` gets each as it comes.
pub(super) fn accept_streams(
    gate: Gate<'_>,
    options: &Options,
    (ticket, numbers): (Ticket, Range<u32>),
    patience: &Patience<'_>,
    let_in: impl Fn(Established) -> Result<(), Error>,
) -> Result<(), Error> {
    let count = numbers.len() as u32;
    let purpose = Purpose::LetIn(Register::new(ticket, numbers));
    let mut entrance = Entrance::new(gate, options, purpose)?;
    for opened in 0..count {
        match entrance.next(patience)? {
            Some(stream) => let_in(stream)?,
            None => {
                return Err(Error::TooFewStreams {
                    opened,
                    agreed: count,
                    waited: patience.limit,
                    attempt: None,
                    strangers: entrance.close(),
                });
            }
        }
    }
    Ok(())
}

/// The gate and all who have come.
struct Entrance<'a> {
    gate: Gate<'a>,
    greeter: Greeter,
    doorkeeper: Doorkeeper,
    setup: Duration,
    /// In the order in which they came.
    candidates: Vec<Candidate>,
    turned_away: TurnedAway,
    /// The time from which the next stranger may be answered.
    next_answer: Instant,
    /// Once, the system had nothing left for one more connection.
    was_short: bool,
}

impl<'a> Entrance<'a> {
    fn new(gate: Gate<'a>, options: &Options, purpose: Purpose) -> Result<Self, Error> {
        Ok(Self {
            gate,
            doorkeeper: Doorkeeper::new(options, &purpose),
            greeter: Greeter::listening(&options.security, purpose)?,
            setup: options.timeouts.setup,
            candidates: Vec::new(),
            turned_away: TurnedAway::default(),
            next_answer: Instant::now(),
            was_short: false,
        })
    }

    /// Waits for a connection whose other end proves to be the peer; nothing comes if patience
    /// ends.
    fn next(&mut self, patience: &Patience<'_>) -> Result<Option<Established>, Error> {
        while patience.left()?.is_some() {
            let (has_room, peer) = match self.admit()? {
                Admitted::Peer(established) => (true, Some(*established)),
                admitted => (matches!(admitted, Admitted::All), self.hear_if_free()),
            };
            if let Some(established) = peer {
                self.turned_away.log();
                return Ok(Some(established));
            }
            for standing in Standing::ALL {
                self.keep(standing, standing.seats());
            }
            self.turned_away.log_if_due();
            if has_room {
                self.wait();
            } else {
                thread::sleep(SHORTAGE);
            }
        }
        Ok(None)
    }

    /// Lets in those who wait outside, or some of them.
    ///
    /// # Errors
    /// If nobody will ever come.
    fn admit(&mut self) -> Result<Admitted, Error> {
        for _ in 0..MAX_ADMITTED {
            let (reached, from) = match self.gate.accept() {
                Ok(Some(somebody)) => somebody,
                Ok(None) => return Ok(Admitted::All),
                Err(Shut::ForNow(error)) => {
                    if !mem::replace(&mut self.was_short, true) {
                        tracing::warn!("nobody could be let in for a moment: {error}");
                    }
                    self.make_room();
                    return Ok(Admitted::NoRoom);
                }
                Err(Shut::ForGood(error)) => return Err(error),
                Err(Shut::Met(established)) => return Ok(Admitted::Peer(established)),
            };
            tracing::debug!("{from} connected");
            match Candidate::new(reached, from, &self.greeter) {
                Ok(candidate) => self.candidates.push(candidate),
                Err(error) => self.turned_away.note(from, error),
            }
        }
        Ok(Admitted::All)
    }

    /// Waits a moment for somebody to come or to send something.
    fn wait(&mut self) {
        let has_asking = self.candidates.iter().any(Candidate::asks);
        let limit = match has_asking {
            true => self.next_answer.saturating_duration_since(Instant::now()),
            false => POLL,
        };
        let (mut heard, mut awaited): (Vec<_>, Vec<_>) = self
            .candidates
            .iter_mut()
            .filter(|candidate| !candidate.asks())
            .map(Candidate::awaited)
            .unzip();
        awaited.push(self.gate.awaited());
        let limit = Timespec::try_from(limit.min(POLL)).expect("a moment");
        if let Err(error) = poll(&mut awaited, Some(&limit)) {
            tracing::debug!("waiting for several connections failed: {error}");
            thread::sleep(SHORTAGE);
        }
        for (is_ready, socket) in heard.iter_mut().zip(&awaited) {
            **is_ready |= !socket.revents().is_empty();
        }
    }

    /// Returns those of a standing, and their places.
    fn members(&self, standing: Standing) -> impl Iterator<Item = (usize, &Candidate)> {
        let all = self.candidates.iter().enumerate();
        all.filter(move |(_, candidate)| candidate.standing() == standing)
    }

    /// Turns away those for whom their standing has no seats.
    fn keep(&mut self, standing: Standing, seats: usize) {
        if self.members(standing).count() <= seats {
            return;
        }
        let members = self.members(standing);
        let members = members.map(|(place, candidate)| (place, candidate.from.into()));
        let mut leaving = room::surplus(members, seats, &SystemRandom::new());
        leaving.sort_unstable();
        for place in leaving.into_iter().rev() {
            let candidate = self.candidates.remove(place);
            if standing != Standing::Leaving {
                let error = Error::SetupTimedOut(candidate.since.elapsed());
                self.turned_away.note(candidate.from, error);
            }
        }
    }

    /// Turns away one, of those who have shown least.
    fn make_room(&mut self) {
        let count = |standing| self.members(standing).count();
        let crowd = Standing::ALL.map(|standing| (standing, count(standing)));
        if let Some((standing, count)) = crowd.into_iter().find(|&(_, count)| count > 0) {
            self.keep(standing, count - 1);
        }
    }

    /// Hears the candidates, unless this side is about to meet somebody elsewhere.
    fn hear_if_free(&mut self) -> Option<Established> {
        let Some(choice) = self.gate.choice() else {
            return self.hear().or_else(|| self.answer_a_stranger());
        };
        let Some(right) = choice.take_if_free() else {
            // Those who have said something would be found ready at once.
            thread::sleep(SHORTAGE);
            return None;
        };
        let peer = self.hear().or_else(|| self.answer_a_stranger());
        if peer.is_some() {
            right.choose();
        }
        peer
    }

    /// Hears every candidate once, until one is the peer.
    fn hear(&mut self) -> Option<Established> {
        let now = Instant::now();
        let mut place = 0;
        while let Some(candidate) = self.candidates.get_mut(place) {
            let mut step = candidate.hear(self.setup, now);
            if let Ok(Step::Asks) = step {
                step = match self.doorkeeper.judge(candidate.knock()) {
                    Verdict::Peer => candidate.let_in(),
                    Verdict::ClocksDiffer(by) => {
                        candidate.keep_waiting((!self.gate.is_slow()).then_some(by))
                    }
                    Verdict::Anybody => candidate.keep_waiting(None),
                };
            }
            match self.follow(place, step) {
                Followed::Stays => place += 1,
                Followed::Gone => {}
                Followed::Peer(established) => return Some(*established),
            }
        }
        None
    }

    /// Answers one of those who wait for that and have not shown who they are, if it is time.
    fn answer_a_stranger(&mut self) -> Option<Established> {
        let started = Instant::now();
        if started < self.next_answer {
            return None;
        }
        let heard = || self.members(Standing::Heard);
        let asking = heard()
            .filter(|(_, candidate)| candidate.asks())
            .map(|(place, candidate)| (place, candidate.from.into()));
        let present = heard().map(|(_, candidate)| candidate.from.into());
        let place = room::first_served(asking, present)?;
        let step = self.candidates[place].answer();
        let followed = self.follow(place, step);
        self.next_answer = Instant::now() + REST * started.elapsed();
        match followed {
            Followed::Peer(established) => Some(*established),
            Followed::Stays | Followed::Gone => None,
        }
    }

    /// Does what a step of the candidate at that place leads to.
    fn follow(&mut self, place: usize, step: Result<Step, Error>) -> Followed {
        match step {
            Ok(Step::Stays | Step::Asks) => Followed::Stays,
            Ok(Step::Gone) => {
                self.candidates.remove(place);
                Followed::Gone
            }
            Ok(Step::IsPeer) => match self.candidates.remove(place).into_established() {
                Ok(mut established) => {
                    if let Some(place) = self.gate.place() {
                        established.place = place.to_owned();
                        established.is_direct = false;
                    }
                    Followed::Peer(established.into())
                }
                Err((from, error)) => {
                    self.turned_away.note(from, *error);
                    Followed::Gone
                }
            },
            Err(error) => {
                let kind = error.kind();
                let candidate = &mut self.candidates[place];
                self.turned_away.note(candidate.from, error);
                if kind == Kind::Peer && candidate.dismiss() {
                    return Followed::Stays;
                }
                self.candidates.remove(place);
                Followed::Gone
            }
        }
    }

    /// Ends the wait. Those who are still there were not the peer.
    fn close(mut self) -> Option<Strangers> {
        for standing in Standing::ALL {
            self.keep(standing, 0);
        }
        self.turned_away.into_strangers()
    }
}

/// The result of letting others in.
enum Admitted {
    /// All, or many.
    All,
    /// The system has no descriptor or no memory for one more connection. That passes, and sooner
    /// because a candidate has gone.
    NoRoom,
    /// This side has met the peer elsewhere.
    Peer(Box<Established>),
}

/// The state of a candidate.
enum Followed {
    Stays,
    Gone,
    Peer(Box<Established>),
}
