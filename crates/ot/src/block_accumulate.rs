//! The linear code under silent OT and VOLE: a block-accumulate code of rate 1/2 and depth 3.
//!
//! **Functionality.** [`BlockAccumulate::compress`] compresses N = 2·m elements of a vector space
//! over GF(2) to m: the transpose of the code's encoder, which turns sparse noise into what
//! looks uniform if dual LPN is hard for the code.
//!
//! **Source.** "Block-Accumulate Codes: Accelerated Linear Codes for PCGs and ZK" (also called
//! block-diagonal codes), with blocks of 32: accumulate, permute, accumulate, permute, and
//! then, block by block, out = x + R·z for x, z of 32 elements each and a random binary R.
//! Accumulating is the sum of all elements so far; both permutations are uniform. With fewer
//! than three such rounds the distance would not grow linearly with N.
//!
//! The code is public and the same for every run of a size. So runs may share it ([`kept`]): it is
//! a function of its length and nothing else, nothing is ever written to it once it is made, and
//! dual LPN is assumed for the fixed code anyway. Nobody learns from a code that was already there
//! more than that an earlier run had this length, which is public.
//!
//! # How a permutation of more elements than the cache holds is fast
//!
//! Each element first goes to a bucket drawn uniformly: as many sequential streams as there
//! are buckets. Then each bucket, now in the cache, is shuffled by Fisher and Yates' method.
//! That is a uniform permutation. The second half of it happens as the next round
//! reads a bucket. x and z of a block are neighbours: relabelling positions leaves a uniform
//! permutation uniform. (Draws are from 2^16 buckets at most and 32 bits in a bucket, so a
//! position's bias is below 2^-17.)

use std::{mem::take, ops::Range, sync::Arc};

use psijoin_block::{
    Block, Prg,
    scatter::{self, Places},
};
use psijoin_runtime::{
    memory::{Buffer, prefetch_all},
    parallel,
};

mod compress;
pub mod kept;

use compress::BLOCK;

/// Elements of a bucket, about: it fits the second-level cache, and the ends of all buckets of
/// a few million elements the first.
const BUCKET_LEN: usize = 1 << 14;

/// An element: as many words as it has, added by exclusive or.
pub type Words<const W: usize> = [u64; W];

/// The code that compresses to a certain length.
pub struct BlockAccumulate {
    outputs: usize,
    permutations: [Permutation; 2],
    blocks: Prg,
}

impl BlockAccumulate {
    /// Returns the code for `len` outputs (rounded up to whole blocks), on the threads of the
    /// caller's pool.
    ///
    /// Memory: 4 bytes for each of the N elements, which serve any number of compressions.
    pub fn new(len: usize) -> Self {
        let outputs = Self::outputs(len);
        let prg = |part: &str| {
            let seed = blake3::Hasher::new_derive_key("psijoin 2026 block-accumulate code")
                .update(&(outputs as u64).to_le_bytes())
                .update(part.as_bytes())
                .finalize();
            let seed = seed.as_bytes()[..16].try_into().expect("16 of 32 bytes");
            Prg::from_seed(Block::from_bytes(seed))
        };
        // The first round has no buckets yet, so any pieces do.
        let starts = (0..2 * outputs).step_by(BUCKET_LEN);
        let pieces = starts.map(|start| start..(start + BUCKET_LEN).min(2 * outputs));
        let first = Permutation::new(prg("first permutation"), pieces.collect());
        let second = Permutation::new(prg("second permutation"), first.buckets.clone());
        Self {
            outputs,
            permutations: [first, second],
            blocks: prg("blocks"),
        }
    }

    /// Returns m, the number of outputs, for at least `len` of them.
    fn outputs(len: usize) -> usize {
        len.next_multiple_of(BLOCK)
    }

    /// Returns the memory of its permutations, about.
    fn bytes(&self) -> usize {
        2 * size_of::<u16>() * self.input_len()
    }

    /// Returns N, the number of elements that are compressed.
    pub fn input_len(&self) -> usize {
        2 * self.outputs
    }

    /// Compresses N elements, on the threads of the caller's pool. The m outputs stand at the
    /// beginning of `scratch` then; what `elements` holds means nothing any more.
    ///
    /// # Panics
    /// If a slice does not have N elements.
    pub fn compress<const W: usize>(&self, elements: &mut [Words<W>], scratch: &mut [Words<W>]) {
        assert_eq!(elements.len(), self.input_len(), "the code's length");
        assert_eq!(scratch.len(), self.input_len(), "the code's length");
        let [first, second] = &self.permutations;
        round(elements, None, first, scratch);
        round(scratch, Some(first), second, elements);
        self.last_round(second, elements, &mut scratch[..self.outputs]);
    }

