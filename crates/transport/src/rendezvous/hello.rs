//! The first words of a party at a relay.

use super::{Fault, Gathered, TOKEN_BYTES, Token};
use crate::Fingerprint;

/// The length of a party's first words.
pub const HELLO_BYTES: usize = MAGIC.len() + 1 + 1 + TOKEN_BYTES + CLIENT_BYTES + 1;

const MAGIC: &[u8; 8] = b"psirelay";

const VERSION: u8 = 1;

const CLIENT_BYTES: usize = 8;

/// The places of the fields of one byte.
const VERSION_AT: usize = MAGIC.len();
const SIDE_AT: usize = VERSION_AT + 1;
const HAS_KEY_AT: usize = HELLO_BYTES - 1;

/// The part that a party will have in the TLS session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Side {
    /// It waits for the other's first words.
    Server = 0,
    /// It speaks first.
    Client = 1,
}

impl Side {
    /// Returns the part of the party that `ours` names, where two that know no more of each other
    /// than their fingerprints meet.
    pub fn between(ours: Fingerprint, theirs: Fingerprint) -> Self {
        match ours.symbols() < theirs.symbols() {
            true => Self::Server,
            false => Self::Client,
        }
    }

    /// Returns the side that this one is joined with.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::Server => Self::Client,
            Self::Client => Self::Server,
        }
    }
}

/// The first words of a party at a relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hello {
    /// The part that it will have.
    pub side: Side,
    /// The name under which it meets its peer.
    pub token: Token,
    /// A random number of its place in the queue. If a connection with this number waits already,
    /// the new one takes its place.
    pub client: [u8; CLIENT_BYTES],
    /// `true` if it has an [access key](super::AccessKey), should the relay ask for one.
    pub has_key: bool,
}

impl Hello {
    /// As it travels.
    pub fn encode(&self) -> [u8; HELLO_BYTES] {
        let mut bytes = [0; HELLO_BYTES];
        bytes[..VERSION_AT].copy_from_slice(MAGIC);
        bytes[VERSION_AT] = VERSION;
        bytes[SIDE_AT] = self.side as u8;
        let (token, client) = bytes[SIDE_AT + 1..HAS_KEY_AT].split_at_mut(TOKEN_BYTES);
        token.copy_from_slice(self.token.as_bytes());
        client.copy_from_slice(&self.client);
        bytes[HAS_KEY_AT] = self.has_key.into();
        bytes
    }

    fn decode(bytes: &[u8; HELLO_BYTES]) -> Result<Self, Fault> {
        let rest = &bytes[SIDE_AT + 1..];
        let (&token, rest) = rest.split_first_chunk().expect("a token fits");
        let (&client, _) = rest.split_first_chunk().expect("so does a number");
        Ok(Self {
            side: match bytes[SIDE_AT] {
                0 => Side::Server,
                1 => Side::Client,
                _ => return Err(Fault::Field("side")),
            },
            token: Token::from_bytes(token),
            client,
            has_key: match bytes[HAS_KEY_AT] {
                0 => false,
                1 => true,
                _ => return Err(Fault::Field("mark of an access key")),
            },
        })
    }
}

/// Reads a party's first words, however the bytes arrive. After an error, it must not be used
/// further.
#[derive(Debug, Clone, Default)]
pub struct HelloDecoder(Gathered<HELLO_BYTES>);

impl HelloDecoder {
    /// Returns a decoder at the start of a connection.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of bytes that are still to come.
    pub fn due(&self) -> usize {
        self.0.due()
    }

    /// Takes bytes from the front of `input`, no more than are due.
    ///
    /// # Errors
    /// As soon as a byte shows that the rest need not be waited for.
    pub fn take(&mut self, input: &mut &[u8]) -> Result<Option<Hello>, Fault> {
        self.0.take(input);
        let heard = self.0.so_far();
        let (magic, rest) = heard.split_at(heard.len().min(MAGIC.len()));
        if !MAGIC.starts_with(magic) {
            return Err(Fault::NotAParty);
        }
        match rest.first() {
            Some(&version) if version != VERSION => return Err(Fault::Version(version)),
            _ => {}
        }
        self.0.complete().map(Hello::decode).transpose()
    }
}

