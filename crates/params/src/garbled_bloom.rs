//! Size of a garbled Bloom filter (Dong, Chen, Wen 2013) that is transferred obliviously.
//!
//! The strings in the cells of each of the sender's items x sum up to a value of x, and are random
//! but for that. The receiver sees the cells of its own items. What it sees must look as if the
//! sender had only the items that the parties share. The papers argue with a single item: one that
//! is not the receiver's has, but for a false positive, a cell that the receiver does not see. Yet
//! hidden strings of *several* items may cancel out, and then the sum of what is seen is the sum of
//! their values. What it takes is that the h items of the sender that are hidden are *linearly
//! independent* where the receiver sees nothing: then, for all strings that it may see, equally
//! many filters have them.
//!
//! **Proof that the papers' number of cells is enough.** Let S be t of the hidden items, and r the
//! receiver's items. A slice of s cells does not tell S from nothing if each cell holds an even
//! number of S, or one of the receiver's items. Let T be a random half of the cells that the
//! receiver does not see. The number of items of S in T is even for all such T if S is not told
//! from nothing, and else for half of them, so that by the independence of the items
//!
//! > P_t = E\[(−1)^(items of S in T)\] = E_T\[(1 − 2·|T|/s)^t\].
//!
//! With y = 2·|T|/s, (1 − y)^t ≤ e^(−t·y) where y ≤ 1, or t is odd; and elsewhere it is (y − 1)^t ≤
//! e^(−t·(2 − y)). |T| is a sum over the cells of an indicator (no receiver's item here) times a
//! fair coin. The indicators are negatively associated, as balls in bins are (Joag-Dev, Proschan
//! 1983), so that the expectation of the product is at most the product of expectations. A cell is
//! not seen with probability p = (1 − 1/s)^r:
//!
//! > P_t ≤ (1 − p/2·(1 − e^(−2t/s)))^s + \[t even\]·(1 − 1/2·(1 − e^(−2t/s)))^s.
//!
//! For t = 1 we know more: P_1 = 1 − p. Slices are independent, and the union is over all S:
//!
//! > P\[dependent\] ≤ Σ_t C(h, t)·P_t^k.
//!
//! With k = κ slices that are half full, P_1 is 1/2, and P_2 about that; the second term of the sum
//! is about h²·2^-128, later ones vanish.

use std::f64::consts::{E, LN_2};

use crate::{
    Error, Log2Prob, Sizes,
    binomial::ln_choose,
    bloom::{CELL_BIAS, MAX_SLICE_CELLS, Shape, false_positive, smallest},
    search::least,
};

/// The smallest filter that serves as [`smallest`] for either set, and in which the hidden items
/// are [`dependent`] with a probability of at most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if no slice of up to 2^28 cells is enough.
pub fn shape(sizes: Sizes, share: Log2Prob) -> Result<Shape, Error> {
    let paper = smallest(sizes.sender().max(sizes.receiver()));
    let with = |cells| Shape {
        slice_cells: cells as u32,
        ..paper
    };
    let range = paper.slice_cells.into()..=MAX_SLICE_CELLS.into();
    let suffices = |cells| dependent(sizes, with(cells)) <= share;
    let cells = least(range, suffices).ok_or(Error::Unreachable {
        parameter: "garbled Bloom filter",
        share,
    })?;
    Ok(with(cells))
}

/// A bound on any of the sender's items sharing each of its cells with another of them, so that
/// the filter could not be made: the paper's "no free cell" (PSZ14 §4.2).
pub fn crowded(sizes: Sizes, shape: Shape) -> Log2Prob {
    let others = sizes.sender().saturating_sub(1);
    false_positive(others, shape).times(sizes.sender().into())
}

/// A bound on any of the sender's items, which the receiver does not have, being linearly dependent
/// where the receiver's items have no cells.
pub fn dependent(sizes: Sizes, shape: Shape) -> Log2Prob {
    /// Subsets up to this size are bounded size by size, larger ones by ranges of sizes.
    const ONE_BY_ONE: u64 = 64;
    let (hidden, seen) = (sizes.sender(), sizes.receiver());
    let mut sum = false_positive(seen, shape).times(hidden.into());
    let mut fewest = 2;
    while fewest <= hidden {
        let most = match fewest {
            ..ONE_BY_ONE => fewest,
            _ => hidden.min(2 * fewest - 1),
        };
        let slice = unnoticed(fewest..=most, seen, shape);
        let bound = f64::from(shape.slices) * slice + log2_subsets(hidden, fewest..=most);
        sum = sum.or(Log2Prob::from_log2(bound));
        fewest = most + 1;
    }
    sum
}

