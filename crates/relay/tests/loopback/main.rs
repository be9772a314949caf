//! A relay, and parties that come to it, over real sockets of this machine.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    thread::{self, JoinHandle},
    time::Duration,
};

use psijoin_relay::{Drain, Error, Limits, Options, Relay};
use psijoin_transport::rendezvous::{Hello, Side, State, StateDecoder, Token};

mod access;
mod draining;
mod limits;
mod logs;
mod meeting;
mod metrics;
mod refusals;
mod squatters;
mod websocket;

/// Longer than any wait of a test that goes well.
const PATIENCE: Duration = Duration::from_secs(90);

/// A relay of this process, until it is dropped.
struct Running {
    address: SocketAddr,
    metrics: SocketAddr,
    drain: Drain,
    thread: Option<JoinHandle<Result<(), Error>>>,
}

impl Running {
    fn start(change: impl FnOnce(&mut Options)) -> Self {
        let anywhere = || "127.0.0.1:0".parse().unwrap();
        let mut options = Options::new(anywhere());
        options.metrics = Some(anywhere());
        change(&mut options);
        let relay = Relay::bind(options).unwrap();
        Self {
            address: relay.address(),
            metrics: relay.metrics_address().unwrap(),
            drain: relay.drain(),
            thread: Some(thread::spawn(|| relay.run())),
        }
    }

    fn with(change: impl FnOnce(&mut Limits)) -> Self {
        Self::start(|options| change(&mut options.limits))
    }

    /// Waits until it has ended by itself.
    fn join(&mut self) {
        let thread = self.thread.take().expect("it is joined once");
        thread.join().unwrap().unwrap();
    }

    /// Lets a party come.
    fn come(&self, hello: &Hello) -> Party {
        Party::begin(self.address, &hello.encode())
    }

    /// Joins a server and a client of TLS, in this order.
    fn pair(&self, token: u8) -> [TcpStream; 2] {
        let parties = [Side::Server, Side::Client].map(|side| self.come(&hello(side, token)));
        parties.map(Party::joined)
    }

    /// Returns a counter, by the end of its name.
    fn counter(&self, name: &str) -> u64 {
        let text = self.ask("/metrics");
        let name = format!("psijoin_relay_{name} ");
        let line = text.lines().find_map(|line| line.strip_prefix(&name));
        line.unwrap_or_else(|| panic!("{text}")).parse().unwrap()
    }

    /// Waits until a counter has that value.
    fn await_counter(&self, name: &str, value: u64) {
        let started = std::time::Instant::now();
        while self.counter(name) != value {
            assert!(
                started.elapsed() < PATIENCE,
                "{name} is {}",
                self.counter(name)
            );
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Returns the answer to a request for metrics.
    fn ask(&self, path: &str) -> String {
        let mut socket = connect(self.metrics);
        let request = format!("GET {path} HTTP/1.1\r\nHost: relay\r\n\r\n");
        socket.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        socket.read_to_string(&mut answer).unwrap();
        answer
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.drain.begin(Duration::ZERO);
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(ended.is_ok() || thread::panicking());
        }
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let socket = TcpStream::connect(address).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    socket
}

/// Returns first words, of a place of their own.
fn hello(side: Side, token: u8) -> Hello {
    use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
    static NEXT: AtomicU64 = AtomicU64::new(0);

    Hello {
        side,
        token: Token::from_bytes([token; 32]),
        client: NEXT.fetch_add(1, Relaxed).to_le_bytes(),
        has_key: false,
    }
}

/// A party at a relay.
struct Party {
    socket: TcpStream,
    decoder: StateDecoder,
}

impl Party {
    fn begin(address: SocketAddr, words: &[u8]) -> Self {
        Self::on(connect(address), words)
    }

    fn on(mut socket: TcpStream, words: &[u8]) -> Self {
        socket.write_all(words).unwrap();
        Self {
            socket,
            decoder: StateDecoder::new(),
        }
    }

    /// Returns the next state, unless the relay has hung up.
    fn next(&mut self) -> Option<State> {
        loop {
            let mut buffer = [0; 256];
            let due = self.decoder.due();
            let length = self.socket.read(&mut buffer[..due]).ok()?;
            if length == 0 && due > 0 {
                return None;
            }
            if let Some(state) = self.decoder.next_state(&mut &buffer[..length]).unwrap() {
                return Some(state);
            }
        }
    }

    /// Returns the next state that is none of waiting.
    fn next_change(&mut self) -> Option<State> {
        loop {
            match self.next() {
                Some(State::Waiting(_)) => {}
                other => return other,
            }
        }
    }

    fn waits(&mut self) {
        let state = self.next();
        assert!(matches!(state, Some(State::Waiting(_))), "{state:?}");
    }

    /// Returns the connection to its peer.
    fn joined(mut self) -> TcpStream {
        let state = self.next_change();
        assert!(matches!(state, Some(State::Here(_))), "{state:?}");
        assert_eq!(self.next(), Some(State::Go));
        self.socket
    }

    /// Returns why it was refused for now.
    fn refused(mut self) -> String {
        let Some(State::Refused(text)) = self.next_change() else {
            panic!("a refusal was due");
        };
        assert_eq!(self.next(), None, "the relay hangs up");
        text.to_string()
    }

    /// Returns why it was refused for good.
    fn forbidden(mut self) -> String {
        let Some(State::Forbidden(text)) = self.next_change() else {
            panic!("a refusal for good was due");
        };
        assert_eq!(self.next(), None, "the relay hangs up");
        text.to_string()
    }
}
