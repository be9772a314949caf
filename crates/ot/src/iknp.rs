//! OT extension of Ishai, Kilian, Nissim and Petrank (CRYPTO 2003), in the streamlined form
//! of Asharov et al. (CCS 2013), with the consistency check of SoftSpokenOT (Roy, CRYPTO
//! 2022) where the receiver may be malicious.
//!
//! After 128 base OTs in the other direction, the sender holds Δ ∈ {0,1}^128 and, for every
//! OT j with the receiver's choice r_j,
//!
//! > q_j = t_j ⊕ r_j·Δ, where the receiver holds t_j:
//!
//! a *correlated* OT. Hashing breaks the correlation: a *random* OT of H(q_j), H(q_j ⊕ Δ).
//!
//! 1. Base OTs: the sender of the extension chooses the bits of Δ and gets one seed of
//!    each pair of the receiver's.
//! 2. The receiver expands column i of T from seed (i, 0) and sends
//!    u_i = T_i ⊕ G(seed (i, 1)) ⊕ r.
//! 3. The sender expands the seed that it has and adds Δ_i·u_i: column i of Q.
//! 4. With a malicious receiver: the check of `consistency.rs`.
//! 5. Both transpose their matrix, and hash its rows if the OTs are to be random.
//!
//! The adversary model is part of the type: `Sender<SemiHonest>` or `Sender<Malicious>`. The
//! semi-honest hash is π(x) ⊕ x; the rows of T are uniformly random there, so they are distinct
//! except with probability 2^-128 per pair, which is what that hash asks for. The malicious one is
//! tweakable, since a malicious receiver can steer the rows.
//!
//! Cost of m OTs: one flight of 16 bytes per OT from the receiver (m rounded up to 128 in
//! every chunk); malicious: 128 OTs and two flights more. See [`receiver_bytes`].

use std::{marker::PhantomData, ops::Range};

use psijoin_block::{Block, Prg, crhf};
use psijoin_channel::Channel;
use psijoin_runtime::parallel;
use zeroize::Zeroizing;

use crate::{
    BaseOts, Error,
    columns::{COLUMNS, ColumnChunk, whole_groups},
    consistency,
};

/// Rows that are expanded, sent and transposed at once: columns of 1 KiB, so that the
/// chunk (128 KiB) stays in the second-level cache.
const CHUNK_ROWS: usize = 8192;

/// Columns that one task expands: enough for its cost to dwarf that of the task.
const COLUMNS_PER_TASK: usize = 16;

/// Rows that one task hashes: whole blocks of choices.
pub(crate) const ROWS_PER_TASK: usize = 2048;

/// The deviations of a party that the protocol withstands.
pub trait Model: Send + Sync + 'static {
    /// `true` if the sender checks the receiver's messages.
    const CHECKED: bool;

    /// Breaks the correlation of rows whose numbers start at `first_row`.
    fn hash(first_row: u64, rows: &mut [Block]);
}

/// Both parties follow the protocol, and are curious.
#[derive(Debug)]
pub enum SemiHonest {}

/// The receiver of the OTs may do what it likes. Choices that differ between columns pass the
/// check only if it guesses the bits of Δ in the columns that are off (2^-k for k of them), but
/// for 2^-128; it then knows the bits that it guessed, as SoftSpokenOT's functionality allows.
#[derive(Debug)]
pub enum Malicious {}

impl Model for SemiHonest {
    const CHECKED: bool = false;

    fn hash(_first_row: u64, rows: &mut [Block]) {
        crhf::correlation_robust(rows);
    }
}

impl Model for Malicious {
    const CHECKED: bool = true;

    fn hash(first_row: u64, rows: &mut [Block]) {
        crhf::tweakable(first_row, rows);
    }
}

/// Returns the number of bytes that the receiver sends for `count` OTs, after the setup.
pub fn receiver_bytes<M: Model>(count: usize) -> u64 {
    let matrix: usize = chunks::<M>(count)
        .map(|rows| rows.div_ceil(128) * 128 * 16)
        .sum();
    matrix as u64 + answer_bytes::<M>(count)
}

