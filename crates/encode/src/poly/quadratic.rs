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
    /// The product of all (x − point).
    vanishing: Vec<Element>,
    shifted: Vec<Element>,
    /// 1/M'(point).
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
            shifted: Vec::new(),
            weights: Vec::new(),
            weighted: Vec::new(),
            matrix: Vec::new(),
            column: Vec::new(),
            product: Vec::new(),
        }
    }

    /// Replaces the values of each slice at the points by the coefficients of the polynomial that
    /// has them, as many as there are points.
    ///
    /// With M the product of all (x − y), it is Σ v/M'(y) · M/(x − y): a product of two matrices.
    ///
    /// # Errors
    /// If two points are equal.
    ///
    /// # Panics
    /// If there are no points, or another number of values in a slice.
    pub fn interpolate(&mut self, points: &[Element], slices: &mut [Element]) -> Result<(), Error> {
        let count = points.len();
        assert!(
            count > 0 && slices.len().is_multiple_of(count),
            "a value for each point"
        );
        self.vanish(points);
        self.weigh(points)?;
        self.product.clear();
        self.product.resize(slices.len(), Element::ZERO);
        let mut sums = vec![Element::ZERO; slices.len()];
        for (points, first) in points.chunks(GROUP).zip((0..).step_by(GROUP)) {
            let group = first..first + points.len();
            self.divide(points);
            self.weighted.clear();
            for values in slices.chunks_exact(count) {
                let start = self.weighted.len();
                self.weighted.extend_from_slice(&values[group.clone()]);
                let weights = &self.weights[group.clone()];
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
        Ok(())
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

    /// Computes M, one factor after the other.
    fn vanish(&mut self, points: &[Element]) {
        self.vanishing.clear();
        self.vanishing.push(self.field.one());
        for point in points {
            self.shifted.clear();
            self.shifted.push(Element::ZERO);
            self.shifted.extend_from_slice(&self.vanishing);
            let degree = self.vanishing.len();
            self.field
                .add_multiples(&mut self.shifted[..degree], *point, &self.vanishing);
            std::mem::swap(&mut self.vanishing, &mut self.shifted);
        }
    }

    /// Computes 1/M' at the points. M' has even powers only: those below the odd ones of M.
    fn weigh(&mut self, points: &[Element]) -> Result<(), Error> {
        self.column.clear();
        self.column.extend_from_slice(points);
        self.field.multiply(&mut self.column, points);
        self.weights.clear();
        self.weights.resize(points.len(), Element::ZERO);
        for coefficient in self.vanishing.iter().skip(1).step_by(2).rev() {
            self.field.multiply(&mut self.weights, &self.column);
            self.weights
                .iter_mut()
                .for_each(|value| *value ^= *coefficient);
        }
        let invertible = self.field.invert_all(&mut self.weights);
        invertible.then_some(()).ok_or(Error::UnfitPoints)
    }

    /// Computes the coefficients of M/(x − y) for the points y of a group, point by point: from the
    /// highest down, each is that of M plus y times the one before.
    fn divide(&mut self, points: &[Element]) {
        let degree = self.vanishing.len() - 1;
        self.matrix.resize(points.len() * degree, Element::ZERO);
        self.column.clear();
        self.column.resize(points.len(), Element::ZERO);
        for power in (0..degree).rev() {
            self.field.multiply(&mut self.column, points);
            let coefficient = self.vanishing[power + 1];
            for (i, quotient) in self.column.iter_mut().enumerate() {
                *quotient ^= coefficient;
                self.matrix[i * degree + power] = *quotient;
            }
        }
    }
}
