//! The emulated link takes the time it was told to take.
//!
//! A run that is too fast is always an error. One that is too slow may be the machine's
//! fault, so the best of several runs counts, and the runs are kept short and apart.

use std::{
    sync::{Mutex, PoisonError},
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{
    AbortCode, Channel, Error, Inbound, Outbound,
    count::counted,
    link::{Link, linked},
    memory::{self, Builder, Window},
};

const TOLERANCE: f64 = 0.03;

fn linked_over((alice, bob): (Channel, Channel), link: &str) -> (Channel, Channel) {
    let link: Link = link.parse().unwrap();
    (linked(alice, link), linked(bob, link))
}

fn linked_pair(link: &str) -> (Channel, Channel) {
    linked_over(memory::pair(), link)
}

/// Returns a linked pair without threads of its own.
fn pair_over(link: &str) -> (Channel, Channel) {
    Builder::new().link(link.parse().unwrap()).pair()
}

/// Both ways to emulate a link.
const PAIRS: [MakePair; 2] = [linked_pair, pair_over];

type MakePair = fn(&str) -> (Channel, Channel);

/// How long a busy machine may keep every run from being in time.
const PATIENCE: Duration = Duration::from_secs(120);

/// Asserts that no run takes less than `expected`, and one takes at most 3 % more.
fn assert_takes(expected: Duration, mut run: impl FnMut() -> Duration) {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut best = Duration::MAX;
    let start = Instant::now();
    while start.elapsed() < PATIENCE {
        let took = run();
        assert!(
            took >= expected,
            "{took:?} instead of {expected:?}: too fast"
        );
        best = best.min(took);
        if best <= expected.mul_f64(1.0 + TOLERANCE) {
            return;
        }
    }
    panic!("{best:?} instead of {expected:?}: too slow");
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = Instant::now();
    run();
    start.elapsed()
}

fn send_all(mut channel: Channel, messages: usize, bytes: usize) {
    let message = vec![1; bytes];
    (0..messages).for_each(|_| channel.send(&message).unwrap());
}

fn receive_all(channel: &mut Channel, messages: usize, bytes: usize) {
    let mut message = vec![0; bytes];
    (0..messages).for_each(|_| channel.recv(&mut message).unwrap());
}

#[test]
fn bulk_transfer_takes_bytes_over_rate_plus_half_a_round_trip() {
    for pair in PAIRS {
        // 4 MB at 200 Mbit/s: 160 ms; and 10 ms.
        for (messages, bytes) in [(4, 1_000_000), (4000, 1000)] {
            assert_takes(Duration::from_millis(170), || {
                let (alice, mut bob) = pair("wan:200mbps,20ms");
                timed(|| {
                    thread::scope(|scope| {
                        scope.spawn(|| send_all(alice, messages, bytes));
                        receive_all(&mut bob, messages, bytes);
                    });
                })
            });
        }
    }
}

#[test]
fn transfer_far_beyond_the_window_keeps_the_rate() {
    for pair in PAIRS {
        // 50 MB at 2 Gbit/s, while some 8 MiB may be under way: 200 ms; and 2 ms.
        assert_takes(Duration::from_millis(202), || {
            let (alice, mut bob) = pair("wan:2gbps,4ms");
            timed(|| {
                thread::scope(|scope| {
                    scope.spawn(|| send_all(alice, 100, 500_000));
                    receive_all(&mut bob, 100, 500_000);
                });
            })
        });
    }
}

#[test]
fn ping_pong_takes_a_round_trip() {
    for pair in PAIRS {
        let (mut alice, mut bob) = pair("wan:1gbps,20ms");
        thread::scope(|scope| {
            scope.spawn(move || {
                while let Ok(ping) = bob.recv_array::<1>() {
                    bob.send(&ping).unwrap();
                }
            });
            assert_takes(Duration::from_millis(20), || {
                timed(|| {
                    alice.send(&[7]).unwrap();
                    assert_eq!(alice.recv_array().unwrap(), [7]);
                })
            });
            drop(alice);
        });
    }
}

#[test]
fn directions_do_not_slow_each_other_down() {
    for pair in PAIRS {
        // 2 MB each way at 200 Mbit/s: 80 ms; and 10 ms.
        assert_takes(Duration::from_millis(90), || {
            let (alice, bob) = pair("wan:200mbps,20ms");
            let party = |mut channel: Channel| {
                let send =
                    |out: &mut dyn Outbound| (0..20).try_for_each(|_| out.send(&[1; 100_000]));
                let receive =
                    |inb: &mut dyn Inbound| (0..20).try_for_each(|_| inb.recv(&mut [0; 100_000]));
                channel.exchange(send, receive).unwrap();
            };
            timed(|| {
                thread::scope(|scope| {
                    scope.spawn(|| party(alice));
                    party(bob);
                });
            })
        });
    }
}

#[test]
fn computing_overlaps_with_sending() {
    for pair in PAIRS {
        // The 1 MB sent takes 80 ms, during which the sender does something else.
        assert_takes(Duration::from_millis(85), || {
            let (mut alice, mut bob) = pair("wan:100mbps,10ms");
            timed(|| {
                alice.send(&[1; 1_000_000]).unwrap();
                thread::sleep(Duration::from_millis(50));
                receive_all(&mut bob, 1, 1_000_000);
            })
        });
    }
}

#[test]
fn dropping_does_not_wait_and_loses_nothing() {
    let (mut alice, mut bob) = linked_pair("wan:200kbps,40ms");
    let start = Instant::now();
    (0..10).for_each(|i| alice.send(&[i; 10_000]).unwrap());
    drop(alice);
    // It takes 4 s to send, and 20 ms to arrive.
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "the sender waited"
    );
    bob.send(&[0])
        .expect("the news of the hanging-up has not arrived");
    for i in 0..10 {
        assert_eq!(bob.recv_array().unwrap(), [i; 10_000]);
    }
    assert!(matches!(bob.recv_array::<1>(), Err(Error::Closed)));
    assert!(start.elapsed() >= Duration::from_millis(4020));
}

