use std::thread;

use psijoin_block::Block;
use psijoin_channel::{
    count::counted,
    fault::{Fault, FaultKind, faulty},
    memory,
    transcript::{Party, hashed},
};

use super::*;
use crate::{base::BASE, iknp::Malicious};

/// Runs both parties.
fn run<A: Send, B: Send>(
    (mut a, mut b): (Channel, Channel),
    sender: impl FnOnce(&mut Channel) -> A + Send,
    receiver: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B) {
    thread::scope(|scope| {
        let sender = scope.spawn(move || {
            let result = sender(&mut a);
            drop(a);
            result
        });
        let received = receiver(&mut b);
        drop(b);
        (sender.join().expect("the sender does not panic"), received)
    })
}

fn seeded(seed: u128) -> Prg {
    Prg::from_seed(Block(seed))
}

/// Δ, and b of each call.
type Vectors = (Tower, Vec<Buffer<Tower>>);
type Received<B> = Vec<(Buffer<B>, Buffer<Tower>)>;

fn vole<M: Model, B: Base>(
    channels: (Channel, Channel),
    lens: &[usize],
) -> (Result<Vectors, Error>, Result<Received<B>, Error>) {
    run(
        channels,
        |channel| {
            let mut sender = Sender::<M>::setup(BASE, channel, &mut seeded(1))?;
            let calls = lens
                .iter()
                .map(|len| sender.begin::<B>(*len, channel)?.finish(channel));
            let (deltas, vectors): (Vec<_>, _) =
                calls.collect::<Result<Vec<Sent>, _>>()?.into_iter().unzip();
            assert!(deltas.iter().all(|delta| **delta == *deltas[0]));
            Ok((*deltas[0], vectors))
        },
        |channel| {
            let mut receiver = Receiver::<M>::setup(BASE, channel, &mut seeded(2))?;
            let calls = lens
                .iter()
                .map(|len| receiver.begin::<B>(*len, channel)?.finish(channel));
            calls.collect()
        },
    )
}

fn correlation_holds<M: Model, B: Base>() {
    let lens = [1, 2, 1000, 1 << 16];
    let (sent, received) = vole::<M, B>(memory::pair(), &lens);
    let (delta, vectors) = sent.unwrap();
    let mut seen = std::collections::HashSet::new();
    for ((len, b), (a, c)) in lens.iter().zip(vectors).zip(received.unwrap()) {
        assert_eq!((a.len(), b.len(), c.len()), (*len, *len, *len));
        let mut bytes = Vec::new();
        B::pack(&a, &mut bytes);
        let mut unpacked = vec![B::default(); *len];
        B::unpack(&bytes, &mut unpacked);
        assert!(unpacked == a[..], "a is in B");
        for i in 0..*len {
            assert!(c[i] == b[i] ^ (delta * a[i].into()), "entry {i} of {len}");
            assert!(seen.insert(bytemuck::cast::<_, u128>(b[i])));
        }
    }
}

#[test]
fn semi_honest() {
    correlation_holds::<SemiHonest, Gf64>();
    correlation_holds::<SemiHonest, Subspace<Tower, 72>>();
    correlation_holds::<SemiHonest, Subspace<Tower, 80>>();
    correlation_holds::<SemiHonest, Tower>();
}

#[test]
fn malicious() {
    correlation_holds::<Malicious, Gf64>();
    correlation_holds::<Malicious, Subspace<Tower, 80>>();
    correlation_holds::<Malicious, Tower>();
}

fn bytes<M: Model, B: Base>(flights: u64) {
    let (a, b) = memory::pair();
    let (a, counters) = counted(a);
    let len = 70_000;
    let (sent, received) = vole::<M, B>((a, b), &[len]);
    assert!(sent.is_ok() && received.is_ok());
    let traffic = counters.snapshot();
    let announced = super::flights::<M, B>(len);
    let [sent, received] = [0, 1].map(|party| announced.iter().map(|flight| flight[party]).sum());
    let [sent, received]: [u64; 2] = [sent, received];
    assert_eq!(traffic.sent.bytes, setup_sender_bytes(BASE) + sent);
    assert_eq!(
        traffic.received.bytes,
        setup_receiver_bytes(BASE) + received
    );
    let spoken = announced.iter().filter(|flight| **flight != [0; 2]);
    assert_eq!(spoken.count() as u64, flights);
    // The setup is one round of both parties and a flight of the receiver, which then sends more.
    assert_eq!(traffic.flights, 1 + flights);
}

#[test]
fn bytes_and_rounds_are_as_announced() {
    bytes::<SemiHonest, Gf64>(2);
    bytes::<SemiHonest, Subspace<Tower, 72>>(2);
    bytes::<SemiHonest, Tower>(2);
    bytes::<Malicious, Gf64>(6);
    bytes::<Malicious, Subspace<Tower, 80>>(6);
    bytes::<Malicious, Tower>(6);
}

