//! Two bins per item, of several places each: balanced allocations (PSZ14 §6.1), where each item
//! goes to the emptier of its bins, and 2-choice hashing (SpOT19 §4.2), where items move on.

use psijoin_block::Block;
use psijoin_encode::{BinHasher, CHOICES, Digests, TwoChoiceHasher, TwoChoiceTable};
use psijoin_params::two_choice::{self, Shape};

use crate::{
    report::{Case, Report, items},
    runs::{Distribution, Effort, digests},
};

type Choices = Vec<[u32; 2]>;

/// Bins that are made too small, so that failures can be counted.
pub(crate) fn against_the_bound(effort: Effort, report: &mut Report) {
    let sizes = [
        (4, 8, 100_000),
        (6, 14, 100_000),
        (8, 8, 100_000),
        (16, 8, 100_000),
        (16, 16, 100_000),
        (20, 12, 100_000),
        (32, 16, 100_000),
    ];
    let mut rows = [Vec::new(), Vec::new()];
    for (items, bins, runs) in sizes {
        let runs = effort.runs(runs);
        let shape = |capacity| Shape { bins, capacity };
        let may_agree = Case {
            items,
            bins,
            needed: capacities(runs, items, bins, may_agree),
            bound: &|capacity| two_choice::failure(items as u64, shape(capacity)),
        };
        let distinct = Case {
            items,
            bins,
            needed: capacities(runs, items, bins, distinct),
            bound: &|capacity| two_choice::failure_distinct(items as u64, shape(capacity)),
        };
        for (case, rows) in [may_agree, distinct].iter().zip(&mut rows) {
            report.compare(case, rows);
        }
    }
    for (title, rows) in ["that may agree", "distinct bins"].iter().zip(rows) {
        Report::table(
            &format!("2-choice hashing, {title}: no placement keeps to the room of the bins"),
            ["items", "bins", "room", "rate", "bound"],
            &rows,
        );
    }
}

/// Measures n/40 bins with one place more than the mean (SpOT19, §4.2).
pub(crate) fn spot19(effort: Effort, report: &mut Report) {
    let mut rows = Vec::new();
    for (log_n, runs) in [(11, 2_000), (14, 200), (17, 20)] {
        let count = 1_usize << log_n;
        let bins = count.div_ceil(40) as u32;
        let mean = count.div_ceil(bins as usize);
        let needed = capacities(effort.runs(runs), count, bins, may_agree);
        for capacity in [mean, mean + 1] {
            let shape = Shape {
                bins,
                capacity: capacity as u32,
            };
            let rate = needed.above(capacity);
            let bound = two_choice::failure(count as u64, shape);
            rows.push([
                items(count),
                bins.to_string(),
                capacity.to_string(),
                rate.to_string(),
                report.bound(&format!("SpOT19, {count} items"), rate, bound),
            ]);
        }
    }
    Report::table(
        "2-choice hashing, SpOT19 §4.2: 40 items per bin, room for ⌈n/m⌉ and for one more",
        ["items", "bins", "room", "rate", "bound"],
        &rows,
    );
}

/// Returns bins of psz-balanced.
pub(crate) fn distinct(seed: [u8; 16], items: usize, bins: u32) -> Choices {
    let mut choices = vec![[0; CHOICES]; items];
    BinHasher::new(seed, bins).hash(Digests::Short(&digests(items)), &mut choices);
    choices
        .into_iter()
        .map(|[first, second, _]| [first, second])
        .collect()
}

/// Returns bins of spot-fast.
fn may_agree(seed: [u8; 16], items: usize, bins: u32) -> Choices {
    let blocks: Vec<Block> = (0..items as u128).map(Block).collect();
    let mut choices = vec![[0; 2]; items];
    TwoChoiceHasher::new(seed, bins).hash(&blocks, &mut choices);
    choices
}

/// Returns how many places each bin must have for the best placement.
fn capacities(
    runs: u64,
    items: usize,
    bins: u32,
    hash: fn([u8; 16], usize, u32) -> Choices,
) -> Distribution {
    let fewest = items.div_ceil(bins as usize);
    Distribution::of(runs, |seed| {
        let choices = hash(seed, items, bins);
        let fits = |capacity: &usize| {
            let capacity = *capacity as u32;
            TwoChoiceTable::build(&choices, Shape { bins, capacity }).is_ok()
        };
        (fewest..).find(fits).expect("room for all")
    })
}

/// Returns the fullest bin where each item goes to the emptier one, and stays there.
pub(crate) fn greedy_loads(runs: u64, items: usize, bins: u32) -> Distribution {
    Distribution::of(runs, |seed| {
        let mut loads = vec![0; bins as usize];
        for bins in may_agree(seed, items, bins) {
            let emptier = bins.into_iter().min_by_key(|bin| loads[*bin as usize]);
            loads[emptier.expect("two bins") as usize] += 1;
        }
        loads.into_iter().max().unwrap_or(0)
    })
}
