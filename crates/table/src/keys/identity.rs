//! A tag by which a table is recognised.
//!
//! It is the XOR MAC of Bellare, Guérin and Rogaway (*XOR MACs: new methods for message
//! authentication using finite pseudorandom functions*, CRYPTO 1995), without their nonce: the sum
//! of AES over all rows that have a key. A row's block is 96 bits of its fingerprint, and its
//! number, which makes blocks differ. Each column of numbers adds blocks of its own, under its own
//! key. Two tables that differ have the same tag with probability 2^-96, unless somebody who knows
//! the secret looks for them. The order in which rows are added does not matter, so partitions add
//! up.

use psijoin_block::{Block, aes::Aes128};

use super::partitions::Records;
use crate::{Labels, numbers::Totals};

/// Blocks that are encrypted at a time.
const AT_ONCE: u32 = 1024;

/// See the [module](self).
pub(super) struct Recogniser<'a> {
    secret: &'a [u8; 32],
    fingerprints: Aes128,
    columns: Vec<Aes128>,
}

impl<'a> Recogniser<'a> {
    /// Makes one for tables with this many columns of numbers, of which labels are one.
    pub(super) fn new(secret: &'a [u8; 32], columns: usize) -> Self {
        let mut hasher = blake3::Hasher::new_keyed(secret);
        let mut keys = hasher
            .update(b"psijoin 2026 identity of a table")
            .finalize_xof();
        let mut key = || {
            let mut key = [0; 16];
            keys.fill(&mut key);
            Aes128::new(Block(u128::from_le_bytes(key)))
        };
        Self {
            secret,
            fingerprints: key(),
            columns: (0..columns).map(|_| key()).collect(),
        }
    }

    /// Returns what these records add to the tag.
    pub(super) fn tag(&self, records: &Records<'_>) -> Block {
        let of_fingerprints = sum(&self.fingerprints, records, |record| {
            let (start, _) = records
                .fingerprint(record)
                .split_first_chunk::<12>()
                .expect("it is longer");
            block(*start, records.row(record))
        });
        let columns = self.columns.iter().enumerate().map(|(column, key)| {
            sum(key, records, |record| {
                let mut number = [0; 12];
                number[..8].copy_from_slice(&records.number(record, column).to_le_bytes());
                block(number, records.row(record))
            })
        });
        columns.fold(of_fingerprints, |sum, column| sum ^ column)
    }

    /// Returns the tag of a table, given what all partitions add to it, how many rows it has, how
    /// its numbers are scaled, and its labels.
    pub(super) fn finish(
        &self,
        tags: &[Block],
        rows: u64,
        (totals, labels): (&[Totals], &[Labels]),
    ) -> blake3::Hash {
        let sum = tags.iter().fold(Block::ZERO, |sum, tag| sum ^ *tag);
        let mut hasher = blake3::Hasher::new_keyed(self.secret);
        hasher.update(&sum.to_bytes()).update(&rows.to_le_bytes());
        for totals in totals {
            hasher.update(&totals.scale.to_le_bytes());
        }
        for text in labels.iter().flat_map(|labels| &labels.texts) {
            let text = text.as_deref().unwrap_or_default();
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        hasher.finalize()
    }
}

/// Returns the sum of a block per record, encrypted.
fn sum(key: &Aes128, records: &Records<'_>, block: impl Fn(u32) -> Block) -> Block {
    let mut blocks = Vec::with_capacity(AT_ONCE as usize);
    let mut sum = Block::ZERO;
    let all = records.len() as u32;
    for start in (0..all).step_by(AT_ONCE as usize) {
        blocks.clear();
        blocks.extend((start..all.min(start + AT_ONCE)).map(&block));
        key.encrypt(&mut blocks);
        sum = blocks.iter().fold(sum, |sum, block| sum ^ *block);
    }
    sum
}

fn block(start: [u8; 12], row: u32) -> Block {
    let mut bytes = [0; 16];
    bytes[..12].copy_from_slice(&start);
    bytes[12..].copy_from_slice(&row.to_le_bytes());
    Block(u128::from_le_bytes(bytes))
}
