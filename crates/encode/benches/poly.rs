//! Polynomials through arbitrary points: `cargo bench -p psijoin-encode --bench poly`.
//!
//! Four slices of values at the same points, as SpOT19's protocols have them, on one thread. The
//! items of a throughput are points.

use divan::{Bencher, counter::ItemsCount};
use psijoin_block::{
    Block, Prg,
    additive_fft::AdditiveFft,
    gf2k::{Element, Field},
};
use psijoin_encode::poly::{Evaluator, Interpolator, Quadratic};
use psijoin_runtime::parallel::Pool;

const SLICES: u64 = 4;

/// Points: few, a set that is one tree, and two that are many.
const COUNTS: [usize; 4] = [64, 2048, 1 << 16, 1 << 20];

/// Points of bins.
const BINS: [usize; 7] = [8, 10, 12, 16, 41, 81, 256];

/// Bins that share an inversion.
const SETS: usize = 5;

fn main() {
    divan::main();
}

fn fft() -> AdditiveFft {
    AdditiveFft::new(Field::new(55))
}

fn random(fft: &AdditiveFft, seed: u64, len: usize) -> Vec<Element> {
    let mut prg = Prg::from_seed(Block(seed.into()));
    (0..len)
        .map(|_| {
            fft.field()
                .from_words([(); 2].map(|()| u64::from_le_bytes(prg.bytes())))
        })
        .collect()
}

fn single_thread() -> Pool {
    Pool::new(1).expect("a thread")
}

#[divan::bench(sample_count = 5, args = COUNTS)]
fn interpolate(bencher: Bencher, count: usize) {
    let (fft, pool) = (fft(), single_thread());
    let points = random(&fft, 0, count);
    bencher
        .counter(ItemsCount::new(count))
        .with_inputs(|| -> Vec<_> { (1..=SLICES).map(|i| random(&fft, i, count)).collect() })
        .bench_local_values(|mut slices| {
            pool.run(|| {
                let interpolator = Interpolator::start(&fft, &points, &mut slices);
                let interpolator = interpolator.expect("distinct points");
                let finished = slices.into_iter().map(|slice| interpolator.finish(slice));
                finished.collect::<Vec<_>>()
            })
        });
}

#[divan::bench(sample_count = 5, args = COUNTS)]
fn evaluate(bencher: Bencher, count: usize) {
    let (fft, pool) = (fft(), single_thread());
    let points = random(&fft, 0, count);
    let polynomials: Vec<_> = (1..=SLICES).map(|i| random(&fft, i, count)).collect();
    bencher
        .counter(ItemsCount::new(points.len()))
        .bench_local(|| {
            pool.run(|| {
                let evaluator = Evaluator::new(&fft, &points, count).expect("fit points");
                let started = polynomials.iter().map(|it| evaluator.start(it)).collect();
                evaluator.finish(started).expect("fit points")
            })
        });
}

#[divan::bench(args = BINS)]
fn interpolate_quadratically(bencher: Bencher, count: usize) {
    let fft = fft();
    let mut quadratic = Quadratic::new(*fft.field());
    let points = random(&fft, 0, SETS * count);
    let mut slices = random(&fft, 1, SLICES as usize * points.len());
    bencher
        .counter(ItemsCount::new(points.len()))
        .bench_local(|| quadratic.interpolate(count, &points, &mut slices));
}

/// Twice as many points as coefficients, as a sender has them.
#[divan::bench(args = BINS)]
fn evaluate_quadratically(bencher: Bencher, count: usize) {
    let fft = fft();
    let mut quadratic = Quadratic::new(*fft.field());
    let points = random(&fft, 0, 2 * count);
    let polynomials = random(&fft, 1, SLICES as usize * count);
    let mut values = random(&fft, 2, SLICES as usize * 2 * count);
    bencher
        .counter(ItemsCount::new(points.len()))
        .bench_local(|| quadratic.evaluate(&points, count, &polynomials, &mut values));
}
