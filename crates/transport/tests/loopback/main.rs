//! Two parties over real sockets of this machine.

use std::{
    io::{Read, Write},
    net::TcpStream,
    ops::Range,
    process,
    sync::atomic::{AtomicU32, Ordering},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::Channel;
use psijoin_transport::{
    Connection, Error, Identity, Listener, Options, Security, Timeouts, endpoint::Address,
};

mod distance;
mod ending;
mod failing;
mod first_words;
mod flood;
mod forwarders;
mod inviting;
mod key_exchange;
mod lanes;
mod mailboxes;
mod meeting;
mod moving;
mod older;
mod proxies;
mod pulse;
mod relays;
mod replacing;
mod slow_line;
mod strangers;
mod streams;
mod watching;
mod webs;

use older::PREAMBLE;

/// Longer than anything takes on a busy machine. Whatever is done in half of it did not wait for
/// any of them.
const LONG: Duration = Duration::from_secs(60);

const PATIENT: Timeouts = Timeouts {
    meet: LONG,
    setup: LONG,
    idle: LONG,
    keep_alive: Duration::from_millis(100),
};

/// The time for which parties of tests are silent that wait for it. A busy machine keeps no thread
/// from a sign of life for so long.
const IDLE: Duration = Duration::from_secs(2);

/// Longer than a party that hangs is waited for: some of it passes before it falls silent.
const HUNG: Duration = Duration::from_secs(3 * IDLE.as_secs());

/// The time that whoever is waited for in vain gets for being heard on a busy machine.
const A_WHILE: Duration = Duration::from_secs(5);

/// Checks that nobody has waited for a time-out since then.
#[track_caller]
fn assert_soon(since: Instant) {
    let took = since.elapsed();
    assert!(took < LONG / 2, "it took {took:?}");
}

type Meeting = Result<(Connection, Channel), Error>;

fn patient(security: Security) -> Options {
    let mut options = Options::new(security);
    options.timeouts = PATIENT;
    options
}

fn plaintext() -> Options {
    patient(Security::InsecurePlaintext)
}

fn tls(identity: &Identity, peer: &Identity) -> Options {
    patient(Security::PinnedTls {
        identity: identity.clone(),
        peer: peer.fingerprint(),
    })
}

/// Options for two parties that trust each other.
fn tls_pair() -> (Options, Options) {
    let (a, b) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    (tls(&a, &b), tls(&b, &a))
}

/// Returns an address at which nobody listens, and nobody will unless told to: below the ports that
/// the system gives to whoever connects or asks for any, and another one at each call.
fn free_address() -> Address {
    const PORTS: Range<u32> = 12_000..32_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    loop {
        // Processes that run at the same time begin elsewhere.
        let nth = (process::id() % 10_000) * 61 + NEXT.fetch_add(1, Ordering::Relaxed);
        let port = PORTS.start + nth % (PORTS.end - PORTS.start);
        let address: Address = format!("127.0.0.1:{port}").parse().unwrap();
        if Listener::bind(&address).is_ok() {
            return address;
        }
    }
}

/// Returns a listener at a port that nobody takes once it is closed.
fn listener() -> Listener {
    Listener::bind(&free_address()).unwrap()
}

fn meet(listening: &Options, connecting: &Options) -> (Meeting, Meeting) {
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let connected = scope.spawn(move || Connection::connect(&address, connecting));
        let accepted = Connection::accept(listener, listening);
        (accepted, connected.join().unwrap())
    })
}

/// Two connected parties.
type Pair = [(Connection, Channel); 2];

fn pair_with(a: &Options, b: &Options) -> Pair {
    let (a, b) = meet(a, b);
    [a.unwrap(), b.unwrap()]
}

fn tls_connected() -> Pair {
    let (a, b) = tls_pair();
    pair_with(&a, &b)
}

fn plaintext_connected() -> Pair {
    pair_with(&plaintext(), &plaintext())
}

/// Returns options of parties that give up a silent one after [`IDLE`].
fn with_idle((mut a, mut b): (Options, Options)) -> (Options, Options) {
    for options in [&mut a, &mut b] {
        options.timeouts.idle = IDLE;
    }
    (a, b)
}

/// Options for two parties, of each kind.
fn pairs_of_options() -> [(Options, Options); 2] {
    [tls_pair(), (plaintext(), plaintext())]
}

/// Returns one pair of each kind.
fn connected_pairs() -> [Pair; 2] {
    pairs_of_options().map(|(a, b)| pair_with(&a, &b))
}

/// Returns a party with these options, whose peer is a bare socket that has said its preamble.
fn with_bare_peer(options: &Options) -> ((Connection, Channel), TcpStream) {
    let listener = listener();
    let mut socket = TcpStream::connect(listener.address().as_str()).unwrap();
    socket.write_all(PREAMBLE).unwrap();
    let party = Connection::accept(listener, options).unwrap();
    let mut preamble = [0; PREAMBLE.len()];
    socket.read_exact(&mut preamble).unwrap();
    assert_eq!(preamble, PREAMBLE);
    (party, socket)
}
