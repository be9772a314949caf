//! Steps 3 to 6: the trees of all lanes. A batch of lanes grows at once, node by node: the same
//! node of all of its lanes, then the next one.

use std::ops::Range;

use psijoin_block::{Block, crhf};
use psijoin_circuit::Bits;
use psijoin_psi::Role;
use psijoin_runtime::{memory::Buffer, parallel};
use zeroize::Zeroizing;

use super::{Shape, paths::Shares};

/// Lanes that grow together: enough nodes to keep AES busy, and few enough for the caches.
const LANES_AT_ONCE: usize = 16;

/// Lanes of a task.
const LANES_PER_TASK: usize = 1 << 12;

/// Bits of a word of marks.
const WORD: usize = u64::BITS as usize;

/// Words of a block.
const WORDS: usize = 2;

/// A party's trees, which grow level by level.
pub(super) struct Tree {
    shape: Shape,
    shares: Shares,
    /// C of each level after the first, lane by lane.
    corrections: Vec<Vec<Block>>,
}

impl Tree {
    /// Returns the first level.
    pub(super) fn new(shape: Shape, shares: Shares) -> Self {
        Self {
            shape,
            shares,
            corrections: Vec::new(),
        }
    }

    /// Returns whether the last level is that of the leaves.
    pub(super) fn is_grown(&self) -> bool {
        self.level() == self.shape.depth()
    }

    /// Returns the number of the last level, counted from 1.
    fn level(&self) -> usize {
        1 + self.corrections.len()
    }

    /// Returns the number of nodes of a level beside the sink: those with a leaf below them.
    fn nodes(&self, level: usize) -> usize {
        self.shape
            .points
            .div_ceil(1 << (self.shape.depth() - level))
    }

    /// Returns the party's share of C for the next level, lane by lane.
    pub(super) fn correction(&self) -> Buffer<Block> {
        let mut corrections = Buffer::zeroed(self.shape.lanes);
        let next = &self.shares.bits[(1 + self.level()) * self.shape.lanes..];
        parallel::chunks_mut(&mut corrections, LANES_PER_TASK, &|range, corrections| {
            let mut scratch = Scratch::new(self.nodes(self.level()));
            for lanes in batches(range.clone()) {
                self.grow(lanes.clone(), &mut scratch);
                let first = lanes.start - range.start;
                let sums = &mut corrections[first..][..lanes.len()];
                for (sum, bit) in sums.iter_mut().zip(&next[lanes]) {
                    *sum = *bit ^ *self.shares.delta;
                }
                for hashes in scratch.hashes.chunks(sums.len()) {
                    for (sum, hash) in sums.iter_mut().zip(hashes) {
                        *sum ^= *hash;
                    }
                }
            }
        });
        corrections
    }

    /// Adds a level, given C of each lane.
    pub(super) fn correct(&mut self, correction: Vec<Block>) {
        self.corrections.push(correction);
    }

    /// Grows some lanes from their roots to the last level: its nodes, the sink first, and the
    /// hashes of these.
    fn grow(&self, lanes: Range<usize>, scratch: &mut Scratch) {
        let share = |bit: usize| &self.shares.bits[bit * self.shape.lanes..][lanes.clone()];
        let (selected, first) = (share(0), share(1));
        let nodes = &mut scratch.nodes;
        nodes.clear();
        nodes.extend(selected.iter().map(|share| *share ^ *self.shares.delta));
        nodes.extend(selected.iter().zip(first).map(|(share, bit)| *share ^ *bit));
        if self.nodes(1) > 1 {
            nodes.extend(first);
        }
        scratch.hash();
        for (level, correction) in (2..).zip(&self.corrections) {
            self.descend(level, &correction[lanes.clone()], scratch);
            scratch.hash();
        }
    }

    /// Replaces nodes and their hashes by the nodes of the next level.
    fn descend(&self, level: usize, correction: &[Block], scratch: &mut Scratch) {
        let Scratch {
            nodes,
            hashes,
            children,
        } = scratch;
        children.clear();
        let parents = nodes
            .chunks(correction.len())
            .zip(hashes.chunks(correction.len()));
        for (number, (nodes, hashes)) in parents.enumerate() {
            let inputs = nodes.iter().zip(hashes).zip(correction);
            let left = inputs.map(|((node, hash), c)| *hash ^ (*c & Block::splat(node.bit(0))));
            let first = children.len();
            children.extend(left);
            // The sink has no right child; nor has a node without a leaf there.
            if number > 0 && 2 * number <= self.nodes(level) {
                for (i, node) in nodes.iter().enumerate() {
                    let right = children[first + i] ^ *node;
                    children.push(right);
                }
            }
        }
        std::mem::swap(nodes, children);
    }

