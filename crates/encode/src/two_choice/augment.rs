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
    let mut search = Search {
        reached_by: vec![None; bins],
        reached: Vec::new(),
    };
    for bin in 0..bins as u32 {
        while placement.loads[bin as usize] > placement.capacity {
            let end = search.nearest_room(placement, &candidates, bin);
            search.move_along(placement, end.ok_or(Error::NoPlacement)?);
            search.forget();
        }
    }
    Ok(())
}

/// A breadth-first search from a bin.
struct Search {
    /// The item whose move reaches a bin, for each bin that was reached.
    reached_by: Vec<Option<u32>>,
    /// These bins, the nearest first.
    reached: Vec<u32>,
}

impl Search {
    fn nearest_room(
        &mut self,
        placement: &Placement<'_>,
        candidates: &Candidates,
        from: u32,
    ) -> Option<u32> {
        self.reach(from, START);
        let mut next = 0;
        while let Some(&bin) = self.reached.get(next) {
            next += 1;
            if placement.loads[bin as usize] < placement.capacity {
                return Some(bin);
            }
            for &item in candidates.of(bin) {
                if placement.bin(item as usize) == bin {
                    self.reach(placement.other_bin(item as usize), item);
                }
            }
        }
        None
    }

    fn reach(&mut self, bin: u32, by: u32) {
        let reached_by = &mut self.reached_by[bin as usize];
        if reached_by.is_none() {
            *reached_by = Some(by);
            self.reached.push(bin);
        }
    }

    /// Moves the items that led to `end`, the last one first.
    fn move_along(&self, placement: &mut Placement<'_>, end: u32) {
        let mut bin = end;
        while let Some(item) = self.reached_by[bin as usize].filter(|item| *item != START) {
            bin = placement.bin(item as usize);
            placement.move_over(item as usize);
        }
    }

    /// Takes as long as the search did: a set may need as many searches as a part of its bins.
    fn forget(&mut self) {
        for bin in self.reached.drain(..) {
            self.reached_by[bin as usize] = None;
        }
    }
}
