use std::hint::black_box;

use super::Slot;
use crate::CHOICES;

/// Bins whose items are looked up and moved together. One item alone waits for memory three
/// times; this many at a time overlap.
const BATCH: usize = 128;

/// Bins that are looked through at a time for a candidate that is alone.
const SCAN: usize = 1024;

/// A bin during peeling, in one word so that reaching it costs one cache line: the XOR of
/// the slots of its candidates, that is, the items not yet placed that may go there, and
/// above it their number. The XOR for a single candidate is its slot.
#[derive(Clone, Copy)]
struct Bin(u32);

impl Bin {
    const VACANT: Self = Self(0);
    const ONE: u32 = 1 << Slot::BITS;
    /// This many candidates or more: no longer counted, and never peeled. Random choices
    /// bring it about once in 10⁸ bins; the items of the bin may be peeled from their others.
    const MANY: u32 = 14;
    /// The number of candidates that marks a bin as taken.
    const PEELED: u32 = 15;

    fn candidates(self) -> u32 {
        self.0 >> Slot::BITS
    }

    fn slot(self) -> Slot {
        Slot(self.0 % Self::ONE)
    }

    fn is_peeled(self) -> bool {
        self.candidates() == Self::PEELED
    }

    fn peel(&mut self) {
        self.0 |= Self::PEELED << Slot::BITS;
    }

    fn enter(&mut self, slot: Slot) {
        let counted = u32::from(self.candidates() < Self::MANY);
        self.0 = (self.0 ^ slot.0) + counted * Self::ONE;
    }

    /// Takes a candidate out; true if that leaves a single one.
    fn withdraw(&mut self, slot: Slot) -> bool {
        if self.candidates() < Self::MANY {
            self.0 = (self.0 ^ slot.0) - Self::ONE;
        }
        self.candidates() == 1
    }
}

/// An item about to be placed: the bin where it is alone, and its other candidacies.
struct Move {
    bin: u32,
    others: [(u32, Slot); CHOICES - 1],
}

impl Move {
    fn new(bin: u32, slot: Slot, choices: &[[u32; CHOICES]]) -> Self {
        let choice = &choices[slot.item()];
        let other = |which| (choice[which], Slot::new(slot.item(), which));
        // The two of 0, 1, 2 that its own choice leaves.
        let first = usize::from(slot.choice() == 0);
        let second = 2 - usize::from(slot.choice() == 2);
        Self {
            bin,
            others: [other(first), other(second)],
        }
    }
}

/// All bins during peeling.
pub(super) struct Bins(Vec<Bin>);

impl Bins {
    /// Enters every item in all its bins.
    pub(super) fn new(choices: &[[u32; CHOICES]], bins: usize) -> Self {
        let mut bins = vec![Bin::VACANT; bins];
        for (item, choice) in choices.iter().enumerate() {
            for (which, &bin) in choice.iter().enumerate() {
                bins[bin as usize].enter(Slot::new(item, which));
            }
        }
        Self(bins)
    }

    /// Places items that are alone in a bin until there is none, and returns the number placed.
    pub(super) fn peel(&mut self, choices: &[[u32; CHOICES]]) -> usize {
        let mut peeled = 0;
        let mut scanned = 0;
        let mut alone = Vec::new();
        let mut moves = Vec::with_capacity(BATCH);
        loop {
            while alone.len() < BATCH && scanned < self.0.len() {
                let end = self.0.len().min(scanned + SCAN);
                let bins = (scanned..end).filter(|&bin| self.0[bin].candidates() == 1);
                alone.extend(bins.map(|bin| bin as u32));
                scanned = end;
            }
            if alone.is_empty() {
                return peeled;
            }
            let batch = alone.drain(alone.len().saturating_sub(BATCH)..);
            let (singles, len) = self.singles(batch);
            moves.clear();
            moves.extend(
                singles[..len]
                    .iter()
                    .map(|&(bin, slot)| Move::new(bin, slot, choices)),
            );
            self.touch(&moves);
            peeled += self.make(&moves, &mut alone);
        }
    }

    /// Returns the bins of a batch that still have a single candidate, with that candidate.
    ///
    /// Counts instead of branching: the processor cannot guess which bins these are, and a
    /// wrong guess would wait for memory.
    fn singles(&self, bins: impl Iterator<Item = u32>) -> ([(u32, Slot); BATCH], usize) {
        let mut singles = [(0, Slot::EMPTY); BATCH];
        let mut len = 0;
        for bin in bins {
            let word = self.0[bin as usize];
            singles[len] = (bin, word.slot());
            len += usize::from(word.candidates() == 1);
        }
        (singles, len)
    }

    /// Brings the bins of all moves into the cache at once. Without it, each move would wait
    /// for its own, as whether it leaves a single candidate cannot be guessed either.
    fn touch(&self, moves: &[Move]) {
        let bins = moves
            .iter()
            .flat_map(|step| &step.others)
            .map(|&(bin, _)| bin);
        black_box(bins.fold(0, |sum, bin| sum ^ self.0[bin as usize].0));
    }

    /// Places the items, notes the bins where that leaves an item alone (without branching, as
    /// above), and returns the number placed.
    fn make(&mut self, moves: &[Move], alone: &mut Vec<u32>) -> usize {
        let mut placed = 0;
        let mut now_alone = [0; BATCH * (CHOICES - 1)];
        let mut len = 0;
        for step in moves {
            let bin = &mut self.0[step.bin as usize];
            if bin.candidates() != 1 {
                // The item was alone in two bins, and went to the other.
                continue;
            }
            bin.peel();
            placed += 1;
            for (other, slot) in step.others {
                now_alone[len] = other;
                len += usize::from(self.0[other as usize].withdraw(slot));
            }
        }
        alone.extend_from_slice(&now_alone[..len]);
        placed
    }

    /// Returns for each bin whether it was peeled.
    pub(super) fn peeled(&self) -> Vec<bool> {
        self.0.iter().map(|bin| bin.is_peeled()).collect()
    }

    /// Returns what peeling placed in each bin.
    pub(super) fn into_slots(self) -> Vec<Slot> {
        let slot = |bin: Bin| {
            if bin.is_peeled() {
                bin.slot()
            } else {
                Slot::EMPTY
            }
        };
        self.0.into_iter().map(slot).collect()
    }
}
