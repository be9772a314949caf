//! Garbled Bloom filters (Dong, Chen, Wen 2013): filters with a string in each cell. The sum (XOR)
//! of the strings in an item's cells is a value of that item. Otherwise all strings are random.
//!
//! The paper inserts items one after the other, each into one of its cells that is still free. Here
//! each item is adjusted in a cell that it shares with no other item of the set. Items that have no
//! such cell are adjusted in one that they share with no other *of these*, and so on, round by
//! round (*peeling*; `psijoin_params::garbled_bloom` bounds how often that fails). Items of later
//! rounds are adjusted first. If a filter is half full, half of an item's cells are its own, and
//! one round is enough. Fuller filters can be made too. The order of items does not matter, they
//! can be worked on in parallel, and the filter never exists: all strings come from a seed, and any
//! band of them can be reproduced.

use std::ops::Range;

use psijoin_block::{Block, Prg};
use psijoin_runtime::parallel;

use crate::{DigestVec, Digests, Error, bloom::Cells};

/// Strings that are drawn together, in L1.
const BATCH: usize = 1024;

/// A garbled filter that gives any of its bands.
pub struct GarbledBloomFilter {
    seed: Prg,
    /// The cell in which each item is adjusted.
    own_cells: Vec<u64>,
    /// The values that are added there.
    adjustments: Vec<Block>,
}

/// In place of the own cell of an item that has none yet.
const NO_CELL: u64 = u64::MAX;

impl GarbledBloomFilter {
    /// Returns the filter in which the strings of each item sum up to its value. `bands` are to
    /// cover all cells of the filter. On the threads of the caller's pool.
    ///
    /// # Errors
    /// [`Error::NoPlacement`] if some items share all of their cells among themselves.
    ///
    /// # Panics
    /// If there is not one value for each item.
    pub fn new(
        cells: &Cells,
        digests: Digests<'_>,
        values: Vec<Block>,
        bands: impl Iterator<Item = Range<usize>> + Clone,
        rng: &mut Prg,
    ) -> Result<Self, Error> {
        let mut filter = Self {
            seed: rng.fork(),
            own_cells: vec![NO_CELL; digests.len()],
            adjustments: values,
        };
        let mut strings = Vec::new();
        for band in bands.clone() {
            strings.clear();
            strings.resize(band.len(), Block::ZERO);
            filter.add_random(&band, &mut strings);
            cells.add(&band, digests, &strings, &mut filter.adjustments);
        }
        let rounds = filter.choose_cells(cells, digests, bands.clone())?;
        filter.adjust(&rounds, cells, digests, bands);
        Ok(filter)
    }

    /// Returns a cell for each item: one that it shares with no other of its round or a later one.
    /// The items of each round.
    fn choose_cells(
        &mut self,
        cells: &Cells,
        digests: Digests<'_>,
        bands: impl Iterator<Item = Range<usize>> + Clone,
    ) -> Result<Vec<Vec<usize>>, Error> {
        let mut rounds = Vec::new();
        let mut left: Vec<usize> = (0..digests.len()).collect();
        let mut of_left = DigestVec::zeroed(0, digests.digest_bytes());
        while !left.is_empty() {
            of_left.gather(digests, left.iter().copied());
            for band in bands.clone() {
                cells.lone(&band, of_left.as_digests(), |item, cell| {
                    let own = &mut self.own_cells[left[item]];
                    if *own == NO_CELL {
                        *own = cell as u64;
                    }
                });
            }
            let (placed, without): (Vec<_>, Vec<_>) =
                (left.into_iter()).partition(|item| self.own_cells[*item] != NO_CELL);
            if placed.is_empty() {
                return Err(Error::NoPlacement);
            }
            rounds.push(placed);
            left = without;
        }
        Ok(rounds)
    }

    /// Adds to the adjustments of each round what later rounds add to the cells of its items.
    fn adjust(
        &mut self,
        rounds: &[Vec<usize>],
        cells: &Cells,
        digests: Digests<'_>,
        bands: impl Iterator<Item = Range<usize>> + Clone,
    ) {
        let mut later = Vec::new();
        let mut strings = Vec::new();
        let mut of_round = DigestVec::zeroed(0, digests.digest_bytes());
        for pair in rounds.windows(2).rev() {
            let [round, next] = pair else { continue };
            later.extend(next);
            of_round.gather(digests, round.iter().copied());
            let mut sums = vec![Block::ZERO; round.len()];
            for band in bands.clone() {
                strings.clear();
                strings.resize(band.len(), Block::ZERO);
                for item in &later {
                    self.add_adjustment(*item, &band, &mut strings);
                }
                cells.add(&band, of_round.as_digests(), &strings, &mut sums);
            }
            for (item, sum) in round.iter().zip(sums) {
                self.adjustments[*item] ^= sum;
            }
        }
    }

