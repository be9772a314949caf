//! Shape of an oblivious key-value store (OKVS).
//!
//! The store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*, ePrint 2022/320, Figure 1) with
//! its clusters, here called bins (§3, "separate"). An item's digest picks its bin, and a hash of
//! it three distinct sparse slots of the bin and g independent bits, one for each of the bin's
//! dense columns. The value of the item is the sum of its three slots and of the dense columns
//! whose bit is 1. Each bin is a system of linear equations over GF(2) of its own, which
//! `psijoin-encode` solves whenever its rows are linearly independent. Values can be of any vector
//! space over GF(2).
//!
//! # What can fail, and what is proved
//!
//! [`failure`] is a union bound. For each bin:
//!
//! - *More items than the bin is made for.* The binomial tail, by its first term and a
//!   geometric series.
//! - *Dependent rows*: a nonempty set T of rows sums up to zero, in the slots and in the dense
//!   columns. Let μ be the expected number of nonempty sets whose *slots* sum up to zero. The dense
//!   bits of a row are uniform, and independent of the slots and of other rows. So given the slots,
//!   the g dense bits of the sum of T are uniform for each nonempty T, and all are zero with
//!   probability 2^-g. By the union bound over the sets whose slots sum up to zero, a bin fails
//!   with probability at most **μ·2^-g**. `okvs/dependent_sets.rs` bounds μ, with proof; fewer
//!   items have fewer sets, so that n is the capacity of the bin.
//!
//! Nothing here is extrapolated from experiments. RR22's formulas are: they ask that peeling
//! leaves at most g rows, which is likelier to fail than independence and for which no sharp
//! bound is known, and fit e = 1.223 + (λ + 9.2)/s and g = ⌊λ/log2(e·n)⌋ to measured failures
//! down to 2^-30, where log2(s) = 0.555·log2(n) + 2.336. This store needs fewer slots. The fit
//! matters for speed only: [`smallest`] never goes below the e at which, by the fit, peeling leaves
//! rows in one bin of 2^8. Such a bin takes a few times as long.
//!
//! RR22's dense coefficients are powers of an element of GF(2^128), which take fewer columns (about
//! two). The bits take a few dozen, which is 0.04 % of a bin of 2^16 items; in return
//! values need not be in a field, and decoding takes no multiplications.
//!
//! The probabilities are over the key of the row hash, which must be drawn after the items
//! are fixed, and over the digests' first eight bytes.
//!
//! # What results
//!
//! At 2^20 items and 2^-43: 16 bins of 83,001 slots and 33 dense columns, 1.27 elements per item.

mod dependent_sets;

use std::f64::consts::LN_2;

use crate::{Error, Log2Prob, Sizes, binomial::ln_choose, search::least};

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

/// The most dense columns of a bin: the row hash has this many bits for them.
pub const MAX_DENSE: u32 = 96;

/// The most slots that [`smallest`] tries, as a multiple of the fewest.
const MOST_SLOTS_FACTOR: u32 = 32;

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
}

impl Shape {
    /// Elements of a bin: slots, then dense columns.
    pub fn bin_slots(&self) -> usize {
        self.slots as usize + self.dense as usize
    }

    /// Elements of the store.
    #[expect(clippy::len_without_is_empty, reason = "no store is empty")]
    pub fn len(&self) -> usize {
        self.bins as usize * self.bin_slots()
    }
}

/// Returns the smallest store for `items` items that cannot be encoded with a probability of at
/// most `share`: bins of up to about 2^16 items, four of them where there are enough items, and in
/// each as few elements as the bounds allow.
///
/// Takes a few milliseconds.
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
    })
}

/// Returns a bound on the probability that `items` items cannot be encoded in a store of this
/// shape.
///
/// # Panics
/// If there are more items than [`MAX_ITEMS`], or a bin has less than [`MIN_SLOTS`] or
/// more than [`MAX_SLOTS`] slots, or more than [`MAX_DENSE`] dense columns.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    assert!(items <= MAX_ITEMS, "a store has at most 2^28 items");
    assert!(
        (MIN_SLOTS..=MAX_SLOTS).contains(&shape.slots) && shape.dense <= MAX_DENSE,
        "a bin has 3 to 2^17 slots and at most 96 dense columns"
    );
    let (bins, bin_items) = (u64::from(shape.bins), u64::from(shape.bin_items));
    let bin = Bin {
        slots: shape.slots,
        dense: shape.dense,
    };
    overload(items, bins, bin_items)
        .or(bin.failure(bin_items.min(items)))
        .times(bins.into())
        .and(Log2Prob::from_log2(SLACK_LOG2))
}

