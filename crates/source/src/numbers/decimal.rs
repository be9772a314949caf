use std::fmt;

/// An exact decimal number: `mantissa · 10^-scale`.
///
/// Its text has all the digits of its scale, as in `12.30`, `-0.05` and, with scale 0, `7`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number without its point.
    pub mantissa: i64,
    /// The number of the mantissa's digits behind the point.
    pub scale: u32,
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scale = self.scale as usize;
        // At least one digit stands before the point.
        let digits = format!("{:0>1$}", self.mantissa.unsigned_abs(), scale + 1);
        let (whole, fraction) = digits.split_at(digits.len() - scale);
        let point = if fraction.is_empty() { "" } else { "." };
        let text = format!("{whole}{point}{fraction}");
        f.pad_integral(self.mantissa >= 0, "", &text)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn text(mantissa: i64, scale: u32) -> String {
        Decimal { mantissa, scale }.to_string()
    }

    #[test]
    fn all_digits_of_the_scale_are_there() {
        for (mantissa, scale, expected) in [
            (7, 0, "7"),
            (-7, 0, "-7"),
            (0, 0, "0"),
            (0, 2, "0.00"),
            (1230, 2, "12.30"),
            (-5, 2, "-0.05"),
            (5, 1, "0.5"),
            (-100, 2, "-1.00"),
            (1, 18, "0.000000000000000001"),
            (i64::MAX, 18, "9.223372036854775807"),
            (i64::MIN, 18, "-9.223372036854775808"),
            (i64::MIN, 0, "-9223372036854775808"),
            (i64::MIN, 19, "-0.9223372036854775808"),
        ] {
            assert_eq!(text(mantissa, scale), expected);
        }
    }

    proptest! {
        #[test]
        fn the_text_is_the_number(mantissa: i64, scale in 0..30_u32) {
            let text = text(mantissa, scale);
            let (_, fraction) = text.split_once('.').unwrap_or((&text, ""));
            prop_assert_eq!(fraction.len(), scale as usize);
            let without_point = text.replace('.', "");
            prop_assert_eq!(without_point.parse::<i64>().unwrap(), mantissa);
        }
    }
}
