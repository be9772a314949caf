//! Numbers: exact, and without redundant zeros.

use super::is_digits;
use crate::KeyFault;

/// The largest exponent that is read, of either sign: more than any number of a database needs,
/// while a cell cannot demand much memory.
const MAX_EXPONENT: u64 = 1000;

/// A fault of a text that is to be a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotationFault {
    /// It is written in no such way.
    NotANumber,
    /// Its exponent is beyond the largest one.
    Exponent,
}

impl From<NotationFault> for KeyFault {
    fn from(fault: NotationFault) -> Self {
        match fault {
            NotationFault::NotANumber => Self::NotANumber,
            NotationFault::Exponent => Self::Exponent,
        }
    }
}

/// A number as it is written: a sign, digits with a point among them or beside, and an exponent.
/// Only one digit must be there.
pub struct Notation<'a> {
    /// `true` if it has a minus sign.
    pub negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: i64,
}

impl<'a> Notation<'a> {
    /// Reads a text without white space around it.
    ///
    /// # Errors
    /// If it is no number, or its exponent is too large.
    pub fn read(text: &'a str) -> Result<Self, NotationFault> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, read_exponent(exponent)?),
            None => (text, 0),
        };
        let unsigned = number.strip_prefix(['+', '-']).unwrap_or(number);
        let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
        let notation = Self {
            negative: number.starts_with('-'),
            whole,
            fraction,
            exponent,
        };
        let mut digits = notation.digits().peekable();
        if digits.peek().is_none() || !digits.all(|digit| digit.is_ascii_digit()) {
            return Err(NotationFault::NotANumber);
        }
        Ok(notation)
    }

    /// Returns all digits without the point, in ASCII.
    pub fn digits(&self) -> impl Iterator<Item = u8> + 'a {
        self.whole.bytes().chain(self.fraction.bytes())
    }

    /// Returns how many of the digits stand behind the point, once the exponent has moved it.
    pub fn scale(&self) -> i64 {
        self.fraction.len() as i64 - self.exponent
    }
}

fn read_exponent(text: &str) -> Result<i64, NotationFault> {
    if !is_digits(text.strip_prefix(['+', '-']).unwrap_or(text)) {
        return Err(NotationFault::NotANumber);
    }
    text.parse()
        .ok()
        .filter(|value: &i64| value.unsigned_abs() <= MAX_EXPONENT)
        .ok_or(NotationFault::Exponent)
}

/// Reads a number, and writes it without what is redundant.
pub(crate) fn canonical(text: &str) -> Result<String, KeyFault> {
    let number = Notation::read(text)?;
    let digits = [number.whole, number.fraction].concat();
    let mut canonical = String::with_capacity(text.len());
    write_decimal(&mut canonical, number.negative, &digits, number.scale());
    Ok(canonical)
}

/// Reads a whole number from 0 on that has at most this many bits, up to 64.
pub(crate) fn unsigned(text: &str, bits: u32) -> Result<String, KeyFault> {
    let canonical = canonical(text)?;
    let number = canonical.parse::<u64>().ok();
    let fits = number.is_some_and(|number| number.checked_shr(bits).unwrap_or(0) == 0);
    match fits {
        true => Ok(canonical),
        false => Err(KeyFault::NotUnsigned(bits)),
    }
}

