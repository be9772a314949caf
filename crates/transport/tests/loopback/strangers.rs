//! Those who connect and are not the peer: none of them ends the wait, or keeps the peer out.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpStream},
    thread,
    time::{Duration, Instant},
};

use psijoin_transport::{Connection, Error, Identity, Options, endpoint::Address};

use crate::{A_WHILE, assert_soon, listener, meeting::patient_for, pairs_of_options, tls};

/// A fatal alert as TLS sends it before anything is encrypted.
pub(crate) const CERTIFICATE_UNKNOWN: [u8; 7] = [0x15, 3, 3, 0, 2, 2, 46];

pub(crate) fn dial(address: &Address) -> TcpStream {
    TcpStream::connect(address.as_str()).unwrap()
}

/// Lets `strangers` do what they do at the address of a listening party, then the peer come.
fn come_after<S>(listening: &Options, connecting: &Options, strangers: impl FnOnce(&Address) -> S) {
    let listener = listener();
    let address = listener.address().clone();
    thread::scope(|scope| {
        let accepted = scope.spawn(|| Connection::accept(listener, listening));
        let _strangers = strangers(&address);
        let started = Instant::now();
        let (_connection, mut channel) = Connection::connect(&address, connecting).unwrap();
        channel.send(b"hello").unwrap();
        let (_accepted, mut accepted) = accepted.join().unwrap().unwrap();
        assert_eq!(&accepted.recv_array().unwrap(), b"hello");
        assert_soon(started);
    })
}

/// Says `bytes`, and stays until it was hung up on, or for a moment.
fn say(address: &Address, bytes: &[u8]) -> TcpStream {
    let mut socket = dial(address);
    socket.write_all(bytes).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_millis(100)))
        .unwrap();
    let _ = socket.read_to_end(&mut Vec::new());
    socket
}

#[test]
fn whatever_a_stranger_says_the_wait_goes_on() {
    for (listening, connecting) in pairs_of_options() {
        for words in [
            b"p".as_slice(),
            b"psijoi",
            b"psijoin",
            b"psijoin\xff",
            b"GET / HTTP/1.1\r\n\r\n",
            &CERTIFICATE_UNKNOWN,
            &[0x16],
            &[0x16, 3, 1, 0xff, 0xff, 1],
        ] {
            // The plaintext listener would take a whole preamble for the peer's.
            come_after(&listening, &connecting, |address| say(address, words));
        }
        come_after(&listening, &connecting, |address| {
            let socket = dial(address);
            socket.shutdown(Shutdown::Both).unwrap();
        });
    }
}

#[test]
fn another_key_does_not_end_the_wait() {
    let [a, b, stranger] = std::array::from_fn(|_| Identity::generate().unwrap());
    let listening = tls(&a, &b);
    come_after(&listening, &tls(&b, &a), |address| {
        let refused = Connection::connect(address, &tls(&stranger, &a)).unwrap_err();
        assert!(matches!(refused, Error::Refused { .. }), "{refused}");
    });
}

#[test]
fn silent_connections_do_not_keep_the_peer_out() {
    for (listening, connecting) in pairs_of_options() {
        // More than are ever heard at once, and they stay for longer than the test.
        come_after(&listening, &connecting, |address| {
            (0..200).map(|_| dial(address)).collect::<Vec<_>>()
        });
    }
}

#[test]
fn the_most_telling_stranger_is_named_when_the_peer_did_not_come() {
    let [a, b, stranger] = std::array::from_fn(|_| Identity::generate().unwrap());
    let listening = patient_for(A_WHILE, tls(&a, &b));
    let listener = listener();
    let address = listener.address().clone();
    let error = thread::scope(|scope| {
        let accepted = scope.spawn(|| Connection::accept(listener, &listening).unwrap_err());
        let _ = Connection::connect(&address, &tls(&stranger, &a)).unwrap_err();
        drop(dial(&address));
        say(&address, b"GET / HTTP/1.1\r\n\r\n");
        let _silent = dial(&address);
        accepted.join().unwrap()
    });
    let text = error.to_string();
    let Error::NobodyConnected {
        strangers: Some(strangers),
        ..
    } = error
    else {
        panic!("{text}");
    };
    assert_eq!(strangers.count, 4);
    assert!(
        text.contains(&format!(
            "; 4 connections were turned away, the most telling one from {}: the other party \
             identified itself as {}",
            strangers.from,
            stranger.fingerprint()
        )),
        "{text}"
    );
}
