use std::fmt;

use psijoin_key::{Places, Suspicion};

use crate::Encoding;

/// A sign that a table is not written as it is read, or that its keys cannot match.
///
/// It is not a fault: the table can be read as it is. Its text is a sentence about the table with
/// advice, and holds no value of it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Doubt {
    /// The text seems to be UTF-16 without a byte order mark.
    Utf16(Encoding),
    /// There is one column, and a character in the first line suggests that it is several: what
    /// this character is called.
    Undivided(&'static str),
    /// This many names of columns stand in quotes, though this text has no quoting.
    QuotedNames(u64),
    /// This many fields of the key stand in quotes, though this text has no quoting.
    QuotedKeys(u64),
    /// This many fields of the key are `\N`, as databases write nulls, in a text without escapes.
    NullMarks(u64),
    /// Fields of a key column that surely are no keys, or not those that were meant.
    Fields {
        /// The column's name.
        column: String,
        /// The suspicion.
        suspicion: Suspicion,
        /// Their number, and the places of the first.
        places: Places,
    },
    /// One key is in far more rows than others are, and in more than a percent of all.
    Frequent {
        /// The number of rows that have it.
        rows: u64,
        /// The number of rows that have a key.
        of: u64,
        /// The first row that has it, from 1, the header not among them.
        first: u64,
    },
    /// There are rows, and none has a key.
    NoKeys,
    /// The first line names the delimiter for Excel.
    SeparatorLine,
    /// The key column at this position, from 1, has telephone numbers with the code of a country
    /// and others without.
    MixedPhones(usize),
    /// The key column at this position, from 1, has timestamps with a zone and others without.
    MixedTimestamps(usize),
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut quoted = |count: u64, one: &str, several: &str| {
            match count {
                1 => write!(f, "1 {one} begins and ends")?,
                _ => write!(f, "{count} {several} begin and end")?,
            }
            write!(
                f,
                " with a quote, which is an ordinary character here: if quotes stand around \
                 fields, name it as the quote"
            )
        };
        match self {
            Self::QuotedNames(count) => quoted(*count, "column name", "column names"),
            Self::QuotedKeys(count) => quoted(*count, "key field", "key fields"),
            Self::NullMarks(count) => write!(
                f,
                "{count} {} \\N, which is compared as a text: if it stands for null, read the text \
                 with escapes and without quotes",
                if *count == 1 {
                    "key field is"
                } else {
                    "key fields are"
                }
            ),
            Self::Fields {
                column,
                suspicion,
                places,
            } => f.write_str(&suspicion.told(column, places)),
            Self::Frequent { rows, of, first } => write!(
                f,
                "{rows} of {of} rows with a key have one and the same, beginning with row {first} (not counting a header): if it stands for no \
                 key, say so by a first rule, `null:WORD`"
            ),
            Self::NoKeys => f.write_str(
                "no row has a key: in each, a field of the key is empty, or normalisation leaves \
                 nothing of it",
            ),
            Self::SeparatorLine => f.write_str(
                "the first line begins with `sep=`, which names the delimiter for Excel: skip it, as the first line that is read must \
                 name the columns",
            ),
            Self::MixedPhones(position) => write!(
                f,
                "key column {position} has telephone numbers with a country code and others without, \
                 which cannot all match: say by the rule `phone:COUNTRY` whose the others are"
            ),
            Self::MixedTimestamps(position) => write!(
                f,
                "key column {position} has timestamps with a zone and others without, which cannot \
                 all match: write them alike, or say by the rule `timestamp:ZONE` where the others' \
                 clocks were"
            ),
            Self::Undivided(delimiter) => write!(
                f,
                "the first line is read as one field, and holds a {delimiter}: if that divides \
                 columns, name it as the delimiter"
            ),
            Self::Utf16(encoding) => write!(
                f,
                "every second byte is zero, as in {encoding} without a byte order mark: if it is \
                 that, say so"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubts_say_what_to_do() {
        for (doubt, expected) in [
            (
                Doubt::QuotedKeys(1),
                "1 key field begins and ends with a quote, which is an ordinary character here: if \
                 quotes stand around fields, name it as the quote",
            ),
            (
                Doubt::QuotedNames(2),
                "2 column names begin and end with a quote, which is an ordinary character here: if \
                 quotes stand around fields, name it as the quote",
            ),
            (
                Doubt::Undivided("pipe"),
                "the first line is read as one field, and holds a pipe: if that divides columns, \
                 name it as the delimiter",
            ),
            (
                Doubt::Utf16("utf-16be".parse().unwrap()),
                "every second byte is zero, as in UTF-16BE without a byte order mark: if it is \
                 that, say so",
            ),
        ] {
            assert_eq!(doubt.to_string(), expected);
        }
    }
}