/// Appends `±digits · 10^-scale`, as in `-12.5` and `1200`.
pub fn write_decimal(text: &mut String, negative: bool, digits: &str, scale: i64) {
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        text.push('0');
        return;
    }
    let scale = scale - (digits.len() - significant.len()) as i64;
    let zeros = |text: &mut String, count: u64| (0..count).for_each(|_| text.push('0'));
    if negative {
        text.push('-');
    }
    // The number of digits before the point.
    let whole = significant.len() as i64 - scale;
    if scale <= 0 {
        text.push_str(significant);
        zeros(text, scale.unsigned_abs());
    } else if whole > 0 {
        let (whole, fraction) = significant.split_at(whole as usize);
        text.push_str(whole);
        text.push('.');
        text.push_str(fraction);
    } else {
        text.push_str("0.");
        zeros(text, whole.unsigned_abs());
        text.push_str(significant);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn zeros_that_say_nothing_are_left_out() {
        for (negative, digits, scale, expected) in [
            (false, "150", 2, "1.5"),
            (false, "100", 2, "1"),
            (true, "5", 2, "-0.05"),
            (true, "50", 3, "-0.05"),
            (true, "000", 2, "0"),
            (false, "", 0, "0"),
            (false, "7", 0, "7"),
            (false, "12", -2, "1200"),
            (false, "1200", 1, "120"),
            (true, "0012", 2, "-0.12"),
        ] {
            let mut text = String::new();
            write_decimal(&mut text, negative, digits, scale);
            assert_eq!(text, expected, "{digits} {scale}");
        }
    }

    #[test]
    fn numbers_are_read_exactly() {
        for (text, expected) in [
            ("7", "7"),
            ("+7", "7"),
            ("-7", "-7"),
            ("007.50", "7.5"),
            ("0", "0"),
            ("-0", "0"),
            ("-0.00", "0"),
            ("+0e5", "0"),
            ("1.00", "1"),
            (".5", "0.5"),
            ("-.5", "-0.5"),
            ("5.", "5"),
            ("1e3", "1000"),
            ("1E+3", "1000"),
            ("1.5e3", "1500"),
            ("1.2345e2", "123.45"),
            ("12345e-2", "123.45"),
            ("1e-3", "0.001"),
            ("100e-2", "1"),
            ("9007199254740993", "9007199254740993"),
            ("9007199254740993.0", "9007199254740993"),
            (
                "0.1000000000000000055511151231257827",
                "0.1000000000000000055511151231257827",
            ),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(expected), "{text}");
        }
        let large = canonical("-1e1000").unwrap();
        assert_eq!(large, format!("-1{}", "0".repeat(1000)));
        let small = canonical("1e-1000").unwrap();
        assert_eq!(small, format!("0.{}1", "0".repeat(999)));
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "x", "1,000", "1 000", "1'000", "1,5", ".", "-", "+", "e3", "1e", "1e+", "1e1.5",
            "1e3e3", "- 1", "--1", "1-", "1.2.3", "1.-2", "0x1F", "NaN", "inf", "$1", "1%", "(1)",
            "１", "−1", "1\0", "1_000",
        ] {
            assert_eq!(canonical(text), Err(KeyFault::NotANumber), "{text}");
        }
        for text in ["1e1001", "1e-1001", "0e99999999999999999999"] {
            assert_eq!(canonical(text), Err(KeyFault::Exponent), "{text}");
        }
    }

    proptest! {
        /// Two texts are one key if and only if they are one number.
        #[test]
        fn numbers_agree_with_integers(
            a in -2000..2000_i128,
            b in -2000..2000_i128,
            scales in (0..6_usize, 0..6_usize),
            exponents in (-6..6_i32, -6..6_i32),
            zeros in 0..3_usize,
        ) {
            let text = |mantissa: i128, scale: usize, exponent: i32| {
                let digits = format!("{:0>1$}", mantissa.unsigned_abs(), scale + 1 + zeros);
                let (whole, fraction) = digits.split_at(digits.len() - scale);
                let sign = if mantissa < 0 { "-" } else { "" };
                format!("{sign}{whole}.{fraction}e{exponent}")
            };
            // In units of 10^-11: each is a whole number of them.
            let value = |mantissa: i128, scale: usize, exponent: i32| {
                mantissa * 10_i128.pow((11 - scale as i32 + exponent) as u32)
            };
            let read = canonical(&text(a, scales.0, exponents.0)).unwrap();
            let other = canonical(&text(b, scales.1, exponents.1)).unwrap();
            let (x, y) = (value(a, scales.0, exponents.0), value(b, scales.1, exponents.1));
            prop_assert_eq!(read == other, x == y);

            // The number itself is that of the text.
            let (whole, fraction) = read.split_once('.').unwrap_or((&read, ""));
            let units: i128 = format!("{whole}{fraction:0<11}").parse().unwrap();
            prop_assert_eq!(units, x);
        }

        #[test]
        fn canonical_texts_stay(text in "[+-]?[0-9]{0,20}[.]?[0-9]{0,20}(e[+-]?[0-9]{1,3})?") {
            if let Ok(read) = canonical(&text) {
                prop_assert_eq!(canonical(&read).unwrap(), read);
            }
        }
    }
}
