//! Simple hashing: each item in one bin, and a bin holds all items that fall into it.

use psijoin_block::{Block, aes::Aes128};
use psijoin_params::simple::Shape;

use crate::{Digests, Error, hashing::BATCH};

/// Maps digests of items to one bin each: a pseudorandom function of the digest, as a fraction
/// of 2^64, picks among all bins. [`psijoin_params::simple::failure`] allows for its bias.
///
/// The bound assumes that the seed was drawn after both sets were fixed.
#[derive(Clone)]
pub struct SimpleHasher {
    fold: Aes128,
    draw: Aes128,
    bins: u32,
}

impl SimpleHasher {
    /// Expands the seed into a hash function for `bins` bins.
    ///
    /// # Panics
    /// If there is none.
    pub fn new(seed: [u8; 16], bins: u32) -> Self {
        assert!(bins > 0, "items need a bin");
        let mut keys = [Block(0), Block(1)];
        Aes128::new(Block::from_bytes(seed)).encrypt(&mut keys);
        let [fold, draw] = keys.map(Aes128::new);
        Self { fold, draw, bins }
    }

    /// Computes the bin of each digest.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash(&self, digests: Digests<'_>, bins: &mut [u32]) {
        assert_eq!(digests.len(), bins.len(), "one bin for each digest");
        for (digests, bins) in digests.chunks(BATCH).zip(bins.chunks_mut(BATCH)) {
            let mut blocks = [Block::ZERO; BATCH];
            let blocks = &mut blocks[..digests.len()];
            digests.fold(&self.fold, blocks);
            self.draw.encrypt(blocks);
            for (bin, block) in bins.iter_mut().zip(blocks) {
                *bin = (((block.0 & u128::from(u64::MAX)) * u128::from(self.bins)) >> 64) as u32;
            }
        }
    }
}

/// The items of each bin.
pub struct SimpleTable {
    items: Vec<u32>,
    /// The beginning of each bin, and the end of the last one.
    starts: Vec<u32>,
}

impl SimpleTable {
    /// Sorts items 0 .. `bins.len()` by their bins.
    ///
    /// # Errors
    /// [`Error::NoPlacement`] if a bin has more than there is room for;
    /// [`psijoin_params::simple::failure`] bounds the probability.
    ///
    /// # Panics
    /// If a bin is out of range, or there are 2^32 items or more.
    pub fn build(bins: &[u32], shape: Shape) -> Result<Self, Error> {
        assert!(bins.len() < 1 << 32, "items are numbered by 32 bits");
        let mut starts = vec![0; shape.bins as usize + 1];
        for bin in bins {
            starts[*bin as usize + 1] += 1;
        }
        if starts.iter().any(|load| *load > shape.capacity) {
            return Err(Error::NoPlacement);
        }
        let mut end = 0;
        for start in &mut starts {
            end += *start;
            *start = end;
        }
        let mut items = vec![0; bins.len()];
        let mut next = starts.clone();
        for (item, bin) in (0_u32..).zip(bins) {
            let place = &mut next[*bin as usize];
            items[*place as usize] = item;
            *place += 1;
        }
        Ok(Self { items, starts })
    }

    /// Returns the items of a bin, ascending.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn bin(&self, bin: u32) -> &[u32] {
        let bin = bin as usize;
        &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digests::numbers;
    use proptest::prelude::*;

    fn bins_of(items: u64, digest_bytes: usize, bins: u32) -> Vec<u32> {
        let digests = numbers(0..items, digest_bytes);
        let mut out = vec![0; items as usize];
        SimpleHasher::new([5; 16], bins).hash(digests.as_digests(), &mut out);
        out
    }

    /// Consecutive numbers fall into bins as evenly as random ones: 64 bins, χ² of 63 degrees.
    #[test]
    fn bins_are_uniform_for_structured_items() {
        for digest_bytes in [16, 32] {
            let bins = bins_of(64_000, digest_bytes, 64);
            let mut loads = [0_i64; 64];
            bins.iter().for_each(|bin| loads[*bin as usize] += 1);
            let squares: i64 = loads.iter().map(|load| (load - 1000).pow(2)).sum();
            let chi_squared = squares as f64 / 1000.0;
            // Mean 63, standard deviation 11: five of them.
            assert!((8.0..118.0).contains(&chi_squared), "{chi_squared}");
        }
    }

    #[test]
    fn a_full_bin_is_bad_luck() {
        let shape = |capacity| Shape { bins: 3, capacity };
        let bins = [0, 2, 2, 2];
        assert!(matches!(
            SimpleTable::build(&bins, shape(2)),
            Err(Error::NoPlacement)
        ));
        let table = SimpleTable::build(&bins, shape(3)).unwrap();
        assert_eq!(table.bin(0), [0]);
        assert!(table.bin(1).is_empty());
        assert_eq!(table.bin(2), [1, 2, 3]);
    }

    /// The bound of `psijoin_params` against bins that were filled: rates of 2^-3 to 2^-7.
    #[test]
    fn bins_overflow_as_often_as_the_bound_says() {
        let digests = numbers(0..64, 16);
        let digests = digests.as_digests();
        for capacity in [9, 10, 11] {
            let shape = Shape { bins: 16, capacity };
            let trials = 20_000;
            let fails = |trial: &u128| {
                let mut bins = vec![0; digests.len()];
                SimpleHasher::new(trial.to_le_bytes(), shape.bins).hash(digests, &mut bins);
                SimpleTable::build(&bins, shape).is_err()
            };
            let failed = (0..trials).filter(fails).count() as f64;
            let bound = psijoin_params::simple::failure(64, shape).log2().exp2() * trials as f64;
            let case = format!("{capacity}: {failed} failed, bound {bound}");
            assert!(failed - 3.0 * failed.sqrt() <= bound, "{case}");
            assert!(failed + 3.0 * failed.sqrt() >= 0.8 * bound, "{case}");
        }
    }

    proptest! {
        #[test]
        fn every_item_lies_in_its_bin(bins in prop::collection::vec(0_u32..20, 0..200)) {
            let shape = Shape { bins: 20, capacity: 200 };
            let table = SimpleTable::build(&bins, shape).unwrap();
            let mut seen = 0;
            for bin in 0..20 {
                prop_assert!(table.bin(bin).is_sorted());
                prop_assert!(table.bin(bin).iter().all(|item| bins[*item as usize] == bin));
                seen += table.bin(bin).len();
            }
            prop_assert_eq!(seen, bins.len());
        }
    }
}
