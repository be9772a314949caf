//! Sparse correlations: what silent OT and VOLE compress.
//!
//! **Functionality.** The receiver gets regular noise e ∈ B^N, with values in B ⊂ F or all one, and
//! w ∈ F^N; the sender, which has Δ ∈ F, gets v ∈ F^N with w = v + Δ·e.
//!
//! 1. The receiver draws e: a position α_j in each block of positions, and a value β_j.
//! 2. From one call of `small_field.rs` come correlated OTs for the choices that lead to the α_j,
//!    and vector OLE δ_j = γ_j + Δ·β_j. With [`Ones`], δ_j = Δ and γ_j = 0.
//! 3. Each block is a tree (`pprf.rs`) with the shares δ_j and γ_j.
//!
//! Both parties are checked for malice. The *receiver* is checked by `consistency.rs`, right after
//! step 2 and before the sender has sent anything that depends on Δ: then its α_j and β_j are
//! fixed, and it sends nothing more. The *sender* is checked by `check.rs` after step 3.
//!
//! A sender or receiver whose call has failed must not be used again: the streams of both
//! parties may have come apart, and after a failed check the peer may know bits of Δ.

use std::{marker::PhantomData, ops::Range};

use psijoin_block::{
    Block, Prg,
    tower::{Element, Gf64, Tower},
};
use psijoin_params::lpn::{NoiseValues, RegularNoise};
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use super::check;
use crate::{
    block_accumulate::Words,
    columns::{COLUMNS, ColumnChunk},
    consistency,
    iknp::Model,
    pprf::Shape,
    small_field,
};

mod receiver;
mod sender;

pub(crate) use receiver::{Corrections, Planted, Receiver};
pub(crate) use sender::{Granted, Sender};

/// v or w: elements of F, as the code wants them.
pub(crate) type Entries = Buffer<Words<2>>;

/// Trees whose corrections travel together: the receiver grows them while the sender grows
/// the next ones.
const TREES_PER_MESSAGE: usize = 64;

/// The values at the noise points.
pub(crate) trait Values {
    /// The field of the values.
    type Element: Element;

    /// Their distribution.
    const DISTRIBUTION: NoiseValues;

    /// Bits of a value that go through the vector OLE: whole bytes.
    const SENT_BITS: usize;

    /// The bits that the entries of v have.
    const ENTRY_MASK: Block;

    /// Draws values.
    fn draw(count: usize, rng: &mut Prg) -> Vec<Self::Element>;
}

/// Uniform elements of B. Any bits that go through the vector OLE are those of an element of B.
pub(crate) struct Uniform<B>(PhantomData<B>);

/// All one. The lowest bit of each entry of v is zero: if that of Δ is one, then the lowest bits
/// of w are e.
pub(crate) enum Ones {}

impl<B: Element> Values for Uniform<B> {
    type Element = B;
    const DISTRIBUTION: NoiseValues = NoiseValues::Uniform { bits: B::BITS };
    const SENT_BITS: usize = 8 * B::BYTES;
    const ENTRY_MASK: Block = Block::ONES;

