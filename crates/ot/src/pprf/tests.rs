use psijoin_block::Prg;
use psijoin_params::lpn::{MIN_LEN, NoiseValues};

use super::*;

/// Everything that both parties bring, except the receiver's choices.
struct Setting {
    shape: Shape,
    delta: Block,
    roots: Vec<Block>,
    path_ots: Vec<Block>,
    leaf_ots: Vec<[Block; 2]>,
    shares: Vec<Block>,
    trees: usize,
}

fn blocks(rng: &mut Prg, count: usize) -> Vec<Block> {
    let mut blocks = vec![Block::ZERO; count];
    rng.fill(&mut blocks);
    blocks
}

impl Setting {
    fn new(depth: usize, fanout: usize, trees: usize) -> Self {
        let rng = &mut Prg::from_seed(Block((depth * 8 + fanout) as u128));
        Self {
            shape: Shape {
                depth,
                fanout,
                leaf_mask: Block::ONES,
            },
            delta: rng.block(),
            roots: blocks(rng, trees),
            path_ots: blocks(rng, trees * depth),
            leaf_ots: (0..trees * Shape::LEAF_OTS)
                .map(|_| [rng.block(), rng.block()])
                .collect(),
            shares: blocks(rng, trees),
            trees,
        }
    }

    fn dealer(&self) -> Dealer<'_> {
        Dealer {
            shape: self.shape,
            delta: &self.delta,
            roots: &self.roots,
            path_ots: &self.path_ots,
            leaf_ots: &self.leaf_ots,
            shares: &self.shares,
        }
    }

    fn dealt(&self) -> (Vec<Block>, Vec<Block>) {
        let mut leaves = vec![Block::ONES; self.trees * self.shape.leaves()];
        let mut corrections = vec![Block::ONES; self.trees * self.shape.correction_blocks()];
        self.dealer()
            .grow(bytemuck::cast_slice_mut(&mut leaves), &mut corrections);
        (leaves, corrections)
    }

    /// Returns the receiver's leaves.
    fn received(&self, positions: &[usize], corrections: &[Block]) -> Vec<Block> {
        let shape = self.shape;
        let choices = positions.iter().flat_map(|p| shape.path_choices(*p));
        let path_ots: Vec<Block> = self
            .path_ots
            .iter()
            .zip(choices)
            .map(|(q, choice)| *q ^ (self.delta & Block::splat(choice)))
            .collect();
        let choices = positions.iter().flat_map(|p| shape.leaf_choices(*p));
        let leaf_ots: Vec<Block> = self
            .leaf_ots
            .iter()
            .zip(choices)
            .map(|(keys, choice)| keys[usize::from(choice)])
            .collect();
        let receiver = Receiver {
            shape,
            positions,
            path_ots: &path_ots,
            leaf_ots: &leaf_ots,
            shares: &vec![Block::ZERO; self.trees],
        };
        let mut leaves = vec![Block::ONES; self.trees * shape.leaves()];
        receiver.grow(bytemuck::cast_slice_mut(&mut leaves), corrections);
        leaves
    }
}

#[test]
fn every_position_of_every_shape() {
    for (depth, fanout) in [(1, 5), (1, 8), (2, 6), (3, 7), (4, 5), (7, 8)] {
        let leaves = fanout << depth;
        let setting = Setting::new(depth, fanout, leaves);
        let positions: Vec<usize> = (0..leaves).collect();
        let (dealt, corrections) = setting.dealt();
        let received = setting.received(&positions, &corrections);
        for tree in 0..leaves {
            for leaf in 0..leaves {
                let at = tree * leaves + leaf;
                let difference = dealt[at] ^ received[at];
                let expected = if leaf == tree {
                    setting.shares[tree]
                } else {
                    Block::ZERO
                };
                assert!(difference == expected, "leaf {leaf} of tree {tree}");
            }
        }
        let distinct: std::collections::HashSet<_> = dealt.iter().collect();
        assert_eq!(distinct.len(), dealt.len());
    }
}

/// The part of the trees that a task gets is what it would be on its own.
#[test]
fn trees_do_not_depend_on_their_neighbours() {
    let setting = Setting::new(3, 6, 5);
    let shape = setting.shape;
    let (dealt, sent) = setting.dealt();
    let mut leaves = vec![Block::ZERO; 2 * shape.leaves()];
    let mut corrections = vec![Block::ZERO; 2 * shape.correction_blocks()];
    setting
        .dealer()
        .trees(2..4)
        .grow(bytemuck::cast_slice_mut(&mut leaves), &mut corrections);
    assert!(leaves == dealt[2 * shape.leaves()..4 * shape.leaves()]);
    assert!(corrections == sent[2 * shape.correction_blocks()..4 * shape.correction_blocks()]);
}

#[test]
fn masked_leaves_stay_masked() {
    let mut setting = Setting::new(2, 5, 20);
    setting.shape.leaf_mask = Block(!1);
    setting.delta = Block(setting.delta.0 | 1);
    setting.shares = vec![setting.delta; 20];
    let (dealt, corrections) = setting.dealt();
    assert!(dealt.iter().all(|leaf| !leaf.bit(0)));
    let positions: Vec<usize> = (0..20).collect();
    let received = setting.received(&positions, &corrections);
    for (at, leaf) in received.iter().enumerate() {
        assert_eq!(leaf.bit(0), at / 20 == at % 20);
    }
}

/// Whichever of the eight keys a receiver misses, even one that goes with no leaf, it misses
/// the mask of one of the sums.
#[test]
fn every_choice_misses_a_leaf() {
    for fanout in 5..=KEYS {
        let shape = Setting::new(1, fanout, 1).shape;
        let keys: [Block; KEYS] = std::array::from_fn(|i| Block(1 << i));
        let masks = shape.masks(&keys);
        for missing in 0..KEYS {
            let mut punctured = keys;
            punctured[missing] = Block::ZERO;
            let known = shape.masks(&punctured);
            let unknown = (0..fanout).filter(|j| masks[*j] != known[*j]);
            assert!(unknown.eq([missing.min(fanout - 1)]));
        }
    }
}

#[test]
fn takes_the_shape_of_the_noise() {
    let noise = RegularNoise::new(MIN_LEN, NoiseValues::Uniform { bits: 64 });
    let shape = Shape::new(noise, Block::ONES);
    assert_eq!(shape.leaves(), noise.block_len());
    assert!(shape.trees_at_once() > 1);
}
