//! A thread that only watches hears how a session ends.

use std::{
    io::Write,
    net::Shutdown,
    thread::{self, JoinHandle},
};

use psijoin_channel::{AbortCode, Error as ChannelError, joint_seed::JointSeed};
use psijoin_transport::{Connection, Error, Identity, Interrupt, LaneKeys, Lanes, Pulse};

use crate::{
    HUNG, IDLE, LONG, connected_pairs, pair_with, plaintext, tls_connected, tls_pair,
    with_bare_peer, with_idle,
};

/// Watches in a thread.
fn watching(connection: &Connection) -> JoinHandle<Result<(), Error>> {
    let watch = connection.watch();
    thread::spawn(move || watch.until_over())
}

/// Returns the error that a watching thread has come to.
fn heard(watching: JoinHandle<Result<(), Error>>) -> ChannelError {
    match watching.join().unwrap().unwrap_err() {
        Error::Channel(error) => error,
        other => panic!("{other}"),
    }
}

#[test]
fn a_peer_that_gives_up_is_heard_with_its_reason() {
    for [(a, _channel_a), (b, _channel_b)] in connected_pairs() {
        let watching = [watching(&a), watching(&a)];
        b.abort(AbortCode::TooManyItems);
        for watching in watching {
            let error = heard(watching);
            let expected = AbortCode::TooManyItems;
            assert!(
                matches!(error, ChannelError::PeerAborted(code) if code == expected),
                "{error}"
            );
        }
    }
}

#[test]
fn a_connection_that_is_cut_is_heard() {
    let ((connection, _channel), peer) = with_bare_peer(&plaintext());
    let watching = watching(&connection);
    peer.shutdown(Shutdown::Both).unwrap();
    let error = heard(watching);
    assert!(matches!(error, ChannelError::Closed), "{error}");
}

#[test]
fn a_silent_peer_is_heard_of_in_time() {
    let (options, _) = with_idle((plaintext(), plaintext()));
    let ((connection, _channel), mut peer) = with_bare_peer(&options);
    peer.write_all(&[2, 0, 0, 0, 0]).unwrap();
    let error = heard(watching(&connection));
    assert!(
        matches!(error, ChannelError::TimedOut(idle) if idle == IDLE),
        "{error}"
    );
}

#[test]
fn an_end_that_this_side_makes_is_quiet() {
    for [(a, _channel_a), (b, _channel_b)] in connected_pairs() {
        let both = [watching(&a), watching(&b)];
        thread::scope(|scope| {
            let finishing = scope.spawn(|| a.finish());
            b.finish().unwrap();
            finishing.join().unwrap().unwrap();
        });
        for watching in both {
            watching.join().unwrap().unwrap();
        }
    }
    let [(a, _channel_a), (b, _channel_b)] = tls_connected();
    let [gives_up, leaves] = [watching(&a), watching(&b)];
    a.abort(AbortCode::LocalFailure);
    gives_up.join().unwrap().unwrap();
    heard(leaves);
    let [(a, _channel_a), _b] = tls_connected();
    let leaves = watching(&a);
    drop(a);
    leaves.join().unwrap().unwrap();
}

#[test]
fn an_interrupt_is_heard() {
    let (mut a, b) = tls_pair();
    let interrupt = Interrupt::new();
    a.interrupt = interrupt.clone();
    let [(connection, _channel), _b] = pair_with(&a, &b);
    let watching = watching(&connection);
    interrupt.trigger();
    let error = heard(watching);
    assert!(matches!(error, ChannelError::Interrupted), "{error}");
}

#[test]
fn whoever_only_watches_is_no_sign_of_life() {
    let (mut a, b) = with_idle(tls_pair());
    a.pulse = Some(Pulse::new(|| 7));
    let [(a, _channel_a), (b, _channel_b)] = pair_with(&a, &b);
    let _watching = watching(&a);
    let error = heard(watching(&b));
    assert!(matches!(error, ChannelError::TimedOut(_)), "{error}");
}

#[test]
fn whoever_waits_for_lanes_is_alive() {
    let (mut a, b) = with_idle(tls_pair());
    a.pulse = Some(Pulse::new(|| 7));
    a.streams = true;
    let [(mut a, _channel_a), (b, _channel_b)] = pair_with(&a, &b);
    let lanes = Lanes {
        count: 1,
        joint_seed: JointSeed::insecure_fixed([9; 32]),
        keys: Some(LaneKeys {
            own: Identity::generate().unwrap(),
            peer: Identity::generate().unwrap().fingerprint(),
        }),
        wait: LONG,
        are_elsewhere: true,
    };
    let opening = thread::spawn(move || a.open_lanes(&lanes).map(drop));
    let watching = watching(&b);
    thread::sleep(HUNG);
    b.abort(AbortCode::LocalFailure);
    watching.join().unwrap().unwrap();
    let error = opening.join().unwrap().unwrap_err();
    let expected = AbortCode::LocalFailure;
    assert!(
        matches!(&error, Error::Channel(ChannelError::PeerAborted(code)) if *code == expected),
        "{error}"
    );
}
