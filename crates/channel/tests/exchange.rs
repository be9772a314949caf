//! Both parties talk at once over the narrowest channel there is.

use std::{
    thread,
    time::{Duration, Instant},
};

use psijoin_channel::{
    AbortCode, Channel, Error, Inbound, Outbound,
    memory::{Builder, Window},
};

/// Longer than any of these tests takes, unless something hangs.
const IDLE: Duration = Duration::from_secs(30);

fn narrow_pair() -> (Channel, Channel) {
    Builder::new()
        .window(Window::ONE_MESSAGE)
        .idle_timeout(IDLE)
        .pair()
}

/// Runs the two parties on a thread each and fails if one of them sat out the time-out.
fn run<A: Send, B: Send>(
    (alice, bob): (Channel, Channel),
    alice_does: impl FnOnce(Channel) -> A + Send,
    bob_does: impl FnOnce(Channel) -> B + Send,
) -> (A, B) {
    let start = Instant::now();
    let done = thread::scope(|scope| {
        let alice = scope.spawn(|| alice_does(alice));
        let bob = bob_does(bob);
        (alice.join().unwrap(), bob)
    });
    assert!(start.elapsed() < IDLE, "a party waited for a time-out");
    done
}

fn send_numbers(outbound: &mut dyn Outbound, count: u32) -> Result<(), Error> {
    (0..count).try_for_each(|i| outbound.send(&i.to_le_bytes()))
}

fn receive_sum(inbound: &mut dyn Inbound, count: u32) -> Result<u64, Error> {
    (0..count).try_fold(0, |sum, _| {
        let mut message = [0; 4];
        inbound.recv(&mut message)?;
        Ok(sum + u64::from(u32::from_le_bytes(message)))
    })
}

/// The reason that a party which has more to do than to talk fails.
#[derive(Debug)]
enum Failure {
    Local,
    Channel,
}

impl From<Error> for Failure {
    fn from(_: Error) -> Self {
        Self::Channel
    }
}

#[test]
fn both_directions_flow_over_a_one_message_window() {
    let party = |sends: u32, receives: u32| {
        move |mut channel: Channel| {
            channel
                .exchange(
                    |out| send_numbers(out, sends),
                    |inb| receive_sum(inb, receives),
                )
                .unwrap()
                .1
        }
    };
    let sums = run(narrow_pair(), party(1000, 300), party(300, 1000));
    assert_eq!(sums, (299 * 300 / 2, 999 * 1000 / 2));
}

#[test]
fn channel_is_whole_again_after_an_exchange() {
    let party = |mut channel: Channel| -> Result<[u8; 1], Error> {
        for count in [0, 1, 5] {
            channel.exchange(
                |out| send_numbers(out, count),
                |inb| receive_sum(inb, count),
            )?;
        }
        channel.send(&[7])?;
        channel.recv_array()
    };
    let (alice, bob) = run(narrow_pair(), party, party);
    assert_eq!((alice.unwrap(), bob.unwrap()), ([7], [7]));
}

#[test]
fn local_failure_while_sending_is_returned_and_told_to_the_peer() {
    let fails = |mut channel: Channel| {
        channel.exchange(
            |out| {
                send_numbers(out, 3)?;
                Err::<(), _>(Failure::Local)
            },
            |inb| Ok(receive_sum(inb, 1000)?),
        )
    };
    let works = |mut channel: Channel| channel.exchange(|_| Ok(()), |inb| receive_sum(inb, 1000));
    let (alice, bob) = run(narrow_pair(), fails, works);
    assert!(matches!(alice, Err(Failure::Local)), "{alice:?}");
    assert!(
        matches!(bob, Err(Error::PeerAborted(AbortCode::LocalFailure))),
        "{bob:?}"
    );
}

#[test]
fn failure_while_receiving_stops_the_sending() {
    let fails = |mut channel: Channel| {
        channel.exchange(
            |out| loop {
                out.send(&[0; 4])?;
            },
            |inb| {
                inb.recv(&mut [0; 4])?;
                Err::<(), _>(Failure::Local)
            },
        )
    };
    // Takes whatever comes for as long as it comes.
    let works = |mut channel: Channel| {
        channel.send(&[0; 4]).unwrap();
        while channel.recv(&mut [0; 4]).is_ok() {}
    };
    let (alice, ()): (Result<((), ()), _>, _) = run(narrow_pair(), fails, works);
    assert!(matches!(alice, Err(Failure::Local)), "{alice:?}");
}

#[test]
fn peer_that_gives_up_fails_both_halves_with_its_reason() {
    let works = |mut channel: Channel| {
        channel.exchange(|out| send_numbers(out, 1000), |inb| receive_sum(inb, 1000))
    };
    let gives_up = |mut channel: Channel| {
        channel.send(&[0; 4]).unwrap();
        channel.abort(AbortCode::BadLuck);
    };
    let (alice, ()) = run(narrow_pair(), works, gives_up);
    assert!(
        matches!(alice, Err(Error::PeerAborted(AbortCode::BadLuck))),
        "{alice:?}"
    );
}

#[test]
fn peer_that_goes_away_fails_both_halves() {
    let works = |mut channel: Channel| {
        channel.exchange(|out| send_numbers(out, 1000), |inb| receive_sum(inb, 1000))
    };
    let (alice, ()) = run(narrow_pair(), works, drop);
    assert!(matches!(alice, Err(Error::Closed)), "{alice:?}");
}
