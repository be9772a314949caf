//! Measures the time in which two parties meet and open further streams while strangers flood the
//! side that listens: `cargo bench -p psijoin-transport --bench flood`. `-- RATE TRIES` sets
//! connections per second and tries.
//!
//! Strangers come over the loopback from the same address as the peer, with five kinds of first
//! words in turn. They know all but the peer's secret key: both fingerprints, its public key, and
//! what it said once. The peer comes over a line with a delay.

#![allow(clippy::print_stdout)]

use std::{
    collections::VecDeque,
    env, fmt,
    io::{self, Write},
    net::TcpStream,
    sync::{
        Barrier, OnceLock,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{Channel, joint_seed::JointSeed};
use psijoin_transport::{Connection, Identity, Listener, Options, Security, endpoint::Address};
use rustix::{
    net::sockopt::set_socket_linger,
    time::{ClockId, clock_gettime},
};

#[path = "../tests/loopback/distance.rs"]
mod distance;
#[path = "../tests/loopback/first_words.rs"]
mod first_words;

use distance::line;
use first_words::{forged, hello, overheard};

/// Connections per second, and tries for each delay, unless others are asked for.
const DEFAULTS: [usize; 2] = [10_000, 50];

const DELAYS_MS: [u64; 3] = [0, 50, 150];

/// The time that the peer may need beyond its round trips.
const LIMIT: Duration = Duration::from_secs(2);

/// Round trips to meet: TCP, and two of TLS until each side knows that the other has accepted it.
/// For a stream there are as many.
const ROUND_TRIPS: u32 = 3;

const STREAMS: u8 = 3;

/// The time for which the flood lasts before the peer comes.
const BEFORE: Duration = Duration::from_millis(500);

const FLOODERS: usize = 2;

/// The number of connections that a flooder keeps open: longer than the listening side lets any of
/// them wait.
const KEPT: usize = 2000;

/// The time for which a stranger waits for a system that has no room for more connections.
const PATIENCE: Duration = Duration::from_millis(100);

const KINDS: usize = 5;

fn main() {
    let mut numbers = env::args().filter_map(|argument| argument.parse().ok());
    let [rate, tries] = DEFAULTS.map(|default| numbers.next().unwrap_or(default));
    let parties = Parties::new();
    println!("{rate} connections/s asked for, {tries} tries of each");
    for delay in DELAYS_MS.map(Duration::from_millis) {
        println!("one-way delay {} ms", delay.as_millis());
        for begins in [Begins::BeforeTheMeeting, Begins::AfterTheMeeting] {
            let tried: Vec<_> = (0..tries)
                .map(|_| parties.meet(rate, delay, begins))
                .collect();
            let times = |time: fn(&Try) -> Duration| Times::of(tried.iter().map(time), delay);
            println!("  the flood begins {begins}");
            if begins == Begins::BeforeTheMeeting {
                println!("    meeting: {}", times(|tried| tried.met));
            }
            println!(
                "    {STREAMS} further streams: {}",
                times(|tried| tried.opened)
            );
            let median = |value: fn(&Try) -> f64| {
                let mut values: Vec<_> = tried.iter().map(value).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            println!(
                "    medians: {:.0} connections/s; the thread that listens: {:.0} % of a core",
                median(|tried| tried.rate),
                100.0 * median(|tried| tried.load),
            );
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Begins {
    BeforeTheMeeting,
    /// While the two are in session, and nobody listens to those who come.
    AfterTheMeeting,
}

impl fmt::Display for Begins {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BeforeTheMeeting => "before the meeting",
            Self::AfterTheMeeting => "after the meeting",
        })
    }
}

/// The result of one try.
struct Try {
    met: Duration,
    opened: Duration,
    /// Connections per second that strangers made.
    rate: f64,
    /// Processor time over time, of the thread that waits for the peer.
    load: f64,
}

struct Times {
    sorted: Vec<Duration>,
    in_time: usize,
    limit: Duration,
}

impl Times {
    fn of(times: impl Iterator<Item = Duration>, delay: Duration) -> Self {
        let limit = LIMIT + 2 * ROUND_TRIPS * delay;
        let mut sorted: Vec<_> = times.collect();
        sorted.sort_unstable();
        Self {
            in_time: sorted.iter().filter(|time| **time <= limit).count(),
            sorted,
            limit,
        }
    }
}

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.sorted.len();
        let at = |place: usize| self.sorted[place].as_millis();
        write!(
            f,
            "{} of {count} within {:.1} s; {} ms at least, {} ms in the median, {} ms at most",
            self.in_time,
            self.limit.as_secs_f32(),
            at(0),
            at(count / 2),
            at(count - 1),
        )
    }
}

/// The parties that meet, and the strangers' messages.
struct Parties {
    listening: Options,
    connecting: Options,
    /// First words of strangers, of each kind.
    words: [Vec<Vec<u8>>; KINDS],
}

impl Parties {
    fn new() -> Self {
        let [listens, dials] = std::array::from_fn(|_| Identity::generate().unwrap());
        let options = |identity: &Identity, peer: &Identity| {
            let (identity, peer) = (identity.clone(), peer.fingerprint());
            let mut options = Options::new(Security::PinnedTls { identity, peer });
            options.streams = true;
            options
        };
        let (listening, connecting) = (options(&listens, &dials), options(&dials, &listens));
        Self {
            words: [
                vec![Vec::new()],
                vec![vec![0xaa; 100]],
                vec![hello(None)],
                (0..1000).map(|_| forged(&dials, &listens)).collect(),
                vec![overheard(&connecting)],
            ],
            listening,
            connecting,
        }
    }

    fn meet(&self, rate: usize, delay: Duration, begins: Begins) -> Try {
        let listener = Listener::bind(&"127.0.0.1:0".parse().unwrap()).unwrap();
        let address = listener.address().clone();
        let front = line(&address, delay);
        let (flood, both_met) = (Flood::default(), Barrier::new(2));
        let begin_flood = |when| {
            if begins == when {
                flood.begin();
                thread::sleep(BEFORE);
            }
        };
        thread::scope(|scope| {
            for flooder in 0..FLOODERS {
                let (address, flood) = (&address, &flood);
                scope.spawn(move || flood.run(address, rate / FLOODERS, flooder, &self.words));
            }
            let listens = scope.spawn(|| {
                let (met, meeting) = load(|| Connection::accept(listener, &self.listening));
                both_met.wait();
                let (opened, opening) = load(|| open(met.unwrap()));
                match begins {
                    Begins::BeforeTheMeeting => (opened, meeting),
                    Begins::AfterTheMeeting => (opened, opening),
                }
            });
            begin_flood(Begins::BeforeTheMeeting);
            let (connection, met) = timed(|| Connection::connect(&front, &self.connecting));
            begin_flood(Begins::AfterTheMeeting);
            both_met.wait();
            let (_ours, opened) = timed(|| open(connection.unwrap()));
            let (_theirs, load) = listens.join().unwrap();
            let rate = flood.stop();
            Try {
                met,
                opened,
                rate,
                load,
            }
        })
    }
}

fn timed<T>(act: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    (act(), started.elapsed())
}

/// Returns the result of an act, and the share of a core that it took.
fn load<T>(act: impl FnOnce() -> T) -> (T, f64) {
    let before = processor_time();
    let (done, took) = timed(act);
    let used = processor_time() - before;
    (done, used.as_secs_f64() / took.as_secs_f64())
}

/// Opens further streams, which the other side does at the same time.
fn open((mut connection, channel): (Connection, Channel)) -> (Connection, Vec<Channel>) {
    let seed = JointSeed::insecure_fixed([7; 32]);
    let mut streams = connection.open_streams(STREAMS, &seed).unwrap();
    streams.push(channel);
    (connection, streams)
}

fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// Strangers.
#[derive(Default)]
struct Flood {
    begun: OnceLock<Instant>,
    made: AtomicUsize,
    is_over: AtomicBool,
}

impl Flood {
    fn begin(&self) {
        self.begun.set(Instant::now()).expect("it begins once");
    }

    /// Returns whether it has lasted for that long.
    fn has_lasted(&self, long: Duration) -> bool {
        self.begun
            .get()
            .is_some_and(|begun| begun.elapsed() >= long)
    }

    /// Connects at that rate, and sends each kind of messages in turn.
    fn run(&self, address: &Address, rate: usize, seed: usize, words: &[Vec<Vec<u8>>; KINDS]) {
        let mut kept = VecDeque::new();
        for i in 0.. {
            let due = Duration::from_secs_f64(i as f64 / rate as f64);
            while !self.has_lasted(due) && !self.is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_millis(1));
            }
            if self.is_over.load(Ordering::Relaxed) {
                return;
            }
            let kind = &words[i % KINDS];
            if let Ok(socket) = intrude(address, &kind[(seed + i / KINDS) % kind.len()]) {
                self.made.fetch_add(1, Ordering::Relaxed);
                kept.push_back(socket);
            }
            if kept.len() > KEPT {
                kept.pop_front();
            }
        }
    }

    /// Ends it, and gives its rate.
    fn stop(&self) -> f64 {
        self.is_over.store(true, Ordering::Relaxed);
        let lasted = self.begun.get().map_or(Duration::ZERO, Instant::elapsed);
        self.made.load(Ordering::Relaxed) as f64 / lasted.as_secs_f64()
    }
}

fn intrude(address: &Address, words: &[u8]) -> io::Result<TcpStream> {
    let address = address.as_str().parse().expect("a listener has a number");
    let mut socket = TcpStream::connect_timeout(&address, PATIENCE)?;
    // Else the system keeps the port for a minute, and soon has none left.
    set_socket_linger(&socket, Some(Duration::ZERO))?;
    socket.write_all(words)?;
    Ok(socket)
}
