//! Time per item: every function on every backend of this processor, and the operations of
//! `curve25519-dalek` that each replaces. `cargo bench -p psijoin-curve`.
//!
//! `scaling` shares the work among the threads of a pool, as a party of the `dh` protocol does:
//! `cargo bench -p psijoin-curve -- scaling`.

use std::hint::black_box;

use curve25519_dalek::{
    Scalar as DalekScalar,
    ristretto::{CompressedRistretto, RistrettoPoint},
};
use divan::{Bencher, counter::ItemsCount};
use psijoin_curve::{Backend, FixedBase, Scalar};
use psijoin_runtime::parallel::{self, Pool};

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
fn map_mul_encode(bencher: Bencher, name: &str) {
    let (backend, scalar) = (named(name), scalar());
    let bytes: Vec<[u8; 32]> = uniform()
        .iter()
        .map(|uniform| uniform[..32].try_into().unwrap())
        .collect();
    let mut out = vec![[0; 32]; ITEMS];
    bencher
        .counter(ItemsCount::new(ITEMS))
        .bench_local(|| backend.map_mul_encode(black_box(&bytes), &scalar, &mut out));
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

#[divan::bench(args = names())]
fn decode_add_hash_mul_encode(bencher: Bencher, name: &str) {
    let (backend, uniform, scalar) = (named(name), uniform(), scalar());
    let mut encoded = vec![[0; 32]; ITEMS];
    backend.hash_mul_encode(&uniform, &scalar, &mut encoded);
    let mut out = vec![[0; 32]; ITEMS];
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        backend.decode_add_hash_mul_encode(black_box(&encoded), &uniform, &scalar, &mut out)
    });
}

mod fixed_base {
    use super::*;

    fn base(backend: Backend) -> FixedBase {
        backend
            .fixed_base(
                RistrettoPoint::from_uniform_bytes(&[7; 64])
                    .compress()
                    .as_bytes(),
            )
            .unwrap()
    }

    fn scalars() -> Vec<Scalar> {
        uniform().iter().map(Scalar::from_uniform_bytes).collect()
    }

    #[divan::bench(args = names())]
    fn prepare(bencher: Bencher, name: &str) {
        bencher.bench(|| base(black_box(named(name))));
    }

    #[divan::bench(args = names())]
    fn mul_encode(bencher: Bencher, name: &str) {
        let (base, scalars) = (base(named(name)), scalars());
        let mut out = vec![[0; 32]; ITEMS];
        bencher
            .counter(ItemsCount::new(ITEMS))
            .bench_local(|| base.mul_encode(black_box(&scalars), &mut out));
    }

    #[divan::bench(args = names())]
    fn mul_sub_hash_encode(bencher: Bencher, name: &str) {
        let (base, scalars, uniform) = (base(named(name)), scalars(), uniform());
        let mut out = vec![[0; 32]; ITEMS];
        bencher
            .counter(ItemsCount::new(ITEMS))
            .bench_local(|| base.mul_sub_hash_encode(black_box(&scalars), &uniform, &mut out));
    }
}

mod scaling {
    use super::*;

    const ITEMS: usize = 1 << 14;

    /// As many as a task of `dh` takes.
    const ITEMS_PER_TASK: usize = 256;

    fn pool(threads: usize) -> Pool {
        Pool::new(threads).expect("a pool")
    }

    fn uniform() -> Vec<[u8; 64]> {
        let mut uniform = vec![[0x5a; 64]; ITEMS];
        for (k, bytes) in uniform.iter_mut().enumerate() {
            bytes[..8].copy_from_slice(&k.to_le_bytes());
        }
        uniform
    }

    fn hash(uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
        let scalar = scalar();
        parallel::chunks_mut(out, ITEMS_PER_TASK, &|range, out| {
            psijoin_curve::hash_mul_encode(&uniform[range], &scalar, out);
        });
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn hash_mul_encode(bencher: Bencher, threads: usize) {
        let (pool, uniform, mut out) = (pool(threads), uniform(), vec![[0; 32]; ITEMS]);
        bencher
            .counter(ItemsCount::new(ITEMS))
            .bench_local(|| pool.run(|| hash(&uniform, &mut out)));
    }

    #[divan::bench(args = [1, 2], sample_count = 20)]
    fn decode_mul_encode(bencher: Bencher, threads: usize) {
        let (pool, mut encoded, mut out) =
            (pool(threads), vec![[0; 32]; ITEMS], vec![[0; 32]; ITEMS]);
        hash(&uniform(), &mut encoded);
        let scalar = scalar();
        bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
            pool.run(|| {
                parallel::chunks_mut(&mut out, ITEMS_PER_TASK, &|range, out| {
                    psijoin_curve::decode_mul_encode(&encoded[range], &scalar, out)
                        .expect("they were just encoded");
                });
            })
        });
    }
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
