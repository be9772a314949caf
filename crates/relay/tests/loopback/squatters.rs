//! Somebody who knows a token, and dials it all the time: it neither keeps two parties from meeting
//! nor ends a meeting.

use std::{
    io::{Read, Write},
    net::{SocketAddr, TcpStream},
    sync::atomic::{AtomicBool, Ordering::Relaxed},
    thread,
    time::Duration,
};

use psijoin_transport::rendezvous::{Side, State};
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};

use crate::{PATIENCE, Party, Running, hello};

const TOKEN: u8 = 1;

/// The time between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// The words by which the honest parties know each other, in place of TLS.
const QUESTION: &[u8; 8] = b"are you?";
const ANSWER: &[u8; 8] = b"I am you";

/// Returns a connection from an address of this machine.
fn connect_from(from: SocketAddr, to: SocketAddr) -> Option<TcpStream> {
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None).ok()?;
    bind(&socket, &from).ok()?;
    connect(&socket, &to).ok()?;
    let socket = TcpStream::from(socket);
    socket.set_read_timeout(Some(PATIENCE)).ok()?;
    Some(socket)
}

/// Dials 50 times a second, and keeps what it gets.
fn squat(relay: SocketAddr, from: SocketAddr, side: Side, says: &[u8], is_over: &AtomicBool) {
    let mut kept = Vec::new();
    while !is_over.load(Relaxed) {
        if let Some(mut socket) = connect_from(from, relay)
            && socket.write_all(&hello(side, TOKEN).encode()).is_ok()
        {
            socket.set_nonblocking(true).unwrap();
            kept.push(socket);
        }
        for socket in &mut kept {
            // The relay's states tell when it is joined. It speaks then, or not at all.
            let mut buffer = [0; 512];
            let length = socket.read(&mut buffer).unwrap_or(0);
            if buffer[..length].ends_with(&[3, 0]) {
                let _ = socket.write_all(says);
            }
        }
        if kept.len() > 200 {
            kept.remove(0);
        }
        thread::sleep(PAUSE);
    }
}

impl Party {
    /// Waits until it is joined, or for as long as it makes sense to wait.
    fn is_called(&mut self, is_over: &AtomicBool) -> bool {
        loop {
            match self.next() {
                Some(State::Waiting(_)) if !is_over.load(Relaxed) => {}
                state => return matches!(state, Some(State::Here(_))),
            }
        }
    }
}

/// The TLS server: it keeps two places in the queue, and takes who is the peer.
fn wait_for_peer(relay: &Running, is_over: &AtomicBool) -> Option<TcpStream> {
    thread::scope(|scope| {
        let places = [(); 2].map(|()| {
            scope.spawn(|| {
                let place = hello(Side::Server, TOKEN);
                while !is_over.load(Relaxed) {
                    let mut party = relay.come(&place);
                    if !party.is_called(is_over) {
                        thread::sleep(PAUSE);
                        continue;
                    }
                    assert_eq!(party.next(), Some(State::Go));
                    let mut socket = party.socket;
                    // The other place is heard meanwhile. A real party hears many at once.
                    let limit = Duration::from_millis(500);
                    socket.set_read_timeout(Some(limit)).unwrap();
                    let mut words = [0; QUESTION.len()];
                    if socket.read_exact(&mut words).is_ok() && &words == QUESTION {
                        socket.write_all(ANSWER).unwrap();
                        is_over.store(true, Relaxed);
                        return Some(socket);
                    }
                }
                None
            })
        });
        let found = places.map(|place| place.join().unwrap());
        found.into_iter().flatten().next()
    })
}

/// The TLS client: it tries until it has the peer.
fn go_to_peer(relay: &Running) -> (TcpStream, u32) {
    for attempt in 1.. {
        let mut party = relay.come(&hello(Side::Client, TOKEN));
        if let Some(State::Here(_)) = party.next_change() {
            assert_eq!(party.next(), Some(State::Go));
            let mut socket = party.socket;
            let limit = Duration::from_millis(500);
            socket.set_read_timeout(Some(limit)).unwrap();
            let mut words = [0; ANSWER.len()];
            let said = socket.write_all(QUESTION);
            if said.is_ok() && socket.read_exact(&mut words).is_ok() && &words == ANSWER {
                return (socket, attempt);
            }
        }
        thread::sleep(PAUSE);
    }
    unreachable!("it tries until it is through")
}

/// Lets two parties meet while a squatter dials from `from` on `side`.
fn meet_beside_a_squatter(from: &str, side: Side, says: &[u8]) {
    let relay = Running::with(|limits| limits.sign_of_life = Duration::from_millis(50));
    // Those who have met before are not disturbed.
    let [mut before, mut also] = relay.pair(TOKEN);
    before.write_all(b"x").unwrap();
    also.write_all(b"x").unwrap();
    let (is_over, is_met) = (AtomicBool::new(false), AtomicBool::new(false));
    let from = SocketAddr::new(from.parse().unwrap(), 0);
    thread::scope(|scope| {
        scope.spawn(|| squat(relay.address, from, side, says, &is_over));
        thread::sleep(Duration::from_millis(300));
        let server = scope.spawn(|| wait_for_peer(&relay, &is_met));
        let (_client, attempts) = go_to_peer(&relay);
        let _server = server.join().unwrap().expect("it was found");
        is_over.store(true, Relaxed);
        // It is behind all places of the squatter at most, once it has one itself.
        assert!(attempts < 100, "{attempts} attempts");
    });
    for socket in [&mut before, &mut also] {
        socket.write_all(b"y").unwrap();
    }
    for socket in [&mut before, &mut also] {
        let mut heard = [0; 2];
        socket.read_exact(&mut heard).unwrap();
        assert_eq!(&heard, b"xy");
    }
}

#[test]
fn a_squatter_in_the_clients_place_does_not_keep_them_apart() {
    for says in [&b""[..], b"garbage!"] {
        meet_beside_a_squatter("127.0.0.1", Side::Client, says);
    }
}

#[test]
fn a_squatter_in_the_servers_place_does_not_keep_them_apart() {
    for says in [&b""[..], b"garbage!"] {
        meet_beside_a_squatter("127.0.0.1", Side::Server, says);
    }
}

/// Only Linux has all of 127.0.0.0/8.
#[cfg(target_os = "linux")]
#[test]
fn a_squatter_from_elsewhere_does_not_keep_them_apart() {
    for side in [Side::Server, Side::Client] {
        meet_beside_a_squatter("127.0.0.2", side, b"");
    }
}

/// It stands in the queue with all places that there are.
#[test]
fn a_queue_full_of_squatters_moves_on() {
    let relay = Running::start(|_| ());
    let mut squatters: Vec<_> = (0..8)
        .map(|_| relay.come(&hello(Side::Client, TOKEN)))
        .collect();
    for squatter in &mut squatters {
        squatter.waits();
    }
    let why = relay.come(&hello(Side::Client, TOKEN)).refused();
    assert!(why.contains("somebody else may know"), "{why}");
    let server = relay.come(&hello(Side::Server, TOKEN)).joined();
    // A place is free.
    let mut honest = relay.come(&hello(Side::Client, TOKEN));
    honest.waits();
    let servers: Vec<_> = (0..8)
        .map(|_| relay.come(&hello(Side::Server, TOKEN)))
        .map(Party::joined)
        .collect();
    let mut client = honest.joined();
    client.write_all(QUESTION).unwrap();
    let mut words = [0; QUESTION.len()];
    let mut last = servers.last().unwrap();
    last.read_exact(&mut words).unwrap();
    assert_eq!(&words, QUESTION);
    drop((server, squatters));
}
