//! Dates and times in ISO 8601, for every value that a column can hold.

use std::fmt::Write;

use jiff::{SignedDuration, civil::Date};

/// The Gregorian calendar repeats after 400 years.
const CYCLE_YEARS: i64 = 400;
const CYCLE_DAYS: i64 = 146_097;

/// The cycle whose dates represent those of all others: columns hold years that `jiff` does not.
const CYCLE_START: Date = Date::constant(1970, 1, 1);

/// Appends the date that lies this many days after 1970-01-01 in the Gregorian calendar. A year
/// outside of 0000 to 9999 carries a sign.
pub fn write_date(text: &mut String, days: i64) {
    let (year, month, day) = civil(days);
    let written = match year {
        0..=9999 => write!(text, "{year:04}-{month:02}-{day:02}"),
        _ => write!(text, "{year:+05}-{month:02}-{day:02}"),
    };
    written.expect("a String takes all text");
}

/// Returns year, month and day of the date that lies this many days after 1970-01-01.
pub(crate) fn civil(days: i64) -> (i64, i8, i8) {
    let within = SignedDuration::from_hours(24 * days.rem_euclid(CYCLE_DAYS));
    let date = CYCLE_START
        .checked_add(within)
        .expect("a date of the first cycle");
    let year = i64::from(date.year()) + CYCLE_YEARS * days.div_euclid(CYCLE_DAYS);
    (year, date.month(), date.day())
}

/// Returns the days from 1970-01-01 to a date in the Gregorian calendar; `None` if there is no
/// such date. The year must have at most 12 digits.
pub(crate) fn days(year: i64, month: i8, day: i8) -> Option<i64> {
    let since_start = year - i64::from(CYCLE_START.year());
    let within = i64::from(CYCLE_START.year()) + since_start.rem_euclid(CYCLE_YEARS);
    let date = Date::new(within.try_into().ok()?, month, day).ok()?;
    let days = date.duration_since(CYCLE_START).as_hours() / 24;
    Some(days + CYCLE_DAYS * since_start.div_euclid(CYCLE_YEARS))
}

/// Appends the time of day that lies this many units after midnight. The fraction of a second
/// has no trailing zeros.
pub fn write_time(text: &mut String, units: i64, per_second: i64) {
    let seconds = units.div_euclid(per_second);
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    write!(text, "{hours:02}:{minutes:02}:{:02}", seconds % 60).expect("a String takes all text");
    let fraction = units.rem_euclid(per_second);
    if fraction != 0 {
        let digits = per_second.ilog10() as usize;
        let fraction = format!("{fraction:0digits$}");
        text.push('.');
        text.push_str(fraction.trim_end_matches('0'));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn date(days: i64) -> String {
        let mut text = String::new();
        write_date(&mut text, days);
        text
    }

    #[test]
    fn known_dates() {
        for (days, expected) in [
            (0, "1970-01-01"),
            (11_016, "2000-02-29"),
            (-25_508, "1900-03-01"),
            (-719_528, "0000-01-01"),
            (-719_529, "-0001-12-31"),
            (2_932_896, "9999-12-31"),
            (2_932_897, "+10000-01-01"),
            (i32::MAX.into(), "+5881580-07-11"),
            (i32::MIN.into(), "-5877641-06-23"),
        ] {
            assert_eq!(date(days), expected);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let leap = |year: i64| year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let mut expected = (1599, 12, 31);
        for day in -135_140 - 1..=CYCLE_DAYS {
            let (year, month, day_of_month) = expected;
            assert_eq!(civil(day), expected, "{day}");
            assert_eq!(days(year, month, day_of_month), Some(day), "{day}");
            let length = match month {
                2 => 28 + i8::from(leap(year)),
                4 | 6 | 9 | 11 => 30,
                _ => 31,
            };
            assert_eq!(days(year, month, length + 1), None);
            expected = match (month, day_of_month) {
                (12, 31) => (year + 1, 1, 1),
                (_, day) if day == length => (year, month + 1, 1),
                (_, day) => (year, month, day + 1),
            };
        }
    }
}
