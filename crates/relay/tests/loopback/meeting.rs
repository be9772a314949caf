//! Parties that meet, and what passes between them.

use std::{
    io::{Read, Write},
    net::Shutdown,
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::rendezvous::{Side, State};

use crate::{Party, Running, hello};

#[test]
fn the_order_of_coming_does_not_matter() {
    let relay = Running::start(|_| ());
    for sides in [[Side::Server, Side::Client], [Side::Client, Side::Server]] {
        let mut first = relay.come(&hello(sides[0], 1));
        first.waits();
        let second = relay.come(&hello(sides[1], 1));
        let [first, second] = [first, second].map(Party::joined);
        for (mut from, mut to) in [(&first, &second), (&second, &first)] {
            from.write_all(b"hello").unwrap();
            let mut heard = [0; 5];
            to.read_exact(&mut heard).unwrap();
            assert_eq!(&heard, b"hello");
        }
    }
    assert_eq!(relay.counter("pairs_total"), 2);
}

#[test]
fn much_passes_both_ways_unchanged() {
    let relay = Running::start(|_| ());
    let [server, client] = relay.pair(1);
    let bytes: Vec<u8> = (0..4_000_000_u32)
        .map(|i| (i.wrapping_mul(i) >> 7) as u8)
        .collect();
    thread::scope(|scope| {
        for socket in [&server, &client] {
            let bytes = &bytes;
            scope.spawn(move || {
                let mut socket = socket;
                socket.write_all(bytes).unwrap();
                socket.shutdown(Shutdown::Write).unwrap();
            });
            scope.spawn(move || {
                let (mut socket, mut heard) = (socket, Vec::new());
                socket.read_to_end(&mut heard).unwrap();
                assert!(&heard == bytes);
            });
        }
    });
    relay.await_counter("bytes_total", 8_000_000);
    relay.await_counter("pairs", 0);
}

#[test]
fn the_end_of_one_direction_leaves_the_other_open() {
    let relay = Running::start(|_| ());
    for place in [0, 1] {
        let mut ends = relay.pair(1);
        if place == 1 {
            ends.swap(0, 1);
        }
        let [mut one, mut other] = ends;
        one.write_all(b"last words").unwrap();
        one.shutdown(Shutdown::Write).unwrap();
        let mut heard = String::new();
        other.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "last words");
        // So long after it, and so slowly.
        for _ in 0..3 {
            thread::sleep(Duration::from_millis(50));
            other.write_all(b"answer").unwrap();
        }
        drop(other);
        heard.clear();
        one.read_to_string(&mut heard).unwrap();
        assert_eq!(heard, "answer".repeat(3));
    }
    relay.await_counter("pairs", 0);
}

#[test]
fn who_is_gone_is_missed_by_the_other() {
    let relay = Running::start(|_| ());
    let [server, mut client] = relay.pair(1);
    drop(server);
    assert_eq!(client.read(&mut [0]).unwrap(), 0);
    drop(client);
    relay.await_counter("pairs", 0);
}

#[test]
fn who_waits_is_told_again_and_again() {
    let relay = Running::with(|limits| limits.sign_of_life = Duration::from_millis(100));
    let mut party = relay.come(&hello(Side::Server, 1));
    party.waits();
    let started = Instant::now();
    for _ in 0..4 {
        party.waits();
    }
    assert!(started.elapsed() >= Duration::from_millis(300));
    let client = relay.come(&hello(Side::Client, 1));
    let _joined = [party, client].map(Party::joined);
}

#[test]
fn who_left_while_it_waited_is_joined_with_nobody() {
    let relay = Running::start(|_| ());
    let mut gone = relay.come(&hello(Side::Server, 1));
    gone.waits();
    drop(gone);
    relay.await_counter("waiting", 0);
    let mut client = relay.come(&hello(Side::Client, 1));
    client.waits();
    let server = relay.come(&hello(Side::Server, 1));
    let _joined = [server, client].map(Party::joined);
}

#[test]
fn a_newer_connection_takes_the_place_of_the_older_one() {
    let relay = Running::start(|_| ());
    let place = hello(Side::Server, 1);
    let mut older = relay.come(&place);
    older.waits();
    let mut newer = relay.come(&place);
    newer.waits();
    assert!(older.refused().contains("newer connection"));
    let client = relay.come(&hello(Side::Client, 1));
    let _joined = [newer, client].map(Party::joined);
}

#[test]
fn many_meet_at_once() {
    let relay = Running::with(|limits| limits.waiting_per_address = 1000);
    let mut servers = Vec::new();
    for token in 0..100 {
        servers.push(relay.come(&hello(Side::Server, token)));
    }
    relay.await_counter("waiting", 100);
    for (token, server) in (0..100).zip(servers) {
        let mut client = relay.come(&hello(Side::Client, token)).joined();
        let mut server = server.joined();
        client.write_all(&[token]).unwrap();
        let mut heard = [0];
        server.read_exact(&mut heard).unwrap();
        assert_eq!(heard, [token]);
    }
}

#[test]
fn a_state_is_told_before_anybody_asks() {
    let relay = Running::start(|_| ());
    let mut party = relay.come(&hello(Side::Client, 9));
    assert!(matches!(party.next(), Some(State::Waiting(_))));
}
