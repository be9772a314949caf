//! Normalisation: what is done to a key before it is compared, and only on request.

use std::{borrow::Cow, fmt, str::FromStr};

use caseless::Caseless;
use psijoin_params::numbers;
use unicode_normalization::{
    IsNormalized, UNICODE_VERSION, UnicodeNormalization, is_nfc_quick, is_nfkc_quick,
};

use crate::{
    Error, KeyFault,
    spelling::{
        bytes,
        date_format::DateFormat,
        mailbox, moment,
        null_words::NullWords,
        number,
        phone::{self, Country},
        serial::{self, UnixUnit},
        sha256, truth, uuid,
        zone::{self, Zone},
    },
};

/// The version of the definitions of rules and of typed columns' texts. It changes whenever any
/// value gets another text than before, so that both sides must have the same.
pub const SPELLING_VERSION: u32 = 4;

/// The text behind the name of a rule that takes countries from a column.
const IN_COLUMN: &str = "column:";

/// The text in the place of a format of the rule for dates in Excel's numbers.
const EXCEL: &str = "excel";

/// One step of normalisation.
///
/// `email` is not a rule of its own but short for `trim+lowercase`. Dots and `+tags` stay, since
/// their meaning is up to the mail provider; `email:gmail` and `email:google` know it for Gmail.
///
/// The rules from `number` on read a value, and give the canonical text of a column of that type.
/// White space at both ends does not count for them. An unreadable text is a [`KeyFault`], but an
/// empty one stays empty.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rule {
    /// `trim`: drops Unicode white space at both ends.
    Trim,
    /// `lowercase`: Unicode's default lower case, the same for every language.
    Lowercase,
    /// `casefold`: Unicode's full case folding, the same for every language: as `lowercase`, and
    /// `ß` is `ss`, as `SS` is.
    Casefold,
    /// `digits`: keeps the ASCII digits and drops all else.
    Digits,
    /// `nfc`: Unicode's canonical composition, so that `é` is the same however it was typed.
    Nfc,
    /// `phone`: keeps the ASCII digits. A `+` before the first digit is kept; without one, two
    /// leading zeros become a `+`. If no digit is left after it, nothing is left: `00` is empty, as
    /// `+` is. The country is not guessed: `0171 …` stays what it is.
    Phone,
    /// `phone:COUNTRY`, as `phone:DE`: a telephone number as E.164 writes it, `+49301234567`, with
    /// `;ext=12` behind it where there is an extension. Without the code of a country it is one of
    /// this country. It must be possible, and need not be assigned.
    E164(Country),
    /// `phone:column:COLUMN`: as `phone:COUNTRY`, where each row has the code of its country in
    /// this column.
    E164In(String),
    /// `email:gmail` is short for `trim+lowercase` and this: an address at `gmail.com` loses its
    /// dots, and the `+` with what follows it, as UID2 describes it.
    Gmail,
    /// `email:google` is short for `trim+lowercase` and this: an address at `gmail.com` or
    /// `googlemail.com` loses its dots, as Google describes it for lists of customers.
    Google,
    /// `null:WORD,WORD`: these words mean null. `null:common` knows those that programs write.
    Null(NullWords),
    /// `text`: bytes are a text in UTF-8. A column of another type takes no notice of it.
    Text,
    /// `nfkc`: Unicode's compatibility composition. It also makes one of letters that look
    /// different, such as full-width ones and ligatures.
    Nfkc,
    /// `number`: a decimal number, exactly, as `12.5` for `+012.50` and `1.25e1`.
    Number,
    /// `number:BITS`, as `number:32`: a whole number from 0 on that has at most this many bits, up
    /// to 64, as `number` has it. If it is the last rule of the only key column, protocols know how
    /// short keys are.
    Unsigned(u32),
    /// `bool`: `true` and `false`, also for `t` and `f`, `yes` and `no`, `y` and `n`, `1` and `0`,
    /// in any case.
    Bool,
    /// `uuid`: in lower case with hyphens, also for one without hyphens, between braces, or behind
    /// `urn:uuid:`.
    Uuid,
    /// `date`: a date as `2024-02-29`, also for `20240229` and for a timestamp without a zone that
    /// is a midnight; and `date:FORMAT`, for dates that are written in another format. A typed
    /// column of dates, or of timestamps without a zone, takes no notice of a format.
    Date(Option<DateFormat>),
    /// `timestamp`: as `2024-02-29 13:05:00.25`, also with a `T` between, without seconds, or for
    /// a date alone, which is its midnight. With a `Z` or an offset from universal time it becomes
    /// universal time, with a `Z`.
    Timestamp,
    /// `timestamp:ZONE`, as `timestamp:Europe/Berlin`: as `timestamp`, and what is without a zone
    /// is local time in this one, and so becomes universal time too. A time that the zone's clocks
    /// showed twice, or never, is a [`KeyFault`].
    UniversalTimestamp(Zone),
    /// `date:excel`: the number of a day, as Excel counts them. A typed column of dates takes no
    /// notice of it.
    ExcelDate,
    /// `timestamp:unix`: seconds since 1970 in universal time; `timestamp:unix-ms`, `-us` and `-ns`
    /// for smaller units. A typed column of dates and times takes no notice of it.
    UnixTime(UnixUnit),
    /// `sha256` as the only rule that changes values: a SHA-256 hash as 64 hexadecimal digits in
    /// lower case, also for upper case and Base64.
    Sha256,
    /// `sha256` behind other rules: the hash of what these leave, in UTF-8. It must be the last
    /// rule.
    Hash,
    /// `time`: a time of day as `13:05:00.25`, also for `9:05`, and for `1:05:00 PM`.
    Time,
}

