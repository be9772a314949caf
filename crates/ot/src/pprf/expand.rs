//! The kernels that grow a tree, from the hash H ([`crhf::circular`]) and AES under another public
//! key, π'.

use std::sync::LazyLock;

use psijoin_block::{Block, aes::Aes128, crhf};
use zeroize::Zeroize;

/// A block as the compiler's vectoriser likes it, and as the code takes it.
pub(crate) type Words = crate::block_accumulate::Words<2>;

/// Nodes that are hashed at once: the cipher is at full speed, and everything stays in the
/// first-level cache.
const BATCH: usize = 64;

/// π'. The key is the third 128 bits of the fractional part of π (the number).
static LEAF_PERMUTATION: LazyLock<Aes128> =
    LazyLock::new(|| Aes128::new(Block(0x4528_21e6_38d0_1377_be54_66cf_34e9_0c6c)));

/// Computes the children H(x) and H(x) ⊕ x of each node x. They sum up to x, so the sum of a level
/// is that of the level above.
pub(super) fn split(nodes: &[Block], children: &mut [Block]) {
    let mut hashes = [Block::ZERO; BATCH];
    for (nodes, children) in nodes.chunks(BATCH).zip(children.chunks_mut(2 * BATCH)) {
        let hashes = &mut hashes[..nodes.len()];
        crhf::circular(nodes, hashes);
        let (pairs, _) = words_mut(children).as_chunks_mut::<2>();
        for (pair, (hash, node)) in pairs.iter_mut().zip(words(hashes).iter().zip(words(nodes))) {
            *pair = [*hash, xor(*hash, *node)];
        }
    }
    hashes.zeroize();
}

/// Leaves of `nodes`: leaf number i of node x is G_i(H(x)) with G_i(s) = π'(s ⊕ i) ⊕ s, restricted
/// to the bits of `mask`. All leaves number 0 come first, then all leaves number 1, and so on.
/// Adds up the leaves of each number in `sums`.
pub(super) fn grow(nodes: &[Block], mask: Block, leaves: &mut [Words], sums: &mut [Block]) {
    let (mut seeds, mut images) = ([Block::ZERO; BATCH], [Block::ZERO; BATCH]);
    let mask = bytemuck::cast(mask);
    for (batch, nodes_of_batch) in nodes.chunks(BATCH).enumerate() {
        let seeds = &mut seeds[..nodes_of_batch.len()];
        crhf::circular(nodes_of_batch, seeds);
        for (number, sum) in sums.iter_mut().enumerate() {
            let leaves = &mut leaves[number * nodes.len() + batch * BATCH..][..seeds.len()];
            let number = [number as u64, 0];
            let images = &mut images[..seeds.len()];
            for (image, seed) in words_mut(images).iter_mut().zip(words(seeds)) {
                *image = xor(*seed, number);
            }
            LEAF_PERMUTATION.encrypt(images);
            let mut total = [0; 2];
            for (leaf, (image, seed)) in leaves
                .iter_mut()
                .zip(words(images).iter().zip(words(seeds)))
            {
                *leaf = and(xor(*image, *seed), mask);
                total = xor(total, *leaf);
            }
            *sum ^= bytemuck::cast(total);
        }
    }
    seeds.zeroize();
    images.zeroize();
}

fn words(blocks: &[Block]) -> &[Words] {
    bytemuck::cast_slice(blocks)
}

fn words_mut(blocks: &mut [Block]) -> &mut [Words] {
    bytemuck::cast_slice_mut(blocks)
}

#[inline(always)]
fn xor(a: Words, b: Words) -> Words {
    [a[0] ^ b[0], a[1] ^ b[1]]
}

#[inline(always)]
fn and(a: Words, b: Words) -> Words {
    [a[0] & b[0], a[1] & b[1]]
}

#[cfg(test)]
mod tests {
    use super::*;
    use psijoin_block::Prg;

    fn nodes(count: usize) -> Vec<Block> {
        let mut nodes = vec![Block::ZERO; count];
        Prg::from_seed(Block(3)).fill(&mut nodes);
        nodes
    }

    fn encrypt(permutation: &Aes128, block: Block) -> Block {
        let mut block = [block];
        permutation.encrypt(&mut block);
        block[0]
    }

    fn slow_hash(x: Block) -> Block {
        let mut hash = [Block::ZERO];
        crhf::circular(&[x], &mut hash);
        hash[0]
    }

    #[test]
    fn follow_their_formulas_at_every_length() {
        for count in [1, 2, BATCH, 2 * BATCH + 4] {
            let nodes = nodes(count);
            let mut children = vec![Block::ZERO; 2 * count];
            split(&nodes, &mut children);
            let (mut leaves, mut sums) = (vec![Block::ZERO; 3 * count], [Block::ZERO; 3]);
            let words = bytemuck::cast_slice_mut(&mut leaves);
            grow(&nodes, Block(!1), words, &mut sums);
            for (i, node) in nodes.iter().enumerate() {
                let seed = slow_hash(*node);
                assert!(children[2 * i] == seed && children[2 * i + 1] == seed ^ *node);
                for number in 0..3 {
                    let leaf = encrypt(&LEAF_PERMUTATION, seed ^ Block(number as u128)) ^ seed;
                    assert!(leaves[number * count + i] == leaf & Block(!1));
                }
            }
            for (number, sum) in sums.iter().enumerate() {
                let leaves = &leaves[number * count..][..count];
                assert!(leaves.iter().fold(*sum, |sum, leaf| sum ^ *leaf) == Block::ZERO);
            }
        }
    }
}
