//! Shape of an oblivious key-value store (OKVS).
//!
//! A vector of *segments*, each of as many *slots*, and of dense columns. An item's digest picks
//! the segment at which it starts, and a hash of it one slot in each of w consecutive segments,
//! from the start on, and g independent bits, one for each dense column. The value of the item is
//! the sum of its w slots and of the dense columns whose bit is 1. So the store is a system of
//! linear equations over GF(2), which `psijoin-encode` solves whenever its rows are linearly
//! independent. Values can be of any vector space over GF(2).
//!
//! With one start and w = 3 this is the store of RR22 (Rindal and Raghuraman, *Blazing Fast PSI*,
//! ePrint 2022/320, Figure 1), each slot from a third of its own. With many starts and w = 4 the
//! rows are *spatially coupled* (Dietzfelbinger and Walzer, *Dense Peelable Random Uniform
//! Hypergraphs*, ESA 2019): the first segments have few rows, which can be peeled; then the next
//! ones have few that are left, and so on through the store. So it can be filled to nearly as many
//! items as there are slots, where uniform slots end at 0.82 for w = 3.
//!
//! # What can fail, and what is proved
//!
//! [`failure`] is a union bound:
//!
//! - *A segment in which more rows have a slot than are counted on.* Items have binomially many
//!   neighbours; the tail is summed.
//! - *Dependent rows*: a nonempty set T of rows sums up to zero, in the slots and in the dense
//!   columns. Let μ be the expected number of nonempty sets whose *slots* sum up to zero, given the
//!   starts. The dense bits of a row are uniform, and independent of the slots and of other rows.
//!   So given the slots, the g dense bits of the sum of T are uniform for each nonempty T, and all
//!   are zero with probability 2^-g. By the union bound over the sets whose slots sum up to zero,
//!   the store fails with probability at most **μ·2^-g**. `okvs/dependent_sets.rs` bounds μ; the
//!   proof is claim 4 of `docs/rr22.md`.
//!
//! Nothing here is extrapolated from experiments. RR22's formulas are: they ask that peeling
//! leaves at most g rows, which is likelier to fail than independence and for which no sharp
//! bound is known, and fit e = 1.223 + (λ + 9.2)/s and g = ⌊λ/log2(e·n)⌋ to measured failures
//! down to 2^-30, where log2(s) = 0.555·log2(n) + 2.336. The fit matters for speed only: a store of
//! one start never goes below the e at which, by the fit, peeling leaves rows in one store of 2^8.
//! Such a store takes a few times as long. Coupled stores of the size that the bound asks for are
//! peeled to the end (`docs/bytes.md` has the trials).
//!
//! RR22's dense coefficients are powers of an element of GF(2^128), which take fewer columns (about
//! two). The bits take a few dozen, which is nothing beside a million slots; in return values need
//! not be in a field, and decoding takes no multiplications.
//!
//! The probabilities are over the key of the row hash, which must be drawn after the items
//! are fixed, and over the digests' first eight bytes.
//!
//! # What results
//!
//! At 2^20 items and 2^-44: 130 segments of 8,925 slots, and 47 dense columns: 1.107 elements per
//! item. With fewer than about 2^16 items there is one start: 1.24 elements per item at 2^14.

mod dependent_sets;

use dependent_sets::Segments;

use crate::{Error, Log2Prob, Sizes, binomial::upper_tail, search::least};

/// The most slots of all segments of a row: the encoder has 18 bits for how far, and on which side,
/// one slot of a row is from another. So a segment has less than 2^16 slots.
pub const MAX_ROW_SPAN: u32 = 1 << 17;

/// The most items of a store: a set in which each has three keys, and some more.
pub const MAX_ITEMS: u64 = 4 * Sizes::MAX_AT_ONCE;

/// The most dense columns: the row hash has this many bits for them.
pub const MAX_DENSE: u32 = 96;

/// Slots per item if there is one start. They peel at a higher load than two or four.
pub const UNIFORM_WEIGHT: u32 = 3;

/// Slots per item if there are many starts. Three would take 8 % more of them; five would take 2 %
/// less, and longer.
pub const COUPLED_WEIGHT: u32 = 4;

/// Stores of fewer items have one start, as the ends of a coupled one would take too much of it.
const FEWEST_COUPLED: u64 = 1 << 14;

/// Stores of more items are coupled: rows would have more than [`MAX_ROW_SPAN`] slots to choose
/// from.
const MOST_UNIFORM: u64 = 100_000;