#[test]
fn abort_travels_behind_what_was_sent() {
    let (mut alice, mut bob) = linked_pair("wan:100mbps,20ms");
    let start = Instant::now();
    alice.send(&[1]).unwrap();
    alice.abort(AbortCode::Refused);
    assert!(matches!(alice.send(&[2]), Err(Error::Closed)));
    drop(alice);
    assert_eq!(bob.recv_array().unwrap(), [1]);
    assert!(matches!(
        bob.recv_array::<1>(),
        Err(Error::PeerAborted(AbortCode::Refused))
    ));
    assert!(start.elapsed() >= Duration::from_millis(10));
}

#[test]
fn sender_learns_that_the_peer_is_gone() {
    let (mut alice, bob) = linked_pair("wan:1gbps,2ms");
    drop(bob);
    // Only what is sent after the news has travelled is certain to fail.
    let failed = (0..1000).find_map(|_| {
        thread::sleep(Duration::from_millis(1));
        alice.send(&[0; 1000]).err()
    });
    assert!(matches!(failed, Some(Error::Closed)), "{failed:?}");
    assert!(matches!(alice.send(&[0]), Err(Error::Closed)));
}

#[test]
fn sender_that_waits_for_room_learns_of_the_time_out_beneath() {
    let narrow = Builder::new()
        .window(Window::ONE_MESSAGE)
        .idle_timeout(Duration::from_millis(20));
    let (mut alice, _bob) = linked_over(narrow.pair(), "lan");
    let failed = (0..100).find_map(|_| alice.send(&[0; 1_000_000]).err());
    assert!(matches!(failed, Some(Error::TimedOut(_))), "{failed:?}");
}

#[test]
fn decorators_stack() {
    let narrow = Builder::new().window(Window::ONE_MESSAGE).pair();
    let (alice, bob) = linked_over(narrow, "wan:1gbps,1ms");
    let ((mut alice, by_alice), (mut bob, by_bob)) = (counted(alice), counted(bob));
    thread::scope(|scope| {
        scope.spawn(move || {
            (0..100u8).for_each(|i| alice.send(&[i; 100]).unwrap());
            assert_eq!(alice.recv_array().unwrap(), *b"thanks");
        });
        for i in 0..100u8 {
            assert_eq!(bob.recv_array().unwrap(), [i; 100]);
        }
        bob.send(b"thanks").unwrap();
    });
    for (counters, [sent, received]) in [(by_alice, [10_000, 6]), (by_bob, [6, 10_000])] {
        let seen = counters.snapshot();
        assert_eq!(
            [seen.sent.bytes, seen.received.bytes, seen.flights],
            [sent, received, 2]
        );
    }
}
