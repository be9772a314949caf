//! Correlation-robust hashes from fixed-key AES (Guo, Katz, Wang, Yu, *Efficient and Secure
//! Multiparty Computation from Fixed-Key Block Ciphers*, S&P 2020), in the random-permutation
//! model. π is AES-128 under a public constant key.
//!
//! | function | construction | notion | for |
//! |---|---|---|---|
//! | [`correlation_robust`] | π(x) ⊕ x | correlation robust: H(x₁⊕R), H(x₂⊕R), … are random for *distinct* xᵢ and secret R | semi-honest OT extension, where the xᵢ are rows of a random matrix |
//! | [`circular`] | π'(σ(x)) ⊕ σ(x), with σ(high ‖ low) = (high ⊕ low) ‖ high | circular correlation robust: H(xᵢ⊕R) ⊕ bᵢ·R are random for *distinct* xᵢ, bits bᵢ and secret R | trees whose nodes differ by R |
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

/// π', of [`circular`]. The key is the next 128 bits.
static CIRCULAR: LazyLock<Aes128> =
    LazyLock::new(|| Aes128::new(Block(0xa409_3822_299f_31d0_082e_fa98_ec4e_6c89)));

/// Writes π'(σ(x)) ⊕ σ(x) for each block x. It is circular correlation robust, since σ and σ ⊕ 1
/// are invertible.
///
/// # Panics
/// If the slices differ in length.
pub fn circular(inputs: &[Block], outputs: &mut [Block]) {
    assert_eq!(inputs.len(), outputs.len(), "a hash for each block");
    for (inputs, outputs) in inputs.chunks(BATCH).zip(outputs.chunks_mut(BATCH)) {
        for (output, input) in outputs.iter_mut().zip(inputs) {
            *output = swapped(*input);
        }
        CIRCULAR.encrypt(outputs);
        for (output, input) in outputs.iter_mut().zip(inputs) {
            *output ^= swapped(*input);
        }
    }
}

/// Returns σ(x).
#[inline(always)]
fn swapped(x: Block) -> Block {
    let [low, high]: [u64; 2] = bytemuck::cast(x);
    bytemuck::cast([high, high ^ low])
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
            let mut circular = inputs.clone();
            correlation_robust(&mut plain);
            tweakable(1 << 40, &mut tweaked);
            super::circular(&inputs, &mut circular);
            for (i, x) in inputs.iter().enumerate() {
                assert!(plain[i] == permute(*x) ^ *x);
                let tweak = Block((1 << 40) + i as u128);
                assert!(tweaked[i] == permute(permute(*x) ^ tweak) ^ permute(*x));
                let (high, low) = (x.0 >> 64, x.0 & u128::from(u64::MAX));
                let sigma = Block((high ^ low) << 64 | high);
                let mut image = [sigma];
                CIRCULAR.encrypt(&mut image);
                assert!(circular[i] == image[0] ^ sigma);
            }
        }
    }
}
