//! A party is waited for as long as it works, and no longer.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::Error;
use psijoin_transport::Pulse;

use crate::{HUNG, IDLE, Pair, pair_with, plaintext, tls_pair, with_idle};

/// Returns a pair whose first party has the pulse that is returned with it.
fn pair_with_pulse() -> (Pair, Arc<AtomicU64>) {
    let (mut a, b) = with_idle(tls_pair());
    let beats = Arc::new(AtomicU64::new(7));
    let pulse = {
        let beats = beats.clone();
        Pulse::new(move || beats.load(Ordering::Relaxed))
    };
    a.pulse = Some(pulse);
    (pair_with(&a, &b), beats)
}

#[test]
fn a_party_that_hangs_falls_silent() {
    let ([_a, (_connection, mut b)], _beats) = pair_with_pulse();
    let started = Instant::now();
    let error = b.recv_array::<1>().unwrap_err();
    assert!(
        matches!(error, Error::TimedOut(idle) if idle == IDLE),
        "{error}"
    );
    // It was given some time before.
    assert!(started.elapsed() > IDLE);
}

#[test]
fn a_party_that_works_is_waited_for() {
    let ([(_connection_a, mut a), (_connection_b, mut b)], beats) = pair_with_pulse();
    thread::scope(|scope| {
        let received = scope.spawn(move || b.recv_array::<1>());
        let started = Instant::now();
        while started.elapsed() < HUNG {
            thread::sleep(Duration::from_millis(50));
            beats.fetch_add(1, Ordering::Relaxed);
        }
        a.send(&[1]).unwrap();
        assert_eq!(received.join().unwrap().unwrap(), [1]);
    });
}

#[test]
fn a_party_that_waits_for_a_message_needs_no_pulse() {
    let ([(_connection_a, mut a), (_connection_b, mut b)], _beats) = pair_with_pulse();
    thread::scope(|scope| {
        scope.spawn(move || {
            assert_eq!(a.recv_array().unwrap(), [1]);
            a.send(&[2]).unwrap();
        });
        // The peer waits for the answer while it still computes the question.
        let (outbound, inbound) = b.halves();
        let answered = scope.spawn(move || {
            let mut answer = [0];
            inbound.recv(&mut answer).map(|()| answer)
        });
        thread::sleep(HUNG);
        outbound.send(&[1]).unwrap();
        assert_eq!(answered.join().unwrap().unwrap(), [2]);
    });
}

#[test]
fn a_wait_that_was_long_leaves_time_to_work() {
    let ([(_connection_a, mut a), (_connection_b, mut b)], _beats) = pair_with_pulse();
    thread::scope(|scope| {
        scope.spawn(move || {
            assert_eq!(a.recv_array().unwrap(), [1]);
            thread::sleep(IDLE / 4);
            a.send(&[2]).unwrap();
        });
        thread::sleep(HUNG);
        b.send(&[1]).unwrap();
        assert_eq!(b.recv_array().unwrap(), [2]);
    });
}

#[test]
fn a_party_without_a_pulse_counts_as_working() {
    let (a, b) = with_idle((plaintext(), plaintext()));
    let [(_connection_a, mut a), (_connection_b, mut b)] = pair_with(&a, &b);
    thread::scope(|scope| {
        let received = scope.spawn(move || b.recv_array::<1>());
        thread::sleep(HUNG);
        a.send(&[1]).unwrap();
        assert_eq!(received.join().unwrap().unwrap(), [1]);
    });
}
