//! Which bin an item is in.

use psijoin_block::{
    memory::Buffer,
    parallel,
    scatter::{self, Place},
};

/// Fewer items are not worth another thread.
const MIN_CHUNK: usize = 1 << 14;

/// The bin of a digest among `bins`: its first eight bytes, little endian, as a fraction of
/// 2^64.
#[inline]
pub fn bin_of<const D: usize>(digest: &[u8; D], bins: u32) -> u32 {
    let word = u64::from_le_bytes(std::array::from_fn(|i| digest[i]));
    ((u128::from(word) * u128::from(bins)) >> 64) as u32
}

/// Digests in the order of their bins, with their original positions.
pub struct Partition<const D: usize> {
    digests: Buffer<[u8; D]>,
    positions: Buffer<u32>,
    /// Where each bin begins, and where the last one ends.
    starts: Vec<usize>,
}

impl<const D: usize> Partition<D> {
    /// Sorts digests into `bins` bins, on the threads of the caller's pool. Within a bin they
    /// keep their order.
    ///
    /// # Panics
    /// If there is no bin, or there are more than 2^32 digests.
    pub fn new(digests: &[[u8; D]], bins: u32) -> Self {
        assert!(bins > 0, "at least one bin");
        assert!(digests.len() <= 1 << 32, "at most 2^32 digests");
        let chunk = digests.len().div_ceil(parallel::threads());
        let chunk = chunk.max(MIN_CHUNK);
        let chunks: Vec<_> = digests.chunks(chunk).collect();
        let counts = parallel::map(chunks.len(), &|i| count(chunks[i], bins));

        let mut partition = Self {
            digests: Buffer::zeroed(digests.len()),
            positions: Buffer::zeroed(digests.len()),
            starts: vec![0; bins as usize + 1],
        };
        for bin in 0..bins as usize {
            let count: usize = counts.iter().map(|counts| counts[bin]).sum();
            partition.starts[bin + 1] = partition.starts[bin] + count;
        }
        let (to_digests, _) = scatter::places(&mut partition.digests, &counts);
        let (to_positions, _) = scatter::places(&mut partition.positions, &counts);
        let mut targets: Vec<_> = to_digests.into_iter().zip(to_positions).collect();
        parallel::each_mut(&mut targets, &|i, (to_digests, to_positions)| {
            distribute(chunks[i], i * chunk, to_digests, to_positions);
        });
        partition
    }

    /// The digests of a bin, and where they stood among all.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn bin(&self, bin: usize) -> (&[[u8; D]], &[u32]) {
        let range = self.starts[bin]..self.starts[bin + 1];
        (&self.digests[range.clone()], &self.positions[range])
    }

    /// All bins, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&[[u8; D]], &[u32])> {
        (0..self.bins()).map(|bin| self.bin(bin))
    }

    /// How many digests each bin has.
    pub fn lens(&self) -> impl Iterator<Item = usize> {
        self.starts.windows(2).map(|starts| starts[1] - starts[0])
    }

    /// The digests of all bins, one bin after the other.
    pub fn digests(&self) -> &[[u8; D]] {
        &self.digests
    }

    /// Where each of [`digests`](Self::digests) stood.
    pub fn positions(&self) -> &[u32] {
        &self.positions
    }

    /// How many bins there are.
    pub fn bins(&self) -> usize {
        self.starts.len() - 1
    }
}

fn count<const D: usize>(digests: &[[u8; D]], bins: u32) -> Vec<usize> {
    let mut counts = vec![0; bins as usize];
    for digest in digests {
        counts[bin_of(digest, bins) as usize] += 1;
    }
    counts
}

fn distribute<const D: usize>(
    digests: &[[u8; D]],
    first: usize,
    to_digests: &mut [Place<'_, [u8; D]>],
    to_positions: &mut [Place<'_, u32>],
) {
    let bins = to_digests.len() as u32;
    for (digest, position) in digests.iter().zip(first..) {
        let bin = bin_of(digest, bins) as usize;
        to_digests[bin].push(*digest);
        to_positions[bin].push(position as u32);
    }
}
