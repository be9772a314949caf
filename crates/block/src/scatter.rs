//! Distributing elements among buckets in one pass: many streams, each written in order.
//!
//! Several units of work fill the same buckets at the same time; each one counts first what
//! it has for each bucket, and then gets places of its own.

use std::{mem::take, ops::Range};

use psijoin_runtime::memory::prefetch;

/// Of every bucket, what is still to be filled by one unit of work.
pub type Places<'a, T> = Vec<Place<'a, T>>;

/// The part of a bucket that is still to be filled.
pub struct Place<'a, T>(&'a mut [T]);

impl<T> Place<'_, T> {
    /// The distance, in elements, at which memory is fetched ahead of the next one. Streams take
    /// turns at random, so that the processor does not see them; and a store that misses the cache
    /// holds up all others.
    const AHEAD: usize = 128 / size_of::<T>();

    /// Fills the next place.
    ///
    /// # Panics
    /// If there is none left.
    #[inline(always)]
    pub fn push(&mut self, element: T) {
        let (next, rest) = take(&mut self.0)
            .split_first_mut()
            .expect("places were counted");
        *next = element;
        if let Some(later) = rest.get(Self::AHEAD) {
            prefetch(later);
        }
        self.0 = rest;
    }

    /// Returns whether all is filled.
    pub fn is_full(&self) -> bool {
        self.0.is_empty()
    }
}

/// Divides `output` into buckets, and each bucket among the units, in their order.
/// `counts[u][b]` is what unit u has for bucket b. Returns the places of each unit, and where
/// each bucket lies.
///
/// # Panics
/// If the units count different numbers of buckets, or more elements than there is room for.
pub fn places<'a, T>(
    output: &'a mut [T],
    counts: &[Vec<usize>],
) -> (Vec<Places<'a, T>>, Vec<Range<usize>>) {
    let buckets = counts.first().map_or(0, Vec::len);
    let mut places: Vec<Places<'a, T>> = Vec::new();
    places.resize_with(counts.len(), || Vec::with_capacity(buckets));
    let mut ranges = Vec::with_capacity(buckets);
    let (mut rest, mut start) = (output, 0);
    for bucket in 0..buckets {
        let first = start;
        for (places, counts) in places.iter_mut().zip(counts) {
            let (place, after) = rest.split_at_mut(counts[bucket]);
            places.push(Place(place));
            rest = after;
            start += counts[bucket];
        }
        ranges.push(first..start);
    }
    (places, ranges)
}

/// Returns `elements` cut into buckets of these lengths, one after the other from the start.
///
/// # Panics
/// If there are fewer elements.
pub fn split<T>(elements: &mut [T], lens: impl Iterator<Item = usize>) -> Vec<&mut [T]> {
    let (mut buckets, mut rest) = (Vec::new(), elements);
    for len in lens {
        let (bucket, after) = rest.split_at_mut(len);
        buckets.push(bucket);
        rest = after;
    }
    buckets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_fills_its_part_of_every_bucket() {
        let units: [&[u32]; 3] = [&[10, 20, 11], &[21], &[12, 30, 22]];
        let bucket_of = |element: u32| element as usize / 10 - 1;
        let counts: Vec<Vec<usize>> = units
            .iter()
            .map(|unit| {
                let mut counts = vec![0; 4];
                unit.iter()
                    .for_each(|element| counts[bucket_of(*element)] += 1);
                counts
            })
            .collect();
        let mut output = vec![0; 8];
        let (places, ranges) = places(&mut output, &counts);
        for (unit, mut places) in units.iter().zip(places) {
            for element in *unit {
                places[bucket_of(*element)].push(*element);
            }
            assert!(places.iter().all(Place::is_full));
        }
        assert_eq!(output, [10, 11, 12, 20, 21, 22, 30, 0]);
        assert_eq!(ranges, [0..3, 3..6, 6..7, 7..7]);
        let buckets = split(&mut output, ranges.iter().map(Range::len));
        assert_eq!(buckets[1], [20, 21, 22]);
        assert!(buckets[3].is_empty());
    }

    #[test]
    fn no_units_have_no_buckets() {
        let (places, ranges) = places::<u8>(&mut [], &[]);
        assert!(places.is_empty() && ranges.is_empty());
    }
}
