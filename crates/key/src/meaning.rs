//! The meaning of a key column's values, whatever their type: two columns can match only if they
//! have one meaning.

use std::fmt;

use crate::rules::Rule;

/// The kind of a key column's values, once they are normalised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// Texts, compared as they stand.
    Text,
    /// Integers, decimals, and floating-point numbers that are whole.
    Number,
    /// `true` and `false`.
    Bool,
    /// UUIDs.
    Uuid,
    /// Days.
    Date,
    /// Dates with times, of an unknown zone.
    Timestamp,
    /// Moments: dates with times in universal time.
    UniversalTimestamp,
    /// Some of one, some of the other: no column of one sort can match all of these.
    MixedTimestamp,
    /// Times of day.
    Time,
    /// Bytes.
    Binary,
    /// ASCII digits, as the rule `digits` leaves them.
    Digits,
    /// Telephone numbers, as the rule `phone` leaves them, with the code of a country.
    Phone,
    /// Telephone numbers, as the rule `phone` leaves them, without the code of a country.
    NationalPhone,
    /// Some of one, some of the other.
    MixedPhone,
    /// Telephone numbers as E.164 has them.
    E164,
    /// SHA-256 hashes.
    Sha256,
    /// Nothing but nulls, by their type.
    Null,
}

impl Kind {
    /// All kinds.
    pub const ALL: &[Self] = &[
        Self::Text,
        Self::Number,
        Self::Bool,
        Self::Uuid,
        Self::Date,
        Self::Timestamp,
        Self::UniversalTimestamp,
        Self::MixedTimestamp,
        Self::Time,
        Self::Binary,
        Self::Digits,
        Self::Phone,
        Self::NationalPhone,
        Self::MixedPhone,
        Self::E164,
        Self::Sha256,
        Self::Null,
    ];

    /// Returns whether values are dates, or can be midnights of dates.
    pub(crate) fn is_of_dates(self) -> bool {
        matches!(self, Self::Date | Self::Timestamp)
    }

    /// Returns the rule that makes this kind of texts, as `--normalize` calls it.
    pub fn rule(self) -> Option<&'static str> {
        Some(match self {
            Self::Number => "number",
            Self::Bool => "bool",
            Self::Uuid => "uuid",
            Self::Date => "date",
            Self::Timestamp | Self::UniversalTimestamp => "timestamp",
            Self::Digits => "digits",
            Self::Phone => "phone",
            Self::NationalPhone | Self::MixedPhone | Self::E164 => "phone:COUNTRY",
            Self::Time => "time",
            Self::Binary => "lowercase",
            Self::Sha256 => "sha256",
            Self::Text | Self::MixedTimestamp | Self::Null => return None,
        })
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Text => "text",
            Self::Number => "number",
            Self::Bool => "boolean",
            Self::Uuid => "UUID",
            Self::Date => "date",
            Self::Timestamp => "timestamp without a zone",
            Self::UniversalTimestamp => "timestamp in universal time",
            Self::MixedTimestamp => "timestamp, some with a zone and some without",
            Self::Time => "time of day",
            Self::Binary => "binary",
            Self::Digits => "digits",
            Self::Phone => "telephone number",
            Self::NationalPhone => "telephone number without a country code",
            Self::MixedPhone => "telephone number, some with a country code and some without",
            Self::E164 => "telephone number in E.164",
            Self::Sha256 => "SHA-256 hash",
            Self::Null => "null",
        })
    }
}

/// The meaning of a key column's values: their kind, and the rules that change a value of that
/// kind. Rules by which a value is read are not among these, as the kind shows them.
///
/// The text, as in `text: trim, lowercase (Unicode 17.0.0)`, is the same on both sides if and only
/// if the columns mean the same. It holds no name and no value of the table.
///
/// The origin of hashes that come to this party is unknown. Hashes that this party makes name
/// theirs, as in `SHA-256 hash: of text: trim, lowercase (Unicode 17.0.0)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    kind: Kind,
    rules: Vec<Rule>,
    /// The origin of the hashes, in words, if this party makes them.
    hashed: Option<String>,
}

impl Meaning {
    /// Returns what values of this kind mean once they are normalised by these rules. The meaning
    /// of a timestamp that is read from a text depends on its zone: see [`Observed`](crate::Observed).
    pub(crate) fn of(kind: Kind, rules: &[Rule]) -> Self {
        let unread = Self {
            kind,
            rules: Vec::new(),
            hashed: None,
        };
        rules.iter().fold(unread, Self::normalized)
    }

    fn normalized(self, rule: &Rule) -> Self {
        let kind = self.kind;
        let mut hashed = None;
        let read = match rule {
            Rule::Text if kind == Kind::Binary => Kind::Text,
            // Each side has its own null words; and there are no bytes elsewhere.
            Rule::Null(_) | Rule::Text => return self,
            Rule::ExcelDate => Kind::Date,
            Rule::UnixTime(_) => Kind::UniversalTimestamp,
            Rule::Sha256 => Kind::Sha256,
            Rule::Hash => {
                hashed = Some(self.to_string());
                Kind::Sha256
            }
            Rule::Number => Kind::Number,
            Rule::Unsigned(_) => {
                // Both sides must mean the same numbers.
                return Self {
                    kind: Kind::Number,
                    rules: vec![rule.clone()],
                    hashed: None,
                };
            }
            Rule::Bool => Kind::Bool,
            Rule::Uuid => Kind::Uuid,
            Rule::Date(_) => Kind::Date,
            Rule::Timestamp if kind == Kind::UniversalTimestamp => kind,
            Rule::Timestamp => Kind::Timestamp,
            Rule::Digits => Kind::Digits,
            Rule::Phone => Kind::Phone,
            Rule::UniversalTimestamp(_) => Kind::UniversalTimestamp,
            Rule::Time => Kind::Time,
            Rule::E164(_) | Rule::E164In(_) => {
                // The numbering plans define what a number is.
                return Self {
                    kind: Kind::E164,
                    rules: vec![rule.clone()],
                    hashed: None,
                };
            }
            Rule::Trim
            | Rule::Nfc
            | Rule::Nfkc
            | Rule::Lowercase
            | Rule::Casefold
            | Rule::Gmail
            | Rule::Google => {
                // Other kinds' texts are ASCII, and in lower case except for the `Z` of a moment.
                let changes = match kind {
                    Kind::Text => true,
                    Kind::UniversalTimestamp | Kind::MixedTimestamp => {
                        matches!(rule, Rule::Lowercase | Rule::Casefold)
                    }
                    _ => false,
                };
                let mut same = self;
                if changes {
                    same.rules.push(rule.clone());
                }
                return same;
            }
        };
        Self {
            kind: read,
            rules: Vec::new(),
            hashed,
        }
    }

    /// Sets the kind, once values have shown it.
    pub(crate) fn with_kind(self, kind: Kind) -> Self {
        Self { kind, ..self }
    }

    /// Returns the kind of the values.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        for (index, rule) in self.rules.iter().enumerate() {
            let before = if index == 0 { ": " } else { ", " };
            write!(f, "{before}{}", rule.told())?;
        }
        if let Some(hashed) = &self.hashed {
            write!(f, ": of {hashed}")?;
        }
        Ok(())
    }
}
