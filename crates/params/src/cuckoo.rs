//! Bins and stash of 3-way Cuckoo hashing.
//!
//! Each of n items may lie in one of three *distinct* bins, drawn uniformly, and each of the b bins
//! holds at most one item; up to s items that find no place go to the stash. [`failure`] bounds the
//! probability that no such placement exists. It is the failure probability of `psijoin-encode`'s
//! table, which finds every placement that exists; published stash sizes also pay for the random
//! walk that gives up early.
//!
//! Three distinct bins matter for small sets: if the hash functions could agree, two items
//! that meet in a single bin (probability about n²/b⁵) would fail more often than anything
//! else; with distinct bins the likeliest obstacle is four items on the same three bins
//! (about 9·n⁴/b⁹).
//!
//! # How many bins
//!
//! A placement exists, with probability tending to 1, down to 1.089 bins per item, and the
//! bound is useful down to about 1.20. [`smallest`] never goes below
//! [1.23](MIN_BINS_PERCENT): above 1/0.818 = 1.222 *peeling* (placing items that are alone
//! in a bin, again and again) places nearly all items, in linear time; below it most items would be
//! left to a search that is far slower. At 2^-42 (σ = 40 and a quarter share) the result is 1.23
//! bins per item and no stash from 2^11 items on, with room to spare (2^-99 at 2^20); smaller sets
//! need more: 1.40 and one stash place at 2^8, or 1.58 if the sender's set makes a stash place
//! expensive.

mod bound;

pub use bound::{failure, failure_without_replacement};

use crate::{Error, Log2Prob, search};

/// Bins per hundred items, at least: enough for placing by peeling alone.
pub const MIN_BINS_PERCENT: u64 = 123;

/// The most bins that a table has: hash functions map to bins with a relative bias of up
/// to 2^-34, for which [`failure`] allows.
pub const MAX_BINS: u32 = 1 << 28;

/// The largest stash that [`smallest`] considers.
pub const MAX_STASH: u32 = 16;

/// Every item has three bins, so that there are at least three.
const MIN_BINS: u32 = 3;

/// The size of a Cuckoo table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Bins. Each holds at most one item.
    pub bins: u32,
    /// Places for items that found no bin.
    pub stash: u32,
}

/// The cost of a table on the wire, in bits both ways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Costs {
    /// One more bin: usually one code word.
    pub bin_bits: u64,
    /// One more place in the stash: usually one code word, and one mask for each item of
    /// the sender, which must try all of them there.
    pub stash_bits: u64,
}

impl Costs {
    /// Returns the cost of a table.
    pub fn of(self, shape: Shape) -> u128 {
        u128::from(shape.bins) * u128::from(self.bin_bits)
            + u128::from(shape.stash) * u128::from(self.stash_bits)
    }
}

/// Returns the cheapest table in which `items` items find a place, except with a probability of at
/// most `share`: stash sizes 0 to [`MAX_STASH`] are tried, each with the fewest bins that suffice
/// (at least 1.23 per item, and at least 3).
///
/// # Errors
/// [`Error::Unreachable`] if no table of up to [`MAX_BINS`] bins keeps within `share`.
pub fn smallest(items: u64, share: Log2Prob, costs: Costs) -> Result<Shape, Error> {
    smallest_by(items, 0, share, costs, |shape| failure(items, shape))
}

/// Returns the cheapest table of at least `least_bins` bins, where `failure` bounds how likely a
/// table is not to hold the items.
///
/// # Errors
/// As [`smallest`].
pub fn smallest_by(
    items: u64,
    least_bins: u64,
    share: Log2Prob,
    costs: Costs,
    failure: impl Fn(Shape) -> Log2Prob,
) -> Result<Shape, Error> {
    let unreachable = Error::Unreachable {
        parameter: "Cuckoo table",
        share,
    };
    let floor = items.saturating_mul(MIN_BINS_PERCENT).div_ceil(100);
    let floor = floor.max(MIN_BINS.into()).max(least_bins);
    let floor = u32::try_from(floor).map_err(|_| unreachable.clone())?;

    let mut best: Option<Shape> = None;
    for stash in 0..=MAX_STASH {
        let at_best = costs.of(Shape { bins: floor, stash });
        if best.is_some_and(|best| costs.of(best) <= at_best) {
            break;
        }
        let Some(bins) = fewest_bins(stash, floor, share, &failure) else {
            continue;
        };
        let shape = Shape { bins, stash };
        if best.is_none_or(|best| costs.of(shape) < costs.of(best)) {
            best = Some(shape);
        }
    }
    best.ok_or(unreachable)
}

