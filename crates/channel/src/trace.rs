//! The steps of a party, message by message: its computing time before each, what it sends, what it
//! waits for.
//!
//! A trace is independent of the network it was recorded on: time in which the party waited for a
//! message, or for room to send one, is not in it. So it can be simulated over any other. The time
//! that the other party takes on a shared core is in it, though: to keep that out, record the
//! messages of a run ([`transcript::recorded`](crate::transcript::recorded)), and trace each party
//! alone against them ([`playback`](crate::playback)).
//!
//! ```
//! use psijoin_channel::{memory, trace::{Step, traced}};
//!
//! let (alice, mut bob) = memory::pair();
//! let (mut alice, tracer) = traced(alice);
//! bob.send(b"question")?;
//! alice.recv_array::<8>()?;
//! alice.send(b"answer")?;
//! drop(alice);
//! let steps = tracer.finish().steps;
//! assert_eq!(steps[1], Step::Receive { bytes: 8 });
//! assert!(matches!(steps[2], Step::Compute(_)));
//! assert_eq!(steps[3], Step::Send { bytes: 6 });
//! # Ok::<(), psijoin_channel::Error>(())
//! ```

use std::{
    mem,
    sync::{Arc, Mutex, MutexGuard},
    time::{Duration, Instant},
};

use crate::{
    AbortCode, Channel, Error, Inbound, Outbound,
    listener::{Half, Listener},
};

/// The steps of a party, in order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Trace {
    /// The steps.
    pub steps: Vec<Step>,
}

impl Trace {
    /// Returns the time that it computes. Time in which both threads of an exchange compute counts
    /// twice.
    pub fn computing(&self) -> Duration {
        computing(&self.steps)
    }
}

fn computing(steps: &[Step]) -> Duration {
    let times = steps.iter().map(|step| match step {
        Step::Compute(time) => *time,
        Step::Exchange { sending, receiving } => computing(sending) + computing(receiving),
        Step::Send { .. } | Step::Receive { .. } | Step::Take => Duration::ZERO,
    });
    times.sum()
}

/// Something that a party does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// It computes for so long.
    Compute(Duration),
    /// It sends a message.
    Send {
        /// Its length.
        bytes: usize,
    },
    /// It waits for a message.
    Receive {
        /// Its length.
        bytes: usize,
    },
    /// It waits until the receiving side of the exchange that it is in has had one more message.
    Take,
    /// It does both at the same time, and continues when both are done.
    Exchange {
        /// The thread that sends.
        sending: Vec<Step>,
        /// The thread that receives.
        receiving: Vec<Step>,
    },
}

/// Traces what the party does with `channel` from now on.
pub fn traced(channel: Channel) -> (Channel, Tracer) {
    let tracer = Tracer(Arc::new(Mutex::new(State::new(Instant::now()))));
    let mut channel = channel.decorate(
        |inner| Traced {
            inner,
            tracer: tracer.clone(),
        },
        |inner| Traced {
            inner,
            tracer: tracer.clone(),
        },
    );
    channel.listeners.push(Arc::new(tracer.clone()));
    (channel, tracer)
}

/// The trace of a channel as it grows: a handle that can be cloned and read from any thread.
#[derive(Debug, Clone)]
pub struct Tracer(Arc<Mutex<State>>);

impl Tracer {
    /// Returns the trace so far, with what the party has computed since its last message, and from
    /// now on an empty one.
    pub fn finish(&self) -> Trace {
        let now = Instant::now();
        let mut state = mem::replace(&mut *self.lock(), State::new(now));
        state.alone.compute_until(now);
        Trace {
            steps: state.alone.steps,
        }
    }

    fn note(&self, half: Half, started: Instant, step: Step) {
        self.lock().track(half).add(started, step);
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("nothing panics while it is held")
    }
}

impl Listener for Tracer {
    fn exchange_begins(&self) {
        let now = Instant::now();
        let mut state = self.lock();
        state.alone.compute_until(now);
        state.exchange = Some([Track::new(now), Track::new(now)]);
    }

    fn half_ends(&self, half: Half) {
        let now = Instant::now();
        self.lock().track(half).compute_until(now);
    }

    fn exchange_ends(&self) {
        let mut state = self.lock();
        if let Some([sending, receiving]) = state.exchange.take() {
            let step = Step::Exchange {
                sending: sending.steps,
                receiving: receiving.steps,
            };
            state.alone.steps.push(step);
            state.alone.since = Instant::now();
        }
    }

