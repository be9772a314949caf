//! Puncturable pseudorandom functions: trees. The dealer knows all leaves. The receiver knows all
//! but one, at a position of its choice that the dealer does not learn. At that position the
//! receiver gets the dealer's leaf plus a difference that the dealer does not choose.
//!
//! **Functionality**, for each tree: the receiver chooses a position α; the dealer inputs Δ,
//! the same for all trees, and a share δ, the receiver a share γ. The dealer gets pseudorandom
//! leaves v, the receiver gets w with w_i = v_i for i ≠ α and w_α = v_α ⊕ δ ⊕ γ.
//!
//! **Source.** Half-tree (Guo et al., EUROCRYPT 2023) for all levels but the last, where one
//! node has 5 to 8 leaves. For a tree of 2^a nodes and c leaves per node, with correlated OTs
//! q, t = q ⊕ r·Δ (receiver's choice r):
//!
//! 1. The dealer draws k; the nodes of level 1 are k, k ⊕ Δ. Node x has the children H(x),
//!    H(x) ⊕ x, so that each level sums up to Δ. On level i = 1, …, a the dealer sends
//!    q_i ⊕ K_i, with K_i the sum of the left nodes. The receiver's r_i is the complement of
//!    the i-th bit of its path: it gets K_i ⊕ r_i·Δ, the sum of the nodes on the side that it does
//!    not go, and so the one that it misses there, the sibling of its path.
//! 2. The seed of a node x of level a is H(x), its leaves are π'(seed ⊕ j) ⊕ seed, j < c. From
//!    three further OTs, hashed, both get eight keys, but the receiver misses one (`few.rs`). The
//!    dealer sends the sum of all leaves number j under key number j, and the receiver, which knows
//!    this leaf of all nodes but one, learns it for that one as well; except number j = α mod c.
//!    The last sum goes under all keys that are left over: so *every* choice of a malicious
//!    receiver misses one leaf of the tree. If c − 1 < 7 keys were simply left unused, a receiver
//!    that missed one of those would learn every leaf, and with it Δ.
//! 3. The dealer sends d = δ ⊕ Σ v_i. The receiver's missing leaf is what is left of d ⊕ γ.
//!
//! Why not half-trees to the bottom: there the missing leaf would be H(x) for an x that the
//! receiver knows up to Δ, and it also learns this leaf plus Δ·β, for a β of its choice. That
//! asks for robustness against circular correlations by any field element, which H with its
//! linear σ does not have: if σ(Δ) = β·Δ has many solutions, few bits of Δ remain unknown.
//! Seeds depend on Δ only through H, and are not correlated any more. It also costs less: 1 +
//! 2/c calls of AES per leaf, instead of 1.5.
//!
//! **Security.** In the random-permutation model: H is circular correlation robust (the inputs,
//! known to the receiver up to Δ, are distinct except with probability 2^-128 per pair, because k
//! is the dealer's). Seeds are then uniform, and so are the keys of `few.rs`. As with any fixed-key
//! construction, an attacker that computes p permutations has an advantage of about p·q/2^127 for q
//! nodes on paths under one Δ, thousands per run.
//!
//! A malicious receiver has no message here but its OT choices, and any choices define α. A
//! malicious dealer can send wrong sums; the receiver's leaves are then wrong in a way that depends
//! on α. The caller's check bounds what it gains (`vole/check.rs`).
//!
//! **Cost** per tree: a + 3 correlated OTs; a + c + 5 blocks from the dealer; c·2^a + 2^(a+1)
//! calls of AES for each party. The positions of the leaves are number j of node x at j·2^a + x.

mod expand;
pub(crate) mod few;

use std::ops::Range;

use psijoin_block::Block;
use psijoin_params::lpn::RegularNoise;
use zeroize::Zeroizing;

use expand::Words;

/// Levels of the tree that gives the keys for the leaves.
const KEY_LEVELS: usize = RegularNoise::MAX_FANOUT.ilog2() as usize;

/// Its keys.
const KEYS: usize = RegularNoise::MAX_FANOUT;

/// Nodes that grow at once, so that short trees keep AES busy too: 64 KiB.
const NODES_AT_ONCE: usize = 4096;

/// Shape of the trees: 2^depth nodes, fanout leaves each.
#[derive(Clone, Copy)]
pub(crate) struct Shape {
    depth: usize,
    fanout: usize,
    /// All bits that leaves have; the others are zero.
    leaf_mask: Block,
}

impl Shape {
    pub(crate) fn new(noise: RegularNoise, leaf_mask: Block) -> Self {
        Self {
            depth: noise.depth(),
            fanout: noise.fanout(),
            leaf_mask,
        }
    }

    fn nodes(self) -> usize {
        1 << self.depth
    }

    /// Leaves of a tree.
    pub(crate) fn leaves(self) -> usize {
        self.fanout << self.depth
    }

    /// Returns the number of correlated OTs that a tree takes for its path.
    pub(crate) fn path_ots(self) -> usize {
        self.depth
    }

