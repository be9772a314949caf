//! Silent vector OLE, over GF(2^128) or a part of it.
//!
//! **Functionality.** F = [`Tower`] = GF(2^128); B is F, the subfield GF(2^64) ([`Gf64`]), or a
//! vector space over GF(2) within one of these ([`Subspace`]). The
//! sender gets Δ ∈ F, the same for all calls, and b ∈ F^m; the receiver gets a ∈ B^m and c ∈ F^m
//! with **c = b + Δ·a**. Otherwise all values are random.
//!
//! 1. Setup: 128 base OTs, in which the sender chooses the bits of Δ; it serves any number of
//!    calls.
//! 2. Both make a sparse correlation of N = 2m' entries: w = v + Δ·e, with e regular noise over
//!    B (`vole/noise.rs`: SoftSpokenOT's small-field vector OLE, and trees).
//! 3. Both compress their vectors with a public binary matrix H, of m' ≥ m rows: a = H·e,
//!    b = H·v, c = H·w ([`BlockAccumulate`]).
//!
//! **Security.** Dual LPN with regular noise over B for the code; the number of noise points is
//! derived in [`psijoin_params::lpn`]. AES under a public key as a random permutation. The model
//! is part of the type, as in [`iknp`](crate::iknp), for *both* parties here:
//!
//! - [`Malicious`](crate::iknp::Malicious) **receiver**: it may narrow Δ down to a set of its
//!   choice, at the risk of being caught if Δ is outside of the set (`small_field.rs`); guess Δ;
//!   and choose e, hence a, and w.
//! - [`Malicious`](crate::iknp::Malicious) **sender**: it may learn that the noise points lie
//!   in sets of its choice, at the same risk (`vole/check.rs`); and choose Δ and v.
//!
//! Both leaks are those of the published functionalities. Whoever is caught learns nothing more,
//! since after an error a `Sender` or `Receiver` must not be used again.
//!
//! The receiver uses its noise positions as indices into its own memory, as it will use hashes
//! of its items: this does not protect against someone who watches its caches.
//!
//! **Cost.** Setup as in [`setup_sender_bytes`] and [`setup_receiver_bytes`]. A call takes
//! [`flights`]: 2 (receiver first), or 6 if malicious. Bytes grow with log m only: about 400 KB for
//! B = GF(2^64) and a million entries.
//!
//! **Two halves.** A call is `begin` and `finish`. In the first half the receiver sends all that a
//! semi-honest sender needs, and knows a. In the second half the sender speaks. So semi-honest
//! parties may send further messages while they receive. Their second half uses one direction of
//! the channel only. A malicious sender must have passed its check before it sees anything that
//! depends on a. So where there are checks, the receiver gets a at the end.

use std::sync::Arc;

use bytemuck::Pod;
use psijoin_block::{
    Prg,
    tower::{Element, Field, Gf64, Subspace, Tower},
};
use psijoin_channel::{Channel, Inbound, Outbound};
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

use crate::{
    BaseOts, Error,
    block_accumulate::{BlockAccumulate, Words},
    iknp::{Model, SemiHonest},
    small_field,
};

pub(crate) mod noise;

mod check;
mod regular;

use noise::Uniform;
use regular::Noise;

/// Returns the number of bytes that the sender sends in its setup.
pub const fn setup_sender_bytes(base: BaseOts) -> u64 {
    small_field::setup_sender_bytes(base)
}

/// Returns the number of bytes that the receiver sends in its setup.
pub const fn setup_receiver_bytes(base: BaseOts) -> u64 {
    small_field::setup_receiver_bytes(base)
}

/// Returns the bytes that the sender and the receiver send for `len` entries after the setup,
/// flight by flight. A flight without bytes is none.
pub fn flights<M: Model, B: Base>(len: usize) -> [[u64; 2]; 6] {
    noise::flights::<M, Uniform<B>>(2 * len)
}

/// B: what the entries of a are elements of. The code is binary, so a = H·e is in B^m if the noise
/// is, be B a field or not.
pub trait Base: Element + Sealed {
    /// Returns the first `len` entries of H·e, for the points of a vector e. Elements T are of B,
    /// or of a space within it.
    #[doc(hidden)]
    fn compress_points<T: Pod>(
        code: &BlockAccumulate,
        points: impl Iterator<Item = (usize, T)>,
        len: usize,
    ) -> Buffer<T>;
}

#[doc(hidden)]
pub trait Sealed {}
impl Sealed for Gf64 {}
impl<F: Field, const BITS: u32> Sealed for Subspace<F, BITS> {}
impl Sealed for Tower {}

impl Base for Gf64 {
    fn compress_points<T: Pod>(
        code: &BlockAccumulate,
        points: impl Iterator<Item = (usize, T)>,
        len: usize,
    ) -> Buffer<T> {
        compress::<1, _>(code, planted(points, code.input_len()), len)
    }
}

impl<F: Field + Base, const BITS: u32> Base for Subspace<F, BITS> {
    fn compress_points<T: Pod>(
        code: &BlockAccumulate,
        points: impl Iterator<Item = (usize, T)>,
        len: usize,
    ) -> Buffer<T> {
        F::compress_points(code, points, len)
    }
}

impl Base for Tower {
    fn compress_points<T: Pod>(
        code: &BlockAccumulate,
        points: impl Iterator<Item = (usize, T)>,
        len: usize,
    ) -> Buffer<T> {
        compress::<2, _>(code, planted(points, code.input_len()), len)
    }
}

