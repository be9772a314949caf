//! Truth values: `true` and `false`.

use crate::KeyFault;

/// Reads a truth value as databases and spreadsheets write it, in any case; `1.0` is what a column
/// of 1 and 0 becomes in programs that have no other numbers where some are missing.
pub(crate) fn canonical(text: &str) -> Result<String, KeyFault> {
    let is_one_of = |words: &[&str]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    if is_one_of(&["true", "t", "yes", "y", "1", "1.0"]) {
        Ok("true".to_owned())
    } else if is_one_of(&["false", "f", "no", "n", "0", "0.0"]) {
        Ok("false".to_owned())
    } else {
        Err(KeyFault::NotABool)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_words_are_read_in_any_case() {
        for (words, expected) in [
            (
                [
                    "true", "True", "TRUE", "t", "T", "yes", "Yes", "Y", "y", "1", "1.0",
                ],
                "true",
            ),
            (
                [
                    "false", "False", "FALSE", "f", "F", "no", "NO", "n", "N", "0", "0.0",
                ],
                "false",
            ),
        ] {
            for word in words {
                assert_eq!(canonical(word).as_deref(), Ok(expected), "{word}");
            }
        }
        for word in [
            "2", "-1", "01", "1.00", "on", "off", "ja", "nein", "tru", "null",
        ] {
            assert_eq!(canonical(word), Err(KeyFault::NotABool), "{word}");
        }
    }
}
