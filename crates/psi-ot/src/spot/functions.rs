use psijoin_block::{
    Block,
    aes::Aes128,
    blake3_rows,
    gf2k::{Element, Field},
    select,
};
use psijoin_channel::joint_seed::JointSeed;
use psijoin_encode::{Digests, okvs::bin_of};

use super::{Extension, ROW_WORDS, WIDE_ROW_WORDS};

/// The functions that both parties expand from the joint seed.
///
/// Everything is a function of the first 128 bits of an item's digest, which is a uniform hash of
/// the item. The bucket comes from these bits themselves. Bins, points and selectors come from
/// AES of them, each under keys of their own.
pub(crate) struct Functions {
    pub(crate) field: Field,
    pub(crate) row_words: usize,
    /// Points and selectors, under each of the hash functions that led to a bin.
    points: [Aes128; 2],
    selectors: [Aes128; 2],
    output_key: [u8; 32],
}

/// Items of sets of points that have the same buckets.
#[derive(Clone, Copy)]
pub(crate) struct Group<'a> {
    pub(crate) digests: Digests<'a>,
    /// How many items in a row are there by their first hash function, then by their second one,
    /// then by their first one, and so on.
    pub(crate) runs: &'a [usize],
}

/// Points and selectors of a group, and room to compute with them.
#[derive(Default)]
pub(crate) struct Selection {
    pub(crate) points: Vec<Element>,
    selectors: Vec<Block>,
    blocks: Vec<Block>,
    /// The items of one bucket.
    members: Vec<usize>,
    chosen: Vec<Block>,
    sums: Vec<u64>,
}

/// Returns the first 128 bits of each digest.
pub(crate) fn blocks(digests: Digests<'_>) -> impl Iterator<Item = Block> {
    (0..digests.len()).map(move |i| {
        let [low, high, ..] = digests.words(i);
        Block(u128::from(high) << 64 | u128::from(low))
    })
}

impl Functions {
    pub(crate) fn new(extension: &Extension, joint_seed: &JointSeed) -> Self {
        let seed = joint_seed.short_key("psijoin 2026 spot points and selectors");
        let mut keys = [0, 1, 2, 3].map(Block);
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        let [first, second, third, fourth] = keys.map(Aes128::new);
        Self {
            field: extension.field(),
            row_words: extension.row_shape().words,
            points: [first, second],
            selectors: [third, fourth],
            output_key: joint_seed.key("psijoin 2026 spot outputs"),
        }
    }

    /// Computes H of rows and the items that they belong to.
    pub(crate) fn outputs(&self, rows: &[u64], digests: Digests<'_>, outputs: &mut [u128]) {
        match (self.row_words, digests) {
            (ROW_WORDS, Digests::Short(_)) => self.hash::<ROW_WORDS, 10>(rows, digests, outputs),
            (ROW_WORDS, Digests::Long(_)) => self.hash::<ROW_WORDS, 12>(rows, digests, outputs),
            (_, Digests::Short(_)) => self.hash::<WIDE_ROW_WORDS, 18>(rows, digests, outputs),
            (_, Digests::Long(_)) => self.hash::<WIDE_ROW_WORDS, 20>(rows, digests, outputs),
        }
    }

    /// Hashes rows of R words, or `WORDS` with a digest.
    fn hash<const R: usize, const WORDS: usize>(
        &self,
        rows: &[u64],
        digests: Digests<'_>,
        outputs: &mut [u128],
    ) {
        const BATCH: usize = 64;
        let mut inputs = [[0; WORDS]; BATCH];
        let batches = rows
            .as_chunks::<R>()
            .0
            .chunks(BATCH)
            .zip(digests.chunks(BATCH));
        for ((rows, digests), outputs) in batches.zip(outputs.chunks_mut(BATCH)) {
            let inputs = &mut inputs[..rows.len()];
            for (i, (input, row)) in inputs.iter_mut().zip(rows).enumerate() {
                let (start, end) = input.split_at_mut(R);
                start.copy_from_slice(row);
                end.copy_from_slice(&digests.words(i)[..WORDS - R]);
            }
            let outputs: &mut [[u64; 2]] = bytemuck::cast_slice_mut(outputs);
            blake3_rows::keyed_hash(&self.output_key, inputs, outputs);
        }
    }
}

impl Selection {
    /// Computes points and selectors.
    pub(crate) fn prepare(&mut self, functions: &Functions, group: Group<'_>) {
        self.blocks.clear();
        self.blocks.extend(blocks(group.digests));
        self.selectors.clone_from(&self.blocks);
        for (blocks, ciphers) in [
            (&mut self.blocks, &functions.points),
            (&mut self.selectors, &functions.selectors),
        ] {
            let mut rest = &mut blocks[..];
            for (len, cipher) in group.runs.iter().zip(ciphers.iter().cycle()) {
                cipher.encrypt(rest.split_off_mut(..*len).expect("runs of the items"));
            }
        }
        let point = |block: &Block| {
            let words = [block.0 as u64, (block.0 >> 64) as u64];
            functions.field.from_words(words)
        };
        self.points.clear();
        self.points.extend(self.blocks.iter().map(point));
    }

    /// Computes the rows of the prepared items, given those of all their buckets, one bucket after
    /// the other.
    pub(crate) fn rows(
        &mut self,
        digests: Digests<'_>,
        row_words: usize,
        buckets: &[u64],
        rows: &mut [u64],
    ) {
        let bucket_words = select::ROWS * row_words;
        let count = buckets.len() / bucket_words;
        if count == 1 {
            return select::sums(row_words, buckets, &self.selectors, rows);
        }
        for (bucket, matrix) in (0..).zip(buckets.chunks_exact(bucket_words)) {
            let is_member = |item: &usize| bin_of(digests.words(*item)[0], count as u32) == bucket;
            self.members.clear();
            self.members.extend((0..digests.len()).filter(is_member));
            self.chosen.clear();
            self.chosen
                .extend(self.members.iter().map(|item| self.selectors[*item]));
            self.sums.resize(self.chosen.len() * row_words, 0);
            select::sums(row_words, matrix, &self.chosen, &mut self.sums);
            let sums = self.sums.chunks_exact(row_words);
            for (item, sum) in self.members.iter().zip(sums) {
                rows[item * row_words..][..row_words].copy_from_slice(sum);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use psijoin_params::sparse_ot::Buckets;

    use super::*;

    /// The hash function's number is part of the item: of both points and selectors, and there
    /// is no item whose first ones are another's second ones.
    #[test]
    fn items_have_unrelated_points_under_both_hash_functions() {
        let extension = Extension {
            field_bits: 55,
            slices: 4,
            buckets: Buckets {
                polynomials: 1,
                count: 1,
            },
        };
        let functions = Functions::new(&extension, &JointSeed::insecure_fixed([3; 32]));
        // Consecutive numbers, each as the first and as the second.
        let digests: Vec<[u8; 16]> = (0..1000_u128)
            .chain(0..1000)
            .map(u128::to_le_bytes)
            .collect();
        let group = Group {
            digests: Digests::Short(&digests),
            runs: &[1000, 1000],
        };
        let mut selection = Selection::default();
        selection.prepare(&functions, group);
        let points = selection
            .points
            .iter()
            .map(|point| functions.field.to_words(*point));
        assert_eq!(points.collect::<HashSet<_>>().len(), 2000);
        let selectors: HashSet<Block> = selection.selectors.iter().copied().collect();
        assert_eq!(selectors.len(), 2000);
        assert!(selectors.is_disjoint(&selection.blocks.iter().copied().collect()));
    }
}
