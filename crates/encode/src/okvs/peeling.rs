//! Peeling: gives rows a slot of their own, one that no row peeled later has.

use psijoin_params::okvs::{MAX_BIN_ITEMS, MAX_SLOTS};
use psijoin_runtime::memory;

use super::Row;
use crate::Error;

const LOOKAHEAD: usize = 16;

/// The state of a slot in one word, about the rows that have it and are not peeled yet: their
/// number, and the exclusive or of their indices and of the other slots of each. If there is a
/// single row, that is all of it: peeling never looks at the rows themselves.
///
/// The others of slot i of a row are slots i+1 and i+2 (modulo 3), in this order.
#[derive(Clone, Copy, Default)]
pub(super) struct Cell(u64);

const SLOT_BITS: u32 = MAX_SLOTS.ilog2();
const ITEM_BITS: u32 = MAX_BIN_ITEMS.ilog2();
const COUNT_SHIFT: u32 = 2 * SLOT_BITS + ITEM_BITS;

impl Cell {
    const ONE: u64 = 1 << COUNT_SHIFT;

    /// Returns a row as one of its slots sees it.
    #[inline(always)]
    fn of(item: usize, others: [u32; 2]) -> u64 {
        (item as u64) << (2 * SLOT_BITS) | u64::from(others[1]) << SLOT_BITS | u64::from(others[0])
    }

    /// Returns the rows.
    #[inline(always)]
    pub(super) fn count(self) -> u64 {
        self.0 >> COUNT_SHIFT
    }

    /// Returns whether there are more rows than can be counted, or almost.
    fn is_overfull(self) -> bool {
        self.0 >> 63 == 1
    }

    /// Returns, after peeling, whether a row was peeled here. It stays in the cell then.
    #[inline(always)]
    pub(super) fn is_peeled(self) -> bool {
        self.count() == 1
    }

    /// Returns the index of the single row.
    #[inline(always)]
    pub(super) fn item(self) -> usize {
        (self.0 >> (2 * SLOT_BITS)) as usize % MAX_BIN_ITEMS as usize
    }

    /// Returns the other slots of the single row.
    #[inline(always)]
    pub(super) fn others(self) -> [usize; 2] {
        [self.0, self.0 >> SLOT_BITS].map(|bits| bits as usize % MAX_SLOTS as usize)
    }

    #[inline(always)]
    fn enter(&mut self, row: u64) {
        self.0 = (self.0 ^ row) + Self::ONE;
    }

    /// Returns the cell without a row if `is` is 1, and unchanged if that is 0.
    #[inline(always)]
    fn without(self, row: u64, is: u64) -> Self {
        Self((self.0 ^ (row & is.wrapping_neg())) - (is << COUNT_SHIFT))
    }
}

/// The slots of a bin, while its rows are peeled and after.
#[derive(Default)]
pub(super) struct Peeling {
    pub(super) cells: Vec<Cell>,
    /// First the slots at which rows were peeled, in this order, up to `peeled`; the last
    /// ones, from `next` up to `queued`, are those that had a single row when they were
    /// looked at, and have one or none now.
    queue: Vec<u32>,
    peeled: usize,
    next: usize,
    queued: usize,
}

impl Peeling {
    /// Enters all rows in their slots, and queues those slots that have a single one.
    ///
    /// # Errors
    /// [`Error::DependentRows`] if a slot has thousands of rows. Random rows never bring that
    /// about: with half as many slots as rows, the probability is below 2^-30000.
    ///
    /// # Panics
    /// If a row has a slot out of range.
    pub(super) fn start(&mut self, rows: &[Row], slots: usize) -> Result<(), Error> {
        self.cells.clear();
        self.cells.resize(slots, Cell::default());
        let mut all = Cell::default();
        for (item, row) in rows.iter().enumerate() {
            let [x, y, z] = row.slots;
            for (slot, others) in [(x, [y, z]), (y, [z, x]), (z, [x, y])] {
                let cell = &mut self.cells[slot as usize];
                cell.enter(Cell::of(item, others));
                all.0 |= cell.0;
            }
        }
        if all.is_overfull() {
            return Err(Error::DependentRows);
        }
        // A slot comes to have a single row only once, but one place more makes writing
        // ahead safe.
        self.queue.resize(slots + LOOKAHEAD + 2, 0);
        let mut queued = 0;
        for (slot, cell) in (0..).zip(&self.cells) {
            self.queue[queued] = slot;
            queued += usize::from(cell.count() == 1);
        }
        (self.peeled, self.next, self.queued) = (0, 0, queued);
        Ok(())
    }

    /// Peels as long as a slot has a single row.
    ///
    /// Nothing here branches on what the slots hold: the processor could not guess it, and
    /// works on several rows at once instead.
    #[inline(never)]
    pub(super) fn run(&mut self) {
        let cells = &mut self.cells[..];
        let queue = &mut self.queue[..];
        let (mut peeled, mut next, mut queued) = (self.peeled, self.next, self.queued);
        while next < queued {
            memory::prefetch(&cells[queue[next + LOOKAHEAD] as usize]);
            let slot = queue[next];
            next += 1;
            let cell = cells[slot as usize];
            let single = u64::from(cell.count() == 1);
            queue[peeled] = slot;
            peeled += single as usize;
            let (item, [y, z]) = (cell.item(), cell.others());
            let seen_from = [
                (y, Cell::of(item, [z as u32, slot])),
                (z, Cell::of(item, [slot, y as u32])),
            ];
            for (other, row) in seen_from {
                let cell = cells[other].without(row, single);
                cells[other] = cell;
                queue[queued] = other as u32;
                queued += (single & u64::from(cell.count() == 1)) as usize;
            }
        }
        (self.peeled, self.next, self.queued) = (peeled, next, queued);
    }

    /// Takes a row out that was not peeled, and queues those of its slots that are left with
    /// a single row.
    pub(super) fn set_aside(&mut self, item: u32, row: &Row) {
        let [x, y, z] = row.slots;
        for (slot, others) in [(x, [y, z]), (y, [z, x]), (z, [x, y])] {
            let cell = &mut self.cells[slot as usize];
            *cell = cell.without(Cell::of(item as usize, others), 1);
            self.queue[self.queued] = slot;
            self.queued += usize::from(cell.count() == 1);
        }
    }

    /// Returns the slots at which rows were peeled, in this order.
    pub(super) fn peeled(&self) -> &[u32] {
        &self.queue[..self.peeled]
    }
}
