use psijoin_block::gf2k::{Element, Field};

use crate::Error;

/// Points that are treated together, so that their powers stay in the first-level cache.
const GROUP: usize = 32;

/// Interpolation and evaluation in quadratic time: the fastest for up to some hundred points.
///
/// Coefficients are those of powers of x, the lowest first. Several polynomials, or slices of
/// values, lie one after the other.
pub struct Quadratic {
    field: Field,
    /// The product of all (x − point) of each set.
    vanishing: Vec<Element>,
    /// M'(point), then 1/M'(point).
    weights: Vec<Element>,
    /// Values times weights, of the points of a group.
    weighted: Vec<Element>,
    /// Powers, or quotients, of a group of points.
    matrix: Vec<Element>,
    column: Vec<Element>,
    product: Vec<Element>,
}

impl Quadratic {
    /// Makes the algorithm over this field.
    pub fn new(field: Field) -> Self {
        Self {
            field,
            vanishing: Vec::new(),
            weights: Vec::new(),
            weighted: Vec::new(),
            matrix: Vec::new(),
            column: Vec::new(),
            product: Vec::new(),
        }
    }

    /// Replaces the values of each slice at the points by the coefficients of the polynomial that
    /// has them, as many as there are points. There may be several sets of `count` points, each
    /// with as many slices; they share an inversion.
    ///
    /// With M the product of all (x − y) of a set, it is Σ v/M'(y) · M/(x − y): a product of two
    /// matrices.
    ///
    /// # Errors
    /// If two points of a set are equal.
    ///
    /// # Panics
    /// If there are no points, or another number of values in a slice.
    pub fn interpolate(
        &mut self,
        count: usize,
        points: &[Element],
        slices: &mut [Element],
    ) -> Result<(), Error> {
        assert!(
            count > 0 && points.len().is_multiple_of(count) && !points.is_empty(),
            "sets of points"
        );
        let sets = points.len() / count;
        assert!(
            slices.len().is_multiple_of(points.len()),
            "a value for each point"
        );
        self.vanishing.clear();
        self.weights.clear();
        for points in points.chunks_exact(count) {
            self.vanish(points);
            self.derive(points);
        }
        if !self.field.invert_all(&mut self.weights) {
            return Err(Error::UnfitPoints);
        }
        let slices = slices.chunks_exact_mut(slices.len() / sets);
        for (set, (points, slices)) in points.chunks_exact(count).zip(slices).enumerate() {
            self.combine(set, points, slices);
        }
        Ok(())
    }

    /// Interpolates one set, given M and 1/M'(y).
    fn combine(&mut self, set: usize, points: &[Element], slices: &mut [Element]) {
        let count = points.len();
        self.product.clear();
        self.product.resize(slices.len(), Element::ZERO);
        let mut sums = vec![Element::ZERO; slices.len()];
        for (points, first) in points.chunks(GROUP).zip((0..).step_by(GROUP)) {
            let group = first..first + points.len();
            self.divide(set, count, points);
            self.weighted.clear();
            for values in slices.chunks_exact(count) {
                let start = self.weighted.len();
                self.weighted.extend_from_slice(&values[group.clone()]);
                let weights = &self.weights[set * count..][group.clone()];
                self.field.multiply(&mut self.weighted[start..], weights);
            }
            self.field.matrix_product(
                points.len(),
                &self.weighted,
                &self.matrix,
                &mut self.product,
            );
            for (sum, product) in sums.iter_mut().zip(&self.product) {
                *sum ^= *product;
            }
        }
        slices.copy_from_slice(&sums);
    }

    /// Computes the values of polynomials at the points, given their coefficients.
    ///
    /// # Panics
    /// If there are no coefficients, or another number in a polynomial, or no place for the values.
    pub fn evaluate(
        &mut self,
        points: &[Element],
        coefficients: usize,
        polynomials: &[Element],
        values: &mut [Element],
    ) {
        assert!(coefficients > 0, "a polynomial has coefficients");
        let count = points.len();
        for (points, first) in points.chunks(GROUP).zip((0..).step_by(GROUP)) {
            let len = points.len();
            self.matrix.clear();
            self.matrix.resize(len, self.field.one());
            for power in 1..coefficients {
                self.matrix.extend_from_within((power - 1) * len..);
                self.field.multiply(&mut self.matrix[power * len..], points);
            }
            self.product.clear();
            self.product
                .resize(polynomials.len() / coefficients * len, Element::ZERO);
            self.field
                .matrix_product(coefficients, polynomials, &self.matrix, &mut self.product);
            for (values, product) in values.chunks_exact_mut(count).zip(self.product.chunks(len)) {
                values[first..first + len].copy_from_slice(product);
            }
        }
    }

    /// Appends M, one factor after the other.
    fn vanish(&mut self, points: &[Element]) {
        let start = self.vanishing.len();
        self.vanishing.push(self.field.one());
        for point in points {
            // M·(x − y): what M was, one power higher, and y times that.
            self.column.clear();
            self.column.extend_from_slice(&self.vanishing[start..]);
            self.vanishing.insert(start, Element::ZERO);
            let lower = &mut self.vanishing[start..start + self.column.len()];
            self.field.add_multiples(lower, *point, &self.column);
        }
    }

    /// Appends M' at the points of the last M. It has even powers only: those below the odd ones of
    /// M.
    fn derive(&mut self, points: &[Element]) {
        self.column.clear();
        self.column.extend_from_slice(points);
        self.field.multiply(&mut self.column, points);
        let start = self.weights.len();
        self.weights.resize(start + points.len(), Element::ZERO);
        let values = &mut self.weights[start..];
        let vanishing = &self.vanishing[self.vanishing.len() - points.len() - 1..];
        for coefficient in vanishing.iter().skip(1).step_by(2).rev() {
            self.field.multiply(values, &self.column);
            values.iter_mut().for_each(|value| *value ^= *coefficient);
        }
    }

    /// Computes the coefficients of M/(x − y) for the points y of a group, point by point: from the
    /// highest down, each is that of M plus y times the one before.
    fn divide(&mut self, set: usize, count: usize, points: &[Element]) {
        self.matrix.resize(points.len() * count, Element::ZERO);
        self.column.clear();
        self.column.resize(points.len(), Element::ZERO);
        let vanishing = &self.vanishing[set * (count + 1)..][..=count];
        for power in (0..count).rev() {
            self.field.multiply(&mut self.column, points);
            let coefficient = vanishing[power + 1];
            for (i, quotient) in self.column.iter_mut().enumerate() {
                *quotient ^= coefficient;
                self.matrix[i * count + power] = *quotient;
            }
        }
    }
}