#[cfg(test)]
mod tests {
    use proptest::{array::uniform8, array::uniform32, prelude::*};

    use super::*;

    fn any_hello() -> impl Strategy<Value = Hello> {
        let side = prop_oneof![Just(Side::Server), Just(Side::Client)];
        let parts = (
            side,
            uniform32(any::<u8>()),
            uniform8(any::<u8>()),
            any::<bool>(),
        );
        parts.prop_map(|(side, token, client, has_key)| Hello {
            side,
            token: Token::from_bytes(token),
            client,
            has_key,
        })
    }

    /// Feeds pieces of that length, each at most what is due.
    fn decode(mut bytes: &[u8], piece_bytes: usize) -> Result<Option<Hello>, Fault> {
        let mut decoder = HelloDecoder::new();
        while !bytes.is_empty() {
            let mut piece = &bytes[..piece_bytes.min(bytes.len())];
            let before = piece.len();
            let decoded = decoder.take(&mut piece)?;
            bytes = &bytes[before - piece.len()..];
            if decoded.is_some() {
                assert_eq!(decoder.due(), 0);
                return Ok(decoded);
            }
        }
        Ok(None)
    }

    /// The layout is a promise: relays and parties are of different releases.
    #[test]
    fn has_a_fixed_form() {
        let hello = Hello {
            side: Side::Client,
            token: Token::from_bytes([7; 32]),
            client: [9; 8],
            has_key: true,
        };
        let expected = [&b"psirelay\x01\x01"[..], &[7; 32], &[9; 8], &[1]].concat();
        assert_eq!(hello.encode()[..], expected);
        assert_eq!(HELLO_BYTES, 51);
    }

    #[test]
    fn others_are_refused_at_the_first_wrong_byte() {
        let decode = |bytes: &[u8]| HelloDecoder::new().take(&mut &*bytes);
        for bytes in [&b"GET /"[..], b"psijoin", b"\x16\x03\x01", b"psirelax"] {
            assert_eq!(decode(bytes), Err(Fault::NotAParty));
        }
        assert_eq!(decode(b"psirelay\x02"), Err(Fault::Version(2)));
        assert_eq!(decode(b"psirelay\x01"), Ok(None));
        assert_eq!(decode(b""), Ok(None));
        let good = Hello {
            side: Side::Server,
            token: Token::from_bytes([0; 32]),
            client: [0; 8],
            has_key: false,
        };
        for (at, field) in [(SIDE_AT, "side"), (HAS_KEY_AT, "mark of an access key")] {
            let mut bytes = good.encode();
            bytes[at] = 2;
            assert_eq!(decode(&bytes), Err(Fault::Field(field)));
        }
    }

    proptest! {
        #[test]
        fn survives_any_pieces_and_takes_nothing_of_what_follows(
            hello in any_hello(),
            piece_bytes in 1..70_usize,
            after in proptest::collection::vec(any::<u8>(), 0..9),
        ) {
            let bytes = [&hello.encode()[..], &after].concat();
            prop_assert_eq!(decode(&bytes, piece_bytes), Ok(Some(hello)));
            let mut decoder = HelloDecoder::new();
            let mut input = &bytes[..];
            decoder.take(&mut input).unwrap();
            prop_assert_eq!(input, &after[..]);
        }

        #[test]
        fn a_shorter_one_is_none(hello in any_hello(), kept in 0..HELLO_BYTES) {
            prop_assert_eq!(decode(&hello.encode()[..kept], 7), Ok(None));
        }

        #[test]
        fn anything_can_be_said(said in proptest::collection::vec(any::<u8>(), 0..99)) {
            let _ = decode(&said, 5);
            let _ = decode(&[&b"psirelay\x01"[..], &said].concat(), 5);
        }
    }
}
