use psijoin_block::{Block, gf2k::Field};
use psijoin_ot::matrix::RowShape;
use psijoin_params::{
    Error, FailureBudget, Log2Prob,
    code::{near_collision, width_bits},
    sparse_ot::{self, Buckets, Layout, SELECTOR_BITS},
};
use psijoin_psi::{Parameter, parameters};

use super::{ROW_WORDS, WIDE_ROW_WORDS, coefficients::packed_bytes};

/// The possible numbers of slices of a value. Rows of more than 504 bits need more than four.
const SLICES: [usize; 2] = [4, 5];

/// The derived numbers of an extension.
#[derive(Debug, Clone)]
pub(crate) struct Extension {
    /// w.
    pub(crate) field_bits: u32,
    /// Polynomials for each set of points.
    pub(crate) slices: usize,
    /// Which sets of points have which buckets.
    pub(crate) buckets: Buckets,
}

impl Extension {
    /// Derives them. They take up to half of the failure budget for the code distance, a 16th for
    /// points, and a 64th for selectors.
    pub(crate) fn derive(layout: Layout, budget: &mut FailureBudget) -> Result<Self, Error> {
        let buckets = sparse_ot::buckets(layout, budget.share(1.0 / 64.0))?;
        budget.charge(
            "dependent selectors",
            sparse_ot::selector_failure(layout, buckets),
        )?;
        let code_bits = width_bits(layout.evaluations, budget.share(0.5))?;
        let (slices, field_bits) = smallest_field(layout, code_bits, budget)?;
        budget.charge("unfit points", unfit_points(layout, field_bits))?;
        let extension = Self {
            field_bits,
            slices,
            buckets,
        };
        let width = extension.columns() as u32;
        budget.charge("code distance", near_collision(width, layout.evaluations))?;
        Ok(extension)
    }

    /// Returns GF(2^w).
    pub(crate) fn field(&self) -> Field {
        Field::new(self.field_bits)
    }

    /// Returns ℓ, the number of columns.
    pub(crate) fn columns(&self) -> usize {
        2 * self.slices * self.field_bits as usize
    }

    /// Returns an element's halves lie in words of their own.
    pub(crate) fn row_shape(&self) -> RowShape {
        RowShape {
            words: match 2 * self.slices <= ROW_WORDS {
                true => ROW_WORDS,
                false => WIDE_ROW_WORDS,
            },
            columns_per_word: self.field_bits as usize,
        }
    }

    /// Returns the number of rows of the ordinary OT extension for the sets of points that share
    /// buckets.
    pub(crate) fn rows(&self) -> usize {
        self.buckets.count as usize * SELECTOR_BITS as usize
    }

    /// Returns the number of bytes of `count` coefficients.
    pub(crate) fn coefficient_bytes(&self, count: usize) -> usize {
        packed_bytes(self.field_bits, count)
    }

    pub(crate) fn parameters(&self) -> Vec<Parameter> {
        parameters(&[
            ("field bits", u64::from(2 * self.field_bits)),
            ("slices", self.slices as u64),
            ("buckets", self.buckets.count),
        ])
    }
}

/// Returns the fewest slices, and then the smallest field, that make rows of at least `code_bits`
/// with points that fit.
fn smallest_field(
    layout: Layout,
    code_bits: u32,
    budget: &FailureBudget,
) -> Result<(usize, u32), Error> {
    let share = budget.share(1.0 / 16.0);
    SLICES
        .into_iter()
        .flat_map(|slices| Field::widths().map(move |bits| (slices, bits)))
        .filter(|(slices, bits)| 2 * *slices as u32 * bits >= code_bits)
        .find(|(_, bits)| unfit_points(layout, *bits) <= share)
        .ok_or(Error::Unreachable {
            parameter: "field of points",
            share,
        })
}

/// Bounds the failure of points. They are cut from functions of the first 128 bits of a digest:
/// these may be equal, and then points and selectors are, or only the points.
fn unfit_points(layout: Layout, field_bits: u32) -> Log2Prob {
    let equal_blocks = sparse_ot::point_failure(layout, Block::BITS as u32);
    sparse_ot::point_failure(layout, 2 * field_bits).or(equal_blocks)
}

#[cfg(test)]
mod tests {
    use psijoin_params::Security;

    use super::*;

    fn layout(polynomials: u64, capacity: u64, evaluations: u64) -> Layout {
        Layout {
            polynomials,
            capacity,
            evaluations,
        }
    }

    fn width(layout: Layout) -> usize {
        let mut budget = FailureBudget::new(Security::default());
        Extension::derive(layout, &mut budget).unwrap().columns()
    }

    /// SpOT19, Figure 6: 416, 420, …, 444 bits if the distance may take the whole budget. Here it
    /// has at most half of it, and a width is a multiple of eight.
    #[test]
    fn rows_are_hardly_wider_than_spot19s() {
        let published = [416, 420, 424, 428, 432, 436, 440, 444];
        for (log_n, published) in (10..=24).step_by(2).zip(published) {
            let width = width(layout(1, 1 << log_n, 1 << log_n));
            assert!(
                (published..=published + 11).contains(&width),
                "2^{log_n}: {width}"
            );
        }
    }

    /// SpOT19, Theorem 5: 430, 438, 446 bits.
    #[test]
    fn rows_of_spot_fast_are_hardly_wider_than_spot19s() {
        for (log_n, published) in [(16, 430), (20, 438), (24, 446)] {
            let n = 1_u64 << log_n;
            let width = width(layout(n.div_ceil(10), 10, 2 * n));
            assert!(
                (published..=published + 11).contains(&width),
                "2^{log_n}: {width}"
            );
        }
    }

    #[test]
    fn rows_are_wide_only_at_high_security() {
        for (sigma, evaluations, wide) in [
            (40, 1 << 26, false),
            (80, 1 << 10, false),
            (80, 1 << 26, true),
        ] {
            let mut budget = FailureBudget::new(Security::new(sigma).unwrap());
            let extension = Extension::derive(layout(1, 7, evaluations), &mut budget).unwrap();
            assert_eq!(
                extension.row_shape().words == WIDE_ROW_WORDS,
                wide,
                "{sigma}, {evaluations}"
            );
        }
    }
}
