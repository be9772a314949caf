//! Silent vector OLE: `cargo bench -p psijoin-ot --bench vole`.
//!
//! `scaling` has each party alone, on one and on two threads: the other one's messages were
//! recorded before.

use std::thread;

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{
    Prg,
    tower::{Gf64, Subspace, Tower},
};
use psijoin_channel::memory;
use psijoin_ot::{
    BaseOts,
    iknp::{Malicious, Model, SemiHonest},
    vole::{Base, Receiver, Sender, Sent},
};
use psijoin_runtime::{memory::Buffer, parallel::Pool};

const BASE: BaseOts = BaseOts::DiffieHellman;

/// Slots of a set of 2^20 items, about.
const LEN: usize = 1_340_000;

fn main() {
    divan::main();
}

fn single_threaded<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    Pool::new(1).expect("a pool").run(work)
}

fn both<M: Model, B: Base>(bencher: Bencher) {
    bencher.counter(ItemsCount::new(LEN)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                single_threaded(|| {
                    let mut sender = Sender::<M>::setup(BASE, &mut a, &mut Prg::from_os())?;
                    sender.begin::<B>(LEN, &mut a)?.finish(&mut a)
                })
                .expect("an honest peer");
            });
            single_threaded(|| {
                let mut receiver = Receiver::<M>::setup(BASE, &mut b, &mut Prg::from_os())?;
                receiver.begin::<B>(LEN, &mut b)?.finish(&mut b)
            })
            .expect("an honest peer");
        });
    });
}

/// Setup and one call, one thread per party.
#[divan::bench(types = [SemiHonest, Malicious], sample_count = 5)]
fn subfield<M: Model>(bencher: Bencher) {
    both::<M, Gf64>(bencher);
}

/// Setup and one call, one thread per party.
#[divan::bench(types = [SemiHonest, Malicious], sample_count = 5)]
fn subspace<M: Model>(bencher: Bencher) {
    both::<M, Subspace<Tower, 80>>(bencher);
}

/// Setup and one call, one thread per party.
#[divan::bench(types = [SemiHonest, Malicious], sample_count = 5)]
fn field<M: Model>(bencher: Bencher) {
    both::<M, Tower>(bencher);
}

mod scaling {
    use std::vec;

    use psijoin_block::Block;
    use psijoin_channel::{
        AbortCode, Channel, Error, Inbound, Outbound,
        transcript::{Recorder, recorded},
    };

    use super::*;

    const THREADS: [usize; 2] = [1, 2];

    fn pool(threads: usize) -> Pool {
        Pool::new(threads).expect("a pool")
    }

    /// Returns the same generator in each run, so that answers fit the recorded messages.
    fn rng(party: u128) -> Prg {
        Prg::from_seed(Block(party))
    }

    fn sender<M: Model>(channel: &mut Channel) -> Sender<M> {
        Sender::setup(BASE, channel, &mut rng(1)).expect("an honest peer")
    }

    fn receiver<M: Model>(channel: &mut Channel) -> Receiver<M> {
        Receiver::setup(BASE, channel, &mut rng(2)).expect("an honest peer")
    }

    fn send<M: Model, B: Base>(sender: &mut Sender<M>, channel: &mut Channel) -> Sent {
        let granted = sender.begin::<B>(LEN, channel).expect("an honest peer");
        granted.finish(channel).expect("an honest peer")
    }

    fn receive<M: Model, B: Base>(
        receiver: &mut Receiver<M>,
        channel: &mut Channel,
    ) -> (Buffer<B>, Buffer<Tower>) {
        let planted = receiver.begin::<B>(LEN, channel).expect("an honest peer");
        planted.finish(channel).expect("an honest peer")
    }

    /// Records the messages of the sender and of the receiver.
    fn conversation<M: Model, B: Base>() -> (Recorder, Recorder) {
        let (a, b) = memory::pair();
        let (mut a, from_sender) = recorded(a);
        let (mut b, from_receiver) = recorded(b);
        thread::scope(|scope| {
            scope.spawn(|| {
                send::<M, B>(&mut sender(&mut a), &mut a);
            });
            receive::<M, B>(&mut receiver(&mut b), &mut b);
        });
        (from_sender, from_receiver)
    }

    fn bench_sender<M: Model, B: Base>(bencher: Bencher, threads: usize) {
        let (pool, (_, said)) = (pool(threads), conversation::<M, B>());
        bencher
            .counter(ItemsCount::new(LEN))
            .with_inputs(|| {
                let mut channel = replaying(&said);
                (sender::<M>(&mut channel), channel)
            })
            .bench_local_values(|(mut sender, mut channel)| {
                pool.run(|| send::<M, B>(&mut sender, &mut channel))
            });
    }

    fn bench_receiver<M: Model, B: Base>(bencher: Bencher, threads: usize) {
        let (pool, (said, _)) = (pool(threads), conversation::<M, B>());
        bencher
            .counter(ItemsCount::new(LEN))
            .with_inputs(|| {
                let mut channel = replaying(&said);
                (receiver::<M>(&mut channel), channel)
            })
            .bench_local_values(|(mut receiver, mut channel)| {
                pool.run(|| receive::<M, B>(&mut receiver, &mut channel))
            });
    }

    #[divan::bench(args = THREADS, sample_count = 10)]
    fn subfield_sender(bencher: Bencher, threads: usize) {
        bench_sender::<SemiHonest, Gf64>(bencher, threads);
    }

    #[divan::bench(args = THREADS, sample_count = 10)]
    fn subfield_receiver(bencher: Bencher, threads: usize) {
        bench_receiver::<SemiHonest, Gf64>(bencher, threads);
    }

    #[divan::bench(args = THREADS, sample_count = 10)]
    fn malicious_field_sender(bencher: Bencher, threads: usize) {
        bench_sender::<Malicious, Tower>(bencher, threads);
    }

    #[divan::bench(args = THREADS, sample_count = 10)]
    fn malicious_field_receiver(bencher: Bencher, threads: usize) {
        bench_receiver::<Malicious, Tower>(bencher, threads);
    }

    fn replaying(said: &Recorder) -> Channel {
        Channel::new(Nowhere, Replay(said.messages().into_iter()))
    }

    struct Nowhere;

    impl Outbound for Nowhere {
        fn send(&mut self, _: &[u8]) -> Result<(), Error> {
            Ok(())
        }

        fn abort(&mut self, _: AbortCode) {}
    }

    struct Replay(vec::IntoIter<Vec<u8>>);

    impl Inbound for Replay {
        fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
            message.copy_from_slice(&self.0.next().expect("all was recorded"));
            Ok(())
        }
    }
}
