//! Sparse correlations: what silent OT and VOLE compress.
//!
//! **Functionality.** The receiver gets regular noise e ∈ B^N, with values in the field B ⊂ F or
//! all one, and w ∈ F^N; the sender, which has Δ ∈ F, gets v ∈ F^N with w = v + Δ·e.
//!
//! 1. The receiver draws e: a position α_j in each block of positions, and a value β_j.
//! 2. From one call of `small_field.rs` come correlated OTs for the choices that lead to the α_j,
//!    and vector OLE δ_j = γ_j + Δ·β_j. With [`Ones`], δ_j = Δ and γ_j = 0.
//! 3. Each block is a tree (`pprf.rs`) with the shares δ_j and γ_j.
//!
//! A malicious party is kept in check twice. The *receiver* by `consistency.rs`, right after step
//! 2 and before the sender has sent anything that depends on Δ: then its α_j and β_j are fixed,
//! and it has nothing more to say. The *sender* by `check.rs` after step 3.
//!
//! A sender or receiver whose call has failed must not be used again: the streams of both
//! parties may have come apart, and after a failed check the peer may know bits of Δ.

use std::{marker::PhantomData, ops::Range};

use psijoin_block::{
    Block, Prg,
    memory::Buffer,
    tower::{Element, Gf64, Tower},
    transpose,
};
use psijoin_channel::Channel;
use psijoin_params::lpn::{NoiseValues, RegularNoise};
use rayon::prelude::*;

use super::check;
use crate::{
    Error,
    block_accumulate::Words,
    consistency,
    iknp::{COLUMNS, ColumnChunk, Model},
    pprf::{self, Shape},
    small_field,
};

/// v or w: elements of F, as the code wants them.
pub(crate) type Entries = Buffer<Words<2>>;

/// Trees whose corrections travel together: the receiver grows them while the sender grows
/// the next ones.
const TREES_PER_MESSAGE: usize = 64;

/// What stands at the noise points.
pub(crate) trait Values {
    /// The field of the values.
    type Element: Element;

    /// Their distribution.
    const DISTRIBUTION: NoiseValues;

    /// Bits of a value that go through the vector OLE.
    const SENT_BITS: usize;

    /// The bits that the entries of v have.
    const ENTRY_MASK: Block;

    /// Draws values.
    fn draw(count: usize, rng: &mut Prg) -> Vec<Self::Element>;
}

/// Uniform elements of B.
pub(crate) struct Uniform<B>(PhantomData<B>);

/// All one. The lowest bit of each entry of v is zero: if that of Δ is one, then the lowest bits
/// of w are e.
pub(crate) enum Ones {}

impl<B: Element> Values for Uniform<B> {
    type Element = B;
    const DISTRIBUTION: NoiseValues = NoiseValues::Uniform { bits: B::BITS };
    const SENT_BITS: usize = B::BITS as usize;
    const ENTRY_MASK: Block = Block::ONES;

    fn draw(count: usize, rng: &mut Prg) -> Vec<B> {
        let mut values = vec![B::default(); count];
        rng.fill_bytes(bytemuck::cast_slice_mut(&mut values));
        values
    }
}

impl Values for Ones {
    type Element = Gf64;
    const DISTRIBUTION: NoiseValues = NoiseValues::Ones;
    const SENT_BITS: usize = 0;
    const ENTRY_MASK: Block = Block(!1);

    fn draw(count: usize, _: &mut Prg) -> Vec<Gf64> {
        vec![Gf64::ONE; count]
    }
}

/// Which bits of r, the receiver's input to `small_field.rs`, mean what: blocks of each column.
struct Layout {
    noise: RegularNoise,
    shape: Shape,
    /// Choices of the OTs for the paths of all trees, then of those for their leaves.
    choices: Range<usize>,
    values: Range<usize>,
    /// The mask of the sender's check (one element of F), then bits that hide the answer of
    /// the receiver's: both only where there are checks.
    mask: Range<usize>,
    hidden: Range<usize>,
}

impl Layout {
    fn new<M: Model, V: Values>(noise: RegularNoise) -> Self {
        let shape = Shape::new(noise, V::ENTRY_MASK);
        let bits = noise.points() * (shape.path_ots() + Shape::LEAF_OTS);
        let choices = 0..bits.div_ceil(Block::BITS);
        let after = |range: &Range<usize>, blocks: usize| range.end..range.end + blocks;
        let values = after(
            &choices,
            (noise.points() * V::SENT_BITS).div_ceil(Block::BITS),
        );
        let mask = after(&values, usize::from(M::CHECKED));
        let hidden = after(&mask, usize::from(M::CHECKED));
        Self {
            noise,
            shape,
            choices,
            values,
            mask,
            hidden,
        }
    }

