//! Base OT and OT extension, both parties over an in-memory channel, a thread each:
//! `cargo bench -p psijoin-ot`. On one core (`taskset -c 0`) it is the work of both.

use std::thread;

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg};
use psijoin_channel::memory;
use psijoin_ot::{
    BaseOts,
    iknp::{Malicious, Model, Receiver, SemiHonest, Sender},
};
use psijoin_runtime::parallel::Pool;

fn main() {
    divan::main();
}

fn single_threaded<R: Send>(work: impl FnOnce() -> R + Send) -> R {
    Pool::new(1).expect("a pool").run(work)
}

const BASE: BaseOts = BaseOts::DiffieHellman;

#[divan::bench(args = [128, 433])]
fn base_ot(bencher: Bencher, count: usize) {
    base_ots(bencher, BASE, count);
}

#[divan::bench]
fn base_ot_by_ml_kem(bencher: Bencher) {
    base_ots(bencher, BaseOts::MlKem, 128);
}

fn base_ots(bencher: Bencher, base: BaseOts, count: usize) {
    let choices: Vec<bool> = (0..count).map(|j| j % 3 == 0).collect();
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        thread::scope(|scope| {
            let sender = scope
                .spawn(move || single_threaded(|| base.send(count, &mut a, &mut Prg::from_os())));
            let received = single_threaded(|| base.receive(&choices, &mut b, &mut Prg::from_os()));
            (sender.join().expect("no panic"), received)
        })
    });
}

/// Base OTs and `count` random OTs.
#[divan::bench(types = [SemiHonest, Malicious], consts = [22, 24], sample_count = 5)]
fn random_iknp<M: Model, const LOG2: u32>(bencher: Bencher) {
    let count = 1_usize << LOG2;
    let mut pairs = vec![[Block::ZERO; 2]; count];
    let mut chosen = vec![Block::ZERO; count];
    let mut choices = vec![Block::ZERO; count / 128];
    Prg::from_os().fill(&mut choices);
    bencher.counter(ItemsCount::new(count)).bench_local(|| {
        let (mut a, mut b) = memory::pair();
        let (pairs, chosen, choices) = (&mut pairs, &mut chosen, &choices);
        thread::scope(|scope| {
            scope.spawn(move || {
                single_threaded(|| {
                    let mut ots = Sender::<M>::setup(BASE, &mut a, &mut Prg::from_os())?;
                    ots.random(pairs, &mut a)
                })
                .expect("an honest peer");
            });
            single_threaded(|| {
                let mut ots = Receiver::<M>::setup(BASE, &mut b, &mut Prg::from_os())?;
                ots.random(choices, chosen, &mut b)
            })
            .expect("an honest peer");
        });
    });
}
