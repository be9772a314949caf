//! The consistency check of SoftSpokenOT (Roy, CRYPTO 2022, §4.2 and Figure 8) for the
//! repetition code: it shows the sender that the receiver used the same choices in every
//! column. (The check of Keller, Orsini and Scholl, CRYPTO 2015, which hashes rows instead
//! of columns, has no accepted proof.)
//!
//! After the receiver has sent everything, the sender draws a linear hash of the rows, R(x) = Σ
//! χ_i·x_i ⊕ x_last, where x is a column cut into blocks of 128 rows, taken as elements of
//! GF(2^128). Since Q_c = T_c ⊕ Δ_c·r for each column c, an honest receiver's answers r̃ = R(r) and
//! T̃_c = R(T_c) satisfy R(Q_c) = T̃_c ⊕ Δ_c·r̃. The last block is made of rows that are used for
//! nothing else, so the answers tell nothing about the others.

use psijoin_block::{Block, Prg, gf128};
use psijoin_channel::Channel;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{
    Error,
    columns::{COLUMNS, ColumnChunk},
};

/// The bytes that the sender of the OTs sends: the seed of R.
pub(crate) const SENDER_BYTES: usize = Block::BYTES;

/// The bytes that the receiver of the OTs answers: r̃ and each T̃_c.
pub(crate) const RECEIVER_BYTES: usize = (1 + COLUMNS) * Block::BYTES;

/// Does the sender's side.
pub(crate) fn check(
    chunks: &[ColumnChunk],
    delta: &Block,
    channel: &mut Channel,
    rng: &mut Prg,
) -> Result<(), Error> {
    let seed = rng.block();
    channel.send(&seed.to_bytes())?;
    let mut answer = [Block::ZERO; 1 + COLUMNS];
    channel.recv(bytemuck::cast_slice_mut(&mut answer))?;
    let (choices, columns) = answer.split_first().expect("one element and the columns");
    let mut difference = Block::ZERO;
    for (c, (own, sent)) in hash_columns(chunks, seed).iter().zip(columns).enumerate() {
        let bits = *own ^ *sent ^ (*choices & Block::splat(delta.bit(c)));
        difference = Block(difference.0 | bits.0);
    }
    if bool::from(difference.ct_eq(&Block::ZERO)) {
        Ok(())
    } else {
        Err(Error::ConsistencyCheck)
    }
}

/// Does the receiver's side.
pub(crate) fn answer(
    chunks: &[ColumnChunk],
    choices: &[Block],
    channel: &mut Channel,
) -> Result<(), Error> {
    let seed = Block::from_bytes(channel.recv_array()?);
    let coefficients = coefficients(seed, choices.len());
    let mut answer = vec![gf128::inner_product(&coefficients, choices)];
    answer.extend_from_slice(&*hash_columns(chunks, seed));
    channel.send(bytemuck::cast_slice(&answer))?;
    Ok(())
}

/// Returns χ, whose last element is 1.
fn coefficients(seed: Block, count: usize) -> Vec<Block> {
    let mut coefficients = vec![Block::ZERO; count];
    Prg::from_seed(seed).fill(&mut coefficients);
    if let Some(last) = coefficients.last_mut() {
        *last = Block(1);
    }
    coefficients
}

/// Returns R of each column. The sender's differ from the answer by Δ.
fn hash_columns(chunks: &[ColumnChunk], seed: Block) -> Zeroizing<[Block; COLUMNS]> {
    let blocks = chunks.iter().map(ColumnChunk::used_per_column).sum();
    let coefficients = coefficients(seed, blocks);
    let mut hashes = Zeroizing::new([Block::ZERO; COLUMNS]);
    let mut left = &coefficients[..];
    for chunk in chunks {
        let (factors, rest) = left.split_at(chunk.used_per_column());
        for (hash, column) in hashes.iter_mut().zip(chunk.columns()) {
            *hash ^= gf128::inner_product(factors, column);
        }
        left = rest;
    }
    hashes
}
