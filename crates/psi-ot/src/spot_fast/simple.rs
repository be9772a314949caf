//! Simple hashing: each item of the sender in both of its bins.

use std::ops::Range;

use psijoin_block::scatter;
use psijoin_encode::{DigestBuffer, Digests};
use psijoin_runtime::{memory::Buffer, parallel};

use super::Bins;

/// Fewer items are not worth another thread.
const MIN_UNIT: usize = 1 << 14;

/// The items of each bin.
pub(super) struct SimpleTable {
    digests: DigestBuffer,
    /// The places of the items that are in a bin by their first hash function, then those by their
    /// second one, bin by bin.
    ranges: Vec<Range<usize>>,
}

/// A bin of the sender.
pub(super) struct Bin<'a> {
    /// The place of its first item.
    pub(super) first: usize,
    /// The numbers of items that are there by their first hash function, and by their second one.
    pub(super) counts: [usize; 2],
    /// H(Q(x‖b) ⊕ s·P(x‖b), x) of each item.
    pub(super) outputs: &'a mut [u128],
}

impl SimpleTable {
    /// Sorts items into bins, on the threads of the caller's pool.
    pub(super) fn new(items: Digests<'_>, bins: &Bins) -> Self {
        let per_unit = items.len().div_ceil(parallel::threads()).max(MIN_UNIT);
        let units: Vec<Digests<'_>> = items.chunks(per_unit).collect();
        let (choices, counts): (Vec<_>, Vec<_>) =
            parallel::map(units.len(), &|i| choose(units[i], bins))
                .into_iter()
                .unzip();
        match items {
            Digests::Short(items) => {
                let (digests, ranges) = sort(items, per_unit, &choices, &counts);
                let digests = DigestBuffer::Short(digests);
                Self { digests, ranges }
            }
            Digests::Long(items) => {
                let (digests, ranges) = sort(items, per_unit, &choices, &counts);
                let digests = DigestBuffer::Long(digests);
                Self { digests, ranges }
            }
        }
    }

    /// Returns the items, bin after bin.
    pub(super) fn items(&self) -> Digests<'_> {
        self.digests.as_digests()
    }

    /// Returns the bins, with their parts of the outputs.
    pub(super) fn bins<'a>(&self, outputs: &'a mut [u128]) -> Vec<Bin<'a>> {
        let pairs = self.ranges.chunks_exact(2);
        let lens = pairs.clone().map(|pair| pair[0].len() + pair[1].len());
        let outputs = scatter::split(outputs, lens);
        pairs
            .zip(outputs)
            .map(|(pair, outputs)| Bin {
                first: pair[0].start,
                counts: [pair[0].len(), pair[1].len()],
                outputs,
            })
            .collect()
    }
}

/// Returns both bins of each item, and how many items go to each place.
fn choose(items: Digests<'_>, bins: &Bins) -> (Vec<[u32; 2]>, Vec<usize>) {
    let mut choices = vec![[0; 2]; items.len()];
    bins.hash(items, &mut choices);
    let mut counts = vec![0; 2 * bins.count as usize];
    for place in choices.iter().flat_map(places) {
        counts[place] += 1;
    }
    (choices, counts)
}

/// Returns the items place by place, and where each place lies, given what [`choose`] said of each
/// unit.
fn sort<const D: usize>(
    items: &[[u8; D]],
    per_unit: usize,
    choices: &[Vec<[u32; 2]>],
    counts: &[Vec<usize>],
) -> (Buffer<[u8; D]>, Vec<Range<usize>>) {
    let mut sorted = Buffer::zeroed(2 * items.len());
    let (mut targets, ranges) = scatter::places(&mut sorted, counts);
    parallel::each_mut(&mut targets, &|i, targets| {
        for (choices, item) in choices[i].iter().zip(&items[i * per_unit..]) {
            for place in places(choices) {
                targets[place].push(*item);
            }
        }
    });
    drop(targets);
    (sorted, ranges)
}

/// Returns where an item goes by each of its hash functions.
fn places(choices: &[u32; 2]) -> [usize; 2] {
    [2 * choices[0] as usize, 2 * choices[1] as usize + 1]
}
