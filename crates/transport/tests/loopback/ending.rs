//! How sessions end when the parties mean them to.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{AbortCode, Channel, Error, MAX_MESSAGE_BYTES};
use psijoin_transport::Kind;

use crate::{Pair, QUICK, meet, plaintext, plaintext_connected, tls_connected, tls_pair};

fn connected_pairs() -> [Pair; 2] {
    [tls_connected(), plaintext_connected()]
}

/// Sends until the channel breaks.
fn send_until_error(channel: &mut Channel) -> Error {
    let message = vec![0; MAX_MESSAGE_BYTES];
    loop {
        if let Err(error) = channel.send(&message) {
            return error;
        }
    }
}

#[test]
fn a_clean_close_waits_for_a_peer_that_computes() {
    let Pair {
        a: (connection_a, mut a),
        b: (connection_b, mut b),
    } = tls_connected();
    thread::scope(|scope| {
        scope.spawn(move || {
            a.send(b"the last message").unwrap();
            connection_a.finish().unwrap();
        });
        thread::sleep(2 * QUICK.idle);
        assert_eq!(&b.recv_array().unwrap(), b"the last message");
        connection_b.finish().unwrap();
    });
}

#[test]
fn a_message_that_nobody_expected_spoils_the_close() {
    let Pair {
        a: (connection_a, mut a),
        b: (connection_b, _channel),
    } = tls_connected();
    a.send(b"one too many").unwrap();
    thread::scope(|scope| {
        let finished = scope.spawn(|| connection_a.finish());
        thread::sleep(Duration::from_millis(50));
        let error = connection_b.finish().unwrap_err();
        assert!(
            error.to_string().contains("after the end of the protocol"),
            "{error}"
        );
        assert_eq!(error.kind(), Kind::Peer);
        assert_eq!(finished.join().unwrap().unwrap_err().kind(), Kind::Peer);
    });
}

#[test]
fn a_peer_that_is_done_early_is_an_error_and_no_wait() {
    let Pair {
        a: (connection_a, _a),
        b: (connection_b, mut b),
    } = tls_connected();
    thread::scope(|scope| {
        scope.spawn(move || connection_a.finish());
        let error = b.recv_array::<1>().unwrap_err();
        assert!(matches!(error, Error::Closed), "{error}");
        drop(connection_b);
    });
}

#[test]
fn an_abort_reaches_a_peer_that_receives_after_all_that_was_sent_before() {
    for Pair {
        a: (_a, mut a),
        b: (_b, mut b),
    } in connected_pairs()
    {
        a.send(b"before").unwrap();
        a.abort(AbortCode::LocalFailure);
        assert_eq!(&b.recv_array().unwrap(), b"before");
        for _ in 0..2 {
            let error = b.recv_array::<1>().unwrap_err();
            assert!(
                matches!(error, Error::PeerAborted(AbortCode::LocalFailure)),
                "{error}"
            );
        }
        assert!(a.send(b"after").is_err());
    }
}

#[test]
fn an_abort_reaches_a_peer_that_sends() {
    for Pair {
        a: (connection_a, _channel),
        b: (_b, mut b),
    } in connected_pairs()
    {
        thread::scope(|scope| {
            let sending = scope.spawn(move || send_until_error(&mut b));
            thread::sleep(Duration::from_millis(100));
            connection_a.abort(AbortCode::Refused);
            drop(connection_a);
            let error = sending.join().unwrap();
            assert!(
                matches!(error, Error::PeerAborted(AbortCode::Refused)),
                "{error}"
            );
        });
    }
}

#[test]
fn an_interrupt_ends_both_halves_and_is_told_to_the_peer() {
    for (options, peer_options) in [tls_pair(), (plaintext(), plaintext())] {
        let (party, peer) = meet(&options, &peer_options);
        let ((_connection, mut channel), (_peer, mut peer)) = (party.unwrap(), peer.unwrap());
        thread::scope(|scope| {
            let (outbound, inbound) = channel.halves();
            let receiving = scope.spawn(|| inbound.recv(&mut [0]).unwrap_err());
            let sending = scope.spawn(|| {
                let message = vec![0; MAX_MESSAGE_BYTES];
                loop {
                    if let Err(error) = outbound.send(&message) {
                        break error;
                    }
                }
            });
            thread::sleep(Duration::from_millis(100));
            options.interrupt.trigger();
            let triggered = Instant::now();
            for error in [receiving, sending].map(|thread| thread.join().unwrap()) {
                assert!(matches!(error, Error::Interrupted), "{error}");
            }
            assert!(triggered.elapsed() < Duration::from_secs(1));
        });
        let error = loop {
            if let Err(error) = peer.recv(&mut vec![0; MAX_MESSAGE_BYTES]) {
                break error;
            }
        };
        assert!(
            matches!(error, Error::PeerAborted(AbortCode::Interrupted)),
            "{error}"
        );
    }
}

#[test]
fn an_interrupt_ends_the_wait_for_a_clean_close() {
    let (options, peer_options) = tls_pair();
    let (party, peer) = meet(&options, &peer_options);
    let ((connection, _channel), _peer) = (party.unwrap(), peer.unwrap());
    thread::scope(|scope| {
        let finishing = scope.spawn(|| connection.finish().unwrap_err());
        thread::sleep(Duration::from_millis(100));
        options.interrupt.trigger();
        assert_eq!(finishing.join().unwrap().kind(), Kind::Interrupted);
    });
}

#[test]
fn a_connection_that_is_dropped_delivers_what_was_sent_and_then_is_closed() {
    for Pair {
        a: (connection_a, mut a),
        b: (_b, mut b),
    } in connected_pairs()
    {
        for _ in 0..4 {
            a.send(&vec![5; MAX_MESSAGE_BYTES]).unwrap();
        }
        drop(connection_a);
        for _ in 0..4 {
            b.recv(&mut vec![0; MAX_MESSAGE_BYTES]).unwrap();
        }
        let error = b.recv_array::<1>().unwrap_err();
        assert!(matches!(error, Error::Closed), "{error}");
        let error = send_until_error(&mut b);
        assert!(matches!(error, Error::Closed), "{error}");
        assert!(matches!(a.recv_array::<1>().unwrap_err(), Error::Closed));
    }
}
