//! Shape of an oblivious key-value store (OKVS).
//!
//! The store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*, ePrint 2022/320, Figure 1)
//! with its clusters, here called bins (§3, "separate"). An item's digest picks its bin, and
//! a hash of it three distinct sparse slots of the bin and an element k of GF(2^64). The
//! value of the item is the sum of the three slots plus k·d_1 + k²·d_2 + … + k^g·d_g over the
//! bin's g dense columns. Each bin is a system of linear equations of its own, which
//! `psijoin-encode` solves whenever its rows are linearly independent.
//!
//! # What can fail, and what is proved
//!
//! [`failure`] is a union bound. For each bin:
//!
//! - *More items than the bin is made for.* The binomial tail, by its first term and a
//!   geometric series.
//! - *Too many dependent rows*: the sparse parts of n rows have rank below n - g. Bounded by
//!   first moments, with proof, in `okvs/deficiency.rs`; fewer items fail more rarely, so
//!   that n is the capacity of the bin.
//! - *The dense columns do not repair the dependent rows.* Let B hold a basis of the d ≤ g
//!   dependencies, in reduced row echelon form. Its pivots give each row of B·(k_i^j) a
//!   variable of its own. Row t, cut after t columns, lies in the span of the rows before it
//!   only if a polynomial in that variable, not constant and of degree at most t, is zero. That has
//!   probability t/2^64 (Schwartz-Zippel). In all d(d+1)/2·2^-64 ≤ (2^d - 1)·2^-64, on average at
//!   most μ·2^-64 with μ the expected number of sets of dependent rows; or g(g+1)/2·2^-64 if that
//!   is less.
//!
//!   Two items with the same slots and the same k (probability about 3/(e³n)·2^-64 per bin)
//!   cannot be told apart however large g is. If that is too likely, there is one more column, the
//!   *check* column, with an independent coefficient of 32 bits. A failure then needs that one row
//!   is in the span of those before it and that the one remaining combination is zero in the check
//!   column, too (2^-32), or that two rows are in the span of those before them: at most
//!   μ·2^-64·(2^-32 + g(g+1)/4·2^-64).
//!
//! Nothing here is extrapolated from experiments. RR22's formulas are: they ask that peeling
//! leaves at most g rows, which is likelier to fail than independence and for which no sharp
//! bound is known, and fit e = 1.223 + (λ + 9.2)/s and g = ⌊λ/log2(e·n)⌋ to measured failures
//! down to 2^-30, where log2(s) = 0.555·log2(n) + 2.336. This store needs fewer slots. The fit
//! matters for speed only: [`smallest`] never goes below the e at which, by the fit, peeling leaves
//! rows in one bin of 2^8. Such a bin takes a few times as long.
//!
//! The probabilities are over the key of the row hash, which must be drawn after the items
//! are fixed, and over the digests' first eight bytes.
//!
//! # What results
//!
//! At 2^20 items and 2^-43: 16 bins and two dense columns, 1.27 elements per item.

mod deficiency;

use std::f64::consts::LN_2;

use crate::{
    Error, Log2Prob, Sizes,
    binomial::ln_choose,
    search::{least, narrow},
};

use deficiency::Deficiency;

/// The most sparse slots of a bin: the encoder keeps the numbers of two slots and an item,
/// and a count, in one word of 64 bits.
pub const MAX_SLOTS: u32 = 1 << 17;

/// The most items of a bin.
pub const MAX_BIN_ITEMS: u32 = MAX_SLOTS;

/// The fewest sparse slots: an item has three distinct ones.
pub const MIN_SLOTS: u32 = 3;

/// The most items of a store: a set in which each has three keys, and some more.
pub const MAX_ITEMS: u64 = 4 * Sizes::MAX_AT_ONCE;

/// About this many items go to a bin, at most. The encoder's working set, 16 bytes per slot for
/// values of 64 bits, then stays in a second-level cache or near it.
const ITEMS_A_BIN: u64 = 1 << 16;

/// With fewer bins, a party would wait for all of the other's work before it could begin its own,
/// and a second thread would have nothing to do.
const BINS_TO_OVERLAP: u64 = 4;

/// Smaller bins would be too uneven to be worth that.
const FEWEST_ITEMS_A_BIN: u64 = 1 << 14;

/// The most dense columns that [`smallest`] tries beside more slots than the fewest.
const MOST_DENSE: u32 = 8;

