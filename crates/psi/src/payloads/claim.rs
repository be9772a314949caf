//! What the receiver claims to have: a bit per mask of the sender, and a proof.
//!
//! The proof is a hash of the sum (exclusive or) of the keys of all items that it claims. The bits say which items these are. If the
//! receiver does not have one of them, that item's key is uniform whatever the receiver knows, and so is the sum, whichever items it
//! chose to claim. So each sum that it hashes is the right one with probability 2^-128. Keys are hashed
//! before they travel, as everywhere.

use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};

use crate::{Error, positions::PositionSet};

/// Bytes of the proof.
pub(super) const CLAIM_BYTES: usize = 32;

/// Bytes of a message of bits.
const MESSAGE_BYTES: usize = 1 << 16;

/// See the [module](self).
pub(super) struct Claims {
    /// The ranks that are claimed.
    pub(super) ranks: PositionSet,
    proof: [u8; CLAIM_BYTES],
}

impl Claims {
    /// Claims these ranks, whose items have these keys.
    pub(super) fn new(
        ranks: PositionSet,
        key: &[u8; 32],
        keys: impl Iterator<Item = u128>,
    ) -> Self {
        let sum = keys.fold(0, |sum, key| sum ^ key);
        let proof = *proof(key, sum).as_bytes();
        Self { ranks, proof }
    }

    /// Sends them, of this many masks.
    pub(super) fn send(&self, masks: usize, outbound: &mut dyn Outbound) -> Result<(), Error> {
        let bits = self.ranks.to_bytes(masks.div_ceil(8));
        stream::send(outbound, chunks(bits.len()), &|bytes, message| {
            message.extend_from_slice(&bits[bytes]);
        })?;
        Ok(outbound.send(&self.proof)?)
    }

    /// Receives them, of this many masks.
    pub(super) fn receive(masks: usize, inbound: &mut dyn Inbound) -> Result<Self, Error> {
        let mut bits = vec![0; masks.div_ceil(8)];
        for message in bits.chunks_mut(MESSAGE_BYTES) {
            inbound.recv(message)?;
        }
        let mut proof = [0; CLAIM_BYTES];
        inbound.recv(&mut proof)?;
        let beyond = bits
            .last()
            .is_some_and(|last| u32::from(*last) >> (1 + (masks - 1) % 8) != 0);
        if beyond {
            return Err(Error::Peer("it claims an item beyond the last"));
        }
        let ranks = PositionSet::from_bytes(&bits);
        Ok(Self { ranks, proof })
    }

    /// Checks that the receiver has the items that it claims, given the key of the item of each rank.
    pub(super) fn check(&self, key: &[u8; 32], keys: &[u128]) -> Result<(), Error> {
        let mut sum = 0;
        self.ranks.for_each(|rank| sum ^= keys[rank as usize]);
        // In constant time.
        match proof(key, sum) == self.proof {
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

fn proof(key: &[u8; 32], sum: u128) -> blake3::Hash {
    blake3::keyed_hash(key, &sum.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [4; 32];

    fn claims(ranks: &[u32], keys: &[u128]) -> Claims {
        let ranks = PositionSet::new(ranks.iter().copied(), 8);
        Claims::new(ranks, &KEY, keys.iter().copied())
    }

    #[test]
    fn only_the_keys_of_what_is_claimed_prove_it() {
        let keys = [1, 5, 7, 11, 13, 17, 19, 1 << 127];
        let holds = |ranks: &[u32], known: &[u128]| claims(ranks, known).check(&KEY, &keys).is_ok();
        assert!(holds(&[], &[]));
        assert!(holds(&[1, 3, 7], &[5, 11, 1 << 127]));
        assert!(holds(&[7, 1, 3], &[11, 5, 1 << 127]));
        assert!(!holds(&[1, 3, 7], &[5, 11]));
        assert!(!holds(&[1, 3], &[5, 11, 13]));
        assert!(!holds(&[1, 3, 7], &[5, 11, 1 << 126]));
        assert!(claims(&[2], &[7]).check(&[5; 32], &keys).is_err());
    }
}
