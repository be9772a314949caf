//! Polynomials through arbitrary points: `cargo bench -p psijoin-encode --bench poly`.
//!
//! Four slices of values at the same points, as SpOT19's protocols have them, on one thread. The
//! items of a throughput are points. `in_turns`, `slice_and_stream` and `tree_reuse` are the three
//! ways of SpOT19's Figure 8: one party interpolates, the other one evaluates at as many points of
//! its own, and each has a thread.

use std::{sync::mpsc, thread};

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

/// Points of a comparison of ways.
const WAYS: [usize; 2] = [1 << 16, 1 << 20];

type Slices = Vec<Vec<Element>>;

/// The points of both parties, and the values that one of them interpolates.
fn both_parties(fft: &AdditiveFft, count: usize) -> ([Vec<Element>; 2], Slices) {
    let points = [0, 1].map(|party| random(fft, 100 + party, count));
    let slices = (1..=SLICES).map(|i| random(fft, i, count));
    (points, slices.collect())
}

/// Interpolates a slice with a tree of its own.
fn interpolate_one(fft: &AdditiveFft, points: &[Element], slice: Vec<Element>) -> Vec<Element> {
    let mut slices = vec![slice];
    let interpolator = Interpolator::start(fft, points, &mut slices).expect("distinct points");
    interpolator.finish(slices.remove(0))
}

/// Evaluates a slice with a tree of its own.
fn evaluate_one(fft: &AdditiveFft, points: &[Element], polynomial: &[Element]) -> Slices {
    let evaluator = Evaluator::new(fft, points, polynomial.len()).expect("fit points");
    let started = vec![evaluator.start(polynomial)];
    evaluator.finish(started).expect("fit points")
}

/// Both parties, each with a thread: one interpolates and hands over each polynomial, the other
/// takes them.
fn stream<T: Send>(
    interpolate: impl FnOnce(mpsc::Sender<Vec<Element>>) + Send,
    evaluate: impl FnOnce(mpsc::Receiver<Vec<Element>>) -> T + Send,
) -> T {
    let (sender, receiver) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| single_thread().run(|| interpolate(sender)));
        single_thread().run(|| evaluate(receiver))
    })
}

/// All slices are interpolated, and then all are evaluated, each with a tree of its own.
#[divan::bench(sample_count = 3, sample_size = 1, args = WAYS)]
fn in_turns(bencher: Bencher, count: usize) {
    let (fft, pool) = (fft(), single_thread());
    let ([theirs, own], slices) = both_parties(&fft, count);
    bencher
        .with_inputs(|| slices.clone())
        .bench_local_values(|slices| {
            pool.run(|| {
                let polynomials = slices
                    .into_iter()
                    .map(|it| interpolate_one(&fft, &theirs, it));
                let polynomials = Vec::from_iter(polynomials);
                let values = polynomials.iter().map(|it| evaluate_one(&fft, &own, it));
                Vec::from_iter(values)
            })
        });
}

/// Each slice is evaluated while the next one is interpolated, each with a tree of its own.
#[divan::bench(sample_count = 3, sample_size = 1, args = WAYS)]
fn slice_and_stream(bencher: Bencher, count: usize) {
    let fft = fft();
    let ([theirs, own], slices) = both_parties(&fft, count);
    bencher
        .with_inputs(|| slices.clone())
        .bench_local_values(|slices| {
            stream(
                |sender| {
                    for slice in slices {
                        let polynomial = interpolate_one(&fft, &theirs, slice);
                        sender.send(polynomial).expect("the other party listens");
                    }
                },
                |receiver| Vec::from_iter(receiver.iter().map(|it| evaluate_one(&fft, &own, &it))),
            )
        });
}

/// As the protocols do: a party builds its tree once for all slices.
#[divan::bench(sample_count = 3, sample_size = 1, args = WAYS)]
fn tree_reuse(bencher: Bencher, count: usize) {
    let fft = fft();
    let ([theirs, own], slices) = both_parties(&fft, count);
    bencher
        .with_inputs(|| slices.clone())
        .bench_local_values(|mut slices| {
            stream(
                |sender| {
                    let interpolator = Interpolator::start(&fft, &theirs, &mut slices);
                    let interpolator = interpolator.expect("distinct points");
                    for slice in slices {
                        let polynomial = interpolator.finish(slice);
                        sender.send(polynomial).expect("the other party listens");
                    }
                },
                |receiver| {
                    let evaluator = Evaluator::new(&fft, &own, count).expect("fit points");
                    let started = receiver.iter().map(|it| evaluator.start(&it)).collect();
                    evaluator.finish(started).expect("fit points")
                },
            )
        });
}
