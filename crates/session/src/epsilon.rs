//! Privacy losses, and their sums.

use std::{fmt, str::FromStr};

use psijoin_source::{Decimal, Number};

/// Digits of an ε behind its point.
const SCALE: u32 = 6;

/// A privacy loss ε, as differential privacy has it. It is exact: a whole number of millionths.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Epsilon(u64);

impl Epsilon {
    /// Millionths of an ε of 1.
    pub const ONE: u64 = 10_u64.pow(SCALE);

    /// The largest that can be told, about 10^13.
    pub(crate) const MAX: Self = Self(i64::MAX as u64);

    /// Returns how many millionths it has.
    pub fn millionths(self) -> u64 {
        self.0
    }

    /// Returns the loss of both together; `None` if that is too large.
    pub fn plus(self, other: Self) -> Option<Self> {
        let sum = self.0.checked_add(other.0).map(Self);
        sum.filter(|sum| *sum <= Self::MAX)
    }

    /// Returns the loss of this many answers; `None` if that is too large.
    pub fn times(self, answers: u64) -> Option<Self> {
        let product = self.0.checked_mul(answers).map(Self);
        product.filter(|product| *product <= Self::MAX)
    }

    /// Returns what is left of it after this loss; `None` if that is more.
    pub fn minus(self, other: Self) -> Option<Self> {
        self.0.checked_sub(other.0).map(Self)
    }
}

impl FromStr for Epsilon {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = decimal(text).filter(|number| number.mantissa > 0 && number.scale <= SCALE);
        let millionths = number.and_then(|Decimal { mantissa, scale }| {
            let zeros = 10_i64.pow(SCALE - scale);
            u64::try_from(mantissa.checked_mul(zeros)?).ok()
        });
        let why = "epsilon is a number above 0, with at most 6 decimals, as in 0.5";
        millionths.map(Self).ok_or_else(|| why.to_owned())
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut scale = SCALE;
        let mut digits = self.0;
        while scale > 0 && digits.is_multiple_of(10) {
            (digits, scale) = (digits / 10, scale - 1);
        }
        let mantissa = i64::try_from(digits).map_err(|_| fmt::Error)?;
        Decimal { mantissa, scale }.fmt(f)
    }
}

/// Reads a number as it may stand in a cell, without the zeros at the end of its decimals.
pub(crate) fn decimal(text: &str) -> Option<Decimal> {
    let number = Number::parse(text).ok()??;
    let mut scale = number.scale();
    let mut mantissa = number.at(scale)?;
    while scale > 0 && mantissa % 10 == 0 {
        (mantissa, scale) = (mantissa / 10, scale - 1);
    }
    Some(Decimal { mantissa, scale })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epsilon(text: &str) -> Epsilon {
        text.parse().unwrap()
    }

    #[test]
    fn losses_are_exact() {
        let tenth = epsilon("0.1");
        let three = tenth.plus(tenth).and_then(|sum| sum.plus(tenth));
        assert_eq!(three, Some(epsilon("0.3")));
        assert_eq!(tenth.times(30), Some(epsilon("3")));
        assert_eq!(epsilon("0.3").minus(epsilon("0.300001")), None);
        assert_eq!(
            epsilon("0.3").minus(epsilon("0.3")),
            Some(Epsilon::default())
        );
        assert_eq!(tenth.times(u64::MAX), None);
    }

    #[test]
    fn losses_are_shown_as_they_are_read() {
        for (text, shown) in [
            ("1", "1"),
            ("0.50", "0.5"),
            ("1e-6", "0.000001"),
            ("12.000001", "12.000001"),
            ("100", "100"),
        ] {
            assert_eq!(epsilon(text).to_string(), shown);
        }
        for wrong in ["", "0", "-1", "0.0000001", "x", "inf", "NaN", "1e30"] {
            assert!(wrong.parse::<Epsilon>().is_err(), "{wrong}");
        }
    }
}
