//! Words that mean null.

use std::fmt;

use crate::Error;

/// The words that programs write for null: pandas reads these as missing, databases and their tools
/// export them, and spreadsheets show the last ones in cells without a value.
pub(crate) const COMMON: &[&str] = &[
    "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>", "N/A", "NA", "NULL", "NaN",
    "NaT", "None", "n/a", "nan", "null", "Null", "NAN", "NONE", "none", "<NULL>", "<null>",
    "(null)", "(NULL)", "[NULL]", "\\N", "#N/A", "#N/A N/A", "#NA", "#NULL!", "#VALUE!", "#REF!",
    "#DIV/0!", "#NUM!", "#NAME?",
];

/// The name of the [common](COMMON) words.
const COMMON_NAME: &str = "common";

/// Words that mean null in a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NullWords(Vec<String>);

impl NullWords {
    /// Reads some words, with commas between them; `common` means those that programs write.
    ///
    /// # Errors
    /// If a word is empty.
    pub fn new(words: &str) -> Result<Self, Error> {
        let words: Vec<_> = words
            .split(',')
            .map(|word| word.trim().to_owned())
            .collect();
        match words.iter().any(String::is_empty) {
            true => Err(Error::NoNullWord),
            false => Ok(Self(words)),
        }
    }

    /// Returns whether a text is one of the words, apart from white space at its ends.
    pub(crate) fn contain(&self, text: &str) -> bool {
        let text = text.trim();
        self.0.iter().any(|word| match &**word {
            COMMON_NAME => COMMON.contains(&text),
            word => word == text,
        })
    }
}

impl fmt::Display for NullWords {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stand_for_null_as_they_are_written() {
        let words = NullWords::new("common,-, kein Wert").unwrap();
        for text in COMMON
            .iter()
            .copied()
            .chain(["-", " - ", "kein Wert", "\tnan"])
        {
            assert!(words.contain(text), "{text}");
        }
        for text in ["", "nun", "Nan", "kein", "common", "--"] {
            assert!(!words.contain(text), "{text}");
        }
        assert_eq!(words.to_string(), "common,-,kein Wert");
        for text in ["", ",", "x,", "x, ,y"] {
            assert!(NullWords::new(text).is_err(), "{text}");
        }
    }
}
