//! SHA-256 hashes, as lists of customers have them: 64 hexadecimal digits in lower case.

use std::fmt::Write;

use ring::digest::{SHA256, SHA256_OUTPUT_LEN, digest};

use super::bytes::hexadecimal;
use crate::KeyFault;

/// Reads a hash in hexadecimal digits, in any case, or in Base64.
pub(crate) fn canonical(text: &str) -> Result<String, KeyFault> {
    let hash = match text.len() {
        64 => hexadecimal(text),
        43 => base64(text),
        44 => text.strip_suffix('=').and_then(base64),
        _ => None,
    };
    hash.map(|hash| written(&hash)).ok_or(KeyFault::NotASha256)
}

/// Hashes a value. One that looks like a hash is refused, as the hash of a hash matches nothing.
pub(crate) fn of(value: &str) -> Result<String, KeyFault> {
    match value.len() {
        64 | 44 if canonical(value.trim()).is_ok() => Err(KeyFault::HashedAlready),
        _ => Ok(written(digest(&SHA256, value.as_bytes()).as_ref())),
    }
}

fn written(hash: &[u8]) -> String {
    let mut text = String::with_capacity(2 * SHA256_OUTPUT_LEN);
    for byte in hash {
        write!(text, "{byte:02x}").expect("a String takes all text");
    }
    text
}

/// Returns the bytes behind 43 characters of Base64, of either alphabet, without padding.
fn base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(SHA256_OUTPUT_LEN);
    let (mut bits, mut held) = (0_u32, 0);
    for byte in text.bytes() {
        let sextet = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(sextet);
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    // Nothing may stand in the bits behind the last byte.
    (bits == 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Of `ann@x.org`, by another program.
    const HEX: &str = "367a1e74302c7324855afeeba387d3c55ca8ab3592a32c0fbdfc939ad80fcaf5";
    const BASE64: &str = "NnoedDAscySFWv7ro4fTxVyoqzWSoywPvfyTmtgPyvU=";

    #[test]
    fn hashes_are_read_in_every_notation() {
        assert_eq!(of("ann@x.org").as_deref(), Ok(HEX));
        for text in [
            HEX,
            &HEX.to_uppercase(),
            BASE64,
            BASE64.trim_end_matches('='),
        ] {
            assert_eq!(canonical(text).as_deref(), Ok(HEX), "{text}");
        }
        let url = BASE64.replace('+', "-").replace('/', "_");
        assert_eq!(canonical(&url).as_deref(), Ok(HEX));
    }

    #[test]
    fn all_else_is_refused() {
        for text in [
            "ann@x.org",
            &HEX[1..],
            &HEX.replace('a', "g"),
            &BASE64.to_lowercase().replace('=', "!"),
            &format!("{}B=", &BASE64[..42]),
            &"\u{e9}".repeat(32),
        ] {
            assert_eq!(canonical(text), Err(KeyFault::NotASha256), "{text}");
        }
    }

    #[test]
    fn nothing_is_hashed_twice() {
        for text in [HEX, &HEX.to_uppercase(), BASE64] {
            assert_eq!(of(text), Err(KeyFault::HashedAlready), "{text}");
        }
    }

    proptest! {
        #[test]
        fn canonical_texts_stay(value in r"\PC{0,20}") {
            let hash = of(&value).unwrap();
            prop_assert_eq!(&canonical(&hash).unwrap(), &hash);
        }
    }
}
