//! The check of a malicious sender: whether w = v + Δ·e, for all N entries at once.
//!
//! A sender that sends wrong sums in `pprf.rs` makes entries of w wrong, and which ones
//! depends on the receiver's positions α. The check, as in Wolverine (Weng et al., S&P 2021):
//!
//! 1. The receiver draws χ ∈ F after everything was sent, and sends its seed and
//!    x = Σ χ^(i+1)·e_i + x*, with x* a uniform element of F that went through the vector OLE:
//!    the receiver has c*, the sender b* with c* = b* + Δ·x*.
//! 2. The sender computes y = Σ χ^(i+1)·v_i + b* + Δ·x, and sends a hash of it.
//! 3. The receiver compares it with the hash of Σ χ^(i+1)·w_i + c*, and aborts if it differs.
//!
//! *Correct.* If w = v + Δ·e, both are equal. *Sound.* Otherwise, with f = w − v − Δ·e ≠ 0 fixed
//! before χ, the receiver's value is the sender's plus Σ χ^(i+1)·f_i ≠ 0, except with probability
//! N/2^128. To pass, the sender must know that sum, and f is a function of α: for each tree it must
//! know f's part. So a sender that cheats passes if its guess "α_j lies in a set I_j" holds for all
//! trees j that it tampered with, and learns that it does. Otherwise the receiver stops, before it
//! has sent anything that depends on e. This leakage is that of the functionality in Wolverine and
//! Ferret; the noise loses no more entropy than the risk of being caught is worth: one bit on
//! average. Dual LPN is assumed to hold under it ("static leakage", Boyle et al., CCS 2019).
//!
//! *The receiver learns nothing.* It cannot have cheated before (`consistency.rs`). If it sends
//! another x, it gets the hash of a value that differs from one it knows by Δ times one it
//! knows: in the random-oracle model, a way to test guesses of all of Δ, 128 bits. (In the paper's
//! version the sender reveals y itself, after a commitment by the receiver. Then a wrong x gives Δ
//! away, though to a receiver that is caught. With the hash, nobody has to open anything, and there
//! is one flight less.)
//!
//! **The sender learns nothing about e:* x* masks x, and is used once.

use psijoin_block::{
    Block, Prg,
    tower::{Element, Tower},
};
use psijoin_channel::Channel;
use psijoin_params::lpn::RegularNoise;
use psijoin_runtime::parallel;
use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use super::regular::Noise;
use crate::{Error, block_accumulate::Words};

const HASH_BYTES: usize = 32;

/// The bytes that the receiver sends: the seed and x.
pub(super) const RECEIVER_BYTES: usize = 2 * Block::BYTES;

/// The bytes that the sender sends: the hash.
pub(super) const SENDER_BYTES: usize = HASH_BYTES;

/// The receiver's share of the mask. Wiped when it is dropped.
#[derive(ZeroizeOnDrop)]
pub(super) struct Mask {
    /// x*.
    pub(super) value: Tower,
    /// c*.
    pub(super) share: Tower,
}

/// Does the sender's side.
pub(super) fn prove(
    entries: &[Words<2>],
    noise: RegularNoise,
    delta: Tower,
    mask: Tower,
    channel: &mut Channel,
) -> Result<(), Error> {
    let mut message = [Block::ZERO; 2];
    channel.recv(bytemuck::cast_slice_mut(&mut message))?;
    let [seed, x] = message;
    let powers = Powers::new(seed, noise);
    let y = powers.sum(entries) ^ mask ^ (delta * bytemuck::cast(x));
    channel.send(&hash(seed, y))?;
    Ok(())
}

/// Does the receiver's side.
pub(super) fn verify<E: Element>(
    entries: &[Words<2>],
    noise: &Noise<E>,
    mask: &Mask,
    seed: Block,
    channel: &mut Channel,
) -> Result<(), Error> {
    let powers = Powers::new(seed, noise.layout());
    let x = powers.sum_of_points(noise) ^ mask.value;
    channel.send(bytemuck::cast_slice(&[seed, bytemuck::cast(x)]))?;
    let expected = hash(seed, powers.sum(entries) ^ mask.share);
    let answer: [u8; HASH_BYTES] = channel.recv_array()?;
    if bool::from(answer.ct_eq(&expected)) {
        Ok(())
    } else {
        Err(Error::ConsistencyCheck)
    }
}

/// χ^1 to χ^L, for blocks of L positions.
struct Powers(Vec<Tower>);

impl Powers {
    fn new(seed: Block, noise: RegularNoise) -> Self {
        let chi: Tower = bytemuck::cast(Prg::from_seed(seed).block());
        let powers = std::iter::successors(Some(chi), |power| Some(*power * chi));
        Self(powers.take(noise.block_len()).collect())
    }

    /// Returns Σ χ^(i+1)·x_i.
    fn sum(&self, entries: &[Words<2>]) -> Tower {
        let len = self.0.len();
        let mut blocks = vec![Tower::default(); entries.len() / len];
        parallel::each_mut_with(&mut blocks, &Vec::new, &|i, sum, block: &mut Vec<Tower>| {
            let entries = entries[i * len..][..len].iter();
            block.clear();
            block.extend(entries.map(|entry| bytemuck::cast::<_, Tower>(*entry)));
            *sum = Tower::inner_product(&self.0, block);
        });
        self.horner(blocks.into_iter())
    }

    /// Returns Σ χ^(i+1)·e_i.
    fn sum_of_points<E: Element>(&self, noise: &Noise<E>) -> Tower {
        let len = self.0.len();
        let blocks = noise
            .points()
            .map(|(position, value)| self.0[position % len] * value.into());
        self.horner(blocks.collect::<Vec<_>>().into_iter())
    }

    /// Returns Σ χ^(j·L)·s_j.
    fn horner(&self, blocks: impl DoubleEndedIterator<Item = Tower>) -> Tower {
        let step = *self.0.last().expect("blocks have positions");
        blocks.rfold(Tower::default(), |sum, block| (sum * step) ^ block)
    }
}

fn hash(seed: Block, y: Tower) -> [u8; HASH_BYTES] {
    blake3::Hasher::new_derive_key("psijoin 2026 vector OLE: check")
        .update(&seed.to_bytes())
        .update(bytemuck::bytes_of(&y))
        .finalize()
        .into()
}
