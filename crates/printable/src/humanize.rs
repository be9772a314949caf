//! Numbers as people read them.

use std::time::Duration;

/// Formats a number with a comma after each three digits: `1,234,567`.
pub fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns a count with its noun: `1 row`, `2,000 rows`.
pub fn counted(value: u64, noun: &str) -> String {
    let plural = if value == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", count(value))
}

/// Joins texts as a list in a sentence: `a, b and c`.
pub fn listed(texts: &[String]) -> String {
    match texts {
        [front @ .., last] if !front.is_empty() => format!("{} and {last}", front.join(", ")),
        _ => texts.concat(),
    }
}

/// Formats bytes with a decimal unit and three digits: `1.23 MB`.
pub fn bytes(value: u64) -> String {
    scaled(value, ["B", "kB", "MB", "GB", "TB"])
}

/// Formats a time with a unit and three digits: `12.3 ms`, `1.23 s`, `2 min 05 s`.
pub fn time(value: Duration) -> String {
    let seconds = value.as_secs_f64();
    if seconds >= 99.95 {
        let whole = seconds.round() as u64;
        return format!("{} min {:02} s", whole / 60, whole % 60);
    }
    if seconds >= 0.9995 {
        return format!("{} s", three_digits(seconds));
    }
    format!("{} ms", three_digits(seconds * 1000.0))
}

/// Formats a rate with a decimal unit and three digits: `95.1 Mbit/s`.
pub fn rate(bits_per_second: u64) -> String {
    scaled(
        bits_per_second,
        ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"],
    )
}

/// Formats a value with one of these units, each a thousand times the one before.
fn scaled(value: u64, units: [&str; 5]) -> String {
    let mut scaled = value as f64;
    let mut unit = 0;
    while scaled >= 999.5 && unit + 1 < units.len() {
        scaled /= 1000.0;
        unit += 1;
    }
    match unit {
        0 => format!("{value} {}", units[0]),
        _ => format!("{} {}", three_digits(scaled), units[unit]),
    }
}

/// Returns whole seconds, or minutes if there are hours: `12 s`, `2 min 05 s`, `3 h 20 min`.
pub fn time_left(value: Duration) -> String {
    let seconds = value.as_secs_f64().ceil() as u64;
    match seconds {
        ..100 => format!("{seconds} s"),
        100..3600 => format!("{} min {:02} s", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds / 60 % 60),
    }
}

fn three_digits(value: f64) -> String {
    let decimals = match value {
        ..9.995 => 2,
        ..99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_have_commas() {
        for (value, text) in [
            (0, "0"),
            (999, "999"),
            (1000, "1,000"),
            (1 << 20, "1,048,576"),
        ] {
            assert_eq!(count(value), text);
        }
        assert_eq!(counted(1, "row"), "1 row");
        assert_eq!(counted(0, "row"), "0 rows");
    }

    #[test]
    fn lists_end_in_and() {
        let listed =
            |texts: &[&str]| listed(&texts.iter().map(|&text| text.into()).collect::<Vec<_>>());
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b"]), "a and b");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn bytes_have_three_digits() {
        for (value, text) in [
            (0, "0 B"),
            (999, "999 B"),
            (1000, "1.00 kB"),
            (999_499, "999 kB"),
            (999_500, "1.00 MB"),
            (12_345_678, "12.3 MB"),
            (9_999_999_999, "10.0 GB"),
        ] {
            assert_eq!(bytes(value), text);
        }
    }

    #[test]
    fn rates_have_three_digits() {
        for (value, text) in [
            (1, "1 bit/s"),
            (56_000, "56.0 kbit/s"),
            (95_123_456, "95.1 Mbit/s"),
            (3_000_000_000, "3.00 Gbit/s"),
        ] {
            assert_eq!(rate(value), text);
        }
    }

    #[test]
    fn times_have_three_digits() {
        for (microseconds, text) in [
            (1234, "1.23 ms"),
            (99_960, "100 ms"),
            (999_600, "1.00 s"),
            (61_200_000, "61.2 s"),
            (99_960_000, "1 min 40 s"),
            (125_000_000, "2 min 05 s"),
        ] {
            assert_eq!(time(Duration::from_micros(microseconds)), text);
        }
    }

    #[test]
    fn what_is_left_is_rounded_up() {
        for (milliseconds, text) in [
            (1, "1 s"),
            (1000, "1 s"),
            (98_001, "99 s"),
            (125_000, "2 min 05 s"),
            (3_599_000, "59 min 59 s"),
            (12_059_000, "3 h 20 min"),
            (200_000_000, "55 h 33 min"),
        ] {
            assert_eq!(time_left(Duration::from_millis(milliseconds)), text);
        }
    }
}
