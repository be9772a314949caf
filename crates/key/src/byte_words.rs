//! Tests of all bytes of a short text, eight at a time: they are done for each field of each row.

/// A byte in each place of a word.
pub(crate) const EACH: u64 = 0x0101_0101_0101_0101;

/// Returns whether all bytes pass: `odd` has a bit in the place of each byte that does not, and may
/// look at bytes in any order, and at some twice.
#[inline]
pub(crate) fn all(bytes: &[u8], odd: impl Fn(u64) -> u64) -> bool {
    let word = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    match (bytes.last_chunk(), bytes.as_chunks::<8>().0) {
        // The last word overlaps the one before.
        (Some(last), chunks) => {
            let found = chunks
                .iter()
                .fold(odd(word(last)), |found, chunk| found | odd(word(chunk)));
            found == 0
        }
        (None, _) => bytes.is_empty() || odd(short_word(bytes)) == 0,
    }
}

/// Returns a word with all of one to seven bytes, and nothing else.
#[inline]
fn short_word(bytes: &[u8]) -> u64 {
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let half = |bytes: &[u8; 4]| u64::from(u32::from_le_bytes(*bytes));
        return half(first) | (half(last) << 32);
    }
    let [first, middle, last] = [bytes[0], bytes[bytes.len() / 2], bytes[bytes.len() - 1]];
    (u64::from(first) * 0x0101_0101_0100_0001) | (u64::from(middle) << 8) | (u64::from(last) << 16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_found_wherever_it_is() {
        let is_x = |word: u64| {
            let other = word ^ (EACH * u64::from(b'x'));
            let bytes = other.to_le_bytes();
            u64::from(bytes.contains(&0))
        };
        for length in 0..40 {
            let mut text = vec![b'a'; length];
            assert!(all(&text, is_x), "{length}");
            for place in 0..length {
                text[place] = b'x';
                assert!(!all(&text, is_x), "{place} of {length}");
                text[place] = b'a';
            }
        }
    }
}
