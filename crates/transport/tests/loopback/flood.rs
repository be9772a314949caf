//! Many strangers at once.

use std::{
    collections::VecDeque,
    io::Write,
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{Channel, joint_seed::JointSeed};
use psijoin_transport::{Connection, Identity, Options, Timeouts, endpoint::Address};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::{
    LONG, assert_soon,
    distance::line,
    first_words::{forged, hello, overheard},
    listener,
    meeting::patient_for,
    plaintext, tls,
};

const CONNECTIONS: usize = 10_000;

/// The peer comes once in each round.
const ROUNDS: usize = 5;

const FLOODERS: usize = 4;

/// The number of sockets that a flooder keeps open, so that the process needs few descriptors.
const KEPT: usize = 60;

/// Makes the connections that fall to it, one of each kind in turn, until all are made and the
/// peer is through.
fn flood(
    address: &Address,
    stranger: &Options,
    hello: &[u8],
    made: &AtomicUsize,
    is_over: &AtomicBool,
) {
    let mut kept = VecDeque::new();
    while !is_over.load(Ordering::Relaxed) {
        let kind = made.fetch_add(1, Ordering::Relaxed) % 5;
        if kind == 4 {
            // With another key, to the end.
            let _ = Connection::connect(address, stranger);
            continue;
        }
        let Ok(mut socket) = TcpStream::connect(address.as_str()) else {
            // The wait is over, or the system has no port left for the moment.
            continue;
        };
        let _ = match kind {
            0 => Ok(()),
            1 => socket.write_all(b"p"),
            2 => socket.write_all(&[0xaa; 100]),
            _ => socket.write_all(hello),
        };
        kept.push_back(socket);
        if kept.len() > KEPT {
            kept.pop_front();
        }
    }
}

#[test]
fn the_peer_gets_through_a_flood() {
    let [a, b, stranger] = std::array::from_fn(|_| Identity::generate().unwrap());
    // A busy machine needs a while for so many.
    let listening = patient_for(10 * LONG, tls(&a, &b));
    let connecting = tls(&b, &a);
    let stranger = patient_for(Duration::from_millis(500), tls(&stranger, &a));
    let hello = overheard(&stranger);
    for _ in 0..ROUNDS {
        let listener = listener();
        let address = listener.address().clone();
        let (made, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        thread::scope(|scope| {
            let accepted = scope.spawn(|| Connection::accept(listener, &listening).unwrap());
            for _ in 0..FLOODERS {
                scope.spawn(|| flood(&address, &stranger, &hello, &made, &is_over));
            }
            while made.load(Ordering::Relaxed) < CONNECTIONS / ROUNDS {
                thread::sleep(Duration::from_millis(1));
            }
            let started = Instant::now();
            let (_connection, mut channel) = Connection::connect(&address, &connecting).unwrap();
            channel.send(b"hello").unwrap();
            let (_accepted, mut accepted) = accepted.join().unwrap();
            assert_eq!(&accepted.recv_array().unwrap(), b"hello");
            is_over.store(true, Ordering::Relaxed);
            // In the midst of it all, and before a seat is free because a stranger was given up.
            assert_soon(started);
        });
    }
}

/// The time to the peer, one way.
const DELAY: Duration = Duration::from_millis(100);

/// Enough for them to push out whoever has to wait a round trip among them.
const PER_SECOND: u32 = 2000;

/// Strangers who come from an address of this machine, until this is dropped.
struct Strangers<'a> {
    is_over: &'a AtomicBool,
}

impl<'a> Strangers<'a> {
    /// Lets strangers come, whose first words are these in turn.
    fn come<'scope>(
        scope: &'scope thread::Scope<'scope, '_>,
        [from, to]: [SocketAddr; 2],
        words: &'scope [Vec<u8>],
        is_over: &'a AtomicBool,
    ) -> Self
    where
        'a: 'scope,
    {
        scope.spawn(move || {
            let started = Instant::now();
            let mut kept = VecDeque::new();
            for (i, words) in (0..).zip(words.iter().cycle()) {
                let due = started + Duration::from_secs(1) * i / PER_SECOND;
                thread::sleep(due.saturating_duration_since(Instant::now()));
                if is_over.load(Ordering::Relaxed) {
                    return;
                }
                kept.extend(come_from(from, to, words));
                if kept.len() > 500 {
                    kept.pop_front();
                }
            }
        });
        // They are there before anybody else comes.
        thread::sleep(Duration::from_millis(300));
        Self { is_over }
    }
}

impl Drop for Strangers<'_> {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
    }
}

/// Returns a connection from an address of this machine, whose first words are these.
fn come_from(from: SocketAddr, to: SocketAddr, words: &[u8]) -> Option<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).ok()?;
    bind(&socket, &from).ok()?;
    connect(&socket, &to).ok()?;
    let mut socket = TcpStream::from(socket);
    socket.write_all(words).ok()?;
    Some(socket)
}

