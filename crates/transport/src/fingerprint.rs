//! The short name of a party's key, to be exchanged by telephone or mail.

use std::{fmt, str::FromStr};

use psijoin_printable::Quoted;

/// Begins every fingerprint, and names the way the rest is made.
const PREFIX: &str = "psi1";

/// 32 characters without i, l, o and u, which are easily taken for others (Crockford's
/// base 32).
const ALPHABET: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// Symbols of 5 bits that hold the hash: 130 bits.
pub(crate) const HASH_SYMBOLS: usize = 26;

/// Symbols that catch mistyping: 10 bits.
const CHECK_SYMBOLS: usize = 2;

const GROUP_SYMBOLS: usize = 4;

/// The short name of a party's public key: 130 bits of its hash, written as
/// `psi1-xxxx-xxxx-xxxx-xxxx-xxxx-xxxx-xxxx` with a check sum of 10 bits.
///
/// To make a second key of the same name takes about 2^130 attempts. Reading is tolerant of upper
/// case, spaces and missing dashes, and takes `o` for 0, `i` and `l` for 1.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; HASH_SYMBOLS]);

impl Fingerprint {
    /// Returns the name of a public key, given as DER-encoded `SubjectPublicKeyInfo` (RFC 5280).
    pub fn of_public_key(subject_public_key_info: &[u8]) -> Self {
        let hash = blake3::derive_key(
            "psijoin v1 fingerprint of a public key",
            subject_public_key_info,
        );
        Self(symbols_of(&hash))
    }

    /// Returns the hash, as it is written.
    pub(crate) fn symbols(&self) -> &[u8; HASH_SYMBOLS] {
        &self.0
    }

    /// Returns the fingerprint that is written so, if these are symbols.
    pub(crate) fn from_symbols(symbols: &[u8; HASH_SYMBOLS]) -> Option<Self> {
        let are_symbols = symbols.iter().all(|symbol| *symbol < ALPHABET.len() as u8);
        are_symbols.then_some(Self(*symbols))
    }

    fn check_symbols(&self) -> [u8; CHECK_SYMBOLS] {
        symbols_of(&blake3::derive_key(
            "psijoin v1 check sum of a fingerprint",
            &self.0,
        ))
    }
}

/// Returns five bits of each byte. If the hash is uniform, they are too.
fn symbols_of<const N: usize>(hash: &[u8; 32]) -> [u8; N] {
    std::array::from_fn(|i| hash[i] & 31)
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        let symbols: Vec<u8> = self.0.into_iter().chain(self.check_symbols()).collect();
        for group in symbols.chunks(GROUP_SYMBOLS) {
            f.write_str("-")?;
            for &symbol in group {
                write!(f, "{}", char::from(ALPHABET[usize::from(symbol)]))?;
            }
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The reason that a text is not a fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// It does not begin like one.
    #[error("a fingerprint begins with `psi1-`")]
    Prefix,
    /// It holds a character that no fingerprint has.
    #[error("{} does not occur in a fingerprint", Quoted(.0.encode_utf8(&mut [0; 4])))]
    Character(char),
    /// It has too few or too many characters.
    #[error("a fingerprint has 28 characters after `psi1-`, this one has {0}")]
    Length(usize),
    /// Its check sum is wrong.
    #[error("the fingerprint was mistyped: its last two characters do not fit the others")]
    CheckSum,
}

impl FromStr for Fingerprint {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let text: String = text
            .chars()
            .filter(|c| !c.is_whitespace() && *c != '-')
            .map(|c| c.to_ascii_lowercase())
            .collect();
        let text = text.strip_prefix(PREFIX).ok_or(ParseError::Prefix)?;
        let symbols = text.chars().map(symbol).collect::<Result<Vec<u8>, _>>()?;
        if symbols.len() != HASH_SYMBOLS + CHECK_SYMBOLS {
            return Err(ParseError::Length(symbols.len()));
        }
        let (hash, check) = symbols.split_at(HASH_SYMBOLS);
        let fingerprint = Self(std::array::from_fn(|i| hash[i]));
        if fingerprint.check_symbols() != check {
            return Err(ParseError::CheckSum);
        }
        Ok(fingerprint)
    }
}

fn symbol(character: char) -> Result<u8, ParseError> {
    let read_as = match character {
        'o' => '0',
        'i' | 'l' => '1',
        other => other,
    };
    ALPHABET
        .iter()
        .position(|known| char::from(*known) == read_as)
        .map(|position| position as u8)
        .ok_or(ParseError::Character(character))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn example() -> Fingerprint {
        Fingerprint::of_public_key(b"a public key 1")
    }

    /// The format is a promise: fingerprints are kept in files and mails.
    #[test]
    fn has_a_fixed_form() {
        assert_eq!(
            example().to_string(),
            "psi1-qcnk-zb81-14cx-f6m3-a530-c9p1-s3kq"
        );
    }

    #[test]
    fn is_read_tolerantly() {
        let shown = example().to_string();
        for variant in [
            shown.clone(),
            shown.to_uppercase(),
            shown.replace('-', " "),
            shown.replace('-', ""),
            format!(" psi1{}\n", shown[4..].replace('0', "O").replace('1', "l")),
        ] {
            assert_eq!(variant.parse(), Ok(example()), "{variant}");
        }
    }

    #[test]
    fn says_what_is_wrong() {
        let shown = example().to_string();
        let parse = |text: &str| text.parse::<Fingerprint>().unwrap_err();
        assert_eq!(parse("abcd"), ParseError::Prefix);
        assert_eq!(parse(""), ParseError::Prefix);
        assert_eq!(parse(&format!("{shown}u")), ParseError::Character('u'));
        assert_eq!(parse(&shown[..shown.len() - 1]), ParseError::Length(27));
        assert_eq!(parse(&format!("{shown}00")), ParseError::Length(30));
    }

    #[test]
    fn every_single_typing_error_in_the_check_sum_is_caught() {
        let shown = example().to_string();
        let last = shown.chars().last().unwrap();
        for &other in ALPHABET.iter().filter(|c| char::from(**c) != last) {
            let typed = format!("{}{}", &shown[..shown.len() - 1], char::from(other));
            assert_eq!(typed.parse::<Fingerprint>(), Err(ParseError::CheckSum));
        }
    }

    proptest! {
        #[test]
        fn round_trips(key in proptest::collection::vec(any::<u8>(), 0..64)) {
            let fingerprint = Fingerprint::of_public_key(&key);
            prop_assert_eq!(fingerprint.to_string().parse(), Ok(fingerprint));
        }

        #[test]
        fn never_panics(text in "\\PC*") {
            let _ = text.parse::<Fingerprint>();
        }
    }
}
