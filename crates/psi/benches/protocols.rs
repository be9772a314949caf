//! Whole protocols, both parties in one process, one thread each, half of the items shared:
//! `cargo bench -p psijoin-psi --bench protocols -- cm20`.

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{Block, Prg};
use psijoin_psi::{Fingerprint, Output, Request, pair, registry};

/// Those that take no more than half a minute for a million items.
const PROTOCOLS: [&str; 11] = [
    "gbf",
    "gbf-silent",
    "random-gbf",
    "random-gbf-silent",
    "kkrt",
    "spot-fast",
    "spot-low",
    "spot-low-malicious-sender",
    "cm20",
    "cm20-malicious-sender",
    "rr22",
];

fn main() {
    divan::main();
}

fn fingerprints(count: usize) -> Vec<Fingerprint> {
    let mut fingerprints = vec![[0; 32]; count];
    Prg::from_seed(Block(1)).fill_bytes(fingerprints.as_flattened_mut());
    fingerprints
}

/// Item digests, base OTs and all.
#[divan::bench(args = PROTOCOLS, consts = [65_536, 1_048_576], sample_count = 5, sample_size = 1)]
fn protocol<const ITEMS: usize>(bencher: Bencher, name: &str) {
    let all = fingerprints(ITEMS * 3 / 2);
    let (sender, receiver) = (&all[..ITEMS], &all[ITEMS / 2..]);
    let protocol = registry::find(name).expect("it is registered");
    let request = Request::rows(ITEMS as u64, ITEMS as u64).expect("a valid request");
    let plan = registry::plan(protocol, &request).expect("a plan");
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        let outcome = pair::run(&*plan, sender, receiver).expect("a result");
        let Output::Rows(rows) = outcome.receiver else {
            panic!("the receiver learns rows");
        };
        assert_eq!(rows.len(), ITEMS / 2);
    });
}
