//! The names of peers.

use std::{fmt, str::FromStr};

use psijoin_printable::Quoted;
use psijoin_transport::Fingerprint;
use serde::{Deserialize, Serialize};

/// The most characters of a name.
const MAX_CHARACTERS: usize = 64;

/// The name by which a user knows a peer: letters without accents, digits, `-` and `_`. It is this
/// user's own affair: the peer has another name for itself, and nobody compares them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

impl Name {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<Name> for String {
    fn from(name: Name) -> Self {
        name.0
    }
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

/// The reason that a text is not a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NameError {
    /// It is empty, or too long.
    #[error("the name of a peer has 1 to 64 characters, and this one has {0}")]
    Length(usize),
    /// It has a character that no name has.
    #[error(
        "the name of a peer has letters (a to z, A to Z), digits, - and _, and not {}",
        Quoted(.0.encode_utf8(&mut [0; 4]))
    )]
    Character(char),
    /// It begins as an option does.
    #[error("the name of a peer begins with a letter or a digit")]
    Begin,
    /// It would be taken for a fingerprint.
    #[error("what begins with psi1 is a fingerprint: give the peer another name")]
    Fingerprint,
}

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let is_known = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        if let Some(other) = text.chars().find(|c| !is_known(c)) {
            return Err(NameError::Character(other));
        }
        if !(1..=MAX_CHARACTERS).contains(&text.len()) {
            return Err(NameError::Length(text.len()));
        }
        if !text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            return Err(NameError::Begin);
        }
        let is_fingerprint = text.parse::<Fingerprint>().is_ok();
        if is_fingerprint || text.to_ascii_lowercase().starts_with("psi1") {
            return Err(NameError::Fingerprint);
        }
        Ok(Self(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_plain_words() {
        for text in ["bob", "B", "7", "bob-2", "acme_eu", &"x".repeat(64)] {
            assert_eq!(text.parse::<Name>().unwrap().as_str(), text);
        }
    }

    #[test]
    fn what_is_none_is_told_why() {
        for (text, error) in [
            ("", NameError::Length(0)),
            (&*"x".repeat(65), NameError::Length(65)),
            ("bob smith", NameError::Character(' ')),
            ("größe", NameError::Character('ö')),
            ("a/b", NameError::Character('/')),
            ("a.b", NameError::Character('.')),
            ("-bob", NameError::Begin),
            ("_bob", NameError::Begin),
            ("psi1", NameError::Fingerprint),
            ("PSI1-qcnk", NameError::Fingerprint),
        ] {
            assert_eq!(text.parse::<Name>(), Err(error), "{text}");
        }
        let shown = "bob\n".parse::<Name>().unwrap_err().to_string();
        assert!(!shown.contains('\n'), "{shown}");
    }

    proptest! {
        #[test]
        fn no_text_is_both_a_name_and_a_fingerprint(text in "\\PC{0,70}") {
            let is_name = text.parse::<Name>().is_ok();
            prop_assert!(!(is_name && text.parse::<Fingerprint>().is_ok()));
        }
    }
}
