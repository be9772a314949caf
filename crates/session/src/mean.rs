//! Means of the keys of a group: quotients of a sum and a count that the receiver has learned.

use std::fmt;

use psijoin_source::Decimal;

/// A mean: `mantissa · 10^-scale`. It has [`DECIMALS`](Self::DECIMALS) more decimals than the sum,
/// and is rounded to the nearest, and to the even one of two that are as near (IEEE 754).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mean {
    /// Its digits.
    pub mantissa: i128,
    /// The number of its decimals.
    pub scale: u32,
}

impl Mean {
    /// The decimals that a mean has beside those of the sum.
    pub const DECIMALS: u32 = 6;

    /// Returns the mean of this many keys; nothing if they are none, or with noise even fewer.
    pub fn of(sum: Decimal, keys: i64) -> Option<Self> {
        if keys < 1 {
            return None;
        }
        let (digits, keys) = (i128::from(sum.mantissa), i128::from(keys));
        let digits = digits * 10_i128.pow(Self::DECIMALS);
        let (below, rest) = (digits.div_euclid(keys), digits.rem_euclid(keys));
        let is_above = 2 * rest > keys || (2 * rest == keys && below % 2 != 0);
        Some(Self {
            mantissa: below + i128::from(is_above),
            scale: sum.scale + Self::DECIMALS,
        })
    }
}

impl fmt::Display for Mean {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = 10_u128.pow(self.scale);
        let digits = self.mantissa.unsigned_abs();
        let sign = if self.mantissa < 0 { "-" } else { "" };
        let (whole, fraction) = (digits / unit, digits % unit);
        write!(
            f,
            "{sign}{whole}.{fraction:0>width$}",
            width = self.scale as usize
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_rounded_to_the_nearest_and_then_to_the_even() {
        let mean = |mantissa, scale, keys| Mean::of(Decimal { mantissa, scale }, keys);
        for (sum, scale, keys, expected) in [
            (7, 0, 2, "3.500000"),
            (-700, 2, 3, "-2.33333333"),
            (200, 2, 3, "0.66666667"),
            (1, 0, 2_000_000, "0.000000"),
            (3, 0, 2_000_000, "0.000002"),
            (-1, 0, 2_000_000, "0.000000"),
            (-3, 0, 2_000_000, "-0.000002"),
            (0, 18, 5, "0.000000000000000000000000"),
            (i64::MIN, 0, 1, "-9223372036854775808.000000"),
            (i64::MAX, 18, 1, "9.223372036854775807000000"),
        ] {
            let mean = mean(sum, scale, keys).unwrap();
            assert_eq!(mean.to_string(), expected);
        }
        assert_eq!(mean(5, 0, 0), None);
        assert_eq!(mean(5, 0, -3), None);
    }
}
