//! Base OT: the first few random OTs, from public-key cryptography. Everything else extends them.
//!
//! | [`BaseOts`] | rests on | flights | bytes for 128 OTs |
//! |---|---|---|---|
//! | [`DiffieHellman`](BaseOts::DiffieHellman) | Diffie-Hellman in ristretto255 | 1 | 8,224 |
//! | [`MlKem`](BaseOts::MlKem) | ML-KEM-768, which no quantum computer is known to break | 2 | 436,224 |
//!
//! Both are *endemic* (Masny and Rindal, CCS 2019): each OT is of random messages, and a malicious
//! party may choose its own result, which is one key of the receiver and both of the sender. It
//! still learns nothing of the other party's: not the choice, and not the key that was not chosen.
//! OT extension asks for no more than that. A party that follows the protocol has uniform keys.

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use zeroize::Zeroizing;

use crate::Error;

mod diffie_hellman;
mod ml_kem;
mod public_key;

#[cfg(test)]
mod tests;

/// Those of the tests of extensions, which do not depend on it.
#[cfg(test)]
pub(crate) const BASE: BaseOts = BaseOts::DiffieHellman;

/// The public-key cryptography of base OTs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BaseOts {
    /// Diffie-Hellman in ristretto255.
    #[default]
    DiffieHellman,
    /// ML-KEM: secure as far as is known against quantum computers too.
    MlKem,
}

impl BaseOts {
    /// Returns the number of bytes that the receiver of `count` OTs sends.
    pub const fn receiver_bytes(self, count: usize) -> u64 {
        match self {
            Self::DiffieHellman => diffie_hellman::receiver_bytes(count),
            Self::MlKem => ml_kem::receiver_bytes(count),
        }
    }

    /// Returns the number of bytes that the sender of `count` OTs sends: at the same time as the
    /// receiver, or [after it](Self::sender_answers).
    pub const fn sender_bytes(self, count: usize) -> u64 {
        match self {
            Self::DiffieHellman => diffie_hellman::SENDER_BYTES,
            Self::MlKem => ml_kem::sender_bytes(count),
        }
    }

    /// Returns whether the sender's messages answer the receiver's, so that they are a flight of
    /// their own.
    pub const fn sender_answers(self) -> bool {
        matches!(self, Self::MlKem)
    }

    /// Returns both keys of `count` random OTs; the peer calls [`receive`](Self::receive).
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends no public keys.
    ///
    /// # Panics
    /// By Diffie-Hellman, if there are more than 16,384.
    pub fn send(
        self,
        count: usize,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Zeroizing<Vec<[Block; 2]>>, Error> {
        match self {
            Self::DiffieHellman => diffie_hellman::send(count, channel, rng),
            Self::MlKem => ml_kem::send(count, channel, rng),
        }
    }

    /// Returns the keys that `choices` select.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends no public key.
    ///
    /// # Panics
    /// As [`send`](Self::send).
    pub fn receive(
        self,
        choices: &[bool],
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Zeroizing<Vec<Block>>, Error> {
        match self {
            Self::DiffieHellman => diffie_hellman::receive(choices, channel, rng),
            Self::MlKem => ml_kem::receive(choices, channel, rng),
        }
    }

    /// As [`receive`](Self::receive), where the choices are the bits of Δ.
    pub(crate) fn receive_by_bits(
        self,
        delta: &Block,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Zeroizing<Vec<Block>>, Error> {
        let choices: Zeroizing<Vec<bool>> =
            Zeroizing::new((0..Block::BITS).map(|i| delta.bit(i)).collect());
        self.receive(&choices, channel, rng)
    }
}
