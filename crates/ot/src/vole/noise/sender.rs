//! The side that has Δ.

use std::marker::PhantomData;

use psijoin_block::{Block, Prg, tower::Tower};
use psijoin_channel::{Channel, Outbound};
use psijoin_params::lpn::RegularNoise;
use psijoin_runtime::memory::Buffer;
use zeroize::Zeroizing;

use super::{Entries, Layout, Values, check, grow_message, messages, next_tweaks, tower};
use crate::{
    BaseOts, Error, consistency,
    iknp::Model,
    pprf::{self, Shape},
    small_field,
};

/// The side that has Δ.
pub(crate) struct Sender<M: Model> {
    delta: Zeroizing<Block>,
    bits: small_field::Sender,
    rng: Prg,
    hashed: u64,
    model: PhantomData<M>,
}

impl<M: Model> Sender<M> {
    /// Runs the base OTs; the peer calls [`Receiver::setup`].
    pub(crate) fn setup(
        delta: Zeroizing<Block>,
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        Ok(Self {
            bits: small_field::Sender::setup(delta.clone(), base, channel, rng)?,
            delta,
            rng: rng.fork(),
            hashed: 0,
            model: PhantomData,
        })
    }

    pub(crate) fn delta(&self) -> Zeroizing<Block> {
        self.delta.clone()
    }

    /// Returns the first of `count` tweaks for hashes of correlated OTs under Δ that were never
    /// used.
    pub(crate) fn tweaks(&mut self, count: usize) -> u64 {
        next_tweaks(&mut self.hashed, count)
    }

    /// Returns v, for noise over at least `len` positions.
    pub(crate) fn extend<V: Values>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Entries, Error> {
        self.grant::<V>(len, channel)?.prove(channel)
    }

    /// Step 2, for noise over at least `len` positions.
    pub(crate) fn grant<V: Values>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Granted<M>, Error> {
        let noise = RegularNoise::new(len, V::DISTRIBUTION);
        let layout = Layout::new::<M, V>(noise);
        let mut columns = layout.columns();
        self.bits.extend(&mut columns, channel)?;
        if M::CHECKED {
            let columns = std::slice::from_ref(&columns);
            consistency::check(columns, &self.delta, channel, &mut self.rng)?;
        }

        let mut ots = layout.ots(&columns);
        let (path_ots, leaf_ots) = layout.split(&mut ots);
        let leaf_ots = self.hash(&mut leaf_ots[..layout.leaf_ots()]);
        let mut roots = Zeroizing::new(vec![Block::ZERO; noise.points()]);
        self.rng.fill(&mut roots);
        Ok(Granted {
            noise,
            shape: layout.shape,
            delta: self.delta.clone(),
            roots,
            path_ots: Zeroizing::new(path_ots.to_vec()),
            leaf_ots,
            shares: match V::SENT_BITS {
                0 => Zeroizing::new(vec![*self.delta; noise.points()]),
                _ => layout.shares::<V>(&columns),
            },
            mask: Zeroizing::new(layout.mask_share(&columns)),
            model: PhantomData,
        })
    }

    /// Returns both keys of the OTs q: H(q), H(q ⊕ Δ).
    fn hash(&mut self, ots: &mut [Block]) -> Zeroizing<Vec<[Block; 2]>> {
        let others = ots.iter().map(|q| *q ^ *self.delta).collect();
        let mut others: Zeroizing<Vec<Block>> = Zeroizing::new(others);
        let tweak = self.tweaks(ots.len());
        M::hash(tweak, ots);
        M::hash(tweak, &mut others);
        let keys = ots.iter().zip(others.iter());
        Zeroizing::new(keys.map(|(q, other)| [*q, *other]).collect())
    }
}

/// A sender between steps 2 and 3.
pub(crate) struct Granted<M> {
    noise: RegularNoise,
    shape: Shape,
    delta: Zeroizing<Block>,
    roots: Zeroizing<Vec<Block>>,
    path_ots: Zeroizing<Vec<Block>>,
    leaf_ots: Zeroizing<Vec<[Block; 2]>>,
    shares: Zeroizing<Vec<Block>>,
    mask: Zeroizing<Tower>,
    model: PhantomData<M>,
}

impl<M: Model> Granted<M> {
    /// Returns Δ.
    pub(crate) fn delta(&self) -> &Block {
        &self.delta
    }

    /// Step 3: v, and what the receiver needs for w.
    pub(crate) fn grow(&self, outbound: &mut dyn Outbound) -> Result<Entries, Error> {
        let shape = self.shape;
        let dealer = pprf::Dealer {
            shape,
            delta: &self.delta,
            roots: &self.roots,
            path_ots: &self.path_ots,
            leaf_ots: &self.leaf_ots,
            shares: &self.shares,
        };
        let mut entries: Entries = Buffer::zeroed(self.noise.positions());
        for (message, blocks) in messages(shape, self.noise.points()).enumerate() {
            let mut corrections = vec![Block::ZERO; blocks];
            grow_message(
                shape,
                message,
                &mut entries,
                &mut corrections,
                &|trees, leaves, corrections| dealer.trees(trees).grow(leaves, corrections),
            );
            outbound.send(bytemuck::cast_slice(&corrections))?;
        }
        Ok(entries)
    }

    /// Step 3, and the check of this side if the model has one.
    pub(crate) fn prove(self, channel: &mut Channel) -> Result<Entries, Error> {
        let entries = self.grow(channel.halves().0)?;
        if M::CHECKED {
            check::prove(
                &entries,
                self.noise,
                tower(*self.delta),
                *self.mask,
                channel,
            )?;
        }
        Ok(entries)
    }
}
