//! Dates, timestamps and times of day, as typed columns have them: `2024-02-29`,
//! `2024-02-29 13:05:00.25`, which ends in `Z` if it is in universal time, and `13:05:00.25`.

use super::{
    is_digits, two_digits,
    zone::{Zone, read_offset},
};
use crate::{
    KeyFault,
    spelling::calendar::{days, write_date, write_time},
};

const DAY_SECONDS: i64 = 86_400;

/// Reads a date as `2024-02-29` or `20240229`. A year outside of 0000 to 9999 has a sign, as in
/// typed columns. A midnight without a zone is its date, as many programs have no other type.
pub(crate) fn date(text: &str) -> Result<String, KeyFault> {
    let days = read_date(text).or_else(|| read_midnight(text));
    days.map(day).ok_or(KeyFault::NotADate)
}

/// Reads a date, a `T` or a space, and a time, with a fraction and a zone where there are any. A
/// date alone is its midnight.
pub(crate) fn timestamp(text: &str) -> Result<String, KeyFault> {
    let moment = Moment::read(text).ok_or(KeyFault::NotATimestamp)?;
    Ok(moment.written(moment.offset))
}

/// Reads a timestamp as universal time. Without a zone it is local time in this one.
pub(crate) fn universal_timestamp(text: &str, zone: &Zone) -> Result<String, KeyFault> {
    let moment = Moment::read(text).ok_or(KeyFault::NotATimestamp)?;
    let offset = match moment.offset {
        Some(offset) => offset,
        None => zone.offset(moment.days, moment.seconds)?,
    };
    Ok(moment.written(Some(offset)))
}

/// Returns the timestamp in universal time this many seconds after the beginning of 1970, and a
/// fraction of a second with these digits.
pub(super) fn since_1970(seconds: i64, fraction: &str) -> String {
    let moment = Moment {
        days: seconds.div_euclid(DAY_SECONDS),
        seconds: seconds.rem_euclid(DAY_SECONDS),
        fraction,
        offset: Some(0),
    };
    moment.written(moment.offset)
}

/// Returns the date this many days after 1970-01-01.
pub(super) fn day(days: i64) -> String {
    let mut date = String::new();
    write_date(&mut date, days);
    date
}

/// Reads a time of day on a clock of 24 hours, or of 12 with AM or PM behind it.
pub(crate) fn time(text: &str) -> Result<String, KeyFault> {
    let (seconds, fraction) = read_time_of_day(text).ok_or(KeyFault::NotATime)?;
    let mut time = String::new();
    write_clock(&mut time, seconds, fraction);
    Ok(time)
}

/// A date and a time of day, as they are written.
struct Moment<'a> {
    /// Since 1970-01-01.
    days: i64,
    /// Since midnight.
    seconds: i64,
    /// The digits of the fraction of a second.
    fraction: &'a str,
    /// The seconds by which its zone, if it has one, is ahead of universal time.
    offset: Option<i64>,
}

impl<'a> Moment<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let (date, clock) = match text.split_once(['T', 't', ' ']) {
            Some((date, clock)) => (date, clock),
            None => (text, "00:00"),
        };
        let is_of_time = |c: char| c.is_ascii_digit() || c == ':' || c == '.';
        let (time, zone) = clock.split_at(clock.find(|c| !is_of_time(c)).unwrap_or(clock.len()));
        let (seconds, fraction) = read_time(time)?;
        Some(Self {
            days: read_date(date)?,
            seconds,
            fraction,
            offset: read_zone(zone)?,
        })
    }

    /// Returns its text in universal time, where it has an offset from that.
    fn written(&self, offset: Option<i64>) -> String {
        let seconds = self.seconds - offset.unwrap_or(0);
        let mut text = String::new();
        write_date(&mut text, self.days + seconds.div_euclid(DAY_SECONDS));
        text.push(' ');
        write_clock(&mut text, seconds.rem_euclid(DAY_SECONDS), self.fraction);
        if offset.is_some() {
            text.push('Z');
        }
        text
    }
}

/// Appends a time of day without the redundant digits of its fraction.
fn write_clock(text: &mut String, seconds: i64, fraction: &str) {
    write_time(text, seconds, 1);
    let fraction = fraction.trim_end_matches('0');
    if !fraction.is_empty() {
        text.push('.');
        text.push_str(fraction);
    }
}

