//! The matrix of CM20 (CM20 §3.3), and the length of the masks that a malicious sender meets.
//!
//! Each of the receiver's items clears one bit in each column of a matrix of ones, at a row that
//! a pseudorandom function picks. An item of the sender that is not shared picks one bit of each
//! column too, and at least κ of them must still be ones.
//!
//! **Bins.** The paper's matrix has about as many rows as the receiver has items. Here its rows are
//! cut into bins. A bin has few enough rows that a column of it fits the first-level cache. The
//! digest of an item chooses its bin, and the function picks rows within it. The bins are
//! independent of the columns, so the columns of a bin are independent given its number of items L.
//! Then a bit is still one with probability p(L) = Σ_r q_r·(1 − q_r)^L, where q_r is the
//! probability that an item picks row r, and the sender's item meets Bin(w, p(L)) ones. L itself is
//! Bin(n, 1/bins), and so
//!
//! > P\[few ones\] = E_L P\[Bin(w, p(L)) < κ\],
//!
//! for any of the sender's items, whatever the others do. For one bin with uniform rows this is
//! the formula of the paper. With as many rows as items, bins of 2^13 rows take eight or nine
//! columns more than one bin: 1.4 %.
//!
//! **Rows** are picked by scaling 16 bits, [`POSITION_BITS`]. If the number of rows is not a power
//! of two, q_r is ⌊2^16/rows⌋ or ⌈2^16/rows⌉ times 2^-16. The formula uses both values exactly.

use crate::{
    Error, Log2Prob, Security,
    binomial::{self, ln_choose},
    code::smallest_width,
    mask,
};

/// Bits of a pseudorandom word that picks a row of a bin.
pub const POSITION_BITS: u32 = 16;

/// Rows of a bin at most: its column takes 8 KiB where each bit has a byte. Two of them and what
/// passes by fit the first-level cache.
const MAX_BIN_ROWS: u32 = 1 << 13;

/// The rows of a bin are a multiple of this: a column of a bin is made of whole AES blocks.
const ROW_GROUP: u64 = 128;

/// Queries of the mask's hash that a malicious sender may make (CM20 §4.1).
const MALICIOUS_QUERIES: u128 = 1 << 64;

/// The shape of a matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number of bins.
    pub bins: u32,
    /// Rows of a bin: a multiple of 128, at most 2^13.
    pub bin_rows: u32,
    /// w.
    pub columns: u32,
}

impl Shape {
    /// Returns the number of rows of all bins: m.
    pub fn rows(self) -> u64 {
        u64::from(self.bins) * u64::from(self.bin_rows)
    }

    /// Returns a bound on any of `sender_items`, not shared, meeting fewer than κ ones.
    pub fn few_ones(self, sender_items: u64, receiver_items: u64) -> Log2Prob {
        few_ones(
            &loads(self.bins, self.bin_rows, receiver_items),
            sender_items,
            self.columns,
        )
    }
}

/// Returns the number of rows for a receiver with this many items: 1.4 per item. Among the numbers
/// of rows that keep the traffic below the paper's, this one needs the fewest columns, and columns
/// are what takes the time.
pub fn default_rows(receiver_items: u64) -> u64 {
    receiver_items * 7 / 5
}

/// Returns the matrix with `rows` rows, rounded up, and the fewest columns at which every item of
/// the sender that is not shared meets at least κ ones, except with a probability of at most
/// `share`.
///
/// # Errors
/// [`Error::Unreachable`] if there are too few rows for the receiver's items, or `share` is zero
/// or absurdly small.
pub fn shape(
    rows: u64,
    sender_items: u64,
    receiver_items: u64,
    share: Log2Prob,
) -> Result<Shape, Error> {
    let bins = rows.div_ceil(MAX_BIN_ROWS.into()).max(1);
    let bin_rows = rows.div_ceil(bins).max(1).next_multiple_of(ROW_GROUP);
    let bins = u32::try_from(bins).map_err(|_| unreachable(share))?;
    let bin_rows = bin_rows as u32;
    let loads = loads(bins, bin_rows, receiver_items);
    Ok(Shape {
        bins,
        bin_rows,
        columns: smallest(&loads, sender_items, share)?,
    })
}

/// Returns the width w of a matrix of one bin whose `rows` are picked uniformly, as in CM20:
/// `sender_items` · P\[Bin(w, p) < κ\] ≤ `share` with p = (1 − 1/rows)^receiver_items.
///
/// # Errors
/// As [`shape`].
pub fn width_columns(
    rows: u64,
    sender_items: u64,
    receiver_items: u64,
    share: Log2Prob,
) -> Result<u32, Error> {
    if rows < 2 {
        return Err(unreachable(share));
    }
    let picks = [(1.0 / rows as f64, rows as f64)];
    let load = Load {
        likelihood: Log2Prob::ONE,
        one: one(&picks, receiver_items),
    };
    smallest(&[load], sender_items, share)
}