    /// Step 5: grows all leaves.
    pub(super) fn leaves(self) -> Grown {
        let Shape {
            lanes,
            points,
            values,
        } = self.shape;
        let mut grown = Grown::new(self.shape);
        let (per_lane, per_marks) = (values, points.div_ceil(WORD));
        let mut tasks: Vec<Task<'_>> = (0..)
            .step_by(LANES_PER_TASK)
            .zip(grown.totals.chunks_mut(LANES_PER_TASK * per_lane))
            .zip(grown.ones.chunks_mut(LANES_PER_TASK))
            .zip(grown.marks.chunks_mut(LANES_PER_TASK * per_marks))
            .map(|(((first, totals), ones), marks)| Task {
                lanes: first..lanes.min(first + LANES_PER_TASK),
                totals,
                ones,
                marks,
                sums: Buffer::zeroed(values * points),
            })
            .collect();
        parallel::each_mut_with(
            &mut tasks,
            &|| (Scratch::new(points), Zeroizing::new(Vec::new())),
            &|_, task, (scratch, words)| {
                for lanes in batches(task.lanes.clone()) {
                    self.grow(lanes.clone(), scratch);
                    task.take(self.shape, lanes, scratch, words);
                }
            },
        );
        let of_tasks: Vec<Buffer<u64>> = tasks.into_iter().map(|task| task.sums).collect();
        for sums in &of_tasks {
            add(&mut grown.sums, sums);
        }
        grown
    }
}

/// Splits a range of lanes into those that grow together.
fn batches(range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let end = range.end;
    range
        .step_by(LANES_AT_ONCE)
        .map(move |first| first..end.min(first + LANES_AT_ONCE))
}

/// The nodes of some lanes.
struct Scratch {
    nodes: Zeroizing<Vec<Block>>,
    hashes: Zeroizing<Vec<Block>>,
    children: Zeroizing<Vec<Block>>,
}

impl Scratch {
    /// Makes room for this number of nodes beside the sink. It never grows: that would leave nodes
    /// behind.
    fn new(nodes: usize) -> Self {
        let room = || Zeroizing::new(Vec::with_capacity((1 + nodes) * LANES_AT_ONCE));
        Self {
            nodes: room(),
            hashes: room(),
            children: room(),
        }
    }

    fn hash(&mut self) {
        self.hashes.resize(self.nodes.len(), Block::ZERO);
        crhf::circular(&self.nodes, &mut self.hashes);
    }
}

/// Some lanes, and what their leaves come to.
struct Task<'a> {
    lanes: Range<usize>,
    totals: &'a mut [u64],
    ones: &'a mut [u8],
    marks: &'a mut [u64],
    sums: Buffer<u64>,
}

impl Task<'_> {
    /// Takes the leaves of some of its lanes, and their hashes.
    fn take(
        &mut self,
        shape: Shape,
        lanes: Range<usize>,
        scratch: &mut Scratch,
        words: &mut Zeroizing<Vec<Block>>,
    ) {
        let first = lanes.start - self.lanes.start;
        self.mark(shape, first..first + lanes.len(), &scratch.nodes);
        for value in (0..shape.values).step_by(WORDS) {
            // One block has two words. More are hashes of it, which do not tell each other.
            let blocks = if shape.values <= WORDS {
                &scratch.hashes
            } else {
                words.clear();
                words.extend(
                    scratch
                        .hashes
                        .iter()
                        .map(|hash| *hash ^ Block(value as u128)),
                );
                crhf::correlation_robust(words);
                &*words
            };
            for (word, value) in (value..shape.values).take(WORDS).enumerate() {
                self.add_up(shape, first..first + lanes.len(), value, word, blocks);
            }
        }
    }

    /// Takes the lowest bit of each leaf.
    fn mark(&mut self, shape: Shape, lanes: Range<usize>, leaves: &[Block]) {
        let words = shape.points.div_ceil(WORD);
        let ones = &mut self.ones[lanes.clone()];
        let marks = &mut self.marks[lanes.start * words..lanes.end * words];
        for (leaf, nodes) in leaves.chunks(lanes.len()).enumerate() {
            for (lane, node) in nodes.iter().enumerate() {
                let bit = node.0 as u8 & 1;
                ones[lane] = ones[lane].wrapping_add(bit);
                if let Some(point) = leaf.checked_sub(1) {
                    marks[lane * words + point / WORD] |= u64::from(bit) << (point % WORD);
                }
            }
        }
    }

    /// Adds up one value's words: per lane, and per point.
    fn add_up(
        &mut self,
        shape: Shape,
        lanes: Range<usize>,
        value: usize,
        word: usize,
        blocks: &[Block],
    ) {
        let totals = &mut self.totals[lanes.start * shape.values..];
        let sums = &mut self.sums[value * shape.points..][..shape.points];
        for (leaf, blocks) in blocks.chunks(lanes.len()).enumerate() {
            let mut sum = 0_u64;
            for (lane, block) in blocks.iter().enumerate() {
                let word = bytemuck::cast::<Block, [u64; WORDS]>(*block)[word];
                let total = &mut totals[lane * shape.values + value];
                *total = total.wrapping_add(word);
                sum = sum.wrapping_add(word);
            }
            if let Some(point) = leaf.checked_sub(1) {
                sums[point] = sums[point].wrapping_add(sum);
            }
        }
    }
}

