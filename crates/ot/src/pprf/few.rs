//! A GGM tree of a few leaves, punctured at one: 2^d keys, and the receiver misses one of them.
//!
//! Each of the d levels takes one random OT. The receiver's choice there is the side that it
//! does *not* go; the keys of the first OT are the two nodes of the first level. On each further
//! level the dealer sends the sum of the nodes of either side, masked with the OT's keys: two
//! blocks. (Goldreich, Goldwasser, Micali 1986; as a PPRF from OT: Schoppmann et al., CCS 2019.)
//!
//! Whatever choices a malicious receiver makes, it misses one key; whatever a malicious dealer
//! sends, the receiver gets *some* keys.

use psijoin_block::{Block, crhf};
use subtle::{ConditionallySelectable, ConstantTimeEq};

/// The dealer's message for one level: the masked sums of both sides.
pub(crate) type Correction = [Block; 2];

/// Corrections that the dealer sends for a tree of `levels` levels.
pub(crate) const fn corrections(levels: usize) -> usize {
    levels - 1
}

/// Does the dealer's side: all keys, from both keys of one OT per level.
pub(crate) fn deal(ots: &[[Block; 2]], keys: &mut [Block], corrections: &mut [Correction]) {
    let (first, rest) = ots.split_first().expect("a tree has a level");
    keys[..2].copy_from_slice(first);
    for (level, (masks, correction)) in rest.iter().zip(corrections).enumerate() {
        let nodes = &mut keys[..4 << level];
        split(nodes);
        *correction = [0, 1].map(|side| masks[side] ^ sum_of_side(nodes, side));
    }
}

/// Does the receiver's side: all keys but the one at `missing`, which comes out as zero. The key of
/// the OT of a level is that of the side where `missing` is not; the most significant bit of
/// `missing` counts on the first level.
///
/// `missing` may be made of a Δ that serves for long: it steers no index and no branch.
pub(crate) fn puncture(
    ots: &[Block],
    missing: usize,
    keys: &mut [Block],
    corrections: &[Correction],
) {
    let (first, rest) = ots.split_first().expect("a tree has a level");
    let levels = ots.len();
    let path = |level: usize| missing >> (levels - 1 - level);
    keys[..2].fill(Block::ZERO);
    replace(&mut keys[..2], path(0) ^ 1, *first);
    for (level, (mask, correction)) in (1..).zip(rest.iter().zip(corrections)) {
        let nodes = &mut keys[..2 << level];
        split(nodes);
        let sibling = path(level) ^ 1;
        replace(nodes, sibling, Block::ZERO);
        replace(nodes, sibling ^ 1, Block::ZERO);
        let right = [0, 1].map(|side| *mask ^ correction[side] ^ sum_of_side(nodes, side));
        replace(nodes, sibling, select(&right, sibling & 1));
    }
}

/// Returns the block with a secret number.
pub(crate) fn select(blocks: &[Block], secret: usize) -> Block {
    let mut selected = Block::ZERO;
    for (number, block) in blocks.iter().enumerate() {
        selected.conditional_assign(block, number.ct_eq(&secret));
    }
    selected
}

/// Puts `block` in the place of that with a secret number.
fn replace(blocks: &mut [Block], secret: usize, block: Block) {
    for (number, place) in blocks.iter_mut().enumerate() {
        place.conditional_assign(&block, number.ct_eq(&secret));
    }
}

/// Turns the first half of `nodes` into its children: node x has x ↦ H(x), H(x ⊕ 1) for
/// H(x) = π(x) ⊕ x. Nodes are secret and uniform, so this is a PRG in the random-permutation
/// model.
fn split(nodes: &mut [Block]) {
    for parent in (0..nodes.len() / 2).rev() {
        nodes[2 * parent + 1] = nodes[parent] ^ Block(1);
        nodes[2 * parent] = nodes[parent];
    }
    crhf::correlation_robust(nodes);
}

fn sum_of_side(nodes: &[Block], side: usize) -> Block {
    let nodes = nodes.iter().skip(side).step_by(2);
    nodes.fold(Block::ZERO, |sum, node| sum ^ *node)
}

#[cfg(test)]
mod tests {
    use super::*;
    use psijoin_block::Prg;

    #[test]
    fn receiver_gets_all_keys_but_one() {
        let mut rng = Prg::from_seed(Block(1));
        for levels in 1..=4 {
            for missing in 0..1 << levels {
                let ots: Vec<[Block; 2]> =
                    (0..levels).map(|_| [rng.block(), rng.block()]).collect();
                let chosen: Vec<Block> = (0..levels)
                    .map(|level| ots[level][1 - (missing >> (levels - 1 - level) & 1)])
                    .collect();
                let mut sent = vec![[Block::ZERO; 2]; corrections(levels)];
                let mut all = vec![Block::ZERO; 1 << levels];
                let mut punctured = vec![Block(7); 1 << levels];
                deal(&ots, &mut all, &mut sent);
                puncture(&chosen, missing, &mut punctured, &sent);
                assert!(all[missing] != Block::ZERO);
                all[missing] = Block::ZERO;
                assert!(all == punctured);
                let distinct: std::collections::HashSet<_> = all.iter().collect();
                assert_eq!(distinct.len(), all.len());
            }
        }
    }
}
