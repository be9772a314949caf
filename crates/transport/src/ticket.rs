//! The proof that a connection is a certain stream of a certain session.

use blake3::Hash;
use psijoin_channel::joint_seed::JointSeed;
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{InvitationKey, knock::NONCE_BYTES};

/// The length of the pass by which a side shows that it has the ticket.
pub(crate) const PASS_BYTES: usize = blake3::OUT_LEN;

/// The most bytes in which a stream tells its number.
pub(crate) const MOST_NUMBER_BYTES: usize = size_of::<u32>();

/// A key that both parties of a session derive from their joint seed, or an inviter and its guest
/// from their invitation. Under TLS nobody else knows it. In plaintext, whoever read the session so
/// far does.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Ticket {
    key: [u8; blake3::KEY_LEN],
    /// In how many bytes a stream tells its number, the least one first.
    number_bytes: usize,
}

/// The two ends of a stream.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Connecting = 1,
    Listening = 2,
}

impl Ticket {
    /// Returns the ticket of streams that all end together.
    pub(crate) fn of_streams(joint_seed: &JointSeed) -> Self {
        Self {
            key: joint_seed.key("psijoin v1 transport: ticket of further streams"),
            number_bytes: 1,
        }
    }

    /// Returns the ticket of lanes.
    pub(crate) fn of_lanes(joint_seed: &JointSeed) -> Self {
        Self {
            key: joint_seed.key("psijoin 2026 transport: ticket of lanes"),
            number_bytes: MOST_NUMBER_BYTES,
        }
    }

    /// Returns the ticket by which an inviter recognises its guest's first words. Whoever repeats
    /// these has priority once, and no more.
    pub(crate) fn of_invitation(key: &InvitationKey) -> Self {
        Self {
            key: key.derived("psijoin v1 invitation: ticket of the guest"),
            number_bytes: 0,
        }
    }

    /// Returns in how many bytes a stream tells its number.
    pub(crate) fn number_bytes(&self) -> usize {
        self.number_bytes
    }

    /// Returns the bytes in which a stream tells its number.
    pub(crate) fn number(&self, stream: u32) -> Vec<u8> {
        stream.to_le_bytes()[..self.number_bytes].to_vec()
    }

    /// Returns the number that a stream has told.
    pub(crate) fn told(&self, number: &[u8]) -> u32 {
        let mut bytes = [0; MOST_NUMBER_BYTES];
        bytes[..self.number_bytes].copy_from_slice(&number[..self.number_bytes]);
        u32::from_le_bytes(bytes)
    }

    /// Returns the pass of `side` on the stream of this number: BLAKE3, keyed with the ticket, of
    /// both. Two such hashes are compared in constant time.
    pub(crate) fn pass(&self, side: Side, stream: u32) -> Hash {
        blake3::keyed_hash(&self.key, &[&[side as u8], &*self.number(stream)].concat())
    }

    /// Returns the [knock](crate::knock) of a stream: a fresh nonce and its hash, keyed with the
    /// ticket.
    pub(crate) fn knock(&self, nonce: [u8; NONCE_BYTES]) -> Vec<u8> {
        [&nonce[..], self.seal(nonce).as_bytes()].concat()
    }

    /// Returns the nonce of a stream's knock, if whoever said it has the ticket.
    pub(crate) fn nonce_of(&self, said: &[u8]) -> Option<[u8; NONCE_BYTES]> {
        let (&nonce, seal) = said.split_first_chunk()?;
        let seal: [u8; blake3::OUT_LEN] = seal.try_into().ok()?;
        (self.seal(nonce) == seal).then_some(nonce)
    }

    /// Returns the seal of a nonce, which is longer than the input of a pass.
    fn seal(&self, nonce: [u8; NONCE_BYTES]) -> Hash {
        blake3::keyed_hash(&self.key, &nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tickets() -> [Ticket; 4] {
        let seeds = [[1; 32], [2; 32]].map(JointSeed::insecure_fixed);
        let [a, b] = seeds.each_ref().map(Ticket::of_streams);
        let [c, d] = seeds.each_ref().map(Ticket::of_lanes);
        [a, b, c, d]
    }

    #[test]
    fn a_pass_is_for_one_side_of_one_stream_of_one_session() {
        let mut passes = Vec::new();
        for ticket in tickets() {
            for side in [Side::Connecting, Side::Listening] {
                passes.extend([1, 2, 255].map(|stream| *ticket.pass(side, stream).as_bytes()));
            }
        }
        passes.sort_unstable();
        passes.dedup();
        assert_eq!(passes.len(), 24);
    }

    #[test]
    fn a_number_is_read_as_it_is_told() {
        let [streams, _, lanes, _] = tickets();
        for (ticket, number) in [
            (&streams, 1),
            (&streams, 255),
            (&lanes, 1),
            (&lanes, 70_000),
        ] {
            let told = ticket.number(number);
            assert_eq!(told.len(), ticket.number_bytes());
            assert_eq!(ticket.told(&told), number);
        }
    }

    #[test]
    fn a_knock_is_of_one_session() {
        let [ours, others, ..] = tickets();
        let nonce = [5; NONCE_BYTES];
        let knock = ours.knock(nonce);
        assert_eq!(ours.nonce_of(&knock), Some(nonce));
        assert_eq!(others.nonce_of(&knock), None);
        for length in 0..knock.len() {
            assert_eq!(ours.nonce_of(&knock[..length]), None);
        }
        for at in 0..knock.len() {
            let mut changed = knock.clone();
            changed[at] ^= 1;
            assert_eq!(ours.nonce_of(&changed), None);
        }
    }
}