/// Returns the range of the masks where the sender may be malicious: as many values as let it make
/// 2^64 queries, each compared with all of the receiver's, or all that a hash of 128 bits has if
/// those are fewer (CM20 §3.3, ℓ2).
pub fn malicious_mask_range(receiver_items: u64, security: Security) -> u128 {
    let comparisons = MALICIOUS_QUERIES * u128::from(receiver_items);
    mask::range(comparisons, security.failure()).unwrap_or(u128::MAX)
}

/// A number of items in a bin, or several such numbers.
struct Load {
    /// An upper bound on its probability.
    likelihood: Log2Prob,
    /// A lower bound on the probability that a bit is still one.
    one: f64,
}

/// Returns all loads of the bin that some item is in, in intervals: an interval counts as its
/// largest load.
fn loads(bins: u32, bin_rows: u32, receiver_items: u64) -> Vec<Load> {
    /// Intervals per standard deviation: more would not save a column.
    const STEPS: f64 = 16.0;
    /// Standard deviations about the mean that are looked at. Loads below count as if they were
    /// certain, and weigh little in spite of that; loads above hardly ever happen.
    const BELOW: f64 = 12.0;
    const ABOVE: f64 = 20.0;

    let picks = scaled_picks(bin_rows);
    let load = |likelihood, items| Load {
        likelihood,
        one: one(&picks, items),
    };
    if bins == 1 {
        return vec![load(Log2Prob::ONE, receiver_items)];
    }
    // More than what rounding costs, and the bias of 64-bit words.
    let probability = (1.0 + 1e-12) / f64::from(bins);
    let n = receiver_items as f64;
    let mean = n * probability;
    let deviation = mean.sqrt();
    let step = (deviation / STEPS).max(1.0) as u64;
    let mut first = (mean - BELOW * deviation).max(0.0) as u64;
    let mut loads = vec![load(Log2Prob::ONE, first)];
    first += 1;
    while first <= receiver_items && (first as f64) < mean + ABOVE * deviation {
        let last = (first + step - 1).min(receiver_items);
        // The likeliest of the interval.
        let peak = (mean as u64).clamp(first, last) as f64;
        let ln_peak =
            ln_choose(n, peak) + peak * probability.ln() + (n - peak) * (-probability).ln_1p();
        let likelihood = Log2Prob::from_log2(ln_peak / std::f64::consts::LN_2);
        loads.push(load(likelihood.times((last - first + 1).into()), last));
        first = last + 1;
    }
    if first <= receiver_items {
        // P[L ≥ mean + t] ≤ exp(−t²/(2·(mean + t/3))), Bernstein.
        let t = ABOVE * deviation;
        let ln_tail = -t * t / (2.0 * (mean + t / 3.0));
        loads.push(Load {
            likelihood: Log2Prob::from_log2(ln_tail / std::f64::consts::LN_2),
            one: 0.0,
        });
    }
    loads
}

/// With which probability a row is picked, and how many such rows there are.
type Picks = (f64, f64);

/// Returns the picks of a scaled word of [`POSITION_BITS`].
fn scaled_picks(rows: u32) -> [Picks; 2] {
    let words = 1 << POSITION_BITS;
    let (each, more) = (words / rows, words % rows);
    let probability = |count: u32| f64::from(count) / f64::from(words);
    [
        (probability(each), f64::from(rows - more)),
        (probability(each + 1), f64::from(more)),
    ]
}

/// Returns the probability that an item meets a one after `items` others cleared theirs.
fn one(picks: &[Picks], items: u64) -> f64 {
    // An empty set clears nothing; as if it had one item, so that the coin stays biased.
    let cleared = items.max(1) as f64;
    let left = |(pick, rows): &Picks| rows * pick * (cleared * (-pick).ln_1p()).exp();
    picks.iter().map(left).sum()
}

fn few_ones(loads: &[Load], sender_items: u64, columns: u32) -> Log2Prob {
    let of_load = |load: &Load| {
        if load.one > 0.0 {
            let few = binomial::biased_tail(columns, Security::COMPUTATIONAL_BITS, load.one);
            few.and(load.likelihood)
        } else {
            load.likelihood
        }
    };
    let of_item = loads.iter().map(of_load).fold(Log2Prob::ZERO, Log2Prob::or);
    of_item.times(sender_items.into())
}

fn smallest(loads: &[Load], sender_items: u64, share: Log2Prob) -> Result<u32, Error> {
    smallest_width(|columns| few_ones(loads, sender_items, columns) <= share)
        .ok_or(unreachable(share))
}

