//! The last steps of `rr22`, each alone, on one and on two threads: the final hash, and sorted
//! masks: `cargo bench -p psijoin-psi --bench masks`.

use std::{hint::black_box, slice};

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg, tower::Tower};
use psijoin_channel::{AbortCode, Error, Inbound, Outbound};
use psijoin_encode::Digests;
use psijoin_psi::{
    output_hash::OutputHash,
    sorted_masks::{Own, SortedMasks, sort},
};
use psijoin_runtime::{
    memory::Buffer,
    parallel::{self, Pool},
};

const ITEMS: usize = 1 << 20;

const THREADS: [usize; 2] = [1, 2];

fn main() {
    divan::main();
}

fn pool(threads: usize) -> Pool {
    Pool::new(threads).expect("a pool")
}

/// Masks as `rr22` has them for a million items per side: of 81 bits.
fn masks() -> SortedMasks {
    SortedMasks::new(ITEMS, 3 << 79)
}

fn hashes(seed: u128) -> Buffer<u128> {
    let mut hashes = Buffer::zeroed(ITEMS);
    Prg::from_seed(Block(seed)).fill(bytemuck::cast_slice_mut(&mut hashes));
    hashes
}

/// H_o of all items, as the receiver computes it.
#[divan::bench(sample_count = 20, args = THREADS)]
fn final_hash(bencher: Bencher, threads: usize) {
    const CHUNK: usize = 1 << 12;
    let hash = OutputHash([7; 32]);
    let mut prg = Prg::from_seed(Block(5));
    let digests: Vec<[u8; 16]> = (0..ITEMS).map(|_| prg.bytes()).collect();
    let values: Vec<Tower> = digests.iter().map(|bytes| bytemuck::cast(*bytes)).collect();
    let mut outputs = vec![0; ITEMS];
    let pool = pool(threads);
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        pool.run(|| {
            parallel::chunks_mut(&mut outputs, CHUNK, &|range, outputs| {
                let digests = Digests::Short(&digests[range.clone()]);
                hash.hash(&values[range], digests, outputs);
            });
        });
    });
}

/// The sender: sorts its hashes.
#[divan::bench(sample_count = 20, args = THREADS)]
fn sender_sort(bencher: Bencher, threads: usize) {
    let (pool, hashes) = (pool(threads), hashes(1));
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| pool.run(|| sort(&hashes)));
}

/// The sender: codes its masks.
#[divan::bench(sample_count = 20, args = THREADS)]
fn sender_code(bencher: Bencher, threads: usize) {
    let (pool, sorted) = (pool(threads), sort(&hashes(1)));
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| pool.run(|| masks().send(&sorted, &mut Nowhere)));
}

/// The receiver: sorts its hashes.
#[divan::bench(sample_count = 20, args = THREADS)]
fn receiver_sort(bencher: Bencher, threads: usize) {
    let (pool, hashes) = (pool(threads), hashes(1));
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| pool.run(|| Own::new(masks(), &hashes)));
}

/// The receiver: decodes masks and compares, where no or all items are shared.
#[divan::bench(sample_count = 20, args = [(1, "none"), (2, "none"), (1, "all"), (2, "all")])]
fn receiver_match(bencher: Bencher, (threads, shared): (usize, &str)) {
    let (pool, hashes, others) = (pool(threads), hashes(1), hashes(2));
    let sent = match shared {
        "all" => &hashes,
        _ => &others,
    };
    let mut messages = Record(Vec::new());
    masks().send(&sort(sent), &mut messages).expect("room");
    let own = Own::new(masks(), &hashes);
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        let mut inbound = Replay(messages.0.iter());
        pool.run(|| masks().receive(&own, &mut inbound))
            .expect("what was sent")
    });
}

struct Nowhere;

impl Outbound for Nowhere {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        black_box(message);
        Ok(())
    }

    fn abort(&mut self, _: AbortCode) {}
}

struct Record(Vec<Vec<u8>>);

impl Outbound for Record {
    fn send(&mut self, message: &[u8]) -> Result<(), Error> {
        self.0.push(message.to_vec());
        Ok(())
    }

    fn abort(&mut self, _: AbortCode) {}
}

struct Replay<'a>(slice::Iter<'a, Vec<u8>>);

impl Inbound for Replay<'_> {
    fn recv(&mut self, message: &mut [u8]) -> Result<(), Error> {
        message.copy_from_slice(self.0.next().expect("all was recorded"));
        Ok(())
    }
}
