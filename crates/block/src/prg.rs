//! Pseudorandom generator: AES-128 in counter mode.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::{
    Block,
    aes::{Aes128, BATCH},
};

/// A pseudorandom generator: `AES(seed, 0) ‖ AES(seed, 1) ‖ …`.
///
/// Its output is indistinguishable from random for up to 2^60 blocks. The key schedule is
/// wiped when it is dropped.
///
/// ```
/// use psijoin_block::{Block, Prg};
///
/// // A party draws a seed, and one for each other use of its randomness.
/// let mut rng = Prg::from_os();
/// let (seed, mut other) = (rng.block(), rng.fork());
/// assert!(other.block() != seed);
///
/// // Who knows the seed knows the whole stream, from any place on.
/// let mut masks = [Block::ZERO; 100];
/// Prg::from_seed(seed).fill(&mut masks);
/// let mut last = [Block::ZERO];
/// Prg::from_seed(seed).fill_at(99, &mut last);
/// assert!(last[0] == masks[99]);
/// ```
#[derive(Clone)]
pub struct Prg {
    aes: Aes128,
    counter: u128,
}

/// The key schedule is all that is secret.
impl ZeroizeOnDrop for Prg {}

impl Prg {
    /// Returns the generator of `seed`. With a known seed the output is known: outside of tests,
    /// seeds come from [`Prg::from_os`], from another generator or from a protocol.
    pub fn from_seed(seed: Block) -> Self {
        Self {
            aes: Aes128::new(seed),
            counter: 0,
        }
    }

    /// Returns a generator seeded by the operating system.
    ///
    /// # Panics
    /// If the operating system has no randomness to give: nothing can be done safely then.
    pub fn from_os() -> Self {
        let mut seed = [0; 16];
        getrandom::fill(&mut seed).expect("the operating system gives no randomness");
        let prg = Self::from_seed(Block::from_bytes(seed));
        seed.zeroize();
        prg
    }

    /// Fills `blocks` with what comes next.
    pub fn fill(&mut self, blocks: &mut [Block]) {
        self.fill_at(self.counter, blocks);
        self.counter += blocks.len() as u128;
    }

    /// Fills `blocks` with the output from block `first` on, wherever the generator stands:
    /// for workers that share a stream.
    pub fn fill_at(&self, first: u128, blocks: &mut [Block]) {
        let mut counter = first;
        for batch in blocks.chunks_mut(BATCH) {
            for block in batch.iter_mut() {
                *block = Block(counter);
                counter += 1;
            }
            self.aes.encrypt(batch);
        }
    }

    /// Fills `bytes`. A call takes whole blocks from the generator: what is left of the
    /// last one is thrown away.
    pub fn fill_bytes(&mut self, bytes: &mut [u8]) {
        let mut blocks = [Block::ZERO; BATCH];
        for chunk in bytes.chunks_mut(BATCH * Block::BYTES) {
            let used = &mut blocks[..chunk.len().div_ceil(Block::BYTES)];
            self.fill(used);
            chunk.copy_from_slice(&bytemuck::cast_slice(used)[..chunk.len()]);
        }
        blocks.zeroize();
    }

    /// Returns the next block.
    pub fn block(&mut self) -> Block {
        let mut block = [Block::ZERO];
        self.fill(&mut block);
        let [next] = block;
        block.zeroize();
        next
    }

    /// Returns the next `N` bytes.
    pub fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.fill_bytes(&mut bytes);
        bytes
    }

    /// Returns a generator with a fresh seed drawn from this one.
    pub fn fork(&mut self) -> Self {
        Self::from_seed(self.block())
    }

    /// Returns the generator whose seed is block `number` of this one's output: one for each of
    /// many pieces of work, which need not know of each other, nor of how many there are. Draw
    /// nothing else from a generator that has children, or what is drawn may be a child's seed:
    /// [`fork`](Self::fork) one for that.
    ///
    /// ```
    /// use psijoin_block::Prg;
    ///
    /// let of_parts = Prg::from_os().fork();
    /// assert!(of_parts.child(3).block() == of_parts.child(3).block());
    /// assert!(of_parts.child(3).block() != of_parts.child(4).block());
    /// ```
    #[must_use]
    pub fn child(&self, number: u32) -> Self {
        let mut seed = [Block::ZERO];
        self.fill_at(number.into(), &mut seed);
        let child = Self::from_seed(seed[0]);
        seed.zeroize();
        child
    }

    /// Returns a uniformly random order of `0..n`, from `n − 1` draws (Fisher-Yates; a draw's bias
    /// is at most n/2^64).
    pub fn permutation(&mut self, n: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..n).collect();
        let mut words = [Block::ZERO; BATCH];
        let mut left: &[u64] = &[];
        for last in (1..n as usize).rev() {
            if left.is_empty() {
                self.fill(&mut words);
                left = bytemuck::cast_slice(&words);
            }
            let draw = (u128::from(left[0]) * (last as u128 + 1)) >> 64;
            left = &left[1..];
            order.swap(last, draw as usize);
        }
        words.zeroize();
        order
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_does_not_depend_on_how_it_is_asked_for() {
        let mut whole = vec![Block::ZERO; 3 * BATCH + 5];
        Prg::from_seed(Block(7)).fill(&mut whole);
        let mut pieces = whole.clone();
        let mut prg = Prg::from_seed(Block(7));
        let (head, tail) = pieces.split_at_mut(BATCH + 1);
        prg.fill(head);
        prg.fill(tail);
        assert!(whole == pieces);
        prg.fill_at(3, &mut pieces[3..]);
        assert!(whole == pieces);

        let mut bytes = vec![0; whole.len() * 16 - 3];
        Prg::from_seed(Block(7)).fill_bytes(&mut bytes);
        assert_eq!(bytes, bytemuck::cast_slice::<_, u8>(&whole)[..bytes.len()]);
    }

    #[test]
    fn seeds_and_forks_differ() {
        let mut a = Prg::from_seed(Block(1));
        assert!(a.fork().block() != a.fork().block());
        assert!(Prg::from_os().block() != Prg::from_os().block());
    }

    #[test]
    fn children_are_known_by_their_numbers() {
        let parent = Prg::from_seed(Block(1));
        let mut forks = parent.clone();
        for number in 0..3 {
            assert!(parent.child(number).block() == forks.fork().block());
        }
        let mut last = [Block::ZERO];
        parent.fill_at(u32::MAX.into(), &mut last);
        assert!(parent.child(u32::MAX).block() == Prg::from_seed(last[0]).block());
    }

    #[test]
    #[cfg_attr(miri, ignore = "24,000 draws")]
    fn permutation_is_one_and_is_uniform() {
        let mut prg = Prg::from_seed(Block(3));
        let mut order = prg.permutation(1000);
        order.sort_unstable();
        assert!(order.iter().copied().eq(0..1000));
        assert!(prg.permutation(0).is_empty());

        let mut counts = std::collections::HashMap::<Vec<u32>, u32>::new();
        for _ in 0..24_000 {
            *counts.entry(prg.permutation(4)).or_default() += 1;
        }
        // 24 orders, 1,000 expected of each, standard deviation 31: six of them.
        assert_eq!(counts.len(), 24);
        assert!(counts.values().all(|count| count.abs_diff(1000) < 186));
    }
}
