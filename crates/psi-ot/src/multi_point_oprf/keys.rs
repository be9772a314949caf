use psijoin_block::{Block, Prg};
use psijoin_channel::{Channel, joint_seed::JointSeed};
use psijoin_psi::Error;

/// Step 2: what the receiver sends.
pub(super) const NONCE_BYTES: usize = 32;

/// The keys that both expand from the joint seed and the nonce of step 2. They are public, but
/// nobody could know them before the OTs were done.
pub(super) struct Keys {
    seed: [u8; 32],
}

impl Keys {
    /// Returns the receiver's part of step 2.
    pub(super) fn draw(
        joint_seed: &JointSeed,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        // From a generator of its own: what is shown tells nothing about what else is drawn.
        let nonce: [u8; NONCE_BYTES] = rng.fork().bytes();
        channel.send(&nonce)?;
        Ok(Self::new(joint_seed, nonce))
    }

    /// Returns the sender's part of step 2.
    pub(super) fn receive(joint_seed: &JointSeed, channel: &mut Channel) -> Result<Self, Error> {
        Ok(Self::new(joint_seed, channel.recv_array()?))
    }

    fn new(joint_seed: &JointSeed, nonce: [u8; NONCE_BYTES]) -> Self {
        Self {
            seed: joint_seed.key_with("psijoin 2026 cm20 nonce", &nonce),
        }
    }

    /// Returns the key of the random oracle from OT seeds to column keys.
    pub(super) fn columns(&self) -> [u8; 32] {
        blake3::derive_key("psijoin 2026 cm20 columns", &self.seed)
    }

    /// Returns k of F, to be expanded.
    pub(super) fn function(&self) -> Prg {
        let key = blake3::derive_key("psijoin 2026 cm20 function", &self.seed);
        Prg::from_seed(Block::from_bytes(std::array::from_fn(|i| key[i])))
    }

    /// Returns the key of H2.
    pub(super) fn values(&self) -> [u8; 32] {
        blake3::derive_key("psijoin 2026 cm20 masks", &self.seed)
    }
}
