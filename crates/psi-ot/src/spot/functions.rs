use psijoin_block::{
    Block,
    aes::Aes128,
    blake3_rows,
    gf2k::{Element, Field},
    select,
};
use psijoin_encode::{TwoChoiceHasher, okvs::bin_of};

use super::Extension;
use crate::{Input, items::words, ot_matrix::Row};

/// What both expand from the joint seed.
///
/// Everything is a function of the first 128 bits of an item's digest, which is a uniform hash of
/// the item. The bucket comes from these bits themselves, bins, points and selectors from
/// AES of them under keys of their own.
pub(crate) struct Functions {
    pub(crate) field: Field,
    /// Points and selectors, under each of the hash functions that led to a bin.
    points: [Aes128; 2],
    selectors: [Aes128; 2],
    output_key: [u8; 32],
}

/// Items of one set of points, whose rows come from the same buckets.
#[derive(Default)]
pub(crate) struct Group<const R: usize> {
    pub(crate) points: Vec<Element>,
    selectors: Vec<Block>,
    blocks: Vec<Block>,
    /// Items of one bucket.
    members: Vec<usize>,
    chosen: Vec<Block>,
    sums: Vec<Row<R>>,
}

/// The first 128 bits of a digest.
#[inline]
fn block<const D: usize>(digest: &[u8; D]) -> Block {
    Block::from_bytes(std::array::from_fn(|i| digest[i]))
}

impl Functions {
    pub(crate) fn new(extension: &Extension, input: &Input<'_>) -> Self {
        let seed = input.joint_key("psijoin 2026 spot points and selectors");
        let mut keys = [0, 1, 2, 3].map(Block);
        let seed = seed[..16].try_into().expect("16 of 32 bytes");
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        let [first, second, third, fourth] = keys.map(Aes128::new);
        Self {
            field: extension.field(),
            points: [first, second],
            selectors: [third, fourth],
            output_key: input.joint_key("psijoin 2026 spot outputs"),
        }
    }

    /// The function that says which two bins an item may be in.
    pub(crate) fn bins(input: &Input<'_>, bins: u32) -> TwoChoiceHasher {
        let seed = input.joint_key("psijoin 2026 spot bins");
        TwoChoiceHasher::new(seed[..16].try_into().expect("16 of 32 bytes"), bins)
    }

    /// Both bins of each item.
    pub(crate) fn hash_to_bins<const D: usize>(
        hasher: &TwoChoiceHasher,
        digests: &[[u8; D]],
        choices: &mut [[u32; 2]],
    ) {
        let blocks: Vec<Block> = digests.iter().map(block).collect();
        hasher.hash(&blocks, choices);
    }

    /// H of rows and the items that they belong to.
    pub(crate) fn outputs<const D: usize, const R: usize>(
        &self,
        rows: &[Row<R>],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        match (D, R) {
            (16, 8) => self.hash::<D, R, 10>(rows, digests, outputs),
            (_, 8) => self.hash::<D, R, 12>(rows, digests, outputs),
            (16, _) => self.hash::<D, R, 18>(rows, digests, outputs),
            _ => self.hash::<D, R, 20>(rows, digests, outputs),
        }
    }

    fn hash<const D: usize, const R: usize, const WORDS: usize>(
        &self,
        rows: &[Row<R>],
        digests: &[[u8; D]],
        outputs: &mut [u128],
    ) {
        const BATCH: usize = 64;
        let mut inputs = [[0; WORDS]; BATCH];
        let batches = rows.chunks(BATCH).zip(digests.chunks(BATCH));
        for ((rows, digests), outputs) in batches.zip(outputs.chunks_mut(BATCH)) {
            let inputs = &mut inputs[..rows.len()];
            for (input, (row, digest)) in inputs.iter_mut().zip(rows.iter().zip(digests)) {
                let (start, end) = input.split_at_mut(R);
                start.copy_from_slice(row);
                end.copy_from_slice(&words::<4>(digest)[..WORDS - R]);
            }
            let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
            blake3_rows::keyed_hash(&self.output_key, inputs, outputs);
        }
    }
}

impl<const R: usize> Group<R> {
    /// Computes points and selectors of items, of which the first `firsts` are there by their
    /// first hash function, and the others by their second one.
    pub(crate) fn prepare<const D: usize>(
        &mut self,
        functions: &Functions,
        digests: &[[u8; D]],
        firsts: usize,
    ) {
        self.blocks.clear();
        self.blocks.extend(digests.iter().map(block));
        self.selectors.clone_from(&self.blocks);
        for (blocks, ciphers) in [
            (&mut self.blocks, &functions.points),
            (&mut self.selectors, &functions.selectors),
        ] {
            let (firsts, seconds) = blocks.split_at_mut(firsts);
            ciphers[0].encrypt(firsts);
            ciphers[1].encrypt(seconds);
        }
        let point = |block: &Block| {
            functions
                .field
                .from_words([block.0 as u64, (block.0 >> 64) as u64])
        };
        self.points.clear();
        self.points.extend(self.blocks.iter().map(point));
    }

    /// The rows of the items, which are all in one bucket, given that.
    pub(crate) fn rows_of_bucket(&self, bucket: &[Row<R>], rows: &mut [Row<R>]) {
        select::sums(bucket, &self.selectors, rows);
    }

    /// The rows of the items, given those of all buckets of this set of points, one bucket after
    /// the other.
    pub(crate) fn rows<const D: usize>(
        &mut self,
        digests: &[[u8; D]],
        buckets: &[Row<R>],
        rows: &mut [Row<R>],
    ) {
        let count = buckets.len() / select::ROWS;
        if count == 1 {
            return self.rows_of_bucket(buckets, rows);
        }
        for (bucket, matrix) in (0..).zip(buckets.chunks_exact(select::ROWS)) {
            self.members.clear();
            let digests = digests.iter().enumerate();
            let members = digests.filter(|(_, digest)| bin_of(digest, count as u32) == bucket);
            self.members.extend(members.map(|(item, _)| item));
            self.chosen.clear();
            self.chosen
                .extend(self.members.iter().map(|item| self.selectors[*item]));
            self.sums.resize(self.chosen.len(), [0; R]);
            select::sums(matrix, &self.chosen, &mut self.sums);
            for (item, sum) in self.members.iter().zip(&self.sums) {
                rows[*item] = *sum;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    /// The hash function's number is part of the item: of both points and selectors, and there
    /// is no item whose first ones are another's second ones.
    #[test]
    fn items_have_unrelated_points_under_both_hash_functions() {
        let extension = Extension {
            field_bits: 55,
            slices: 4,
            buckets: 1,
        };
        let items = crate::Items::Short(Vec::new());
        let input = Input {
            items: &items,
            columns: &[],
            joint_seed: &[3; 32],
        };
        let functions = Functions::new(&extension, &input);
        // Consecutive numbers, each as the first and as the second.
        let digests: Vec<[u8; 16]> = (0..1000_u128)
            .chain(0..1000)
            .map(u128::to_le_bytes)
            .collect();
        let mut group = Group::<8>::default();
        group.prepare(&functions, &digests, 1000);
        let points = group
            .points
            .iter()
            .map(|point| functions.field.to_words(*point));
        assert_eq!(points.collect::<HashSet<_>>().len(), 2000);
        let selectors: HashSet<Block> = group.selectors.iter().copied().collect();
        assert_eq!(selectors.len(), 2000);
        assert!(selectors.is_disjoint(&group.blocks.iter().copied().collect()));
    }
}
