use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element};

use super::{
    transform::{self, Places},
    tree::{self, BLOCK_LOG, Descent, Level, log_ceil},
};
use crate::Error;

/// Finds polynomials with given values at the same points.
///
/// With M the product of all (x − y) over the points y, the polynomial with values v is
/// M·Σ v/(M'(y)·(x − y)): the fractions are summed up along the tree.
pub struct Interpolator<'a> {
    fft: &'a AdditiveFft,
    count: usize,
    top: u32,
    upper: Vec<Level>,
}

impl<'a> Interpolator<'a> {
    /// Builds the tree, and takes each slice of values, one for each point, as far as one
    /// block of points after the other goes: to what [`finish`](Self::finish) wants.
    ///
    /// # Errors
    /// If two points are equal, or one lies on the subspace that is computed with.
    ///
    /// # Panics
    /// If there are no points, or another number of values.
    pub fn start(
        fft: &'a AdditiveFft,
        points: &[Element],
        slices: &mut [Vec<Element>],
    ) -> Result<Self, Error> {
        assert!(
            !points.is_empty() && slices.iter().all(|values| values.len() == points.len()),
            "a value for each point"
        );
        let top = log_ceil(points.len());
        let interpolator = Self {
            fft,
            count: points.len(),
            top,
            upper: tree::upper_levels(fft, points, top),
        };
        interpolator.sum_in_blocks(points, slices)?;
        Ok(interpolator)
    }

    /// Returns the coefficients of the polynomial, as many as there are points.
    ///
    /// # Panics
    /// If this is not a slice that went through [`start`](Self::start).
    pub fn finish(&self, mut slice: Vec<Element>) -> Vec<Element> {
        let mut scratch = Vec::new();
        for level in &self.upper {
            level.ascend(self.fft, &mut slice, &mut scratch);
        }
        assert_eq!(slice.len(), 1 << self.top, "a slice that was started");
        transform::to_coefficients(self.fft, self.top, Places::Base, &mut slice);
        slice.truncate(self.count);
        slice
    }

    /// Sums up the fractions in each block of points.
    fn sum_in_blocks(&self, points: &[Element], slices: &mut [Vec<Element>]) -> Result<(), Error> {
        // A single block is its own root.
        let mut single = (self.top <= BLOCK_LOG).then(|| tree::levels(self.fft, points, self.top));
        let last_levels = single.as_deref().unwrap_or(&self.upper);
        let root = tree::root(self.fft, last_levels, points);
        let derivative = self.derivative(root)?;

        for slice in &mut *slices {
            slice.resize(derivative.len(), Element::ZERO);
        }
        let block_len = 1 << self.top.min(BLOCK_LOG);
        let mut blocks: Vec<Block<'_>> = points
            .chunks(block_len)
            .zip(derivative.chunks(block_len))
            .map(|(points, derivative)| Block {
                points,
                derivative,
                slices: Vec::with_capacity(slices.len()),
                levels: single.take(),
            })
            .collect();
        for slice in slices {
            for (block, values) in blocks.iter_mut().zip(slice.chunks_mut(block_len)) {
                block.slices.push(values);
            }
        }
        tree::try_each(&mut blocks, &|block| block.sum(self.fft, self.top))
    }

    /// Returns M' modulo the polynomials of the blocks, except for the factors that remainders
    /// have.
    fn derivative(&self, root: Vec<Element>) -> Result<Vec<Element>, Error> {
        let mut polynomial = derive(self.fft, self.top, root, self.count);
        transform::to_values(self.fft, self.top, Places::Base, &mut polynomial);
        let mut scratch = Vec::new();
        for level in self.upper.iter().rev() {
            let inverses = tree::inverses(self.fft, level.shifted.clone());
            level.descend(self.fft, &inverses?, &mut polynomial, &mut scratch);
        }
        Ok(polynomial)
    }
}

/// Returns the coefficients of the derivative of the monic polynomial with `roots` roots, given on
/// W_top.
fn derive(fft: &AdditiveFft, top: u32, mut root: Vec<Element>, roots: usize) -> Vec<Element> {
    let field = fft.field();
    transform::to_coefficients(fft, top, Places::Base, &mut root);
    // ŝ_t is linear, and X_i a product of them: each factor in turn gives way to its slope.
    let mut derivative = vec![Element::ZERO; root.len()];
    for t in 0..top {
        let pairs = derivative
            .chunks_exact_mut(2 << t)
            .zip(root.chunks_exact(2 << t));
        for (derivative, coefficients) in pairs {
            let (without, with) = (&mut derivative[..1 << t], &coefficients[1 << t..]);
            field.add_multiples(without, fft.slope(t), with);
        }
    }
    if roots == 1 << top {
        derivative[0] ^= field.product(fft.slope(top), fft.pivot(top));
    }
    derivative
}

/// A block of points, and what goes with them.
struct Block<'a> {
    points: &'a [Element],
    /// M' modulo the block's polynomial.
    derivative: &'a [Element],
    /// In: a value for each point. Out: the numerator of their fractions' sum, on W_block.
    slices: Vec<&'a mut [Element]>,
    levels: Option<Vec<Level>>,
}

impl Block<'_> {
    fn sum(&mut self, fft: &AdditiveFft, top: u32) -> Result<(), Error> {
        let block_log = top.min(BLOCK_LOG);
        let levels =
            (self.levels.take()).unwrap_or_else(|| tree::levels(fft, self.points, block_log));
        let weights = weights(fft, self.points, self.derivative, &levels, top)?;
        let mut scratch = Vec::new();
        for slice in &mut self.slices {
            let mut numerators = slice[..self.points.len()].to_vec();
            fft.field().multiply(&mut numerators, &weights);
            for level in &levels {
                level.ascend(fft, &mut numerators, &mut scratch);
            }
            slice.copy_from_slice(&numerators);
        }
        Ok(())
    }
}

/// Returns 1/M'(point) for all points of a block.
fn weights(
    fft: &AdditiveFft,
    points: &[Element],
    derivative: &[Element],
    levels: &[Level],
    top: u32,
) -> Result<Vec<Element>, Error> {
    let mut values = derivative.to_vec();
    let descent = Descent::new(fft, levels)?;
    descent.run(fft, &mut values, &mut Vec::new());
    let (corrections, _) = tree::corrections(fft, points, top).ok_or(Error::UnfitPoints)?;
    fft.field().multiply(&mut values, &corrections);
    if !fft.field().invert_all(&mut values) {
        return Err(Error::UnfitPoints);
    }
    Ok(values)
}