    fn draw(count: usize, rng: &mut Prg) -> Vec<B> {
        let mut values = vec![B::default(); count];
        B::fill(&mut values, rng);
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

/// The use of the bits of r, the receiver's input to `small_field.rs`, as blocks of each column.
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

    /// Returns the correlated OTs: the rows of the columns.
    fn ots(&self, columns: &ColumnChunk) -> Zeroizing<Vec<Block>> {
        let blocks = self.choices.len();
        let mut ots = ColumnChunk::new(blocks * Block::BITS);
        for (ots, column) in ots.columns_mut().zip(columns.columns()) {
            ots[..blocks].copy_from_slice(&column[self.choices.clone()]);
        }
        let mut rows = Zeroizing::new(vec![Block::ZERO; ots.rows()]);
        ots.transpose(&mut rows);
        rows
    }

    /// Returns the shares of the vector OLE: Σ e_c·x_c with x_c the values in column c.
    fn shares<V: Values>(&self, columns: &ColumnChunk) -> Zeroizing<Vec<Block>> {
        combine::<V::Element>(columns, self.values.clone(), self.noise.points())
    }

    /// Returns the share of the mask.
    fn mask_share(&self, columns: &ColumnChunk) -> Tower {
        let shares = combine::<Tower>(columns, self.mask.clone(), self.mask.len());
        shares
            .first()
            .map_or(Tower::default(), |share| tower(*share))
    }

    /// Returns the bytes of step 2 and step 3.
    fn flights<M: Model>(&self) -> Flights {
        let choices = small_field::receiver_bytes(self.blocks());
        let corrections = self.noise.points() * self.shape.correction_blocks() * Block::BYTES;
        let checks = match M::CHECKED {
            true => [
                consistency::SENDER_BYTES,
                consistency::RECEIVER_BYTES,
                check::RECEIVER_BYTES,
                check::SENDER_BYTES,
            ],
            false => [0; 4],
        };
        let [challenge, answer, sums, hash] = checks.map(|bytes| bytes as u64);
        [
            [0, choices],
            [challenge, 0],
            [0, answer],
            [corrections as u64, 0],
            [0, sums],
            [hash, 0],
        ]
    }
}

/// The bytes that the sender and the receiver send, flight by flight. A flight without bytes is
/// none.
pub(crate) type Flights = [[u64; 2]; 6];

/// Returns the bytes that both send for noise over `len` positions, after the setup.
pub(crate) fn flights<M: Model, V: Values>(len: usize) -> Flights {
    Layout::new::<M, V>(RegularNoise::new(len, V::DISTRIBUTION)).flights::<M>()
}

/// Returns the number of bytes that the receiver sends for noise over `len` positions.
pub(crate) fn receiver_bytes<M: Model, V: Values>(len: usize) -> u64 {
    let [_, receiver] = total(flights::<M, V>(len));
    receiver
}

/// Returns the number of bytes that the sender sends for noise over `len` positions.
pub(crate) fn sender_bytes<M: Model, V: Values>(len: usize) -> u64 {
    let [sender, _] = total(flights::<M, V>(len));
    sender
}

fn total(flights: Flights) -> [u64; 2] {
    flights.into_iter().fold([0; 2], |total, flight| {
        std::array::from_fn(|party| total[party] + flight[party])
    })
}

/// Returns Σ e_c·x_c for each of `count` elements, with x_c the element in column c of `blocks`,
/// and e_c the element of F that is bit c alone. Elements follow each other without gaps.
fn combine<E: Element>(
    columns: &ColumnChunk,
    blocks: Range<usize>,
    count: usize,
) -> Zeroizing<Vec<Block>> {
    let basis: [Tower; COLUMNS] = std::array::from_fn(|c| tower(Block(1 << c)));
    let columns: Vec<&[u8]> = columns
        .columns()
        .map(|column| bytemuck::cast_slice(&column[blocks.clone()]))
        .collect();
    let mut elements = Zeroizing::new([E::default(); COLUMNS]);
    let combined = (0..count).map(|j| {
        for (element, column) in elements.iter_mut().zip(&columns) {
            *element = E::from_bytes(&column[j * E::BYTES..][..E::BYTES]);
        }
        block(E::inner_product(&basis, &*elements))
    });
    Zeroizing::new(combined.collect())
}

/// Blocks of the corrections of all trees, message by message.
fn messages(shape: Shape, trees: usize) -> impl Iterator<Item = usize> {
    let messages = (0..trees).step_by(TREES_PER_MESSAGE);
    messages.map(move |first| TREES_PER_MESSAGE.min(trees - first) * shape.correction_blocks())
}

/// Grows trees of these numbers: their entries, and their corrections.
type Grow<'a> = dyn Fn(Range<usize>, &mut [Words<2>], &mut [Block]) + Sync + 'a;

/// Calls `grow` for the trees whose corrections are in a message: with their numbers, entries
/// and corrections.
fn grow_message(
    shape: Shape,
    message: usize,
    entries: &mut [Words<2>],
    corrections: &mut [Block],
    grow: &Grow<'_>,
) {
    let (at_once, first) = (shape.trees_at_once(), message * TREES_PER_MESSAGE);
    let mut tasks: Vec<_> = entries[first * shape.leaves()..]
        .chunks_mut(at_once * shape.leaves())
        .zip(corrections.chunks_mut(at_once * shape.correction_blocks()))
        .collect();
    parallel::each_mut(&mut tasks, &|task, (leaves, corrections)| {
        let first = first + task * at_once;
        let trees = first..first + corrections.len() / shape.correction_blocks();
        grow(trees, leaves, corrections);
    });
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
