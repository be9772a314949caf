//! Silent OT: any number of correlated or random OTs, with random choices, for a few hundred
//! kilobytes in all.
//!
//! **Functionality.** The sender has Δ ∈ {0,1}^128 with lowest bit 1. In *correlated* OTs it gets
//! q_j, and the receiver gets random choices r_j and t_j = q_j ⊕ r_j·Δ. In each *random* OT the
//! sender gets two random messages, and the receiver gets r_j and the message that it selects.
//!
//! This is silent vector OLE ([`vole`](crate::vole)) with a over GF(2): the noise is 1 at its
//! points. Entries of v have lowest bit 0, so that w, and after compression t, has e, then r, in
//! the lowest bit; the choices take no vector of their own. Random OTs are the hashes of
//! correlated ones, as in [`iknp`](crate::iknp).
//!
//! **Security** as for vector OLE, with dual LPN over GF(2). 127 bits of Δ are secret.
//!
//! **Cost.** As for vector OLE, with fewer noise points: [`sender_bytes`], [`receiver_bytes`].

use psijoin_block::{Block, Prg};
use psijoin_channel::Channel;
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use crate::{
    BaseOts, Error,
    iknp::{Model, ROWS_PER_TASK, hash_rows},
    small_field,
    vole::{
        code_for, compress,
        noise::{self, Ones},
    },
};

/// Returns the number of bytes that the sender sends in its setup.
pub const fn setup_sender_bytes(base: BaseOts) -> u64 {
    small_field::setup_sender_bytes(base)
}

/// Returns the number of bytes that the receiver sends in its setup.
pub const fn setup_receiver_bytes(base: BaseOts) -> u64 {
    small_field::setup_receiver_bytes(base)
}

/// Returns the number of bytes that the sender sends for `count` OTs, after the setup.
pub fn sender_bytes<M: Model>(count: usize) -> u64 {
    noise::sender_bytes::<M, Ones>(2 * count)
}

/// Returns the number of bytes that the receiver sends for `count` OTs, after the setup.
pub fn receiver_bytes<M: Model>(count: usize) -> u64 {
    noise::receiver_bytes::<M, Ones>(2 * count)
}

/// The sender of the OTs.
pub struct Sender<M: Model> {
    noise: noise::Sender<M>,
}

/// The receiver of the OTs.
pub struct Receiver<M: Model> {
    noise: noise::Receiver<M>,
}

/// The receiver's result.
pub struct Chosen {
    /// The choice in OT j is bit j mod 128 of block j / 128.
    pub choices: Zeroizing<Vec<Block>>,
    /// The message chosen in each OT, or t_j.
    pub messages: Buffer<Block>,
}

impl<M: Model> Sender<M> {
    /// Runs the base OTs; the peer calls [`Receiver::setup`]. The result serves any number of
    /// calls, also over other channels to the same peer, until one fails.
    ///
    /// # Errors
    /// If the channel breaks, or the peer sends an invalid public key.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let delta = Zeroizing::new(Block(rng.block().0 | 1));
        Ok(Self {
            noise: noise::Sender::setup(delta, base, channel, rng)?,
        })
    }

    /// Returns Δ: the difference of the two messages of each correlated OT.
    pub fn delta(&self) -> Zeroizing<Block> {
        self.noise.delta()
    }

    /// Returns `count` correlated OTs: q_j, so that the messages of OT j are q_j and q_j ⊕ Δ.
    ///
    /// # Errors
    /// If the channel breaks, or the receiver is caught cheating. The sender must not be used
    /// again after that.
    pub fn correlated(
        &mut self,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Buffer<Block>, Error> {
        let entries = self.noise.extend::<Ones>(2 * count, channel)?;
        Ok(compress(&code_for(entries.len()), entries, count))
    }

    /// Returns `count` random OTs: both messages of each.
    ///
    /// # Errors
    /// As for [`correlated`](Self::correlated).
    pub fn random(
        &mut self,
        count: usize,
        channel: &mut Channel,
    ) -> Result<Buffer<[Block; 2]>, Error> {
        let mut rows = self.correlated(count, channel)?;
        let (delta, tweak) = (self.delta(), self.noise.tweaks(count));
        let mut messages = Buffer::<[Block; 2]>::zeroed(count);
        let mut tasks: Vec<_> = (rows.chunks_mut(ROWS_PER_TASK))
            .zip(messages.chunks_mut(ROWS_PER_TASK))
            .collect();
        parallel::each_mut(&mut tasks, &|task, (rows, messages)| {
            let tweak = tweak + (task * ROWS_PER_TASK) as u64;
            hash_both::<M>(tweak, rows, &delta, messages);
        });
        Ok(messages)
    }
}

/// Computes both random messages of the OTs with these q_j, which are lost.
fn hash_both<M: Model>(tweak: u64, rows: &mut [Block], delta: &Block, messages: &mut [[Block; 2]]) {
    let others = rows.iter().map(|row| *row ^ *delta).collect();
    let mut others: Zeroizing<Vec<Block>> = Zeroizing::new(others);
    M::hash(tweak, rows);
    M::hash(tweak, &mut others);
    let pairs = rows.iter().zip(others.iter());
    for (pair, (first, second)) in messages.iter_mut().zip(pairs) {
        *pair = [*first, *second];
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

    /// Returns `count` correlated OTs: the choices r_j, and t_j.
    ///
    /// # Errors
    /// If the channel breaks, or the sender is caught cheating. The receiver must not be used
    /// again after that.
    pub fn correlated(&mut self, count: usize, channel: &mut Channel) -> Result<Chosen, Error> {
        let planted = self.noise.plant::<Ones>(2 * count, channel)?;
        let mut entries = Buffer::zeroed(planted.noise().len());
        planted.verify(&mut entries, channel)?;
        let code = code_for(entries.len());
        let messages: Buffer<Block> = compress(&code, entries, count);
        let choices = messages.chunks(Block::BITS).map(lowest_bits).collect();
        Ok(Chosen {
            choices: Zeroizing::new(choices),
            messages,
        })
    }

    /// Returns `count` random OTs: the choices, and the message chosen of each.
    ///
    /// # Errors
    /// As for [`correlated`](Self::correlated).
    pub fn random(&mut self, count: usize, channel: &mut Channel) -> Result<Chosen, Error> {
        let mut chosen = self.correlated(count, channel)?;
        hash_rows::<M>(self.noise.tweaks(count), &mut chosen.messages);
        Ok(chosen)
    }
}

fn lowest_bits(rows: &[Block]) -> Block {
    let bits = rows.iter().enumerate();
    Block(bits.fold(0, |bits, (i, row)| bits | (row.0 & 1) << i))
}

#[cfg(test)]
mod tests;