/// Returns those of [`receiver_bytes`] that answer the sender's challenge.
pub fn answer_bytes<M: Model>(count: usize) -> u64 {
    if M::CHECKED && count > 0 {
        consistency::RECEIVER_BYTES as u64
    } else {
        0
    }
}

/// Returns the number of bytes that the sender sends for `count` OTs, after the setup: its
/// challenge, if there is one.
pub fn sender_bytes<M: Model>(count: usize) -> u64 {
    if M::CHECKED && count > 0 {
        consistency::SENDER_BYTES as u64
    } else {
        0
    }
}

/// Returns the number of bytes that the sender of the extension sends in its setup: it receives
/// the base OTs.
pub const fn setup_sender_bytes(base: BaseOts) -> u64 {
    base.receiver_bytes(COLUMNS)
}

/// Returns the number of bytes that the receiver of the extension sends in its setup.
pub const fn setup_receiver_bytes(base: BaseOts) -> u64 {
    base.sender_bytes(COLUMNS)
}

/// Returns the number of rows of each chunk; with a check, a block of rows that only hides its
/// answer comes last.
fn chunks<M: Model>(count: usize) -> impl Iterator<Item = usize> {
    let rows = if M::CHECKED && count > 0 {
        count.next_multiple_of(128) + 128
    } else {
        count
    };
    (0..rows)
        .step_by(CHUNK_ROWS)
        .map(move |first| CHUNK_ROWS.min(rows - first))
}

/// The sender of the extended OTs.
pub struct Sender<M: Model> {
    delta: Zeroizing<Block>,
    columns: Vec<Prg>,
    rng: Prg,
    rows_done: u64,
    model: PhantomData<M>,
}

/// The receiver of the extended OTs.
pub struct Receiver<M: Model> {
    columns: Vec<[Prg; 2]>,
    rng: Prg,
    rows_done: u64,
    model: PhantomData<M>,
}

impl<M: Model> Sender<M> {
    /// Runs the base OTs; the peer calls [`Receiver::setup`]. The result serves any number of
    /// calls, also over other channels to the same peer.
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let delta = Zeroizing::new(rng.block());
        Self::setup_with(delta, base, channel, rng)
    }

    /// Sets up with a Δ that has a form: of its bits those that are not random do not help to
    /// keep it.
    pub(crate) fn setup_with(
        delta: Zeroizing<Block>,
        base: BaseOts,
        channel: &mut Channel,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let seeds = base.receive_by_bits(&delta, channel, rng)?;
        let columns = seeds.iter().map(|seed| Prg::from_seed(*seed)).collect();
        Ok(Self {
            delta,
            columns,
            rng: rng.fork(),
            rows_done: 0,
            model: PhantomData,
        })
    }

    /// Returns Δ: the difference of the two messages of each correlated OT.
    pub fn delta(&self) -> Zeroizing<Block> {
        self.delta.clone()
    }

    /// As many correlated OTs as `out` has room for: q_j, so that the messages of OT j are
    /// q_j and q_j ⊕ Δ.
    pub fn correlated(&mut self, out: &mut [Block], channel: &mut Channel) -> Result<(), Error> {
        self.extend(out.len(), channel, |_, rows, range| {
            out[range].copy_from_slice(rows)
        })
    }

    /// As many random OTs as `out` has room for: both messages of each.
    pub fn random(&mut self, out: &mut [[Block; 2]], channel: &mut Channel) -> Result<(), Error> {
        let delta = self.delta();
        let mut others = Zeroizing::new(vec![Block::ZERO; CHUNK_ROWS]);
        self.extend(out.len(), channel, |first_row, rows, range| {
            let others = &mut others[..rows.len()];
            for (other, row) in others.iter_mut().zip(&*rows) {
                *other = *row ^ *delta;
            }
            hash_rows::<M>(first_row, rows);
            hash_rows::<M>(first_row, others);
            for ((pair, first), second) in out[range].iter_mut().zip(rows).zip(others) {
                *pair = [*first, *second];
            }
        })
    }

    /// Steps 2 to 5; `finish` gets the q_j.
    fn extend(
        &mut self,
        count: usize,
        channel: &mut Channel,
        mut finish: impl Finish,
    ) -> Result<(), Error> {
        let mut matrix = Matrix::new::<M>(count);
        let mut message = vec![Block::ZERO; COLUMNS * CHUNK_ROWS / 128];
        for (chunk, rows) in chunks::<M>(count).enumerate() {
            let message = &mut message[..COLUMNS * rows.div_ceil(128)];
            channel.recv(bytemuck::cast_slice_mut(message))?;
            self.expand(matrix.next_chunk(rows), message);
            if !M::CHECKED {
                matrix.finish(chunk, count, self.rows_done, &mut finish);
            }
        }
        if M::CHECKED && count > 0 {
            consistency::check(&matrix.chunks, &self.delta, channel, &mut self.rng)?;
            for chunk in 0..matrix.chunks.len() {
                matrix.finish(chunk, count, self.rows_done, &mut finish);
            }
        }
        self.rows_done += count as u64;
        Ok(())
    }

    /// Step 3, for one chunk.
    fn expand(&mut self, chunk: &mut ColumnChunk, message: &[Block]) {
        let blocks = message.len() / COLUMNS;
        let mut columns: Vec<_> = (self.columns.iter_mut())
            .zip(chunk.columns_mut())
            .zip(message.chunks_exact(blocks))
            .collect();
        let delta = &self.delta;
        parallel::chunks_mut(&mut columns, COLUMNS_PER_TASK, &|range, columns| {
            for (i, ((prg, column), sent)) in range.zip(columns) {
                prg.fill(&mut column[..blocks]);
                let mask = Block::splat(delta.bit(i));
                for (own, sent) in column.iter_mut().zip(*sent) {
                    *own ^= *sent & mask;
                }
            }
        });
    }
}

