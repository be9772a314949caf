//! Items as keys of one text, as `psijoin-key` has them. That crate knows time zones and numbering
//! plans, which a join of items in memory should not bring along; the tests hold both together.

use psijoin_psi::Fingerprint;

/// The BLAKE3 context of fingerprints.
const CONTEXT: &str = "psijoin 2026-01 table key fingerprint v1";

/// The version of the rules by which values become keys.
pub(crate) const SPELLING_VERSION: u32 = 4;

/// The meaning of a key that is a text without rules.
pub(crate) const TEXT: &str = "text";

/// Returns the meaning of a key that is a whole number of at most so many bits.
pub(crate) fn number(bits: u32) -> String {
    format!("number: below 2^{bits}")
}

/// Returns the fingerprint of a key of this text.
pub(crate) fn fingerprint(text: &[u8]) -> Fingerprint {
    let mut hasher = blake3::Hasher::new_derive_key(CONTEXT);
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text);
    hasher.finalize().into()
}

#[cfg(test)]
mod tests {
    use psijoin_key::{KeySpec, Kind};

    use super::*;

    #[test]
    fn an_item_is_a_key_of_one_text() {
        assert_eq!(SPELLING_VERSION, psijoin_key::SPELLING_VERSION);
        assert_eq!(TEXT, Kind::Text.to_string());
        let key = KeySpec::new(vec!["email".into()], vec![]).unwrap();
        for text in ["a", "ann@example.org", "Zoë", &"long ".repeat(30)] {
            let of_table = key.fingerprint(&[text]).unwrap();
            assert_eq!(of_table, Some(fingerprint(text.as_bytes())), "{text}");
        }
    }

    #[test]
    fn a_number_is_a_key_of_few_bits() {
        let rules = vec!["id=number:40".parse().unwrap()];
        let key = KeySpec::new(vec!["id".into()], rules).unwrap();
        assert_eq!(key.meanings_of_text()[0].to_string(), number(40));
        for id in [0, 7, (1 << 40) - 1] {
            let of_table = key.fingerprint(&[id.to_string()]).unwrap();
            assert_eq!(of_table, Some(psijoin_psi::items::number(id)), "{id}");
        }
    }
}
