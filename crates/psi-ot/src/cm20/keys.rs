use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;

use crate::{Error, Input};

/// Step 2: what the receiver sends.
pub(super) const NONCE_BYTES: usize = 32;

/// What both expand from the joint seed and the nonce of step 2. It is public, but nobody
/// could know it before the OTs were done.
pub(super) struct Keys {
    seed: [u8; 32],
}

impl Keys {
    /// The receiver's part of step 2.
    pub(super) fn draw(
        input: &Input<'_>,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        // From a generator of its own: what is shown says nothing about what else is drawn.
        let nonce: [u8; NONCE_BYTES] = rng.fork().bytes();
        channel.send(&nonce)?;
        Ok(Self::new(input, nonce))
    }

    /// The sender's part of step 2.
    pub(super) fn receive(input: &Input<'_>, channel: &mut Channel) -> Result<Self, Error> {
        Ok(Self::new(input, channel.recv_array()?))
    }

    fn new(input: &Input<'_>, nonce: [u8; NONCE_BYTES]) -> Self {
        let material = [*input.joint_seed, nonce].concat();
        Self {
            seed: blake3::derive_key("psijoin 2026 cm20 nonce", &material),
        }
    }

    /// Of the random oracle from OT seeds to column keys.
    pub(super) fn columns(&self) -> [u8; 32] {
        blake3::derive_key("psijoin 2026 cm20 columns", &self.seed)
    }

    /// k of F, to be expanded.
    pub(super) fn function(&self) -> Prg {
        let key = blake3::derive_key("psijoin 2026 cm20 function", &self.seed);
        Prg::from_seed(Block::from_bytes(
            key[..16].try_into().expect("16 of 32 bytes"),
        ))
    }

    /// Of H2.
    pub(super) fn masks(&self) -> [u8; 32] {
        blake3::derive_key("psijoin 2026 cm20 masks", &self.seed)
    }
}
