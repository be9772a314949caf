//! Two scripts, replayed over a network as discrete events.
//!
//! Each party has up to three threads: one outside of exchanges, and two within one. A thread
//! computes, and then sends, which may have to wait for room, or receives, which may have to wait
//! for bytes. The clock jumps to the next time at which somebody is done computing or a message
//! arrives; before it does, everything happens that can. Nothing is random.
//!
//! Messages are told apart where they leave, as each arrives as a whole. Where they are received,
//! bytes are counted: scripts that were scaled may cut the same bytes at other places.

mod line;
mod thread;

use crate::{Duplex, Network, Script, Timeline, script::Scale};
use line::{Line, Load};
use thread::{Doing, Thread};

/// The processors that compute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cores {
    /// Each party has as many as it has threads.
    Own,
    /// Both parties together have this many, and share them evenly.
    Shared(usize),
}

/// The predicted time of a run.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Forecast {
    /// Seconds until both parties are done.
    pub seconds: f64,
    /// The sender, and the receiver.
    pub parties: [PartyTime; 2],
    /// The line from the sender to the receiver, and the line back.
    pub lines: [LineUse; 2],
}

/// The use of a party's time. Time in which two of its threads do something counts twice.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct PartyTime {
    /// Seconds until it is done.
    pub seconds: f64,
    /// Seconds of computing.
    pub computing: f64,
    /// Seconds of waiting for a message.
    pub waiting_to_receive: f64,
    /// Seconds of waiting for room to send.
    pub waiting_to_send: f64,
}

/// The use of a line, in one direction.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LineUse {
    /// Bytes that it carried.
    pub bytes: f64,
    /// Seconds in which it carried them.
    pub busy: f64,
}

/// The reason that scripts cannot be replayed: they are not of one run.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum Mismatch {
    /// One party waits for more or fewer bytes than the other one sends.
    #[error(
        "a party waits for {expected} bytes where {sent} come: these are scripts of different runs"
    )]
    Bytes {
        /// The bytes that it waits for.
        expected: f64,
        /// The bytes that are sent.
        sent: f64,
    },
    /// A party waits for what never comes.
    #[error("a party waits for a message that is never sent: these are scripts of different runs")]
    Stuck,
}

impl Forecast {
    /// This, and a share of another one.
    pub(crate) fn plus(&self, other: &Self, share: f64) -> Self {
        let party = |sum: PartyTime, time: PartyTime| PartyTime {
            seconds: sum.seconds + share * time.seconds,
            computing: sum.computing + share * time.computing,
            waiting_to_receive: sum.waiting_to_receive + share * time.waiting_to_receive,
            waiting_to_send: sum.waiting_to_send + share * time.waiting_to_send,
        };
        let line = |sum: LineUse, line: LineUse| LineUse {
            bytes: sum.bytes + share * line.bytes,
            busy: sum.busy + share * line.busy,
        };
        Self {
            seconds: self.seconds + share * other.seconds,
            parties: [0, 1].map(|role| party(self.parties[role], other.parties[role])),
            lines: [0, 1].map(|direction| line(self.lines[direction], other.lines[direction])),
        }
    }
}

/// Bytes, or messages, that are lost by rounding.
const ROUNDING: f64 = 1e-3;

/// The messages of both parties in a run that is replayed as it is.
const MOST_MESSAGES: f64 = 100_000.0;

/// Replays the scripts of the sender and of the receiver. Of a run of very many messages, two
/// shorter ones are replayed, and the rest is in proportion: what grows with its length, as set-up
/// and latency do not.
///
/// # Errors
/// If they are not of one run.
pub fn simulate(
    sender: &Script,
    receiver: &Script,
    network: &Network,
    cores: Cores,
) -> Result<Forecast, Mismatch> {
    let replayed = |sender: &Script, receiver: &Script| {
        replay(sender, receiver, network, cores).map(|(forecast, _)| forecast)
    };
    let messages = sender.messages() + receiver.messages();
    if messages <= MOST_MESSAGES {
        return replayed(sender, receiver);
    }
    let shortened = |length: f64| {
        let of = |script: &Script| script.scaled(Scale::all(length));
        replayed(&of(sender), &of(receiver))
    };
    let length = MOST_MESSAGES / messages;
    let (half, longer) = (shortened(length / 2.0)?, shortened(length)?);
    let halves_more = 2.0 * (1.0 - length) / length;
    Ok(longer.plus(&longer, halves_more).plus(&half, -halves_more))
}

