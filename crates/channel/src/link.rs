//! Emulating a network link, for systems whose kernel offers no way to do so.
//!
//! [`linked`] delays what one party sends: a message is delivered when its last bit would
//! have arrived over a wire of the given bandwidth and half the given round-trip time.
//! Decorate both parties to emulate the link in both directions; the directions do not
//! slow each other down. Only payload bytes take time: framing, TLS and TCP are not
//! emulated.
//!
//! For two parties in one process, [`memory::Builder::link`](crate::memory::Builder::link) does the
//! same without threads of its own, which would take processor time from the parties.

use std::{
    sync::{Arc, Mutex, mpsc},
    thread,
    time::{Duration, Instant},
};

use crate::{
    AbortCode, Channel, Error, Inbound, Outbound,
    queue::{Ending, Popped, Queue, Window},
    turns,
};

mod text;

pub use text::InvalidLink;

/// A full-duplex link between the parties.
///
/// Its text form is `lan` or `wan:RATE,RTT`, for example `wan:100mbps,80ms`, where `wan:` may be
/// left out, with rates in `bps`, `kbps`, `mbps` or `gbps` (powers of 1000, bits per second) and
/// times in `us`, `ms` or `s`. [`FromStr`](std::str::FromStr) reads back unchanged what
/// [`Display`](std::fmt::Display) writes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    bits_per_second: f64,
    round_trip: Duration,
}

impl Link {
    /// A local network: 10 Gbit/s each way, 0.2 ms there and back.
    pub const LAN: Self = Self {
        bits_per_second: 1e10,
        round_trip: Duration::from_micros(200),
    };

    /// Returns a link of this bandwidth each way and this round-trip time.
    ///
    /// # Errors
    /// If the bandwidth is not between 1 bit/s and 1 Tbit/s, or the round trip takes more
    /// than an hour.
    pub fn new(bits_per_second: f64, round_trip: Duration) -> Result<Self, InvalidLink> {
        if !(1.0..=1e12).contains(&bits_per_second) {
            return Err(InvalidLink::Rate);
        }
        if round_trip > Duration::from_secs(3600) {
            return Err(InvalidLink::RoundTrip);
        }
        Ok(Self {
            bits_per_second,
            round_trip,
        })
    }

    /// Returns the bandwidth in each direction.
    pub fn bits_per_second(&self) -> f64 {
        self.bits_per_second
    }

    /// Returns the time there and back.
    pub fn round_trip(&self) -> Duration {
        self.round_trip
    }

    /// Returns what may be under way in one direction: what the wire holds, and a few MiB that wait
    /// for it, so that the wire never runs dry while the sender wakes up.
    pub fn window(&self) -> Window {
        let on_the_wire = self.bits_per_second / 8.0 * self.round_trip.as_secs_f64();
        Window {
            bytes: (on_the_wire as usize).saturating_add(8 << 20),
            messages: usize::MAX,
        }
    }
}

/// Lets all that `channel` sends travel over `link`.
///
/// A thread delivers it. When the channel is dropped, that thread still delivers what is
/// under way, and the hanging-up after it; nobody waits for it.
///
/// # Panics
/// If the operating system refuses a thread.
pub fn linked(channel: Channel, link: Link) -> Channel {
    paced(channel, link, Pacer::new(link))
}

/// Emulates the link for several streams of one party, which share it.
///
/// # Panics
/// As [`linked`].
pub fn linked_together(channels: Vec<Channel>, link: Link) -> Vec<Channel> {
    let pacer = Pacer::new(link);
    let channels = channels.into_iter();
    channels
        .map(|channel| paced(channel, link, pacer.clone()))
        .collect()
}

fn paced(channel: Channel, link: Link, pacer: Pacer) -> Channel {
    let queue = Arc::new(Queue::new(link.window()));
    let (retire, retired) = mpsc::channel();
    channel.decorate(
        |inner| {
            let courier = Courier {
                queue: queue.clone(),
                inner,
                retired,
            };
            thread::Builder::new()
                .name("link".into())
                .spawn(move || courier.run())
                .expect("the operating system provides a thread for the link");
            LinkedOutbound { queue, pacer }
        },
        |inner| LinkedInbound {
            inner: Some(inner),
            retire,
        },
    )
}

/// Computes when messages arrive. Its clones share one wire.
#[derive(Debug, Clone)]
pub(crate) struct Pacer {
    origin: Instant,
    seconds_per_byte: f64,
    one_way_seconds: f64,
    /// The time at which the last bit so far leaves, in seconds after `origin`. An absolute time:
    /// waits that are too long do not add up. Not a `Duration`, whose nanoseconds would round a
    /// small message on a fast link.
    free_at: Arc<Mutex<f64>>,
}

impl Pacer {
    pub(crate) fn new(link: Link) -> Self {
        Self {
            origin: Instant::now(),
            seconds_per_byte: 8.0 / link.bits_per_second,
            one_way_seconds: link.round_trip.as_secs_f64() / 2.0,
            free_at: Arc::default(),
        }
    }

    /// Returns when a message of `bytes` bytes, sent `now`, has arrived.
    pub(crate) fn due(&self, bytes: usize, now: Instant) -> Instant {
        let now = now.duration_since(self.origin).as_secs_f64();
        let mut free_at = self.free_at.lock().expect("nothing panics while it adds");
        *free_at = free_at.max(now) + bytes as f64 * self.seconds_per_byte;
        self.origin + Duration::from_secs_f64(*free_at + self.one_way_seconds)
    }
}

