//! Time an item: both functions on every backend of this processor, and the operations of
//! `curve25519-dalek` that each replaces. `cargo bench -p psijoin-curve`.

use std::hint::black_box;

use curve25519_dalek::{
    Scalar as DalekScalar,
    ristretto::{CompressedRistretto, RistrettoPoint},
};
use divan::{Bencher, counter::ItemsCount};
use psijoin_curve::{Backend, Scalar};

const ITEMS: usize = 256;

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    Backend::available().map(Backend::name)
}

fn named(name: &str) -> Backend {
    Backend::available()
        .find(|backend| backend.name() == name)
        .unwrap()
}

/// Different bytes for every item.
fn uniform() -> Vec<[u8; 64]> {
    (0..ITEMS)
        .map(|item| std::array::from_fn(|k| (item * 151 + (k + 1) * 59) as u8))
        .collect()
}

fn scalar() -> Scalar {
    Scalar::from_uniform_bytes(&[0x5a; 64])
}

#[divan::bench(args = names())]
fn hash_mul_encode(bencher: Bencher, name: &str) {
    let (backend, uniform, scalar) = (named(name), uniform(), scalar());
    let mut out = vec![[0; 32]; ITEMS];
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| backend.hash_mul_encode(black_box(&uniform), &scalar, &mut out));
}

#[divan::bench(args = names())]
fn decode_mul_encode(bencher: Bencher, name: &str) {
    let (backend, scalar) = (named(name), scalar());
    let mut encoded = vec![[0; 32]; ITEMS];
    backend.hash_mul_encode(&uniform(), &scalar, &mut encoded);
    let mut out = vec![[0; 32]; ITEMS];
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| backend.decode_mul_encode(black_box(&encoded), &scalar, &mut out));
}

mod dalek {
    use super::*;

    fn point() -> RistrettoPoint {
        RistrettoPoint::from_uniform_bytes(&[7; 64])
    }

    #[divan::bench]
    fn hash() -> RistrettoPoint {
        RistrettoPoint::from_uniform_bytes(black_box(&[7; 64]))
    }

    #[divan::bench]
    fn mul(bencher: Bencher) {
        let scalar = DalekScalar::from_bytes_mod_order([0x5a; 32]);
        bencher
            .with_inputs(point)
            .bench_values(|point| point * scalar);
    }

    #[divan::bench]
    fn encode(bencher: Bencher) {
        bencher
            .with_inputs(point)
            .bench_values(|point| point.compress());
    }

    #[divan::bench]
    fn decode(bencher: Bencher) {
        let encoded: CompressedRistretto = point().compress();
        bencher.bench(|| black_box(&encoded).decompress());
    }
}