    /// Does the second half of a permutation, and out = x + R·z for each block, while the elements
    /// of a bucket are in the cache.
    fn last_round<const W: usize>(
        &self,
        permutation: &Permutation,
        elements: &mut [Words<W>],
        out: &mut [Words<W>],
    ) {
        let buckets = &permutation.buckets;
        let inner: Vec<_> = buckets.iter().map(whole_blocks).collect();
        let mut parts = scatter::split(elements, buckets.iter().map(Range::len));
        let mut rest = &mut *out;
        let mut done = 0;
        let outs: Vec<_> = inner
            .iter()
            .map(|blocks| {
                let (_, after) = take(&mut rest).split_at_mut(blocks.start * BLOCK - done);
                let (out, after) = after.split_at_mut(blocks.len() * BLOCK);
                (rest, done) = (after, blocks.end * BLOCK);
                out
            })
            .collect();
        let mut tasks: Vec<_> = parts.iter_mut().zip(outs).collect();
        parallel::each_mut_with(&mut tasks, &Vec::new, &|i, (part, out), shuffled| {
            let (bucket, blocks) = (&buckets[i], &inner[i]);
            shuffled.clear();
            shuffled.extend(permutation.shuffled(bucket, part));
            // Blocks that lie in two buckets are done later.
            let head = (2 * BLOCK * blocks.start - bucket.start).min(part.len());
            let tail = head + 2 * BLOCK * blocks.len();
            part[..head].copy_from_slice(&shuffled[..head]);
            part[tail..].copy_from_slice(&shuffled[tail..]);
            self.multiply(blocks.start, &shuffled[head..tail], out);
        });
        for (before, after) in inner.iter().zip(&inner[1..]) {
            for block in before.end..after.start {
                let elements = &elements[2 * BLOCK * block..][..2 * BLOCK];
                self.multiply(block, elements, &mut out[BLOCK * block..][..BLOCK]);
            }
        }
    }

    /// Computes out = x + R·z for each block; they have the numbers from `first` on.
    fn multiply<const W: usize>(&self, first: usize, blocks: &[Words<W>], out: &mut [Words<W>]) {
        let mut matrix = [Block::ZERO; BLOCK * BLOCK / Block::BITS];
        let blocks = blocks.chunks_exact(2 * BLOCK);
        for ((number, block), out) in (first..).zip(blocks).zip(out.chunks_exact_mut(BLOCK)) {
            let place = (number * matrix.len()) as u128;
            self.blocks.fill_at(place, &mut matrix);
            let (x, z) = block.split_at(BLOCK);
            compress::block(bytemuck::cast_slice(&matrix), x, z, out);
        }
    }
}

/// The code that was used last. Whoever compresses vectors of one length again and again makes
/// their code once: that takes a sixth of the time of compressing one, or more.
#[derive(Default)]
pub struct Last(Option<Arc<BlockAccumulate>>);

impl Last {
    /// Returns the code for `len` outputs, as [`BlockAccumulate::shared`] does.
    pub fn for_outputs(&mut self, len: usize) -> &BlockAccumulate {
        let outputs = BlockAccumulate::outputs(len);
        if self.0.as_ref().is_none_or(|code| code.outputs != outputs) {
            // Two of them would take more memory.
            self.0 = None;
        }
        self.0.get_or_insert_with(|| BlockAccumulate::shared(len))
    }
}

/// Returns the blocks that lie in the range as a whole.
fn whole_blocks(range: &Range<usize>) -> Range<usize> {
    let first = range.start.div_ceil(2 * BLOCK);
    first..first.max(range.end / (2 * BLOCK))
}

/// A uniformly random permutation, of elements that come in pieces.
struct Permutation {
    prg: Prg,
    pieces: Vec<Range<usize>>,
    /// The number of elements that each piece has for each bucket.
    counts: Vec<Vec<u32>>,
    /// The place of each bucket.
    buckets: Vec<Range<usize>>,
    /// Of all buckets, which of its elements stands at each place in the end.
    order: Buffer<u16>,
}

impl Permutation {
    fn new(prg: Prg, pieces: Vec<Range<usize>>) -> Self {
        let len = pieces.last().map_or(0, |piece| piece.end);
        let buckets = len.div_ceil(BUCKET_LEN).next_power_of_two();
        let mut permutation = Self {
            prg,
            pieces,
            counts: Vec::new(),
            buckets: vec![0..0; buckets],
            order: Buffer::zeroed(len),
        };
        let mut counts = vec![Vec::new(); permutation.pieces.len()];
        parallel::each_mut_with(&mut counts, &Vec::new, &|i, counts, random| {
            counts.resize(buckets, 0);
            permutation
                .destinations(&permutation.pieces[i], random)
                .for_each(|bucket| counts[bucket] += 1);
        });
        permutation.counts = counts;
        let mut start = 0;
        for (number, bucket) in permutation.buckets.iter_mut().enumerate() {
            let counts = permutation
                .counts
                .iter()
                .map(|counts| counts[number] as usize);
            *bucket = start..start + counts.sum::<usize>();
            start = bucket.end;
        }
        let buckets = &permutation.buckets;
        let mut orders = scatter::split(&mut permutation.order, buckets.iter().map(Range::len));
        parallel::each_mut_with(&mut orders, &Vec::new, &|i, order, random| {
            shuffle(&permutation.prg, buckets[i].start, order, random);
        });
        permutation
    }