/// About as many items start at a segment at most. The slots that are worked on at a time, of four
/// segments, then stay in a second-level cache.
const ITEMS_AT_A_START: u64 = 1 << 14;

/// The most slots that a store of one start gets, as a multiple of the fewest.
const MOST_SLOTS_FACTOR: u32 = 32;

/// Added to the logarithm (base 2) of the bound: rounding errors, and the bias of the choice
/// of a start by a fraction of 2^64.
const SLACK_LOG2: f64 = 1.0 / 64.0;

/// The shape of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Segments at which an item may start.
    pub starts: u32,
    /// Slots per item, in as many consecutive segments: [`UNIFORM_WEIGHT`] or [`COUPLED_WEIGHT`].
    pub weight: u32,
    /// Slots of a segment.
    pub segment_slots: u32,
    /// Items that may have a slot in the same segment.
    pub segment_items: u32,
    /// Dense columns.
    pub dense: u32,
}

impl Shape {
    /// Returns the number of segments.
    pub fn segments(&self) -> usize {
        (self.starts + self.weight - 1) as usize
    }

    /// Returns the number of slots, in all segments.
    pub fn slots(&self) -> usize {
        self.segments() * self.segment_slots as usize
    }

    /// Returns the number of elements: dense columns, then slots.
    #[expect(clippy::len_without_is_empty, reason = "no store is empty")]
    pub fn len(&self) -> usize {
        self.dense as usize + self.slots()
    }
}

/// Returns the smallest store for `items` items that cannot be encoded with a probability of at
/// most `share`, to about a thousandth of the slots.
///
/// Takes up to a millisecond.
///
/// # Errors
/// [`Error::Unreachable`] if there are more items than [`MAX_ITEMS`], or no shape
/// keeps within `share`.
pub fn smallest(items: u64, share: Log2Prob) -> Result<Shape, Error> {
    let uniform = (items <= MOST_UNIFORM)
        .then(|| uniform(items, share))
        .flatten();
    let coupled = (FEWEST_COUPLED..=MAX_ITEMS)
        .contains(&items)
        .then(|| coupled(items, share))
        .flatten();
    [uniform, coupled]
        .into_iter()
        .flatten()
        .min_by_key(Shape::len)
        .ok_or(Error::Unreachable {
            parameter: "key-value store",
            share,
        })
}

/// Returns a bound on the probability that `items` items cannot be encoded in a store of this
/// shape.
///
/// # Panics
/// If there are more items than [`MAX_ITEMS`], or the shape has no start, no slots, more than
/// [`MAX_ROW_SPAN`] of them in the segments of a row, another weight than those two, or more than
/// [`MAX_DENSE`] dense columns.
pub fn failure(items: u64, shape: Shape) -> Log2Prob {
    assert!(items <= MAX_ITEMS, "a store has at most 2^28 items");
    shape.check();
    let dependent = Log2Prob::from_log2(shape.dependent_sets_log2(items) - f64::from(shape.dense));
    shape
        .overload(items)
        .or(dependent)
        .and(Log2Prob::from_log2(SLACK_LOG2))
}

impl Shape {
    /// Checks that there can be such a store.
    ///
    /// # Panics
    /// If there cannot: see [`failure`].
    pub fn check(&self) {
        assert!(
            self.starts > 0
                && [UNIFORM_WEIGHT, COUPLED_WEIGHT].contains(&self.weight)
                && (1..=MAX_ROW_SPAN / self.weight).contains(&self.segment_slots)
                && self.dense <= MAX_DENSE,
            "a store has starts, 3 or 4 slots per item, 2^17 slots in the segments of a row at \
             most, and 96 dense columns"
        );
    }

    /// Returns a bound on more items than are counted on having a slot in any one segment.
    fn overload(&self, items: u64) -> Log2Prob {
        overload(items, self.starts, self.weight, self.segment_items.into())
    }

    /// Returns log2 μ.
    fn dependent_sets_log2(&self, items: u64) -> f64 {
        if items <= 1 {
            // One row is no zero.
            return f64::NEG_INFINITY;
        }
        let segments = Segments {
            count: self.segments() as u64,
            slots: self.segment_slots.into(),
            weight: self.weight,
            rows: items.min(self.segment_items.into()),
            // Slots are fractions of 2^32.
            bias: 1.0 + f64::from(self.segment_slots) / 32f64.exp2(),
        };
        segments.expected_log2()
    }

