use super::Slot;
use crate::CHOICES;

/// No step came before this one.
const START: u32 = u32::MAX;

/// A bin that the search reached, and the step whose bin's item would move there.
struct Step {
    bin: u32,
    from: u32,
}

/// Places items in bins that are not closed, moving others of them where needed.
pub(super) struct Search<'a> {
    choices: &'a [[u32; CHOICES]],
    slots: &'a mut [Slot],
    /// Bins that the search may not enter: peeled, or reached already.
    closed: Vec<bool>,
    steps: Vec<Step>,
}

impl<'a> Search<'a> {
    /// Returns a search over the bins that are not `peeled`.
    pub(super) fn new(
        choices: &'a [[u32; CHOICES]],
        slots: &'a mut [Slot],
        peeled: Vec<bool>,
    ) -> Self {
        Self {
            choices,
            slots,
            closed: peeled,
            steps: Vec::new(),
        }
    }

    /// Places every item that peeling left, as many as can be, and returns the others.
    pub(super) fn place_remaining(mut self) -> Vec<u32> {
        // A peeled item lies in a peeled bin; an item that is left has no such bin.
        let is_left = |choice: &[u32; CHOICES], closed: &[bool]| {
            choice.iter().all(|&bin| !closed[bin as usize])
        };
        let choices = self.choices.iter().enumerate();
        let left: Vec<u32> = choices
            .filter(|(_, choice)| is_left(choice, &self.closed))
            .map(|(item, _)| item as u32)
            .collect();
        left.into_iter()
            .filter(|&item| !self.place(item as usize))
            .collect()
    }

    /// Looks for the shortest chain of moves that ends in an empty bin, and makes it.
    ///
    /// If there is none, the bins that were reached stay closed: all of them are full of
    /// items with no bin outside of them, now and after any later moves.
    fn place(&mut self, item: usize) -> bool {
        self.steps.clear();
        self.reach(item, START);
        let mut next = 0;
        while next < self.steps.len() {
            let slot = self.slots[self.steps[next].bin as usize];
            if slot == Slot::EMPTY {
                self.make_moves(item, next);
                self.reopen();
                return true;
            }
            self.reach(slot.item(), next as u32);
            next += 1;
        }
        false
    }

    /// Notes all bins of an item that were not reached yet.
    fn reach(&mut self, item: usize, from: u32) {
        for bin in self.choices[item] {
            let closed = &mut self.closed[bin as usize];
            if !*closed {
                *closed = true;
                self.steps.push(Step { bin, from });
            }
        }
    }

    /// Moves each item on the way to the empty bin of step `last`, and puts `item` where
    /// the way starts.
    fn make_moves(&mut self, item: usize, last: usize) {
        let mut step = &self.steps[last];
        loop {
            let start = step.from == START;
            let from = (!start).then(|| &self.steps[step.from as usize]);
            let moved = from.map_or(item, |from| self.slots[from.bin as usize].item());
            let choice = self.choices[moved].iter().position(|&bin| bin == step.bin);
            let choice = choice.expect("a step leads to a bin of the item that takes it");
            self.slots[step.bin as usize] = Slot::new(moved, choice);
            match from {
                Some(from) => step = from,
                None => return,
            }
        }
    }

    fn reopen(&mut self) {
        for step in &self.steps {
            self.closed[step.bin as usize] = false;
        }
    }
}
