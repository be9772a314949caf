use std::thread;

use psijoin_channel::{
    Channel, Error as ChannelError,
    count::counted,
    fault::{Fault, FaultKind, faulty},
    memory,
};

use super::*;
use crate::{base::BASE, chosen};

/// Runs both parties over a memory channel.
fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Channel) -> A + Send,
    receiver: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = memory::pair();
    thread::scope(|scope| {
        let sender = scope.spawn(move || sender(&mut a));
        let received = receiver(&mut b);
        drop(b);
        (sender.join().expect("the sender does not panic"), received)
    })
}

fn choices(count: usize) -> Vec<Block> {
    let mut choices = vec![Block::ZERO; count.div_ceil(128)];
    Prg::from_seed(Block(count as u128)).fill(&mut choices);
    choices
}

fn choice(choices: &[Block], j: usize) -> bool {
    choices[j / 128].bit(j % 128)
}

const COUNTS: [usize; 8] = [
    0,
    1,
    127,
    128,
    513,
    CHUNK_ROWS - 128,
    CHUNK_ROWS + 1,
    3 * CHUNK_ROWS,
];

fn correlated<M: Model>() {
    for count in COUNTS {
        let choices = choices(count);
        let ((delta, q), t) = run(
            |channel| {
                let mut sender = Sender::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                let mut q = vec![Block::ZERO; count];
                sender.correlated(&mut q, channel).unwrap();
                (sender.delta(), q)
            },
            |channel| {
                let mut receiver =
                    Receiver::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                let mut t = vec![Block::ZERO; count];
                receiver.correlated(&choices, &mut t, channel).unwrap();
                t
            },
        );
        for j in 0..count {
            assert!(
                q[j] == t[j] ^ (*delta & Block::splat(choice(&choices, j))),
                "OT {j}"
            );
        }
    }
}

/// Tests two batches from one setup.
fn random<M: Model>() {
    for count in COUNTS {
        let choices = choices(count);
        let (pairs, chosen) = run(
            |channel| {
                let mut sender = Sender::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                let mut pairs = vec![[Block::ZERO; 2]; 2 * count];
                let (first, second) = pairs.split_at_mut(count);
                sender.random(first, channel).unwrap();
                sender.random(second, channel).unwrap();
                pairs
            },
            |channel| {
                let mut receiver =
                    Receiver::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                let mut chosen = vec![Block::ZERO; 2 * count];
                let (first, second) = chosen.split_at_mut(count);
                receiver.random(&choices, first, channel).unwrap();
                receiver.random(&choices, second, channel).unwrap();
                chosen
            },
        );
        for (j, (pair, chosen)) in pairs.iter().zip(&chosen).enumerate() {
            let choice = usize::from(choice(&choices, j % count));
            assert!(
                *chosen == pair[choice] && *chosen != pair[1 - choice],
                "OT {j}"
            );
        }
        let distinct: std::collections::HashSet<_> = pairs.iter().flatten().collect();
        assert_eq!(distinct.len(), 4 * count, "no two messages are alike");
    }
}

fn of_chosen_messages<M: Model>() {
    let count = CHUNK_ROWS + 77;
    let choices = choices(count);
    let messages: Vec<[Block; 2]> = (0..count as u128)
        .map(|j| [Block(2 * j), Block(2 * j + 1)])
        .collect();
    let ((), received) = run(
        |channel| {
            let mut ots = Sender::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            chosen::send(&messages, &mut ots, channel).unwrap();
        },
        |channel| {
            let mut ots = Receiver::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            let mut received = vec![Block::ZERO; count];
            chosen::receive(&choices, &mut received, &mut ots, channel).unwrap();
            received
        },
    );
    for (j, block) in received.iter().enumerate() {
        assert_eq!(block.0, 2 * j as u128 + u128::from(choice(&choices, j)));
    }
}

fn bytes<M: Model>() {
    for count in COUNTS {
        let (mut a, mut b) = memory::pair();
        let counters;
        (a, counters) = counted(a);
        thread::scope(|scope| {
            scope.spawn(move || {
                let mut ots = Sender::<M>::setup(BASE, &mut a, &mut Prg::from_os()).unwrap();
                chosen::send(&vec![[Block::ZERO; 2]; count], &mut ots, &mut a).unwrap();
            });
            let mut ots = Receiver::<M>::setup(BASE, &mut b, &mut Prg::from_os()).unwrap();
            let mut out = vec![Block::ZERO; count];
            chosen::receive(&choices(count), &mut out, &mut ots, &mut b).unwrap();
        });
        let traffic = counters.snapshot();
        let extension = sender_bytes::<M>(count) + chosen::sender_bytes(count);
        assert_eq!(traffic.sent.bytes, setup_sender_bytes(BASE) + extension);
        assert_eq!(
            traffic.received.bytes,
            setup_receiver_bytes(BASE) + receiver_bytes::<M>(count)
        );
    }
}

