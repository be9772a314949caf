//! Measures a relay with a crowd: `cargo bench -p psijoin-relay --bench crowd`. `-- WAITING PAIRS
//! SECONDS` sets other numbers.
//!
//! The relay is a process of its own, so its memory and processor time are its own. This process is
//! all parties: one side of each pair sends without a pause, and the other throws away what comes.
//! Both processes share the machine, so the relay alone would move more.

#![allow(clippy::print_stdout)]

use std::{
    env, fs,
    io::{BufRead, BufReader, Read, Write},
    net::{SocketAddr, TcpStream},
    process::{Child, Command, Stdio},
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    thread,
    time::{Duration, Instant},
};

use psijoin_relay::{Options, Relay};
use psijoin_transport::rendezvous::{Hello, Side, State, StateDecoder, Token};

/// Parties that wait, pairs, and seconds, unless others are asked for.
const DEFAULTS: [u64; 3] = [1000, 200, 10];

const MESSAGE_BYTES: usize = 256 << 10;

static MESSAGE: [u8; MESSAGE_BYTES] = [7; MESSAGE_BYTES];

/// The threads of the parties need little.
const STACK_BYTES: usize = 64 << 10;

/// The argument that makes this program the relay.
const SERVE: &str = "serve";

fn main() {
    if env::args().any(|argument| argument == SERVE) {
        return serve();
    }
    let mut numbers = env::args().filter_map(|argument| argument.parse().ok());
    let [waiting, pairs, seconds] = DEFAULTS.map(|default| numbers.next().unwrap_or(default));
    raise_descriptors();
    let relay = Process::start();
    let _waiting: Vec<_> = (0..waiting)
        .map(|i| Party::come(relay.address, Side::Server, i))
        .collect();
    let joined: Vec<_> = (waiting..waiting + pairs)
        .map(|i| {
            let sides = [Side::Server, Side::Client];
            sides
                .map(|side| Party::come(relay.address, side, i))
                .map(Party::joined)
        })
        .collect();
    println!("{waiting} wait, {pairs} pairs run");
    let (moved, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    thread::scope(|scope| {
        for [from, to] in &joined {
            let thread = || thread::Builder::new().stack_size(STACK_BYTES);
            let is_over = &is_over;
            let moved = &moved;
            // The client speaks first.
            thread()
                .spawn_scoped(scope, move || throw_away(from, moved))
                .unwrap();
            thread()
                .spawn_scoped(scope, move || send(to, is_over))
                .unwrap();
        }
        // Until all move.
        thread::sleep(Duration::from_secs(1));
        let (started, before) = (Instant::now(), moved.load(Relaxed));
        let used = relay.processor_seconds();
        thread::sleep(Duration::from_secs(seconds));
        let took = started.elapsed().as_secs_f64();
        let bytes = moved.load(Relaxed) - before;
        let used = relay.processor_seconds() - used;
        println!(
            "{:.1} Gbit/s in sum; the relay took {:.2} cores, and {} of memory ({} at most)",
            8.0 * bytes as f64 / took / 1e9,
            used / took,
            relay.status("VmRSS:"),
            relay.status("VmHWM:"),
        );
        is_over.store(true, Relaxed);
        for sockets in &joined {
            for socket in sockets {
                let _ = socket.shutdown(std::net::Shutdown::Both);
            }
        }
    });
}

/// Lets this process have as many sockets as it may.
fn raise_descriptors() {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, getrlimit, setrlimit};

        let mut limit = getrlimit(Resource::Nofile);
        limit.current = limit.maximum;
        setrlimit(Resource::Nofile, limit).unwrap();
    }
}

/// Runs a relay, and ends with standard input.
fn serve() {
    let mut options = Options::new("127.0.0.1:0".parse().unwrap());
    options.limits.waiting_per_address = usize::MAX;
    options.limits.pairs_per_address = usize::MAX;
    let relay = Relay::bind(options).unwrap();
    println!("{}", relay.address());
    let drain = relay.drain();
    thread::spawn(move || {
        let _ = std::io::stdin().read(&mut [0]);
        drain.begin(Duration::ZERO);
    });
    relay.run().unwrap();
}

/// The relay, until this is dropped.
struct Process {
    child: Child,
    address: SocketAddr,
}

impl Process {
    fn start() -> Self {
        let mut child = Command::new(env::current_exe().unwrap())
            .arg(SERVE)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        let said = child.stdout.take().unwrap();
        BufReader::new(said).read_line(&mut line).unwrap();
        Self {
            child,
            address: line.trim().parse().unwrap(),
        }
    }

    /// Returns a line of what Linux tells of the process.
    fn status(&self, name: &str) -> String {
        let text = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let text = text.unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or("an unknown amount").trim().to_owned()
    }

    fn processor_seconds(&self) -> f64 {
        let text = fs::read_to_string(format!("/proc/{}/stat", self.child.id()));
        let text = text.unwrap_or_default();
        // The fields after the name, which may hold anything; in ticks of 10 ms.
        let fields = text.rsplit(')').next().unwrap_or_default();
        let fields: Vec<f64> = fields
            .split_whitespace()
            .map(|field| field.parse().unwrap_or(0.0))
            .collect();
        fields
            .get(11..13)
            .map_or(0.0, |times| times.iter().sum::<f64>() / 100.0)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

/// A party at the relay.
struct Party(TcpStream);

impl Party {
    fn come(relay: SocketAddr, side: Side, number: u64) -> Self {
        let mut token = [side as u8; 32];
        token[..8].copy_from_slice(&number.to_le_bytes());
        token[8..].fill(0);
        let mut socket = TcpStream::connect(relay).unwrap();
        let hello = Hello {
            side,
            token: Token::from_bytes(token),
            client: number.to_le_bytes(),
            has_key: false,
        };
        socket.write_all(&hello.encode()).unwrap();
        Self(socket)
    }

    fn joined(self) -> TcpStream {
        let Self(mut socket) = self;
        let mut decoder = StateDecoder::new();
        loop {
            let mut buffer = vec![0; decoder.due()];
            socket.read_exact(&mut buffer).unwrap();
            if decoder.next_state(&mut &buffer[..]).unwrap() == Some(State::Go) {
                return socket;
            }
        }
    }
}

fn send(mut socket: &TcpStream, is_over: &AtomicBool) {
    while !is_over.load(Relaxed) && socket.write_all(&MESSAGE).is_ok() {}
}

/// Takes what comes. Linux need not even copy it.
#[cfg(target_os = "linux")]
fn throw_away(socket: &TcpStream, moved: &AtomicU64) {
    use rustix::net::{RecvFlags, recv};

    let mut buffer = vec![0; MESSAGE_BYTES];
    while let Ok((_, length @ 1..)) = recv(socket, &mut buffer[..], RecvFlags::TRUNC) {
        moved.fetch_add(length as u64, Relaxed);
    }
}

#[cfg(not(target_os = "linux"))]
fn throw_away(mut socket: &TcpStream, moved: &AtomicU64) {
    let mut buffer = vec![0; MESSAGE_BYTES];
    while let Ok(length @ 1..) = socket.read(&mut buffer) {
        moved.fetch_add(length as u64, Relaxed);
    }
}
