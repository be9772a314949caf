//! The ends of sessions that the parties mean to end.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{AbortCode, Channel, Error, MAX_MESSAGE_BYTES};
use psijoin_transport::{Connection, Kind};

use crate::{
    IDLE, assert_soon, connected_pairs, pair_with, pairs_of_options, plaintext, tls_connected,
    tls_pair, with_idle,
};

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
    let (a, b) = with_idle(tls_pair());
    let [(connection_a, mut a), (connection_b, mut b)] = pair_with(&a, &b);
    thread::scope(|scope| {
        scope.spawn(move || {
            a.send(b"the last message").unwrap();
            connection_a.finish().unwrap();
        });
        thread::sleep(2 * IDLE);
        assert_eq!(&b.recv_array().unwrap(), b"the last message");
        connection_b.finish().unwrap();
    });
}

#[test]
fn a_message_that_nobody_expected_spoils_the_close() {
    let [(connection_a, mut a), (connection_b, _channel)] = tls_connected();
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
    let [(connection_a, _a), (connection_b, mut b)] = tls_connected();
    thread::scope(|scope| {
        scope.spawn(move || connection_a.finish());
        let error = b.recv_array::<1>().unwrap_err();
        assert!(matches!(error, Error::Closed), "{error}");
        drop(connection_b);
    });
}

