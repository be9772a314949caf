//! The name under which two parties meet.

use std::fmt;

use psijoin_channel::joint_seed::JointSeed;

use crate::Fingerprint;

/// The length of a token.
pub const TOKEN_BYTES: usize = 32;

/// The name under which two parties meet at a relay.
///
/// Whoever knows it can take the place of either party in the queue, though not in the session. So
/// it comes from a secret of both as soon as they have one, and no message shows it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Token([u8; TOKEN_BYTES]);

impl Token {
    /// Returns the token of these bytes.
    pub fn from_bytes(bytes: [u8; TOKEN_BYTES]) -> Self {
        Self(bytes)
    }

    /// Returns its bytes.
    pub fn as_bytes(&self) -> &[u8; TOKEN_BYTES] {
        &self.0
    }

    /// Returns the token of two parties that share a secret since their first session.
    pub fn of_meeting(pair_secret: &[u8; 32]) -> Self {
        let hash = blake3::keyed_hash(pair_secret, b"psijoin 2026 meeting");
        Self(*hash.as_bytes())
    }

    /// Returns the token of two parties that know no more of each other than their fingerprints, in
    /// any order. Fingerprints are no secrets, so others can stand in the same queue.
    pub fn of_first_meeting(mut parties: [Fingerprint; 2]) -> Self {
        parties.sort_unstable_by_key(|party| *party.symbols());
        let names = parties.map(|party| *party.symbols());
        Self(blake3::derive_key(
            "psijoin 2026 first meeting",
            names.as_flattened(),
        ))
    }

    /// Returns the token of one connection of a session. `epoch` counts the times that connections
    /// were opened in it.
    pub fn of_lane(joint_seed: &JointSeed, epoch: u32, lane: u32) -> Self {
        let key = joint_seed.key("psijoin 2026 lane at a relay");
        let numbers = [epoch, lane].map(u32::to_le_bytes);
        Self(*blake3::keyed_hash(&key, numbers.as_flattened()).as_bytes())
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_purpose_has_a_token_of_its_own() {
        let [a, b, c] = [&b"a"[..], b"b", b"c"].map(Fingerprint::of_public_key);
        let seeds = [[1; 32], [2; 32]].map(JointSeed::insecure_fixed);
        let mut tokens = vec![
            Token::of_meeting(&[1; 32]),
            Token::of_meeting(&[2; 32]),
            Token::of_first_meeting([a, b]),
            Token::of_first_meeting([a, c]),
        ];
        for seed in &seeds {
            tokens.extend(
                [(0, 1), (1, 0), (1, 1)].map(|(epoch, lane)| Token::of_lane(seed, epoch, lane)),
            );
        }
        for (i, token) in tokens.iter().enumerate() {
            assert!(!tokens[..i].contains(token), "{i}");
        }
        assert_eq!(
            Token::of_first_meeting([b, a]),
            Token::of_first_meeting([a, b])
        );
    }

    /// The parties may run different releases.
    #[test]
    fn tokens_are_a_promise() {
        let hex = |token: Token| -> String {
            let bytes = token.as_bytes().iter();
            bytes.map(|byte| format!("{byte:02x}")).collect()
        };
        let by_hand = blake3::Hasher::new_keyed(&[7; 32])
            .update(b"psijoin 2026 meeting")
            .finalize();
        assert_eq!(hex(Token::of_meeting(&[7; 32])), by_hand.to_string());
    }

    #[test]
    fn no_message_shows_it() {
        assert_eq!(format!("{:?}", Token::from_bytes([0xab; 32])), "Token");
    }
}
