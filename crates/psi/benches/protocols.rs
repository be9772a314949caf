//! Whole protocols, both parties in one process, one thread each, half of the items shared:
//! `cargo bench -p psijoin-psi --bench protocols -- cm20`.

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg};
use psijoin_psi::{Fingerprint, Output, OutputKind, Request, pair, registry};

/// Those that take no more than seconds for a million items.
const FAST: [&str; 8] = [
    "kkrt",
    "spot-fast",
    "spot-low",
    "spot-low-malicious-sender",
    "cm20",
    "cm20-malicious-sender",
    "rr22",
    "rr22-circuit",
];

/// Those that take 185 oblivious transfers an item.
const ON_BLOOM_FILTERS: [&str; 4] = ["gbf", "gbf-silent", "random-gbf", "random-gbf-silent"];

/// Those that evaluate circuits, of thousands of gates an item.
const CIRCUITS: [&str; 4] = [
    "circuit-yao",
    "circuit-gmw",
    "circuit-gmw-vector",
    "circuit-gmw-vector-silent",
];

fn main() {
    divan::main();
}

fn fingerprints(count: usize) -> Vec<Fingerprint> {
    let mut fingerprints = vec![[0; 32]; count];
    Prg::from_seed(Block(1)).fill_bytes(fingerprints.as_flattened_mut());
    fingerprints
}

#[divan::bench(args = FAST, consts = [65_536, 1_048_576], sample_count = 5, sample_size = 1)]
fn protocol<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(args = ON_BLOOM_FILTERS, consts = [16_384, 65_536], sample_count = 5, sample_size = 1)]
fn on_bloom_filter<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(args = CIRCUITS, consts = [1024, 4096, 16_384, 65_536], sample_count = 3, sample_size = 1)]
fn circuit<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Rows);
}

#[divan::bench(args = CIRCUITS, consts = [16_384], sample_count = 3, sample_size = 1)]
fn count<const ITEMS: usize>(bencher: Bencher, name: &str) {
    measure(bencher, ITEMS, name, OutputKind::Count);
}

/// Item digests, base OTs and all.
fn measure(bencher: Bencher, items: usize, name: &str, output: OutputKind) {
    let all = fingerprints(items * 3 / 2);
    let (sender, receiver) = (&all[..items], &all[items / 2..]);
    let protocol = registry::find(name).expect("it is registered");
    let request = Request {
        output,
        ..Request::rows(items as u64, items as u64).expect("a valid request")
    };
    let plan = registry::plan(protocol, &request).expect("a plan");
    bencher.counter(ItemsCount::new(items)).bench_local(|| {
        let outcome = pair::run(&*plan, sender, receiver).expect("a result");
        let learned = match outcome.receiver {
            Output::Rows(rows) => rows.len() as u64,
            Output::Count(count) => count,
            other => panic!("rows or a count, and not {other:?}"),
        };
        assert_eq!(learned, items as u64 / 2);
    });
}
