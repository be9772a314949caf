//! The items in the cells of one slice: expectations of products over all cells, from which
//! [`subsets`] bounds what any set of items might do in all slices.
//!
//! Let a cell that holds j of t items have the weight `a_j`. The expected product over the s cells
//! of a slice is t!/s^t times the coefficient of x^t in φ(x)^s, φ(x) = Σ_j a_j·x^j/j!. Since no
//! coefficient is negative, it is at most t!/(s·x)^t·φ(x)^s for any x > 0.

use std::f64::consts::E;

use crate::{
    Log2Prob,
    binomial::{ln_choose, ln_factorial},
    bloom::{CELL_BIAS, Shape},
    ln_sum::LnSum,
};

/// Subsets up to this size are computed exactly, and larger ones bounded by ranges of sizes.
const EXACT: usize = 32;

/// The weight of a cell: 1 if it holds no item, or an even number of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Weights {
    /// If it holds one.
    pub(super) one: f64,
    /// If it holds 3, 5, ….
    pub(super) odd: f64,
}

impl Weights {
    fn of(self, items: usize) -> f64 {
        match items {
            1 => self.one,
            _ if items % 2 == 1 => self.odd,
            _ => 1.0,
        }
    }

    /// Returns ln φ(x).
    fn ln_phi(self, x: f64) -> f64 {
        let even = 2.0 * (x / 2.0).sinh().powi(2);
        (even + self.odd * (x.sinh() - x) + self.one * x).ln_1p()
    }

    /// Returns ln of the expected product for 0 to [`EXACT`] items, in turn: the first item shares
    /// its cell with some others, and the rest fall into the other cells.
    pub(super) fn exact(self, cells: u32) -> [f64; EXACT + 1] {
        let mut choose = [[0.0; EXACT]; EXACT];
        for n in 0..EXACT {
            choose[n][0] = 1.0;
            for k in 1..=n {
                choose[n][k] = choose[n - 1][k - 1] + choose[n - 1][k];
            }
        }
        // With no cells, there is a way for no items only.
        let mut fewer = [0.0; EXACT + 1];
        fewer[0] = 1.0;
        let used = cells.min(EXACT as u32);
        for cells in cells - used + 1..=cells {
            let one = 1.0 / f64::from(cells);
            let (mut here, mut elsewhere) = (1.0, 1.0);
            // By how many items are together with the first, and by how many are apart from it.
            let (mut with, mut apart) = ([0.0; EXACT], [0.0; EXACT]);
            for items in 0..EXACT {
                with[items] = self.of(items + 1) * here;
                apart[items] = elsewhere * fewer[items];
                here *= one;
                elsewhere *= 1.0 - one;
            }
            let mut products = [0.0; EXACT + 1];
            products[0] = 1.0;
            for others in 0..EXACT {
                let ways = (0..=others).map(|i| choose[others][i] * with[i] * apart[others - i]);
                products[others + 1] = ways.sum();
            }
            fewer = products;
        }
        fewer.map(f64::ln)
    }

    /// Returns ln of a bound on the expected product for any number of items in a range. For each x
    /// it is convex in the number, so that the ends of the range suffice, and convex in ln x.
    fn bound(self, items: [u64; 2], cells: u32) -> f64 {
        const NARROWED: f64 = 0.618_033_988_75;
        let cells = f64::from(cells);
        let ends = items.map(|items| {
            let items = items as f64;
            (items, ln_factorial(items) - items * cells.ln())
        });
        let at = |ln_x: f64| {
            let [first, last] = ends.map(|(items, constant)| constant - items * ln_x);
            first.max(last) + cells * self.ln_phi(ln_x.exp())
        };
        let (mut low, mut high) = (1e-12_f64.ln(), 500_f64.ln());
        for _ in 0..32 {
            let width = NARROWED * (high - low);
            if at(high - width) < at(low + width) {
                high = low + width;
            } else {
                low = high - width;
            }
        }
        at((low + high) / 2.0).min(0.0)
    }
}

/// Returns a bound on there being a set of `least` or more of `items` items with some property, if
/// no set has it with a higher probability than the expected product of these weights, in each of
/// the slices, independently.
pub(super) fn subsets(items: u64, least: u64, weights: Weights, shape: Shape) -> Log2Prob {
    let slices = f64::from(shape.slices);
    let mut sum = LnSum::default();
    // A cell is a little likelier than 1/s.
    let mut add = |ln_sets: f64, most: u64, ln_slice: f64| {
        let ln_slice = (ln_slice + most as f64 * CELL_BIAS.ln_1p()).min(0.0);
        sum.add(ln_sets + slices * ln_slice);
    };
    let exact = weights.exact(shape.slice_cells);
    for size in least..=items.min(EXACT as u64) {
        let sets = ln_choose(items as f64, size as f64);
        add(sets, size, exact[size as usize]);
    }
    let mut fewest = EXACT as u64 + 1;
    while fewest <= items {
        let most = items.min(fewest + fewest / 4);
        let slice = weights.bound([fewest, most], shape.slice_cells);
        // Σ_{t ≤ most} C(items, t) ≤ (e·items/most)^most.
        let sets = most as f64 * (E * items as f64 / most as f64).ln();
        add(sets, most, slice);
        fewest = most + 1;
    }
    Log2Prob::from_log2(sum.ln() / std::f64::consts::LN_2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the expected product over all ways in which items can fall.
    fn enumerated(weights: Weights, items: usize, cells: u32) -> f64 {
        let ways = u64::from(cells).pow(items as u32);
        let product = |mut way: u64| {
            let mut held = vec![0; cells as usize];
            for _ in 0..items {
                held[(way % u64::from(cells)) as usize] += 1;
                way /= u64::from(cells);
            }
            held.into_iter().map(|j| weights.of(j)).product::<f64>()
        };
        (0..ways).map(product).sum::<f64>() / ways as f64
    }

    #[test]
    fn exact_products_are_exact_and_bounds_are_bounds() {
        for (one, odd) in [(0.0, 1.0), (0.3, 0.3), (0.0, 0.0), (1.0, 1.0)] {
            let weights = Weights { one, odd };
            for cells in [1, 2, 3, 5] {
                let exact = weights.exact(cells);
                for (items, exact) in exact.into_iter().enumerate().take(8) {
                    let expected = enumerated(weights, items, cells);
                    assert!((exact.exp() - expected).abs() < 1e-12);
                    if items > 0 {
                        let bound = weights.bound([items as u64, items as u64], cells);
                        assert!(bound.exp() >= expected - 1e-12, "{items} in {cells}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_bound_of_a_range_is_one_for_all_in_it() {
        let weights = Weights { one: 0.4, odd: 0.4 };
        for cells in [10, 100, 100_000] {
            let range = weights.bound([40, 50], cells);
            for items in 40..=50 {
                assert!(weights.bound([items, items], cells) <= range + 1e-6);
            }
        }
    }
}
