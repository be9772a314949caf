//! Those who are turned away hear why, and disturb nobody.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use psijoin_transport::rendezvous::Side;

use crate::{Party, Running, connect, hello};

#[test]
fn another_version_is_named() {
    let relay = Running::start(|_| ());
    let mut words = hello(Side::Client, 1).encode();
    words[8] = 2;
    let why = Party::begin(relay.address, &words).forbidden();
    assert!(why.contains("version 2"), "{why}");
    relay.await_counter("refusals_total{reason=\"words\"}", 1);
}

#[test]
fn strangers_get_nothing_or_an_answer_in_their_language() {
    let relay = Running::start(|_| ());
    for (words, begins) in [
        (&[0x16, 3, 1, 2, 0][..], ""),
        (b"psijoin\x03", ""),
        (b"GET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 426 "),
    ] {
        let mut socket = connect(relay.address);
        socket.write_all(words).unwrap();
        let mut answer = String::new();
        let _ = socket.read_to_string(&mut answer);
        assert!(answer.starts_with(begins), "{answer}");
        assert_eq!(answer.is_empty(), begins.is_empty());
    }
    let _pair = relay.pair(1);
}

#[test]
fn who_speaks_before_its_turn_is_refused() {
    let relay = Running::start(|_| ());
    let words = [&hello(Side::Client, 1).encode()[..], b"\x16\x03\x01"].concat();
    let why = Party::begin(relay.address, &words).refused();
    assert!(why.contains("before it was joined"), "{why}");
}

#[test]
fn who_does_not_say_whom_it_meets_has_to_go() {
    let relay = Running::with(|limits| limits.greeting = Duration::from_millis(200));
    for kept in [0, 1, 50] {
        let words = hello(Side::Client, 1).encode();
        let mut socket = connect(relay.address);
        socket.write_all(&words[..kept]).unwrap();
        let mut said = Vec::new();
        let _ = socket.read_to_end(&mut said);
        assert_eq!(said.is_empty(), kept == 0, "{kept}");
    }
    relay.await_counter("refusals_total{reason=\"too_slow\"}", 3);
}

#[test]
fn an_address_waits_in_so_many_places_and_no_more() {
    let relay = Running::with(|limits| limits.waiting_per_address = 3);
    let mut waiting: Vec<_> = (0..3)
        .map(|token| relay.come(&hello(Side::Server, token)))
        .collect();
    for party in &mut waiting {
        party.waits();
    }
    let why = relay.come(&hello(Side::Server, 4)).refused();
    assert!(why.starts_with("3 connections from this address"), "{why}");
    // Whoever comes to one that waits is no more than before, once they are joined.
    waiting.pop();
    relay.await_counter("waiting", 2);
    relay.come(&hello(Side::Server, 4)).waits();
}

#[test]
fn a_queue_has_so_many_places_and_no_more() {
    let relay = Running::with(|limits| limits.waiting_per_side = 2);
    let mut waiting = [(); 2].map(|()| relay.come(&hello(Side::Server, 1)));
    for party in &mut waiting {
        party.waits();
    }
    let why = relay.come(&hello(Side::Server, 1)).refused();
    assert!(why.contains("on this side of the meeting"), "{why}");
    let _joined = relay.come(&hello(Side::Client, 1)).joined();
}

#[test]
fn there_are_so_many_pairs_and_no_more() {
    let relay = Running::with(|limits| limits.pairs = 2);
    let pairs = [1, 2].map(|token| relay.pair(token));
    let mut third = relay.come(&hello(Side::Server, 3));
    third.waits();
    let why = relay.come(&hello(Side::Client, 3)).refused();
    assert!(why.starts_with("2 sessions go through"), "{why}");
    drop(pairs);
    relay.await_counter("pairs", 0);
    let client = relay.come(&hello(Side::Client, 3));
    let _joined = [third, client].map(Party::joined);
}

#[test]
fn silent_ones_keep_nobody_out() {
    let relay = Running::start(|_| ());
    // More than there are seats for.
    let mut silent = Vec::new();
    while silent.len() < 1100 {
        match TcpStream::connect(relay.address) {
            Ok(socket) => silent.push(socket),
            // This process may have no more.
            Err(_) => break,
        }
    }
    if silent.len() < 1100 {
        silent.truncate(silent.len().saturating_sub(20));
    }
    let _pair = relay.pair(1);
}
