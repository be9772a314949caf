//! Hashing items to bins, and placing them: `cargo bench -p psijoin-encode`.

use divan::{Bencher, counter::ItemsCount};
use psijoin_encode::{BinHasher, CHOICES, CuckooTable, DigestVec, TwoChoiceTable};
use psijoin_params::{
    cuckoo::{MIN_BINS_PERCENT, Shape},
    two_choice,
};

const LOG_ITEMS: [u32; 3] = [16, 20, 24];

fn main() {
    divan::main();
}

fn digests(log_items: u32, digest_bytes: usize) -> DigestVec {
    let mut digests = DigestVec::zeroed(1 << log_items, digest_bytes);
    match &mut digests {
        DigestVec::Short(digests) => number(digests),
        DigestVec::Long(digests) => number(digests),
    }
    digests
}

fn number<const D: usize>(digests: &mut [[u8; D]]) {
    for (item, digest) in (0_u64..).zip(digests) {
        digest[..8].copy_from_slice(&item.to_le_bytes());
    }
}

fn shape(log_items: u32) -> Shape {
    let bins = ((1u64 << log_items) * MIN_BINS_PERCENT).div_ceil(100);
    Shape {
        bins: bins as u32,
        stash: 0,
    }
}

#[divan::bench(sample_count = 10, args = LOG_ITEMS, consts = [16, 32])]
fn hash<const D: usize>(bencher: Bencher, log_items: u32) {
    let digests = digests(log_items, D);
    let digests = digests.as_digests();
    let hasher = BinHasher::new([3; 16], shape(log_items).bins);
    let mut choices = vec![[0; CHOICES]; digests.len()];
    bencher
        .counter(ItemsCount::new(digests.len()))
        .bench_local(|| hasher.hash(digests, &mut choices));
}

#[divan::bench(sample_count = 10, args = LOG_ITEMS)]
fn place(bencher: Bencher, log_items: u32) {
    let shape = shape(log_items);
    let digests = digests(log_items, 16);
    let digests = digests.as_digests();
    let mut choices = vec![[0; CHOICES]; digests.len()];
    BinHasher::new([3; 16], shape.bins).hash(digests, &mut choices);
    bencher
        .counter(ItemsCount::new(digests.len()))
        .bench_local(|| CuckooTable::build(&choices, shape).expect("these items fit"));
}

/// In the bins of `psz-balanced`: three places each, four in five of them taken.
#[divan::bench(sample_count = 3, args = LOG_ITEMS)]
fn place_in_two_bins(bencher: Bencher, log_items: u32) {
    let digests = digests(log_items, 16);
    let digests = digests.as_digests();
    let shape = two_choice::Shape {
        bins: (0.406 * digests.len() as f64) as u32,
        capacity: 3,
    };
    let mut choices = vec![[0; CHOICES]; digests.len()];
    BinHasher::new([3; 16], shape.bins).hash(digests, &mut choices);
    let choices: Vec<[u32; 2]> = choices.into_iter().map(|[a, b, _]| [a, b]).collect();
    bencher
        .counter(ItemsCount::new(digests.len()))
        .bench_local(|| TwoChoiceTable::build(&choices, shape).expect("these items fit"));
}