/// The leaves of all lanes.
pub(super) struct Grown {
    shape: Shape,
    /// The sum of each value's words over the leaves, lane by lane.
    totals: Buffer<u64>,
    /// The number of leaves with lowest bit 1, modulo 4 at least.
    ones: Buffer<u8>,
    /// The lowest bits of the leaves, 64 of them in a word, without the sink's.
    marks: Buffer<u64>,
    /// The sum of each value's words over the lanes, point by point.
    sums: Buffer<u64>,
}

impl Grown {
    fn new(shape: Shape) -> Self {
        let Shape {
            lanes,
            points,
            values,
        } = shape;
        Self {
            shape,
            totals: Buffer::zeroed(lanes * values),
            ones: Buffer::zeroed(lanes),
            marks: Buffer::zeroed(lanes * points.div_ceil(WORD)),
            sums: Buffer::zeroed(values * points),
        }
    }

    /// Returns the party's shares of v − R, a list for each value, from those of v.
    pub(super) fn differences(
        &self,
        role: Role,
        mut values: Vec<Vec<u64>>,
    ) -> Zeroizing<Vec<Vec<u64>>> {
        let width = self.shape.values;
        for (value, list) in values.iter_mut().enumerate() {
            for (share, totals) in list.iter_mut().zip(self.totals.chunks(width)) {
                *share = match role {
                    Role::Sender => share.wrapping_sub(totals[value]),
                    Role::Receiver => share.wrapping_add(totals[value]),
                };
            }
        }
        Zeroizing::new(values)
    }

    /// Returns the party's shares of whether the sender's bit on the path is 0, so that the
    /// difference of the bits is negative.
    ///
    /// The difference of the numbers of ones, modulo 4, is 1 or 3. Its higher bit is the XOR of
    /// theirs and of the borrow, and there is one if the sender's lowest bit is 0: the receiver's
    /// is the opposite.
    pub(super) fn negative(&self, role: Role) -> Bits {
        let negative = |ones: &u8| match role {
            Role::Sender => (ones >> 1 ^ !ones) & 1 == 1,
            Role::Receiver => ones >> 1 & 1 == 1,
        };
        self.ones.iter().map(negative).collect()
    }

    /// Step 6: returns the party's shares of the sums, given D, a list for each value, one after
    /// the other.
    pub(super) fn add_up(&mut self, role: Role, opened: &[u64]) -> Vec<Vec<u64>> {
        let Shape {
            lanes,
            points,
            values,
        } = self.shape;
        let words = points.div_ceil(WORD);
        let of_tasks = parallel::map(lanes.div_ceil(LANES_PER_TASK), &|task| {
            let mut sums = Buffer::zeroed(values * points);
            let first = task * LANES_PER_TASK;
            for lane in first..lanes.min(first + LANES_PER_TASK) {
                let marks = &self.marks[lane * words..][..words];
                for value in 0..values {
                    let sums = &mut sums[value * points..][..points];
                    add_where(sums, marks, opened[value * lanes + lane]);
                }
            }
            sums
        });
        for sums in &of_tasks {
            add(&mut self.sums, sums);
        }
        let signed = |share: &u64| match role {
            Role::Sender => *share,
            Role::Receiver => share.wrapping_neg(),
        };
        let lists = self.sums.chunks(points);
        lists
            .map(|list| list.iter().map(signed).collect())
            .collect()
    }
}

/// Adds a number where the mark is one.
fn add_where(sums: &mut [u64], marks: &[u64], number: u64) {
    for (sums, marks) in sums.chunks_mut(WORD).zip(marks) {
        for (bit, sum) in sums.iter_mut().enumerate() {
            let mask = (marks >> bit & 1).wrapping_neg();
            *sum = sum.wrapping_add(number & mask);
        }
    }
}

fn add(sums: &mut [u64], more: &[u64]) {
    for (sum, more) in sums.iter_mut().zip(more) {
        *sum = sum.wrapping_add(*more);
    }
}
