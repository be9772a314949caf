//! The columns of the matrices, expanded from the seeds of the OTs, one bin at a time.

use psijoin_block::{Block, Prg, blake3_rows};
use zeroize::Zeroize;

use crate::seeds::{ChosenSeeds, SeedPairs};

/// The receiver's columns A_i and A'_i.
pub(super) struct ReceiverColumns(Vec<[Prg; 2]>);

impl ReceiverColumns {
    /// Derives the keys of the columns, which are hashes of the seeds.
    pub(super) fn new(seeds: &SeedPairs, key: &[u8; 32]) -> Self {
        let numbers = (0..).flat_map(|column| [column; 2]);
        let columns = generators(numbers.zip(seeds.0.as_flattened()), key);
        let mut columns = columns.into_iter();
        let mut pair = || Some([columns.next()?, columns.next()?]);
        Self(std::iter::from_fn(&mut pair).collect())
    }

    /// Expands a bin of A_i and A'_i.
    pub(super) fn expand(&self, column: usize, bin: usize, [a, other]: [&mut [Block]; 2]) {
        let [first, second] = &self.0[column];
        first.fill_at(first_block(bin, a), a);
        second.fill_at(first_block(bin, other), other);
    }
}

/// The sender's columns, and s.
pub(super) struct SenderColumns {
    columns: Vec<Prg>,
    seeds: ChosenSeeds,
}

impl SenderColumns {
    /// Derives the keys of the columns, which are hashes of the seeds.
    pub(super) fn new(seeds: ChosenSeeds, key: &[u8; 32]) -> Self {
        Self {
            columns: generators((0..).zip(seeds.seeds.iter()), key),
            seeds,
        }
    }

    /// Expands a bin of C_i, from that of Δ_i as it was sent.
    pub(super) fn expand(&self, column: usize, bin: usize, sent: &[u8], blocks: &mut [Block]) {
        let choices = self.seeds.delta[column / Block::BITS];
        let chosen = Block::splat(choices.bit(column % Block::BITS));
        self.columns[column].fill_at(first_block(bin, blocks), blocks);
        for (block, sent) in blocks.iter_mut().zip(sent.as_chunks().0) {
            *block ^= Block::from_bytes(*sent) & chosen;
        }
    }
}

/// Returns the number of a bin's first block in its column.
fn first_block(bin: usize, blocks: &[Block]) -> u128 {
    bin as u128 * blocks.len() as u128
}

/// Returns a generator from each seed and the number of its column.
fn generators<'a>(seeds: impl Iterator<Item = (u64, &'a Block)>, key: &[u8; 32]) -> Vec<Prg> {
    let mut rows: Vec<[u64; 3]> = seeds
        .map(|(column, seed)| [column, seed.0 as u64, (seed.0 >> 64) as u64])
        .collect();
    let mut keys = vec![[0_u64; 2]; rows.len()];
    blake3_rows::keyed_hash(key, &rows, &mut keys);
    rows.as_flattened_mut().zeroize();
    let generators = keys
        .iter()
        .map(|[low, high]| Prg::from_seed(Block(u128::from(*low) | u128::from(*high) << 64)))
        .collect();
    keys.as_flattened_mut().zeroize();
    generators
}

#[cfg(test)]
mod tests {
    use zeroize::Zeroizing;

    use super::*;

    const COLUMNS: usize = 130;
    const BLOCKS: usize = 3;

    fn random(count: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; count];
        Prg::from_seed(Block(count as u128)).fill(&mut blocks);
        blocks
    }

    fn pairs() -> SeedPairs {
        SeedPairs(Zeroizing::new(random(2 * COLUMNS).as_chunks().0.to_vec()))
    }

    fn expand(columns: &ReceiverColumns, column: usize, bin: usize) -> [[Block; BLOCKS]; 2] {
        let mut pair = [[Block::ZERO; BLOCKS]; 2];
        let [a, other] = &mut pair;
        columns.expand(column, bin, [a, other]);
        pair
    }

    /// Figure 4: C_i is A_i or B_i = A_i ⊕ D_i.
    #[test]
    fn the_sender_gets_the_column_that_it_chose() {
        let pairs = pairs();
        let choices = random(2);
        let bit = |column: usize| choices[column / 128].bit(column % 128);
        let chosen = (0..COLUMNS).map(|i| pairs.0[i][usize::from(bit(i))]);
        let seeds = ChosenSeeds {
            seeds: Zeroizing::new(chosen.collect()),
            delta: Zeroizing::new(choices.clone()),
        };
        let receivers = ReceiverColumns::new(&pairs, &[1; 32]);
        let senders = SenderColumns::new(seeds, &[1; 32]);
        let d = random(BLOCKS);
        for column in 0..COLUMNS {
            for bin in 0..2 {
                let [a, other] = expand(&receivers, column, bin);
                let sent: Vec<Block> = (0..BLOCKS).map(|i| a[i] ^ other[i] ^ d[i]).collect();
                let mut c = [Block::ZERO; BLOCKS];
                senders.expand(column, bin, bytemuck::cast_slice(&sent), &mut c);
                let d = |i: usize| d[i] & Block::splat(bit(column));
                assert!((0..BLOCKS).all(|i| c[i] == a[i] ^ d(i)), "{column}");
            }
        }
    }

    /// A party that chooses its own OT seeds does not control its columns: the key comes later.
    #[test]
    fn equal_seeds_make_other_columns_in_every_place_and_under_every_key() {
        let pairs = SeedPairs(Zeroizing::new(vec![[Block(5); 2]; COLUMNS]));
        let mut first_blocks = std::collections::HashSet::new();
        for key in [[1; 32], [2; 32]] {
            let columns = ReceiverColumns::new(&pairs, &key);
            for column in 0..COLUMNS {
                for bin in 0..2 {
                    first_blocks.insert(expand(&columns, column, bin)[0][0]);
                }
            }
        }
        assert_eq!(first_blocks.len(), 4 * COLUMNS);
    }
}
