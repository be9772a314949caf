//! Bloom filters, plain and garbled, one band of cells at a time.
//!
//! A filter has k slices; an item has one cell in each ([`psijoin_params::bloom`]). A *garbled*
//! filter (Dong, Chen, Wen 2013) has a string in each cell, and gives for an item the sum (XOR) of
//! the strings in its cells.
//!
//! A filter has about 185 cells per item, too many to keep as strings. So nothing here holds a
//! filter: cells are numbered slice by slice, and [`mark`](Cells::mark) and [`add`](Cells::add)
//! work on any *band*, a range of cells. Walking through all bands takes memory for one, and
//! computes each item's cells once if bands are whole pairs of slices
//! ([`pair_cells`](Cells::pair_cells)).

use std::ops::Range;

use psijoin_block::{Block, aes::Aes128};
use psijoin_params::bloom::{MAX_SLICE_CELLS, Shape};
use psijoin_runtime::{memory::prefetch, parallel};

use crate::Digests;

/// Items that are hashed together, so that AES runs at full speed from L1, and whose cells are
/// fetched together.
const BATCH: usize = 64;

/// Items that are worth a task of their own.
const MIN_ITEMS_PER_TASK: usize = 1024;

/// The cells of items.
///
/// A pair of slices has a block cipher of its own, under a key expanded from the seed. Each half
/// of the encrypted digest (CBC-MAC, for one of 32 bytes), as a fraction of 2^64, picks a cell
/// of one of the two slices.
///
/// The bound of [`psijoin_params::bloom`] holds for a seed that was drawn after both sets were
/// fixed.
#[derive(Clone)]
pub struct Cells {
    ciphers: Vec<Aes128>,
    shape: Shape,
}

impl Cells {
    /// Expands the seed into functions for a filter of this shape.
    ///
    /// # Panics
    /// Unless the number of slices is even, and a slice has 1 to 2^28 cells.
    pub fn new(seed: [u8; 16], shape: Shape) -> Self {
        assert!(shape.slices.is_multiple_of(2), "slices come in pairs");
        assert!((1..=MAX_SLICE_CELLS).contains(&shape.slice_cells));
        let mut keys: Vec<_> = (0..u128::from(shape.slices / 2)).map(Block).collect();
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        Self {
            ciphers: keys.into_iter().map(Aes128::new).collect(),
            shape,
        }
    }

    /// Cells of a pair of slices.
    pub fn pair_cells(&self) -> usize {
        2 * self.shape.slice_cells as usize
    }

