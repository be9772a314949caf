//! KKRT16, Table 2: the stash beside 1.2n bins and three functions that may agree, by the best
//! placement and by random walks.

use psijoin_params::cuckoo::{self, Shape};

use crate::{
    cuckoo::{most_left_over, three},
    ours, published,
    random_walk::left_over,
    report::{Report, items, power},
    runs::{Distribution, Effort, Rate},
};

/// Items that are hashed in all runs of a row.
const ITEMS_HASHED: u64 = 1 << 23;

/// Tables so small that their stashes are needed often enough to be counted.
pub(crate) fn needed(effort: Effort) {
    let mut rows = Vec::new();
    for log_n in [6, 7, 8, 10, 12] {
        let count = 1_usize << log_n;
        let bins = published::kkrt16_bins(count);
        let runs = effort.runs(ITEMS_HASHED >> log_n);
        let best = most_left_over(runs, count, bins, three);
        rows.push(row(count, "best", runs, &best));
        for most_moves in [1000, 100] {
            let inserter = format!("{most_moves} moves");
            let walked = walks(runs, count, bins, most_moves);
            rows.push(row(count, &inserter, runs, &walked));
        }
    }
    Report::table(
        "Cuckoo hashing, three functions that may agree, 1.2 bins per item: more items than the \
         stash holds find no bin; the stash for 2^-40, if logarithms go on as a line",
        [
            "items", "inserter", "runs", "s = 0", "1", "2", "3", "4", "2^-40", "KKRT16",
        ],
        &rows,
    );
}

fn row(count: usize, inserter: &str, runs: u64, stashes: &Distribution) -> [String; 10] {
    let none = || "–".to_string();
    let rate = |stash| match stashes.above(stash) {
        Rate { failed: 0, .. } => none(),
        rate => power(rate.log2()),
    };
    [
        items(count),
        inserter.into(),
        runs.to_string(),
        rate(0),
        rate(1),
        rate(2),
        rate(3),
        rate(4),
        extrapolated(stashes, -40.0).map_or_else(none, |stash| format!("{stash:.0}")),
        published::kkrt16_stash(count).map_or_else(none, |stash| stash.to_string()),
    ]
}

/// Prints what is proved of the published tables, if the three bins are distinct, and of psijoin's
/// tables.
pub(crate) fn proved() {
    let rows = published::KKRT16_STASHES.map(|(log_n, stash)| {
        let count = 1_usize << log_n;
        let bins = published::kkrt16_bins(count);
        let bound = |stash| power(cuckoo::failure(count as u64, Shape { bins, stash }).log2());
        let ours = ours::cuckoo(count);
        [
            items(count),
            bins.to_string(),
            stash.to_string(),
            bound(stash),
            bound(0),
            ours.bins.to_string(),
            ours.stash.to_string(),
            power(cuckoo::failure(count as u64, ours).log2()),
        ]
    });
    Report::table(
        "KKRT16 Table 2: the bound with its stash and with none, and psijoin's table for 2^-43",
        [
            "items", "bins", "KKRT16", "bound", "s = 0", "psijoin", "stash", "bound",
        ],
        &rows,
    );
}

fn walks(runs: u64, items: usize, bins: u32, most_moves: usize) -> Distribution {
    Distribution::of(runs, |seed| {
        let choices = three(seed, items, bins);
        left_over(&choices, bins, most_moves, u128::from_le_bytes(seed) as u64)
    })
}

/// Returns the stash at which the line through the first and the last rate of ten failures or more
/// meets `log2`.
fn extrapolated(stashes: &Distribution, log2: f64) -> Option<f64> {
    let counted = |stash: &usize| stashes.above(*stash).failed >= 10;
    let last = (1..=stashes.largest()).take_while(counted).last()?;
    let [first_rate, last_rate] = [0, last].map(|stash| stashes.above(stash).log2());
    let fall = (first_rate - last_rate) / last as f64;
    Some(((first_rate - log2) / fall).ceil())
}