fn read_midnight(text: &str) -> Option<i64> {
    let moment = Moment::read(text)?;
    let is_midnight = moment.seconds == 0 && moment.fraction.bytes().all(|digit| digit == b'0');
    (is_midnight && moment.offset.is_none()).then_some(moment.days)
}

/// Returns the days since 1970-01-01.
fn read_date(text: &str) -> Option<i64> {
    let (year, month, day) = if text.len() == 8 && is_digits(text) {
        (&text[..4], &text[4..6], &text[6..])
    } else {
        let (rest, day) = text.rsplit_once('-')?;
        let (year, month) = rest.rsplit_once('-')?;
        (year, month, day)
    };
    let year: i64 = match year.strip_prefix(['+', '-']) {
        // As many digits as the seconds of an `i64` reach.
        Some(digits) if is_digits(digits) && (4..=12).contains(&digits.len()) => {
            year.parse().ok()?
        }
        None if is_digits(year) && year.len() == 4 => year.parse().ok()?,
        _ => return None,
    };
    days(year, two_digits(month)? as i8, two_digits(day)? as i8)
}

/// Returns the seconds since midnight, and the digits of their fraction. Hours may have one digit.
fn read_time_of_day(text: &str) -> Option<(i64, &str)> {
    const HALF_DAY_SECONDS: i64 = DAY_SECONDS / 2;
    let half = text
        .len()
        .checked_sub(2)
        .and_then(|at| text.split_at_checked(at));
    let (time, starts_at) = match half {
        Some((time, "AM" | "am" | "Am")) => (time.trim_end(), Some(0)),
        Some((time, "PM" | "pm" | "Pm")) => (time.trim_end(), Some(HALF_DAY_SECONDS)),
        _ => (text, None),
    };
    let (hours, behind) = time.split_once(':')?;
    let hours = match hours.len() {
        1 if is_digits(hours) => hours.parse().ok()?,
        _ => two_digits(hours)?,
    };
    let (seconds, fraction) = read_minutes(behind)?;
    match starts_at {
        None => (hours < 24).then_some((hours * 3600 + seconds, fraction)),
        // The hour of 12 is the first of its half day.
        Some(start) => (1..=12)
            .contains(&hours)
            .then_some((start + hours % 12 * 3600 + seconds, fraction)),
    }
}

/// Returns the seconds since midnight, and the digits of their fraction.
fn read_time(text: &str) -> Option<(i64, &str)> {
    let (hours, behind) = text.split_once(':')?;
    let hours = two_digits(hours).filter(|&hours| hours < 24)?;
    let (seconds, fraction) = read_minutes(behind)?;
    Some((hours * 3600 + seconds, fraction))
}

/// Returns the seconds since the hour, and the digits of their fraction.
fn read_minutes(text: &str) -> Option<(i64, &str)> {
    let (clock, fraction) = match text.split_once('.') {
        Some((clock, fraction)) if is_digits(fraction) => (clock, fraction),
        Some(_) => return None,
        None => (text, ""),
    };
    let mut parts = clock.split(':').map(two_digits);
    let minutes = parts.next()??;
    let seconds = match parts.next() {
        Some(seconds) => seconds?,
        None if fraction.is_empty() => 0,
        None => return None,
    };
    let fits = parts.next().is_none() && minutes < 60 && seconds < 60;
    fits.then_some((minutes * 60 + seconds, fraction))
}

