//! Thousands of strangers at once.

use std::{
    collections::VecDeque,
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    sync::atomic::{AtomicBool, AtomicUsize, Ordering},
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::{Connection, Identity, Options, endpoint::Address};

use crate::{listener, meeting::patient_for, tls};

const CONNECTIONS: usize = 10_000;

/// The peer comes once in each round.
const ROUNDS: usize = 5;

const FLOODERS: usize = 4;

/// How many sockets a flooder keeps open, so that the process needs few descriptors.
const KEPT: usize = 60;

/// How long the peer may take, in the midst of it all.
const LIMIT: Duration = Duration::from_secs(2);

/// What a client of TLS says first.
fn client_hello(options: &Options) -> Vec<u8> {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = server.local_addr().unwrap().into();
    thread::scope(|scope| {
        let options = patient_for(Duration::from_millis(500), options.clone());
        scope.spawn(move || Connection::connect(&address, &options).unwrap_err());
        let (mut socket, _) = server.accept().unwrap();
        let mut hello = vec![0; 4096];
        let length = socket.read(&mut hello).unwrap();
        hello.truncate(length);
        hello
    })
}

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
    let patient = |mut options: Options| {
        options.timeouts.meet = Duration::from_secs(120);
        options.timeouts.setup = Duration::from_secs(10);
        options
    };
    let (listening, connecting) = (patient(tls(&a, &b)), patient(tls(&b, &a)));
    let stranger = patient_for(Duration::from_millis(500), tls(&stranger, &a));
    let hello = client_hello(&stranger);
    for _ in 0..ROUNDS {
        let listener = listener();
        let address = listener.address().clone();
        let (made, is_over) = (AtomicUsize::new(0), AtomicBool::new(false));
        let took = thread::scope(|scope| {
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
            let took = started.elapsed();
            is_over.store(true, Ordering::Relaxed);
            took
        });
        assert!(took < LIMIT, "the peer was let in after {took:?}");
    }
}
