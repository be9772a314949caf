//! Messages on their way.

use std::{thread, time::Duration};

use psijoin_channel::{Error, MAX_MESSAGE_BYTES};
use psijoin_handshake::{self as handshake, Hello, Role};

use crate::{IDLE, connected_pairs, pair_with, tls_connected, tls_pair, with_idle};

/// Returns message `i` of a stream: lengths from nothing to the most, contents that differ.
fn message(i: usize) -> Vec<u8> {
    let lengths = [0, 1, 16, 1000, 16_384, 65_536, 200_000, MAX_MESSAGE_BYTES];
    (0..lengths[i % lengths.len()])
        .map(|j| (i * 31 + j) as u8)
        .collect()
}

#[test]
fn both_directions_can_be_saturated() {
    const MESSAGES: usize = 64;
    for [(connection_a, mut a), (connection_b, mut b)] in connected_pairs() {
        let run = |channel: &mut psijoin_channel::Channel| {
            channel.exchange(
                |outbound| (0..MESSAGES).try_for_each(|i| outbound.send(&message(i))),
                |inbound| {
                    for i in 0..MESSAGES {
                        let expected = message(i);
                        let mut received = vec![0; expected.len()];
                        inbound.recv(&mut received)?;
                        assert!(received == expected, "message {i} is not as it was sent");
                    }
                    Ok::<_, Error>(())
                },
            )
        };
        thread::scope(|scope| {
            scope.spawn(|| {
                run(&mut a).unwrap();
                connection_a.finish().unwrap();
            });
            run(&mut b).unwrap();
            connection_b.finish().unwrap();
        });
    }
}

#[test]
fn many_small_messages_keep_their_order_and_borders() {
    for [(_a, mut a), (_b, mut b)] in connected_pairs() {
        thread::scope(|scope| {
            scope.spawn(move || {
                for i in 0..50_000_u32 {
                    a.send(&i.to_le_bytes()).unwrap();
                }
                // Not dropped before all has arrived.
                a.recv_array::<0>().unwrap();
            });
            for i in 0..50_000_u32 {
                assert_eq!(b.recv_array().unwrap(), i.to_le_bytes());
            }
            b.send(&[]).unwrap();
        });
    }
}

#[test]
fn a_sender_waits_for_a_receiver_that_computes_longer_than_the_idle_time_out() {
    const MESSAGES: usize = 40;
    let (a, b) = with_idle(tls_pair());
    let [(_a, mut a), (_b, mut b)] = pair_with(&a, &b);
    thread::scope(|scope| {
        scope.spawn(move || {
            // Ten times what the queues hold.
            for _ in 0..MESSAGES {
                a.send(&vec![1; MAX_MESSAGE_BYTES]).unwrap();
            }
            a.recv_array::<0>().unwrap();
        });
        thread::sleep(2 * IDLE);
        let mut received = vec![0; MAX_MESSAGE_BYTES];
        for _ in 0..MESSAGES {
            b.recv(&mut received).unwrap();
        }
        thread::sleep(2 * IDLE);
        b.send(&[]).unwrap();
    });
}

#[test]
fn a_message_of_another_length_is_an_error() {
    let [(_a, mut a), (_b, mut b)] = tls_connected();
    a.send(&[1, 2, 3]).unwrap();
    let error = b.recv_array::<4>().unwrap_err();
    assert!(
        matches!(
            error,
            Error::MessageLength {
                expected: 4,
                received: 3
            }
        ),
        "{error}"
    );
}

#[test]
fn the_session_handshake_runs_over_a_connection() {
    let [(_a, mut a), (_b, mut b)] = tls_connected();
    thread::scope(|scope| {
        let sender = scope.spawn(|| {
            let pending = handshake::begin(&mut a, Hello::new(Role::Sender, 3)).unwrap();
            pending.confirm(&mut a, &[&[1; 32]]).unwrap()
        });
        let pending = handshake::begin(&mut b, Hello::new(Role::Receiver, 4)).unwrap();
        assert_eq!(pending.peer().set_size(), 3);
        assert_eq!(
            pending.confirm(&mut b, &[&[1; 32]]).unwrap(),
            sender.join().unwrap()
        );
    });
}

#[test]
fn a_handshake_that_fails_is_heard_by_both_even_if_both_give_up_at_once() {
    for [(connection_a, mut a), (connection_b, mut b)] in connected_pairs() {
        let hello = |role, rule| Hello::new(role, 1).setting("normalisation", rule);
        let shake = |channel: &mut _, hello| {
            let pending = handshake::begin(channel, hello).unwrap();
            pending.compare().unwrap_err().to_string()
        };
        thread::scope(|scope| {
            let sender = scope.spawn(|| {
                let error = shake(&mut a, hello(Role::Sender, "email"));
                drop(connection_a);
                error
            });
            thread::sleep(Duration::from_millis(50));
            let error = shake(&mut b, hello(Role::Receiver, "trim"));
            drop(connection_b);
            assert!(
                error.contains("this side has `trim`, the other side has `email`"),
                "{error}"
            );
            let error = sender.join().unwrap();
            assert!(
                error.contains("this side has `email`, the other side has `trim`"),
                "{error}"
            );
        });
    }
}
