use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element};

use super::{
    transform::{self, Places},
    tree::{self, BLOCK_LOG, Descent, Level, log_ceil},
};
use crate::Error;

/// Computes the values of polynomials at the same points.
///
/// A polynomial with more coefficients than there are points is cut into parts of as many
/// coefficients; of points that are more than coefficients, each group has a tree of its own.
pub struct Evaluator<'a> {
    fft: &'a AdditiveFft,
    points: &'a [Element],
    coefficients: usize,
    top: u32,
    /// `shifted` holds inverses.
    upper: Vec<Level>,
}

/// A polynomial half way to its values: remainders modulo the polynomials of blocks of points.
pub struct Remainders {
    /// Of the parts of the polynomial.
    parts: Vec<Vec<Element>>,
}

impl<'a> Evaluator<'a> {
    /// Builds the tree for polynomials of this many coefficients.
    ///
    /// # Errors
    /// If a point lies on the subspace that is computed with.
    ///
    /// # Panics
    /// If there are no points, or no coefficients.
    pub fn new(
        fft: &'a AdditiveFft,
        points: &'a [Element],
        coefficients: usize,
    ) -> Result<Self, Error> {
        assert!(
            !points.is_empty() && coefficients > 0,
            "there is something to evaluate"
        );
        let top = log_ceil(points.len()).min(log_ceil(coefficients));
        let mut upper = tree::upper_levels(fft, points, top);
        for level in &mut upper {
            let shifted = std::mem::take(&mut level.shifted);
            level.shifted = tree::inverses(fft, shifted)?;
        }
        Ok(Self {
            fft,
            points,
            coefficients,
            top,
            upper,
        })
    }

    /// Takes a polynomial to its remainders modulo the polynomials of blocks of points.
    ///
    /// # Panics
    /// If it has another number of coefficients than was said.
    pub fn start(&self, polynomial: &[Element]) -> Remainders {
        assert_eq!(
            polynomial.len(),
            self.coefficients,
            "the polynomial has the agreed length"
        );
        let parts = polynomial.chunks(1 << self.top);
        Remainders {
            parts: parts.map(|part| self.start_part(part)).collect(),
        }
    }

    fn start_part(&self, part: &[Element]) -> Vec<Element> {
        let mut values = part.to_vec();
        values.resize(1 << self.top, Element::ZERO);
        transform::to_values(self.fft, self.top, Places::Base, &mut values);
        let trees = self.points.len().div_ceil(values.len());
        let mut remainders = values.repeat(trees);
        drop(values);
        let mut scratch = Vec::new();
        for level in self.upper.iter().rev() {
            level.descend(self.fft, &level.shifted, &mut remainders, &mut scratch);
        }
        remainders
    }

    /// Returns the values of all polynomials, one for each point.
    ///
    /// # Errors
    /// If a point lies on the subspace that is computed with.
    pub fn finish(&self, mut polynomials: Vec<Remainders>) -> Result<Vec<Vec<Element>>, Error> {
        let block_len = 1 << self.top.min(BLOCK_LOG);
        let mut blocks: Vec<Block<'_>> = self
            .points
            .chunks(block_len)
            .map(|points| Block {
                points,
                polynomials: Vec::with_capacity(polynomials.len()),
            })
            .collect();
        for polynomial in &mut polynomials {
            for block in &mut blocks {
                block
                    .polynomials
                    .push(Vec::with_capacity(polynomial.parts.len()));
            }
            for part in &mut polynomial.parts {
                for (block, values) in blocks.iter_mut().zip(part.chunks_mut(block_len)) {
                    let parts = block.polynomials.last_mut().expect("one was just made");
                    parts.push(values);
                }
            }
        }
        tree::try_each(&mut blocks, &|block| block.evaluate(self.fft, self.top))?;
        let first_parts = polynomials.into_iter().map(|polynomial| {
            let mut values = polynomial.parts.into_iter().next().expect("a part");
            values.truncate(self.points.len());
            values
        });
        Ok(first_parts.collect())
    }
}

/// A block of points, and what goes with them.
struct Block<'a> {
    points: &'a [Element],
    /// The parts of each polynomial. In: remainders, on W_block. Out: values, in the first part.
    polynomials: Vec<Vec<&'a mut [Element]>>,
}

impl Block<'_> {
    fn evaluate(&mut self, fft: &AdditiveFft, top: u32) -> Result<(), Error> {
        let field = fft.field();
        let levels = tree::levels(fft, self.points, top.min(BLOCK_LOG));
        let descent = Descent::new(fft, &levels)?;
        let corrections = tree::corrections(fft, self.points, top);
        let (corrections, monic) = corrections.ok_or(Error::UnfitPoints)?;
        let (mut values, mut scratch) = (Vec::new(), Vec::new());
        for part in self.polynomials.iter_mut().flatten() {
            values.clear();
            values.extend_from_slice(part);
            descent.run(fft, &mut values, &mut scratch);
            field.multiply(&mut values, &corrections);
            part[..values.len()].copy_from_slice(&values);
        }
        self.join_parts(fft, top, monic);
        Ok(())
    }

    /// Puts Σ partᵢ·X_i in place of the first part, where X_i are products of ŝ_top, ŝ_(top + 1)
    /// and so on; `monic` is s_top of the points.
    fn join_parts(&mut self, fft: &AdditiveFft, top: u32, mut monic: Vec<Element>) {
        let (field, len) = (fft.field(), monic.len());
        let parts = self.polynomials.first().map_or(0, Vec::len);
        for (k, step) in (top..).zip((0..).map(|i| 1 << i)) {
            if step >= parts {
                return;
            }
            let pivot = fft.pivot(k);
            let mut normalised = vec![Element::ZERO; len];
            field.add_multiples(&mut normalised, field.invert(pivot), &monic);
            for pair in self
                .polynomials
                .iter_mut()
                .flat_map(|parts| parts.chunks_mut(2 * step))
            {
                if pair.len() > step {
                    let (low, high) = pair.split_at_mut(step);
                    field.add_products(&mut low[0][..len], &high[0][..len], &normalised);
                }
            }
            let shifted: Vec<Element> = monic.iter().map(|value| *value ^ pivot).collect();
            field.multiply(&mut monic, &shifted);
        }
    }
}
