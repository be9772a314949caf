//! Time an item, each function on each backend.

use divan::{Bencher, counter::ItemsCount};
use psijoin_curve::{Backend, Scalar};

const ITEMS: usize = 1024;

fn main() {
    divan::main();
}

fn uniform() -> Vec<[u8; 64]> {
    let mut state = 1u64;
    (0..ITEMS)
        .map(|_| {
            std::array::from_fn(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
        })
        .collect()
}

#[divan::bench(args = ["portable", "avx2", "avx512"])]
fn hash_mul_encode(bencher: Bencher, name: &str) {
    let backend = Backend::available().find(|b| b.name() == name).unwrap();
    let uniform = uniform();
    let scalar = Scalar::from_uniform_bytes(&uniform[0]);
    let mut out = vec![[0; 32]; ITEMS];
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| backend.hash_mul_encode(&uniform, &scalar, &mut out));
}

#[divan::bench(args = ["portable", "avx2", "avx512"])]
fn decode_mul_encode(bencher: Bencher, name: &str) {
    let backend = Backend::available().find(|b| b.name() == name).unwrap();
    let uniform = uniform();
    let scalar = Scalar::from_uniform_bytes(&uniform[0]);
    let mut encoded = vec![[0; 32]; ITEMS];
    backend.hash_mul_encode(&uniform, &scalar, &mut encoded);
    let mut out = vec![[0; 32]; ITEMS];
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| backend.decode_mul_encode(&encoded, &scalar, &mut out));
}
