//! Silent vector OLE: `cargo bench -p psijoin-ot --bench vole`.

use std::thread;

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{
    Prg,
    tower::{Gf64, Tower},
};
use psijoin_channel::memory;
use psijoin_ot::{
    iknp::{Malicious, Model, SemiHonest},
    vole::{Base, Receiver, Sender},
};

/// Slots of a set of 2^20 items, about.
const LEN: usize = 1_340_000;

fn main() {
    divan::main();
}

fn single_threaded<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .expect("a pool")
        .install(work)
}

fn both<M: Model, B: Base>(bencher: Bencher) {
    bencher.counter(ItemsCount::new(LEN)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        thread::scope(|scope| {
            scope.spawn(move || {
                single_threaded(|| {
                    let mut sender = Sender::<M>::setup(&mut a, &mut Prg::from_os())?;
                    sender.extend::<B>(LEN, &mut a)
                })
                .expect("an honest peer");
            });
            single_threaded(|| {
                let mut receiver = Receiver::<M>::setup(&mut b, &mut Prg::from_os())?;
                receiver.extend::<B>(LEN, &mut b)
            })
            .expect("an honest peer");
        });
    });
}

/// Setup and one call, a thread a party.
#[divan::bench(types = [SemiHonest, Malicious], sample_count = 5)]
fn subfield<M: Model>(bencher: Bencher) {
    both::<M, Gf64>(bencher);
}

/// Setup and one call, a thread a party.
#[divan::bench(types = [SemiHonest, Malicious], sample_count = 5)]
fn field<M: Model>(bencher: Bencher) {
    both::<M, Tower>(bencher);
}
