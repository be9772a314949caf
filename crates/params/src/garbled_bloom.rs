//! Size of a garbled Bloom filter (Dong, Chen, Wen 2013) that is transferred obliviously.
//!
//! The strings in the cells of each of the sender's items x sum up to a value of x, and are random
//! otherwise. The receiver sees the cells of its own items. Its view must look as if the sender had
//! only the items that the parties share. The papers argue with a single item: an item that is not
//! the receiver's has a cell that the receiver does not see, unless it is a false positive. But
//! hidden strings of *several* items may cancel out. Then the sum of what is seen is the sum of
//! their values. It is enough that the h hidden items of the sender are *linearly independent* in
//! the cells that the receiver does not see: then each choice of strings that it may see is in
//! equally many filters.
//!
//! **Proof that the papers' number of cells is enough.** Let S be t of the hidden items, and r the
//! receiver's items. A slice of s cells does not show S if each cell that holds an odd number of S
//! also has one of the receiver's items. A cell has one with probability q = 1 − (1 − 1/s)^r;
//! whether cells do is negatively associated, as balls in bins are (Joag-Dev, Proschan 1983), so
//! that any given cells all have one with probability q^(cells) at most. Hence S stays hidden with
//! a probability of at most
//!
//! > P_t = E\[q^(cells with an odd number of S)\],
//!
//! which `falls` computes or bounds. Slices are independent, and the union is over all S:
//!
//! > P\[dependent\] ≤ Σ_t C(h, t)·P_t^k.
//!
//! P_1 is q. With k = κ slices that are half full, that term of the sum is h·2^-128; later ones
//! vanish.
//!
//! **Proof that the filter can be made.** Items are adjusted in a cell that they share with no
//! other item. Items without such a cell are adjusted in one that they share with no other *of
//! these*, and so on (`psijoin_encode::garbled_bloom`). This gets stuck only if there is a set S of
//! items such that each cell that holds one of S holds two. That happens in a slice with a
//! probability of
//!
//! > Q_t = P\[no cell holds one of t items\],
//!
//! for which `falls` has the value or a bound too, and in all slices for any S with a probability
//! of at most Σ_t C(n, t)·Q_t^k.
//!
//! **Two filters.** [`shape`] has k = κ slices, as the papers have, of max(n_sender, n_receiver)/ln
//! 2 cells each. [`programmed`] has only as many slices and cells as both sums demand: k ≈ σ + log2
//! h, because the event is statistical, and a number of cells that follows from what the *receiver*
//! sees. If the sender has many more items, few slices are enough, and cells follow from its items.

use crate::{
    Error, Log2Prob, Sizes,
    bloom::{CELL_BIAS, MAX_SLICE_CELLS, Shape, smallest},
    search::least,
};

mod falls;

use falls::{Weights, subsets};

/// Returns the smallest filter that serves as [`smallest`] for either set, and in which the hidden
/// items are [`dependent`] with a probability of at most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if no slice of up to 2^28 cells is enough.
pub fn shape(sizes: Sizes, share: Log2Prob) -> Result<Shape, Error> {
    let paper = smallest(sizes.sender().max(sizes.receiver()));
    let suffices = |shape| dependent(sizes.sender(), sizes.receiver(), shape) <= share;
    fewest_cells(paper, share, suffices)
}

/// Returns a filter for the sender's items. The receiver sees the cells of its own. The sender's
/// are [`dependent`], or the filter is [`stuck`], with a probability of at most `share`.
///
/// With about log2(`hidden`/`share`) slices, a slice is about half full with what the receiver
/// sees, and no other number of slices takes less. If the sender has many more items, their own
/// room decides instead, which grows with the number of slices: six take three cells per item. So
/// fewer are taken where that saves more than a hundredth.
///
/// # Errors
/// [`Error::Unreachable`] if no slice of up to 2^28 cells is enough.
pub fn programmed(hidden: u64, seen: u64, share: Log2Prob) -> Result<Shape, Error> {
    const WORTH_IT: f64 = 0.99;
    let one_cell = |slices| Shape {
        slices,
        slice_cells: 1,
    };
    let suffices = |shape| dependent(hidden, seen, shape).or(stuck(hidden, shape)) <= share;
    let half_full = ((hidden as f64).log2() - share.log2()).ceil().max(1.0);
    let half_full = (half_full as u32).next_multiple_of(2);
    let mut best = fewest_cells(one_cell(half_full), share, suffices)?;
    for slices in (2..half_full).step_by(2) {
        let slice_cells = (WORTH_IT * best.cells() as f64 / f64::from(slices)) as u32;
        let smaller = Shape {
            slices,
            slice_cells: slice_cells.clamp(1, MAX_SLICE_CELLS),
        };
        if smaller.cells() < best.cells() && suffices(smaller) {
            best = fewest_cells(one_cell(slices), share, suffices)?;
        }
    }
    Ok(best)
}