/// Up to this many items, [`smallest`] also tries a dense column for each.
const FEW_ITEMS: u64 = 128;

/// The most slots that [`smallest`] tries, as a multiple of the fewest.
const MOST_SLOTS_FACTOR: u32 = 32;

/// Bits of the coefficient in the check column.
const CHECK_BITS: f64 = 32.0;

/// Added to the logarithm (base 2) of the bound: rounding errors, and the bias of the choice
/// of a bin by a fraction of 2^64.
const SLACK_LOG2: f64 = 1.0 / 64.0;

/// The shape of a store: all bins have the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bins.
    pub bins: u32,
    /// Items that a bin may hold.
    pub bin_items: u32,
    /// Sparse slots of a bin.
    pub slots: u32,
    /// Dense columns of a bin.
    pub dense: u32,
    /// Check columns of a bin: 0 or 1.
    pub checks: u32,
}

impl Shape {
    /// Elements of a bin: slots, then dense columns, then the check column.
    pub fn bin_slots(&self) -> usize {
        self.slots as usize + self.dense as usize + self.checks as usize
    }

    /// Elements of the store.
    #[expect(clippy::len_without_is_empty, reason = "no store is empty")]
    pub fn len(&self) -> usize {
        self.bins as usize * self.bin_slots()
    }
}

/// The smallest store for `items` items that cannot be encoded with a probability of at most
/// `share`: bins of up to about 2^16 items, four of them where there are enough items, and in each
/// as few elements as the bounds allow.
///
/// Takes a few milliseconds, and up to tenths of a second for some hundred items.
///
/// # Errors
/// [`Error::Unreachable`] if there are more items than [`MAX_ITEMS`], or no shape
/// keeps within `share`.
pub fn smallest(items: u64, share: Log2Prob) -> Result<Shape, Error> {
    let unreachable = || Error::Unreachable {
        parameter: "key-value store",
        share,
    };
    if items > MAX_ITEMS {
        return Err(unreachable());
    }
    let overlapping = (items / FEWEST_ITEMS_A_BIN).min(BINS_TO_OVERLAP);
    let bins = items.div_ceil(ITEMS_A_BIN).max(overlapping).max(1);
    let half = share.and(Log2Prob::from_log2(-1.0));
    let bin_items = fewest_capacity(items, bins, half).ok_or_else(unreachable)?;
    let overloads = overload(items, bins, bin_items).times(bins.into());
    let left = share
        .minus(overloads)
        .and(Log2Prob::from_log2(-(bins as f64).log2() - SLACK_LOG2));
    let bin = Bin::smallest(bin_items, left).ok_or_else(unreachable)?;
    Ok(Shape {
        bins: bins as u32,
        bin_items: bin_items as u32,
        slots: bin.slots,
        dense: bin.dense,
        checks: bin.checks,
    })
}

/// A bound on the probability that `items` items cannot be encoded in a store of this shape.
///
/// # Panics
/// If there are more items than [`MAX_ITEMS`], or a bin has less than [`MIN_SLOTS`] or
/// more than [`MAX_SLOTS`] slots, or more than one check column.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    assert!(items <= MAX_ITEMS, "a store has at most 2^28 items");
    assert!(
        (MIN_SLOTS..=MAX_SLOTS).contains(&shape.slots) && shape.checks <= 1,
        "a bin has 3 to 2^17 slots and at most one check column"
    );
    let (bins, bin_items) = (u64::from(shape.bins), u64::from(shape.bin_items));
    let bin = Bin {
        slots: shape.slots,
        dense: shape.dense,
        checks: shape.checks,
    };
    overload(items, bins, bin_items)
        .or(bin.failure(bin_items.min(items)))
        .times(bins.into())
        .and(Log2Prob::from_log2(SLACK_LOG2))
}

/// A bound on one bin getting more than `bin_items` of the items.
fn overload(items: u64, bins: u64, bin_items: u64) -> Log2Prob {
    if bin_items >= items {
        return Log2Prob::ZERO;
    }
    let (n, k, b) = (items as f64, (bin_items + 1) as f64, bins as f64);
    if k * b <= n {
        return Log2Prob::ONE;
    }
    // The term of exactly k items, and how much less likely each further item is.
    let term = ln_choose(n, k) - k * b.ln() + (n - k) * (-1.0 / b).ln_1p();
    let growth = (n - k) / ((k + 1.0) * (b - 1.0));
    if growth >= 1.0 {
        return Log2Prob::ONE;
    }
    Log2Prob::from_log2((term - (-growth).ln_1p()) / LN_2)
}

