//! Bins of 2-choice hashing (SpOT19 §4.2).
//!
//! Each of n items has two uniform, independent bins of m (they may be the same) and is placed in
//! one of them; no bin may have more items than its capacity c. SpOT19 asks for m = n/σ bins and
//! c = ⌈n/m⌉ + 1, and quotes an asymptotic bound of Sanders, Egner and Korst. Here is a concrete
//! one.
//!
//! **Proof.** By Hall's theorem a placement exists unless the items that have *both* bins in some
//! set S of s bins are more than s·c. An item has both bins there with probability (s/m)², so the
//! failure is at most
//!
//! > Σ_s C(m, s) · P\[Bin(n, (s/m)²) > s·c\],
//!
//! over all s with s·c < n, and Chernoff's bound exp(−n·D(k/n ‖ p)) serves for the tail from k on.
//! Beyond the first few thousand s, and where the summands are negligible, the sum goes over groups
//! of neighbouring s, each counted with the largest binomial coefficient, the largest p and the
//! smallest k of the group.
//!
//! **Shape.** SpOT19's capacity leaves one place of 41 empty. Far less will do: what the bound
//! needs is room for the items that a few unlucky bins lack, those to which fewer than c items
//! could go. Of such bins there are about e^(−0.31·c)·m. With 2^20 items and 2^-44, m = 87,691 bins
//! of 12 leave 0.35 % of the places empty, and 26,231 bins of 40 leave 0.06 %. Computing takes time
//! in proportion to c, so small bins cost hardly any places and much less time: [`cheapest`] takes
//! the best of both by the user's prices.
//!
//! Items with two *distinct* bins (balanced allocations, PSZ14 §6.1, where the sender's masks for
//! the two must differ) have both in S with probability s(s − 1)/(m(m − 1)), and the sum begins
//! with two bins. This matters for small bins: three items on one bin of two places are
//! likelier than five on two such bins.
//!
//! The placement is found whenever there is one (`psijoin_encode::TwoChoiceTable`), so this is
//! the failure probability of the protocol's step.

use std::f64::consts::LN_2;

use crate::{Error, Log2Prob, Sizes, binomial::ln_choose, ln_sum::LnSum, search::least};

pub use crate::simple::{Costs, Shape};

/// Sets of up to this many bins are counted size by size. Larger ones are counted in groups: as
/// many sizes as the first, divided by this.
const SINGLE: u32 = 2000;

/// Larger groups, too, are counted at once if they amount to less, as a logarithm: 2^-256.
const NEGLIGIBLE: f64 = -256.0 * LN_2;

/// The capacity from which [`cheapest`] looks for a better one.
const FIRST_CAPACITY: u32 = 16;

/// By how much, relatively, two given bins may be likelier than any others: a bin is a fraction of
/// 64 bits, and there are at most 2^28.
const BIAS: f64 = 1.0 / (1_u64 << 34) as f64;

/// The fewest bins of [`smallest`]: `psijoin_encode::BinHasher` has no fewer.
const MIN_BINS: u64 = 3;

/// Numbers of bins that [`smallest`] tries differ by this part of the fewest possible.
const STEPS: u64 = 64;

/// It tries up to eight times the fewest.
const MOST_STEPS: u64 = 7 * STEPS;