/// Replays two scripts, and tells when the bytes of the sender and of the receiver move.
pub(crate) fn replay(
    sender: &Script,
    receiver: &Script,
    network: &Network,
    cores: Cores,
) -> Result<(Forecast, [Timeline; 2]), Mismatch> {
    for (says, hears) in [(sender, receiver), (receiver, sender)] {
        let ([sent, _], [_, expected]) = (says.traffic(), hears.traffic());
        if (sent - expected).abs() > ROUNDING * (1.0 + 1e-3 * expected) {
            return Err(Mismatch::Bytes { expected, sent });
        }
    }
    let [sender, receiver] = [sender, receiver].map(|script| script.handling(network.handling));
    let mut simulation = Simulation {
        now: 0.0,
        network,
        lines: [0, 1].map(|direction| Line::new(network, direction)),
        shared_until: 0.0,
        parties: [Party::new(&sender), Party::new(&receiver)],
    };
    while simulation.proceed() {
        let wait = simulation.until_next_event(cores).ok_or(Mismatch::Stuck)?;
        simulation.pass(wait, cores);
    }
    Ok((simulation.forecast(), simulation.timelines()))
}

struct Simulation<'a> {
    now: f64,
    network: &'a Network,
    /// From each party to the other.
    lines: [Line; 2],
    /// The time until which what both directions share is taken.
    shared_until: f64,
    parties: [Party<'a>; 2],
}

struct Party<'a> {
    /// Outside of exchanges; within one, its halves.
    alone: Thread<'a>,
    halves: Option<[Thread<'a>; 2]>,
    /// Messages of the exchange that were received, and not taken yet.
    ahead: f64,
    time: PartyTime,
    timeline: Timeline,
}

impl<'a> Party<'a> {
    fn new(script: &'a Script) -> Self {
        Self {
            alone: Thread::new(script),
            halves: None,
            ahead: 0.0,
            time: PartyTime::default(),
            timeline: Timeline::default(),
        }
    }

    /// Returns those that are not waiting for the end of an exchange.
    fn threads(&self) -> &[Thread<'a>] {
        match &self.halves {
            Some(halves) => halves,
            None => std::slice::from_ref(&self.alone),
        }
    }

    fn threads_mut(&mut self) -> &mut [Thread<'a>] {
        match &mut self.halves {
            Some(halves) => halves,
            None => std::slice::from_mut(&mut self.alone),
        }
    }

    /// Returns what it waits to receive.
    fn expects(&self) -> f64 {
        let expected = self.threads().iter().map(|thread| match thread.doing {
            Doing::Receive(load) => load.bytes,
            _ => 0.0,
        });
        expected.sum()
    }
}

impl<'a> Simulation<'a> {
    /// Lets everything happen that can happen now. Returns whether there is more to come.
    fn proceed(&mut self) -> bool {
        loop {
            let mut anything = false;
            for direction in [0, 1] {
                anything |= self.deliver(direction);
            }
            for party in [0, 1] {
                for thread in 0..self.parties[party].threads().len() {
                    anything |= self.step(party, thread);
                }
                anything |= self.end_exchange(party);
            }
            if !anything {
                return !self.is_over();
            }
        }
    }

    /// Hands over the bytes that have arrived. Returns whether there were any.
    fn deliver(&mut self, direction: usize) -> bool {
        let expected = self.parties[1 - direction].expects();
        let line = &mut self.lines[direction];
        let Some(&(load, due)) = line.under_way.front() else {
            return false;
        };
        let (unread, window) = (line.unread, self.network.unread);
        let is_wanted = unread.bytes < ROUNDING || unread.bytes + ROUNDING < expected;
        let has_room = unread.messages + load.messages <= window.messages as f64 + ROUNDING
            && unread.bytes + load.bytes <= window.bytes as f64;
        if due > self.now || !(is_wanted || has_room) {
            return false;
        }
        line.under_way.pop_front();
        line.bytes_under_way -= load.bytes;
        line.unread.bytes += load.bytes;
        line.unread.messages += load.messages;
        true
    }

    /// Lets a thread do all work that takes no time. Returns whether it did anything.
    fn step(&mut self, party: usize, thread: usize) -> bool {
        let doing = self.parties[party].threads()[thread].doing;
        let done = match doing {
            Doing::Next => {
                self.begin(party, thread);
                return true;
            }
            Doing::Compute(seconds) => seconds <= 0.0,
            Doing::Send(load) => self.send(party, load),
            Doing::Receive(load) => self.receive(party, load),
            Doing::Take(messages) => self.take(party, messages),
            Doing::Nothing => false,
        };
        if done {
            self.parties[party].threads_mut()[thread].go_on();
        }
        done
    }