#[test]
fn semi_honest() {
    correlated::<SemiHonest>();
    random::<SemiHonest>();
    of_chosen_messages::<SemiHonest>();
    bytes::<SemiHonest>();
}

#[test]
fn malicious() {
    correlated::<Malicious>();
    random::<Malicious>();
    of_chosen_messages::<Malicious>();
    bytes::<Malicious>();
}

/// A receiver that uses another choice in one column (here: flips a bit of its matrix) is
/// caught, unless that bit of Δ is zero, when it changed nothing.
#[test]
fn a_tampered_matrix_is_caught() {
    let mut caught = 0;
    for bit in 0..32 {
        let column = bit as usize * 4;
        let ((delta, sent), _) = run(
            |channel| {
                let mut sender =
                    Sender::<Malicious>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                let mut pairs = vec![[Block::ZERO; 2]; 1000];
                let result = sender.random(&mut pairs, channel);
                (sender.delta(), result)
            },
            |channel| {
                // The first message after the setup is the matrix, 1,152 rows of it.
                let (clean, _) = memory::pair();
                let owned = std::mem::replace(channel, clean);
                let kind = FaultKind::Flip {
                    bit: column * 1152 + 500,
                };
                let (mut tampered, probe) = faulty(owned, Fault { at: 1, kind });
                let mut receiver =
                    Receiver::<Malicious>::setup(BASE, &mut tampered, &mut Prg::from_os()).unwrap();
                let mut out = vec![Block::ZERO; 1000];
                receiver
                    .random(&choices(1000), &mut out, &mut tampered)
                    .unwrap();
                assert!(probe.reached());
            },
        );
        if delta.bit(column) {
            assert!(matches!(sent, Err(Error::ConsistencyCheck)));
            caught += 1;
        } else {
            assert!(sent.is_ok());
        }
    }
    assert!(caught > 0);
}

#[test]
fn a_wrong_answer_to_the_check_is_caught() {
    for bit in [0, 127, 128, 16_511] {
        let (sent, ()) = run(
            |channel| {
                let mut sender =
                    Sender::<Malicious>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
                sender.correlated(&mut [Block::ZERO; 10], channel)
            },
            |channel| {
                let (clean, _) = memory::pair();
                let owned = std::mem::replace(channel, clean);
                let kind = FaultKind::Flip { bit };
                let (mut tampered, _probe) = faulty(owned, Fault { at: 2, kind });
                let mut receiver =
                    Receiver::<Malicious>::setup(BASE, &mut tampered, &mut Prg::from_os()).unwrap();
                let mut out = [Block::ZERO; 10];
                receiver
                    .correlated(&choices(10), &mut out, &mut tampered)
                    .unwrap();
            },
        );
        // A flip of the hash of the choices goes unseen where Δ has a zero; no column does.
        if bit >= 128 {
            assert!(matches!(sent, Err(Error::ConsistencyCheck)));
        }
    }
}

#[test]
fn a_short_matrix_is_an_error() {
    let (sent, ()) = run(
        |channel| {
            let mut sender =
                Sender::<SemiHonest>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            sender.correlated(&mut [Block::ZERO; 10], channel)
        },
        |channel| {
            Receiver::<SemiHonest>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            channel.send(&[0; 100]).unwrap();
        },
    );
    assert!(matches!(
        sent,
        Err(Error::Channel(ChannelError::MessageLength {
            expected: 2048,
            received: 100
        }))
    ));
}

#[test]
#[should_panic(expected = "a choice for each OT")]
fn too_few_choices() {
    let (_, mut channel) = memory::pair();
    let mut receiver = Receiver::<SemiHonest> {
        columns: Vec::new(),
        rng: Prg::from_seed(Block(0)),
        rows_done: 0,
        model: PhantomData,
    };
    let _ = receiver.correlated(&[Block::ZERO], &mut [Block::ZERO; 129], &mut channel);
}

/// It compiles only if what is secret is wiped when it is dropped.
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |sender: &Sender<Malicious>, receiver: &Receiver<Malicious>| {
        wiped(&sender.delta);
        wiped(&sender.delta());
        wiped(&sender.columns);
        wiped(&receiver.columns);
    };
    let _ = |receiver: &mut Receiver<Malicious>| wiped(&receiver.padded_choices(&[], 0));
}
