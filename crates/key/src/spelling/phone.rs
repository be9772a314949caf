//! Telephone numbers, as E.164 writes them: `+49301234567`.

use std::fmt;

use rlibphonenumber::{
    NumberLengthType, PHONE_NUMBER_UTIL, PhoneNumber, PhoneNumberFormat, Region,
};

use crate::{Error, KeyFault, panics::contained};

/// The release of the numbering plans: that of the library which brings them.
pub(crate) const PLANS_VERSION: &str = "2.2.15";

/// A country by its ISO 3166 code, whose numbers may be written without the country's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Country(Region);

impl Country {
    /// Returns the country of this code of two letters, in any case.
    ///
    /// # Errors
    /// If no numbering plan is known for it.
    pub fn new(code: &str) -> Result<Self, Error> {
        code.parse()
            .ok()
            .filter(|&region| {
                PHONE_NUMBER_UTIL
                    .get_country_code_for_region(region)
                    .is_some()
            })
            .map(Self)
            .ok_or_else(|| Error::UnknownCountry(code.to_owned()))
    }

    /// Returns the number that is written like this in the country, with its extension as
    /// `;ext=12`: two extensions of a number are two telephones.
    ///
    /// It must be possible, that is, of a length that its plan has, and need not be assigned, as
    /// plans change more often than programs. A local number, which lacks its area, means another
    /// telephone in each.
    pub(crate) fn canonical(&self, text: &str) -> Result<String, KeyFault> {
        // The library panics on some odd texts, which are no numbers.
        contained(|| self.read(text).filter(|number| self.is_stable(number)))
            .flatten()
            .ok_or_else(|| KeyFault::NotAPhoneNumber(self.to_string()))
    }

    /// Returns whether a number is read as what it is. One that begins with what looks like a
    /// prefix would lose that, and become another.
    fn is_stable(&self, number: &str) -> bool {
        self.read(number).as_deref() == Some(number)
    }

    fn read(&self, text: &str) -> Option<String> {
        read(text, Some(self.0))
    }
}

/// Returns the number that is written like this in the country of this code, which the row has in a
/// `column`. One with a `+` needs no country.
pub(crate) fn canonical_in(text: &str, code: &str, column: &str) -> Result<String, KeyFault> {
    match Country::new(code.trim()) {
        Ok(country) => {
            (country.canonical(text)).map_err(|_| KeyFault::NotAPhoneNumberThere(column.to_owned()))
        }
        Err(_) => contained(|| read(text, None))
            .flatten()
            .ok_or_else(|| KeyFault::NoCountry(column.to_owned())),
    }
}

fn read(text: &str, region: Option<Region>) -> Option<String> {
    let number = PHONE_NUMBER_UTIL.parse(text, region).ok()?;
    match PHONE_NUMBER_UTIL.is_possible_number_with_reason(&number) {
        Ok(NumberLengthType::IsPossible) => Some(written(&number)),
        _ => None,
    }
}

