//! The terms that both parties agree to, as a hash.

use std::{fmt, io::Read};

use ring::digest::{SHA256, digest};
use serde::{Deserialize, Serialize};

use crate::Error;

/// The longest text of terms, in bytes.
pub const MAX_TERMS_BYTES: u64 = 1 << 20;

/// The fingerprint of a text of terms: texts that differ in a byte have different ones.
///
/// Its `Display` fits into a setting of the handshake.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The text's length.
    pub bytes: u64,
    /// Its SHA-256, as 64 hexadecimal digits.
    pub sha256: String,
}

impl Terms {
    /// Returns the terms with this text.
    ///
    /// # Errors
    /// [`Error::EmptyTerms`] and [`Error::LongTerms`].
    pub fn of(text: &[u8]) -> Result<Self, Error> {
        match text.len() as u64 {
            0 => Err(Error::EmptyTerms),
            bytes @ 1..=MAX_TERMS_BYTES => Ok(Self {
                bytes,
                sha256: hex(digest(&SHA256, text).as_ref()),
            }),
            _ => Err(Error::LongTerms),
        }
    }

    /// Reads a text of terms, and no more of it than may be.
    ///
    /// # Errors
    /// If it cannot be read; the inner error is that of [`of`](Self::of).
    pub fn read(from: impl Read) -> std::io::Result<Result<Self, Error>> {
        let mut text = Vec::new();
        from.take(MAX_TERMS_BYTES + 1).read_to_end(&mut text)?;
        Ok(Self::of(&text))
    }
}

impl fmt::Display for Terms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHA-256 {}, {} bytes", self.sha256, self.bytes)
    }
}

/// Returns two lower-case digits for each byte.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 is what `sha256sum` prints.
    #[test]
    fn terms_are_known_by_their_hash() {
        let terms = Terms::of(b"abc").unwrap();
        assert_eq!(
            terms.to_string(),
            "SHA-256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad, 3 bytes"
        );
        assert_ne!(Terms::of(b"abc\n").unwrap(), terms);
    }

    #[test]
    fn terms_are_bounded() {
        let read = |bytes: usize| Terms::read(&vec![b'x'; bytes][..]).unwrap();
        assert!(matches!(read(0), Err(Error::EmptyTerms)));
        let longest = MAX_TERMS_BYTES as usize;
        assert_eq!(read(longest).unwrap().bytes, MAX_TERMS_BYTES);
        assert!(matches!(read(longest + 1), Err(Error::LongTerms)));
    }
}