/// Returns the cheapest table in which items whose two bins may be the same find a place, except
/// with a probability of at most `share`: the fewest bins for some capacity, or one bin for all. A
/// table must not be cheaper than another with fewer bins, or with smaller ones.
///
/// # Errors
/// [`Error::TooManyAtOnce`] for a set that is too large for one run.
pub fn cheapest(items: u64, share: Log2Prob, cost: impl Fn(Shape) -> u128) -> Result<Shape, Error> {
    Sizes::new(0, items)?.at_once()?;
    let shape = |bins: u64, capacity| Shape {
        bins: bins as u32,
        capacity,
    };
    let fewest = |capacity: u32| items.div_ceil(capacity.into()).max(1);
    let sufficient = |capacity| {
        let suffices = |bins| failure(items, shape(bins, capacity)) <= share;
        let bins = least(fewest(capacity)..=2 * fewest(capacity), suffices);
        bins.map(|bins| shape(bins, capacity))
    };
    let all = items.max(1) as u32;
    let mut best = shape(1, all);
    // Bins become smaller until what stays empty outweighs that, or they do not suffice any more.
    for capacity in (1..=FIRST_CAPACITY.min(all)).rev() {
        match sufficient(capacity) {
            Some(shape) if cost(shape) < cost(best) => best = shape,
            _ => break,
        }
    }
    // Or they become larger, until they would be too dear even with no place empty.
    for capacity in FIRST_CAPACITY + 1..all {
        if cost(shape(fewest(capacity), capacity)) >= cost(best) {
            break;
        }
        match sufficient(capacity) {
            Some(shape) if cost(shape) < cost(best) => best = shape,
            _ => (),
        }
    }
    Ok(best)
}

/// Returns the cheapest table in which items with two distinct bins each find a place, except with
/// a probability of at most `share`.
///
/// # Errors
/// [`Error::TooManyAtOnce`] for a set that is too large for one run.
pub fn smallest(items: u64, share: Log2Prob, costs: Costs) -> Result<Shape, Error> {
    Sizes::new(0, items)?.at_once()?;
    let shape = |bins: u64, capacity| Shape {
        bins: bins as u32,
        capacity,
    };
    let mut best = shape(MIN_BINS, items.max(1) as u32);
    let mut capacity = 1;
    loop {
        let fewest = items.div_ceil(capacity.into()).max(MIN_BINS);
        let wider = |step: u64| shape(fewest + (fewest * step).div_ceil(STEPS), capacity);
        if costs.of(wider(0)) >= costs.of(best) {
            return Ok(best);
        }
        let dearer = |step| costs.of(wider(step)) >= costs.of(best);
        let suffices = |step| failure_distinct(items, wider(step)) <= share;
        let affordable = least(1..=MOST_STEPS, dearer).map_or(MOST_STEPS, |step| step - 1);
        if let Some(step) = least(0..=affordable, suffices) {
            best = wider(step);
        }
        capacity += (capacity / 4).max(1);
    }
}

/// Returns a bound on there being no placement of items whose two bins may be the same.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    union_bound(items, shape, 1, |set| (set / f64::from(shape.bins)).powi(2))
}

/// Returns a bound on there being no placement of items that have two distinct bins each.
pub fn failure_distinct(items: u64, shape: Shape) -> Log2Prob {
    let bins = f64::from(shape.bins);
    let pairs = bins * (bins - 1.0);
    union_bound(items, shape, 2, |set| set * (set - 1.0) / pairs)
}

/// Returns the sum over all numbers of bins from `first` on; an item has both of its bins in a set
/// of s with probability `inside(s)`.
fn union_bound(items: u64, shape: Shape, mut first: u32, inside: impl Fn(f64) -> f64) -> Log2Prob {
    let Shape { bins, capacity } = shape;
    if items <= capacity.into() {
        return Log2Prob::ZERO;
    }
    let mut sum = LnSum::default();
    let mut width = 1;
    while first <= bins && u64::from(first) * u64::from(capacity) < items && sum.ln() < 0.0 {
        let narrowest = 1 + first / SINGLE;
        width = width.max(narrowest);
        let last = (first + (width - 1)).min(bins);
        let group =
            f64::from(last - first + 1).ln() + ln_overfull(items, shape, first, last, &inside);
        if group <= NEGLIGIBLE {
            width *= 2;
        } else if width > narrowest {
            width /= 2;
            continue;
        }
        sum.add(group);
        first = last + 1;
    }
    Log2Prob::from_log2((sum.ln() / LN_2).min(0.0))
}

