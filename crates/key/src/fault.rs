//! Faults of a key's cells.

use psijoin_printable::Quoted;

/// A fault of a key's cell.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum KeyFault {
    /// A floating-point number that may mean several values.
    #[error(
        "a floating-point number that stands for no single whole number (it must be whole, and \
         below 2^53, 2^24 or 2^11 in 64, 32 or 16 bits; cast the column to decimal, text or \
         integer)"
    )]
    InexactFloat,
    /// The rule `number` cannot read it.
    #[error(
        "not a number (the rule `number` reads digits, with a sign, a decimal point and an \
         exponent where needed, and no thousands separator or unit; correct or empty the cell)"
    )]
    NotANumber,
    /// The rule `number` would need very many digits for it.
    #[error(
        "a number with an exponent beyond 1000 (correct or empty the cell, or compare the column \
         as text)"
    )]
    Exponent,
    /// The rule `number:BITS` cannot read it.
    #[error(
        "not a whole number from 0 on and below 2^{0} (the rule `number:{0}` reads nothing else; \
         correct or empty the cell, or both sides take the rule `number`)"
    )]
    NotUnsigned(u32),
    /// The rule `bool` cannot read it.
    #[error(
        "not a truth value (the rule `bool` reads true and false, t and f, yes and no, y and n, 1 \
         and 0; correct or empty the cell)"
    )]
    NotABool,
    /// The rule `uuid` cannot read it.
    #[error(
        "not a UUID (the rule `uuid` reads 32 hexadecimal digits, with all hyphens or none, \
         between braces or behind `urn:uuid:`; correct or empty the cell)"
    )]
    NotAUuid,
    /// The rule `date` cannot read it.
    #[error(
        "not a date (the rule `date` reads 2024-02-29, 20240229 and timestamps at midnight; if dates are written \
         otherwise, give their format, as in date:%d.%m.%Y; or correct or empty the cell)"
    )]
    NotADate,
    /// It is not a date of the format that the user gave.
    #[error("not a date of the format {} (give another format, or correct or empty the cell)", Quoted(.0))]
    NotOfFormat(String),
    /// The rule `timestamp` cannot read it.
    #[error(
        "not a timestamp (the rule `timestamp` reads 2024-02-29 13:05:00, with T in place of the \
         space, a fraction of the second, and Z or an offset such as +01:00 where there are any; \
         correct or empty the cell)"
    )]
    NotATimestamp,
    /// The clocks of the zone that the user gave showed this time twice.
    #[error(
        "a local time that {} had twice, as its clocks were set back (give it with its offset, \
         such as +01:00, or in universal time with a Z, or empty the cell)",
        Quoted(.0)
    )]
    RepeatedLocalTime(String),
    /// The clocks of the zone that the user gave never showed this time.
    #[error(
        "a local time that does not exist in {}, as clocks moved forward (is it a time of \
         another zone? if not, correct or empty the cell)",
        Quoted(.0)
    )]
    SkippedLocalTime(String),
    /// The rules of time zones are not known for this year.
    #[error(
        "a local time outside of the years -9999 to 9999 (give it in universal time with a Z, or \
         correct or empty the cell)"
    )]
    FarLocalTime,
    /// The rule `time` cannot read it.
    #[error(
        "not a time of day (the rule `time` reads 13:05 and 13:05:00, with a fraction of the \
         second where there is one, and 1:05 PM, and no zone; correct or empty the cell)"
    )]
    NotATime,
    /// It is not a telephone number of the country that the user gave, nor of another.
    #[error(
        "not a telephone number (the rule `phone:{0}` reads numbers of this country with their \
         area, and international ones with a + or the prefix that is dialled for it; correct or \
         empty the cell)"
    )]
    NotAPhoneNumber(String),
    /// It is not a telephone number of the country in the row, nor of another.
    #[error(
        "not a telephone number of the country in this row's column {} (numbers of it have their area, and others a + or the \
         prefix that is dialled for it; correct or empty the cell)",
        Quoted(.0)
    )]
    NotAPhoneNumberThere(String),
    /// It has no country code, and the row does not name a country.
    #[error(
        "a telephone number without a country code, in a row whose column {} is not the two-letter ISO 3166 code of a country, such \
         as DE (give the code, or the number with a + and its country code, or empty the cell)",
        Quoted(.0)
    )]
    NoCountry(String),
    /// The rule `text` finds bytes that are no text.
    #[error(
        "bytes that are no text in UTF-8 (correct or empty the cell, or leave out the rule `text`)"
    )]
    NotUtf8,
    /// The rule `timestamp:unix` cannot read it.
    #[error(
        "not a time since 1970 (the rule `timestamp:{0}` reads numbers; correct or empty the cell)"
    )]
    NotUnixTime(String),
    /// The rule `date:excel` cannot read it.
    #[error(
        "not the number of a day in Excel (the rule `date:excel` reads whole numbers from 1, for 1900-01-01, to 2958465, for \
         9999-12-31, without 60, which no day has; correct or empty the cell)"
    )]
    NotAnExcelDate,
    /// The rule `sha256` cannot read it.
    #[error(
        "not a SHA-256 hash (the rule `sha256` alone reads 64 hexadecimal digits, or Base64; if the column holds plain values, say \
         how they are normalised before they are hashed, as in email+sha256 or trim+sha256)"
    )]
    NotASha256,
    /// The rule `sha256` would hash what seems to be a hash.
    #[error(
        "it looks like a SHA-256 hash already, and would be hashed again (if the column holds hashes, say sha256 alone; if only \
         some cells do, divide the table)"
    )]
    HashedAlready,
}
