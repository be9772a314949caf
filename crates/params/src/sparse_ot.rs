//! The events that may fail in sparse OT extension (SpOT19), apart from the distance that
//! [`code`](crate::code) bounds.
//!
//! A polynomial goes through at most `capacity` points of the receiver; there are `polynomials` of
//! them, and the sender evaluates at `evaluations` points in all.
//!
//! **Points** are uniform elements of a field of 2^b elements. Two of the receiver's in one
//! polynomial must differ, and the sender's must differ from those of the receiver's other items;
//! neither may lie on the subspace of 2^⌈log2 capacity⌉ elements that the computation uses.
//! [`point_failure`] is the union bound.
//!
//! **Selectors.** The extension matrix has a row for each possible item: a sum of some of the 128
//! rows of the item's bucket, which a uniform selector of 128 bits picks. Rows of the
//! receiver's items are independent and uniform if their selectors are linearly independent in each
//! bucket, and so is that of another item if its selector is not in their span. The i-th
//! selector of a bucket is in the span of those before it with probability 2^(i − 1 − 128), so
//! b of them are dependent with less than 2^(b − 128), and a further one is in their span with
//! 2^(b − 128). Each polynomial has `buckets` buckets, and an item is in each with the same
//! probability: with B the number of the receiver's items in a bucket,
//! E\[2^B\] ≤ (1 + 1/buckets)^capacity. [`selector_failure`] is the union bound over buckets and
//! evaluations.

use crate::{Error, Log2Prob, search::least};

/// Bits of a selector: rows of a bucket.
pub const SELECTOR_BITS: u32 = 128;

/// The division of the receiver's set among polynomials, and the number of evaluations by the
/// sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// The number of polynomials.
    pub polynomials: u64,
    /// Points of each.
    pub capacity: u64,
    /// The number of values that the sender computes in all.
    pub evaluations: u64,
}

/// Returns a bound on any point of `point_bits` bits being unfit.
pub fn point_failure(layout: Layout, point_bits: u32) -> Log2Prob {
    let Layout {
        polynomials,
        capacity,
        evaluations,
    } = layout;
    let [polynomials, capacity, evaluations] = [polynomials, capacity, evaluations].map(u128::from);
    let own = polynomials * (capacity * capacity.saturating_sub(1) / 2);
    let others = evaluations * capacity;
    let on_subspace = (polynomials * capacity + evaluations) * capacity.next_power_of_two();
    Log2Prob::from_log2(-f64::from(point_bits)).times(own + others + on_subspace)
}

/// Returns a bound on any selectors being dependent, with this many buckets for each polynomial.
pub fn selector_failure(layout: Layout, buckets: u64) -> Log2Prob {
    let events = u128::from(layout.polynomials) * u128::from(buckets);
    let log2_mean =
        layout.capacity as f64 * (1.0 / buckets as f64).ln_1p() / std::f64::consts::LN_2;
    let log2 = log2_mean - f64::from(SELECTOR_BITS);
    Log2Prob::from_log2(log2).times(events + u128::from(layout.evaluations))
}

/// Returns the smallest number of buckets for each polynomial that keeps within `share`.
///
/// # Errors
/// [`Error::Unreachable`] if not even as many buckets as points do.
pub fn buckets(layout: Layout, share: Log2Prob) -> Result<u64, Error> {
    let suffices = |buckets| selector_failure(layout, buckets) <= share;
    // The mean falls faster than the number of buckets grows, down to one item a bucket.
    least(1..=layout.capacity.max(1), suffices).ok_or(Error::Unreachable {
        parameter: "number of buckets",
        share,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(bits: f64) -> Log2Prob {
        Log2Prob::from_log2(-bits)
    }

    const SPOT_FAST: Layout = Layout {
        polynomials: 26_215,
        capacity: 41,
        evaluations: 1 << 21,
    };
    const SPOT_LOW: Layout = Layout {
        polynomials: 1,
        capacity: 1 << 20,
        evaluations: 1 << 20,
    };

    #[test]
    fn points_of_one_polynomial_meet_by_birthday() {
        let layout = Layout {
            polynomials: 1,
            capacity: 4,
            evaluations: 3,
        };
        // 6 pairs of its own, 12 with the sender's, 7 points that may be one of 4.
        let failure = point_failure(layout, 100).log2();
        assert!((failure - (46f64.log2() - 100.0)).abs() < 1e-12);
    }

    #[test]
    fn bins_of_a_million_items_need_one_bucket_and_a_hundred_bits() {
        assert_eq!(buckets(SPOT_FAST, share(46.0)), Ok(1));
        assert!(point_failure(SPOT_FAST, 100) < share(67.0));
        assert!(point_failure(SPOT_LOW, 100) < share(58.0));
    }

    /// At 80 bits of security a bin of 81 items needs several; a set without bins some ten
    /// thousand.
    #[test]
    fn buckets_are_as_few_as_suffice() {
        for (layout, bits, expected) in [(SPOT_FAST, 86.0, 3..7), (SPOT_LOW, 46.0, 20_000..40_000)]
        {
            let buckets = buckets(layout, share(bits)).unwrap();
            assert!(expected.contains(&buckets), "{buckets}");
            assert!(selector_failure(layout, buckets) <= share(bits));
            assert!(selector_failure(layout, buckets - 1) > share(bits));
        }
    }

    #[test]
    fn nothing_suffices_for_the_impossible() {
        assert!(buckets(SPOT_FAST, share(127.0)).is_err());
    }

    /// The mean of 2^B by its definition.
    #[test]
    fn the_mean_is_that_of_the_binomial_distribution() {
        let layout = Layout {
            polynomials: 1,
            capacity: 20,
            evaluations: 0,
        };
        let buckets = 7.0_f64;
        let mut mean = 0.0;
        let mut probability = (1.0 - 1.0 / buckets).powi(20);
        for load in 0..=20 {
            mean += probability * 2f64.powi(load);
            probability *= f64::from(20 - load) / f64::from(load + 1) / (buckets - 1.0);
        }
        let failure = selector_failure(layout, 7).log2();
        let expected = mean.log2() + buckets.log2() - 128.0;
        assert!((failure - expected).abs() < 1e-9, "{failure}, {expected}");
    }

    proptest! {
        #[test]
        fn more_buckets_never_hurt_before_there_are_as_many_as_items(
            capacity in 1_u64..1 << 26, evaluations in 0_u64..1 << 27, buckets in 1_u64..1 << 26,
        ) {
            let layout = Layout { polynomials: 3, capacity, evaluations };
            prop_assume!(buckets < capacity);
            prop_assert!(selector_failure(layout, buckets + 1).log2()
                <= selector_failure(layout, buckets).log2() + 1e-9);
        }
    }
}