    fn blocks(&self) -> usize {
        self.hidden.end
    }

    fn columns(&self) -> ColumnChunk {
        ColumnChunk::new(self.blocks() * Block::BITS)
    }

    /// Splits what there is for each OT into that of the paths and that of the leaves.
    fn split<'a, T>(&self, ots: &'a mut [T]) -> (&'a mut [T], &'a mut [T]) {
        ots.split_at_mut(self.noise.points() * self.shape.path_ots())
    }

    fn leaf_ots(&self) -> usize {
        self.noise.points() * Shape::LEAF_OTS
    }

    /// The correlated OTs: the rows of the columns.
    fn ots(&self, columns: &ColumnChunk) -> Vec<Block> {
        let blocks = self.choices.len();
        let stride = (blocks * Block::BITS).next_multiple_of(transpose::ROW_GROUP) / Block::BITS;
        let mut padded = vec![Block::ZERO; COLUMNS * stride];
        for (padded, column) in padded.chunks_exact_mut(stride).zip(columns.columns()) {
            padded[..blocks].copy_from_slice(&column[self.choices.clone()]);
        }
        let mut rows = vec![Block::ZERO; stride * Block::BITS];
        transpose::transpose::<2>(
            bytemuck::cast_slice(&padded),
            bytemuck::cast_slice_mut(&mut rows),
        );
        rows
    }

    /// The shares of the vector OLE: Σ e_c·x_c with x_c the values in column c.
    fn shares<V: Values>(&self, columns: &ColumnChunk) -> Vec<Block> {
        combine::<V::Element>(columns, self.values.clone(), self.noise.points())
    }

    /// The share of the mask.
    fn mask_share(&self, columns: &ColumnChunk) -> Tower {
        let shares = combine::<Tower>(columns, self.mask.clone(), self.mask.len());
        shares
            .first()
            .map_or(Tower::default(), |share| tower(*share))
    }

    /// Bytes that the receiver sends.
    fn receiver_bytes<M: Model>(&self) -> u64 {
        let checks = if M::CHECKED {
            consistency::RECEIVER_BYTES + check::RECEIVER_BYTES
        } else {
            0
        };
        small_field::receiver_bytes(self.blocks()) + checks as u64
    }

    /// Bytes that the sender sends.
    fn sender_bytes<M: Model>(&self) -> u64 {
        let checks = if M::CHECKED {
            consistency::SENDER_BYTES + check::SENDER_BYTES
        } else {
            0
        };
        let corrections = self.noise.points() * self.shape.correction_blocks() * Block::BYTES;
        (corrections + checks) as u64
    }
}

/// Bytes that the receiver sends for noise over `len` positions.
pub(crate) fn receiver_bytes<M: Model, V: Values>(len: usize) -> u64 {
    Layout::new::<M, V>(RegularNoise::new(len, V::DISTRIBUTION)).receiver_bytes::<M>()
}

/// Bytes that the sender sends for noise over `len` positions.
pub(crate) fn sender_bytes<M: Model, V: Values>(len: usize) -> u64 {
    Layout::new::<M, V>(RegularNoise::new(len, V::DISTRIBUTION)).sender_bytes::<M>()
}

/// Σ e_c·x_c for each of `count` elements, with x_c the element in column c of `blocks`, and e_c
/// the element of F that is bit c alone.
fn combine<E: Element>(columns: &ColumnChunk, blocks: Range<usize>, count: usize) -> Vec<Block> {
    let basis: [Tower; COLUMNS] = std::array::from_fn(|c| tower(Block(1 << c)));
    let columns: Vec<&[E]> = columns
        .columns()
        .map(|column| bytemuck::cast_slice(&column[blocks.clone()]))
        .collect();
    let mut elements = [E::default(); COLUMNS];
    (0..count)
        .map(|j| {
            for (element, column) in elements.iter_mut().zip(&columns) {
                *element = column[j];
            }
            block(E::inner_product(&basis, &elements))
        })
        .collect()
}

/// The side that has Δ.
pub(crate) struct Sender<M: Model> {
    delta: Block,
    bits: small_field::Sender,
    rng: Prg,
    hashed: u64,
    model: PhantomData<M>,
}

