//! The assignment of items to bins.

use std::ops::Range;

use psijoin_block::scatter::{self, Place};
use psijoin_runtime::{memory::Buffer, parallel};

use crate::{DigestBuffer, Digests};

/// Fewer items are not worth another thread.
const MIN_CHUNK: usize = 1 << 14;

/// Returns the bin of a digest among `bins`: its first word, as a fraction of 2^64.
#[inline]
pub fn bin_of(word: u64, bins: u32) -> u32 {
    ((u128::from(word) * u128::from(bins)) >> 64) as u32
}

/// Digests in the order of their bins, with their original positions.
pub struct Partition {
    digests: DigestBuffer,
    positions: Buffer<u32>,
    /// The beginning of each bin, and the end of the last one.
    starts: Vec<usize>,
}

impl Partition {
    /// Sorts digests into `bins` bins by their first words, on the threads of the caller's pool.
    /// Within a bin they keep their order.
    ///
    /// # Panics
    /// If there is no bin, or there are more than 2^32 digests.
    pub fn new(digests: Digests<'_>, bins: u32) -> Self {
        match digests {
            Digests::Short(digests) => {
                Self::sorted(digests, bins, DigestBuffer::Short, &|_, digest| {
                    bin_of(first_word(digest), bins)
                })
            }
            Digests::Long(digests) => {
                Self::sorted(digests, bins, DigestBuffer::Long, &|_, digest| {
                    bin_of(first_word(digest), bins)
                })
            }
        }
    }

    /// Sorts digests into the bins that are given for each of them.
    ///
    /// # Panics
    /// As [`new`](Self::new), and unless there is a bin below `bins` for each digest.
    pub fn by(digests: Digests<'_>, bins: u32, of: &[u16]) -> Self {
        assert_eq!(digests.len(), of.len(), "a bin for each digest");
        match digests {
            Digests::Short(digests) => {
                Self::sorted(digests, bins, DigestBuffer::Short, &|i, _| of[i].into())
            }
            Digests::Long(digests) => {
                Self::sorted(digests, bins, DigestBuffer::Long, &|i, _| of[i].into())
            }
        }
    }

    fn sorted<const D: usize>(
        digests: &[[u8; D]],
        bins: u32,
        wrap: fn(Buffer<[u8; D]>) -> DigestBuffer,
        bin: &(impl Fn(usize, &[u8; D]) -> u32 + Sync),
    ) -> Self {
        assert!(bins > 0, "at least one bin");
        assert!(digests.len() <= 1 << 32, "at most 2^32 digests");
        let chunk = digests.len().div_ceil(parallel::threads());
        let chunk = chunk.max(MIN_CHUNK);
        let counts = parallel::map(digests.len().div_ceil(chunk), &|i| {
            let first = i * chunk;
            let digests = &digests[first..digests.len().min(first + chunk)];
            let mut counts = vec![0; bins as usize];
            for (digest, position) in digests.iter().zip(first..) {
                counts[bin(position, digest) as usize] += 1;
            }
            counts
        });

        let mut starts = vec![0; bins as usize + 1];
        for bin in 0..bins as usize {
            let count: usize = counts.iter().map(|counts| counts[bin]).sum();
            starts[bin + 1] = starts[bin] + count;
        }
        let mut positions = Buffer::zeroed(digests.len());
        let digests = wrap(sort(digests, chunk, &counts, &mut positions, bin));
        Self {
            digests,
            positions,
            starts,
        }
    }

    /// Returns the digests of a bin, and where they stood among all.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn bin(&self, bin: usize) -> (Digests<'_>, &[u32]) {
        let range = self.range(bin);
        (self.digests().slice(range.clone()), &self.positions[range])
    }

    /// Returns the places of a bin's digests among [`digests`](Self::digests).
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn range(&self, bin: usize) -> Range<usize> {
        self.starts[bin]..self.starts[bin + 1]
    }

    /// Returns all bins, in order.
    pub fn iter(&self) -> impl Iterator<Item = (Digests<'_>, &[u32])> {
        (0..self.bins()).map(|bin| self.bin(bin))
    }

    /// Returns how many digests each bin has.
    pub fn lens(&self) -> impl Iterator<Item = usize> + Clone {
        self.starts.windows(2).map(|starts| starts[1] - starts[0])
    }

    /// Returns the digests of all bins, one bin after the other.
    pub fn digests(&self) -> Digests<'_> {
        self.digests.as_digests()
    }

    /// Returns where each of [`digests`](Self::digests) stood.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// Returns the positions alone.
    pub fn into_positions(self) -> Buffer<u32> {
        self.positions
    }

    /// Returns the number of bins.
    pub fn bins(&self) -> usize {
        self.starts.len() - 1
    }
}

/// Returns the digests in the order of their bins, given how many each chunk has for each bin;
/// `positions` become those that they had.
fn sort<const D: usize>(
    digests: &[[u8; D]],
    chunk: usize,
    counts: &[Vec<usize>],
    positions: &mut [u32],
    bin: &(impl Fn(usize, &[u8; D]) -> u32 + Sync),
) -> Buffer<[u8; D]> {
    let mut sorted = Buffer::zeroed(digests.len());
    let (to_digests, _) = scatter::places(&mut sorted, counts);
    let (to_positions, _) = scatter::places(positions, counts);
    let chunks = digests.chunks(chunk);
    let mut tasks: Vec<_> = chunks
        .zip(to_digests.into_iter().zip(to_positions))
        .collect();
    parallel::each_mut(&mut tasks, &|i, (digests, (to_digests, to_positions))| {
        distribute(digests, i * chunk, to_digests, to_positions, bin);
    });
    drop(tasks);
    sorted
}

fn distribute<const D: usize>(
    digests: &[[u8; D]],
    first: usize,
    to_digests: &mut [Place<'_, [u8; D]>],
    to_positions: &mut [Place<'_, u32>],
    bin: &impl Fn(usize, &[u8; D]) -> u32,
) {
    for (digest, position) in digests.iter().zip(first..) {
        let bin = bin(position, digest) as usize;
        to_digests[bin].push(*digest);
        to_positions[bin].push(position as u32);
    }
}

#[inline]
fn first_word<const D: usize>(digest: &[u8; D]) -> u64 {
    u64::from_le_bytes(std::array::from_fn(|i| digest[i]))
}