/// The smallest capacity at which no bin overflows, except with probability `share`.
fn fewest_capacity(items: u64, bins: u64, share: Log2Prob) -> Option<u64> {
    let suffices = |capacity| overload(items, bins, capacity).times(bins.into()) <= share;
    let capacity = least(items / bins..=items, suffices)?;
    (capacity <= MAX_BIN_ITEMS.into()).then_some(capacity)
}

/// One bin.
#[derive(Clone, Copy)]
struct Bin {
    slots: u32,
    dense: u32,
    checks: u32,
}

impl Bin {
    fn len(&self) -> u32 {
        self.slots + self.dense + self.checks
    }

    /// A bound on the probability that this many rows are linearly dependent.
    fn failure(&self, rows: u64) -> Log2Prob {
        // Of three draws from fractions of 2^32.
        let bias = (1.0 + f64::from(self.slots) / 32f64.exp2()).powi(3);
        let sparse = Deficiency::new(rows, self.slots.into(), bias);
        sparse.at_least(self.dense + 1).or(self.unrepaired(&sparse))
    }

    /// A bound on the probability that the dense columns do not repair the dependent rows.
    fn unrepaired(&self, sparse: &Deficiency) -> Log2Prob {
        if self.dense == 0 {
            return Log2Prob::ZERO;
        }
        let g = f64::from(self.dense);
        let pairs_log2 = (g * (g + 1.0) / 2.0).log2();
        let once = sparse.dependent_sets_log2().min(pairs_log2) - 64.0;
        let once = Log2Prob::from_log2(once);
        if self.checks == 0 {
            return once;
        }
        let twice = Log2Prob::from_log2(pairs_log2 - 65.0);
        once.and(Log2Prob::from_log2(-CHECK_BITS).or(twice))
    }

    /// The smallest bin in which this many rows are independent, except with probability `share`.
    fn smallest(rows: u64, share: Log2Prob) -> Option<Self> {
        let a_column_each = (0..=1).map(|checks| Self {
            slots: MIN_SLOTS,
            dense: (rows as u32).saturating_sub(1),
            checks,
        });
        let mut best = a_column_each
            .filter(|_| rows <= FEW_ITEMS)
            .find(|bin| bin.failure(rows) <= share);

        let floor = peeling_slots(rows);
        for (checks, dense) in (0..=1).flat_map(|checks| (0..=MOST_DENSE).map(move |g| (checks, g)))
        {
            let of_slots = |slots| Self {
                slots,
                dense,
                checks,
            };
            // A check column must be worth its coefficients.
            let worth = |len: u32| len - 1 - checks * len / 32;
            let longest = best.map_or(u32::MAX, |best: Self| worth(best.len()));
            let most = longest
                .saturating_sub(dense + checks)
                .min(floor.saturating_mul(MOST_SLOTS_FACTOR))
                .min(MAX_SLOTS);
            let suffices = |slots| of_slots(slots).failure(rows) <= share;
            if most >= floor
                && let Some(slots) = fewest_slots(floor, most, suffices)
            {
                best = Some(of_slots(slots));
            }
        }
        best
    }
}

/// The fewest slots that suffice, to about a hundredth of `floor`.
fn fewest_slots(floor: u32, most: u32, suffices: impl Fn(u32) -> bool) -> Option<u32> {
    if suffices(floor) {
        return Some(floor);
    }
    if !suffices(most) {
        return None;
    }
    Some(narrow(floor, most, 1 + floor / 100, suffices))
}

