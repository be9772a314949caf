//! The reaction to a peer that dies, stalls or talks nonsense.

use std::{
    io::{Read, Write},
    net::Shutdown,
    thread,
    time::Instant,
};

use psijoin_channel::{AbortCode, Error, MAX_MESSAGE_BYTES};
use psijoin_transport::{Kind, Options};

use crate::{IDLE, assert_soon, plaintext, with_bare_peer, with_idle};

/// Returns options of a party that waits for [`IDLE`].
fn impatient() -> Options {
    with_idle((plaintext(), plaintext())).0
}

/// Returns the error of a party whose peer sends `bytes` and waits.
fn receive(bytes: &[u8]) -> Error {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&impatient());
    peer.write_all(bytes).unwrap();
    channel.recv_array::<4>().unwrap_err()
}

#[test]
fn nonsense_is_a_fault_of_the_peer() {
    let huge = u32::MAX.to_le_bytes();
    for (bytes, fault) in [
        (b"GET / HTTP/1.1\r\n\r\n".as_slice(), "unknown kind"),
        (&[1, huge[0], huge[1], huge[2], huge[3]], "longer than any"),
        (&[2, 1, 0, 0, 0, 0], "wrong length"),
    ] {
        let error = receive(bytes);
        assert!(matches!(error, Error::Malformed(_)), "{error}");
        assert!(error.to_string().contains(fault), "{error}");
        assert_eq!(Kind::from(&error), Kind::Peer);
    }
}

#[test]
fn a_reason_that_only_a_later_version_knows_is_no_fault() {
    let error = receive(&[3, 1, 0, 0, 0, 200]);
    assert!(
        matches!(error, Error::PeerAborted(AbortCode::Unknown)),
        "{error}"
    );
    assert_eq!(Kind::from(&error), Kind::Network);
}

#[test]
fn a_message_after_the_last_is_a_fault_of_the_peer() {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&plaintext());
    peer.write_all(&[4, 0, 0, 0, 0, 1, 0, 0, 0, 0]).unwrap();
    // Until the second frame is taken in, the peer is merely done.
    let error = loop {
        match channel.recv_array::<4>().unwrap_err() {
            Error::Closed => thread::yield_now(),
            other => break other,
        }
    };
    assert!(
        matches!(error, Error::Malformed("a message after the peer's last")),
        "{error}"
    );
}

#[test]
fn a_peer_that_dies_in_a_message_is_gone() {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&plaintext());
    peer.write_all(&[1, 4, 0, 0, 0, b'a', b'b']).unwrap();
    drop(peer);
    let error = channel.recv_array::<4>().unwrap_err();
    assert!(matches!(error, Error::Closed), "{error}");
    assert_eq!(Kind::from(&error), Kind::Network);
}

#[test]
fn a_peer_that_stalls_is_noticed_by_who_receives() {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&impatient());
    peer.write_all(&[1, 4, 0, 0, 0, b'a', b'b']).unwrap();
    let started = Instant::now();
    let error = channel.recv_array::<4>().unwrap_err();
    assert!(
        matches!(error, Error::TimedOut(idle) if idle == IDLE),
        "{error}"
    );
    assert_soon(started);
}

#[test]
fn a_peer_that_stalls_is_noticed_by_who_sends_or_closes() {
    let ((connection, mut channel), _peer) = with_bare_peer(&impatient());
    let error = loop {
        if let Err(error) = channel.send(&vec![0; MAX_MESSAGE_BYTES]) {
            break error;
        }
    };
    assert!(matches!(error, Error::TimedOut(_)), "{error}");
    let error = connection.finish().unwrap_err();
    assert_eq!(error.kind(), Kind::Network);
}

#[test]
fn keep_alives_are_signs_of_life_both_ways() {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&impatient());
    thread::scope(|scope| {
        // The socket outlives the thread: closed with bytes unread, it could take back its message.
        scope.spawn(|| {
            let keep_alive = [2, 0, 0, 0, 0];
            for _ in 0..6 {
                peer.write_all(&keep_alive).unwrap();
                thread::sleep(IDLE / 3);
            }
            peer.write_all(&[1, 4, 0, 0, 0, 1, 2, 3, 4]).unwrap();
            let mut heard = [0; 5];
            peer.read_exact(&mut heard).unwrap();
            assert_eq!(heard, keep_alive);
        });
        assert_eq!(channel.recv_array().unwrap(), [1, 2, 3, 4]);
    });
}

#[test]
fn a_reason_to_give_up_is_heard_though_the_socket_is_closed_with_it() {
    let ((_connection, mut channel), mut peer) = with_bare_peer(&plaintext());
    peer.write_all(&[3, 1, 0, 0, 0, AbortCode::BadLuck as u8])
        .unwrap();
    peer.shutdown(Shutdown::Both).unwrap();
    drop(peer);
    let error = loop {
        if let Err(error) = channel.send(&vec![0; MAX_MESSAGE_BYTES]) {
            break error;
        }
    };
    assert!(
        matches!(error, Error::PeerAborted(AbortCode::BadLuck)),
        "{error}"
    );
}