/// Returns a bound, as its logarithm, on any particular number of bins from `first` to `last`
/// having a set with too many items.
fn ln_overfull(
    items: u64,
    shape: Shape,
    first: u32,
    last: u32,
    inside: impl Fn(f64) -> f64,
) -> f64 {
    let (items, bins) = (items as f64, f64::from(shape.bins));
    // Binomial coefficients grow up to the middle, and fall after it.
    let largest = (bins / 2.0).clamp(first.into(), last.into());
    let p = (inside(last.into()) * (1.0 + BIAS)).min(1.0);
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

/// Returns D(q ‖ p) of two coins, for 0 < p < q ≤ 1.
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

    /// SpOT19 §4.2: n/m = λ = 40 items per bin, and one dummy: 2.5 % of all.
    #[test]
    fn one_dummy_a_bin_is_enough_as_spot19_says() {
        for log_n in 11..=24 {
            let items = 1_u64 << log_n;
            let bins = items.div_ceil(40) as u32;
            let capacity = items.div_ceil(bins.into()) as u32 + 1;
            let failure = failure(items, Shape { bins, capacity });
            assert!(failure <= share(), "2^{log_n}: {failure}");
        }
    }

    /// A place takes time in proportion to the capacity, and some time of its own.
    fn price(shape: Shape) -> u128 {
        u128::from(shape.slots()) * u128::from(shape.capacity + 20)
    }

    #[test]
    fn the_cheapest_table_has_small_bins_and_few_dummies() {
        for log_n in 10..=24 {
            let items = 1_u64 << log_n;
            let shape = cheapest(items, share(), price).unwrap();
            let dummies = shape.slots() as f64 / items as f64 - 1.0;
            assert!((5..=8).contains(&shape.capacity), "2^{log_n}: {shape:?}");
            assert!(dummies < 0.07, "2^{log_n}: {dummies}");
        }
    }

    /// With one bin or one place a bin less, it fails too often; with any other capacity, it costs
    /// more.
    #[test]
    fn the_cheapest_table_is_tight() {
        for items in [1000, 4096, 1 << 16, 1 << 20] {
            let best = cheapest(items, share(), price).unwrap();
            let Shape { bins, capacity } = best;
            assert!(failure(items, best) <= share());
            for less in [
                Shape {
                    bins: bins - 1,
                    ..best
                },
                Shape {
                    capacity: capacity - 1,
                    ..best
                },
            ] {
                assert!(failure(items, less) > share(), "{items}, {less:?}");
            }
            for capacity in (4..=60).filter(|other| *other != capacity) {
                let fewest = items.div_ceil(capacity.into());
                let suffices = |bins| {
                    let bins = bins as u32;
                    failure(items, Shape { bins, capacity }) <= share()
                };
                if let Some(bins) = least(fewest..=4 * fewest, suffices) {
                    let bins = bins as u32;
                    let other = Shape { bins, capacity };
                    assert!(price(other) >= price(best), "{items}: {best:?}, {other:?}");
                }
            }
        }
    }

    #[test]
    fn a_few_items_share_one_bin() {
        for items in [0, 1, 2, 5, 20] {
            let shape = cheapest(items, share(), price).unwrap();
            let expected = Shape {
                bins: 1,
                capacity: (items as u32).max(1),
            };
            assert_eq!(shape, expected, "{items}");
            assert_eq!(failure(items, shape), Log2Prob::ZERO);
        }
    }

    #[test]
    fn the_largest_set_has_a_shape_at_every_level() {
        for bits in [44.0, 67.0, 84.0] {
            let share = Log2Prob::from_log2(-bits);
            let shape = cheapest(Sizes::MAX_AT_ONCE, share, price).unwrap();
            assert!(shape.bins > 1 && failure(Sizes::MAX_AT_ONCE, shape) <= share);
        }
        assert!(cheapest(Sizes::MAX_AT_ONCE + 1, share(), price).is_err());
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

    /// Returns the exact probability, by trying all pairs of distinct bins and Hall's condition.
    fn by_enumeration(items: u32, shape: Shape) -> f64 {
        let pairs: Vec<u32> = (0_u32..1 << shape.bins)
            .filter(|set| set.count_ones() == 2)
            .collect();
        let choices = pairs.len().pow(items);
        let failing = (0..choices).filter(|choice| {
            let chosen: Vec<u32> =
                std::iter::successors(Some(*choice), |rest| Some(rest / pairs.len()))
                    .take(items as usize)
                    .map(|rest| pairs[rest % pairs.len()])
                    .collect();
            (0_u32..1 << shape.bins).any(|set| {
                let inside = chosen.iter().filter(|pair| **pair & !set == 0).count();
                inside as u32 > set.count_ones() * shape.capacity
            })
        });
        (failing.count() as f64 / choices as f64).log2()
    }

    #[test]
    fn is_above_the_exact_probability_of_tiny_tables() {
        for (items, bins, capacity) in [(3, 3, 1), (3, 4, 1), (4, 5, 1), (5, 3, 2), (6, 4, 2)] {
            let shape = Shape { bins, capacity };
            let bound = failure_distinct(items.into(), shape).log2();
            let exact = by_enumeration(items, shape);
            assert!(bound >= exact, "{items}, {shape:?}: {bound} < {exact}");
            assert!(bound < exact + 4.0, "{items}, {shape:?}: {bound}, {exact}");
        }
    }

    /// Items on one bin are the likeliest obstacle where bins may agree.
    #[test]
    fn distinct_bins_make_small_bins_safe() {
        let shape = Shape {
            bins: 26_625,
            capacity: 3,
        };
        assert!(failure(1 << 16, shape).log2() > -43.0);
        assert!(failure_distinct(1 << 16, shape).log2() < -65.0);
    }

    /// Returns about what places and masks of PSZ14's sets of equal sizes cost.
    fn costs(items: u64, letters: u64) -> Costs {
        Costs {
            place_bits: 256 * letters,
            capacity_bits: 2 * 62 * items,
        }
    }

    #[test]
    fn smallest_tables_have_hardly_more_places_than_items() {
        for (log_n, letters, capacity) in [(8, 4, 5), (16, 4, 3), (20, 4, 3), (20, 11, 5)] {
            let n = 1_u64 << log_n;
            let shape = smallest(n, share(), costs(n, letters)).unwrap();
            assert_eq!(shape.capacity, capacity, "2^{log_n}");
            assert!(shape.slots() as f64 <= 1.25 * n as f64, "{shape:?}");
        }
        assert!(smallest(Sizes::MAX_AT_ONCE + 1, share(), costs(1, 4)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn smallest_keeps_within_the_share_and_wastes_little(
            items in 1_u64..3000,
            sender in 1_u64..3000,
            letters in 1_u64..12,
        ) {
            let costs = Costs { capacity_bits: 124 * sender, ..costs(items, letters) };
            let shape = smallest(items, share(), costs).unwrap();
            prop_assert!(failure_distinct(items, shape) <= share());
            let step = items.div_ceil(shape.capacity.into()).max(MIN_BINS).div_ceil(STEPS) as u32;
            let fewer = Shape { bins: shape.bins - step, ..shape };
            prop_assert!(
                u64::from(fewer.bins) < MIN_BINS || failure_distinct(items, fewer) > share()
            );
        }
    }

    proptest! {
        /// Groups of sizes bound no less than single ones.
        #[test]
        fn groups_are_pessimistic(bins in 2_u32..400, per_bin in 5_u32..60) {
            let items = u64::from(bins * per_bin);
            let shape = Shape { bins, capacity: per_bin + 1 };
            for (first, last) in [(1, 2), (bins / 2, bins / 2 + 1), (bins - 1, bins)] {
                prop_assume!(first > 0);
                let inside = |set: f64| (set / f64::from(bins)).powi(2);
                let group = ln_overfull(items, shape, first, last, inside);
                for size in first..=last {
                    prop_assert!(ln_overfull(items, shape, size, size, inside) <= group + 1e-9);
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