/// Returns a vector of elements of `W` words with these points, and zero elsewhere.
fn planted<const W: usize, T: Pod>(
    points: impl Iterator<Item = (usize, T)>,
    entries: usize,
) -> Buffer<Words<W>> {
    let mut vector: Buffer<Words<W>> = Buffer::zeroed(entries);
    for (position, value) in points {
        vector[position] = bytemuck::cast(value);
    }
    vector
}

/// The sender: it has Δ.
pub struct Sender<M: Model> {
    noise: noise::Sender<M>,
}

/// The receiver: it has the noise.
pub struct Receiver<M: Model> {
    noise: noise::Receiver<M>,
}

impl<M: Model> Sender<M> {
    /// Runs the base OTs; the peer calls [`Receiver::setup`]. The result serves any number of
    /// calls, also over other channels to the same peer, until one fails.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let delta = Zeroizing::new(rng.block());
        Ok(Self {
            noise: noise::Sender::setup(delta, base, channel, rng)?,
        })
    }

    /// Returns the first half, for `len` entries.
    ///
    /// # Errors
    /// If the channel breaks, or the receiver is caught cheating. The sender must not be used
    /// again after that.
    pub fn begin<B: Base>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Granted<M>, Error> {
        Ok(Granted {
            noise: self.noise.grant::<Uniform<B>>(2 * len, channel)?,
            len,
        })
    }
}

/// The sender's result: Δ and b.
pub type Sent = (Zeroizing<Tower>, Buffer<Tower>);

/// A sender in the middle of a call.
pub struct Granted<M: Model> {
    noise: noise::Granted<M>,
    len: usize,
}

impl<M: Model> Granted<M> {
    /// Returns the second half.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn finish(self, channel: &mut Channel) -> Result<Sent, Error> {
        let delta = self.delta();
        let entries = self.noise.prove(channel)?;
        Ok((delta, compress(&code_for(entries.len()), entries, self.len)))
    }

    fn delta(&self) -> Zeroizing<Tower> {
        Zeroizing::new(bytemuck::cast(*self.noise.delta()))
    }
}

impl Granted<SemiHonest> {
    /// Returns the second half, which waits for nothing from the receiver.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn finish_sending(self, outbound: &mut dyn Outbound) -> Result<Sent, Error> {
        let entries = self.noise.grow(outbound)?;
        let code = code_for(entries.len());
        Ok((self.delta(), compress(&code, entries, self.len)))
    }
}

impl<M: Model> Receiver<M> {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            noise: noise::Receiver::setup(base, channel, rng)?,
        })
    }

    /// Returns the first half, for `len` entries.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn begin<B: Base>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Planted<M, B>, Error> {
        let noise = self.noise.plant::<Uniform<B>>(2 * len, channel)?;
        // While the sender makes its part.
        let code = code_for(noise.noise().len());
        let a = compressed_points(&code, noise.noise(), len);
        Ok(Planted {
            noise,
            code,
            a,
            len,
        })
    }
}

/// A receiver in the middle of a call.
pub struct Planted<M: Model, B: Base> {
    noise: noise::Planted<M, Uniform<B>>,
    /// For the second half, too: making it takes a tenth of the time of a call.
    code: Arc<BlockAccumulate>,
    a: Buffer<B>,
    len: usize,
}

impl<M: Model, B: Base> Planted<M, B> {
    /// Returns the second half: a and c.
    ///
    /// # Errors
    /// If the channel breaks, or the sender is caught cheating. The receiver must not be used
    /// again after that.
    pub fn finish(self, channel: &mut Channel) -> Result<(Buffer<B>, Buffer<Tower>), Error> {
        let mut entries = Buffer::zeroed(self.noise.noise().len());
        self.noise.verify(&mut entries, channel)?;
        Ok((self.a, compress(&self.code, entries, self.len)))
    }
}

/// The sender's messages in the second half.
pub struct Corrections(noise::Corrections);

impl<B: Base> Planted<SemiHonest, B> {
    /// Returns a.
    pub fn a(&self) -> &[B] {
        &self.a
    }

    /// Returns the communication of the second half.
    ///
    /// # Errors
    /// If the channel breaks.
    pub fn receive(&self, inbound: &mut dyn Inbound) -> Result<Corrections, Error> {
        self.noise.corrections(inbound).map(Corrections)
    }

    /// Returns the computation of the second half: c.
    pub fn finish_received(self, corrections: Corrections) -> Buffer<Tower> {
        let Self {
            noise,
            code,
            a,
            len,
        } = self;
        drop(a);
        let mut entries = Buffer::zeroed(noise.noise().len());
        noise.grow(corrections.0, &mut entries);
        compress(&code, entries, len)
    }
}

/// Returns the code that compresses this many entries.
pub(crate) fn code_for(entries: usize) -> Arc<BlockAccumulate> {
    BlockAccumulate::shared(entries / 2)
}

/// Returns the first `len` entries of H·e.
pub(crate) fn compressed_points<B: Base>(
    code: &BlockAccumulate,
    noise: &Noise<B>,
    len: usize,
) -> Buffer<B> {
    B::compress_points(code, noise.points(), len)
}

/// Returns the first `len` entries of H·x. What is not needed any more is given back at once: the
/// receiver has a store to make next.
pub(crate) fn compress<const W: usize, T: Pod>(
    code: &BlockAccumulate,
    mut entries: Buffer<Words<W>>,
    len: usize,
) -> Buffer<T> {
    let mut compressed = Buffer::zeroed(entries.len());
    code.compress(&mut entries, bytemuck::cast_slice_mut(&mut compressed));
    compressed.truncate(len);
    compressed
}

#[cfg(test)]
mod tests;
