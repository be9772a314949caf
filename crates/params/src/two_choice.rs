//! Bins of 2-choice hashing (SpOT19 §4.2).
//!
//! Each of n items has two uniform, independent bins of m (they may be the same) and is placed in
//! one of them; no bin may have more items than its capacity c. SpOT19 asks for m = n/σ bins and
//! c = ⌈n/m⌉ + 1, and quotes an asymptotic bound of Sanders, Egner and Korst. Here is a concrete
//! one.
//!
//! **Proof.** By Hall's theorem a placement exists unless the items that have *both* bins in some
//! set S of s bins are more than s·c. An item has with probability (s/m)², so the failure is at
//! most
//!
//! > Σ_s C(m, s) · P\[Bin(n, (s/m)²) > s·c\],
//!
//! over all s with s·c < n, and Chernoff's bound exp(−n·D(k/n ‖ p)) serves for the tail from k on.
//! Beyond the first few thousand s the sum goes over groups of neighbouring s, each counted with
//! the largest binomial coefficient, the largest p and the smallest k of the group.
//!
//! The placement is found whenever there is one (`psijoin_encode::TwoChoiceTable`), so this is
//! the failure probability of the protocol's step.

use std::f64::consts::LN_2;

use crate::{Error, Log2Prob, Sizes, binomial::ln_choose, ln_sum::LnSum};

/// How many bins there are, and how many items each may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// m.
    pub bins: u32,
    /// c.
    pub capacity: u32,
}

impl Shape {
    /// Places for items, those of dummies included.
    pub fn slots(self) -> u64 {
        u64::from(self.bins) * u64::from(self.capacity)
    }
}

/// Sets of up to so many bins are counted size by size, larger ones in groups of a
/// so-many-th part of their size.
const SINGLE: u32 = 2000;

/// By how much, relatively, two given bins may be likelier than any others: a bin is a fraction of
/// 64 bits, and there are at most 2^26.
const BIAS: f64 = 1.0 / (1_u64 << 36) as f64;

/// As many bins as leave at most `items_per_bin` items for each on average, with one place more
/// than these in each. Where that is too likely to fail (for less than a thousand items or so)
/// one bin for all.
///
/// # Errors
/// [`Error::TooManyItems`] for a set that is larger than any.
///
/// # Panics
/// If `items_per_bin` is zero.
pub fn shape(items: u64, items_per_bin: u32, share: Log2Prob) -> Result<Shape, Error> {
    if items > Sizes::MAX_ITEMS {
        return Err(Error::TooManyItems {
            party: "receiver",
            items,
        });
    }
    let bins = items.div_ceil(items_per_bin.into()).max(1) as u32;
    let many = Shape {
        bins,
        capacity: items.div_ceil(bins.into()) as u32 + 1,
    };
    if bins > 1 && failure(items, many) <= share {
        return Ok(many);
    }
    Ok(Shape {
        bins: 1,
        capacity: items.max(1) as u32,
    })
}

/// A bound on there being no placement.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    let Shape { bins, capacity } = shape;
    if items <= capacity.into() {
        return Log2Prob::ZERO;
    }
    let mut sum = LnSum::default();
    let mut first = 1;
    while first <= bins && u64::from(first) * u64::from(capacity) < items {
        let last = (first + first / SINGLE).min(bins);
        sum.add(f64::from(last - first + 1).ln() + ln_overfull(items, shape, first, last));
        first = last + 1;
    }
    Log2Prob::from_log2((sum.ln() / LN_2).min(0.0))
}

/// A bound, as its logarithm, on any particular number of bins from `first` to `last` having a
/// set with too many items.
fn ln_overfull(items: u64, shape: Shape, first: u32, last: u32) -> f64 {
    let (items, bins) = (items as f64, f64::from(shape.bins));
    // Binomial coefficients grow up to the middle, and fall after it.
    let largest = (bins / 2.0).clamp(first.into(), last.into());
    let p = ((f64::from(last) / bins).powi(2) * (1.0 + BIAS)).min(1.0);
    let least = f64::from(first) * f64::from(shape.capacity) + 1.0;
    if least > items {
        return f64::NEG_INFINITY;
    }
    let tail = match least / items {
        q if q <= p => 0.0,
        q => -items * divergence(q, p),
    };
    ln_choose(bins, largest) + tail
}