fn unreachable(share: Log2Prob) -> Error {
    Error::Unreachable {
        parameter: "matrix width",
        share,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share() -> Log2Prob {
        Security::default().failure()
    }

    /// CM20, Table 1: column w.
    #[test]
    fn reproduces_the_widths_of_cm20_table_1() {
        for (log_n, published) in [(16, 609), (18, 615), (20, 621), (22, 627), (24, 633)] {
            let n = 1 << log_n;
            assert_eq!(
                width_columns(n, n, n, share()),
                Ok(published),
                "n = 2^{log_n}"
            );
        }
        let n = 1u64 << 24;
        for (rows, published) in [(n * 9 / 10, 717), (n * 11 / 10, 571), (2 * n, 349)] {
            assert_eq!(
                width_columns(rows, n, n, share()),
                Ok(published),
                "{rows} rows"
            );
        }
    }

    /// CM20, Table 1: both columns ℓ2. A malicious receiver may query H2 2^64 times.
    #[test]
    fn reproduces_the_mask_lengths_of_cm20_table_1() {
        let semi_honest =
            [16, 18, 20, 22, 24].map(|log_n| mask::bits(1 << (2 * log_n), share()).unwrap());
        assert_eq!(semi_honest, [72, 76, 80, 84, 88]);
        let malicious =
            [16, 18, 20, 22, 24].map(|log_n| mask::bits(1 << (64 + log_n), share()).unwrap());
        assert_eq!(malicious, [120, 122, 124, 126, 128]);
    }

    #[test]
    fn masks_are_long_enough_for_the_queries_or_as_long_as_they_can_be() {
        for (log_n, bits) in [(16, 120), (20, 124), (22, 126)] {
            let range = malicious_mask_range(1 << log_n, Security::default());
            assert_eq!(range.ilog2(), bits, "n = 2^{log_n}");
        }
        assert_eq!(
            malicious_mask_range(1 << 24, Security::default()),
            u128::MAX
        );
        assert_eq!(
            malicious_mask_range(1, Security::new(80).unwrap()),
            u128::MAX
        );
    }

    #[test]
    fn too_few_rows_are_an_error() {
        for rows in [0, 1, 2, 1 << 10] {
            assert!(
                width_columns(rows, 1 << 20, 1 << 20, share()).is_err(),
                "{rows} rows"
            );
        }
    }

    #[test]
    fn unequal_and_empty_sets_have_a_width() {
        let few = width_columns(1 << 20, 1 << 10, 1 << 20, share()).unwrap();
        let many = width_columns(1 << 20, 1 << 26, 1 << 20, share()).unwrap();
        assert!(few < 621 && 621 < many, "{few}, {many}");
        assert_eq!(
            width_columns(1 << 20, 0, 0, share()),
            Ok(Security::COMPUTATIONAL_BITS)
        );
    }

    /// A shape of one bin whose rows are a power of two is a matrix of the paper.
    #[test]
    fn one_bin_is_the_matrix_of_the_paper() {
        for n in [1 << 10, 1 << 13] {
            let shape = shape(1 << 13, n, n, share()).unwrap();
            assert_eq!((shape.bins, shape.bin_rows), (1, 1 << 13));
            assert_eq!(Ok(shape.columns), width_columns(1 << 13, n, n, share()));
        }
    }

    #[test]
    fn bins_cost_few_columns() {
        for log_n in [16, 20, 24] {
            let n = 1 << log_n;
            let shape = shape(n, n, n, share()).unwrap();
            assert_eq!(shape.rows(), n);
            let paper = width_columns(n, n, n, share()).unwrap();
            let more = shape.columns - paper;
            assert!((1..=9).contains(&more), "2^{log_n}: {more} columns more");
            assert!(shape.few_ones(n, n) <= share());
            let narrower = Shape {
                columns: shape.columns - 1,
                ..shape
            };
            assert!(narrower.few_ones(n, n) > share());
        }
    }

    /// Bins of few items, where all loads can be summed one by one.
    #[test]
    fn intervals_of_loads_bound_the_exact_mean() {
        let (bins, bin_rows, receivers, columns) = (40, 128, 4000, 420);
        let p = 1.0 / f64::from(bins);
        let exact: f64 = (0..=receivers)
            .map(|load| {
                let (n, k) = (receivers as f64, load as f64);
                let ln = ln_choose(n, k) + k * p.ln() + (n - k) * (-p).ln_1p();
                let one = one(&[(1.0 / 128.0, 128.0)], load);
                ln.exp() * binomial::biased_tail(columns, 128, one).log2().exp2()
            })
            .sum();
        let shape = Shape {
            bins,
            bin_rows,
            columns,
        };
        let bound = shape.few_ones(1, receivers).log2();
        let gap = bound - exact.log2();
        assert!((0.0..0.5).contains(&gap), "{bound} for {}", exact.log2());
    }

    #[test]
    fn rows_that_are_picked_unevenly_count_as_they_are() {
        let picks = scaled_picks(10_000);
        let total: f64 = picks.iter().map(|(pick, rows)| pick * rows).sum();
        assert!((total - 1.0).abs() < 1e-12);
        assert_eq!(picks[1].1, f64::from((1 << 16) % 10_000));
        // By convexity: fewer ones than with even rows, but hardly.
        let (uneven, even) = (one(&picks, 8000), one(&[(1e-4, 1e4)], 8000));
        assert!(uneven < even && even < 1.01 * uneven, "{uneven}, {even}");
    }

    #[test]
    fn a_tiny_matrix_has_a_group_of_rows() {
        let shape = shape(0, 1, 1, share()).unwrap();
        assert_eq!((shape.bins, shape.bin_rows), (1, 128));
        assert!(super::shape(1 << 10, 1 << 20, 1 << 20, share()).is_err());
    }
}
