//! What the receiver claims to have: a bit per mask of the sender, and a proof.
//!
//! The proof is a hash of the outputs of all items that it claims, which only whoever has them can compute.

use psijoin_channel::{
    Inbound, Outbound,
    stream::{self, Chunks},
};

use crate::Error;

/// Bytes of the proof.
pub(super) const CLAIM_BYTES: usize = 32;

/// Bytes of a message of bits.
const MESSAGE_BYTES: usize = 1 << 16;

/// See the [module](self).
pub(super) struct Claims {
    /// The lowest bit of a byte is that of the lowest rank.
    bits: Vec<u8>,
    proof: [u8; CLAIM_BYTES],
}

impl Claims {
    /// Claims these ranks, of so many masks, whose items have these outputs.
    pub(super) fn new(
        masks: usize,
        ranks: impl Iterator<Item = u32>,
        key: &[u8; 32],
        outputs: impl Iterator<Item = u128>,
    ) -> Self {
        let mut bits = vec![0; masks.div_ceil(8)];
        for rank in ranks {
            bits[rank as usize / 8] |= 1 << (rank % 8);
        }
        let proof = *proof(key, outputs).as_bytes();
        Self { bits, proof }
    }

    pub(super) fn send(&self, outbound: &mut dyn Outbound) -> Result<(), Error> {
        stream::send(outbound, chunks(self.bits.len()), &|bytes, message| {
            message.extend_from_slice(&self.bits[bytes]);
        })?;
        Ok(outbound.send(&self.proof)?)
    }

    /// Those of so many masks.
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
        match beyond {
            true => Err(Error::Peer("it claims an item beyond the last")),
            false => Ok(Self { bits, proof }),
        }
    }

    /// The ranks that are claimed, ascending.
    pub(super) fn ranks(&self) -> impl Iterator<Item = u32> {
        let bytes = (0..).step_by(8).zip(&self.bits);
        bytes.flat_map(|(first, byte)| {
            let bits = (0..8).filter(move |bit| byte >> bit & 1 == 1);
            bits.map(move |bit| first + bit)
        })
    }

    /// Checks that the receiver has the items that it claims, whose outputs are these.
    pub(super) fn check(
        &self,
        key: &[u8; 32],
        outputs: impl Iterator<Item = u128>,
    ) -> Result<(), Error> {
        // In constant time.
        match proof(key, outputs) == self.proof {
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

fn proof(key: &[u8; 32], outputs: impl Iterator<Item = u128>) -> blake3::Hash {
    let mut hasher = blake3::Hasher::new_keyed(key);
    outputs.for_each(|output| {
        hasher.update(&output.to_le_bytes());
    });
    hasher.finalize()
}