/// D(q ‖ p) of two coins, for 0 < p < q ≤ 1.
fn divergence(q: f64, p: f64) -> f64 {
    let other = match 1.0 - q {
        0.0 => 0.0,
        rest => rest * (rest / (1.0 - p)).ln(),
    };
    q * (q / p).ln() + other
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share() -> Log2Prob {
        Log2Prob::from_log2(-44.0)
    }

    /// SpOT19 §4.2: n/m = λ = 40 items a bin, and one dummy: 2.5 % of all.
    #[test]
    fn one_dummy_a_bin_is_enough_as_spot19_says() {
        for log_n in 11..=24 {
            let n = 1_u64 << log_n;
            let shape = shape(n, 40, share()).unwrap();
            assert_eq!(u64::from(shape.bins), n.div_ceil(40), "2^{log_n}");
            assert_eq!(u64::from(shape.capacity), n.div_ceil(shape.bins.into()) + 1);
            let dummies = shape.slots() as f64 / n as f64 - 1.0;
            assert!(dummies < 0.045, "2^{log_n}: {dummies}");
            assert!(log_n < 16 || dummies < 0.026, "2^{log_n}: {dummies}");
        }
    }

    #[test]
    fn a_few_items_share_one_bin() {
        for n in [0, 1, 2, 40, 41, 100, 500] {
            let shape = shape(n, 40, share()).unwrap();
            let expected = Shape {
                bins: 1,
                capacity: (n as u32).max(1),
            };
            assert_eq!(shape, expected, "{n}");
            assert_eq!(failure(n, shape), Log2Prob::ZERO);
        }
    }

    #[test]
    fn the_largest_set_has_a_shape_at_every_level() {
        for (items_per_bin, bits) in [(40, 44.0), (63, 67.0), (80, 84.0)] {
            let share = Log2Prob::from_log2(-bits);
            let shape = shape(Sizes::MAX_ITEMS, items_per_bin, share).unwrap();
            assert!(shape.bins > 1 && failure(Sizes::MAX_ITEMS, shape) <= share);
        }
        assert!(shape(Sizes::MAX_ITEMS + 1, 40, share()).is_err());
    }

    /// By enumeration: 3 items, 2 bins, at most 1 item each never works; and 2 items in 2 bins of
    /// one place fail if both have one and the same bin twice: 2/16.
    #[test]
    fn bounds_what_happens_in_the_smallest_cases() {
        let one = Shape {
            bins: 2,
            capacity: 1,
        };
        assert_eq!(failure(3, one), Log2Prob::ONE);
        assert!(failure(2, one).log2() >= (2.0_f64 / 16.0).log2());
    }

    #[test]
    fn too_small_a_capacity_fails() {
        let shape = Shape {
            bins: 1000,
            capacity: 40,
        };
        assert!(failure(40_000, shape).log2() > -20.0);
        assert_eq!(failure(40_001, shape), Log2Prob::ONE);
    }

    proptest! {
        /// Groups of sizes bound no less than single ones.
        #[test]
        fn groups_are_pessimistic(bins in 2_u32..400, per_bin in 5_u32..60) {
            let items = u64::from(bins * per_bin);
            let shape = Shape { bins, capacity: per_bin + 1 };
            for (first, last) in [(1, 2), (bins / 2, bins / 2 + 1), (bins - 1, bins)] {
                prop_assume!(first > 0);
                let group = ln_overfull(items, shape, first, last);
                for size in first..=last {
                    prop_assert!(ln_overfull(items, shape, size, size) <= group + 1e-9);
                }
            }
        }

        /// Chernoff's bound is one.
        #[test]
        fn bounds_the_binomial_tail(items in 1_u32..200, q in 0.01..1.0_f64, p in 0.01..0.99_f64) {
            prop_assume!(q > p);
            let least = (q * f64::from(items)).ceil();
            let tail = crate::binomial::biased_tail(items, items - least as u32 + 1, 1.0 - p);
            let bound = -f64::from(items) * divergence(least / f64::from(items), p) / LN_2;
            prop_assert!(tail.log2() <= bound + 1e-6, "{} {bound}", tail.log2());
        }
    }
}