impl<M: Model> Receiver<M> {
    /// Runs the base OTs; the peer calls [`Sender::setup`].
    pub fn setup(base: BaseOts, channel: &mut Channel, rng: &mut Prg) -> Result<Self, Error> {
        let seeds = base.send(COLUMNS, channel, rng)?;
        let columns = seeds.iter().map(|pair| pair.map(Prg::from_seed)).collect();
        Ok(Self {
            columns,
            rng: rng.fork(),
            rows_done: 0,
            model: PhantomData,
        })
    }

    /// As many correlated OTs as `out` has room for, with bit j of `choices` (bit j mod 128 of
    /// block j / 128): t_j, the message chosen.
    ///
    /// # Panics
    /// If there are fewer choices than OTs.
    pub fn correlated(
        &mut self,
        choices: &[Block],
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        self.extend(choices, out.len(), channel, |_, rows, range| {
            out[range].copy_from_slice(rows);
        })
    }

    /// As many random OTs as `out` has room for: the message chosen of each.
    ///
    /// # Panics
    /// If there are fewer choices than OTs.
    pub fn random(
        &mut self,
        choices: &[Block],
        out: &mut [Block],
        channel: &mut Channel,
    ) -> Result<(), Error> {
        self.extend(choices, out.len(), channel, |first_row, rows, range| {
            hash_rows::<M>(first_row, rows);
            out[range].copy_from_slice(rows);
        })
    }

    /// Steps 2 to 5; `finish` gets the t_j.
    fn extend(
        &mut self,
        choices: &[Block],
        count: usize,
        channel: &mut Channel,
        mut finish: impl Finish,
    ) -> Result<(), Error> {
        assert!(count <= choices.len() * Block::BITS, "a choice for each OT");
        let choices = self.padded_choices(choices, count);
        let mut matrix = Matrix::new::<M>(count);
        let mut message = vec![Block::ZERO; COLUMNS * CHUNK_ROWS / 128];
        for (chunk, rows) in chunks::<M>(count).enumerate() {
            let blocks = rows.div_ceil(128);
            let message = &mut message[..COLUMNS * blocks];
            let choices = &choices[chunk * CHUNK_ROWS / 128..][..blocks];
            self.expand(matrix.next_chunk(rows), choices, message);
            channel.send(bytemuck::cast_slice(message))?;
            if !M::CHECKED {
                matrix.finish(chunk, count, self.rows_done, &mut finish);
            }
        }
        if M::CHECKED && count > 0 {
            consistency::answer(&matrix.chunks, &choices, channel)?;
            for chunk in 0..matrix.chunks.len() {
                matrix.finish(chunk, count, self.rows_done, &mut finish);
            }
        }
        self.rows_done += count as u64;
        Ok(())
    }

