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
//! 2^(b − 128). If a polynomial has k buckets, an item is in each with the same probability: with B
//! the number of the receiver's items in a bucket, E\[2^B\] ≤ (1 + 1/k)^capacity. Small polynomials
//! share a bucket: q of them have at most q·capacity items in it. [`selector_failure`] is the union
//! bound over buckets and evaluations.

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

/// Which polynomials have which buckets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buckets {
    /// Polynomials that share buckets.
    pub polynomials: u64,
    /// Buckets that they have. Either number is one.
    pub count: u64,
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

/// Returns a bound on any selectors being dependent.
pub fn selector_failure(layout: Layout, buckets: Buckets) -> Log2Prob {
    let Buckets { polynomials, count } = buckets;
    let events = u128::from(layout.polynomials.div_ceil(polynomials)) * u128::from(count);
    let items = (polynomials * layout.capacity) as f64;
    let log2_mean = items * (1.0 / count as f64).ln_1p() / std::f64::consts::LN_2;
    let log2 = log2_mean - f64::from(SELECTOR_BITS);
    Log2Prob::from_log2(log2).times(events + u128::from(layout.evaluations))
}

/// Returns the fewest buckets that keep within `share`: as many polynomials to one as can be, or
/// as few as can be to one polynomial.
///
/// # Errors
/// [`Error::Unreachable`] if not even as many buckets as points do.
pub fn buckets(layout: Layout, share: Log2Prob) -> Result<Buckets, Error> {
    let suffices = |buckets| selector_failure(layout, buckets) <= share;
    let shared = |polynomials| Buckets {
        polynomials,
        count: 1,
    };
    let own = |count| Buckets {
        polynomials: 1,
        count,
    };
    if suffices(shared(1)) {
        let too_many = least(1..=layout.polynomials, |count| !suffices(shared(count)));
        return Ok(shared(
            too_many.map_or(layout.polynomials, |count| count - 1),
        ));
    }
    // The mean falls faster than the number of buckets grows, down to one item a bucket.
    let count = least(1..=layout.capacity.max(1), |count| suffices(own(count)));
    count.map(own).ok_or(Error::Unreachable {
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
        polynomials: 105_587,
        capacity: 10,
        evaluations: 1 << 21,
    };
    /// SpOT19's own bins.
    const BINS_OF_40: Layout = Layout {
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

    fn buckets_of(layout: Layout, bits: f64) -> [u64; 2] {
        let Buckets { polynomials, count } = buckets(layout, share(bits)).unwrap();
        [polynomials, count]
    }

    #[test]
    fn bins_of_a_million_items_share_a_bucket_and_need_a_hundred_bits() {
        assert_eq!(buckets_of(SPOT_FAST, 46.0), [6, 1]);
        assert_eq!(buckets_of(BINS_OF_40, 46.0), [1, 1]);
        assert!(point_failure(SPOT_FAST, 100) < share(67.0));
        assert!(point_failure(SPOT_LOW, 100) < share(58.0));
    }

    /// At 80 bits of security a bin of 81 items needs several; a set without bins some ten
    /// thousand.
    #[test]
    fn buckets_are_as_few_as_suffice() {
        for (layout, bits, expected) in [(BINS_OF_40, 86.0, 3..7), (SPOT_LOW, 46.0, 20_000..40_000)]
        {
            let [polynomials, count] = buckets_of(layout, bits);
            assert_eq!(polynomials, 1);
            assert!(expected.contains(&count), "{count}");
            let failure = |count| selector_failure(layout, Buckets { polynomials, count });
            assert!(failure(count) <= share(bits));
            assert!(failure(count - 1) > share(bits));
        }
    }

    #[test]
    fn as_many_polynomials_share_a_bucket_as_may() {
        for bits in [46.0, 60.0, 86.0] {
            let [polynomials, count] = buckets_of(SPOT_FAST, bits);
            assert_eq!(count, 1);
            let failure = |polynomials| selector_failure(SPOT_FAST, Buckets { polynomials, count });
            assert!(failure(polynomials) <= share(bits), "{bits}");
            assert!(failure(polynomials + 1) > share(bits), "{bits}");
        }
        let few = Layout {
            polynomials: 3,
            ..SPOT_FAST
        };
        assert_eq!(buckets_of(few, 46.0), [3, 1]);
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
        let count = 7.0_f64;
        let mut mean = 0.0;
        let mut probability = (1.0 - 1.0 / count).powi(20);
        for load in 0..=20 {
            mean += probability * 2f64.powi(load);
            probability *= f64::from(20 - load) / f64::from(load + 1) / (count - 1.0);
        }
        let buckets = Buckets {
            polynomials: 1,
            count: 7,
        };
        let failure = selector_failure(layout, buckets).log2();
        let expected = mean.log2() + count.log2() - 128.0;
        assert!((failure - expected).abs() < 1e-9, "{failure}, {expected}");
    }

    proptest! {
        #[test]
        fn more_buckets_never_hurt_before_there_are_as_many_as_items(
            capacity in 1_u64..1 << 26, evaluations in 0_u64..1 << 27, buckets in 1_u64..1 << 26,
        ) {
            let layout = Layout { polynomials: 3, capacity, evaluations };
            prop_assume!(buckets < capacity);
            let failure = |count| {
                let buckets = Buckets { polynomials: 1, count };
                selector_failure(layout, buckets).log2()
            };
            prop_assert!(failure(buckets + 1) <= failure(buckets) + 1e-9);
        }
    }
}
