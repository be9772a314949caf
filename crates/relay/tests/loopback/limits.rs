//! Limits of pairs.

use std::{
    io::{Read, Write},
    net::TcpStream,
    num::NonZeroU64,
    thread,
    time::{Duration, Instant},
};

use crate::Running;

fn is_ended(socket: &mut TcpStream) -> bool {
    matches!(socket.read(&mut [0]), Ok(0) | Err(_))
}

#[test]
fn a_client_that_says_nothing_holds_no_pair() {
    let relay = Running::with(|limits| limits.first_words = Duration::from_secs(2));
    let [mut server, client] = relay.pair(1);
    // Whatever the server says: it does not speak first in TLS.
    server.write_all(b"hello").unwrap();
    assert!(is_ended(&mut server));
    drop(client);
    // One that has spoken may be silent for long.
    let [mut server, mut client] = relay.pair(1);
    client.write_all(b"x").unwrap();
    server.read_exact(&mut [0]).unwrap();
    thread::sleep(Duration::from_secs(4));
    client.write_all(b"y").unwrap();
    server.read_exact(&mut [0]).unwrap();
}

#[test]
fn a_pair_that_is_idle_both_ways_ends() {
    let relay = Running::with(|limits| limits.idle = Duration::from_secs(3));
    let [mut server, mut client] = relay.pair(1);
    // One way is enough.
    for _ in 0..10 {
        thread::sleep(Duration::from_millis(500));
        client.write_all(b"x").unwrap();
        server.read_exact(&mut [0]).unwrap();
    }
    assert!(is_ended(&mut server) && is_ended(&mut client));
    relay.await_counter("pairs", 0);
}

#[test]
fn a_pair_that_is_old_ends_however_busy_it_is() {
    let relay = Running::with(|limits| limits.age = Duration::from_millis(500));
    let [mut server, mut client] = relay.pair(1);
    let reading = thread::spawn(move || while !is_ended(&mut server) {});
    while client.write_all(&[7; 4096]).is_ok() {}
    reading.join().unwrap();
    relay.await_counter("pairs", 0);
}

#[test]
fn a_rate_holds_both_ways_together() {
    let relay = Running::with(|limits| limits.bytes_per_second = NonZeroU64::new(100_000));
    let [server, client] = relay.pair(1);
    let started = Instant::now();
    thread::scope(|scope| {
        for socket in [&server, &client] {
            scope.spawn(move || (&mut { socket }).write_all(&[7; 40_000]).unwrap());
            scope.spawn(move || (&mut { socket }).read_exact(&mut [0; 40_000]).unwrap());
        }
    });
    // 80,000 bytes, of which the first 16,384 pass at once.
    assert!(started.elapsed() >= Duration::from_millis(600));
}
