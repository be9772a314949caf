use std::fmt;

/// An upper bound on a probability, kept as its logarithm to base 2, so that 2^-40 and 2^-70000 are
/// equally exact. Bounds above 1 are trivial and are kept as 1.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Log2Prob(f64);

impl Log2Prob {
    /// The impossible event.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);
    /// An event that nothing is known about.
    pub const ONE: Self = Self(0.0);

    /// Returns the probability 2^`log2`, or 1 if that is less.
    ///
    /// # Panics
    /// If `log2` is not a number.
    pub fn from_log2(log2: f64) -> Self {
        assert!(!log2.is_nan(), "a probability must be a number");
        Self(log2.min(0.0))
    }

    /// Returns the logarithm to base 2: zero or negative, or minus infinity.
    pub fn log2(self) -> f64 {
        self.0
    }

    /// Returns the union bound: a bound on "this or that".
    #[must_use]
    pub fn or(self, that: Self) -> Self {
        let (high, low) = if self >= that {
            (self.0, that.0)
        } else {
            (that.0, self.0)
        };
        if low == f64::NEG_INFINITY {
            return Self(high);
        }
        Self::from_log2(high + (low - high).exp2().ln_1p() / std::f64::consts::LN_2)
    }

    /// Returns the union bound over `count` events of this probability.
    #[must_use]
    pub fn times(self, count: u128) -> Self {
        Self::from_log2(self.0 + (count as f64).log2())
    }

    /// Returns a bound on "this and that" for independent events.
    #[must_use]
    pub fn and(self, that: Self) -> Self {
        Self(self.0 + that.0)
    }

    /// Returns what is left of this probability after `that` was taken from it, zero if nothing.
    #[must_use]
    pub fn minus(self, that: Self) -> Self {
        if that >= self {
            return Self::ZERO;
        }
        let ratio = (that.0 - self.0).exp2();
        Self(self.0 + (-ratio).ln_1p() / std::f64::consts::LN_2)
    }
}

/// As a power of two, like `2^-40.25`.
impl fmt::Display for Log2Prob {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Self::ZERO {
            f.write_str("0")
        } else {
            write!(f, "2^{:.2}", self.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(left: Log2Prob, right: f64) {
        assert!(
            (left.log2() - right).abs() < 1e-12,
            "{left} is not 2^{right}"
        );
    }

    #[test]
    fn adds_and_multiplies() {
        let p = Log2Prob::from_log2;
        close(p(-41.0).or(p(-41.0)), -40.0);
        close(p(-1.0).or(p(-2.0)), 0.75f64.log2());
        close(p(-40.0).and(p(-3.0)), -43.0);
        close(p(-40.0).times(1 << 20), -20.0);
        close(p(-1.0).minus(p(-2.0)), -2.0);
        close(p(-70_000.0).or(p(-70_001.0)), 1.5f64.log2() - 70_000.0);
    }

    #[test]
    fn zero_and_one_are_neutral_and_absorbing() {
        let p = Log2Prob::from_log2(-7.5);
        assert_eq!(Log2Prob::ZERO.or(p), p);
        assert_eq!(p.or(Log2Prob::ZERO), p);
        assert_eq!(Log2Prob::ZERO.or(Log2Prob::ZERO), Log2Prob::ZERO);
        assert_eq!(p.and(Log2Prob::ONE), p);
        assert_eq!(p.or(Log2Prob::ONE), Log2Prob::ONE);
        assert_eq!(p.times(0), Log2Prob::ZERO);
        assert_eq!(Log2Prob::ZERO.times(0), Log2Prob::ZERO);
        assert_eq!(Log2Prob::ZERO.times(u128::MAX), Log2Prob::ZERO);
        assert_eq!(p.times(1 << 10), Log2Prob::ONE);
        assert_eq!(p.minus(p), Log2Prob::ZERO);
        assert_eq!(p.minus(Log2Prob::ZERO), p);
        assert_eq!(Log2Prob::from_log2(3.0), Log2Prob::ONE);
    }

    #[test]
    fn shows_itself_as_a_power_of_two() {
        assert_eq!(Log2Prob::from_log2(-40.254).to_string(), "2^-40.25");
        assert_eq!(Log2Prob::ZERO.to_string(), "0");
    }
}