    fn begin(&mut self, party: usize, thread: usize) {
        let now = self.now;
        let party = &mut self.parties[party];
        match party.threads_mut()[thread].begin() {
            Some(halves) => {
                party.halves = Some(halves);
                party.ahead = 0.0;
            }
            None if party.threads()[thread].doing == Doing::Nothing => party.time.seconds = now,
            None => {}
        }
    }

    fn send(&mut self, party: usize, load: Load) -> bool {
        let (now, line) = (self.now, &mut self.lines[party]);
        let room = self.network.queue_bytes[party];
        if !line.under_way.is_empty() && line.bytes_under_way + load.bytes > room {
            return false;
        }
        let from = match self.network.wire.duplex {
            Duplex::Full => now,
            Duplex::Half => now.max(self.shared_until),
        };
        self.shared_until = line.send(load, from);
        self.parties[party].timeline.add(now, load.bytes);
        true
    }

    fn receive(&mut self, party: usize, load: Load) -> bool {
        let unread = &mut self.lines[1 - party].unread;
        if unread.bytes + ROUNDING < load.bytes {
            return false;
        }
        unread.bytes = (unread.bytes - load.bytes).max(0.0);
        unread.messages = (unread.messages - load.messages).max(0.0);
        let (now, party) = (self.now, &mut self.parties[party]);
        party.ahead += load.messages;
        party.timeline.add(now, load.bytes);
        true
    }

    fn take(&mut self, party: usize, messages: f64) -> bool {
        let ahead = &mut self.parties[party].ahead;
        let is_there = *ahead + ROUNDING >= messages;
        if is_there {
            *ahead -= messages;
        }
        is_there
    }

    /// Continues after an exchange whose halves are both done. Returns whether there was one.
    fn end_exchange(&mut self, party: usize) -> bool {
        let party = &mut self.parties[party];
        let over = |halves: &[Thread<'_>; 2]| {
            let idle = |half: &Thread<'_>| half.doing == Doing::Nothing;
            halves.iter().all(idle)
        };
        if !party.halves.as_ref().is_some_and(over) {
            return false;
        }
        party.halves = None;
        party.alone.doing = Doing::Next;
        true
    }

    fn is_over(&self) -> bool {
        self.threads().all(|thread| thread.doing == Doing::Nothing)
    }

    fn threads(&self) -> impl Iterator<Item = &Thread<'a>> {
        self.parties.iter().flat_map(Party::threads)
    }

    /// Returns the speed at which a thread computes, where 1 is a core of its own.
    fn speed(&self, cores: Cores) -> f64 {
        let computing = self.threads().filter(|thread| thread.computes()).count();
        match cores {
            Cores::Shared(cores) if computing > cores => cores as f64 / computing as f64,
            _ => 1.0,
        }
    }

    /// Returns the seconds until the next event, if there will be one.
    fn until_next_event(&self, cores: Cores) -> Option<f64> {
        let speed = self.speed(cores);
        let computed = self.threads().filter_map(|thread| match thread.doing {
            Doing::Compute(seconds) => Some(seconds / speed),
            _ => None,
        });
        let arrivals = self.lines.iter().filter_map(|line| {
            let (_, due) = line.under_way.front()?;
            (*due > self.now).then_some(due - self.now)
        });
        computed.chain(arrivals).min_by(f64::total_cmp)
    }

    /// Lets time pass.
    fn pass(&mut self, wait: f64, cores: Cores) {
        let speed = self.speed(cores);
        // A sum that rounds to the same number would never arrive.
        let then = (self.now + wait).max(self.now.next_up());
        let passed = then - self.now;
        self.now = then;
        for party in &mut self.parties {
            let mut time = party.time;
            for thread in party.threads_mut() {
                match &mut thread.doing {
                    Doing::Compute(seconds) => {
                        *seconds -= passed * speed;
                        time.computing += passed * speed;
                    }
                    Doing::Send(_) => time.waiting_to_send += passed,
                    Doing::Receive(_) | Doing::Take(_) => time.waiting_to_receive += passed,
                    Doing::Next | Doing::Nothing => {}
                }
            }
            party.time = time;
        }
    }

    fn forecast(&self) -> Forecast {
        let parties = [0, 1].map(|party| self.parties[party].time);
        let lines = [0, 1].map(|direction| {
            let line = &self.lines[direction];
            LineUse {
                bytes: line.bytes,
                busy: line.bytes * line.seconds_per_byte,
            }
        });
        Forecast {
            seconds: parties[0].seconds.max(parties[1].seconds),
            parties,
            lines,
        }
    }

    fn timelines(self) -> [Timeline; 2] {
        self.parties
            .map(|party| party.timeline.end(party.time.seconds))
    }
}

#[cfg(test)]
mod tests;
