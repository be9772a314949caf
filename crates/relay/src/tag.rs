//! Names of tokens in logs.

use std::fmt;

use psijoin_transport::rendezvous::Token;
use ring::rand::{SecureRandom, SystemRandom};

use crate::Error;

/// Names tokens, by a key that ends with the process: the lines about one meeting can be found, and
/// nobody learns a token from them.
pub(crate) struct Tagger([u8; blake3::KEY_LEN]);

impl Tagger {
    pub(crate) fn new() -> Result<Self, Error> {
        let mut key = [0; blake3::KEY_LEN];
        let filled = SystemRandom::new().fill(&mut key);
        filled.map_err(|_| Error::Randomness)?;
        Ok(Self(key))
    }

    pub(crate) fn name(&self, token: &Token) -> Tag {
        let hash = blake3::keyed_hash(&self.0, token.as_bytes());
        Tag(*hash.as_bytes().first_chunk().expect("a hash is longer"))
    }
}

/// The name of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tag([u8; 4]);

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_one_token_and_process() {
        let [one, other] = [[1; 32], [2; 32]].map(Token::from_bytes);
        let [here, there] = [(); 2].map(|()| Tagger::new().unwrap());
        assert_eq!(here.name(&one), here.name(&one));
        assert_ne!(here.name(&one), here.name(&other));
        assert_ne!(here.name(&one), there.name(&one));
        assert_eq!(here.name(&one).to_string().len(), 8);
    }
}
