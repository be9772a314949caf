//! The receiver's claim to its items: a bit per mask of the sender, and a proof.
//!
//! The proof is a hash of the sum (exclusive or) of the keys of all items that it claims. The bits
//! name these items. If the receiver does not have one of them, that item's key is uniform whatever
//! the receiver knows, and so is the sum, whichever items it chose to claim. So each sum that it
//! hashes is the right one with probability 2^-128. Keys are hashed before they travel, as
//! everywhere.

use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};

use crate::{Error, positions::PositionSet};

/// Bytes of the proof.
pub(super) const CLAIM_BYTES: usize = 32;

/// Bytes of a message of bits.
const MESSAGE_BYTES: usize = 1 << 16;

/// Claims these ranks, of this many masks, whose items have these keys. The proof is computed while
/// the bits are on their way.
pub(super) fn send(
    ranks: &PositionSet,
    masks: usize,
    key: &[u8; 32],
    keys: impl Iterator<Item = u128>,
    outbound: &mut dyn Outbound,
) -> Result<(), Error> {
    let bits = ranks.to_bytes(masks.div_ceil(8));
    stream::send(outbound, chunks(bits.len()), &|bytes, message| {
        message.extend_from_slice(&bits[bytes]);
    })?;
    let sum = keys.fold(0, |sum, key| sum ^ key);
    Ok(outbound.send(Proof::new(key, sum).0.as_bytes())?)
}

/// Receives the ranks that are claimed, of this many masks.
pub(super) fn receive(masks: usize, inbound: &mut dyn Inbound) -> Result<PositionSet, Error> {
    let mut bits = vec![0; masks.div_ceil(8)];
    for message in bits.chunks_mut(MESSAGE_BYTES) {
        inbound.recv(message)?;
    }
    let beyond = bits
        .last()
        .is_some_and(|last| u32::from(*last) >> (1 + (masks - 1) % 8) != 0);
    match beyond {
        true => Err(Error::Peer("it claims an item beyond the last")),
        false => Ok(PositionSet::from_bytes(&bits)),
    }
}

/// The proof of a claim.
pub(super) struct Proof(blake3::Hash);

impl Proof {
    fn new(key: &[u8; 32], sum: u128) -> Self {
        Self(blake3::keyed_hash(key, &sum.to_le_bytes()))
    }

    /// Returns the one that is right for these ranks, given the key of the item of each.
    pub(super) fn of(ranks: &PositionSet, key: &[u8; 32], keys: &[u128]) -> Self {
        let mut sum = 0;
        ranks.for_each(|rank| sum ^= keys[rank as usize]);
        Self::new(key, sum)
    }

    /// Receives the receiver's proof, which must be this one.
    pub(super) fn check(&self, inbound: &mut dyn Inbound) -> Result<(), Error> {
        let mut proof = [0; CLAIM_BYTES];
        inbound.recv(&mut proof)?;
        // In constant time.
        match self.0 == proof {
            true => Ok(()),
            false => Err(Error::Peer("it claims an item that it does not have")),
        }
    }
}

fn chunks(bytes: usize) -> Chunks {
    Chunks {
        total: bytes,
        per_message: MESSAGE_BYTES,
    }
}

#[cfg(test)]
mod tests {
    use psijoin_channel::memory;

    use super::*;

    const KEY: [u8; 32] = [4; 32];

    #[test]
    fn only_the_keys_of_what_is_claimed_prove_it() {
        let keys = [1, 5, 7, 11, 13, 17, 19, 23, 1 << 127];
        let holds = |ranks: &[u32], known: &[u128], key: &[u8; 32]| {
            let (mut left, mut right) = memory::pair();
            let claimed = PositionSet::new(ranks.iter().copied(), 9);
            let known = known.iter().copied();
            send(&claimed, 9, key, known, left.halves().0).unwrap();
            let inbound = right.halves().1;
            let received = receive(9, inbound).unwrap();
            assert_eq!(received.ascending(), claimed.ascending());
            Proof::of(&received, &KEY, &keys).check(inbound).is_ok()
        };
        assert!(holds(&[], &[], &KEY));
        assert!(holds(&[1, 3, 8], &[5, 11, 1 << 127], &KEY));
        assert!(holds(&[8, 1, 3], &[11, 5, 1 << 127], &KEY));
        assert!(!holds(&[1, 3, 8], &[5, 11], &KEY));
        assert!(!holds(&[1, 3], &[5, 11, 13], &KEY));
        assert!(!holds(&[1, 3, 8], &[5, 11, 1 << 126], &KEY));
        assert!(!holds(&[2], &[7], &[5; 32]));
    }
}
