//! Formulas and figures as papers print them. Nothing of psijoin rests on them.

/// PSZ14, Table 10: c, its d_c (which is the d_c + 1 of the text, for α = 2), and P_fail of 10^5
/// runs.
pub(crate) const TABLE_10: [(f64, f64, &str); 6] = [
    (0.25, 2.2, "0"),
    (0.5, 2.8, "0"),
    (1.0, 3.7, "0"),
    (2.0, 5.3, "0.4 %"),
    (4.0, 8.1, "2.1 %"),
    (8.0, 13.3, "100 %"),
];

/// KKRT16, Table 2: log2 n, and places in the stash beside 1.2n bins.
pub(crate) const KKRT16_STASHES: [(u32, u32); 5] = [(8, 12), (12, 6), (16, 4), (20, 3), (24, 2)];

/// Returns the stash of that table for this many items.
pub(crate) fn kkrt16_stash(items: usize) -> Option<u32> {
    let row = KKRT16_STASHES.iter().find(|(log_n, _)| items == 1 << log_n);
    row.map(|(_, stash)| *stash)
}

/// Returns the number of bins of that table.
pub(crate) fn kkrt16_bins(items: usize) -> u32 {
    (items * 6).div_ceil(5) as u32
}

/// Returns the bins b with c·b·ln b = n (PSZ14, §6.1).
pub(crate) fn simple_bins(items: usize, c: f64) -> f64 {
    let n = items as f64;
    let mut bins = n / 10.0;
    for _ in 0..50 {
        bins = n / (c * bins.ln());
    }
    bins
}

/// Returns d_c, the largest solution x of 1 + x(ln c − ln x + 1) − c = 0 (PSZ14, §6.1).
pub(crate) fn d(c: f64) -> f64 {
    let f = |x: f64| 1.0 + x * (c.ln() - x.ln() + 1.0) - c;
    // f is 1 at c, and falls from there on.
    let (mut low, mut high) = (c, 10.0 * c + 10.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if f(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

/// Returns the places of a bin of balanced allocations in as many bins as items (PSZ14, Appendix
/// E).
pub(crate) fn balanced_capacity(items: usize) -> f64 {
    2.0 * (items as f64).ln().ln() / std::f64::consts::LN_2
}

/// PSZ14, Appendix E: places in the stash of Cuckoo hashing with two functions.
pub(crate) const PSZ14_STASH: usize = 4;

/// Returns 2(1 + ε)n bins, ε = 0.2 (PSZ14, Appendix E).
pub(crate) fn two_function_bins(items: usize) -> u32 {
    (2.4 * items as f64) as u32
}

/// Returns the bound of PSZ14, §6.1: "insertion of m elements fails with probability m^-s".
pub(crate) fn two_function_failure_log2(items: usize, stash: usize) -> f64 {
    -(stash as f64) * (items as f64).log2()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_10_has_d_plus_one() {
        for (c, d_plus_one, _) in TABLE_10 {
            assert!((d(c) + 1.0 - d_plus_one).abs() < 0.051, "{c}: {}", d(c));
        }
    }
}
