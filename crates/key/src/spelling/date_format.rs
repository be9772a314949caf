//! The notation of a column's dates.

use std::fmt::{self, Write};

use jiff::civil::Date;

use crate::{Error, KeyFault};

/// The notation of a column's dates, in that of [`strftime`](jiff::fmt::strtime): `%d.%m.%Y`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DateFormat(String);

impl DateFormat {
    /// Returns a format of this text.
    ///
    /// # Errors
    /// If dates that are written in it cannot be read back.
    pub fn new(format: &str) -> Result<Self, Error> {
        let known = Self(format.to_owned());
        // Some day of a month, and one that no month comes after.
        let tells = |year, month, day| {
            let date = Date::constant(year, month, day);
            let mut text = String::new();
            write!(text, "{}", date.at(12, 34, 56, 0).strftime(format)).ok()?;
            (known.read(text.trim())? == date).then_some(())
        };
        match tells(2024, 2, 3).and(tells(1999, 12, 31)) {
            Some(()) => Ok(known),
            None => Err(Error::DateFormat(known.0)),
        }
    }

    /// Returns the canonical text of a date that is written like this.
    pub(crate) fn canonical(&self, text: &str) -> Result<String, KeyFault> {
        let date = self.read(text);
        let date = date.ok_or_else(|| KeyFault::NotOfFormat(self.0.clone()))?;
        Ok(date.to_string())
    }

    fn read(&self, text: &str) -> Option<Date> {
        let date = Date::strptime(&self.0, text).ok()?;
        // With `%Y`, a year of two digits would be one of the first century.
        (1000..=9999).contains(&date.year()).then_some(date)
    }
}

impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn dates_are_read_in_their_format() {
        for (format, text, expected) in [
            ("%d.%m.%Y", "29.02.2024", "2024-02-29"),
            ("%d.%m.%Y", "3.2.2024", "2024-02-03"),
            ("%m/%d/%Y", "02/03/2024", "2024-02-03"),
            ("%d/%m/%Y", "02/03/2024", "2024-03-02"),
            ("%Y%m%d", "20240203", "2024-02-03"),
            ("%d %B %Y", "3 February 2024", "2024-02-03"),
            ("%d-%b-%y", "03-Feb-24", "2024-02-03"),
            ("%d.%m.%y", "31.12.68", "2068-12-31"),
            ("%d.%m.%y", "01.01.69", "1969-01-01"),
            ("%Y-%j", "2024-060", "2024-02-29"),
            ("%d.%m.%Y %H:%M", "03.02.2024 23:59", "2024-02-03"),
            ("d=%d m=%m y=%Y", "d=03 m=02 y=2024", "2024-02-03"),
            ("%d.%m.%Y", "01.01.1000", "1000-01-01"),
            ("%d.%m.%Y", "31.12.9999", "9999-12-31"),
        ] {
            let format = DateFormat::new(format).unwrap();
            assert_eq!(format.canonical(text).as_deref(), Ok(expected), "{format}");
        }
        let german = DateFormat::new("%d.%m.%Y").unwrap();
        for text in [
            "29.02.2023",
            "31.04.2024",
            "03.13.2024",
            "03.02.24",
            "03.02.0999",
            "03.02.10000",
            "2024-02-03",
            "03.02.2024 ",
            "03.02.2024x",
            "03.02.",
        ] {
            let refused = Err(KeyFault::NotOfFormat("%d.%m.%Y".to_owned()));
            assert_eq!(german.canonical(text), refused, "{text}");
        }
    }

    #[test]
    fn a_format_must_tell_whole_dates() {
        for format in [
            "",
            "%",
            "%q",
            "%d.%m",
            "%m.%Y",
            "%Y",
            "x",
            "%H:%M",
            "%d.%m.%Y %z",
            "%A %d %B",
            "%U",
        ] {
            assert_eq!(
                DateFormat::new(format).unwrap_err().to_string(),
                format!(
                    "`{format}` is not a format of dates: it must hold day, month and year, as in \
                     date:%d.%m.%Y"
                )
            );
        }
    }

    proptest! {
        #[test]
        fn every_date_is_read_in_every_format(
            days in -300_000..2_900_000_i64,
            format in prop::sample::select(vec!["%d.%m.%Y", "%m/%d/%Y", "%Y%m%d", "%d %b %Y"]),
        ) {
            let date = Date::constant(1970, 1, 1) + SignedDuration::from_hours(24 * days);
            let text = date.strftime(format).to_string();
            let canonical = DateFormat::new(format).unwrap().canonical(&text).unwrap();
            prop_assert_eq!(canonical, date.to_string());
        }

        #[test]
        fn no_format_makes_it_panic(format in "[%a-zA-Z0-9:#.+ -]{0,12}", text in "[0-9.: -]{0,12}") {
            if let Ok(format) = DateFormat::new(&format) {
                let _ = format.canonical(&text);
            }
        }
    }
}
