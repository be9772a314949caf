//! Bytes that must be nowhere, and the search for them.

use std::fs;

use base64::{
    Engine, alphabet,
    engine::{GeneralPurpose, general_purpose::NO_PAD},
    prelude::BASE64_STANDARD,
};
use psijoin_transport::Identity;

/// See the [module](self).
pub(super) struct Secrets(Vec<(String, Vec<u8>)>);

impl Secrets {
    pub(super) fn new(words: &[&str]) -> Self {
        let mut secrets = Self(Vec::new());
        for word in words {
            secrets.add(word, word.as_bytes());
        }
        secrets
    }

    /// Adds bytes as they are, and as people write bytes.
    pub(super) fn add(&mut self, name: &str, bytes: &[u8]) {
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let mut forms = vec![bytes.to_vec(), hex.to_uppercase().into(), hex.into()];
        for alphabet in [&alphabet::STANDARD, &alphabet::URL_SAFE] {
            let base64 = GeneralPurpose::new(alphabet, NO_PAD);
            for before in 0..3 {
                // Only what these bytes alone decide.
                let text = base64.encode([&vec![0; before], bytes].concat());
                let end = (before + bytes.len()) * 8 / 6;
                forms.push(text.as_bytes()[(before * 8).div_ceil(6)..end].to_vec());
            }
        }
        self.0
            .extend(forms.into_iter().map(|form| (name.to_owned(), form)));
    }

    /// Adds what an identity is known by, and what it keeps to itself.
    pub(super) fn add_identity(&mut self, path: &str) {
        let identity = Identity::read(path).unwrap();
        let key = identity.public_key().unwrap().to_bytes();
        self.add("a public key", &key);
        let text = identity.fingerprint().to_string();
        self.add("a fingerprint", text.as_bytes());
        self.add("a fingerprint", text.replace('-', "").as_bytes());
        let pem = fs::read_to_string(path).unwrap();
        let (_, private) = pem.split_once("PRIVATE KEY-----").unwrap();
        let (private, _) = private.split_once("-----END").unwrap();
        let private: String = private.split_whitespace().collect();
        let der = BASE64_STANDARD.decode(private).unwrap();
        // Behind a header that all such keys have.
        self.add("a private key", &der[16..48]);
    }

    /// Adds an invitation, and its one-time secret, which stands behind the inviter's key.
    pub(super) fn add_link(&mut self, link: &str) {
        let text = link.strip_prefix("psijoin:1:").unwrap();
        self.add("an invitation", text.as_bytes());
        self.add("the secret of an invitation", &bytes_of(text)[32..48]);
    }

    /// Adds the secrets in a list of peers.
    pub(super) fn add_peers(&mut self, path: &str) {
        let before = self.0.len();
        for line in fs::read_to_string(path).unwrap().lines() {
            let value = line
                .split_once(" = ")
                .map(|(_, value)| value.trim_matches('"'));
            let Some(value) = value.filter(|value| value.len() == 64) else {
                continue;
            };
            let byte = |at| u8::from_str_radix(&value[at..at + 2], 16).unwrap();
            let secret: Vec<u8> = (0..64).step_by(2).map(byte).collect();
            self.add("a secret of both", &secret);
        }
        assert!(self.0.len() > before);
    }

    /// Returns the names of those that are in these bytes.
    pub(super) fn within(&self, bytes: &[u8]) -> Vec<&str> {
        // A form is compared where its first two bytes are found.
        let mut beginnings = vec![Vec::new(); 1 << 16];
        let beginning = |bytes: &[u8]| usize::from(bytes[0]) << 8 | usize::from(bytes[1]);
        for (name, form) in &self.0 {
            beginnings[beginning(form)].push((&**name, &**form));
        }
        let mut found = Vec::new();
        for (at, pair) in bytes.windows(2).enumerate() {
            for (name, form) in &beginnings[beginning(pair)] {
                if bytes[at..].starts_with(form) {
                    found.push(*name);
                }
            }
        }
        found
    }
}

/// Returns the bytes of a text in base 32, in the alphabet of fingerprints.
fn bytes_of(text: &str) -> Vec<u8> {
    const ALPHABET: &str = "0123456789abcdefghjkmnpqrstvwxyz";
    let symbols = text.chars().map(|symbol| ALPHABET.find(symbol).unwrap());
    let bits = symbols.flat_map(|symbol| (0..5).rev().map(move |bit| symbol >> bit & 1));
    let bits: Vec<usize> = bits.collect();
    let byte = |bits: &[usize]| bits.iter().fold(0, |byte, bit| byte << 1 | *bit as u8);
    bits.chunks_exact(8).map(byte).collect()
}