impl<M: Model> Sender<M> {
    /// Runs the base OTs; the peer calls [`Receiver::setup`].
    pub(crate) fn setup(delta: Block, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            delta,
            bits: small_field::Sender::setup(delta, channel, rng)?,
            rng: rng.fork(),
            hashed: 0,
            model: PhantomData,
        })
    }

    pub(crate) fn delta(&self) -> Block {
        self.delta
    }

    /// The first of `count` tweaks for hashes of correlated OTs under Δ that were never used.
    pub(crate) fn tweaks(&mut self, count: usize) -> u64 {
        next_tweaks(&mut self.hashed, count)
    }

    /// v, for noise over at least `len` positions.
    pub(crate) fn extend<V: Values>(
        &mut self,
        len: usize,
        channel: &mut Channel,
    ) -> Result<Entries, Error> {
        let noise = RegularNoise::new(len, V::DISTRIBUTION);
        let layout = Layout::new::<M, V>(noise);
        let mut columns = layout.columns();
        self.bits.extend(&mut columns, channel)?;
        if M::CHECKED {
            let columns = std::slice::from_ref(&columns);
            consistency::check(columns, self.delta, channel, &mut self.rng)?;
        }

        let mut ots = layout.ots(&columns);
        let (path_ots, leaf_ots) = layout.split(&mut ots);
        let leaf_ots = self.hash(&mut leaf_ots[..layout.leaf_ots()]);
        let shares = match V::SENT_BITS {
            0 => vec![self.delta; noise.points()],
            _ => layout.shares::<V>(&columns),
        };
        let mut roots = vec![Block::ZERO; noise.points()];
        self.rng.fill(&mut roots);
        let dealer = pprf::Dealer {
            shape: layout.shape,
            delta: self.delta,
            roots: &roots,
            path_ots,
            leaf_ots: &leaf_ots,
            shares: &shares,
        };
        let mut entries = Buffer::zeroed(noise.positions());
        deal(&dealer, &mut entries, channel)?;
        if M::CHECKED {
            let (delta, mask) = (tower(self.delta), layout.mask_share(&columns));
            check::prove(&entries, noise, delta, mask, channel)?;
        }
        Ok(entries)
    }

    /// Both keys of the OTs q: H(q), H(q ⊕ Δ).
    fn hash(&mut self, ots: &mut [Block]) -> Vec<[Block; 2]> {
        let mut others: Vec<Block> = ots.iter().map(|q| *q ^ self.delta).collect();
        let tweak = self.tweaks(ots.len());
        M::hash(tweak, ots);
        M::hash(tweak, &mut others);
        ots.iter()
            .zip(others)
            .map(|(q, other)| [*q, other])
            .collect()
    }
}

/// Step 3, the sender's side.
fn deal(
    dealer: &pprf::Dealer<'_>,
    entries: &mut [Words<2>],
    channel: &mut Channel,
) -> Result<(), Error> {
    let shape = dealer.shape;
    let (at_once, sent_of_tree) = (shape.trees_at_once(), shape.correction_blocks());
    let mut corrections = vec![Block::ZERO; TREES_PER_MESSAGE * sent_of_tree];
    for (message, entries) in entries
        .chunks_mut(TREES_PER_MESSAGE * shape.leaves())
        .enumerate()
    {
        let trees = entries.len() / shape.leaves();
        let corrections = &mut corrections[..trees * sent_of_tree];
        entries
            .par_chunks_mut(at_once * shape.leaves())
            .zip(corrections.par_chunks_mut(at_once * sent_of_tree))
            .enumerate()
            .for_each(|(task, (leaves, corrections))| {
                let first = message * TREES_PER_MESSAGE + task * at_once;
                let trees = first..first + leaves.len() / shape.leaves();
                dealer.trees(trees).grow(leaves, corrections);
            });
        channel.send(bytemuck::cast_slice(corrections))?;
    }
    Ok(())
}

/// The side that gets e.
pub(crate) struct Receiver<M: Model> {
    bits: small_field::Receiver,
    rng: Prg,
    hashed: u64,
    model: PhantomData<M>,
}

