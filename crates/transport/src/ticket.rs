//! What shows that a connection is a certain stream of a certain session.

use blake3::Hash;
use psijoin_channel::joint_seed::JointSeed;

/// The length of what a side says to show that it has the ticket.
pub(crate) const PASS_BYTES: usize = blake3::OUT_LEN;

/// What both parties of a session derive from their joint seed. Under TLS nobody else knows it. In
/// plaintext, whoever read the session so far does.
#[derive(Clone, Copy)]
pub(crate) struct Ticket([u8; blake3::KEY_LEN]);

/// The two ends of a stream.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Connecting = 1,
    Listening = 2,
}

impl Ticket {
    pub(crate) fn of(joint_seed: &JointSeed) -> Self {
        Self(joint_seed.key("psijoin v1 transport: ticket of further streams"))
    }

    /// What `side` says on the stream of this number: BLAKE3, keyed with the ticket, of both. Two
    /// such hashes are compared in constant time.
    pub(crate) fn pass(&self, side: Side, stream: u8) -> Hash {
        blake3::keyed_hash(&self.0, &[side as u8, stream])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_is_for_one_side_of_one_stream_of_one_session() {
        let sessions = [[1; 32], [2; 32]].map(|seed| Ticket::of(&JointSeed::insecure_fixed(seed)));
        let mut passes = Vec::new();
        for ticket in sessions {
            for side in [Side::Connecting, Side::Listening] {
                passes.extend([1, 2, 255].map(|stream| *ticket.pass(side, stream).as_bytes()));
            }
        }
        passes.sort_unstable();
        passes.dedup();
        assert_eq!(passes.len(), 12);
    }
}
