//! Sorting uniform hashes.

use std::ops::Range;

use psijoin_block::scatter;
use rayon::prelude::*;

use super::Hashed;

/// Elements of a bucket, about: sorting it stays in the first-level cache.
const BUCKET_LEN: usize = 256;

/// More streams than this would be written at random.
const MAX_BUCKETS: usize = 1 << 12;

/// Sorts by hash, on the caller's rayon pool: the topmost bits say which bucket, and each bucket
/// is sorted on its own. Hashes that are not uniform are sorted as well, but slowly.
pub(crate) fn sort<T: Hashed>(elements: Vec<T>) -> Vec<T> {
    let buckets = (elements.len() / BUCKET_LEN)
        .next_power_of_two()
        .min(MAX_BUCKETS);
    let bits = buckets.ilog2();
    let bucket_of =
        |element: &T| (element.hash() >> 64) as usize >> (64 - bits.max(1)) & (buckets - 1);

    let unit_len = elements.len().div_ceil(rayon::current_num_threads()).max(1);
    let counts: Vec<Vec<usize>> = elements
        .par_chunks(unit_len)
        .map(|unit| {
            let mut counts = vec![0; buckets];
            unit.iter()
                .for_each(|element| counts[bucket_of(element)] += 1);
            counts
        })
        .collect();
    let mut sorted = vec![T::default(); elements.len()];
    let (places, ranges) = scatter::places(&mut sorted, &counts);
    elements
        .par_chunks(unit_len)
        .zip(places)
        .for_each(|(unit, mut places)| {
            for element in unit {
                let place = places[bucket_of(element)].next();
                *place.expect("places were counted") = *element;
            }
        });
    drop(elements);
    scatter::split(&mut sorted, ranges.iter().map(Range::len))
        .into_par_iter()
        .for_each(|bucket| bucket.sort_unstable_by_key(T::hash));
    sorted
}