impl Rule {
    /// Returns the rule's name, without what one side alone has to know: the format of its dates,
    /// the country of its telephone numbers, the zone of its times.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Trim => "trim",
            Self::Lowercase => "lowercase",
            Self::Casefold => "casefold",
            Self::Digits => "digits",
            Self::Nfc => "nfc",
            Self::Phone => "phone",
            Self::E164(_) | Self::E164In(_) => "phone",
            Self::Gmail => "gmail",
            Self::Google => "google",
            Self::Null(_) => "null",
            Self::Text => "text",
            Self::ExcelDate => "date",
            Self::UnixTime(_) => "timestamp",
            Self::Sha256 | Self::Hash => "sha256",
            Self::Nfkc => "nfkc",
            Self::Number | Self::Unsigned(_) => "number",
            Self::Bool => "bool",
            Self::Uuid => "uuid",
            Self::Date(_) => "date",
            Self::Timestamp => "timestamp",
            Self::UniversalTimestamp(_) => "timestamp",
            Self::Time => "time",
        }
    }

    /// Returns the version of the tables that the rule uses, if they change what it does: white
    /// space has been the same since Unicode 6.3.
    fn tables(&self) -> Option<String> {
        match self {
            Self::Lowercase => Some(unicode(char::UNICODE_VERSION)),
            Self::Casefold => Some(unicode(caseless::UNICODE_VERSION)),
            Self::Nfc | Self::Nfkc => Some(unicode(UNICODE_VERSION)),
            Self::E164(_) | Self::E164In(_) => {
                Some(format!("rlibphonenumber {}", phone::PLANS_VERSION))
            }
            Self::UniversalTimestamp(zone) if zone.is_of_database() => {
                Some(format!("tzdb {}", zone::database_version()))
            }
            Self::UniversalTimestamp(_) | Self::UnixTime(_) | Self::ExcelDate => None,
            Self::Trim | Self::Digits | Self::Phone | Self::Null(_) | Self::Text => None,
            Self::Gmail | Self::Google | Self::Sha256 | Self::Hash => None,
            Self::Number | Self::Unsigned(_) | Self::Bool | Self::Uuid => None,
            Self::Date(_) | Self::Timestamp | Self::Time => None,
        }
    }

    /// Returns the rule as it is written on request.
    pub fn named_in_full(&self) -> String {
        let name = self.name();
        match self {
            Self::Date(Some(format)) => format!("{name}:{format}"),
            Self::E164(country) => format!("{name}:{country}"),
            Self::E164In(column) => format!("{name}:{IN_COLUMN}{column}"),
            Self::Null(words) => format!("{name}:{words}"),
            Self::ExcelDate => format!("{name}:{EXCEL}"),
            Self::UnixTime(unit) => format!("{name}:{unit}"),
            Self::Unsigned(bits) => format!("{name}:{bits}"),
            Self::UniversalTimestamp(zone) => format!("{name}:{zone}"),
            _ => name.to_owned(),
        }
    }

    /// As the other party sees it: its name and the version of the tables that it uses, without
    /// what is each side's own.
    pub(crate) fn told(&self) -> String {
        match (self, self.tables()) {
            (Self::Unsigned(bits), _) => format!("below 2^{bits}"),
            (_, Some(tables)) => format!("{} ({tables})", self.name()),
            (_, None) => self.name().to_owned(),
        }
    }

    fn named(name: &str) -> Result<Vec<Self>, Error> {
        if let Some((name, detail)) = name.split_once(':') {
            let rule = match name {
                "date" if detail == EXCEL => Self::ExcelDate,
                "date" => Self::Date(Some(DateFormat::new(detail)?)),
                "email" if detail == "gmail" => {
                    return Ok(vec![Self::Trim, Self::Lowercase, Self::Gmail]);
                }
                "email" if detail == "google" => {
                    return Ok(vec![Self::Trim, Self::Lowercase, Self::Google]);
                }
                "null" => Self::Null(NullWords::new(detail)?),
                "number" => match detail.parse() {
                    Ok(bits @ 1..=numbers::MAX_BITS) => Self::Unsigned(bits),
                    _ => return Err(Error::UnknownRule(format!("{name}:{detail}"))),
                },
                "phone" => match detail.strip_prefix(IN_COLUMN) {
                    Some(column) if !column.is_empty() => Self::E164In(column.to_owned()),
                    _ => Self::E164(Country::new(detail)?),
                },
                "timestamp" => match UnixUnit::named(detail) {
                    Some(unit) => Self::UnixTime(unit),
                    None => Self::UniversalTimestamp(Zone::new(detail)?),
                },
                _ => {
                    return Err(Error::UnknownRule(format!("{name}:{detail}")));
                }
            };
            return Ok(vec![rule]);
        }
        let rules: &[Self] = match name {
            "trim" => &[Self::Trim],
            "lowercase" => &[Self::Lowercase],
            "casefold" => &[Self::Casefold],
            "digits" => &[Self::Digits],
            "nfc" => &[Self::Nfc],
            "email" => &[Self::Trim, Self::Lowercase],
            "phone" => &[Self::Phone],
            "nfkc" => &[Self::Nfkc],
            "number" => &[Self::Number],
            "bool" => &[Self::Bool],
            "uuid" => &[Self::Uuid],
            "date" => &[Self::Date(None)],
            "timestamp" => &[Self::Timestamp],
            "time" => &[Self::Time],
            "text" => &[Self::Text],
            "sha256" => &[Self::Sha256],
            _ => return Err(Error::UnknownRule(name.to_owned())),
        };
        Ok(rules.to_vec())
    }

    /// Returns the column that the rule takes each row's country from.
    pub fn country_column(&self) -> Option<&str> {
        match self {
            Self::E164In(column) => Some(column),
            _ => None,
        }
    }

    /// Returns what becomes of a text, given what the row has in the [column of
    /// countries](Self::country_column).
    ///
    /// # Errors
    /// If the rule cannot read it.
    pub fn apply<'a>(&self, text: Cow<'a, str>, country: &str) -> Result<Cow<'a, str>, KeyFault> {
        Ok(match self {
            Self::Trim => match text {
                Cow::Borrowed(text) => text.trim().into(),
                Cow::Owned(text) if text.trim().len() == text.len() => text.into(),
                Cow::Owned(text) => text.trim().to_owned().into(),
            },
            Self::Lowercase => lowercase(text, str::to_lowercase),
            Self::Casefold => lowercase(text, |text| text.chars().default_case_fold().collect()),
            Self::Digits if text.bytes().all(|byte| byte.is_ascii_digit()) => text,
            Self::Digits => digits(&text).into(),
            Self::Nfc if is_nfc_quick(text.chars()) == IsNormalized::Yes => text,
            Self::Nfc => text.nfc().collect(),
            Self::Phone => phone(&text).into(),
            Self::E164(country) => read(&text, |text| country.canonical(text))?,
            Self::E164In(column) => read(&text, |text| phone::canonical_in(text, country, column))?,
            Self::Gmail => mailbox::gmail(text),
            Self::Google => mailbox::google(text),
            Self::Null(words) if words.contain(&text) => "".into(),
            Self::Null(_) => text,
            Self::Text => bytes::text(&text)?.into(),
            Self::ExcelDate => read(&text, serial::excel_date)?,
            Self::UnixTime(unit) => read(&text, |text| unit.timestamp(text))?,
            Self::Sha256 => read(&text, sha256::canonical)?,
            Self::Hash if text.is_empty() => text,
            Self::Hash => sha256::of(&text)?.into(),
            Self::Nfkc if is_nfkc_quick(text.chars()) == IsNormalized::Yes => text,
            Self::Nfkc => text.nfkc().collect(),
            Self::Number => read(&text, number::canonical)?,
            Self::Unsigned(bits) => read(&text, |text| number::unsigned(text, *bits))?,
            Self::Bool => read(&text, truth::canonical)?,
            Self::Uuid => read(&text, uuid::canonical)?,
            Self::Date(None) => read(&text, moment::date)?,
            Self::Date(Some(format)) => read(&text, |text| format.canonical(text))?,
            Self::Timestamp => read(&text, moment::timestamp)?,
            Self::UniversalTimestamp(zone) => {
                read(&text, |text| moment::universal_timestamp(text, zone))?
            }
            Self::Time => read(&text, moment::time)?,
        })
    }
}