    fn taken_ahead(&self, since: Instant, _: &[u8]) {
        self.note(Half::Outbound, since, Step::Take);
    }
}

#[derive(Debug)]
struct State {
    /// Outside of exchanges.
    alone: Track,
    /// In the exchange that is under way: what sends, and what receives.
    exchange: Option<[Track; 2]>,
}

impl State {
    fn new(now: Instant) -> Self {
        Self {
            alone: Track::new(now),
            exchange: None,
        }
    }

    /// Returns where the thread that has this half writes.
    fn track(&mut self, half: Half) -> &mut Track {
        match &mut self.exchange {
            Some([sending, receiving]) => match half {
                Half::Outbound => sending,
                Half::Inbound => receiving,
            },
            None => &mut self.alone,
        }
    }
}

/// The steps of a thread.
#[derive(Debug)]
struct Track {
    steps: Vec<Step>,
    /// The time at which the last one was done.
    since: Instant,
}

impl Track {
    fn new(since: Instant) -> Self {
        Self {
            steps: Vec::new(),
            since,
        }
    }

    fn compute_until(&mut self, now: Instant) {
        // Exchanges tell when they end after the thread that sends may have gone on.
        let computed = now.saturating_duration_since(self.since);
        self.steps.push(Step::Compute(computed));
        self.since = now;
    }

    fn add(&mut self, started: Instant, step: Step) {
        self.compute_until(started);
        self.steps.push(step);
        self.since = Instant::now();
    }
}

/// A half that is traced.
struct Traced<H> {
    inner: H,
    tracer: Tracer,
}

impl Outbound for Traced<Box<dyn Outbound>> {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        let started = Instant::now();
        self.inner.send(message)?;
        let bytes = message.len();
        self.tracer
            .note(Half::Outbound, started, Step::Send { bytes });
        Ok(())
    }

    fn abort(&mut self, code: AbortCode) {
        self.inner.abort(code);
    }
}

impl Inbound for Traced<Box<dyn Inbound>> {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        let started = Instant::now();
        self.inner.recv(message)?;
        let bytes = message.len();
        self.tracer
            .note(Half::Inbound, started, Step::Receive { bytes });
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{memory, read_ahead};

    /// Longer than a busy machine keeps a thread from going on.
    const NAP: Duration = Duration::from_millis(300);

    /// Returns the steps without what was computed.
    fn messages(steps: &[Step]) -> Vec<&Step> {
        let waits = |step: &&Step| !matches!(step, Step::Compute(_));
        steps.iter().filter(waits).collect()
    }

    #[test]
    fn computing_counts_and_waiting_does_not() {
        let (alice, mut bob) = memory::pair();
        let (mut alice, tracer) = traced(alice);
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(4 * NAP);
                bob.send(&[1]).unwrap();
            });
            alice.recv_array::<1>().unwrap();
        });
        let waited = tracer.finish();
        assert!(waited.computing() < 2 * NAP);
        thread::sleep(NAP);
        alice.send(&[1, 2]).unwrap();
        let worked = tracer.finish();
        assert!(worked.computing() >= NAP);
        assert_eq!(messages(&worked.steps), [&Step::Send { bytes: 2 }]);
    }

    #[test]
    fn an_exchange_has_a_track_for_each_half() {
        let (alice, mut bob) = memory::pair();
        let (mut alice, tracer) = traced(alice);
        bob.send(&[0; 3]).unwrap();
        bob.send(&[0; 4]).unwrap();
        let (reader, mut ahead) = read_ahead::queue(&alice);
        let both = alice.exchange(
            |outbound| {
                ahead.recv(&mut [0; 3])?;
                outbound.send(&[0; 5])?;
                ahead.recv(&mut [0; 4])
            },
            |inbound| reader.read(inbound, [3, 4].into_iter()),
        );
        both.unwrap();
        let steps = tracer.finish().steps;
        let [Step::Exchange { sending, receiving }] = messages(&steps)[..] else {
            panic!("one exchange, not {steps:?}");
        };
        let sent = [&Step::Take, &Step::Send { bytes: 5 }, &Step::Take];
        assert_eq!(messages(sending), sent);
        let received = [&Step::Receive { bytes: 3 }, &Step::Receive { bytes: 4 }];
        assert_eq!(messages(receiving), received);
    }
}
