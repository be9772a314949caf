//! Correlation-robust hashes from fixed-key AES (Guo, Katz, Wang, Yu, *Efficient and Secure
//! Multiparty Computation from Fixed-Key Block Ciphers*, S&P 2020), in the random-permutation
//! model. π is AES-128 under a public constant key.
//!
//! | function | construction | notion | for |
//! |---|---|---|---|
//! | [`correlation_robust`] | π(x) ⊕ x | correlation robust: H(x₁⊕R), H(x₂⊕R), … are random for *distinct* xᵢ and secret R | semi-honest OT extension, where the xᵢ are rows of a random matrix |
//! | [`tweakable`] | π(π(x) ⊕ i) ⊕ π(x) | tweakable circular correlation robust | whatever a malicious party can steer; garbling |
//!
//! π(x) ⊕ x is *not* tweakable: with tweaked inputs x ⊕ i it fails as soon as two of them
//! meet. Use [`tweakable`] wherever the other party chooses the inputs.

use std::sync::LazyLock;

use crate::{
    Block,
    aes::{Aes128, BATCH},
};

/// π. The key is the start of the fractional part of π, a nothing-up-my-sleeve number.
static PERMUTATION: LazyLock<Aes128> =
    LazyLock::new(|| Aes128::new(Block(0x243f_6a88_85a3_08d3_1319_8a2e_0370_7344)));

/// Replaces each block x by π(x) ⊕ x.
pub fn correlation_robust(blocks: &mut [Block]) {
    let mut images = [Block::ZERO; BATCH];
    for batch in blocks.chunks_mut(BATCH) {
        let images = &mut images[..batch.len()];
        images.copy_from_slice(batch);
        PERMUTATION.encrypt(images);
        for (block, image) in batch.iter_mut().zip(images) {
            *block ^= *image;
        }
    }
}

/// Replaces block x at position p by π(π(x) ⊕ i) ⊕ π(x), where i = `first_tweak` + p.
///
/// A tweak must serve one hash of each sort: never give two instances the same one.
pub fn tweakable(first_tweak: u64, blocks: &mut [Block]) {
    let mut images = [Block::ZERO; BATCH];
    let mut tweak = u128::from(first_tweak);
    for batch in blocks.chunks_mut(BATCH) {
        PERMUTATION.encrypt(batch);
        let images = &mut images[..batch.len()];
        for (image, block) in images.iter_mut().zip(batch.iter()) {
            *image = *block ^ Block(tweak);
            tweak += 1;
        }
        PERMUTATION.encrypt(images);
        for (block, image) in batch.iter_mut().zip(images) {
            *block ^= *image;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs(n: usize) -> Vec<Block> {
        let mut blocks = vec![Block::ZERO; n];
        crate::Prg::from_seed(Block(5)).fill(&mut blocks);
        blocks
    }

    fn permute(block: Block) -> Block {
        let mut block = [block];
        PERMUTATION.encrypt(&mut block);
        block[0]
    }

    #[test]
    fn follow_their_formulas_at_every_length() {
        for n in [0, 1, BATCH - 1, BATCH, 2 * BATCH + 3] {
            let inputs = inputs(n);
            let (mut plain, mut tweaked) = (inputs.clone(), inputs.clone());
            correlation_robust(&mut plain);
            tweakable(1 << 40, &mut tweaked);
            for (i, x) in inputs.iter().enumerate() {
                assert!(plain[i] == permute(*x) ^ *x);
                let tweak = Block((1 << 40) + i as u128);
                assert!(tweaked[i] == permute(permute(*x) ^ tweak) ^ permute(*x));
            }
        }
    }
}