fn unicode<T: fmt::Display>((major, minor, micro): (T, T, T)) -> String {
    format!("Unicode {major}.{minor}.{micro}")
}

/// Returns a text in lower case, by the rule `of_unicode` unless it is ASCII, where all rules are
/// the same.
fn lowercase(text: Cow<'_, str>, of_unicode: impl FnOnce(&str) -> String) -> Cow<'_, str> {
    // Without a branch per byte, so that many are looked at at once.
    let has = |sort: fn(&u8) -> bool| text.bytes().fold(false, |has, byte| has | sort(&byte));
    if has(|byte| !byte.is_ascii()) {
        return of_unicode(&text).into();
    }
    if !has(u8::is_ascii_uppercase) {
        return text;
    }
    let mut text = text.into_owned();
    text.make_ascii_lowercase();
    text.into()
}

/// Reads what stands in a text, if anything does.
fn read<'a>(
    text: &str,
    canonical: impl FnOnce(&str) -> Result<String, KeyFault>,
) -> Result<Cow<'a, str>, KeyFault> {
    match text.trim() {
        "" => Ok(Cow::Borrowed("")),
        text => canonical(text).map(Cow::Owned),
    }
}

fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

fn phone(text: &str) -> String {
    let digits = digits(text);
    let before = text
        .split(|c: char| c.is_ascii_digit())
        .next()
        .unwrap_or_default();
    let international = match digits.strip_prefix("00") {
        _ if before.contains('+') => Some(&*digits),
        behind => behind,
    };
    match international {
        Some("") => String::new(),
        Some(number) => format!("+{number}"),
        None => digits,
    }
}