/// The fewest slots above which peeling leaves rows in one bin of about 2^8 only, so that
/// encoding takes no longer than it must: RR22, equations (2) and (3), for weight 3.
fn peeling_slots(rows: u64) -> u32 {
    let n = rows.max(1) as f64;
    let slope = (0.555 * n.log2() + 2.336).exp2();
    let expansion = 1.223 + (9.2 + 8.0) / slope;
    ((n * expansion).ceil() as u32).max(MIN_SLOTS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::binomial::biased_tail;
    use proptest::prelude::*;

    fn p(log2: f64) -> Log2Prob {
        Log2Prob::from_log2(log2)
    }

    fn expansion(log_items: u32, share: f64) -> f64 {
        let items = 1u64 << log_items;
        smallest(items, p(share)).unwrap().len() as f64 / items as f64
    }

    #[test]
    fn a_million_items_at_the_default_level() {
        let shape = smallest(1 << 20, p(-43.0)).unwrap();
        let expected = Shape {
            bins: 16,
            bin_items: 67_474,
            slots: 83_001,
            dense: 2,
            checks: 0,
        };
        assert_eq!(shape, expected);
        assert_eq!(shape.len(), 16 * 83_003);
        assert!(expansion(20, -43.0) < 1.267);
    }

    /// RR22's formulas give 1.33 at 2^12, 1.25 at 2^16, and 1.29 at 2^20 in bins of 2^16.
    #[test]
    fn expansion_at_other_sizes() {
        for (log_items, least, most) in [
            (10, 1.45, 1.50),
            (12, 1.25, 1.26),
            (14, 1.23, 1.24),
            (16, 1.29, 1.33),
            (18, 1.255, 1.265),
            (22, 1.265, 1.27),
            (26, 1.265, 1.271),
        ] {
            let expansion = expansion(log_items, -43.0);
            assert!(
                (least..most).contains(&expansion),
                "2^{log_items}: {expansion}"
            );
        }
    }

    #[test]
    fn the_highest_level_takes_a_check_column() {
        for log_items in [4, 12, 16, 20, 26] {
            let items = 1u64 << log_items;
            let shape = smallest(items, p(-83.0)).unwrap();
            assert_eq!(shape.checks, 1, "2^{log_items}");
            assert!(failure(items, shape) <= p(-83.0), "2^{log_items}");
            assert!(expansion(20, -83.0) < 1.285);
        }
        // Two of 2^14 rows, in one of four bins, have the same slots and coefficient too often.
        let without = Shape {
            checks: 0,
            dense: 8,
            ..smallest(1 << 16, p(-83.0)).unwrap()
        };
        let bound = failure(1 << 16, without).log2();
        assert!((-76.0..-75.0).contains(&bound), "{bound}");
    }

    #[test]
    fn few_items_have_a_column_each() {
        for (items, slots, dense) in [(0, 3, 0), (1, 3, 0), (2, 3, 1), (50, 3, 49)] {
            let shape = smallest(items, p(-43.0)).unwrap();
            let expected = Shape {
                bins: 1,
                bin_items: items as u32,
                slots,
                dense,
                checks: 0,
            };
            assert_eq!(shape, expected);
        }
        assert_eq!(failure(1, smallest(1, p(-83.0)).unwrap()), Log2Prob::ZERO);
    }

    #[test]
    fn what_cannot_be_reached_is_an_error() {
        assert!(smallest(1 << 20, Log2Prob::ZERO).is_err());
        assert!(smallest(MAX_ITEMS + 1, p(-43.0)).is_err());
        assert!(smallest(2, p(-200.0)).is_err());
    }

    #[test]
    fn a_bin_that_is_too_small_is_counted() {
        let shape = smallest(1 << 20, p(-43.0)).unwrap();
        let tight = Shape {
            bin_items: 1 << 16,
            ..shape
        };
        assert_eq!(failure(1 << 20, tight), Log2Prob::ONE);
        let one = Shape { bins: 1, ..shape };
        assert_eq!(failure(67_475, one), Log2Prob::ONE);
        assert!(failure(67_474, one) < p(-43.0));
    }

    #[test]
    fn overload_is_above_the_binomial_tail_and_not_by_far() {
        for (items, bins, capacity) in [(1000u32, 10u32, 140u32), (5000, 2, 2700), (100, 50, 12)] {
            let above = overload(items.into(), bins.into(), capacity.into()).log2();
            let exact = biased_tail(items, items - capacity, 1.0 - 1.0 / f64::from(bins)).log2();
            assert!(above >= exact && above < exact + 0.2, "{above} {exact}");
        }
        assert_eq!(overload(10, 2, 10), Log2Prob::ZERO);
        assert_eq!(overload(10, 2, 4), Log2Prob::ONE);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn keeps_within_the_share(items in 1u64..1 << 22, share in -85.0..-20.0f64) {
            let shape = smallest(items, p(share)).unwrap();
            prop_assert!(failure(items, shape) <= p(share));
            prop_assert!(shape.slots <= MAX_SLOTS && shape.bin_items <= MAX_BIN_ITEMS);
            let more = Shape { slots: shape.slots + shape.slots / 10 + 1, ..shape };
            prop_assert!(failure(items, more).log2() <= failure(items, shape).log2() + 1e-6);
        }
    }
}
