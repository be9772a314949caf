//! Dates and times in ISO 8601, for every value that a column can hold.

use std::fmt::Write;

use arrow_schema::TimeUnit;

const DAYS_PER_ERA: i64 = 146_097;

/// Appends the date that lies this many days after 1970-01-01 in the Gregorian calendar. A year
/// outside of 0000 to 9999 carries a sign.
pub(crate) fn write_date(text: &mut String, days: i64) {
    let (year, month, day) = civil(days);
    let written = match year {
        0..=9999 => write!(text, "{year:04}-{month:02}-{day:02}"),
        _ => write!(text, "{year:+05}-{month:02}-{day:02}"),
    };
    written.expect("a String takes all text");
}

/// Year, month and day, by Howard Hinnant's `civil_from_days`: years begin in March, so that the
/// leap day is a year's last, and repeat every 400 (an era).
pub(crate) fn civil(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468; // since 0000-03-01
    let era = days.div_euclid(DAYS_PER_ERA);
    let day_of_era = days.rem_euclid(DAYS_PER_ERA);
    let year_of_era =
        (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = (month_from_march + 2) % 12 + 1;
    let year = era * 400 + year_of_era + i64::from(month <= 2);
    (year, month, day)
}

/// Returns the days from 1970-01-01 to a date in the Gregorian calendar, by the inverse of
/// [`civil`]; `None` if there is no such date. The year must have at most 12 digits.
pub(crate) fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    let year_from_march = year - i64::from(month <= 2);
    let era = year_from_march.div_euclid(400);
    let year_of_era = year_from_march.rem_euclid(400);
    let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    let days = era * DAYS_PER_ERA + day_of_era - 719_468;
    (civil(days) == (year, month, day)).then_some(days)
}

/// Returns how many of these units a second has.
pub(crate) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Appends the time of day that lies this many units after midnight. The fraction of a second
/// has no trailing zeros.
pub(crate) fn write_time(text: &mut String, units: i64, per_second: i64) {
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
        for day in -135_140 - 1..=DAYS_PER_ERA {
            let (year, month, day_of_month) = expected;
            assert_eq!(civil(day), expected, "{day}");
            assert_eq!(days(year, month, day_of_month), Some(day), "{day}");
            let length = match month {
                2 => 28 + i64::from(leap(year)),
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