fn written(number: &PhoneNumber) -> String {
    let e164 = PHONE_NUMBER_UTIL.format(number, PhoneNumberFormat::E164);
    match &number.extension {
        Some(extension) => {
            let digits = PHONE_NUMBER_UTIL.normalize_digits_only(extension);
            format!("{e164};ext={digits}")
        }
        None => e164.into_owned(),
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str, code: &str) -> Result<String, KeyFault> {
        Country::new(code).unwrap().canonical(text)
    }

    #[test]
    fn every_way_to_write_a_number_is_read() {
        for (text, code, expected) in [
            ("030 1234567", "DE", "+49301234567"),
            ("+49 (0)30 1234567", "DE", "+49301234567"),
            ("+49301234567", "de", "+49301234567"),
            ("0049 30/1234567", "DE", "+49301234567"),
            ("(030) 1234-567", "De", "+49301234567"),
            ("Tel. 030 1234567", "DE", "+49301234567"),
            ("tel:+49-30-1234567", "DE", "+49301234567"),
            ("+49 30 1234567", "US", "+49301234567"),
            ("011 49 30 1234567", "US", "+49301234567"),
            ("\u{ff0b}\u{ff14}\u{ff19} 30 1234567", "DE", "+49301234567"),
            ("\u{660}\u{663}\u{660} 1234567", "DE", "+49301234567"),
            ("(202) 555-0123", "US", "+12025550123"),
            ("202.555.0123", "CA", "+12025550123"),
            ("1-800-FLOWERS", "US", "+18003569377"),
            ("06 1234567", "IT", "+39061234567"),
            ("3912312312", "IT", "+393912312312"),
            ("8 (800) 555-35-35", "RU", "+78005553535"),
            ("+7 800 555-35-35", "RU", "+78005553535"),
            ("011 15 2345 6789", "AR", "+5491123456789"),
            ("+800 1234 5678", "DE", "+80012345678"),
            // Of a length that its plan has, but not assigned.
            ("+49 3012", "DE", "+493012"),
        ] {
            assert_eq!(read(text, code).as_deref(), Ok(expected), "{text} {code}");
        }
    }

    #[test]
    fn each_number_may_have_a_country_of_its_own() {
        let read = |text, code| canonical_in(text, code, "land");
        for (text, code, expected) in [
            ("030 1234567", "DE", "+49301234567"),
            ("030 1234567", " de ", "+49301234567"),
            ("(202) 555-0123", "US", "+12025550123"),
            ("+49 30 1234567", "US", "+49301234567"),
            ("+49 30 1234567", "", "+49301234567"),
            ("+49 30 1234567", "Germany", "+49301234567"),
        ] {
            assert_eq!(read(text, code).as_deref(), Ok(expected), "{text} {code}");
        }
        for code in ["", "Germany", "XX"] {
            let fault = Err(KeyFault::NoCountry("land".to_owned()));
            assert_eq!(read("030 1234567", code), fault, "{code}");
            assert_eq!(read("0049 30 1234567", code), fault, "{code}");
        }
        let fault = Err(KeyFault::NotAPhoneNumberThere("land".to_owned()));
        assert_eq!(read("x", "DE"), fault);
    }

    #[test]
    fn extensions_are_part_of_a_number() {
        for text in [
            "030 1234567 x12",
            "030 1234567 ext. 12",
            "+49 30 1234567 #12",
            "+49301234567;ext=12",
            "030 1234567 x\u{ff11}\u{662}",
        ] {
            let read = read(text, "DE");
            assert_eq!(read.as_deref(), Ok("+49301234567;ext=12"), "{text}");
        }
    }

    #[test]
    fn what_is_no_possible_number_is_refused() {
        for (text, code) in [
            ("x", "DE"),
            ("0", "DE"),
            ("00", "DE"),
            ("+", "DE"),
            ("110", "DE"),
            ("+999 12345", "DE"),
            ("+4930123456789012345", "DE"),
            ("030 1234567 oder 030 7654321", "DE"),
            ("030 1234567 (B\u{fc}ro)", "DE"),
            // Without its area.
            ("555-0123", "US"),
            ("+1 555 0123", "US"),
            ("n/a", "DE"),
            ("ann@example.org", "DE"),
            // A number that begins with a prefix twice would lose one each time that it is read.
            ("+49 0030 1234567", "DE"),
            // The library panics on this.
            (";phone-context=ext;ext=tel:", "DE"),
        ] {
            let refused = Err(KeyFault::NotAPhoneNumber(code.to_owned()));
            assert_eq!(read(text, code), refused, "{text}");
        }
        let long = "1".repeat(100_000);
        assert!(read(&long, "DE").is_err());
    }

    #[test]
    fn countries_are_those_with_a_numbering_plan() {
        for code in ["", "D", "49", "001", "XX", "DEU", "Germany", "d\u{e9}"] {
            assert_eq!(
                Country::new(code).unwrap_err().to_string(),
                format!(
                    "`{code}` is not a country with telephone numbers: give its two-letter ISO \
                     3166 code, as in phone:DE"
                )
            );
        }
    }

    #[test]
    fn the_plans_are_those_of_the_library() {
        let manifest = include_str!("../../../../Cargo.toml");
        assert!(manifest.contains(&format!("rlibphonenumber = \"={PLANS_VERSION}\"")));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn what_is_read_stays(
            text in r"\PC{0,20}|[+＋]?[0-9٠-٩０-９ ()/.x#;=,-]{0,24}|([0-9]{1,3}|tel:|;ext=|;phone-context=|x|[+]){0,8}",
            code in prop::sample::select(vec!["DE", "US", "IT", "AR", "BR", "MX", "RU", "BY"]),
        ) {
            let country = Country::new(code).unwrap();
            if let Ok(read) = country.canonical(&text) {
                prop_assert_eq!(country.canonical(&read).unwrap(), read);
            }
        }

        #[test]
        fn numbers_stay_apart(a in 3_000_000..4_000_000_u32, b in 3_000_000..4_000_000_u32) {
            let of = |number: u32| read(&format!("0{number}0"), "DE").unwrap();
            prop_assert_eq!(of(a) == of(b), a == b);
        }
    }
}