/// Returns the fewest cells per slice that suffice, at least as many as `from` has.
fn fewest_cells(
    from: Shape,
    share: Log2Prob,
    suffices: impl Fn(Shape) -> bool,
) -> Result<Shape, Error> {
    let with = |cells| Shape {
        slice_cells: cells as u32,
        ..from
    };
    if suffices(from) {
        return Ok(from);
    }
    let range = from.slice_cells.into()..=MAX_SLICE_CELLS.into();
    let cells = least(range, |cells| suffices(with(cells))).ok_or(Error::Unreachable {
        parameter: "garbled Bloom filter",
        share,
    })?;
    Ok(with(cells))
}

/// Returns a bound on a filter of this many items being impossible to make as described above.
pub fn stuck(items: u64, shape: Shape) -> Log2Prob {
    subsets(items, 2, Weights { one: 0.0, odd: 1.0 }, shape)
}

/// Returns a bound on any of `hidden` items being linearly dependent where `seen` others have no
/// cells.
pub fn dependent(hidden: u64, seen: u64, shape: Shape) -> Log2Prob {
    subsets(hidden, 1, unseen(seen, shape), shape)
}

/// Returns the weights of a cell: one with an odd number of hidden items does not show them if it
/// is seen.
fn unseen(seen: u64, shape: Shape) -> Weights {
    let cell = (1.0 + CELL_BIAS) / f64::from(shape.slice_cells);
    let chance = -(seen as f64 * (-cell.min(1.0)).ln_1p()).exp_m1();
    Weights {
        one: chance,
        odd: chance,
    }
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
            assert!(dependent(items, items, shape) <= share);
            let least = smallest(items).slice_cells;
            assert!(shape.slice_cells <= least + 2, "{items}: {shape:?}");
        }
    }

    /// Returns the probability that t items leave the hidden cells of a slice even, over all ways
    /// in which items can fall.
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
        for (t, seen, slice_cells) in [
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
                slice_cells,
            };
            let bound = unseen(seen.into(), shape).exact(slice_cells)[t as usize].exp();
            let exact = enumerated(t, seen, slice_cells);
            assert!(
                exact <= bound + 1e-9,
                "{t} {seen} {slice_cells}: {exact} {bound}"
            );
        }
    }

    /// As many slices as hidden items and the share demand, and half as many items in a slice as it
    /// has cells, of those that the receiver sees: KK20 §6.1 takes k = σ, and counts the sender's.
    #[test]
    fn a_programmed_filter_is_half_full_with_what_is_seen() {
        for log2 in [8, 10, 12, 16, 20] {
            let (n, share) = (1_u64 << log2, Log2Prob::from_log2(-43.0));
            let shape = programmed(3 * n, n, share).unwrap();
            let slices = 43 + log2 + 2;
            assert_eq!(shape.slices, slices + slices % 2);
            let ratio = shape.cells() as f64 / (f64::from(slices) * n as f64);
            assert!((1.40..1.46).contains(&ratio), "{ratio} at 2^{log2}");
        }
    }

    /// If the receiver sees little, the sender's items need their own room and no more: the fewest
    /// cells are those of six slices, about the threshold at which hypergraphs of six places an
    /// edge can be peeled.
    #[test]
    fn a_programmed_filter_has_few_slices_where_little_is_seen() {
        let share = Log2Prob::from_log2(-43.0);
        for (hidden, seen) in [(1 << 12, 1), (1 << 16, 1), (1 << 20, 16)] {
            let shape = programmed(hidden, seen, share).unwrap();
            assert_eq!(shape.slices, 6, "{hidden}");
            let ratio = shape.cells() as f64 / hidden as f64;
            assert!((2.9..3.4).contains(&ratio), "{ratio} of {hidden}");
        }
        // Of few cells, two items may have all in common.
        let few = programmed(100, 1, share).unwrap();
        assert!(few.slices > 6 && few.cells() < 600, "{few:?}");
    }

    /// If the sender has many items, they need room of their own.
    #[test]
    fn a_programmed_filter_has_room_for_any_sizes() {
        let share = Log2Prob::from_log2(-43.0);
        for (hidden, seen) in [
            (3, 1),
            (30, 7),
            (3 << 26, 1),
            (3 << 26, 1 << 26),
            (3, 1 << 26),
        ] {
            let shape = programmed(hidden, seen, share).unwrap();
            let total = dependent(hidden, seen, shape).or(stuck(hidden, shape));
            assert!(total <= share, "{hidden} {seen}");
            assert!(shape.cells() > hidden, "{hidden} {seen}: {shape:?}");
        }
    }

    #[test]
    fn two_items_are_stuck_on_the_same_cells_only() {
        let shape = Shape {
            slices: 3,
            slice_cells: 8,
        };
        assert!((stuck(2, shape).log2() + 9.0).abs() < 1e-6);
        assert_eq!(stuck(1, shape), Log2Prob::ZERO);
    }

    #[test]
    fn an_impossible_share_is_an_error() {
        let largest = sizes(Sizes::MAX_AT_ONCE, Sizes::MAX_AT_ONCE);
        let error = shape(largest, Log2Prob::ZERO).unwrap_err();
        assert!(matches!(error, Error::Unreachable { .. }), "{error}");
        let sigma = Security::new(80).unwrap().statistical_bits();
        shape(largest, Log2Prob::from_log2(-f64::from(sigma) - 3.0)).unwrap();
    }
}