    /// Adds the filter's strings in a band to these. On the threads of the caller's pool.
    ///
    /// # Panics
    /// If there is not a string for each cell of the band.
    pub fn add(&self, band: &Range<usize>, strings: &mut [Block]) {
        self.add_random(band, strings);
        for item in 0..self.own_cells.len() {
            self.add_adjustment(item, band, strings);
        }
    }

    /// Adds what an item adds to its own cell, if that is in the band.
    fn add_adjustment(&self, item: usize, band: &Range<usize>, strings: &mut [Block]) {
        let place = (self.own_cells[item] as usize).wrapping_sub(band.start);
        if let Some(string) = strings.get_mut(place) {
            *string ^= self.adjustments[item];
        }
    }

    /// Adds what the strings are before items are adjusted.
    fn add_random(&self, band: &Range<usize>, strings: &mut [Block]) {
        assert_eq!(band.len(), strings.len(), "a string for each cell");
        parallel::chunks_mut(strings, BATCH, &|range, strings| {
            let mut random = [Block::ZERO; BATCH];
            let random = &mut random[..strings.len()];
            let first = band.start + range.start;
            self.seed.fill_at(first as u128, random);
            for (string, random) in strings.iter_mut().zip(random) {
                *string ^= *random;
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use psijoin_params::bloom::Shape;

    use super::*;

    const SHAPE: Shape = Shape {
        slices: 32,
        slice_cells: 160,
    };

    fn cells() -> Cells {
        Cells::new([6; 16], SHAPE)
    }

    fn digests(count: u128) -> Vec<[u8; 16]> {
        (0..count).map(u128::to_le_bytes).collect()
    }

    /// Returns the whole filter of items whose values are their digests, made band by band.
    fn filter(digests: &[[u8; 16]], band: usize, seed: u128) -> Result<Vec<Block>, Error> {
        let all = SHAPE.cells() as usize;
        let bands = || {
            let starts = (0..all).step_by(band);
            starts.map(|start| start..all.min(start + band))
        };
        let values = digests.iter().map(|digest| Block::from_bytes(*digest));
        let rng = &mut Prg::from_seed(Block(seed));
        let filter = GarbledBloomFilter::new(
            &cells(),
            Digests::Short(digests),
            values.collect(),
            bands(),
            rng,
        )?;
        let mut strings = vec![Block::ZERO; all];
        for band in bands() {
            filter.add(&band, &mut strings[band.clone()]);
        }
        Ok(strings)
    }

    /// Whatever the bands, and the order of the items.
    #[test]
    fn items_sum_up_to_their_values() {
        let mut digests = digests(100);
        let strings = filter(&digests, 320, 1).unwrap();
        let mut sums = vec![Block::ZERO; digests.len()];
        cells().add(
            &(0..strings.len()),
            Digests::Short(&digests),
            &strings,
            &mut sums,
        );
        for (sum, digest) in sums.iter().zip(&digests) {
            assert!(*sum == Block::from_bytes(*digest));
        }
        digests.reverse();
        for band in [7, 1000, 1 << 20] {
            assert!(filter(&digests, band, 1).unwrap() == strings);
        }
    }

    /// Returns whether rows are linearly dependent over GF(2).
    fn dependent(mut rows: Vec<Vec<Block>>) -> bool {
        while let Some(row) = rows.pop() {
            let Some(pivot) = row.iter().position(|block| *block != Block::ZERO) else {
                return true;
            };
            let bit = row[pivot].0.trailing_zeros() as usize;
            for other in rows.iter_mut().filter(|other| other[pivot].bit(bit)) {
                other.iter_mut().zip(&row).for_each(|(a, b)| *a ^= *b);
            }
        }
        false
    }

    /// Returns whether the strings of hidden items can cancel out where the items that are seen
    /// have no cells.
    fn cancel_out(cells: &Cells, shape: Shape, hidden: u128, seen: u128) -> bool {
        let all = shape.cells() as usize;
        let bits = |digests: &[[u8; 16]]| {
            let mut bits = vec![Block::ZERO; all.div_ceil(Block::BITS)];
            cells.mark(&(0..all), Digests::Short(digests), &mut bits);
            bits
        };
        let digests = digests(hidden + seen);
        let (hidden, seen) = digests.split_at(hidden as usize);
        let seen = bits(seen);
        let row = |item| {
            let row = bits(&[item]).into_iter().zip(&seen);
            row.map(|(row, seen)| Block(row.0 & !seen.0)).collect()
        };
        dependent(hidden.iter().copied().map(row).collect())
    }

    /// Few slices, so that it happens.
    #[test]
    fn hidden_items_cancel_out_as_rarely_as_the_bound_says() {
        const RUNS: u32 = 2000;
        for (hidden, seen, slices, slice_cells) in [(3, 4, 6, 6), (6, 6, 10, 9), (8, 2, 4, 16)] {
            let shape = Shape {
                slices,
                slice_cells,
            };
            let bound = psijoin_params::garbled_bloom::dependent(hidden, seen, shape);
            let happened = (0..RUNS).filter(|run| {
                let cells = Cells::new(u128::from(*run).to_le_bytes(), shape);
                cancel_out(&cells, shape, hidden.into(), seen.into())
            });
            let (happened, runs) = (happened.count() as f64, f64::from(RUNS));
            let expected = runs * bound.log2().exp2();
            assert!(happened > 0.0 && expected < runs, "{expected}");
            assert!(
                happened < expected + 6.0 * expected.sqrt(),
                "{happened} {expected}"
            );
        }
    }

    /// The trap in the papers' argument, which looks at one item at a time.
    #[test]
    fn hidden_items_of_a_filter_of_the_derived_size_are_independent() {
        let sizes = psijoin_params::Sizes::new(80, 100).unwrap();
        let share = psijoin_params::Log2Prob::from_log2(-42.0);
        let shape = psijoin_params::garbled_bloom::shape(sizes, share).unwrap();
        assert!(!cancel_out(&Cells::new([3; 16], shape), shape, 80, 100));
    }

    /// So full that a tenth of the items has no cell of its own at first, and takes another round.
    #[test]
    fn items_of_later_rounds_sum_up_too() {
        let shape = Shape {
            slices: 10,
            slice_cells: 40,
        };
        let (digests, all) = (digests(64), shape.cells() as usize);
        let items = Digests::Short(&digests);
        let mut rounds = 0;
        for seed in 0..20 {
            let cells = Cells::new([seed; 16], shape);
            let bands = || (0..all).step_by(100).map(|start| start..start + 100);
            let values = digests.iter().map(|digest| Block::from_bytes(*digest));
            let rng = &mut Prg::from_seed(Block(1));
            let mut filter =
                GarbledBloomFilter::new(&cells, items, values.collect(), bands(), rng).unwrap();
            let (mut strings, mut sums) = (vec![Block::ZERO; all], vec![Block::ZERO; 64]);
            filter.add(&(0..all), &mut strings);
            cells.add(&(0..all), items, &strings, &mut sums);
            for (sum, digest) in sums.iter().zip(&digests) {
                assert!(*sum == Block::from_bytes(*digest));
            }
            filter.own_cells.fill(NO_CELL);
            rounds += filter.choose_cells(&cells, items, bands()).unwrap().len();
        }
        assert!(rounds > 20, "{rounds} rounds of 20 filters");
    }

    /// Few slices, so that it happens.
    #[test]
    fn filters_are_stuck_as_rarely_as_the_bound_says() {
        const RUNS: u32 = 3000;
        for (items, slices, slice_cells) in [(2, 2, 20), (6, 4, 5), (40, 4, 20)] {
            let shape = Shape {
                slices,
                slice_cells,
            };
            let (digests, all) = (digests(items), shape.cells() as usize);
            let stuck = (0..RUNS).filter(|run| {
                let cells = Cells::new(u128::from(*run).to_le_bytes(), shape);
                let (values, rng) = (vec![Block::ZERO; digests.len()], &mut Prg::from_os());
                let bands = std::iter::once(0..all);
                GarbledBloomFilter::new(&cells, Digests::Short(&digests), values, bands, rng)
                    .is_err()
            });
            let bound = psijoin_params::garbled_bloom::stuck(items as u64, shape);
            let expected = f64::from(RUNS) * bound.log2().exp2();
            let stuck = stuck.count() as f64;
            assert!(
                stuck > 0.0 && stuck < expected + 6.0 * expected.sqrt(),
                "{stuck} {expected}"
            );
        }
    }

    /// No cell is zero, or the same in two filters, whether an item has it or not.
    #[test]
    fn all_cells_are_random() {
        let digests = digests(100);
        let [one, other] = [1, 2].map(|seed| filter(&digests, 1000, seed).unwrap());
        for (one, other) in one.iter().zip(&other) {
            assert!(*one != Block::ZERO && one != other);
        }
    }

    #[test]
    fn an_item_that_shares_all_its_cells_is_an_error() {
        let mut digests = digests(100);
        digests.push(digests[17]);
        assert_eq!(filter(&digests, 320, 1).err(), Some(Error::NoPlacement));
    }
}