    /// Random OTs that a tree takes for the leaves.
    pub(crate) const LEAF_OTS: usize = KEY_LEVELS;

    /// Blocks that the dealer sends for a tree.
    pub(crate) fn correction_blocks(self) -> usize {
        self.depth + 2 * few::corrections(KEY_LEVELS) + self.fanout + 1
    }

    /// Trees that one task should grow.
    pub(crate) fn trees_at_once(self) -> usize {
        (NODES_AT_ONCE >> self.depth).max(1)
    }

    /// Returns the receiver's choices in the OTs for the path to `position`.
    pub(crate) fn path_choices(self, position: usize) -> impl Iterator<Item = bool> {
        let node = position % self.nodes();
        (0..self.depth)
            .rev()
            .map(move |level| node >> level & 1 == 0)
    }

    /// Returns the receiver's choices in the OTs for the leaves.
    pub(crate) fn leaf_choices(self, position: usize) -> impl Iterator<Item = bool> {
        let number = position / self.nodes();
        (0..KEY_LEVELS)
            .rev()
            .map(move |level| number >> level & 1 == 0)
    }
}

/// The parts of the corrections of a tree.
struct Parts {
    path: Range<usize>,
    keys: Range<usize>,
    sums: Range<usize>,
    last: usize,
}

impl Shape {
    fn parts(self) -> Parts {
        let keys = self.depth + 2 * few::corrections(KEY_LEVELS);
        Parts {
            path: 0..self.depth,
            keys: self.depth..keys,
            sums: keys..keys + self.fanout,
            last: keys + self.fanout,
        }
    }

    /// Returns the masks of the sums of leaves: a key each, the last one with all keys left over.
    fn masks(self, keys: &[Block; KEYS]) -> Zeroizing<[Block; KEYS]> {
        let mut masks = Zeroizing::new(*keys);
        for left_over in &keys[self.fanout..] {
            masks[self.fanout - 1] ^= *left_over;
        }
        masks
    }
}

/// The dealer's state for some trees.
#[derive(Clone, Copy)]
pub(crate) struct Dealer<'a> {
    pub(crate) shape: Shape,
    /// Δ.
    pub(crate) delta: &'a Block,
    /// k, one per tree.
    pub(crate) roots: &'a [Block],
    /// q of the OTs of the paths, tree by tree.
    pub(crate) path_ots: &'a [Block],
    /// Both keys of the OTs for the leaves, tree by tree.
    pub(crate) leaf_ots: &'a [[Block; 2]],
    /// δ, one per tree.
    pub(crate) shares: &'a [Block],
}

impl Dealer<'_> {
    /// Returns some of the trees.
    pub(crate) fn trees(&self, trees: Range<usize>) -> Self {
        Self {
            roots: &self.roots[trees.clone()],
            path_ots: per_tree(self.path_ots, &trees, self.shape.path_ots()),
            leaf_ots: per_tree(self.leaf_ots, &trees, Shape::LEAF_OTS),
            shares: &self.shares[trees],
            ..*self
        }
    }

    /// Grows the trees, and gives the messages for the receiver.
    pub(crate) fn grow(&self, leaves: &mut [Words], corrections: &mut [Block]) {
        let shape = self.shape;
        let nodes = self.nodes(corrections);
        let trees = nodes
            .chunks_exact(shape.nodes())
            .zip(leaves.chunks_exact_mut(shape.leaves()))
            .zip(corrections.chunks_exact_mut(shape.correction_blocks()))
            .zip(self.leaf_ots.chunks_exact(Shape::LEAF_OTS))
            .zip(self.shares);
        for ((((nodes, leaves), corrections), leaf_ots), share) in trees {
            let parts = shape.parts();
            let mut keys = Zeroizing::new([Block::ZERO; KEYS]);
            few::deal(
                leaf_ots,
                &mut *keys,
                bytemuck::cast_slice_mut(&mut corrections[parts.keys]),
            );
            let masks = shape.masks(&keys);
            let mut sums = Zeroizing::new([Block::ZERO; KEYS]);
            let sums = &mut sums[..shape.fanout];
            expand::grow(nodes, shape.leaf_mask, leaves, sums);
            corrections[parts.last] = *share ^ sum(sums);
            for ((sent, sum), mask) in corrections[parts.sums].iter_mut().zip(sums).zip(*masks) {
                *sent = *sum ^ mask;
            }
        }
    }

    /// Step 1: the nodes of the last level of all trees.
    fn nodes(&self, corrections: &mut [Block]) -> Zeroizing<Vec<Block>> {
        let shape = self.shape;
        let mut nodes = Zeroizing::new(vec![Block::ZERO; 2 * self.roots.len()]);
        for (pair, root) in nodes.as_chunks_mut::<2>().0.iter_mut().zip(self.roots) {
            *pair = [*root, *root ^ *self.delta];
        }
        for level in 0..shape.depth {
            if level > 0 {
                nodes = split(&nodes);
            }
            let trees = nodes
                .chunks_exact(2 << level)
                .zip(self.path_ots.chunks_exact(shape.path_ots()))
                .zip(corrections.chunks_exact_mut(shape.correction_blocks()));
            for ((nodes, ots), corrections) in trees {
                let path = shape.parts().path.start;
                corrections[path + level] = ots[level] ^ sum_of_side(nodes, 0);
            }
        }
        nodes
    }
}

