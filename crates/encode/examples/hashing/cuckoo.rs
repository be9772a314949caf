//! Cuckoo hashing with two and three functions, with and without a stash.

use psijoin_encode::{BinHasher, CHOICES, CuckooTable, Digests, SimpleHasher};
use psijoin_params::cuckoo::{self, Shape};

use crate::{
    published,
    report::{Case, Report, items, power},
    runs::{Distribution, Effort, digests},
};

/// Three bins for each item; an item with two names the second twice.
type Choices = Vec<[u32; CHOICES]>;

type Hash = fn([u8; 16], usize, u32) -> Choices;

/// Measures tables with three distinct bins per item that are made too small, so that failures can
/// be counted.
pub(crate) fn against_the_bound(effort: Effort, report: &mut Report) {
    let mut rows = Vec::new();
    for (items, bins, runs) in [
        (8, 8, 400_000),
        (8, 11, 400_000),
        (16, 18, 400_000),
        (32, 40, 200_000),
        (1 << 8, 290, 40_000),
    ] {
        let case = Case {
            items,
            bins,
            needed: most_left_over(effort.runs(runs), items, bins, distinct),
            bound: &|stash| cuckoo::failure(items as u64, Shape { bins, stash }),
        };
        report.compare(&case, &mut rows);
    }
    Report::table(
        "Cuckoo hashing, three distinct bins: more items than the stash holds find no bin",
        ["items", "bins", "stash", "rate", "bound"],
        &rows,
    );
}

/// Measures tables with two functions (PSZ14, Appendix E).
pub(crate) fn two_functions(effort: Effort) {
    let mut rows = Vec::new();
    for (log_n, runs) in [
        (4, 400_000),
        (6, 200_000),
        (8, 100_000),
        (10, 40_000),
        (12, 4_000),
    ] {
        let count = 1_usize << log_n;
        let bins = published::two_function_bins(count);
        let left_over = most_left_over(effort.runs(runs), count, bins, two);
        for stash in 0..=left_over.largest() {
            rows.push([
                items(count),
                bins.to_string(),
                stash.to_string(),
                left_over.above(stash).to_string(),
                power(published::two_function_failure_log2(count, stash)),
            ]);
        }
    }
    Report::table(
        "Cuckoo hashing, two functions, 2.4 bins per item: more items than the stash holds find no bin",
        ["items", "bins", "stash", "rate", "PSZ14: n^-s"],
        &rows,
    );
}

/// Returns three distinct bins, as the protocols have them.
fn distinct(seed: [u8; 16], items: usize, bins: u32) -> Choices {
    let mut choices = vec![[0; CHOICES]; items];
    BinHasher::new(seed, bins).hash(Digests::Short(&digests(items)), &mut choices);
    choices
}

/// Returns three functions that may agree, as those of the papers.
pub(crate) fn three(seed: [u8; 16], items: usize, bins: u32) -> Choices {
    let digests = digests(items);
    let mut choices = vec![[0; CHOICES]; items];
    let mut of_function = vec![0; items];
    for function in 0..CHOICES {
        let mut seed = seed;
        seed[15] = function as u8;
        SimpleHasher::new(seed, bins).hash(Digests::Short(&digests), &mut of_function);
        for (choice, bin) in choices.iter_mut().zip(&of_function) {
            choice[function] = *bin;
        }
    }
    choices
}

/// Returns two of these.
pub(crate) fn two(seed: [u8; 16], items: usize, bins: u32) -> Choices {
    let mut choices = three(seed, items, bins);
    choices.iter_mut().for_each(|choice| choice[2] = choice[1]);
    choices
}

/// Returns how many items find no bin in each run, though as many as possible do.
pub(crate) fn most_left_over(runs: u64, items: usize, bins: u32, hash: Hash) -> Distribution {
    Distribution::of(runs, |seed| left_over(&hash(seed, items, bins), bins))
}

/// Returns how many items find no bin.
pub(crate) fn left_over(choices: &[[u32; CHOICES]], bins: u32) -> usize {
    let shape = Shape {
        bins,
        stash: choices.len() as u32,
    };
    let table = CuckooTable::build(choices, shape);
    table.expect("room for all").stash().len()
}
