//! 2-choice hashing of a whole set at once: each item in one of its two bins, no bin with more
//! than a few items above the mean.
//!
//! **Source.** SpOT19, Algorithm 1: every item goes to its first bin, and is then moved to the
//! other one if that has fewer items. This takes linear time. The second step is repeated a few
//! times. Then, where a bin still has too many items, breadth-first search finds a chain of moves
//! to a bin that has room: so there is a placement whenever one exists, and
//! [`psijoin_params::two_choice`] bounds the probability that none does.

use psijoin_block::{Block, aes::Aes128};
use psijoin_params::two_choice::Shape;

use crate::Error;

mod augment;

/// The number of times that items are moved to the emptier bin before chains are looked for.
const SWEEPS: usize = 4;

/// Maps items to two bins each.
///
/// With h a uniform block for the item, the bins come from the 64-bit words of AES(h): as a
/// fraction of 2^64, each picks among all bins. They may be the same.
pub struct TwoChoiceHasher {
    draw: Aes128,
    bins: u32,
}

impl TwoChoiceHasher {
    /// Returns the function of a seed that was drawn after both sets were fixed.
    ///
    /// # Panics
    /// If there is no bin.
    pub fn new(seed: [u8; 16], bins: u32) -> Self {
        assert!(bins > 0, "at least one bin");
        Self {
            draw: Aes128::new(Block::from_bytes(seed)),
            bins,
        }
    }

    /// Computes the bins of each item.
    ///
    /// # Panics
    /// If the slices differ in length.
    pub fn hash(&self, items: &[Block], choices: &mut [[u32; 2]]) {
        const BATCH: usize = 64;
        assert_eq!(items.len(), choices.len(), "two bins for each item");
        let pick = |word: u64| ((u128::from(word) * u128::from(self.bins)) >> 64) as u32;
        for (items, choices) in items.chunks(BATCH).zip(choices.chunks_mut(BATCH)) {
            let mut blocks = [Block::ZERO; BATCH];
            let blocks = &mut blocks[..items.len()];
            blocks.copy_from_slice(items);
            self.draw.encrypt(blocks);
            for (choice, block) in choices.iter_mut().zip(blocks) {
                *choice = [pick(block.0 as u64), pick((block.0 >> 64) as u64)];
            }
        }
    }
}

/// An item in a bin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Chosen {
    /// The item's index.
    pub item: u32,
    /// The one of its two hash functions that led to the bin.
    pub choice: bool,
}

/// The items of each bin.
pub struct TwoChoiceTable {
    items: Vec<Chosen>,
    /// The beginning of each bin, and the end of the last one.
    starts: Vec<u32>,
}

impl TwoChoiceTable {
    /// Places items 0 .. `choices.len()`. The table depends on the choices only.
    ///
    /// # Errors
    /// [`Error::NoPlacement`] if no placement keeps to the capacity.
    ///
    /// # Panics
    /// If a bin is out of range, or there are more than 2^32 items.
    pub fn build(choices: &[[u32; 2]], shape: Shape) -> Result<Self, Error> {
        let mut placement = Placement::new(choices, shape);
        for _ in 0..SWEEPS {
            if placement.fits() {
                break;
            }
            placement.sweep();
        }
        if !placement.fits() {
            augment::relieve(&mut placement)?;
        }
        Ok(placement.into_table())
    }

    /// Returns the items of a bin, those first that are there by their first hash function.
    ///
    /// # Panics
    /// If there is no such bin.
    pub fn bin(&self, bin: usize) -> &[Chosen] {
        &self.items[self.starts[bin] as usize..self.starts[bin + 1] as usize]
    }

    /// Returns all items, in the order of their bins.
    pub fn items(&self) -> &[Chosen] {
        &self.items
    }

    /// Returns how many items each bin has.
    pub fn lens(&self) -> impl Iterator<Item = usize> {
        self.starts
            .windows(2)
            .map(|starts| (starts[1] - starts[0]) as usize)
    }
}

/// The place of each item.
struct Placement<'a> {
    choices: &'a [[u32; 2]],
    /// The bin of each item, as one of its two: moving an item changes this, so that its hash
    /// function always goes with it.
    second: Vec<bool>,
    loads: Vec<u32>,
    capacity: u32,
}

impl<'a> Placement<'a> {
    /// Returns every item in its first bin.
    fn new(choices: &'a [[u32; 2]], shape: Shape) -> Self {
        let mut loads = vec![0; shape.bins as usize];
        for choice in choices {
            loads[choice[0] as usize] += 1;
        }
        Self {
            choices,
            second: vec![false; choices.len()],
            loads,
            capacity: shape.capacity,
        }
    }

    fn bin(&self, item: usize) -> u32 {
        self.choices[item][usize::from(self.second[item])]
    }

    fn other_bin(&self, item: usize) -> u32 {
        self.choices[item][usize::from(!self.second[item])]
    }

    fn move_over(&mut self, item: usize) {
        let (from, to) = (self.bin(item), self.other_bin(item));
        self.second[item] = !self.second[item];
        self.loads[from as usize] -= 1;
        self.loads[to as usize] += 1;
    }

    /// Moves every item whose other bin has fewer, itself not counted.
    fn sweep(&mut self) {
        for item in 0..self.choices.len() {
            let loads = [self.bin(item), self.other_bin(item)].map(|bin| self.loads[bin as usize]);
            if loads[1] + 1 < loads[0] {
                self.move_over(item);
            }
        }
    }

    fn fits(&self) -> bool {
        self.loads.iter().all(|load| *load <= self.capacity)
    }

    fn into_table(self) -> TwoChoiceTable {
        let mut starts = Vec::with_capacity(self.loads.len() + 1);
        starts.push(0);
        for load in &self.loads {
            starts.push(starts[starts.len() - 1] + load);
        }
        let mut places = starts.clone();
        let nobody = Chosen {
            item: 0,
            choice: false,
        };
        let mut items = vec![nobody; self.choices.len()];
        for choice in [false, true] {
            let placed = (0..self.choices.len()).filter(|item| self.second[*item] == choice);
            for item in placed {
                let place = &mut places[self.bin(item) as usize];
                items[*place as usize] = Chosen {
                    item: item as u32,
                    choice,
                };
                *place += 1;
            }
        }
        TwoChoiceTable { items, starts }
    }
}

#[cfg(test)]
mod tests;