/// Applies the rules in their order.
pub(crate) fn normalize<'a>(
    rules: &[Rule],
    text: Cow<'a, str>,
    country: &str,
) -> Result<Cow<'a, str>, KeyFault> {
    let mut rules = rules.iter();
    rules.try_fold(text, |text, rule| rule.apply(text, country))
}

/// The normalisation of one column, written `COLUMN=RULE+RULE`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnRules {
    /// The column's name.
    pub column: String,
    /// The rules, in the order in which they are applied.
    pub rules: Vec<Rule>,
}

impl ColumnRules {
    /// Reads the rules of a column, written `RULE+RULE`.
    ///
    /// # Errors
    /// If there is no such rule, or rules do not go together.
    pub fn new(column: String, rules: &str) -> Result<Self, Error> {
        let rules = parse_rules(rules).and_then(with_hash)?;
        Ok(Self { column, rules })
    }
}

impl FromStr for ColumnRules {
    type Err = Error;

    /// Parses `COLUMN=RULE+RULE`, where the column may stand in quotes, as it must in a list. A
    /// column's name may hold a `=`, and so may the format of a date: the last `=` with rules after
    /// it counts.
    fn from_str(text: &str) -> Result<Self, Error> {
        let mut fault = None;
        for (at, _) in text.rmatch_indices('=') {
            match parse_rules(&text[at + 1..]).and_then(with_hash) {
                Ok(rules) => {
                    return Ok(Self {
                        column: unquoted(&text[..at]),
                        rules,
                    });
                }
                Err(error) => fault = fault.or(Some(error)),
            }
        }
        Err(fault.unwrap_or_else(|| Error::RuleSyntax(text.to_owned())))
    }
}