#[test]
fn an_abort_reaches_a_peer_that_receives_after_all_that_was_sent_before() {
    for [(_a, mut a), (_b, mut b)] in connected_pairs() {
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
    for [(connection_a, _channel), (_b, mut b)] in connected_pairs() {
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
    for (options, peer_options) in pairs_of_options() {
        let [(_connection, mut channel), (_peer, mut peer)] = pair_with(&options, &peer_options);
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
            assert_soon(triggered);
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
    let [(connection, _channel), _peer] = pair_with(&options, &peer_options);
    thread::scope(|scope| {
        let finishing = scope.spawn(|| connection.finish().unwrap_err());
        thread::sleep(Duration::from_millis(100));
        options.interrupt.trigger();
        assert_eq!(finishing.join().unwrap().kind(), Kind::Interrupted);
    });
}

#[test]
fn a_connection_that_is_dropped_delivers_what_was_sent_and_then_is_closed() {
    for [(connection_a, mut a), (_b, mut b)] in connected_pairs() {
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

#[test]
fn an_abort_from_elsewhere_is_told_whatever_the_session_is_stuck_in() {
    for (options, peer_options) in pairs_of_options() {
        let [(_connection, mut channel), (_peer, mut peer)] = pair_with(&options, &peer_options);
        thread::scope(|scope| {
            let receiving = scope.spawn(|| channel.recv(&mut [0]).unwrap_err());
            thread::sleep(Duration::from_millis(100));
            options.interrupt.abort(AbortCode::DeadlinePassed);
            let told = Instant::now();
            let error = peer.recv_array::<1>().unwrap_err();
            assert!(
                matches!(error, Error::PeerAborted(AbortCode::DeadlinePassed)),
                "{error}"
            );
            assert_soon(told);
            let error = receiving.join().unwrap();
            assert!(matches!(error, Error::Interrupted), "{error}");
            assert!(options.interrupt.is_triggered());
        });
    }
}

#[test]
fn an_abort_of_a_peer_that_takes_nothing_does_not_wait_for_good() {
    let options = plaintext();
    let [(_connection, mut channel), _peer] = pair_with(&options, &plaintext());
    thread::scope(|scope| {
        let sending = scope.spawn(move || send_until_error(&mut channel));
        // Until lanes and sockets are full.
        thread::sleep(Duration::from_millis(300));
        let started = Instant::now();
        options.interrupt.abort(AbortCode::OutOfMemory);
        assert_soon(started);
        assert!(matches!(sending.join().unwrap(), Error::Interrupted));
    });
}

#[test]
fn the_first_reason_to_stop_is_the_one_that_later_sessions_give() {
    let options = plaintext();
    let [(connection, _channel), (_peer, mut peer)] = pair_with(&options, &plaintext());
    options.interrupt.abort(AbortCode::InternalFailure);
    options.interrupt.trigger();
    let error = peer.recv_array::<1>().unwrap_err();
    assert!(
        matches!(error, Error::PeerAborted(AbortCode::InternalFailure)),
        "{error}"
    );
    assert_eq!(connection.finish().unwrap_err().kind(), Kind::Interrupted);
}

#[test]
fn a_session_ends_with_its_last_byte_and_not_with_what_is_made_of_it() {
    for [(connection_a, a), (connection_b, mut b)] in connected_pairs() {
        let mut a = connection_a.ends_after(a, 5, 7);
        b.send(&[]).unwrap();
        b.send(b"123").unwrap();
        b.send(b"4567").unwrap();
        a.send(b"12345").unwrap();
        a.recv_array::<0>().unwrap();
        a.recv_array::<3>().unwrap();
        assert_eq!(&b.recv_array().unwrap(), b"12345");
        assert!(a.recv_array::<4>().is_ok());
        // This side computes, and the peer does not notice.
        connection_b.finish().unwrap();
        let error = a.send(b"more").unwrap_err();
        assert!(matches!(error, Error::Closed), "{error}");
        connection_a.finish().unwrap();
    }
}

#[test]
fn a_session_goes_on_until_both_totals_are_reached() {
    let [(connection_a, a), (connection_b, mut b)] = tls_connected();
    let mut a = connection_a.ends_after(a, 2, 1);
    a.send(&[1]).unwrap();
    b.send(&[2]).unwrap();
    a.recv_array::<1>().unwrap();
    // One byte is still to be sent.
    a.send(&[3]).unwrap();
    for sent in [[1], [3]] {
        assert_eq!(b.recv_array().unwrap(), sent);
    }
    connection_b.finish().unwrap();
    // An abort does not spoil what went well already.
    a.abort(AbortCode::LocalFailure);
    drop(connection_a);
}

#[test]
fn a_session_of_no_bytes_ends_at_once_and_both_can_do_so() {
    let [(connection_a, a), (connection_b, b)] = tls_connected();
    let mut a = connection_a.ends_after(a, 0, 0);
    let _b = connection_b.ends_after(b, 0, 0);
    let error = a.send(&[]).unwrap_err();
    assert!(matches!(error, Error::Closed), "{error}");
    // One after the other: neither waits for the other's call.
    connection_a.finish().unwrap();
    connection_b.finish().unwrap();
}

#[test]
fn a_party_that_drops_messages_never_says_that_it_is_done() {
    let options = plaintext();
    let [(connection, channel), (_peer, mut peer)] = pair_with(&options, &plaintext());
    const MESSAGES: u64 = 64;
    let total = MESSAGES * MAX_MESSAGE_BYTES as u64;
    let mut channel = connection.ends_after(channel, total, 0);
    thread::scope(|scope| {
        scope.spawn(move || {
            // All but what lane and sockets hold is taken, so that the last is said.
            for _ in 0..MESSAGES {
                channel.send(&vec![1; MAX_MESSAGE_BYTES]).unwrap();
            }
            options.interrupt.trigger();
        });
        let mut received = vec![0; MAX_MESSAGE_BYTES];
        let mut taken = 0;
        let error = loop {
            // Slower than it is sent, so that some of it always waits.
            thread::sleep(Duration::from_millis(5));
            match peer.recv(&mut received) {
                Ok(()) => taken += 1,
                Err(error) => break error,
            }
        };
        assert!(taken < MESSAGES);
        assert!(
            matches!(error, Error::PeerAborted(AbortCode::Interrupted)),
            "{error}"
        );
    });
}

/// Returns a party that sends 4 bytes and receives 2, exchanges last words, and waits with the
/// result.
fn with_last_words(
    (connection, channel): (Connection, Channel),
    says: u8,
) -> (Connection, Channel) {
    let last_words = move |channel: &mut Channel| {
        channel.send(&[says])?;
        match channel.recv_array()? {
            [b'y'] => Ok(()),
            _ => Err(Error::Malformed("no")),
        }
    };
    let (sent, received) = if says == b'n' { (2, 4) } else { (4, 2) };
    let mut channels =
        connection.all_end_with_last_words(vec![channel], sent, received, last_words);
    let channel = channels.pop().unwrap();
    (connection, channel)
}

#[test]
fn last_words_come_between_the_last_byte_and_the_end() {
    for [a, b] in connected_pairs() {
        let (connection_a, mut a) = with_last_words(a, b'y');
        // As for `a`, but with the bytes of the other direction.
        let (connection_b, b) = b;
        let last_words = |channel: &mut Channel| {
            let [said] = channel.recv_array()?;
            channel.send(&[said])
        };
        let mut channels = connection_b.all_end_with_last_words(vec![b], 2, 4, last_words);
        let mut b = channels.pop().unwrap();
        thread::scope(|scope| {
            scope.spawn(move || {
                a.send(&[0; 4]).unwrap();
                assert_eq!(a.recv_array().unwrap(), [0; 2]);
                assert!(matches!(a.send(b""), Err(Error::Closed)));
                connection_a.finish().unwrap();
            });
            assert_eq!(b.recv_array().unwrap(), [0; 4]);
            b.send(&[0; 2]).unwrap();
            connection_b.finish().unwrap();
        });
    }
}

#[test]
fn last_words_that_fail_are_an_error_that_the_peer_can_be_told() {
    let [a, b] = tls_connected();
    let (connection_a, mut a) = with_last_words(a, b'y');
    let (connection_b, mut b) = with_last_words(b, b'n');
    thread::scope(|scope| {
        scope.spawn(move || {
            a.send(&[0; 4]).unwrap();
            let error = a.recv_array::<2>().unwrap_err();
            assert!(matches!(error, Error::Malformed("no")), "{error}");
            connection_a.abort(AbortCode::ProtocolViolation);
        });
        assert_eq!(b.recv_array().unwrap(), [0; 4]);
        // It has heard what it wanted to hear, so for this side the session is over.
        b.send(&[0; 2]).unwrap();
        let error = connection_b.finish().unwrap_err();
        assert_eq!(error.kind(), Kind::Peer, "{error}");
    });
}
