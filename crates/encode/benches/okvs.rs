//! The oblivious key-value store: `cargo bench -p psijoin-encode --bench okvs`.
//!
//! A whole set, on one and on two threads. Rows are computed where they are needed, from digests.

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{
    Block, Prg,
    tower::{Element, Gf64, Subspace, Tower},
};
use psijoin_encode::{
    DigestVec,
    okvs::{Decoder, Encoder, Items, Partition, Row, RowHasher},
};
use psijoin_params::{
    Log2Prob,
    okvs::{Shape, smallest},
};
use psijoin_runtime::{memory::keep_pages, parallel};

const ARGS: [(u32, usize); 4] = [(16, 1), (16, 2), (20, 1), (20, 2)];

fn main() {
    let _kept = keep_pages();
    divan::main();
}

struct Set {
    shape: Shape,
    hasher: RowHasher,
    items: Partition,
}

impl Set {
    fn new(log_items: u32) -> Self {
        let shape = smallest(1 << log_items, Log2Prob::from_log2(-44.0)).expect("a shape");
        let mut prg = Prg::from_seed(Block(5));
        let digests = DigestVec::Short((0..1 << log_items).map(|_| prg.bytes()).collect());
        Self {
            shape,
            hasher: RowHasher::pseudorandom([7; 32], shape),
            items: Partition::new(digests.as_digests(), shape.starts),
        }
    }

    fn bench(&self, bencher: Bencher, threads: usize, kernel: impl Fn(&Self) + Sync) {
        let pool = parallel::Pool::new(threads).expect("threads");
        let counter = ItemsCount::new(self.items.digests().len());
        bencher
            .counter(counter)
            .bench_local(|| pool.run(|| kernel(self)));
    }

    fn encoder<V: Element>(&self) -> Encoder<V> {
        let items = Items::hashed(&self.hasher, &self.items);
        Encoder::new(&items, &mut Prg::from_seed(Block(3))).expect("independent rows")
    }
}

/// Items whose rows are in memory at a time.
const GROUP: usize = 256;

/// Hashes the items of a start, and hands each group to `work`.
fn each_group<V: Element>(set: &Set, start: usize, mut work: impl FnMut(&[Row], &mut [V])) {
    let mut rows = [Row::default(); GROUP];
    let mut values = [V::default(); GROUP];
    for digests in set.items.bin(start).0.chunks(GROUP) {
        let (rows, values) = (&mut rows[..digests.len()], &mut values[..digests.len()]);
        set.hasher.hash(digests, rows, values);
        work(rows, values);
        divan::black_box(values);
    }
}

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn hash<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    let set = Set::new(log_items);
    set.bench(bencher, threads, |set| {
        parallel::for_each(set.items.bins(), &|start| {
            each_group::<V>(set, start, |_, _| ());
        });
    });
}

/// Decides all.
#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn decide<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    Set::new(log_items).bench(bencher, threads, |set| {
        divan::black_box(set.encoder::<V>());
    });
}

/// Decides all, and fills the segments.
#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn encode<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    Set::new(log_items).bench(bencher, threads, |set| {
        let mut encoder = set.encoder::<V>();
        for _ in 0..set.shape.segments() {
            divan::black_box(encoder.next_segment());
        }
    });
}

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn hash_and_decode<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    let set = Set::new(log_items);
    let elements = set.encoder::<V>().into_elements();
    let (columns, slots) = elements.split_at(set.shape.dense as usize);
    let decoder = Decoder::new(set.shape, columns);
    set.bench(bencher, threads, |set| {
        parallel::for_each(set.items.bins(), &|start| {
            decoder.fetch(start, slots);
            each_group(set, start, |rows, values| {
                decoder.decode(start, slots, rows, values);
            });
        });
    });
}