/// Returns a name without the quotes that may be around it.
fn unquoted(name: &str) -> String {
    match name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'))
    {
        Some(name) => name.replace("\"\"", "\""),
        None => name.to_owned(),
    }
}

/// Returns rules the last of which may make hashes: behind others that change values, `sha256`
/// does.
fn with_hash(mut rules: Vec<Rule>) -> Result<Vec<Rule>, Error> {
    if let Some((last, others)) = rules.split_last_mut() {
        if others.contains(&Rule::Sha256) {
            return Err(Error::RuleAfterHash);
        }
        let changes = others.iter().any(|rule| !matches!(rule, Rule::Null(_)));
        if *last == Rule::Sha256 && changes {
            *last = Rule::Hash;
        }
    }
    Ok(rules)
}

/// Parses `RULE+RULE`. A format and a zone may hold a `+`, as `Etc/GMT+5` does: a rule ends at the
/// first `+` that another rule follows.
fn parse_rules(text: &str) -> Result<Vec<Rule>, Error> {
    let mut fault = None;
    let ends = text.match_indices('+').map(|(at, _)| at);
    // A digit begins no rule, but what is behind the sign of an offset; nor does a rule end in a
    // colon.
    let is_sign = |end: usize| {
        text[..end].ends_with(':') || text[end + 1..].starts_with(|c: char| c.is_ascii_digit())
    };
    for end in ends.filter(|end| !is_sign(*end)).chain([text.len()]) {
        let behind = text.get(end + 1..);
        let rules = Rule::named(&text[..end]).and_then(|first| match behind {
            None => Ok(first),
            Some(others) => Ok([first, parse_rules(others)?].concat()),
        });
        match rules {
            Ok(rules) => return Ok(rules),
            Err(error) => fault = fault.or(Some(error)),
        }
    }
    Err(fault.expect("each text has an end"))
}