/// Returns a bound on one bin getting more than `bin_items` of the items.
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

/// Returns the smallest capacity at which no bin overflows, except with probability `share`.
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
}

impl Bin {
    fn len(&self) -> u32 {
        self.slots + self.dense
    }

    /// Returns a bound on the probability that this many rows are linearly dependent.
    fn failure(&self, rows: u64) -> Log2Prob {
        Log2Prob::from_log2(dependent_sets_log2(rows, self.slots) - f64::from(self.dense))
    }

    /// Returns the smallest bin in which this many rows are independent, except with probability
    /// `share`, to about a hundredth of the slots.
    fn smallest(rows: u64, share: Log2Prob) -> Option<Self> {
        let floor = peeling_slots(rows);
        let most = floor.saturating_mul(MOST_SLOTS_FACTOR).min(MAX_SLOTS);
        let mut best: Option<Self> = None;
        for slots in (floor..=most).step_by(1 + floor as usize / 100) {
            if best.is_some_and(|best| slots >= best.len()) {
                break;
            }
            let dense = fewest_dense(rows, slots, share);
            let bin = dense.map(|dense| Self { slots, dense });
            best = [best, bin].into_iter().flatten().min_by_key(Self::len);
        }
        best
    }
}

/// Returns the fewest dense columns that suffice beside these slots.
fn fewest_dense(rows: u64, slots: u32, share: Log2Prob) -> Option<u32> {
    let needed = dependent_sets_log2(rows, slots) - share.log2();
    let dense = needed.ceil().max(0.0);
    (dense <= f64::from(MAX_DENSE)).then_some(dense as u32)
}

/// Returns log2 μ for one bin.
fn dependent_sets_log2(rows: u64, slots: u32) -> f64 {
    // Of three draws from fractions of 2^32.
    let bias = (1.0 + f64::from(slots) / 32f64.exp2()).powi(3);
    dependent_sets::expected_log2(rows, slots.into(), bias)
}

/// Returns the fewest slots above which peeling leaves rows in one bin of about 2^8 only, so that
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
            dense: 33,
        };
        assert_eq!(shape, expected);
        assert_eq!(shape.len(), 16 * 83_034);
        assert!(expansion(20, -43.0) < 1.267);
    }

    /// RR22's formulas give 1.33 at 2^12, 1.25 at 2^16, and 1.29 at 2^20 in bins of 2^16.
    #[test]
    fn expansion_at_other_sizes() {
        for (log_items, least, most) in [
            (10, 1.32, 1.33),
            (12, 1.26, 1.27),
            (14, 1.24, 1.25),
            (16, 1.29, 1.33),
            (18, 1.26, 1.265),
            (22, 1.265, 1.27),
            (26, 1.27, 1.271),
        ] {
            let expansion = expansion(log_items, -43.0);
            assert!(
                (least..most).contains(&expansion),
                "2^{log_items}: {expansion}"
            );
        }
    }

    /// Up to the most items at the highest level: there is a bit for each column.
    #[test]
    fn each_level_is_reached_at_each_size() {
        for log_items in [0, 4, 8, 12, 16, 20, 26, 28] {
            let items = 1u64 << log_items;
            for share in [-43.0, -60.0, -84.0] {
                let shape = smallest(items, p(share)).unwrap();
                assert!(failure(items, shape) <= p(share), "2^{log_items}");
                let expansion = shape.len() as f64 / items as f64;
                assert!(log_items < 12 || expansion < 1.34, "2^{log_items}");
            }
        }
    }

    #[test]
    fn few_items_have_few_slots() {
        for (items, slots, dense) in [(0, 5, 0), (1, 5, 0), (2, 8, 38), (50, 81, 38)] {
            let shape = smallest(items, p(-43.0)).unwrap();
            let expected = Shape {
                bins: 1,
                bin_items: items as u32,
                slots,
                dense,
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