/// Returns the seconds by which a zone is ahead of universal time; within, `None` if there is no
/// zone.
fn read_zone(text: &str) -> Option<Option<i64>> {
    if text.is_empty() {
        return Some(None);
    }
    // Some databases export a space before the zone.
    let zone = text.trim_start();
    if zone.eq_ignore_ascii_case("Z") || zone == "UTC" {
        return Some(Some(0));
    }
    read_offset(zone).map(Some)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_read_with_hyphens_or_without() {
        for (text, expected) in [
            ("2024-02-29", "2024-02-29"),
            ("20240229", "2024-02-29"),
            ("2024-02-29 00:00:00", "2024-02-29"),
            ("2024-02-29T00:00:00.000", "2024-02-29"),
            ("2000-02-29", "2000-02-29"),
            ("1969-12-31", "1969-12-31"),
            ("0000-01-01", "0000-01-01"),
            ("00000101", "0000-01-01"),
            ("9999-12-31", "9999-12-31"),
            ("+2024-01-01", "2024-01-01"),
            ("-0001-12-31", "-0001-12-31"),
            ("+10000-01-01", "+10000-01-01"),
            ("+5881580-07-11", "+5881580-07-11"),
            ("-5877641-06-23", "-5877641-06-23"),
        ] {
            assert_eq!(date(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "2023-02-29",
            "1900-02-29",
            "20230229",
            "2024-02-30",
            "2024-04-31",
            "2024-13-01",
            "2024-00-01",
            "2024-01-00",
            "2024-1-1",
            "24-01-01",
            "202401",
            "2024-0101",
            "202401-01",
            "10000-01-01",
            "+999-01-01",
            "+1000000000000-01-01",
            "03.02.2024",
            "02/03/2024",
            "2024-02-03 00:00:01",
            "2024-02-03 00:00:00.1",
            "2024-02-03 00:00:00Z",
            "2024-02-03 00:00:00+01:00",
            "2024-02-0é",
            "２０２４-02-03",
            "--02-03",
            "today",
        ] {
            assert_eq!(date(text), Err(KeyFault::NotADate), "{text}");
        }
    }

    #[test]
    fn timestamps_are_read_as_they_are_exported() {
        for (text, expected) in [
            ("2024-02-03 12:34:56", "2024-02-03 12:34:56"),
            ("2024-02-03T12:34:56", "2024-02-03 12:34:56"),
            ("2024-02-03t12:34:56", "2024-02-03 12:34:56"),
            ("20240203T12:34:56", "2024-02-03 12:34:56"),
            ("2024-02-03 12:34", "2024-02-03 12:34:00"),
            ("2024-02-03 12:34:56.000", "2024-02-03 12:34:56"),
            ("2024-02-03 12:34:56.250", "2024-02-03 12:34:56.25"),
            (
                "2024-02-03 12:34:56.0000000000010",
                "2024-02-03 12:34:56.000000000001",
            ),
            ("2024-02-03", "2024-02-03 00:00:00"),
            ("20240203", "2024-02-03 00:00:00"),
            ("2024-02-03 12:34:56Z", "2024-02-03 12:34:56Z"),
            ("2024-02-03T12:34:56z", "2024-02-03 12:34:56Z"),
            ("2024-02-03 12:34:56 UTC", "2024-02-03 12:34:56Z"),
            ("2024-02-03T12:34:56.5+01:00", "2024-02-03 11:34:56.5Z"),
            ("2024-02-03T12:34:56+0100", "2024-02-03 11:34:56Z"),
            ("2024-02-03 12:34:56+01", "2024-02-03 11:34:56Z"),
            ("2024-02-03 12:34:56 +05:30", "2024-02-03 07:04:56Z"),
            ("2024-02-03 12:34:56-00:00", "2024-02-03 12:34:56Z"),
            ("2024-03-01 00:30:00+01:00", "2024-02-29 23:30:00Z"),
            ("2023-12-31 23:30:00-01:00", "2024-01-01 00:30:00Z"),
            ("1969-12-31 23:59:59.999", "1969-12-31 23:59:59.999"),
            ("0000-01-01 00:00:00+01:00", "-0001-12-31 23:00:00Z"),
            ("9999-12-31 23:00:00-01:00", "+10000-01-01 00:00:00Z"),
            (
                "+292277026596-12-04 15:30:07",
                "+292277026596-12-04 15:30:07",
            ),
        ] {
            assert_eq!(timestamp(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "2023-02-29 12:34:56",
            "2024-02-03 24:00:00",
            "2024-02-03 12:60:00",
            "2024-02-03 23:59:60",
            "2024-02-03 1:02:03",
            "2024-02-03 12",
            "2024-02-03 123456",
            "2024-02-03 12:34:56:00",
            "2024-02-03 12:34:56.",
            "2024-02-03 12:34.5",
            "2024-02-03 12:34:56,5",
            "2024-02-03  12:34:56",
            "2024-02-03 ",
            "2024-02-03T",
            "2024-02-03Z",
            "2024-02-03 12:34:56 CET",
            "2024-02-03 12:34:56+1",
            "2024-02-03 12:34:56+24:00",
            "2024-02-03 12:34:56+01:60",
            "2024-02-03 12:34:56+01:",
            "2024-02-03 12:34:56+é",
            "2024-02-03 12:34:56 PM",
            "12:34:56",
            "1706963696",
            "now",
        ] {
            assert_eq!(timestamp(text), Err(KeyFault::NotATimestamp), "{text}");
        }
    }

    #[test]
    fn times_of_day_are_read_on_either_clock() {
        for (text, expected) in [
            ("13:05:00", "13:05:00"),
            ("13:05:00.250", "13:05:00.25"),
            ("13:05:00.0000000", "13:05:00"),
            ("13:05", "13:05:00"),
            ("09:05", "09:05:00"),
            ("9:05", "09:05:00"),
            ("00:00", "00:00:00"),
            ("23:59:59.999999999999", "23:59:59.999999999999"),
            ("1:05:00 PM", "13:05:00"),
            ("01:05 pm", "13:05:00"),
            ("1:05:00.5\u{202f}PM", "13:05:00.5"),
            ("1:05AM", "01:05:00"),
            ("12:00 AM", "00:00:00"),
            ("12:30:00 PM", "12:30:00"),
            ("11:59 PM", "23:59:00"),
        ] {
            assert_eq!(time(text).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "24:00",
            "24:00:00",
            "13:60",
            "23:59:60",
            "13",
            "1305",
            "130500",
            "13:5",
            "013:05",
            ":05",
            "13:05.5",
            "13:05:00.",
            "13:05:00,5",
            "13:05:00:00",
            "-1:05",
            "13:05:00Z",
            "13:05:00+01",
            "13:05 PM",
            "0:05 AM",
            "1:05 P",
            "1:05 P.M.",
            "PM",
            "1 PM",
            "13:05 Uhr",
            "2024-02-03 13:05:00",
            "１３:05",
            "é",
        ] {
            assert_eq!(time(text), Err(KeyFault::NotATime), "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_second_is_read_on_either_clock(second in 0..DAY_SECONDS) {
            let mut text = String::new();
            write_time(&mut text, second, 1);
            prop_assert_eq!(&time(&text).unwrap(), &text);
            let half = if second < DAY_SECONDS / 2 { "AM" } else { "PM" };
            let hour = match second / 3600 % 12 {
                0 => 12,
                hour => hour,
            };
            let twelve = format!("{hour}{} {half}", &text[2..]);
            prop_assert_eq!(&time(&twelve).unwrap(), &text);
        }

        #[test]
        fn every_day_is_read_as_it_is_written(days in any::<i32>()) {
            let mut text = String::new();
            write_date(&mut text, days.into());
            prop_assert_eq!(read_date(&text), Some(days.into()));
            prop_assert_eq!(&date(&text).unwrap(), &text);
            if text.len() == 10 {
                prop_assert_eq!(&date(&text.replace('-', "")).unwrap(), &text);
            }
        }

        #[test]
        fn zones_are_another_way_to_tell_a_moment(
            days in -800_000..800_000_i64,
            second in 0..DAY_SECONDS,
            offset in -1439..=1439_i64,
            fraction in "([.][0-9]{0,12}[1-9])?",
        ) {
            let written = |seconds: i64, zone: &str| {
                let mut text = String::new();
                write_date(&mut text, seconds.div_euclid(DAY_SECONDS));
                text.push(' ');
                write_time(&mut text, seconds.rem_euclid(DAY_SECONDS), 1);
                text + &fraction + zone
            };
            let universal = days * DAY_SECONDS + second;
            let sign = if offset < 0 { '-' } else { '+' };
            let (hours, minutes) = (offset.abs() / 60, offset.abs() % 60);
            let zone = format!("{sign}{hours:02}:{minutes:02}");
            let local = written(universal + offset * 60, &zone);
            let canonical = written(universal, "Z");
            prop_assert_eq!(&timestamp(&local).unwrap(), &canonical);
            prop_assert_eq!(&timestamp(&canonical).unwrap(), &canonical);
            let plain = written(universal, "");
            prop_assert_eq!(&timestamp(&plain).unwrap(), &plain);
        }

        #[test]
        fn whatever_is_read_is_read_again(text in "[0-9+TZ: .-]{0,24}") {
            if let Ok(read) = timestamp(&text) {
                prop_assert_eq!(&timestamp(&read).unwrap(), &read);
            }
            if let Ok(read) = date(&text) {
                prop_assert_eq!(&date(&read).unwrap(), &read);
            }
        }
    }
}
