//! Bins of simple hashing (PSZ14 §6.1, Appendix E): each of n items lies in one of b bins, drawn
//! uniformly, and no bin may have more than its capacity c.
//!
//! By the union bound over the bins a bin has too many with probability at most
//! b·P\[Bin(n, 1/b) > c\], which is summed exactly (PSZ14 uses an asymptotic formula with a
//! factor that is chosen by experiment).

use crate::{Error, Log2Prob, Sizes, binomial, search::least};

/// The number of bins, and of items that each has room for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// b.
    pub bins: u32,
    /// c.
    pub capacity: u32,
}

impl Shape {
    /// Places for items, those that stay empty included.
    pub fn slots(self) -> u64 {
        u64::from(self.bins) * u64::from(self.capacity)
    }
}

/// The cost of a table on the wire, in bits both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// A place for an item. There are b·c of them.
    pub place_bits: u64,
    /// One more place in all bins: what each item of the sender is compared with grows by one for
    /// each bin that it has.
    pub capacity_bits: u64,
}

impl Costs {
    /// Returns what a table of this shape costs.
    pub(crate) fn of(self, shape: Shape) -> u128 {
        u128::from(shape.slots()) * u128::from(self.place_bits)
            + u128::from(shape.capacity) * u128::from(self.capacity_bits)
    }
}

/// By how much, relatively, a bin may be likelier than another: it is a fraction of 64 bits.
const BIAS: f64 = 1.0 / (1_u64 << 36) as f64;

/// Steps of the search for each doubling of the number of bins.
const STEPS: u32 = 8;

/// Returns the cheapest table with room for `items` items, except with a probability of at most
/// `share`: one bin with room for all at the one end, one bin an item at the other.
///
/// # Errors
/// [`Error::TooManyAtOnce`] for a set that is too large for one run.
pub fn smallest(items: u64, share: Log2Prob, costs: Costs) -> Result<Shape, Error> {
    Sizes::new(0, items)?.at_once()?;
    let steps = items.max(1).ilog2() * STEPS;
    let shape = |step| {
        let bins = (f64::from(step) / f64::from(STEPS)).exp2() as u32;
        of_bins(items, bins, share)
    };
    let cheapest = (0..=steps).map(shape).min_by_key(|shape| costs.of(*shape));
    Ok(cheapest.expect("there is always one bin"))
}

/// Returns this many bins, as small as suffices for `items` items, except with a probability of at
/// most `share`.
///
/// # Panics
/// If there is no bin.
pub fn of_bins(items: u64, bins: u32, share: Log2Prob) -> Shape {
    Shape {
        bins,
        capacity: capacity(items, bins, share),
    }
}

/// Returns the smallest capacity, at least one, that all of `bins` bins keep except with
/// probability `share`.
fn capacity(items: u64, bins: u32, share: Log2Prob) -> u32 {
    let suffices = |capacity: u64| {
        let capacity = capacity as u32;
        failure(items, Shape { bins, capacity }) <= share
    };
    let capacity = least(1..=items.max(1), suffices);
    capacity.expect("a bin may have room for all") as u32
}

/// Returns a bound on any bin having more items than there is room for.
///
/// # Panics
/// If there is no bin.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    assert!(shape.bins > 0, "items need a bin");
    if items <= u64::from(shape.capacity) {
        return Log2Prob::ZERO;
    }
    if shape.bins == 1 {
        return Log2Prob::ONE;
    }
    let success = (1.0 + BIAS) / f64::from(shape.bins);
    binomial::upper_tail(items, u64::from(shape.capacity) + 1, success).times(shape.bins.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share() -> Log2Prob {
        Log2Prob::from_log2(-43.0)
    }

    fn fails(items: u64, bins: u32, capacity: u32) -> f64 {
        failure(items, Shape { bins, capacity }).log2()
    }

    /// PSZ14, Table 10: for n = 2^18 = c·b·ln b items and bins of d·ln b the experiments failed
    /// in no case up to c = 1, then in 0.4 % at c = 2, 2.1 % at c = 4 and always at c = 8. The
    /// bound tells the same, and what was hidden behind the zeros.
    #[test]
    fn reproduces_the_shape_of_psz14_table_10() {
        let n = (1_u64 << 18) as f64;
        let bounds = [(0.25, 2.2), (0.5, 2.8), (1.0, 3.7), (2.0, 5.3), (4.0, 8.1)].map(|(c, d)| {
            let mut bins = n / 10.0;
            for _ in 0..50 {
                bins = n / (c * bins.ln());
            }
            fails(n as u64, bins as u32, (d * bins.ln()) as u32)
        });
        assert!(bounds.is_sorted(), "{bounds:?}");
        assert!(bounds[2] < -12.0, "no failure in 10^5 runs: {bounds:?}");
        assert!(bounds[0] > -40.0, "but far more than 2^-40: {bounds:?}");
    }

    #[test]
    fn is_the_smallest_capacity_that_suffices() {
        for (items, bins) in [(1, 1), (10, 1), (10, 10), (1000, 100), (1 << 20, 1 << 17)] {
            let capacity = capacity(items, bins, share());
            assert!(failure(items, Shape { bins, capacity }) <= share());
            if capacity > 1 {
                let less = Shape {
                    bins,
                    capacity: capacity - 1,
                };
                assert!(failure(items, less) > share());
            }
        }
    }

    #[test]
    fn costs_decide_between_few_and_many_bins() {
        let shape = |place_bits, capacity_bits| {
            let costs = Costs {
                place_bits,
                capacity_bits,
            };
            smallest(1 << 16, share(), costs).unwrap()
        };
        assert_eq!(
            shape(1, 0),
            Shape {
                bins: 1,
                capacity: 1 << 16
            }
        );
        let dear_places = shape(2048, 60 << 16);
        let dear_masks = shape(512, 60 << 16);
        assert!(dear_places.bins < dear_masks.bins);
        assert!(dear_places.capacity > dear_masks.capacity);
        assert!(failure(1 << 16, dear_places) <= share());
    }

    /// The union bound is above the rate of failure, and near it where failures are rare.
    #[test]
    fn is_the_rate_of_failure_of_two_bins() {
        // Bin(4, 1/2) > 3 in either of two bins: 2/16.
        assert!((fails(4, 2, 3) + 3.0).abs() < 1e-6);
        assert_eq!(fails(4, 1, 3), 0.0);
        assert_eq!(
            failure(
                3,
                Shape {
                    bins: 1,
                    capacity: 3
                }
            ),
            Log2Prob::ZERO
        );
    }
}