    /// Returns the choices, with random ones for the rows that only fill up a block or hide the
    /// answer of the check.
    fn padded_choices(&mut self, choices: &[Block], count: usize) -> Zeroizing<Vec<Block>> {
        let rows: usize = chunks::<M>(count).sum();
        let mut padded = Zeroizing::new(vec![Block::ZERO; rows.div_ceil(128)]);
        self.rng.fill(&mut padded);
        let whole = count / Block::BITS;
        padded[..whole].copy_from_slice(&choices[..whole]);
        if !count.is_multiple_of(Block::BITS) {
            let taken = Block((1 << (count % Block::BITS)) - 1);
            padded[whole] = (choices[whole] & taken) ^ (padded[whole] & Block(!taken.0));
        }
        padded
    }

    /// Step 2, for one chunk.
    fn expand(&mut self, chunk: &mut ColumnChunk, choices: &[Block], message: &mut [Block]) {
        let blocks = choices.len();
        let mut columns: Vec<_> = (self.columns.iter_mut())
            .zip(chunk.columns_mut())
            .zip(message.chunks_exact_mut(blocks))
            .collect();
        parallel::chunks_mut(&mut columns, COLUMNS_PER_TASK, &|_, columns| {
            for ((prgs, column), sent) in columns {
                prgs[0].fill(&mut column[..blocks]);
                prgs[1].fill(sent);
                for ((sent, own), choices) in sent.iter_mut().zip(&**column).zip(choices) {
                    *sent ^= *own ^ *choices;
                }
            }
        });
    }
}

/// T or Q: all of it where the check comes before the rows may be used, else one chunk that
/// is used again and again.
struct Matrix {
    chunks: Vec<ColumnChunk>,
    keep: bool,
    rows: Zeroizing<Vec<Block>>,
}

impl Matrix {
    fn new<M: Model>(count: usize) -> Self {
        // The first chunk is the longest.
        let first = chunks::<M>(count).next().unwrap_or(0);
        Self {
            chunks: Vec::new(),
            keep: M::CHECKED,
            rows: Zeroizing::new(vec![Block::ZERO; whole_groups(first)]),
        }
    }

    /// Returns room for the next chunk.
    fn next_chunk(&mut self, rows: usize) -> &mut ColumnChunk {
        match self.chunks.last_mut() {
            Some(chunk) if !self.keep => chunk.resize(rows),
            _ => self.chunks.push(ColumnChunk::new(rows)),
        }
        self.chunks.last_mut().expect("one was just made")
    }

    /// Step 5 for one chunk: transposes it and hands its rows over, except those that only
    /// served the check.
    fn finish(&mut self, chunk: usize, count: usize, rows_done: u64, finish: &mut impl Finish) {
        let columns = &self.chunks[if self.keep { chunk } else { 0 }];
        let rows = &mut self.rows[..columns.rows()];
        columns.transpose(rows);
        let first = chunk * CHUNK_ROWS;
        let end = count.min(first + rows.len());
        if first < end {
            finish(
                rows_done + first as u64,
                &mut rows[..end - first],
                first..end,
            );
        }
    }
}

/// Takes the number of the first row (for tweaks), rows of T or Q, and their positions.
trait Finish: FnMut(u64, &mut [Block], Range<usize>) {}
impl<F: FnMut(u64, &mut [Block], Range<usize>)> Finish for F {}

/// Breaks the correlation of many rows.
pub(crate) fn hash_rows<M: Model>(first_row: u64, rows: &mut [Block]) {
    parallel::chunks_mut(rows, ROWS_PER_TASK, &|range, rows| {
        M::hash(first_row + range.start as u64, rows);
    });
}

#[cfg(test)]
mod tests;