impl fmt::Display for Rule {
    /// As it is written on request, with the version of the tables that the rule uses, as in
    /// `nfc (Unicode 17.0.0)`: texts are the same only if the tables are.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.named_in_full())?;
        match self.tables() {
            Some(tables) => write!(f, " ({tables})"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn normalized(rules: &str, text: &str) -> String {
        let rules: ColumnRules = format!("c={rules}").parse().unwrap();
        normalize(&rules.rules, text.into(), "")
            .unwrap()
            .into_owned()
    }

    #[test]
    fn rules_do_what_they_say() {
        for (rules, text, expected) in [
            ("trim", "\u{a0} a b\t\u{2003}", "a b"),
            ("lowercase", "ÀB\u{130} ΟΔΟΣ", "àbi\u{307} οδος"),
            ("digits", " 12-34\u{663}x5", "12345"),
            ("digits", "none", ""),
            ("nfc", "e\u{301}", "\u{e9}"),
            ("nfc", "plain", "plain"),
            ("email", "  Ann.B+tag@Example.ORG ", "ann.b+tag@example.org"),
            ("email:gmail", " A.nn+x@Gmail.com", "ann@gmail.com"),
            (
                "email:google",
                " A.nn+x@GoogleMail.com",
                "ann+x@googlemail.com",
            ),
            ("null:common", " #N/A ", ""),
            ("null:common", "nano", "nano"),
            ("null:0+number", "0", ""),
            ("number+null:0", "0.0", ""),
            ("date:excel", " 45351", "2024-02-29"),
            ("timestamp:unix-ms", "1706963696000", "2024-02-03 12:34:56Z"),
            (
                "email+sha256",
                " Ann@X.org",
                "367a1e74302c7324855afeeba387d3c55ca8ab3592a32c0fbdfc939ad80fcaf5",
            ),
            (
                "sha256",
                " 367A1E74302C7324855AFEEBA387D3C55CA8AB3592A32C0FBDFC939AD80FCAF5\n",
                "367a1e74302c7324855afeeba387d3c55ca8ab3592a32c0fbdfc939ad80fcaf5",
            ),
            ("email+sha256", " ", ""),
            ("phone", "+49 (0) 171-123", "+490171123"),
            ("phone", "(+49) 171", "+49171"),
            ("phone", "0049 171", "+49171"),
            ("phone", "0171 / 123", "0171123"),
            ("phone", "171+5", "1715"),
            ("phone", "00", ""),
            ("phone", "(00)", ""),
            ("phone", "+", ""),
            ("phone", " + ", ""),
            ("phone", "", ""),
            ("phone", "0", "0"),
            ("phone", "000", "+0"),
            // There are digits behind the `+`, and none of them is to be dropped.
            ("phone", "+00", "+00"),
            ("trim+digits", " 1 ", "1"),
            ("lowercase+trim", " A ", "a"),
            ("nfkc", "\u{fb01}\u{ff11}e\u{301}", "fi1\u{e9}"),
            ("nfkc", "plain", "plain"),
            ("number", " +1.50\u{a0}", "1.5"),
            ("number", "", ""),
            ("number", " \t", ""),
            ("bool", " True", "true"),
            ("bool", " ", ""),
            (
                "uuid",
                " F81D4FAE7DEC11D0A76500A0C91E6BF6 ",
                "f81d4fae-7dec-11d0-a765-00a0c91e6bf6",
            ),
            ("uuid", "", ""),
            ("digits+number", "no. 0012", "12"),
            ("number:4", " +15.0", "15"),
            ("number:64", "18446744073709551615", "18446744073709551615"),
            ("number:1", "-0", "0"),
            ("number:32", " ", ""),
            ("date", " 20240203", "2024-02-03"),
            ("date:%d.%m.%Y", "\t03.02.2024 ", "2024-02-03"),
            ("date:%d.%m.%Y", " ", ""),
            ("lowercase+date:%d %b %Y", "03 FEB 2024", "2024-02-03"),
            (
                "date:%d.%m.%Y+timestamp",
                "03.02.2024",
                "2024-02-03 00:00:00",
            ),
            (
                "timestamp",
                " 2024-02-03T12:34:56.50+01:00 ",
                "2024-02-03 11:34:56.5Z",
            ),
            ("timestamp", "", ""),
            (
                "casefold",
                "Straße STRASSE ΟΔΟΣ \u{130}I",
                "strasse strasse οδοσ i\u{307}i",
            ),
            ("casefold", "", ""),
            ("phone:DE", " 030 1234567\u{a0}", "+49301234567"),
            ("phone:de", " ", ""),
            (
                "timestamp:Europe/Berlin",
                " 2024-02-03 12:34:56 ",
                "2024-02-03 11:34:56Z",
            ),
            ("timestamp:UTC", "\t", ""),
            (
                "date:%d.%m.%Y+timestamp:UTC",
                "03.02.2024",
                "2024-02-03 00:00:00Z",
            ),
            ("time", " 1:05 PM", "13:05:00"),
            ("time", "", ""),
        ] {
            assert_eq!(normalized(rules, text), expected, "{rules} of {text:?}");
        }
    }

    #[test]
    fn parsing_names_what_is_wrong() {
        let parse = |text: &str| text.parse::<ColumnRules>();
        assert_eq!(parse("\"a, \"\"b\"\"\"=trim").unwrap().column, "a, \"b\"");
        let column = parse("a=b=email+nfc").unwrap();
        assert_eq!(column.column, "a=b");
        assert_eq!(column.rules, [Rule::Trim, Rule::Lowercase, Rule::Nfc]);
        assert_eq!(
            parse("email").unwrap_err().to_string(),
            "`email` is not of the form COLUMN=RULE+RULE"
        );
        assert_eq!(
            parse("mail=lower").unwrap_err().to_string(),
            "there is no normalisation rule `lower`; the rules are trim, lowercase, casefold, \
             digits, nfc, nfkc, email, email:gmail, email:google, phone, phone:COUNTRY, phone:column:COLUMN, null:WORDS, text, number, number:BITS, bool, uuid, date, date:FORMAT, \
             date:excel, timestamp, timestamp:ZONE, timestamp:unix, time and sha256"
        );
        for (text, column, format) in [
            ("c=date:%d=%m=%Y", "c", "%d=%m=%Y"),
            ("a=b=date:=%d;%m:%Y", "a=b", "=%d;%m:%Y"),
        ] {
            let rules = parse(text).unwrap();
            assert_eq!(rules.column, column);
            assert_eq!(
                rules.rules,
                [Rule::Date(Some(DateFormat::new(format).unwrap()))]
            );
        }
        for text in [
            "c=date:%d+%m+%Y+trim",
            "c=timestamp:Etc/GMT+5",
            "c=trim+timestamp:Etc/GMT+5+nfc",
        ] {
            let rules = parse(text).unwrap().rules;
            let shown: Vec<_> = rules.iter().map(|rule| rule.named_in_full()).collect();
            assert_eq!(format!("c={}", shown.join("+")), text);
        }
        for (text, expected) in [
            ("c=timestamp:+01:00", vec!["timestamp:+01:00"]),
            ("c=timestamp:GMT+1", vec!["timestamp:GMT+1"]),
            (
                "c=trim+timestamp:UTC+01:00+lowercase",
                vec!["trim", "timestamp:UTC+01:00", "lowercase"],
            ),
            ("c=timestamp:-03:30+time", vec!["timestamp:-03:30", "time"]),
            ("c=timestamp:unix-ms", vec!["timestamp:unix-ms"]),
            ("c=date:excel", vec!["date:excel"]),
            (
                "c=null:common,a=b,-+number",
                vec!["null:common,a=b,-", "number"],
            ),
            ("c=phone:column:land", vec!["phone:column:land"]),
            ("c=phone:column:a+b=c", vec!["phone:column:a+b=c"]),
            (
                "c=email:gmail+sha256",
                vec!["trim", "lowercase", "gmail", "sha256"],
            ),
            ("c=null:common+sha256", vec!["null:common", "sha256"]),
        ] {
            let rules = parse(text).unwrap().rules;
            let shown: Vec<_> = rules.iter().map(Rule::named_in_full).collect();
            assert_eq!(shown, expected, "{text}");
        }
        let rules = |text: &str| parse(text).unwrap().rules;
        assert_eq!(rules("c=sha256"), [Rule::Sha256]);
        assert_eq!(rules("c=null:x+sha256")[1], Rule::Sha256);
        assert_eq!(rules("c=trim+sha256"), [Rule::Trim, Rule::Hash]);
        assert_eq!(rules("c=number+sha256"), [Rule::Number, Rule::Hash]);
        for text in [
            "c=sha256+trim",
            "c=email+sha256+lowercase",
            "c=sha256+sha256",
        ] {
            assert!(matches!(parse(text), Err(Error::RuleAfterHash)), "{text}");
        }
        for text in ["c=null:", "c=null:a,", "c=null:,"] {
            assert!(matches!(parse(text), Err(Error::NoNullWord)), "{text}");
        }
        for (text, zone) in [
            ("c=timestamp:GMT+99", "GMT+99"),
            ("c=timestamp:+25:00", "+25:00"),
        ] {
            assert!(
                matches!(parse(text), Err(Error::UnknownZone(name)) if name == zone),
                "{text}"
            );
        }
        assert!(matches!(
            parse("c=phone:column:"),
            Err(Error::UnknownCountry(_))
        ));
        for text in ["c=date:%q", "c=trim+date:%q", "c=date:%d+%m", "c=date:"] {
            assert!(matches!(parse(text), Err(Error::DateFormat(_))), "{text}");
        }
        for text in [
            "c=number:0",
            "c=number:65",
            "c=number:",
            "c=number:x",
            "c=number:-1",
        ] {
            assert!(matches!(parse(text), Err(Error::UnknownRule(_))), "{text}");
        }
        assert!(matches!(parse("mail="), Err(Error::UnknownRule(name)) if name.is_empty()));
        assert!(matches!(parse("c=trim:x"), Err(Error::UnknownRule(name)) if name == "trim:x"));
        assert!(matches!(parse("c=phone:XX"), Err(Error::UnknownCountry(code)) if code == "XX"));
        assert!(matches!(parse("c=timestamp:X"), Err(Error::UnknownZone(name)) if name == "X"));
    }

    proptest! {
        /// The fast paths for ASCII give the results of Unicode's rules.
        #[test]
        fn ascii_is_no_exception(
            text in r"[ -~]{0,20}|[ a-zA-Z0-9\t]{0,20}|[0-9]{0,8}|[ A-Zß-üΣİ]{0,8}",
            is_owned: bool,
        ) {
            let rule = |name: &str| {
                let text = match is_owned {
                    true => text.clone().into(),
                    false => Cow::Borrowed(&*text),
                };
                normalize(&parse_rules(name).unwrap(), text, "").unwrap()
            };
            prop_assert_eq!(rule("trim"), text.trim());
            prop_assert_eq!(rule("lowercase"), text.to_lowercase());
            let folded: String = text.chars().default_case_fold().collect();
            prop_assert_eq!(rule("casefold"), folded);
            prop_assert_eq!(rule("digits"), digits(&text));
        }

        /// A key that is already as a rule makes it stays as it is, and so does the empty text.
        #[test]
        fn rules_are_idempotent(
            text in r"\PC{0,12}|[0-9+() ./-]{0,16}|[0-9T:. -]{0,20}|[0-9:. APM]{0,10}|[tfyn01]",
            rule in prop::sample::select(vec![
                "trim", "lowercase", "casefold", "digits", "nfc", "nfkc", "email", "phone",
                "phone:DE", "phone:US", "phone:IT", "number", "number:7", "bool", "uuid", "date", "timestamp",
                "timestamp:Europe/Berlin", "timestamp:+01:00", "time", "email:gmail", "email:google",
                "null:common,x,1", "sha256",
            ]),
        ) {
            let rules = parse_rules(rule).unwrap();
            if let Ok(once) = normalize(&rules, (&text).into(), "") {
                prop_assert_eq!(&normalize(&rules, once.clone(), "").unwrap(), &once);
            }
            prop_assert_eq!(normalize(&rules, "".into(), "").unwrap(), "");
        }
    }
}
