//! Size of a Bloom filter.
//!
//! The filter is *partitioned*: it has k slices of s cells each, and an item has one cell in every
//! slice, under k independent functions. Published protocols let all functions map to the whole
//! filter; the slices have three advantages: an item's cells are distinct, slices can be worked on
//! one after the other, and the probability of a false positive is a short formula and no
//! approximation. For an item that is not in the filter, slice i shows it unless the item falls
//! onto a cell that one of the n items in the filter occupies. Functions are independent, hence
//! slices are, and cells are drawn independently of each other:
//!
//! > P = (1 − (1 − 1/s)^n)^k.
//!
//! With half of the cells occupied, P = 2^-k, and there are k·n/ln 2 ≈ 1.44·k·n cells: those of
//! the papers (Dong, Chen, Wen 2013; PSZ14 §4.1).

use crate::{Log2Prob, Security, search::least};

/// Slices, which are hash functions: k = κ (PSZ14 §4.1), so that finding any false positive is
/// as hard as guessing a key.
pub const SLICES: u32 = Security::COMPUTATIONAL_BITS;

/// The bias of cells, at most, relative to 1/s, for up to 2^28 cells, where 64 bits are scaled to
/// the cells of a slice; it also covers block ciphers, which repeat no output.
pub(crate) const CELL_BIAS: f64 = 1.0 / (1_u64 << 34) as f64;

/// The most cells of a slice.
pub const MAX_SLICE_CELLS: u32 = 1 << 28;

/// The size of a filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Shape {
    /// Slices: cells of an item.
    pub slices: u32,
    /// Cells of a slice.
    pub slice_cells: u32,
}

impl Shape {
    /// Cells of all slices.
    pub fn cells(self) -> u64 {
        u64::from(self.slices) * u64::from(self.slice_cells)
    }
}

/// Returns the smallest filter of [`SLICES`] slices in which another item than the `items` that are
/// in it is found with a probability of at most 2^-κ.
pub fn smallest(items: u64) -> Shape {
    let with = |slice_cells: u64| Shape {
        slices: SLICES,
        slice_cells: slice_cells as u32,
    };
    let allowed = -f64::from(Security::COMPUTATIONAL_BITS);
    least(2..=u64::from(u32::MAX), |cells| {
        false_positive(items, with(cells)).log2() <= allowed
    })
    .map(with)
    .expect("more cells are enough")
}

/// Returns a bound on an item being found in a filter of `items` others.
pub fn false_positive(items: u64, shape: Shape) -> Log2Prob {
    let cell = (1.0 + CELL_BIAS) / f64::from(shape.slice_cells);
    let occupied = -(items as f64 * (-cell.min(1.0)).ln_1p()).exp_m1();
    Log2Prob::from_log2(f64::from(shape.slices) * occupied.log2())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PSZ14 §4.1: m ≈ 1.44·κ·n.
    #[test]
    fn has_as_many_cells_as_in_the_papers() {
        for log_n in [10, 12, 14, 16, 18, 20] {
            let n = 1_u64 << log_n;
            let ratio = smallest(n).cells() as f64 / (128.0 * n as f64);
            assert!((1.442..1.445).contains(&ratio), "{ratio} at 2^{log_n}");
        }
    }

    /// PSZ14 Tables 5 and 6, for 128 and 80 slices: MB (of 2^20 bytes) on the wire, and what the
    /// original takes of symmetric operations.
    #[test]
    fn reproduces_the_published_tables() {
        const STATISTICAL_BITS: f64 = 40.0;
        let table = [
            (10, [7.6, 2.9], [3.4, 1.1]),
            (12, [30.2, 11.6], [13.5, 4.5]),
            (14, [121.0, 46.2], [54.0, 18.1]),
            (16, [483.8, 184.9], [216.0, 72.6]),
            (18, [1935.4, 739.7], [864.0, 290.4]),
        ];
        for (log_n, at_128, at_80) in table {
            let n = 2_f64.powi(log_n);
            for (slices, published) in [(128, at_128), (80, at_80)] {
                let shape = Shape {
                    slices,
                    ..smallest(1 << log_n)
                };
                let found = false_positive(1 << log_n, shape).log2();
                assert!(found <= -f64::from(slices), "{found}");
                let (cells, k) = (shape.cells() as f64, f64::from(slices));
                let original = 2.0 * cells * (k + STATISTICAL_BITS);
                let random = cells * k + n * (STATISTICAL_BITS + 2.0 * f64::from(log_n));
                for (bits, published) in [original, random].into_iter().zip(published) {
                    let megabytes = bits / 8.0 / f64::from(1 << 20);
                    // 1/ln 2 is 1.4427, not 1.44.
                    let error = (megabytes - published).abs();
                    assert!(error < 0.05 + 0.003 * published, "{megabytes} {published}");
                }
                let operations = 3.0 * cells / (n * k);
                assert!((4.32..4.34).contains(&operations), "{operations}");
            }
        }
    }

    #[test]
    fn one_cell_less_is_not_enough() {
        for items in [1, 2, 3, 10, 1000, 1 << 20, 1 << 26] {
            let shape = smallest(items);
            assert!(false_positive(items, shape).log2() <= -128.0, "{items}");
            let smaller = Shape {
                slice_cells: shape.slice_cells - 1,
                ..shape
            };
            assert!(false_positive(items, smaller).log2() > -128.0, "{items}");
        }
    }

    /// An item falls onto one of two cells a little more often than half of the time.
    #[test]
    fn cells_are_not_quite_uniform() {
        let shape = Shape {
            slices: 1,
            slice_cells: 2,
        };
        let excess = false_positive(1, shape).log2() + 1.0;
        assert!(
            (0.5 * CELL_BIAS..2.0 * CELL_BIAS).contains(&excess),
            "{excess}"
        );
    }

    #[test]
    fn follows_the_formula() {
        let shape = Shape {
            slices: 3,
            slice_cells: 4,
        };
        let expected = (1.0 - 0.75_f64.powi(2)).powi(3).log2();
        assert!((false_positive(2, shape).log2() - expected).abs() < 1e-8);
        assert_eq!(false_positive(0, shape), Log2Prob::ZERO);
    }
}