    /// Returns the buckets of the elements of a piece.
    fn destinations<'a>(
        &self,
        piece: &Range<usize>,
        random: &'a mut Vec<Block>,
    ) -> impl Iterator<Item = usize> + use<'a> {
        // At most one block per element, so no two pieces draw the same.
        random.resize(piece.len().div_ceil(8), Block::ZERO);
        self.prg.fill_at(piece.start as u128, random);
        let last = self.buckets.len() - 1;
        bytemuck::cast_slice::<_, u16>(random)[..piece.len()]
            .iter()
            .map(move |draw| usize::from(*draw) & last)
    }

    /// Returns the elements of a bucket, in their random order.
    #[inline]
    fn shuffled<'a, const W: usize>(
        &'a self,
        bucket: &Range<usize>,
        elements: &'a [Words<W>],
    ) -> impl Iterator<Item = Words<W>> + use<'a, W> {
        prefetch_all(elements);
        let order = &self.order[bucket.clone()];
        order.iter().map(|i| elements[usize::from(*i)])
    }
}

/// Draws a random order of the elements of a bucket that begins at `start`.
///
/// # Panics
/// If there are more than 2^16. (Such a bucket has four times its mean length or more: no code of a
/// practical size has one.)
fn shuffle(prg: &Prg, start: usize, order: &mut [u16], random: &mut Vec<Block>) {
    // Buckets are drawn from the lower half of the stream.
    const UPPER_HALF: u128 = 1 << 64;
    assert!(order.len() <= 1 << 16, "a bucket of its usual length");
    random.resize(order.len().div_ceil(4), Block::ZERO);
    prg.fill_at(UPPER_HALF + start as u128, random);
    let draws: &[u32] = bytemuck::cast_slice(random);
    for (place, number) in order.iter_mut().zip(0..=u16::MAX) {
        *place = number;
    }
    for (last, draw) in (0..order.len()).rev().zip(draws) {
        let other = (u64::from(*draw) * (last as u64 + 1)) >> 32;
        order.swap(last, other as usize);
    }
}

/// Accumulates the elements, piece by piece, and sends each sum to its bucket under
/// `permutation`. If the pieces are the buckets of a permutation `before`, its second half is
/// done first.
fn round<const W: usize>(
    elements: &[Words<W>],
    before: Option<&Permutation>,
    permutation: &Permutation,
    output: &mut [Words<W>],
) {
    let (pieces, counts) = (&permutation.pieces, &permutation.counts);
    let unit_len = pieces.len().div_ceil(parallel::threads());
    let units: Vec<_> = pieces.chunks(unit_len).collect();

    // The number of elements that each unit has for each bucket, and the sum of all before it. The
    // last one's sum is not needed; so with one thread nothing is read twice.
    let counts: Vec<Vec<usize>> = counts.chunks(unit_len).map(add).collect();
    let totals = parallel::map(units.len() - 1, &|i| {
        let unit = units[i];
        elements[unit[0].start..unit[unit.len() - 1].end]
            .iter()
            .fold([0; W], plus)
    });
    let earlier = totals.iter().scan([0; W], |sum, total| {
        *sum = plus(*sum, total);
        Some(*sum)
    });
    let sums = std::iter::once([0; W]).chain(earlier);

    let (places, _) = scatter::places(output, &counts);
    let mut tasks: Vec<_> = places.into_iter().zip(sums).collect();
    parallel::each_mut(&mut tasks, &|i, (places, sum)| {
        let mut random = Vec::new();
        for range in units[i] {
            let piece = &elements[range.clone()];
            let destinations = permutation.destinations(range, &mut random);
            *sum = match before {
                None => scatter(piece.iter().copied(), *sum, destinations, places),
                Some(before) => {
                    let piece = before.shuffled(range, piece);
                    scatter(piece, *sum, destinations, places)
                }
            };
        }
    });
}

/// Returns what the pieces of a unit have together for each bucket.
fn add(pieces: &[Vec<u32>]) -> Vec<usize> {
    let mut sums = vec![0; pieces[0].len()];
    for counts in pieces {
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += *count as usize;
        }
    }
    sums
}

/// Sends the sums of all elements so far, which begin with `sum`, to their buckets.
#[inline]
fn scatter<const W: usize>(
    elements: impl Iterator<Item = Words<W>>,
    mut sum: Words<W>,
    destinations: impl Iterator<Item = usize>,
    places: &mut Places<'_, Words<W>>,
) -> Words<W> {
    for (element, bucket) in elements.zip(destinations) {
        sum = plus(sum, &element);
        places[bucket].push(sum);
    }
    sum
}

#[inline(always)]
fn plus<const W: usize>(mut sum: Words<W>, element: &Words<W>) -> Words<W> {
    for (sum, element) in sum.iter_mut().zip(element) {
        *sum ^= element;
    }
    sum
}

#[cfg(test)]
mod tests;