/// The logarithm of a bound on so many items leaving a slice's hidden cells even.
fn unnoticed(items: std::ops::RangeInclusive<u64>, seen: u64, shape: Shape) -> f64 {
    let cells = f64::from(shape.slice_cells);
    let hidden_cell = (seen as f64 * (-((1.0 + CELL_BIAS) / cells).min(1.0)).ln_1p()).exp();
    let falls = -(-2.0 * *items.start() as f64 * (1.0 - CELL_BIAS) / cells).exp_m1();
    let power = |chance: f64| Log2Prob::from_log2(cells * (-chance * falls).ln_1p() / LN_2);
    let bound = power(hidden_cell / 2.0);
    let odd = items.start() == items.end() && items.start() % 2 == 1;
    if odd { bound } else { bound.or(power(0.5)) }.log2()
}

/// The logarithm of a bound on how many subsets have so many items.
fn log2_subsets(of: u64, items: std::ops::RangeInclusive<u64>) -> f64 {
    let (of, least, most) = (of as f64, *items.start() as f64, *items.end() as f64);
    if least == most {
        return ln_choose(of, most) / LN_2;
    }
    // Σ_{t ≤ most} C(of, t) ≤ (e·of/most)^most.
    most * (E * of / most).log2()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Security;

    fn sizes(sender: u64, receiver: u64) -> Sizes {
        Sizes::new(sender, receiver).unwrap()
    }

    /// PSZ14 §4.1, Table 3: m ≈ 1.44·κ·max(n1, n2), for as many bits of security as are asked of
    /// it.
    #[test]
    fn the_papers_number_of_cells_is_enough() {
        for (sender, receiver) in [
            (300, 2000),
            (1 << 10, 1 << 10),
            (1 << 20, 1 << 20),
            (1 << 26, 1 << 26),
            (1 << 24, 1000),
            (1000, 1 << 24),
        ] {
            let sizes = sizes(sender, receiver);
            for sigma in [40, 60] {
                let shape = shape(sizes, Log2Prob::from_log2(-f64::from(sigma) - 2.0)).unwrap();
                assert_eq!(shape, smallest(sender.max(receiver)), "{sizes:?}");
            }
        }
    }

    #[test]
    fn small_sets_get_more_cells_where_they_need_them() {
        let share = Log2Prob::from_log2(-82.0);
        for items in 1..40 {
            let sizes = sizes(items, items);
            let shape = shape(sizes, share).unwrap();
            assert!(dependent(sizes, shape) <= share);
            let least = smallest(items).slice_cells;
            assert!(shape.slice_cells <= least + 2, "{items}: {shape:?}");
        }
    }

    /// Probability that t items leave the hidden cells of a slice even, over all ways in which
    /// items can fall.
    fn enumerated(t: u32, seen: u32, cells: u32) -> f64 {
        let ways = u64::from(cells).pow(t + seen);
        let unnoticed = (0..ways).filter(|way| {
            let mut digits = *way;
            let mut next = || {
                let digit = digits % u64::from(cells);
                digits /= u64::from(cells);
                1_u32 << digit
            };
            let odd = (0..t).fold(0, |odd, _| odd ^ next());
            let visible = (0..seen).fold(0, |visible, _| visible | next());
            odd & !visible == 0
        });
        unnoticed.count() as f64 / ways as f64
    }

    #[test]
    fn the_bound_of_a_slice_is_one() {
        for (t, seen, cells) in [
            (1, 2, 3),
            (1, 4, 5),
            (2, 1, 4),
            (2, 2, 4),
            (2, 4, 6),
            (3, 3, 5),
            (4, 2, 5),
            (4, 4, 2),
            (5, 1, 4),
            (6, 0, 3),
        ] {
            let shape = Shape {
                slices: 1,
                slice_cells: cells,
            };
            let bound = unnoticed(t.into()..=t.into(), seen.into(), shape).exp2();
            let exact = enumerated(t, seen, cells);
            assert!(exact <= bound, "{t} {seen} {cells}: {exact} {bound}");
        }
    }

    #[test]
    fn bounds_of_ranges_are_above_those_of_their_sizes() {
        let shape = smallest(500);
        for (least, most) in [(64, 127), (128, 255), (256, 500)] {
            let range = f64::from(shape.slices) * unnoticed(least..=most, 500, shape)
                + log2_subsets(500, least..=most);
            let mut sum = Log2Prob::ZERO;
            for t in least..=most {
                let one = f64::from(shape.slices) * unnoticed(t..=t, 500, shape)
                    + log2_subsets(500, t..=t);
                sum = sum.or(Log2Prob::from_log2(one));
            }
            assert!(sum.log2() <= range, "{least}");
        }
    }

    #[test]
    fn an_impossible_share_is_an_error() {
        let largest = sizes(Sizes::MAX_ITEMS, Sizes::MAX_ITEMS);
        let error = shape(largest, Log2Prob::ZERO).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        let sigma = Security::new(80).unwrap().statistical_bits();
        shape(largest, Log2Prob::from_log2(-f64::from(sigma) - 3.0)).unwrap();
    }
}
