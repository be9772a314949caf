//! A number as it stands in a cell.

use std::iter;

use super::MAX_SCALE;
use psijoin_key::number::{Notation, NotationFault};

use crate::NumberFault;

impl From<NotationFault> for NumberFault {
    fn from(fault: NotationFault) -> Self {
        match fault {
            NotationFault::NotANumber => Self::NotANumber,
            NotationFault::Exponent => Self::Exponent,
        }
    }
}

/// A number of at most 64 bits before its sign: `±magnitude · 10^-scale`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Number {
    negative: bool,
    magnitude: u64,
    scale: u32,
}

impl Number {
    /// Returns `value · 10^-scale`; `None` if it does not fit.
    pub(super) fn new(value: i128, scale: u32) -> Option<Self> {
        Some(Self {
            negative: value < 0,
            magnitude: value.unsigned_abs().try_into().ok()?,
            scale,
        })
    }

    /// Returns the decimals that it has.
    pub fn scale(self) -> u32 {
        self.scale
    }

    /// Reads the number in a cell, which has the decimals that it shows, once its exponent has
    /// moved the point. White space around it does not count; `None` if there is nothing else.
    ///
    /// # Errors
    /// If the cell holds no number, or one with too many digits.
    pub fn parse(cell: &str) -> Result<Option<Self>, NumberFault> {
        let text = cell.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let notation = Notation::read(text)?;
        let scale = notation.scale();
        if scale > MAX_SCALE.into() {
            return Err(NumberFault::TooManyDecimals);
        }
        let (scale, zeros) = (scale.max(0) as u32, (-scale).max(0) as usize);
        let magnitude = notation
            .digits()
            .chain(iter::repeat_n(b'0', zeros))
            .try_fold(0_u64, |value, digit| {
                value.checked_mul(10)?.checked_add((digit - b'0').into())
            })
            .ok_or(NumberFault::Overflow(scale))?;
        Ok(Some(Self {
            negative: notation.negative,
            magnitude,
            scale,
        }))
    }

    /// Returns the number times `10^scale`, for a scale of at least its own; `None` if it does not
    /// fit.
    pub fn at(self, scale: u32) -> Option<i64> {
        let magnitude = i128::from(self.magnitude) * 10_i128.pow(scale - self.scale);
        let value = if self.negative { -magnitude } else { magnitude };
        value.try_into().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Result<Option<(i64, u32)>, NumberFault> {
        let number = Number::parse(text)?;
        Ok(number.map(|number| (number.at(number.scale).unwrap(), number.scale)))
    }

    #[test]
    fn numbers_are_read_as_they_stand() {
        for (text, expected) in [
            ("7", (7, 0)),
            ("+7", (7, 0)),
            ("-7", (-7, 0)),
            ("-0", (0, 0)),
            ("007.50", (750, 2)),
            (" -0.05\t", (-5, 2)),
            ("\u{a0}1\u{2003}", (1, 0)),
            ("0000000000000000000000000000001", (1, 0)),
            ("0.000000000000000001", (1, 18)),
            ("9223372036854775807", (i64::MAX, 0)),
            ("-9.223372036854775808", (i64::MIN, 18)),
            (".5", (5, 1)),
            ("-.5", (-5, 1)),
            ("5.", (5, 0)),
            ("1e3", (1000, 0)),
            ("1.5e3", (1500, 0)),
            ("-1.5E+3", (-1500, 0)),
            ("1.50e1", (150, 1)),
            ("12e-3", (12, 3)),
            ("1e16", (10_000_000_000_000_000, 0)),
            ("1e-18", (1, 18)),
            ("0.1000000000000000000e1", (1_000_000_000_000_000_000, 18)),
            ("0e1000", (0, 0)),
        ] {
            assert_eq!(parsed(text), Ok(Some(expected)), "{text}");
        }
        for blank in ["", " ", "\t\u{a0}"] {
            assert_eq!(parsed(blank), Ok(None));
        }
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "x", "1,000", "1 000", "1'000", "1,5", ".", "-", "+", "e3", "1e", "1e1.5", "- 1",
            "--1", "1-", "1.2.3", "1.-2", "0x1F", "NaN", "inf", "-inf", "$1", "1%", "(1)", "１",
            "−1", "1\0",
        ] {
            assert_eq!(parsed(text), Err(NumberFault::NotANumber), "{text}");
        }
        assert_eq!(
            parsed("0.0000000000000000000"),
            Err(NumberFault::TooManyDecimals)
        );
        assert_eq!(parsed("1e-19"), Err(NumberFault::TooManyDecimals));
        assert_eq!(parsed("0.1e-18"), Err(NumberFault::TooManyDecimals));
        for text in ["1e1001", "1e-1001", "0e99999999999999999999"] {
            assert_eq!(parsed(text), Err(NumberFault::Exponent), "{text}");
        }
        for text in ["1e20", "-1e1000", "1.9e19"] {
            assert_eq!(parsed(text), Err(NumberFault::Overflow(0)), "{text}");
        }
        assert_eq!(
            parsed("18446744073709551616"),
            Err(NumberFault::Overflow(0))
        );
        assert_eq!(
            parsed("99999999999999999999.99"),
            Err(NumberFault::Overflow(2))
        );
    }

    #[test]
    fn what_fits_depends_on_the_scale() {
        let at = |text, scale| Number::parse(text).unwrap().unwrap().at(scale);
        assert_eq!(at("-1.5", 3), Some(-1500));
        assert_eq!(at("9", 18), Some(9_000_000_000_000_000_000));
        assert_eq!(at("10", 18), None);
        assert_eq!(at("18446744073709551615", 0), None);
        assert_eq!(at("18446744073709551615", 18), None);
        assert_eq!(at("-9223372036854775808", 0), Some(i64::MIN));
        assert_eq!(at("-9223372036854775809", 0), None);
    }
}
