//! Days and moments that are stored as numbers.

use std::fmt;

use super::{moment, number};
use crate::KeyFault;

/// The units in which the time since the beginning of 1970 in universal time is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnixUnit {
    /// Seconds.
    Seconds,
    /// Thousandths of a second.
    Milliseconds,
    /// Millionths.
    Microseconds,
    /// Billionths.
    Nanoseconds,
}

impl UnixUnit {
    /// Returns the unit of this name.
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "unix" => Self::Seconds,
            "unix-ms" => Self::Milliseconds,
            "unix-us" => Self::Microseconds,
            "unix-ns" => Self::Nanoseconds,
            _ => return None,
        })
    }

    /// Returns how many decimals of a second it has.
    fn decimals(self) -> usize {
        match self {
            Self::Seconds => 0,
            Self::Milliseconds => 3,
            Self::Microseconds => 6,
            Self::Nanoseconds => 9,
        }
    }

    /// Reads a number of these units as a timestamp in universal time.
    pub(crate) fn timestamp(self, text: &str) -> Result<String, KeyFault> {
        let fault = || KeyFault::NotUnixTime(self.to_string());
        let number = number::canonical(text).map_err(|_| fault())?;
        let (whole, fraction) = number.split_once('.').unwrap_or((&number, ""));
        let decimals = fraction.len() + self.decimals();
        let unit = u32::try_from(decimals)
            .ok()
            .and_then(|decimals| 10_i128.checked_pow(decimals))
            .ok_or_else(fault)?;
        let units: i128 = [whole, fraction].concat().parse().map_err(|_| fault())?;
        let seconds = i64::try_from(units.div_euclid(unit)).map_err(|_| fault())?;
        let fraction = match decimals {
            0 => String::new(),
            _ => format!("{:0decimals$}", units.rem_euclid(unit)),
        };
        Ok(moment::since_1970(seconds, &fraction))
    }
}

impl fmt::Display for UnixUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Seconds => "unix",
            Self::Milliseconds => "unix-ms",
            Self::Microseconds => "unix-us",
            Self::Nanoseconds => "unix-ns",
        })
    }
}

/// Reads the number of a day as Excel counts them, from 1 for 1900-01-01. To Excel 1900 was a leap
/// year, so there are two numbers for what is one day, and 60 is none.
pub(crate) fn excel_date(text: &str) -> Result<String, KeyFault> {
    /// The day before the first, as it is counted from 1900-03-01 on, since 1970-01-01.
    const START: i64 = -25_569;
    const LAST: i64 = 2_958_465;
    let number = number::canonical(text).ok();
    let serial = number.and_then(|number| number.parse::<i64>().ok());
    match serial {
        Some(serial @ 1..=59) => Ok(moment::day(START + 1 + serial)),
        Some(serial @ 61..=LAST) => Ok(moment::day(START + serial)),
        _ => Err(KeyFault::NotAnExcelDate),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_since_1970_are_timestamps() {
        for (name, text, expected) in [
            ("unix", "0", "1970-01-01 00:00:00Z"),
            ("unix", "1706963696", "2024-02-03 12:34:56Z"),
            ("unix", "1706963696.250", "2024-02-03 12:34:56.25Z"),
            ("unix", "1.706963696e9", "2024-02-03 12:34:56Z"),
            ("unix", "-1", "1969-12-31 23:59:59Z"),
            ("unix", "-0.5", "1969-12-31 23:59:59.5Z"),
            ("unix-ms", "1706963696250", "2024-02-03 12:34:56.25Z"),
            ("unix-us", "-1", "1969-12-31 23:59:59.999999Z"),
            (
                "unix-ns",
                "1706963696000000001",
                "2024-02-03 12:34:56.000000001Z",
            ),
        ] {
            let unit = UnixUnit::named(name).unwrap();
            assert_eq!(
                unit.timestamp(text).as_deref(),
                Ok(expected),
                "{name} {text}"
            );
        }
        for text in ["x", "2024-02-03", "1e900", "1e-900", "99999999999999999999"] {
            let fault = KeyFault::NotUnixTime("unix".to_owned());
            assert_eq!(UnixUnit::Seconds.timestamp(text), Err(fault), "{text}");
        }
    }

    #[test]
    fn numbers_of_days_are_those_of_excel() {
        for (text, expected) in [
            ("1", "1900-01-01"),
            ("59", "1900-02-28"),
            ("61", "1900-03-01"),
            ("45351", "2024-02-29"),
            ("45351.0", "2024-02-29"),
            ("2958465", "9999-12-31"),
        ] {
            assert_eq!(excel_date(text).as_deref(), Ok(expected), "{text}");
        }
        for text in ["0", "60", "-1", "45351.5", "2958466", "x", "2024-02-29"] {
            assert_eq!(excel_date(text), Err(KeyFault::NotAnExcelDate), "{text}");
        }
    }
}
