//! Texts that a typed column holds as bytes, whose hexadecimal digits are at hand.

use crate::KeyFault;

/// Reads the bytes behind hexadecimal digits as a text in UTF-8.
pub(crate) fn text(digits: &str) -> Result<String, KeyFault> {
    let bytes = hexadecimal(digits).ok_or(KeyFault::NotUtf8)?;
    String::from_utf8(bytes).map_err(|_| KeyFault::NotUtf8)
}

/// Returns the bytes behind hexadecimal digits, in any case.
pub(super) fn hexadecimal(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|digit| digit as u8);
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    pairs
        .map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_texts_or_refused() {
        assert_eq!(text("c3a94142").as_deref(), Ok("\u{e9}AB"));
        assert_eq!(text("").as_deref(), Ok(""));
        for digits in ["c3", "ff", "c", "zz"] {
            assert_eq!(text(digits), Err(KeyFault::NotUtf8), "{digits}");
        }
    }
}
