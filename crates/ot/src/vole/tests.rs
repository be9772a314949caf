use std::thread;

use psijoin_block::Block;
use psijoin_channel::{count::counted, memory};

use super::*;
use crate::iknp::Malicious;

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

type Sent = (Tower, Vec<Buffer<Tower>>);
type Received<B> = Vec<(Buffer<B>, Buffer<Tower>)>;

fn vole<M: Model, B: Base>(
    channels: (Channel, Channel),
    lens: &[usize],
) -> (Result<Sent, Error>, Result<Received<B>, Error>) {
    run(
        channels,
        |channel| {
            let mut sender = Sender::<M>::setup(channel, &mut seeded(1))?;
            let delta = sender.delta();
            let vectors = lens.iter().map(|len| sender.extend::<B>(*len, channel));
            Ok((delta, vectors.collect::<Result<_, _>>()?))
        },
        |channel| {
            let mut receiver = Receiver::<M>::setup(channel, &mut seeded(2))?;
            let vectors = lens.iter().map(|len| receiver.extend::<B>(*len, channel));
            vectors.collect()
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
        for i in 0..*len {
            assert!(c[i] == b[i] ^ (delta * a[i].into()), "entry {i} of {len}");
            assert!(seen.insert(bytemuck::cast::<_, u128>(b[i])));
        }
    }
}

#[test]
fn semi_honest() {
    correlation_holds::<SemiHonest, Gf64>();
    correlation_holds::<SemiHonest, Tower>();
}

#[test]
fn malicious() {
    correlation_holds::<Malicious, Gf64>();
    correlation_holds::<Malicious, Tower>();
}

fn bytes<M: Model, B: Base>(flights: u64) {
    let (a, b) = memory::pair();
    let (a, counters) = counted(a);
    let len = 70_000;
    let (sent, received) = vole::<M, B>((a, b), &[len]);
    assert!(sent.is_ok() && received.is_ok());
    let traffic = counters.snapshot();
    assert_eq!(
        traffic.sent.bytes,
        SETUP_SENDER_BYTES + sender_bytes::<M, B>(len)
    );
    assert_eq!(
        traffic.received.bytes,
        SETUP_RECEIVER_BYTES + receiver_bytes::<M, B>(len)
    );
    // The setup is one round of both parties and a flight of the receiver, which goes on.
    assert_eq!(traffic.rounds, 1 + flights);
}

#[test]
fn bytes_and_rounds_are_as_announced() {
    bytes::<SemiHonest, Gf64>(2);
    bytes::<SemiHonest, Tower>(2);
    bytes::<Malicious, Gf64>(6);
    bytes::<Malicious, Tower>(6);
}
