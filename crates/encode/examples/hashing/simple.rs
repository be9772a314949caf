//! Simple hashing (PSZ14 §6.1).

use psijoin_encode::{Digests, SimpleHasher, SimpleTable};
use psijoin_params::simple::{self, Shape};

use crate::{
    published,
    report::{Case, Report},
    runs::{Distribution, Effort, digests},
};

/// Measures PSZ14's Table 10, whose room is the one of α = 2; less room fails often enough to be
/// counted.
pub(crate) fn table_10(effort: Effort, report: &mut Report) {
    const ITEMS: usize = 1 << 18;
    let mut rows = Vec::new();
    for (c, d_plus_one, p_fail) in published::TABLE_10 {
        let bins = published::simple_bins(ITEMS, c);
        let loads = largest_loads(effort.runs(200), ITEMS, bins as u32);
        for alpha in [1.0, 1.5, 2.0] {
            let places = d_plus_one - 2.0 + alpha;
            let shape = Shape {
                bins: bins as u32,
                capacity: (places * bins.ln()) as u32,
            };
            let rate = loads.above(shape.capacity as usize);
            let bound = simple::failure(ITEMS as u64, shape);
            rows.push([
                c.to_string(),
                alpha.to_string(),
                shape.bins.to_string(),
                shape.capacity.to_string(),
                format!("{:.1}nt", places / c),
                rate.to_string(),
                report.bound(&format!("Table 10, c = {c}, α = {alpha}"), rate, bound),
                if alpha == 2.0 { p_fail } else { "–" }.into(),
            ]);
        }
    }
    Report::table(
        "Simple hashing, PSZ14 Table 10: 2^18 = c·b·ln b items, (d_c − 1 + α)·ln b places per bin",
        ["c", "α", "bins", "room", "OTs", "rate", "bound", "PSZ14"],
        &rows,
    );
}

/// Bins that are made too small, so that failures can be counted.
pub(crate) fn against_the_bound(effort: Effort, report: &mut Report) {
    let mut rows = Vec::new();
    for (items, bins, runs) in [
        (1 << 6, 1 << 4, 400_000),
        (1 << 10, 1 << 7, 100_000),
        (1 << 14, 1 << 14, 2_000),
    ] {
        let case = Case {
            items,
            bins,
            needed: largest_loads(effort.runs(runs), items, bins),
            bound: &|capacity| simple::failure(items as u64, Shape { bins, capacity }),
        };
        report.compare(&case, &mut rows);
    }
    Report::table(
        "Simple hashing: a bin has more items than it has room for",
        ["items", "bins", "room", "rate", "bound"],
        &rows,
    );
}

/// Returns the load of the fullest bin.
pub(crate) fn largest_loads(runs: u64, items: usize, bins: u32) -> Distribution {
    let items = digests(items);
    let shape = Shape {
        bins,
        capacity: items.len() as u32,
    };
    Distribution::of(runs, |seed| {
        let mut bin_of = vec![0; items.len()];
        SimpleHasher::new(seed, bins).hash(Digests::Short(&items), &mut bin_of);
        let table = SimpleTable::build(&bin_of, shape).expect("room for all");
        let loads = (0..bins).map(|bin| table.bin(bin).len());
        loads.max().unwrap_or(0)
    })
}