    /// Returns the shape with the fewest dense columns that suffice for `items` items.
    fn with_fewest_dense(self, items: u64, share: Log2Prob) -> Option<Self> {
        let share = share.minus(self.overload(items)).log2() - SLACK_LOG2;
        let needed = (self.dependent_sets_log2(items) - share).ceil().max(0.0);
        (needed <= f64::from(MAX_DENSE)).then_some(Self {
            dense: needed as u32,
            ..self
        })
    }
}

/// Returns the smallest store of one start.
fn uniform(items: u64, share: Log2Prob) -> Option<Shape> {
    let fewest = peeling_slots(items).div_ceil(UNIFORM_WEIGHT);
    let most = fewest
        .saturating_mul(MOST_SLOTS_FACTOR)
        .min(MAX_ROW_SPAN / UNIFORM_WEIGHT);
    let mut best: Option<Shape> = None;
    for segment_slots in (fewest..=most).step_by(1 + fewest as usize / 100) {
        let sparse = Shape {
            starts: 1,
            weight: UNIFORM_WEIGHT,
            segment_slots,
            segment_items: items as u32,
            dense: 0,
        };
        if best.is_some_and(|best| sparse.slots() >= best.len()) {
            break;
        }
        let shape = sparse.with_fewest_dense(items, share);
        best = [best, shape].into_iter().flatten().min_by_key(Shape::len);
    }
    best
}

/// Returns a small store of many starts.
fn coupled(items: u64, share: Log2Prob) -> Option<Shape> {
    let starts = coupled_starts(items, share);
    let half = share.and(Log2Prob::from_log2(-1.0));
    let suffices = |rows| overload(items, starts, COUPLED_WEIGHT, rows) <= half;
    let segment_items = least(0..=items, suffices)?;
    let with_slots = |segment_slots: u64| {
        let sparse = Shape {
            starts,
            weight: COUPLED_WEIGHT,
            segment_slots: segment_slots as u32,
            segment_items: segment_items as u32,
            dense: 0,
        };
        sparse.with_fewest_dense(items, share)
    };
    // A segment below a load of one needs few dense columns or more than there are. Eight columns
    // are a look-up for each item, so there are only as many as a roomy segment needs, or up to
    // the next multiple of eight.
    let full = segment_items.div_ceil(COUPLED_WEIGHT.into());
    let roomy = (full + full / 8).min((MAX_ROW_SPAN / COUPLED_WEIGHT).into());
    let dense = (with_slots(roomy)?.dense + 1).next_multiple_of(8);
    let suffices = |slots| with_slots(slots).is_some_and(|shape| shape.dense <= dense);
    with_slots(least(full..=roomy, suffices)?)
}

/// Returns the number of starts at which the store is smallest: few of them waste the slots of its
/// ends, where less than w starts have rows, and many starts have uneven numbers of rows.
///
/// With z starts there are 1 + (w − 1)/z times as many slots for the former, and about
/// 1 + d·√(z/(w·n)) for the latter, where d standard deviations are exceeded with probability
/// `share`. The product is smallest near z = (2(w − 1)·√(w·n)/d)^(2/3).
fn coupled_starts(items: u64, share: Log2Prob) -> u32 {
    /// About log2 of twice the number of segments.
    const SEGMENTS_LOG2: f64 = 8.0;
    let (n, w) = (items as f64, f64::from(COUPLED_WEIGHT));
    let deviations = (2.0 * std::f64::consts::LN_2 * (SEGMENTS_LOG2 - share.log2())).sqrt();
    let best = (2.0 * (w - 1.0) * (w * n).sqrt() / deviations).powf(2.0 / 3.0);
    (best as u32)
        .max(items.div_ceil(ITEMS_AT_A_START) as u32)
        .max(1)
}

/// Returns a bound on more than `rows` of the items having a slot in any one segment.
fn overload(items: u64, starts: u32, weight: u32, rows: u64) -> Log2Prob {
    if rows >= items {
        return Log2Prob::ZERO;
    }
    if starts <= weight {
        return Log2Prob::ONE;
    }
    let segments = starts + weight - 1;
    upper_tail(items, rows + 1, f64::from(weight) / f64::from(starts)).times(segments.into())
}