    /// Sets the bit (j mod 128 of block j / 128) of cell `band.start` + j for each cell of an item:
    /// that part of the items' Bloom filter. `bits` must be zero. On the threads of the caller's
    /// pool.
    ///
    /// # Panics
    /// If there are fewer bits than cells.
    pub fn mark(&self, band: &Range<usize>, digests: Digests<'_>, bits: &mut [Block]) {
        assert!(band.len() <= bits.len() * Block::BITS, "a bit for a cell");
        let mark = |digests: Digests<'_>, bits: &mut [Block]| {
            let words: &mut [u64] = bytemuck::cast_slice_mut(bits);
            self.visit(band, digests, |_, cells| {
                for cell in cells.iter().copied().filter(|cell| *cell < band.len()) {
                    words[cell / 64] |= 1 << (cell % 64);
                }
            });
        };
        let mut parts = digests.chunks(per_task(digests.len()));
        let first = parts.next();
        let rest: Vec<_> = parts.collect();
        let others = parallel::map(rest.len(), &|task| {
            let mut own = vec![Block::ZERO; bits.len()];
            mark(rest[task], &mut own);
            own
        });
        if let Some(first) = first {
            mark(first, bits);
        }
        for own in others {
            (bits.iter_mut().zip(own)).for_each(|(bits, own)| *bits = Block(bits.0 | own.0));
        }
    }

    /// Adds to the sum of each item the strings of its cells, where they are in the band. On the
    /// threads of the caller's pool.
    ///
    /// # Panics
    /// If there is not one string for each cell of the band, and one sum for each item.
    pub fn add(
        &self,
        band: &Range<usize>,
        digests: Digests<'_>,
        strings: &[Block],
        sums: &mut [Block],
    ) {
        assert_eq!(band.len(), strings.len(), "a string for each cell");
        assert_eq!(digests.len(), sums.len(), "a sum for each item");
        parallel::chunks_mut(sums, per_task(digests.len()), &|range, sums| {
            self.visit(band, digests.slice(range), |first, cells| {
                for string in cells.iter().filter_map(|cell| strings.get(*cell)) {
                    prefetch(string);
                }
                for (sum, cell) in sums[first..].iter_mut().zip(cells) {
                    if let Some(string) = strings.get(*cell) {
                        *sum ^= *string;
                    }
                }
            });
        });
    }

    /// Calls `found` for each item and each of its cells in the band (counted from the first cell
    /// of the filter) that no other item has.
    pub(crate) fn lone(
        &self,
        band: &Range<usize>,
        digests: Digests<'_>,
        mut found: impl FnMut(usize, usize),
    ) {
        let words = band.len().div_ceil(64);
        let (mut once, mut twice) = (vec![0_u64; words], vec![0_u64; words]);
        self.visit(band, digests, |_, cells| {
            for cell in cells.iter().copied().filter(|cell| *cell < band.len()) {
                let bit = 1 << (cell % 64);
                twice[cell / 64] |= once[cell / 64] & bit;
                once[cell / 64] |= bit;
            }
        });
        self.visit(band, digests, |first, cells| {
            for (item, cell) in (first..).zip(cells.iter().copied()) {
                if cell < band.len() && twice[cell / 64] >> (cell % 64) & 1 == 0 {
                    found(item, band.start + cell);
                }
            }
        });
    }

    /// Calls `work` with the number of the first of a few items, and for each of these the cell
    /// in one slice, counted from the start of the band. Cells that are not in the band have a
    /// number that is not either.
    fn visit(
        &self,
        band: &Range<usize>,
        digests: Digests<'_>,
        mut work: impl FnMut(usize, &[usize]),
    ) {
        let slice_cells = self.shape.slice_cells as usize;
        let pairs = band.start / self.pair_cells()..band.end.div_ceil(self.pair_cells());
        let mut cells = [[0; BATCH]; 2];
        for pair in pairs {
            let start = (pair * self.pair_cells()).wrapping_sub(band.start);
            for (batch, digests) in digests.chunks(BATCH).enumerate() {
                let mut blocks = [Block::ZERO; BATCH];
                let blocks = &mut blocks[..digests.len()];
                encrypt(&self.ciphers[pair], digests, blocks);
                for (i, block) in blocks.iter().enumerate() {
                    let cell = |word: u64| scale(word, self.shape.slice_cells);
                    cells[0][i] = start.wrapping_add(cell(block.0 as u64));
                    cells[1][i] = start.wrapping_add(slice_cells + cell((block.0 >> 64) as u64));
                }
                for cells in &cells {
                    work(batch * BATCH, &cells[..digests.len()]);
                }
            }
        }
    }
}

/// Returns the number of items of a task: one for each thread.
fn per_task(items: usize) -> usize {
    items.div_ceil(parallel::threads()).max(MIN_ITEMS_PER_TASK)
}

/// Encrypts by CBC-MAC.
fn encrypt(cipher: &Aes128, digests: Digests<'_>, blocks: &mut [Block]) {
    digests.fold(cipher, blocks);
    cipher.encrypt(blocks);
}