struct LinkedOutbound {
    queue: Arc<Queue<Instant>>,
    pacer: Pacer,
}

impl LinkedOutbound {
    fn end(&mut self, ending: Ending) {
        self.queue.end(ending, self.pacer.due(0, Instant::now()));
    }
}

impl Outbound for LinkedOutbound {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        // No time-out of its own: the courier meets that of the channel beneath.
        let Self { queue, pacer } = self;
        queue.push(message, Duration::MAX, || {
            pacer.due(message.len(), Instant::now())
        })
    }

    fn abort(&mut self, code: AbortCode) {
        self.end(Ending::Aborted(code));
    }
}

impl Drop for LinkedOutbound {
    fn drop(&mut self) {
        self.end(Ending::Closed);
    }
}

struct LinkedInbound {
    inner: Option<Box<dyn Inbound>>,
    retire: mpsc::Sender<Box<dyn Inbound>>,
}

impl Inbound for LinkedInbound {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        self.inner
            .as_mut()
            .expect("there until dropped")
            .recv(message)
    }
}

impl Drop for LinkedInbound {
    /// Leaves the hanging-up to the courier: the peer must not learn of it before what was
    /// sent earlier has arrived. If the courier is gone, it happens here.
    fn drop(&mut self) {
        let inner = self.inner.take().expect("there until dropped");
        let _ = self.retire.send(inner);
    }
}

/// Delivers messages when they are due.
struct Courier {
    queue: Arc<Queue<Instant>>,
    inner: Box<dyn Outbound>,
    /// Only held: dropping it hangs up what was retired.
    retired: mpsc::Receiver<Box<dyn Inbound>>,
}

impl Courier {
    fn run(mut self) {
        let mut message = Vec::new();
        loop {
            let popped = self.queue.pop(Duration::MAX, |front, back, due| {
                message.clear();
                message.extend_from_slice(front);
                message.extend_from_slice(back);
                due
            });
            match popped {
                Popped::Message(due) => {
                    wait_until(due, self.queue.is_empty());
                    if let Err(error) = self.inner.send(&message) {
                        return self.queue.refuse(error);
                    }
                }
                Popped::Ended(ending, due) => {
                    wait_until(due, true);
                    if let Ending::Aborted(code) = ending {
                        self.inner.abort(code);
                    }
                    break;
                }
                Popped::TimedOut => {}
            }
        }
        drop(self.retired);
    }
}

/// Sleeps, which may last a little too long; before the last message of a flight, for
/// which somebody may be waiting, wakes up early and spends the rest yielding.
pub(crate) fn wait_until(due: Instant, is_last: bool) {
    const SLEEP_ERROR: Duration = Duration::from_micros(120);
    let remaining = || due.saturating_duration_since(Instant::now());
    if remaining().is_zero() {
        return;
    }
    turns::while_waiting(|| {
        if !is_last {
            return thread::sleep(remaining());
        }
        thread::sleep(remaining().saturating_sub(SLEEP_ERROR));
        while !remaining().is_zero() {
            thread::yield_now();
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_leave_one_after_the_other_and_then_travel() {
        // One byte takes one second.
        let pacer = Pacer::new(Link::new(8.0, Duration::from_secs(4)).unwrap());
        let at = |seconds| pacer.origin + Duration::from_secs(seconds);
        let [zero, five, six, eight, twelve, thirteen] = [0, 5, 6, 8, 12, 13].map(at);
        assert_eq!(pacer.due(3, zero), five);
        assert_eq!(pacer.due(1, zero), six);
        assert_eq!(pacer.due(0, zero), six);
        assert_eq!(pacer.due(2, six), six + Duration::from_secs(4));
        assert_eq!(pacer.due(2, eight), twelve);
        assert_eq!(pacer.due(1, eight), thirteen);
    }

    #[test]
    fn small_messages_on_a_fast_link_are_not_rounded() {
        let pacer = Pacer::new(Link::new(3e11, Duration::ZERO).unwrap());
        let origin = pacer.origin;
        let dues = (0..3_000_000).map(|_| pacer.due(1, origin));
        let last = dues.max().unwrap();
        let error = (last - origin).as_secs_f64() - 8e-5;
        assert!(error.abs() < 2e-9, "{error}");
    }

    #[test]
    fn impossible_links_are_refused() {
        for rate in [0.0, -1.0, f64::NAN, f64::INFINITY, 0.5, 2e12] {
            assert_eq!(Link::new(rate, Duration::ZERO), Err(InvalidLink::Rate));
        }
        assert_eq!(
            Link::new(1e6, Duration::from_secs(3601)),
            Err(InvalidLink::RoundTrip)
        );
    }

    /// Streams that share a link wait for each other.
    #[test]
    fn clones_stand_for_one_wire() {
        let pacer = Pacer::new(Link::new(8.0, Duration::from_secs(4)).unwrap());
        let origin = pacer.origin;
        let dues = [pacer.due(3, origin), pacer.clone().due(2, origin)];
        let seconds = dues.map(|due| due.duration_since(origin).as_secs());
        assert_eq!(seconds, [3 + 2, 3 + 2 + 2]);
    }
}
