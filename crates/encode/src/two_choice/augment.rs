//! Chains of moves from a bin that has too many items to one that has room.

use super::Placement;
use crate::Error;

/// No item led to this bin.
const START: u32 = u32::MAX;

/// The items that have each bin among their choices.
struct Candidates {
    items: Vec<u32>,
    starts: Vec<u32>,
}

impl Candidates {
    fn new(choices: &[[u32; 2]], bins: usize) -> Self {
        let mut starts = vec![0; bins + 1];
        for bin in choices.as_flattened() {
            starts[*bin as usize + 1] += 1;
        }
        for bin in 0..bins {
            starts[bin + 1] += starts[bin];
        }
        let mut places = starts.clone();
        let mut items = vec![0; 2 * choices.len()];
        for (item, choice) in (0..).zip(choices) {
            for bin in choice {
                items[places[*bin as usize] as usize] = item;
                places[*bin as usize] += 1;
            }
        }
        Self { items, starts }
    }

    fn of(&self, bin: u32) -> &[u32] {
        let bin = bin as usize;
        &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }
}

/// Moves items until no bin has more than its capacity.
///
/// # Errors
/// If that is impossible: the bins that a search reaches without finding room hold only items
/// that have no other bins, and too many of them.
pub(super) fn relieve(placement: &mut Placement<'_>) -> Result<(), Error> {
    let bins = placement.loads.len();
    let candidates = Candidates::new(placement.choices, bins);
    // The item whose move reaches a bin, for each bin that the search has reached.
    let mut reached_by: Vec<Option<u32>> = vec![None; bins];
    for bin in 0..bins as u32 {
        while placement.loads[bin as usize] > placement.capacity {
            reached_by.fill(None);
            let end = search(placement, &candidates, bin, &mut reached_by);
            move_along(placement, end.ok_or(Error::NoPlacement)?, &reached_by);
        }
    }
    Ok(())
}

/// The nearest bin with room.
fn search(
    placement: &Placement<'_>,
    candidates: &Candidates,
    from: u32,
    reached_by: &mut [Option<u32>],
) -> Option<u32> {
    reached_by[from as usize] = Some(START);
    let mut queue = vec![from];
    let mut next = 0;
    while let Some(&bin) = queue.get(next) {
        next += 1;
        if placement.loads[bin as usize] < placement.capacity {
            return Some(bin);
        }
        for &item in candidates.of(bin) {
            let other = placement.other_bin(item as usize);
            if placement.bin(item as usize) == bin && reached_by[other as usize].is_none() {
                reached_by[other as usize] = Some(item);
                queue.push(other);
            }
        }
    }
    None
}

/// Moves the items that led to `end`, the last one first.
fn move_along(placement: &mut Placement<'_>, end: u32, reached_by: &[Option<u32>]) {
    let mut bin = end;
    while let Some(item) = reached_by[bin as usize].filter(|item| *item != START) {
        bin = placement.bin(item as usize);
        placement.move_over(item as usize);
    }
}