/// Either party may talk in the middle of a call, whatever its peer does.
#[test]
fn halves_may_use_one_direction_each() {
    for (sender_alone, receiver_alone) in [(true, true), (true, false), (false, true)] {
        let ((delta, b), (a, c)) = run(
            memory::pair(),
            |channel| {
                let mut sender =
                    Sender::<SemiHonest>::setup(BASE, channel, &mut seeded(1)).unwrap();
                let granted = sender.begin::<Gf64>(500, channel).unwrap();
                let sent = match sender_alone {
                    true => granted.finish_sending(channel.halves().0).unwrap(),
                    false => granted.finish(channel).unwrap(),
                };
                assert_eq!(channel.recv_array::<1>().unwrap(), [7]);
                sent
            },
            |channel| {
                let mut receiver =
                    Receiver::<SemiHonest>::setup(BASE, channel, &mut seeded(2)).unwrap();
                let planted = receiver.begin::<Gf64>(500, channel).unwrap();
                if !receiver_alone {
                    let both = planted.finish(channel).unwrap();
                    channel.send(&[7]).unwrap();
                    return both;
                }
                let mut a = Buffer::zeroed(500);
                a.copy_from_slice(planted.a());
                channel.send(&[7]).unwrap();
                let corrections = planted.receive(channel.halves().1).unwrap();
                (a, planted.finish_received(corrections))
            },
        );
        assert!((0..500).all(|i| c[i] == b[i] ^ (*delta * a[i].into())));
    }
}

#[test]
fn equal_seeds_give_equal_transcripts() {
    let digest = || {
        let (a, b) = memory::pair();
        let (a, transcript) = hashed(a, Party::First);
        let (sent, received) = vole::<Malicious, Gf64>((a, b), &[1000]);
        (transcript.digest(), sent.unwrap().1, received.unwrap())
    };
    let (first, b, a_and_c) = digest();
    let (second, same_b, same_a_and_c) = digest();
    assert_eq!(first, second);
    assert!(*b[0] == *same_b[0]);
    assert!(*a_and_c[0].0 == *same_a_and_c[0].0 && *a_and_c[0].1 == *same_a_and_c[0].1);
}

/// The results of runs in which a bit of one message was flipped.
#[derive(Default, Debug)]
struct Outcomes {
    caught_by_sender: u32,
    caught_by_receiver: u32,
    other_errors: u32,
    harmless: u32,
}

impl Outcomes {
    fn count(
        &mut self,
        (sent, received): (Result<Vectors, Error>, Result<Received<Gf64>, Error>),
        fault: Fault,
    ) {
        let seen = |error: &Error| matches!(error, Error::ConsistencyCheck);
        let (sent, received) = match (sent, received) {
            (Err(error), _) if seen(&error) => return self.caught_by_sender += 1,
            (_, Err(error)) if seen(&error) => return self.caught_by_receiver += 1,
            (Err(_), _) | (_, Err(_)) => return self.other_errors += 1,
            (Ok(sent), Ok(received)) => (sent, received),
        };
        self.harmless += 1;
        let (delta, b) = sent;
        let (a, c) = &received[0];
        for i in 0..a.len() {
            assert!(c[i] == b[0][i] ^ (delta * a[i].into()), "{fault:?}");
        }
    }
}

/// Flips bits of every message that one party sends.
fn flip_every_message(tampered: Party) -> Outcomes {
    let mut outcomes = Outcomes::default();
    for at in 0.. {
        for bit in [0, 54_321] {
            let fault = Fault {
                at,
                kind: FaultKind::Flip { bit },
            };
            let (mut a, mut b) = memory::pair();
            let probe;
            match tampered {
                Party::First => (a, probe) = faulty(a, fault),
                Party::Second => (b, probe) = faulty(b, fault),
            }
            let results = vole::<Malicious, Gf64>((a, b), &[100]);
            if !probe.reached() {
                return outcomes;
            }
            outcomes.count(results, fault);
        }
    }
    unreachable!("a run has an end");
}

/// The sender sends base OTs, the seed of a check, corrections in ten messages, and a hash.
#[test]
fn a_flipped_bit_of_the_sender_is_caught_or_harmless() {
    let outcomes = flip_every_message(Party::First);
    assert!(outcomes.caught_by_receiver > 10, "{outcomes:?}");
    assert!(outcomes.caught_by_sender > 0, "{outcomes:?}");
}

/// The receiver sends base OTs, corrections of the generators and of the columns, an answer,
/// and the sums of its noise.
#[test]
fn a_flipped_bit_of_the_receiver_is_caught_or_harmless() {
    let outcomes = flip_every_message(Party::Second);
    assert!(outcomes.caught_by_sender > 4, "{outcomes:?}");
    assert!(outcomes.caught_by_receiver > 0, "{outcomes:?}");
}

#[test]
fn a_short_message_is_an_error() {
    for (at, tampered) in [(1, Party::First), (2, Party::Second)] {
        let fault = Fault {
            at,
            kind: FaultKind::Truncate,
        };
        let (mut a, mut b) = memory::pair();
        match tampered {
            Party::First => a = faulty(a, fault).0,
            Party::Second => b = faulty(b, fault).0,
        }
        let (sent, received) = vole::<SemiHonest, Tower>((a, b), &[100]);
        let error = match tampered {
            Party::First => received.map(drop).unwrap_err(),
            Party::Second => sent.map(drop).unwrap_err(),
        };
        assert!(matches!(
            error,
            Error::Channel(psijoin_channel::Error::MessageLength { .. })
        ));
    }
}

/// It compiles only if what is secret is wiped when it is dropped.
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |sender: &Sender<Malicious>, (delta, b): &Sent| {
        wiped(&sender.noise.delta());
        wiped(delta);
        wiped(b);
    };
}