/// The receiver's state for some trees.
#[derive(Clone, Copy)]
pub(crate) struct Receiver<'a> {
    pub(crate) shape: Shape,
    /// α, one per tree.
    pub(crate) positions: &'a [usize],
    /// t of the OTs of the paths, tree by tree.
    pub(crate) path_ots: &'a [Block],
    /// The chosen keys of the OTs for the leaves, tree by tree.
    pub(crate) leaf_ots: &'a [Block],
    /// γ, one per tree.
    pub(crate) shares: &'a [Block],
}

impl Receiver<'_> {
    /// Returns some of the trees.
    pub(crate) fn trees(&self, trees: Range<usize>) -> Self {
        Self {
            positions: &self.positions[trees.clone()],
            path_ots: per_tree(self.path_ots, &trees, self.shape.path_ots()),
            leaf_ots: per_tree(self.leaf_ots, &trees, Shape::LEAF_OTS),
            shares: &self.shares[trees],
            ..*self
        }
    }

    /// Grows the trees by what the dealer sent.
    ///
    /// The node on the path is unknown: its children and leaves come out wrong, and those that
    /// can be known are put right by what the sums lack.
    pub(crate) fn grow(&self, leaves: &mut [Words], corrections: &[Block]) {
        let shape = self.shape;
        let nodes = self.nodes(corrections);
        let trees = nodes
            .chunks_exact(shape.nodes())
            .zip(leaves.chunks_exact_mut(shape.leaves()))
            .zip(corrections.chunks_exact(shape.correction_blocks()))
            .zip(self.leaf_ots.chunks_exact(Shape::LEAF_OTS))
            .zip(self.shares.iter().zip(self.positions));
        for ((((nodes, leaves), corrections), leaf_ots), (share, position)) in trees {
            let parts = shape.parts();
            let (node, missing) = (position % shape.nodes(), position / shape.nodes());
            let mut keys = Zeroizing::new([Block::ZERO; KEYS]);
            few::puncture(
                leaf_ots,
                missing,
                &mut *keys,
                bytemuck::cast_slice(&corrections[parts.keys]),
            );
            let masks = shape.masks(&keys);
            let mut sums = Zeroizing::new([Block::ZERO; KEYS]);
            let sums = &mut sums[..shape.fanout];
            expand::grow(nodes, shape.leaf_mask, leaves, sums);

            let mut last = *share ^ corrections[parts.last];
            let sent = &corrections[parts.sums];
            for (number, sum) in sums.iter().enumerate() {
                let leaf = &mut leaves[number * shape.nodes() + node];
                let others = *sum ^ bytemuck::cast(*leaf);
                if number == missing {
                    last ^= others;
                } else {
                    let right = sent[number] ^ masks[number];
                    *leaf = bytemuck::cast(right ^ others);
                    last ^= right;
                }
            }
            leaves[*position] = bytemuck::cast(last);
        }
    }

    /// Step 1: the nodes of the last level, wrong on the path.
    fn nodes(&self, corrections: &[Block]) -> Zeroizing<Vec<Block>> {
        let shape = self.shape;
        let mut nodes = Zeroizing::new(vec![Block::ZERO; self.positions.len()]);
        for level in 0..shape.depth {
            nodes = split(&nodes);
            let trees = nodes
                .chunks_exact_mut(2 << level)
                .zip(self.path_ots.chunks_exact(shape.path_ots()))
                .zip(corrections.chunks_exact(shape.correction_blocks()))
                .zip(self.positions);
            for (((nodes, ots), corrections), position) in trees {
                let path = (position % shape.nodes()) >> (shape.depth - 1 - level);
                let sibling = path ^ 1;
                let sum = sum_of_side(nodes, sibling & 1);
                let start = shape.parts().path.start;
                nodes[sibling] ^= sum ^ corrections[start + level] ^ ots[level];
            }
        }
        nodes
    }
}

fn per_tree<'a, T>(all: &'a [T], trees: &Range<usize>, count: usize) -> &'a [T] {
    &all[trees.start * count..trees.end * count]
}

fn split(nodes: &[Block]) -> Zeroizing<Vec<Block>> {
    let mut children = Zeroizing::new(vec![Block::ZERO; 2 * nodes.len()]);
    expand::split(nodes, &mut children);
    children
}

fn sum(blocks: &[Block]) -> Block {
    blocks.iter().fold(Block::ZERO, |sum, block| sum ^ *block)
}

fn sum_of_side(nodes: &[Block], side: usize) -> Block {
    let (pairs, _) = nodes.as_chunks::<2>();
    pairs.iter().fold(Block::ZERO, |sum, pair| sum ^ pair[side])
}

#[cfg(test)]
mod tests;
