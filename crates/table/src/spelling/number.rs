//! Numbers: exact, and without zeros that say nothing.

/// Appends `±digits · 10^-scale`, as in `-12.5` and `1200`.
pub(crate) fn write_decimal(text: &mut String, negative: bool, digits: &str, scale: i64) {
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
    // How many digits stand before the point.
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
}