/// Returns the cell of a word, taken as a fraction of 2^64.
#[inline]
fn scale(word: u64, cells: u32) -> usize {
    ((u128::from(word) * u128::from(cells)) >> 64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digests::numbers;
    use proptest::prelude::*;
    use psijoin_block::Prg;
    use psijoin_params::bloom::{false_positive, smallest};

    fn shape(slices: u32, slice_cells: u32) -> Shape {
        Shape {
            slices,
            slice_cells,
        }
    }

    /// Returns the whole filter.
    fn marked(cells: &Cells, digests: Digests<'_>) -> Vec<bool> {
        let all = cells.shape.cells() as usize;
        let mut bits = vec![Block::ZERO; all.div_ceil(128)];
        cells.mark(&(0..all), digests, &mut bits);
        (0..all).map(|i| bits[i / 128].bit(i % 128)).collect()
    }

    /// Returns the cells of an item, slice by slice.
    fn of_item(cells: &Cells, digest: Digests<'_>) -> Vec<usize> {
        let bits = marked(cells, digest);
        (0..bits.len()).filter(|i| bits[*i]).collect()
    }

    #[test]
    fn an_item_has_one_cell_in_each_slice() {
        let cells = Cells::new([5; 16], shape(6, 1000));
        for digests in [16, 32].map(|digest_bytes| numbers(0..200, digest_bytes)) {
            for digest in digests.as_digests().chunks(1) {
                let cells = of_item(&cells, digest);
                let slices: Vec<usize> = cells.iter().map(|cell| cell / 1000).collect();
                assert_eq!(slices, [0, 1, 2, 3, 4, 5]);
            }
        }
    }

    /// Both parties must agree on the cells.
    #[test]
    fn cells_are_fractions_of_aes() {
        let seed = [9; 16];
        let cells = Cells::new(seed, shape(4, 1_000_003));
        let mut keys = [Block(0), Block(1)];
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        let digest: [u8; 16] = std::array::from_fn(|i| i as u8);
        let mut expected = Vec::new();
        for (pair, key) in keys.into_iter().enumerate() {
            let mut block = [Block::from_bytes(digest)];
            Aes128::new(key).encrypt(&mut block);
            for (half, word) in [block[0].0 as u64, (block[0].0 >> 64) as u64]
                .iter()
                .enumerate()
            {
                let cell = (u128::from(*word) * 1_000_003) >> 64;
                expected.push((2 * pair + half) * 1_000_003 + cell as usize);
            }
        }
        assert_eq!(of_item(&cells, Digests::Short(&[digest])), expected);
    }

    #[test]
    fn both_halves_of_a_long_digest_count() {
        let cells = Cells::new([1; 16], shape(2, 1 << 20));
        let mut digests = [[0_u8; 32]; 3];
        digests[1][0] = 1;
        digests[2][31] = 1;
        let [a, b, c] = digests.map(|digest| of_item(&cells, Digests::Long(&[digest])));
        assert!(a != b && b != c && a != c);
    }

    /// Few slices, so that there are many false positives.
    #[test]
    fn false_positives_are_as_rare_as_the_bound_says() {
        for (items, shape) in [(1000, shape(6, 1443)), (300, shape(4, 300))] {
            let cells = Cells::new([7; 16], shape);
            let filter = marked(&cells, numbers(0..items, 16).as_digests());
            let others = numbers(1 << 32..(1 << 32) + 5_000, 16);
            let others = others.as_digests().chunks(1);
            let found = others
                .filter(|other| of_item(&cells, *other).iter().all(|cell| filter[*cell]))
                .count() as f64;
            let expected = 5_000.0 * false_positive(items, shape).log2().exp2();
            // Six standard deviations; those of the filter's own fill are small beside them.
            assert!(
                (found - expected).abs() < 6.0 * expected.sqrt(),
                "{found} {expected}"
            );
        }
    }

    #[test]
    fn a_filter_of_the_derived_size_is_half_full() {
        let shape = smallest(2000);
        let filter = marked(
            &Cells::new([3; 16], shape),
            numbers(0..2000, 16).as_digests(),
        );
        let ones = filter.iter().filter(|bit| **bit).count() as f64 / filter.len() as f64;
        assert!((0.495..0.505).contains(&ones), "{ones}");
    }

    proptest! {
        #[test]
        fn bands_add_up(
            slice_cells in 2_u32..400,
            band in 1_usize..1500,
            items in 1_u64..300,
            threads in 1_usize..3,
        ) {
            let cells = Cells::new([4; 16], shape(4, slice_cells));
            let digests = numbers(0..items, 16);
            let digests = digests.as_digests();
            let all = cells.shape.cells() as usize;
            let filter = marked(&cells, digests);
            let mut strings = vec![Block::ZERO; all];
            Prg::from_seed(Block(8)).fill(&mut strings);
            let mut sums = vec![Block::ZERO; digests.len()];
            let pool = parallel::Pool::new(threads).unwrap();
            for start in (0..all).step_by(band) {
                let band = start..all.min(start + band);
                let mut bits = vec![Block::ZERO; band.len().div_ceil(128)];
                pool.run(|| {
                    cells.mark(&band, digests, &mut bits);
                    cells.add(&band, digests, &strings[band.clone()], &mut sums);
                });
                for (i, cell) in band.enumerate() {
                    prop_assert_eq!(bits[i / 128].bit(i % 128), filter[cell]);
                }
            }
            for (digest, sum) in digests.chunks(1).zip(sums) {
                let expected = of_item(&cells, digest)
                    .into_iter()
                    .fold(Block::ZERO, |sum, cell| sum ^ strings[cell]);
                prop_assert!(sum == expected);
            }
        }
    }
}
