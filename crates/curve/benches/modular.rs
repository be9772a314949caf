//! Time per item of powers modulo large numbers, on every backend of this processor; the portable
//! one is `crypto-bigint`. `cargo bench -p psijoin-curve --bench modular`.

use std::hint::black_box;

use crypto_bigint::{Odd, U1536, U3072, Uint};
use divan::{Bencher, counter::ItemsCount};
use psijoin_curve::{Backend, modular::Modulus};

const ITEMS: usize = 16;

fn main() {
    divan::main();
}

fn names() -> impl Iterator<Item = &'static str> {
    Backend::available().map(Backend::name)
}

fn power<const WORDS: usize, const LIMBS: usize>(bencher: Bencher, name: &str, exponent_bits: u32) {
    let backend = Backend::available()
        .find(|backend| backend.name() == name)
        .unwrap();
    let modulus = Odd::new(Uint::<WORDS>::MAX.wrapping_sub(&Uint::from_u32(0x1_2344))).unwrap();
    let modulus = Modulus::<WORDS, LIMBS>::new(modulus).unwrap();
    let bases = vec![Uint::MAX.shr_vartime(1); ITEMS];
    let exponent = U1536::MAX.shr_vartime(U1536::BITS - exponent_bits);
    let mut out = vec![Uint::ZERO; ITEMS];
    bencher.counter(ItemsCount::new(ITEMS)).bench_local(|| {
        modulus.pow_on(
            backend,
            black_box(&bases),
            &exponent,
            exponent_bits,
            &mut out,
        )
    });
}

/// Half of an RSA signature: modulo a prime of 1,536 bits, the exponent as long.
#[divan::bench(args = names())]
fn rsa_half(bencher: Bencher, name: &str) {
    power::<{ U1536::LIMBS }, 31>(bencher, name, U1536::BITS);
}

/// The short exponent of a group of 3,072 bits.
#[divan::bench(args = names())]
fn short_exponent(bencher: Bencher, name: &str) {
    power::<{ U3072::LIMBS }, 61>(bencher, name, 276);
}

/// The public exponent of RSA, 2^16 + 1.
#[divan::bench(args = names())]
fn public_exponent(bencher: Bencher, name: &str) {
    power::<{ U3072::LIMBS }, 61>(bencher, name, 17);
}
