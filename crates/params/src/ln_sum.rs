/// A sum of numbers given and kept by their natural logarithms, so that it neither overflows
/// nor underflows.
pub(crate) struct LnSum {
    largest: f64,
    /// The sum divided by its largest summand.
    relative: f64,
}

impl Default for LnSum {
    fn default() -> Self {
        Self {
            largest: f64::NEG_INFINITY,
            relative: 0.0,
        }
    }
}

impl LnSum {
    #[cfg(test)]
    pub(crate) fn of(summands: impl IntoIterator<Item = f64>) -> Self {
        let mut sum = Self::default();
        summands.into_iter().for_each(|ln| sum.add(ln));
        sum
    }

    pub(crate) fn add(&mut self, ln: f64) {
        if ln == self.largest {
            // Also where both are infinite.
            self.relative += 1.0;
        } else if ln < self.largest {
            self.relative += (ln - self.largest).exp();
        } else {
            self.relative = 1.0 + self.relative * (self.largest - ln).exp();
            self.largest = ln;
        }
    }

    pub(crate) fn ln(&self) -> f64 {
        if self.largest.is_infinite() {
            return self.largest;
        }
        self.largest + self.relative.ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_in_any_order_and_scale() {
        for scale in [-5000.0, 0.0, 5000.0] {
            for order in [[1.0f64, 2.0, 4.0], [4.0, 1.0, 2.0]] {
                let sum = LnSum::of(order.map(|x| x.ln() + scale)).ln();
                assert!((sum - scale - 7f64.ln()).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn equal_numbers_count_each() {
        assert!((LnSum::of([-7.0; 3]).ln() - (3f64.ln() - 7.0)).abs() < 1e-12);
    }

    #[test]
    fn nothing_and_everything() {
        let (none, all) = (f64::NEG_INFINITY, f64::INFINITY);
        assert_eq!(LnSum::default().ln(), none);
        assert_eq!(LnSum::of([none, none]).ln(), none);
        assert_eq!(LnSum::of([none, 3.0, none]).ln(), 3.0);
        assert_eq!(LnSum::of([3.0, all, all, 2.0]).ln(), all);
    }
}