/// Returns the fewest bins, from `floor` up, that suffice beside a stash of this size.
fn fewest_bins(
    stash: u32,
    floor: u32,
    share: Log2Prob,
    failure: &impl Fn(Shape) -> Log2Prob,
) -> Option<u32> {
    let suffices = |bins| failure(Shape { bins, stash }) <= share;
    if floor > MAX_BINS {
        return None;
    }
    if suffices(floor) {
        return Some(floor);
    }
    let (mut too_few, mut enough) = (floor, floor);
    while !suffices(enough) {
        if enough == MAX_BINS {
            return None;
        }
        too_few = enough;
        enough = enough.saturating_mul(2).min(MAX_BINS);
    }
    Some(search::narrow(too_few, enough, 1, suffices))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quarter_of_40() -> Log2Prob {
        Log2Prob::from_log2(-42.0)
    }

    /// Returns about what KKRT16's table costs.
    fn costs(sender_items: u64) -> Costs {
        Costs {
            bin_bits: 440,
            stash_bits: 440 + 60 * sender_items,
        }
    }

    #[test]
    fn no_stash_and_1_23_bins_an_item_from_2_to_the_11() {
        for log_n in [11, 12, 16, 20, 24, 26] {
            let items = 1u64 << log_n;
            let shape = smallest(items, quarter_of_40(), costs(items)).unwrap();
            let bins = (items * MIN_BINS_PERCENT).div_ceil(100) as u32;
            assert_eq!(shape, Shape { bins, stash: 0 }, "2^{log_n} items");
        }
    }

    #[test]
    fn small_sets_take_a_stash_or_more_bins() {
        let equal = smallest(256, quarter_of_40(), costs(256)).unwrap();
        assert_eq!(
            equal,
            Shape {
                bins: 359,
                stash: 1
            }
        );
        let large_sender = smallest(256, quarter_of_40(), costs(1 << 26)).unwrap();
        assert_eq!(
            large_sender,
            Shape {
                bins: 405,
                stash: 0
            }
        );
    }

    #[test]
    fn sets_too_small_to_fail_get_the_floor() {
        for (items, bins) in [(0, 3), (1, 3), (2, 3), (3, 4)] {
            let shape = smallest(items, quarter_of_40(), costs(1 << 20)).unwrap();
            assert_eq!(shape, Shape { bins, stash: 0 }, "{items} items");
            assert_eq!(failure(items, shape), Log2Prob::ZERO);
        }
    }

    /// KKRT16, Table 2, has stashes of 12, 6, 4, 3, 2 beside 1.2n bins, from experiments
    /// with hash functions that may agree (PSSZ15). From 2^16 on our bound confirms them
    /// (and needs no stash at all); for 2^8 and 2^12 it is too weak at 1.2n bins, where the
    /// first moment is near its threshold, and proves 2^-19 and 2^-20 only.
    #[test]
    fn published_stash_sizes_suffice_for_large_sets() {
        let bound = |log_n: u32, stash| {
            let items = 1u64 << log_n;
            failure(
                items,
                Shape {
                    bins: (items * 6 / 5) as u32,
                    stash,
                },
            )
            .log2()
        };
        for (log_n, stash) in [(16, 4), (20, 3), (24, 2)] {
            assert!(bound(log_n, stash) < -200.0, "2^{log_n}");
            assert!(bound(log_n, 0) < -79.0, "2^{log_n}");
        }
        for (log_n, stash) in [(8, 12), (12, 6)] {
            let bound = bound(log_n, stash);
            assert!((-25.0..-15.0).contains(&bound), "2^{log_n}: {bound}");
        }
    }

    #[test]
    fn what_cannot_be_reached_is_an_error() {
        let error = smallest(1 << 20, Log2Prob::ZERO, costs(1 << 20)).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Unreachable {
                    parameter: "Cuckoo table",
                    ..
                }
            ),
            "{error}"
        );
        assert!(smallest(u64::MAX, quarter_of_40(), costs(1)).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn keeps_within_the_share_and_wastes_no_bin(
            items in 4u64..3000,
            share in -83.0..-30.0f64,
            stash_bits in 0u64..1 << 20,
        ) {
            let share = Log2Prob::from_log2(share);
            let shape = smallest(items, share, Costs { bin_bits: 440, stash_bits }).unwrap();
            prop_assert!(failure(items, shape) <= share);
            let floor = (items * MIN_BINS_PERCENT).div_ceil(100) as u32;
            prop_assert!(shape.bins >= floor);
            if shape.bins > floor {
                let fewer = Shape { bins: shape.bins - 1, ..shape };
                prop_assert!(failure(items, fewer) > share);
            }
        }
    }
}
