//! The oblivious key-value store: `cargo bench -p psijoin-encode --bench okvs`.
//!
//! All bins of a set, on one and on two threads. `encode` and `decode` read rows from memory;
//! `hash_and_decode` treats items in groups whose rows stay in the first-level cache.

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{
    Block, Prg,
    tower::{Element, Gf64, Subspace, Tower},
};
use psijoin_encode::{
    DigestVec,
    okvs::{Decoder, Encoder, Row, RowHasher},
};
use psijoin_params::{
    Log2Prob,
    okvs::{Shape, smallest},
};
use psijoin_runtime::parallel;

const ARGS: [(u32, usize); 4] = [(16, 1), (16, 2), (20, 1), (20, 2)];

fn main() {
    divan::main();
}

/// A set whose bins are all filled alike.
struct Set<V> {
    shape: Shape,
    hasher: RowHasher,
    bins: Vec<Bin<V>>,
}

struct Bin<V> {
    digests: DigestVec,
    rows: Vec<Row>,
    values: Vec<V>,
    vector: Vec<V>,
}

impl<V: Element> Set<V> {
    fn new(log_items: u32) -> Self {
        let shape = smallest(1 << log_items, Log2Prob::from_log2(-43.0)).expect("a shape");
        let hasher = RowHasher::pseudorandom([7; 32], shape);
        let items = (1 << log_items) / shape.bins as usize;
        let mut prg = Prg::from_seed(Block(5));
        let bins = (0..shape.bins).map(|_| {
            let mut bin = Bin {
                digests: DigestVec::Short((0..items).map(|_| prg.bytes()).collect()),
                rows: vec![Row::default(); items],
                values: vec![V::default(); items],
                vector: vec![V::default(); shape.bin_slots()],
            };
            hasher.hash(bin.digests.as_digests(), &mut bin.rows, &mut bin.values);
            bin
        });
        Self {
            shape,
            bins: bins.collect(),
            hasher,
        }
    }

    /// Runs a kernel on every bin.
    fn bench(
        mut self,
        bencher: Bencher,
        threads: usize,
        kernel: impl Fn(&mut Encoder<V>, &RowHasher, &mut Bin<V>) + Sync,
    ) {
        let pool = parallel::Pool::new(threads).expect("threads");
        let items: usize = self.bins.iter().map(|bin| bin.rows.len()).sum();
        let (shape, hasher, bins) = (self.shape, &self.hasher, &mut self.bins);
        bencher.counter(ItemsCount::new(items)).bench_local(|| {
            pool.run(|| {
                parallel::each_mut_with(bins, &|| Encoder::new(shape), &|_, bin, encoder| {
                    kernel(encoder, hasher, bin);
                });
            });
        });
    }
}

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn hash<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    Set::<V>::new(log_items).bench(bencher, threads, |_, hasher, bin| {
        hasher.hash(bin.digests.as_digests(), &mut bin.rows, &mut bin.values);
    });
}

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn encode<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    Set::<V>::new(log_items).bench(bencher, threads, |encoder, _, bin| {
        let mut prg = Prg::from_seed(Block(3));
        encoder
            .encode_bin(&bin.rows, &bin.values, &mut bin.vector, &mut prg)
            .expect("independent rows");
    });
}

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn decode<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    let set = Set::<V>::new(log_items);
    let shape = set.shape;
    set.bench(bencher, threads, |_, _, bin| {
        Decoder::new(shape, &bin.vector).decode(&bin.rows, &mut bin.values);
    });
}

/// Items whose rows are in memory at a time.
const GROUP: usize = 256;

#[divan::bench(sample_count = 10, args = ARGS, types = [Gf64, Subspace<Tower, 80>, Tower])]
fn hash_and_decode<V: Element>(bencher: Bencher, (log_items, threads): (u32, usize)) {
    let set = Set::<V>::new(log_items);
    let shape = set.shape;
    set.bench(bencher, threads, |_, hasher, bin| {
        let mut rows = [Row::default(); GROUP];
        let mut values = [V::default(); GROUP];
        let decoder = Decoder::new(shape, &bin.vector);
        let digests = bin.digests.as_digests();
        let groups = digests.chunks(GROUP).zip(bin.values.chunks_mut(GROUP));
        for (digests, decoded) in groups {
            let (rows, values) = (&mut rows[..digests.len()], &mut values[..digests.len()]);
            hasher.hash(digests, rows, values);
            decoder.decode(rows, decoded);
        }
    });
}
