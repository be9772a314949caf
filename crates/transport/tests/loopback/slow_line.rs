//! The measurements of parties over a line whose rate and delay are known.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::path::Measured;
use psijoin_transport::{Connection, endpoint::Address};

use crate::{listener, tls_pair};

/// The bytes that a packet carries, without its headers.
const PACKET_BYTES: usize = 1448;

/// Each direction of a line.
#[derive(Clone, Copy)]
struct Direction {
    bits_per_second: f64,
    delay: Duration,
}

/// Leads to `target` over a line: there, and back.
fn line(target: &Address, directions: [Direction; 2]) -> Address {
    let front = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = front.local_addr().unwrap().into();
    let target = target.as_str().to_owned();
    thread::spawn(move || {
        let near = front.accept().unwrap().0;
        let far = TcpStream::connect(&target).unwrap();
        let [there, back] = directions;
        carry(near.try_clone().unwrap(), far.try_clone().unwrap(), there);
        carry(far, near, back);
    });
    address
}

/// Carries packets, one after the other.
fn carry(mut from: TcpStream, mut to: TcpStream, direction: Direction) {
    to.set_nodelay(true).unwrap();
    let (under_way, arriving) = mpsc::channel();
    thread::spawn(move || {
        let mut free_at = Instant::now();
        let mut packet = [0; PACKET_BYTES];
        while let Ok(length @ 1..) = from.read(&mut packet) {
            let seconds = length as f64 * 8.0 / direction.bits_per_second;
            free_at = free_at.max(Instant::now()) + Duration::from_secs_f64(seconds);
            let _ = under_way.send((free_at + direction.delay, packet[..length].to_vec()));
        }
    });
    thread::spawn(move || {
        for (due, packet) in arriving {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let _ = to.write_all(&packet);
        }
        let _ = to.shutdown(Shutdown::Write);
    });
}

/// Returns what the side that connects and the side that listens measure over a line.
fn measured_over(there: Direction, back: Direction) -> [Measured; 2] {
    let (listening, connecting) = tls_pair();
    let listener = listener();
    let front = line(listener.address(), [there, back]);
    thread::scope(|scope| {
        let connected = scope.spawn(move || Connection::connect(&front, &connecting));
        let accepted = Connection::accept(listener, &listening).unwrap();
        let connected = connected.join().unwrap().unwrap();
        [connected, accepted].map(|(connection, _)| connection.measured())
    })
}

/// Slow enough for a busy machine to keep time.
#[test]
fn each_side_measures_the_round_trip_and_what_reaches_it() {
    let delay = Duration::from_millis(20);
    let there = Direction {
        bits_per_second: 400_000.0,
        delay,
    };
    let back = Direction {
        bits_per_second: 200_000.0,
        delay,
    };
    let is_near = || {
        let [connecting, listening] = measured_over(there, back);
        [(connecting, back), (listening, there)].map(|(measured, incoming)| {
            // Neither clock nor line can be faster.
            assert!(
                measured.round_trip_micros().unwrap() >= 40_000,
                "{measured:?}"
            );
            let rate = measured.incoming_bits_per_second().unwrap() as f64;
            let ratio = rate / incoming.bits_per_second;
            assert!(ratio < 2.0, "{measured:?}");
            ratio > 0.5
        })
    };
    // A machine that lets this process wait makes the line slower.
    assert!((0..10).any(|_| is_near() == [true; 2]));
}
