//! The side that gets e.

use std::marker::PhantomData;

use psijoin_block::{
    Block, Prg,
    tower::{Element, Tower},
};
use psijoin_channel::{Channel, Inbound};
use psijoin_params::lpn::RegularNoise;
use zeroize::Zeroizing;

use super::{Layout, Values, check, grow_message, messages, next_tweaks, tower};
use crate::{
    BaseOts, Error,
    block_accumulate::Words,
    consistency,
    iknp::Model,
    pprf::{self, Shape},
    small_field,
    vole::regular::Noise,
};

/// The side that gets e.
pub(crate) struct Receiver<M: Model> {
    bits: small_field::Receiver,
    rng: Prg,
    hashed: u64,
    model: PhantomData<M>,
}

impl<M: Model> Receiver<M> {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    pub(crate) fn setup(
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        Ok(Self {
            bits: small_field::Receiver::setup(base, channel, rng)?,
            rng: rng.fork(),
            hashed: 0,
            model: PhantomData,
        })
    }

    /// Steps 1 and 2, for noise over at least `len` positions.
    pub(crate) fn plant<V: Values>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Planted<M, V>, Error> {
        let layout = Layout::new::<M, V>(RegularNoise::new(len, V::DISTRIBUTION));
        let noise = Noise::draw(layout.noise, V::draw, &mut self.rng);
        let bits = self.bits::<V>(&layout, &noise);
        let mut columns = layout.columns();
        self.bits.extend(&bits, &mut columns, channel)?;
        if M::CHECKED {
            consistency::answer(std::slice::from_ref(&columns), &bits, channel)?;
        }

        let mut ots = layout.ots(&columns);
        let (path_ots, leaf_ots) = layout.split(&mut ots);
        let leaf_ots = &mut leaf_ots[..layout.leaf_ots()];
        M::hash(self.tweaks(leaf_ots.len()), leaf_ots);
        Ok(Planted {
            shape: layout.shape,
            path_ots: Zeroizing::new(path_ots.to_vec()),
            leaf_ots: Zeroizing::new(leaf_ots.to_vec()),
            shares: match V::SENT_BITS {
                0 => Zeroizing::new(vec![Block::ZERO; layout.noise.points()]),
                _ => layout.shares::<V>(&columns),
            },
            mask: check::Mask {
                value: tower(
                    layout
                        .mask
                        .clone()
                        .map(|i| bits[i])
                        .next()
                        .unwrap_or_default(),
                ),
                share: layout.mask_share(&columns),
            },
            seed: self.rng.block(),
            noise,
            model: PhantomData,
        })
    }

    /// As [`Sender::tweaks`].
    pub(crate) fn tweaks(&mut self, count: usize) -> u64 {
        next_tweaks(&mut self.hashed, count)
    }

    /// Returns r in its layout. Bits that are not used are random.
    fn bits<V: Values>(
        &mut self,
        layout: &Layout,
        noise: &Noise<V::Element>,
    ) -> Zeroizing<Vec<Block>> {
        let mut bits = Zeroizing::new(vec![Block::ZERO; layout.blocks()]);
        self.rng.fill(&mut bits);
        let (shape, positions, values) = (layout.shape, noise.positions(), noise.values());
        let paths = positions.iter().flat_map(|p| shape.path_choices(*p));
        let leaves = positions.iter().flat_map(|p| shape.leaf_choices(*p));
        for (i, choice) in paths.chain(leaves).enumerate() {
            let (block, bit) = (&mut bits[i / Block::BITS].0, i % Block::BITS);
            *block = *block & !(1 << bit) | u128::from(choice) << bit;
        }
        // There are no blocks for values that are not sent.
        let sent: &mut [u8] = bytemuck::cast_slice_mut(&mut bits[layout.values.clone()]);
        for (bytes, value) in sent.chunks_exact_mut(V::Element::BYTES).zip(values) {
            let value: Tower = (*value).into();
            bytes.copy_from_slice(&bytemuck::bytes_of(&value)[..V::Element::BYTES]);
        }
        bits
    }
}

/// A receiver between steps 2 and 3.
pub(crate) struct Planted<M: Model, V: Values> {
    noise: Noise<V::Element>,
    shape: Shape,
    path_ots: Zeroizing<Vec<Block>>,
    leaf_ots: Zeroizing<Vec<Block>>,
    shares: Zeroizing<Vec<Block>>,
    mask: check::Mask,
    seed: Block,
    model: PhantomData<M>,
}

/// The sender's messages in step 3.
pub(crate) struct Corrections(Vec<Vec<Block>>);

impl<M: Model, V: Values> Planted<M, V> {
    /// Returns e. Where the sender may be malicious, nothing that depends on it may be sent before
    /// step 3 is done.
    pub(crate) fn noise(&self) -> &Noise<V::Element> {
        &self.noise
    }

    /// Receives what step 3 needs.
    pub(crate) fn corrections(&self, inbound: &mut dyn Inbound) -> Result<Corrections, Error> {
        let messages = messages(self.shape, self.noise.positions().len());
        let corrections = messages.map(|blocks| receive(blocks, inbound));
        Ok(Corrections(corrections.collect::<Result<_, _>>()?))
    }

    /// Step 3 with what was received before: fills in w.
    pub(crate) fn grow(&self, Corrections(messages): Corrections, entries: &mut [Words<2>]) {
        for (message, corrections) in messages.into_iter().enumerate() {
            self.grow_message(message, corrections, entries);
        }
    }

    /// Step 3 while its messages arrive, and the check of the sender if the model has one: fills
    /// in w.
    pub(crate) fn verify(
        &self,
        entries: &mut [Words<2>],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        for (message, blocks) in messages(self.shape, self.noise.positions().len()).enumerate() {
            let corrections = receive(blocks, channel.halves().1)?;
            self.grow_message(message, corrections, entries);
        }
        if M::CHECKED {
            check::verify(entries, &self.noise, &self.mask, self.seed, channel)?;
        }
        Ok(())
    }

    fn grow_message(&self, message: usize, mut corrections: Vec<Block>, entries: &mut [Words<2>]) {
        let trees = pprf::Receiver {
            shape: self.shape,
            positions: self.noise.positions(),
            path_ots: &self.path_ots,
            leaf_ots: &self.leaf_ots,
            shares: &self.shares,
        };
        grow_message(
            self.shape,
            message,
            entries,
            &mut corrections,
            &|range, leaves, corrections| trees.trees(range).grow(leaves, corrections),
        );
    }
}

fn receive(blocks: usize, inbound: &mut dyn Inbound) -> Result<Vec<Block>, Error> {
    let mut corrections = vec![Block::ZERO; blocks];
    inbound.recv(bytemuck::cast_slice_mut(&mut corrections))?;
    Ok(corrections)
}
