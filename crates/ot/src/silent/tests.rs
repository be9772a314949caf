use std::thread;

use psijoin_channel::{count::counted, memory};

use super::*;
use crate::{
    base::BASE,
    iknp::{Malicious, SemiHonest},
};

const COUNTS: [usize; 4] = [1, 128, 1000, 70_000];

/// Runs both parties, and returns what passed over the channel, sent by the sender first.
fn run<A: Send, B: Send>(
    sender: impl FnOnce(&mut Channel) -> A + Send,
    receiver: impl FnOnce(&mut Channel) -> B + Send,
) -> (A, B, [u64; 2]) {
    let (a, mut b) = memory::pair();
    let (mut a, counters) = counted(a);
    let (sent, received) = thread::scope(|scope| {
        let sender = scope.spawn(|| sender(&mut a));
        let received = receiver(&mut b);
        (sender.join().unwrap(), received)
    });
    let traffic = counters.snapshot();
    (sent, received, [traffic.sent.bytes, traffic.received.bytes])
}

fn choice(chosen: &Chosen, j: usize) -> bool {
    chosen.choices[j / Block::BITS].bit(j % Block::BITS)
}

fn correlated<M: Model>() {
    let ((delta, sent), received, bytes) = run(
        |channel| {
            let mut ots = Sender::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            let rows = COUNTS.map(|count| ots.correlated(count, channel).unwrap());
            (ots.delta(), rows)
        },
        |channel| {
            let mut ots = Receiver::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            COUNTS.map(|count| ots.correlated(count, channel).unwrap())
        },
    );
    for (count, (q, t)) in COUNTS.iter().zip(sent.iter().zip(&received)) {
        assert_eq!((q.len(), t.messages.len()), (*count, *count));
        for j in 0..*count {
            let expected = q[j] ^ (*delta & Block::splat(choice(t, j)));
            assert!(t.messages[j] == expected, "OT {j} of {count}");
        }
    }
    let ones: u32 = received[3].choices.iter().map(|b| b.0.count_ones()).sum();
    // Standard deviation 132.
    assert!(ones.abs_diff(35_000) < 6 * 132, "{ones} of 70,000 choices");
    let announced = [
        setup_sender_bytes(BASE) + COUNTS.map(sender_bytes::<M>).iter().sum::<u64>(),
        setup_receiver_bytes(BASE) + COUNTS.map(receiver_bytes::<M>).iter().sum::<u64>(),
    ];
    assert_eq!(bytes, announced);
}

fn random<M: Model>() {
    let (sent, received, _) = run(
        |channel| {
            let mut ots = Sender::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            COUNTS.map(|count| ots.random(count, channel).unwrap())
        },
        |channel| {
            let mut ots = Receiver::<M>::setup(BASE, channel, &mut Prg::from_os()).unwrap();
            COUNTS.map(|count| ots.random(count, channel).unwrap())
        },
    );
    for (pairs, chosen) in sent.iter().zip(&received) {
        for (j, (pair, message)) in pairs.iter().zip(chosen.messages.iter()).enumerate() {
            let choice = usize::from(choice(chosen, j));
            assert!(*message == pair[choice] && *message != pair[1 - choice]);
        }
    }
    let all = sent.iter().flat_map(|pairs| pairs.iter().flatten());
    let distinct: std::collections::HashSet<_> = all.collect();
    assert_eq!(distinct.len(), 2 * COUNTS.iter().sum::<usize>());
}

#[test]
fn semi_honest() {
    correlated::<SemiHonest>();
    random::<SemiHonest>();
}

#[test]
fn malicious() {
    correlated::<Malicious>();
    random::<Malicious>();
}

/// It compiles only if what is secret is wiped when it is dropped.
#[test]
fn secrets_are_wiped() {
    fn wiped<T: zeroize::ZeroizeOnDrop>(_: &T) {}
    let _ = |sender: &Sender<Malicious>, chosen: &Chosen| {
        wiped(&sender.delta());
        wiped(&chosen.choices);
        wiped(&chosen.messages);
    };
}