fn number(address: &Address) -> SocketAddr {
    address.as_str().parse().unwrap()
}

/// Returns the peer's address, and one of others.
fn sources() -> [SocketAddr; 2] {
    ["127.0.0.1:0", "127.0.0.2:0"].map(|source| source.parse().unwrap())
}

/// Two parties, and the strangers' first bytes.
struct Attacked {
    listening: Options,
    connecting: Options,
    words: Vec<Vec<u8>>,
}

impl Attacked {
    /// Strangers know all but the parties' secret keys.
    fn in_tls() -> Self {
        let [a, b] = std::array::from_fn(|_| Identity::generate().unwrap());
        let connecting = tls(&b, &a);
        let words = vec![hello(None), forged(&b, &a), overheard(&connecting)];
        Self::new(tls(&a, &b), connecting, words)
    }

    /// Returns an attack in which nobody can knock.
    fn without_knocks() -> Self {
        let [a, b] = [Identity::generate().unwrap(), p256()];
        Self::new(tls(&a, &b), tls(&b, &a), vec![hello(None)])
    }

    /// Strangers do not send what makes anybody the peer.
    fn in_plaintext() -> Self {
        Self::new(plaintext(), plaintext(), vec![b"psi".to_vec()])
    }

    fn new(listening: Options, connecting: Options, words: Vec<Vec<u8>>) -> Self {
        let mut patient = [listening, connecting];
        for options in &mut patient {
            options.streams = true;
            options.timeouts = Timeouts {
                meet: LONG,
                ..Timeouts::default()
            };
        }
        let [listening, connecting] = patient;
        Self {
            listening,
            connecting,
            words,
        }
    }

    /// Lets the peer come from a distance, in a flood from `source`, and both do what they do
    /// `then`.
    fn meet<T: Send>(&self, source: SocketAddr, then: impl Fn((Connection, Channel)) -> T + Sync) {
        let listener = listener();
        let address = listener.address().clone();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let accepts = || then(Connection::accept(listener, &self.listening).unwrap());
            let accepted = scope.spawn(accepts);
            let ends = [source, number(&address)];
            let _strangers = Strangers::come(scope, ends, &self.words, &is_over);
            let met = Connection::connect(&line(&address, DELAY), &self.connecting).unwrap();
            let _both = (then(met), accepted.join().unwrap());
        })
    }
}

fn open((mut connection, channel): (Connection, Channel)) -> (Connection, Vec<Channel>) {
    let seed = JointSeed::insecure_fixed([7; 32]);
    let mut streams = connection.open_streams(3, &seed).unwrap();
    streams.push(channel);
    (connection, streams)
}

#[test]
fn a_distant_peer_and_its_streams_get_through_hellos_of_others() {
    Attacked::in_tls().meet(sources()[0], open);
}

#[test]
fn a_flood_that_begins_after_the_meeting_does_not_stop_streams() {
    for attacked in [Attacked::in_tls(), Attacked::in_plaintext()] {
        let listener = listener();
        let address = listener.address().clone();
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let accepts = || Connection::accept(listener, &attacked.listening).unwrap();
            let accepted = scope.spawn(accepts);
            let met = Connection::connect(&line(&address, DELAY), &attacked.connecting).unwrap();
            let accepted = accepted.join().unwrap();
            let ends = [sources()[0], number(&address)];
            let _strangers = Strangers::come(scope, ends, &attacked.words, &is_over);
            let accepted = scope.spawn(move || open(accepted));
            let _opened = (open(met), accepted.join().unwrap());
        });
    }
}

/// Returns an identity of another kind of key, which signs no knock.
fn p256() -> Identity {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(["psijoin".to_owned()]).unwrap();
    let certificate = certificate.self_signed(&key).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("id.pem");
    std::fs::write(&path, key.serialize_pem() + &certificate.pem()).unwrap();
    Identity::read(&path).unwrap()
}

/// The listening side takes it for a stranger until TLS has shown who it is.
#[test]
fn a_peer_that_does_not_knock_is_met_too() {
    let [a, b] = [Identity::generate().unwrap(), p256()];
    for _ in 0..3 {
        let (one, other) = crate::meet(&tls(&a, &b), &tls(&b, &a));
        let _met = (one.unwrap(), other.unwrap());
    }
}

/// Only the address that sends many loses seats.
#[cfg(target_os = "linux")]
#[test]
fn a_peer_that_does_not_knock_gets_through_a_flood_from_elsewhere() {
    for attacked in [Attacked::without_knocks(), Attacked::in_plaintext()] {
        attacked.meet(sources()[1], |met| met);
    }
}