/// Returns the fewest slots above which peeling leaves rows in one store of about 2^8 only, so that
/// encoding takes no longer than it must: RR22, equations (2) and (3), for weight 3.
fn peeling_slots(rows: u64) -> u32 {
    let n = rows.max(1) as f64;
    let slope = (0.555 * n.log2() + 2.336).exp2();
    let expansion = 1.223 + (9.2 + 8.0) / slope;
    ((n * expansion).ceil() as u32).max(UNIFORM_WEIGHT)
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let shape = smallest(1 << 20, p(-44.0)).unwrap();
        let expected = Shape {
            starts: 127,
            weight: 4,
            segment_slots: 8_925,
            segment_items: 34_490,
            dense: 47,
        };
        assert_eq!(shape, expected);
        assert!(expansion(20, -44.0) < 1.107);
    }

    #[test]
    fn expansion_at_other_sizes() {
        for (log_items, least, most) in [
            (10, 1.34, 1.35),
            (12, 1.26, 1.27),
            (14, 1.24, 1.25),
            (16, 1.21, 1.24),
            (18, 1.14, 1.16),
            (22, 1.08, 1.09),
            (26, 1.06, 1.08),
        ] {
            let expansion = expansion(log_items, -44.0);
            assert!(
                (least..most).contains(&expansion),
                "2^{log_items}: {expansion}"
            );
        }
    }

    /// No other number of starts gives a store that is smaller by more than half a percent.
    #[test]
    fn the_number_of_starts_is_near_the_best() {
        for (items, share) in [(1 << 18, -44.0), (1 << 20, -44.0), (1 << 20, -84.0)] {
            let shape = smallest(items, p(share)).unwrap();
            let least = |starts: u32| {
                let half = p(share - 1.0);
                let rows = least(0..=items, |rows| overload(items, starts, 4, rows) <= half);
                let rows = rows.unwrap();
                let fits = |slots: u64| {
                    let sparse = Shape {
                        starts,
                        segment_slots: slots as u32,
                        segment_items: rows as u32,
                        dense: 0,
                        ..shape
                    };
                    sparse.with_fewest_dense(items, p(share))
                };
                let suffices = |slots| fits(slots).is_some();
                let slots = super::least(rows / 4..=rows, suffices).unwrap();
                fits(slots).unwrap().len()
            };
            for starts in [shape.starts / 2, shape.starts * 3 / 4, shape.starts * 3 / 2] {
                let other = least(starts) as f64;
                assert!(shape.len() as f64 <= 1.005 * other, "{items}, {starts}");
            }
        }
    }

    /// Up to the most items at the highest level: there is a bit for each column.
    #[test]
    fn each_level_is_reached_at_each_size() {
        for log_items in [0, 4, 8, 12, 16, 20, 26, 28] {
            let items = 1u64 << log_items;
            for share in [-44.0, -60.0, -84.0] {
                let shape = smallest(items, p(share)).unwrap();
                assert!(failure(items, shape) <= p(share), "2^{log_items}");
                let expansion = shape.len() as f64 / items as f64;
                assert!(log_items < 12 || expansion < 1.34, "2^{log_items}");
            }
        }
    }

    #[test]
    fn few_items_have_few_slots() {
        for (items, segment_slots, dense) in [(0, 2, 0), (1, 2, 0), (2, 3, 43), (50, 27, 45)] {
            let shape = smallest(items, p(-43.0)).unwrap();
            let expected = Shape {
                starts: 1,
                weight: 3,
                segment_slots,
                segment_items: items as u32,
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
    fn a_segment_that_gets_too_many_rows_is_counted() {
        let shape = smallest(1 << 20, p(-44.0)).unwrap();
        let tight = Shape {
            segment_items: 4 * (1 << 20) / shape.starts,
            ..shape
        };
        assert_eq!(failure(1 << 20, tight), Log2Prob::ONE);
        let few = Shape { starts: 4, ..shape };
        assert_eq!(failure(1 << 20, few), Log2Prob::ONE);
        assert!(failure(shape.segment_items.into(), few) < p(-44.0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        #[test]
        fn keeps_within_the_share(items in 1u64..1 << 22, share in -85.0..-20.0f64) {
            let shape = smallest(items, p(share)).unwrap();
            prop_assert!(failure(items, shape) <= p(share));
            prop_assert!(shape.weight * shape.segment_slots <= MAX_ROW_SPAN);
            let more = Shape {
                segment_slots: shape.segment_slots + shape.segment_slots / 10 + 1,
                ..shape
            };
            prop_assert!(failure(items, more).log2() <= failure(items, shape).log2() + 1e-6);
        }
    }
}
