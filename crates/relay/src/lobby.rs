//! All who have come and are not joined yet, in the care of one thread.
//!
//! As at a party that listens, nobody blocks it, turning somebody away is closing a socket, and a
//! flood is let in no faster than it is heard. Each [standing](Standing) has seats of its own, so
//! those who say nothing take none from those who wait for their peers.

use std::{
    collections::{BTreeMap, HashMap},
    io::ErrorKind,
    mem,
    net::TcpListener,
    sync::{
        Arc,
        atomic::Ordering::Relaxed,
        mpsc::{self, Receiver, Sender},
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::{
    rendezvous::{Hello, State, Text},
    room::{self, Source},
};
use ring::rand::SystemRandom;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::{
    metrics::RefusalLog,
    pair::{Pair, Why},
    pairing::{Guest, Id, Met, Pairing},
    refusal::Refusal,
    relay::{Drain, House},
    tag::Tag,
    visitor::{Standing, Step, Visitor},
};

/// The time between two looks at everything that no socket reports.
const POLL: Duration = Duration::from_millis(50);

/// The number that are let in before all are heard again.
const MAX_ADMITTED: usize = 64;

/// The wait for the system to have room for one more connection.
const SHORTAGE: Duration = Duration::from_millis(5);

/// The number that have not said whom they meet. Where they are more, an address takes seats from
/// itself. Whoever speaks as soon as it can has done so by the time that half as many have come
/// after it.
const GREETING_SEATS: usize = 1024;

/// The number that were turned away and may read why.
const LEAVING_SEATS: usize = 256;

/// See the [module](self).
pub(crate) struct Lobby {
    /// `None` once the relay drains.
    listener: Option<TcpListener>,
    house: House,
    drain: Drain,
    visitors: BTreeMap<Id, Visitor>,
    next_id: Id,
    pairing: Pairing,
    pairs: Pairs,
    refusals: RefusalLog,
    was_short: bool,
}

/// The running pairs, by the number of the server's connection.
struct Pairs {
    running: HashMap<Id, (Arc<Pair>, Option<Source>)>,
    /// Each thread that ends a pair tells its number.
    has_ended: Sender<Id>,
    ended: Receiver<Id>,
}

/// Nobody can be let in for now.
struct Short;

impl Lobby {
    pub(crate) fn new(listener: TcpListener, house: House, drain: Drain) -> Self {
        let (has_ended, ended) = mpsc::channel();
        Self {
            listener: Some(listener),
            pairing: Pairing::new(house.limits),
            house,
            drain,
            visitors: BTreeMap::new(),
            next_id: 0,
            pairs: Pairs {
                running: HashMap::new(),
                has_ended,
                ended,
            },
            refusals: RefusalLog::new(Instant::now()),
            was_short: false,
        }
    }

    /// Runs until the relay has drained.
    pub(crate) fn run(mut self) {
        loop {
            if let Some(deadline) = self.drain.deadline()
                && self.drains(deadline)
            {
                return;
            }
            let is_short = self.admit().is_err();
            self.hear();
            self.release();
            self.keep(Standing::Greeting, GREETING_SEATS);
            self.keep(Standing::Leaving, LEAVING_SEATS);
            self.report();
            if is_short {
                thread::sleep(SHORTAGE);
            } else {
                self.wait();
            }
        }
    }

    /// Takes nobody more, and tells whether it is over.
    fn drains(&mut self, deadline: Instant) -> bool {
        if self.listener.take().is_some() {
            tracing::info!("draining: {} pairs run", self.pairs.running.len());
            self.house.metrics.draining.store(1, Relaxed);
            let staying: Vec<_> = self
                .visitors
                .iter()
                .filter(|(_, visitor)| visitor.standing != Standing::Leaving)
                .map(|(id, _)| *id)
                .collect();
            for id in staying {
                self.turn_away(id, &Refusal::Draining);
            }
        }
        if Instant::now() >= deadline {
            for (pair, _) in self.pairs.running.values() {
                pair.finish(Why::Drained);
            }
        }
        self.visitors.is_empty() && self.pairs.running.is_empty()
    }

    /// Lets in those who wait outside, or some of them.
    ///
    /// # Errors
    /// The system has no descriptor or no memory for one more connection. That passes.
    fn admit(&mut self) -> Result<(), Short> {
        let Some(listener) = &self.listener else {
            return Ok(());
        };
        for _ in 0..MAX_ADMITTED {
            let (socket, from) = match listener.accept() {
                Ok(connected) => connected,
                Err(error) => match error.kind() {
                    ErrorKind::WouldBlock => return Ok(()),
                    // Somebody has left before being let in.
                    ErrorKind::Interrupted
                    | ErrorKind::ConnectionAborted
                    | ErrorKind::ConnectionReset => continue,
                    _ => {
                        if !mem::replace(&mut self.was_short, true) {
                            tracing::warn!("nobody could be let in for a moment: {error}");
                        }
                        self.make_room();
                        return Err(Short);
                    }
                },
            };
            self.house.metrics.connections.fetch_add(1, Relaxed);
            match Visitor::new(socket, from, &self.house) {
                Ok(visitor) => {
                    self.next_id += 1;
                    self.visitors.insert(self.next_id, visitor);
                }
                Err(error) => tracing::debug!("{from} came and could not be served: {error}"),
            }
        }
        Ok(())
    }

    /// Hears every visitor once.
    fn hear(&mut self) {
        let now = Instant::now();
        let mut steps = Vec::new();
        for (id, visitor) in &mut self.visitors {
            match visitor.hear(&self.house, now) {
                Ok(Step::Stays) => {}
                step => steps.push((*id, step)),
            }
        }
        for (id, step) in steps {
            match step {
                Ok(Step::Stays) => {}
                Ok(Step::Guest { hello, by }) => self.receive(id, hello, by.as_deref()),
                Ok(Step::Gone) => self.remove(id),
                Err(refusal) => self.turn_away(id, &refusal),
            }
        }
    }

    /// Gives a guest a place, and joins it with its peer if that is here.
    fn receive(&mut self, id: Id, hello: Hello, by: Option<&str>) {
        let Some(visitor) = self.visitors.get(&id) else {
            return;
        };
        let guest = Guest {
            side: hello.side,
            token: hello.token,
            client: hello.client,
            source: visitor.source,
            has_access: by.is_some(),
        };
        let tag = self.house.tagger.name(&guest.token);
        match by {
            Some(name) => tracing::debug!("{tag}: a {:?} came with the key of {name}", guest.side),
            None => tracing::debug!("{tag}: a {:?} came", guest.side),
        }
        self.enter(id, guest);
    }

    fn enter(&mut self, id: Id, guest: Guest) {
        for older in self.pairing.replace(&guest) {
            self.turn_away(older, &Refusal::Replaced);
        }
        let token = guest.token.clone();
        match self.pairing.arrive(id, guest) {
            Ok(displaced) => {
                if let Some(displaced) = displaced {
                    self.turn_away(displaced, &Refusal::Displaced);
                }
            }
            Err(refusal) => return self.turn_away(id, &refusal),
        }
        if let Some(met) = self.pairing.meet(&token) {
            let tag = self.house.tagger.name(&token);
            tracing::debug!("{tag}: both sides are here");
            return self.join(met, tag);
        }
        let visitor = self.visitors.get_mut(&id);
        let is_deaf = |visitor: &mut Visitor| visitor.wait(&self.house, Instant::now()).is_err();
        if visitor.is_some_and(is_deaf) {
            self.remove(id);
        }
    }

    /// Joins two guests that have met.
    fn join(&mut self, met: Met, tag: Tag) {
        let ends = [met.server, met.client].map(|id| self.visitors.remove(&id));
        let [Some(server), Some(client)] = ends else {
            return self.pairing.end(met.charged);
        };
        let states = [State::Here(Text::default()), State::Go];
        let joined = [server, client].map(|visitor| {
            // If it has left, the other side sees that at once.
            let _ = visitor.say(&states);
            visitor.into_end()
        });
        let [Ok(server), Ok(client)] = joined else {
            return self.pairing.end(met.charged);
        };
        let has_ended = self.pairs.has_ended.clone();
        let number = met.server;
        let started = Pair::start(
            [server, client],
            tag,
            self.house.limits,
            &self.house.metrics,
            move || {
                // Nobody listens once the relay is over.
                let _ = has_ended.send(number);
            },
        );
        match started {
            Ok(pair) => {
                self.house.metrics.joined.fetch_add(1, Relaxed);
                self.pairs.running.insert(number, (pair, met.charged));
            }
            Err(error) => {
                tracing::warn!("{tag}: could not be joined: {error}");
                self.house.metrics.refused(&Refusal::Exhausted);
                self.pairing.end(met.charged);
            }
        }
    }

    /// Forgets the pairs that have ended.
    fn release(&mut self) {
        while let Ok(number) = self.pairs.ended.try_recv() {
            if let Some((_, charged)) = self.pairs.running.remove(&number) {
                self.pairing.end(charged);
            }
        }
    }

    /// Tells a visitor why it is turned away. It may stay for a moment to read that.
    fn turn_away(&mut self, id: Id, refusal: &Refusal) {
        self.pairing.leave(id);
        self.house.metrics.refused(refusal);
        let Some(visitor) = self.visitors.get_mut(&id) else {
            return;
        };
        tracing::debug!("turned away one from {:?}: {refusal}", visitor.source);
        if !visitor.dismiss(refusal) {
            self.visitors.remove(&id);
        }
    }

    fn remove(&mut self, id: Id) {
        self.pairing.leave(id);
        self.visitors.remove(&id);
    }

    /// Lets those go for whom their standing has no seats.
    fn keep(&mut self, standing: Standing, seats: usize) {
        let members = || {
            let all = self.visitors.iter();
            all.filter(move |(_, visitor)| visitor.standing == standing)
        };
        if members().count() <= seats {
            return;
        }
        let sources = members().map(|(id, visitor)| (*id, visitor.source));
        for id in room::surplus(sources, seats, &SystemRandom::new()) {
            if standing == Standing::Greeting {
                self.house.metrics.refused(&Refusal::Crowd);
            }
            self.visitors.remove(&id);
        }
    }

    /// Lets one go, of those who have shown least.
    fn make_room(&mut self) {
        for standing in [Standing::Leaving, Standing::Greeting] {
            let all = self.visitors.values();
            let count = all.filter(|visitor| visitor.standing == standing).count();
            if count > 0 {
                return self.keep(standing, count - 1);
            }
        }
    }

    /// Brings the metrics and the log up to date.
    fn report(&mut self) {
        let metrics = &self.house.metrics;
        metrics
            .waiting
            .store(self.pairing.waiting() as u64, Relaxed);
        metrics
            .running
            .store(self.pairing.running() as u64, Relaxed);
        self.refusals.log_if_due(metrics, Instant::now());
    }

    /// Waits a moment for somebody to come or to say something.
    fn wait(&mut self) {
        let visitors = self.visitors.values_mut().map(Visitor::awaited);
        let (mut heard, mut awaited): (Vec<_>, Vec<_>) = visitors.unzip();
        let listener = self.listener.iter();
        awaited.extend(listener.map(|listener| PollFd::new(listener, PollFlags::IN)));
        let limit = Timespec::try_from(POLL).expect("a moment");
        if let Err(error) = poll(&mut awaited, Some(&limit)) {
            tracing::debug!("waiting for several connections failed: {error}");
            thread::sleep(SHORTAGE);
        }
        for (is_ready, socket) in heard.iter_mut().zip(&awaited) {
            **is_ready |= !socket.revents().is_empty();
        }
    }
}
