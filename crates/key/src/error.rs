//! Errors about a key: about its options, and its cells.

use psijoin_printable::Quoted;

use crate::{BadCells, bad_cells, column_names::differs};

/// The reason that a key, or its normalisation, makes no sense, or its cells cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The normalisation is not written as `COLUMN=RULE+RULE`.
    #[error("{} is not of the form COLUMN=RULE+RULE", Quoted(.0))]
    RuleSyntax(String),

    /// No normalisation rule has this name.
    #[error(
        "there is no normalisation rule {}; \
         the rules are trim, lowercase, casefold, digits, nfc, nfkc, email, email:gmail, email:google, phone, phone:COUNTRY, \
         phone:column:COLUMN, null:WORDS, text, number, number:BITS, bool, uuid, date, date:FORMAT, date:excel, timestamp, timestamp:ZONE, \
         timestamp:unix, time and sha256",
        Quoted(.0)
    )]
    UnknownRule(String),

    /// A rule follows the one that makes hashes.
    #[error(
        "sha256 must be the last rule, as no other can read a hash: say the others before it, as in email+sha256"
    )]
    RuleAfterHash,

    /// A word for null is empty.
    #[error(
        "null: needs words with commas between them, none of them empty, as in null:none,-; or null:common"
    )]
    NoNullWord,

    /// Dates cannot be read by a format.
    #[error(
        "{} is not a format of dates: it must hold day, month and year, as in date:%d.%m.%Y",
        Quoted(.0)
    )]
    DateFormat(String),

    /// No numbering plan is known for a country.
    #[error(
        "{} is not a country with telephone numbers: give its two-letter ISO 3166 code, as in \
         phone:DE",
        Quoted(.0)
    )]
    UnknownCountry(String),

    /// The time zone database has no zone of this name.
    #[error(
        "there is no time zone {}: give a name of the IANA database, as in \
         timestamp:Europe/Berlin or timestamp:UTC, or an offset, as in timestamp:+01:00",
        Quoted(.0)
    )]
    UnknownZone(String),

    /// Normalisation is given for a column that is no key column.
    #[error("normalisation is given for {}, which is not a key column{}", Quoted(.column), differs(key, .column))]
    RuleOutsideKey {
        /// The column as the user named it.
        column: String,
        /// The columns of the key.
        key: Vec<String>,
    },

    /// A column was named twice where each may be named once.
    #[error("the column {} is given twice", Quoted(.0))]
    Repeated(String),

    /// Cells of the key have no canonical text, and may not count as null.
    #[error("{}", bad_cells::listed(.0))]
    BadKeys(Vec<BadCells>),

    /// More cells of the key have no canonical text than may count as null.
    #[error(
        "{bad} of {rows} rows have a cell of the key that cannot be read, which is more than {at_most_percent} %: {}",
        bad_cells::listed(.cells)
    )]
    TooManyBadKeys {
        /// The number of rows with such cells.
        bad: u64,
        /// All rows.
        rows: u64,
        /// The most rows that may have some, in percent of all.
        at_most_percent: f64,
        /// The cells.
        cells: Vec<BadCells>,
    },

    /// The text does not name a treatment of key cells without a canonical text.
    #[error(
        "{} does not say what becomes of keys that cannot be read: say refuse, null, or null with the most rows that may have \
         some, as in null:5%",
        Quoted(.0)
    )]
    UnknownBadKeys(String),
}

impl Error {
    /// Returns whether it is about what was asked for, whatever the table holds.
    pub fn is_usage(&self) -> bool {
        !matches!(self, Self::BadKeys(_) | Self::TooManyBadKeys { .. })
    }
}
