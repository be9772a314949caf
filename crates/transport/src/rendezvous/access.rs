//! The proof that a party may use a relay that does not serve everybody.

use std::{fmt, str::FromStr};

use zeroize::{Zeroize, ZeroizeOnDrop};

use super::{Gathered, Hello};
use crate::{NotHexadecimal, signature::from_hex};

/// The length of the answer to a challenge.
pub const ACCESS_BYTES: usize = ID_BYTES + blake3::OUT_LEN;

const ID_BYTES: usize = 8;

/// A challenge: random bytes that a relay has never sent before.
pub type Nonce = [u8; 16];

/// A key that a relay and those who may use it share. Written as 64 hexadecimal digits, as
/// `openssl rand -hex 32` prints them.
#[derive(Clone, PartialEq, Eq, Zeroize, ZeroizeOnDrop)]
pub struct AccessKey([u8; blake3::KEY_LEN]);

impl AccessKey {
    /// Returns the key of these bytes, which have to be random.
    pub fn from_bytes(bytes: [u8; blake3::KEY_LEN]) -> Self {
        Self(bytes)
    }

    /// Returns it, as it is told to those who may use the relay.
    pub fn to_text(&self) -> String {
        self.0.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the number by which the relay finds it. It reveals nothing of the key.
    pub fn id(&self) -> [u8; ID_BYTES] {
        let hash = blake3::derive_key("psijoin 2026 number of a relay's access key", &self.0);
        *hash.first_chunk().expect("a hash is longer")
    }

    /// Returns the answer to a challenge, by the party of these first words.
    pub fn answer(&self, nonce: &Nonce, hello: &Hello) -> Access {
        Access {
            id: self.id(),
            mac: self.mac(nonce, hello),
        }
    }

    /// Returns whether somebody with this key has given the answer. It takes the same time for
    /// every wrong one.
    pub fn verify(&self, access: &Access, nonce: &Nonce, hello: &Hello) -> bool {
        access.mac == self.mac(nonce, hello)
    }

    fn mac(&self, nonce: &Nonce, hello: &Hello) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new_keyed(&self.0);
        for part in [&b"psijoin relay access"[..], nonce, &hello.encode()] {
            hasher.update(part);
        }
        hasher.finalize()
    }
}

impl fmt::Debug for AccessKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessKey")
    }
}

impl FromStr for AccessKey {
    type Err = NotHexadecimal;

    fn from_str(text: &str) -> Result<Self, NotHexadecimal> {
        from_hex(text).map(Self)
    }
}

/// The answer to a challenge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Access {
    /// The number of the key.
    pub id: [u8; ID_BYTES],
    /// The MAC.
    mac: blake3::Hash,
}

impl Access {
    /// As it travels.
    pub fn encode(&self) -> [u8; ACCESS_BYTES] {
        let mut bytes = [0; ACCESS_BYTES];
        let (id, mac) = bytes.split_at_mut(ID_BYTES);
        id.copy_from_slice(&self.id);
        mac.copy_from_slice(self.mac.as_bytes());
        bytes
    }

    fn decode(bytes: &[u8; ACCESS_BYTES]) -> Self {
        let (&id, mac) = bytes.split_first_chunk().expect("a number fits");
        let (&mac, _) = mac.split_first_chunk().expect("so does a hash");
        Self {
            id,
            mac: blake3::Hash::from_bytes(mac),
        }
    }
}

/// Reads the answer to a challenge, however the bytes arrive.
#[derive(Debug, Clone, Default)]
pub struct AccessDecoder(Gathered<ACCESS_BYTES>);

impl AccessDecoder {
    /// Returns a decoder at the start of an answer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of bytes that are still to come.
    pub fn due(&self) -> usize {
        self.0.due()
    }

    /// Takes bytes from the front of `input`, no more than are due. Any bytes are an answer, right
    /// or wrong.
    pub fn take(&mut self, input: &mut &[u8]) -> Option<Access> {
        self.0.take(input);
        self.0.complete().map(Access::decode)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rendezvous::{Side, Token};

    fn hello() -> Hello {
        Hello {
            side: Side::Server,
            token: Token::from_bytes([1; 32]),
            client: [2; 8],
            has_key: true,
        }
    }

    #[test]
    fn an_answer_is_for_one_key_challenge_and_hello() {
        let [ours, other] = [[1; 32], [2; 32]].map(AccessKey::from_bytes);
        let (nonce, hello) = ([3; 16], hello());
        let access = ours.answer(&nonce, &hello);
        assert!(ours.verify(&access, &nonce, &hello));
        assert!(!other.verify(&access, &nonce, &hello));
        assert!(!ours.verify(&access, &[4; 16], &hello));
        for changed in [
            Hello {
                side: Side::Client,
                ..hello.clone()
            },
            Hello {
                token: Token::from_bytes([9; 32]),
                ..hello.clone()
            },
            Hello {
                client: [9; 8],
                ..hello.clone()
            },
        ] {
            assert!(!ours.verify(&access, &nonce, &changed));
        }
        assert_ne!(ours.id(), other.id());
    }

    #[test]
    fn an_answer_survives_any_pieces() {
        let access = AccessKey::from_bytes([1; 32]).answer(&[3; 16], &hello());
        for piece_bytes in [1, 7, ACCESS_BYTES] {
            let mut decoder = AccessDecoder::new();
            let mut decoded = None;
            for mut piece in access.encode().chunks(piece_bytes) {
                assert_eq!(decoded, None);
                decoded = decoder.take(&mut piece);
            }
            assert_eq!(decoded.as_ref(), Some(&access));
            assert_eq!(decoder.due(), 0);
        }
    }

    #[test]
    fn a_key_is_read_as_it_is_written() {
        let key = AccessKey::from_bytes([0xa5; 32]);
        assert_eq!(key.to_text(), "a5".repeat(32));
        assert_eq!(key.to_text().parse(), Ok(key.clone()));
        assert!("a5".parse::<AccessKey>().is_err());
        assert_eq!(format!("{key:?}"), "AccessKey");
    }

    #[test]
    fn a_changed_bit_is_noticed() {
        let (key, nonce, hello) = (AccessKey::from_bytes([1; 32]), [3; 16], hello());
        let bytes = key.answer(&nonce, &hello).encode();
        for bit in 8 * ID_BYTES..8 * ACCESS_BYTES {
            let mut changed = bytes;
            changed[bit / 8] ^= 1 << (bit % 8);
            let access = AccessDecoder::new().take(&mut &changed[..]).unwrap();
            assert!(!key.verify(&access, &nonce, &hello), "{bit}");
        }
    }
}