impl<M: Model> Receiver<M> {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    pub(crate) fn setup(channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        Ok(Self {
            bits: small_field::Receiver::setup(channel, rng)?,
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
        let noise = RegularNoise::new(len, V::DISTRIBUTION);
        let layout = Layout::new::<M, V>(noise);
        let positions = positions(noise, &mut self.rng);
        let values = V::draw(noise.points(), &mut self.rng);
        let bits = self.bits::<V>(&layout, &positions, &values);
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
            noise: Noise {
                layout: noise,
                positions,
                values,
            },
            shape: layout.shape,
            path_ots: path_ots.to_vec(),
            leaf_ots: leaf_ots.to_vec(),
            shares: match V::SENT_BITS {
                0 => vec![Block::ZERO; noise.points()],
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
            model: PhantomData,
        })
    }

    /// As [`Sender::tweaks`].
    pub(crate) fn tweaks(&mut self, count: usize) -> u64 {
        next_tweaks(&mut self.hashed, count)
    }

    /// r, as the layout says. What is not used is random.
    fn bits<V: Values>(
        &mut self,
        layout: &Layout,
        positions: &[usize],
        values: &[V::Element],
    ) -> Vec<Block> {
        let mut bits = vec![Block::ZERO; layout.blocks()];
        self.rng.fill(&mut bits);
        let shape = layout.shape;
        let paths = positions.iter().flat_map(|p| shape.path_choices(*p));
        let leaves = positions.iter().flat_map(|p| shape.leaf_choices(*p));
        for (i, choice) in paths.chain(leaves).enumerate() {
            let (block, bit) = (&mut bits[i / Block::BITS].0, i % Block::BITS);
            *block = *block & !(1 << bit) | u128::from(choice) << bit;
        }
        let sent = &bytemuck::cast_slice::<_, u8>(values)[..values.len() * V::SENT_BITS / 8];
        bytemuck::cast_slice_mut(&mut bits[layout.values.clone()])[..sent.len()]
            .copy_from_slice(sent);
        bits
    }
}

/// A uniform position in each block (a draw's bias is at most the block's length over 2^64).
fn positions(noise: RegularNoise, rng: &mut Prg) -> Vec<usize> {
    let draws: Vec<u64> = {
        let mut blocks = vec![Block::ZERO; noise.points().div_ceil(2)];
        rng.fill(&mut blocks);
        bytemuck::cast_slice(&blocks).to_vec()
    };
    draws[..noise.points()]
        .iter()
        .map(|draw| ((u128::from(*draw) * noise.block_len() as u128) >> 64) as usize)
        .collect()
}

/// e.
pub(crate) struct Noise<E> {
    layout: RegularNoise,
    /// Of each point in its block.
    positions: Vec<usize>,
    values: Vec<E>,
}

impl<E: Element> Noise<E> {
    /// N.
    pub(crate) fn len(&self) -> usize {
        self.layout.positions()
    }

    /// The points, each with its position in e.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, E)> {
        let starts = (0..).step_by(self.layout.block_len());
        starts
            .zip(&self.positions)
            .zip(&self.values)
            .map(|((start, position), value)| (start + position, *value))
    }
}

/// A receiver between steps 2 and 3.
pub(crate) struct Planted<M: Model, V: Values> {
    noise: Noise<V::Element>,
    shape: Shape,
    path_ots: Vec<Block>,
    leaf_ots: Vec<Block>,
    shares: Vec<Block>,
    mask: check::Mask,
    seed: Block,
    model: PhantomData<M>,
}

impl<M: Model, V: Values> Planted<M, V> {
    /// e. Where the sender may be malicious, nothing that depends on it may be sent before step 3
    /// is done.
    pub(crate) fn noise(&self) -> &Noise<V::Element> {
        &self.noise
    }

    /// Step 3: e and w.
    pub(crate) fn grow(self, channel: &mut Channel) -> Result<(Noise<V::Element>, Entries), Error> {
        let trees = pprf::Receiver {
            shape: self.shape,
            positions: &self.noise.positions,
            path_ots: &self.path_ots,
            leaf_ots: &self.leaf_ots,
            shares: &self.shares,
        };
        let mut entries = Buffer::zeroed(self.noise.len());
        receive(&trees, &mut entries, channel)?;
        if M::CHECKED {
            let layout = self.noise.layout;
            check::verify(
                &entries,
                layout,
                &self.noise,
                &self.mask,
                self.seed,
                channel,
            )?;
        }
        Ok((self.noise, entries))
    }
}

/// Step 3, the receiver's side.
fn receive(
    receiver: &pprf::Receiver<'_>,
    entries: &mut [Words<2>],
    channel: &mut Channel,
) -> Result<(), Error> {
    let shape = receiver.shape;
    let (at_once, sent_of_tree) = (shape.trees_at_once(), shape.correction_blocks());
    let mut corrections = vec![Block::ZERO; TREES_PER_MESSAGE * sent_of_tree];
    for (message, entries) in entries
        .chunks_mut(TREES_PER_MESSAGE * shape.leaves())
        .enumerate()
    {
        let trees = entries.len() / shape.leaves();
        let corrections = &mut corrections[..trees * sent_of_tree];
        channel.recv(bytemuck::cast_slice_mut(corrections))?;
        entries
            .par_chunks_mut(at_once * shape.leaves())
            .zip(corrections.par_chunks(at_once * sent_of_tree))
            .enumerate()
            .for_each(|(task, (leaves, corrections))| {
                let first = message * TREES_PER_MESSAGE + task * at_once;
                let trees = first..first + leaves.len() / shape.leaves();
                receiver.trees(trees).grow(leaves, corrections);
            });
    }
    Ok(())
}

fn next_tweaks(used: &mut u64, count: usize) -> u64 {
    let first = *used;
    *used += count as u64;
    first
}

fn tower(block: Block) -> Tower {
    bytemuck::cast(block)
}

fn block(element: Tower) -> Block {
    bytemuck::cast(element)
}
