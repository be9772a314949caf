//! Peeling: gives rows a slot of their own, one that no row peeled later has.

use bytemuck::{Pod, Zeroable};
use psijoin_block::tower::Element;
use psijoin_params::okvs::{COUPLED_WEIGHT, MAX_ROW_SPAN, Shape, UNIFORM_WEIGHT};
use psijoin_runtime::memory::{Buffer, prefetch, prefetch_all};

use super::{
    Row,
    decode::{BATCH, Columns},
    equations::Equations,
};
use crate::Error;

/// Slots that are fetched ahead.
const LOOKAHEAD: usize = 16;

/// Rows whose slots are fetched before they are entered.
const ROWS_AHEAD: usize = 16;

/// A row as one of its slots sees it: how far the others are from it, in a circle. A sum of views
/// has how many they are, and the exclusive or of the rest: if there is a single one, it is that
/// one, and peeling never looks at the rows themselves.
#[derive(Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(transparent)]
struct View(u64);

impl View {
    /// Distances are modulo 2^18: all slots of a row lie within 2^17.
    const DISTANCE_BITS: u32 = MAX_ROW_SPAN.ilog2() + 1;
    const DISTANCE_MASK: u64 = (1 << Self::DISTANCE_BITS) - 1;
    const COUNT_SHIFT: u32 = 3 * Self::DISTANCE_BITS;
    const ONE: u64 = 1 << Self::COUNT_SHIFT;

    /// Returns the view of the slot with this number, without a count. `slots` are all slots of the
    /// row, from any slot on.
    #[inline(always)]
    fn of<const W: usize>(number: usize, slots: [u64; W]) -> u64 {
        let mut view = 0;
        for further in 1..W {
            let distance = slots[(number + further) % W].wrapping_sub(slots[number]);
            view |=
                (distance & Self::DISTANCE_MASK) << (Self::DISTANCE_BITS * (further as u32 - 1));
        }
        view
    }

    /// Returns the distances of a single row's slots, from this slot on, as signed numbers.
    #[inline(always)]
    fn distances<const W: usize>(self) -> [u64; W] {
        const UNUSED: u32 = u64::BITS - View::DISTANCE_BITS;
        std::array::from_fn(|further| match further {
            0 => 0,
            _ => {
                let shift = UNUSED - Self::DISTANCE_BITS * (further as u32 - 1);
                ((self.0 << shift) as i64 >> UNUSED) as u64
            }
        })
    }

    /// Returns how many rows there are.
    #[inline(always)]
    fn count(self) -> u64 {
        self.0 >> Self::COUNT_SHIFT
    }

    /// Returns whether there are more rows than can be counted, or almost.
    fn is_overfull(self) -> bool {
        self.0 >> 63 == 1
    }

    #[inline(always)]
    fn with(self, row: u64) -> Self {
        Self((self.0 ^ row) + Self::ONE)
    }

    #[inline(always)]
    fn without(self, row: u64) -> Self {
        Self((self.0 ^ row) - Self::ONE)
    }
}

/// The state of a slot: the rows that have it and are not peeled yet, and the sum of what their
/// slots must add up to. The row that was peeled at a slot stays in it.
#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C, packed)]
struct Cell<V> {
    view: View,
    sum: V,
}

impl<V: Pod> Cell<V> {
    #[inline(always)]
    fn view(&self) -> View {
        self.view
    }
}

/// The slots of a store, while its rows are peeled and after.
///
/// Peeling goes from the last segment to the first, in one pass: a slot is looked at from when its
/// segment was reached. The rows of all later segments are peeled by then, but for a few. So what
/// is worked on at a time are a few segments, and the slots of a segment can be filled when those
/// of all later ones are not yet.
pub(super) struct Peeling<V: Element> {
    shape: Shape,
    cells: Buffer<Cell<V>>,
    /// First the slots at which rows were peeled, in this order, up to `peeled`; the last ones,
    /// from `next` up to `queued`, are those that had a single row when they were looked at, and
    /// have one or none now.
    queue: Buffer<u32>,
    peeled: usize,
    next: usize,
    queued: usize,
    /// How many rows had been peeled when a segment was reached.
    reached: Vec<usize>,
}

impl<V: Element> Peeling<V> {
    /// Peels as many rows as can be. The slots of each are to have the row's value less its dense
    /// columns.
    ///
    /// # Errors
    /// [`Error::DependentRows`] if a slot has hundreds of rows. Random rows never bring that
    /// about: with half as many slots as rows, the probability is below 2^-2000.
    ///
    /// # Panics
    /// If a row has a slot out of range.
    pub(super) fn new(
        shape: Shape,
        equations: &dyn Equations<V>,
        columns: &Columns<V>,
    ) -> Result<Self, Error> {
        let (slots, segments) = (shape.slots(), shape.segments());
        let mut peeling = Self {
            shape,
            cells: Buffer::zeroed(slots),
            // Some places more make reading and writing ahead safe.
            queue: Buffer::zeroed(slots + LOOKAHEAD + 1),
            peeled: 0,
            next: 0,
            queued: 0,
            reached: vec![0; segments],
        };
        match shape.weight {
            UNIFORM_WEIGHT => {
                peeling.sweep::<{ UNIFORM_WEIGHT as usize }>(equations, columns)?;
            }
            _ => peeling.sweep::<{ COUPLED_WEIGHT as usize }>(equations, columns)?,
        }
        Ok(peeling)
    }

    fn sweep<const W: usize>(
        &mut self,
        equations: &dyn Equations<V>,
        columns: &Columns<V>,
    ) -> Result<(), Error> {
        for segment in (0..self.shape.segments()).rev() {
            if let Some(start) = (segment + 1).checked_sub(W) {
                self.enter::<W>(start, equations, columns)?;
            }
            self.reached[segment] = self.peeled;
            self.look_at(segment);
            self.run::<W>(segment * self.shape.segment_slots as usize);
        }
        Ok(())
    }

    /// Enters the rows of a start in their slots.
    fn enter<const W: usize>(
        &mut self,
        start: usize,
        equations: &dyn Equations<V>,
        columns: &Columns<V>,
    ) -> Result<(), Error> {
        // The other segments have rows already.
        self.fetch(start);
        let len = self.shape.segment_slots as usize;
        let mut segments = self.cells[start * len..].chunks_exact_mut(len);
        let mut segments: [&mut [Cell<V>]; W] =
            std::array::from_fn(|_| segments.next().expect("segments from each start on"));
        let mut all = View::default();
        let mut sums = [V::default(); BATCH];
        equations.each(start, &mut |_, rows, values| {
            let sums = &mut sums[..rows.len()];
            sums.copy_from_slice(values);
            columns.add(rows, sums);
            for (i, (row, sum)) in rows.iter().zip(sums).enumerate() {
                if let Some(ahead) = rows.get(i + ROWS_AHEAD) {
                    for (segment, slot) in segments.iter().zip(ahead.slots) {
                        prefetch(&segment[usize::from(slot)]);
                    }
                }
                let slots = std::array::from_fn(|i| (i * len) as u64 + u64::from(row.slots[i]));
                for (number, segment) in segments.iter_mut().enumerate() {
                    let cell = &mut segment[usize::from(row.slots[number])];
                    let view = cell.view.with(View::of::<W>(number, slots));
                    *cell = Cell {
                        view,
                        sum: cell.sum ^ *sum,
                    };
                    all.0 |= view.0;
                }
            }
        });
        match all.is_overfull() {
            true => Err(Error::DependentRows),
            false => Ok(()),
        }
    }

    /// Queues the slots of a segment that have a single row.
    fn look_at(&mut self, segment: usize) {
        // All that was queued has been peeled, or has no row any more.
        let mut queued = self.peeled;
        self.next = queued;
        let len = self.shape.segment_slots as usize;
        let first = segment * len;
        let queue = &mut self.queue[..];
        for (slot, cell) in (first as u32..).zip(&self.cells[first..][..len]) {
            queue[queued] = slot;
            queued += usize::from(cell.view().count() == 1);
        }
        self.queued = queued;
    }

    /// Peels as long as a slot from `first` on has a single row.
    ///
    /// Nothing here branches on how many rows the other slots of a row have: the processor could
    /// not guess it, and works on several rows at once instead.
    #[inline(never)]
    fn run<const W: usize>(&mut self, first: usize) {
        let (cells, queue) = (&mut self.cells[..], &mut self.queue[..]);
        let (mut peeled, mut next, mut queued) = (self.peeled, self.next, self.queued);
        while next < queued {
            prefetch(&cells[queue[next + LOOKAHEAD] as usize]);
            let ahead = queue[next + LOOKAHEAD / 2] as usize;
            for distance in &cells[ahead].view().distances::<W>()[1..] {
                if let Some(cell) = cells.get(ahead.wrapping_add(*distance as usize)) {
                    prefetch(cell);
                }
            }
            let slot = queue[next];
            next += 1;
            let Cell { view, sum } = cells[slot as usize];
            if view.count() != 1 {
                continue;
            }
            queue[peeled] = slot;
            peeled += 1;
            let distances = view.distances::<W>();
            for number in 1..W {
                let other = (slot as usize).wrapping_add(distances[number] as usize);
                let cell = &mut cells[other];
                let view = cell.view.without(View::of(number, distances));
                *cell = Cell {
                    view,
                    sum: cell.sum ^ sum,
                };
                queue[queued] = other as u32;
                queued += usize::from((view.count() == 1) & (other >= first));
            }
        }
        (self.peeled, self.next, self.queued) = (peeled, next, queued);
    }

    /// Returns how many rows were peeled.
    pub(super) fn peeled(&self) -> usize {
        self.peeled
    }

    /// Returns whether a row of this start was peeled.
    pub(super) fn has_peeled(&self, row: &Row, start: usize) -> bool {
        self.slot_of(row, start).is_some()
    }

    /// Returns the number of the slot at which a row of this start was peeled. No other row with
    /// the same slots was.
    fn slot_of(&self, row: &Row, start: usize) -> Option<usize> {
        match self.shape.weight {
            UNIFORM_WEIGHT => self.slot_of_row::<{ UNIFORM_WEIGHT as usize }>(row, start),
            _ => self.slot_of_row::<{ COUPLED_WEIGHT as usize }>(row, start),
        }
    }

    fn slot_of_row<const W: usize>(&self, row: &Row, start: usize) -> Option<usize> {
        let mut slots = row.slots_from(start, self.shape);
        let slots: [usize; W] = std::array::from_fn(|_| slots.next().expect("a slot"));
        let found = (0..W).find(|number| {
            let view = View::of(*number, slots.map(|slot| slot as u64));
            self.cells[slots[*number]].view() == View::default().with(view)
        });
        found.map(|number| slots[number])
    }

    /// Changes what the slots of peeled rows must add up to, after the columns have changed.
    pub(super) fn change_columns(&mut self, equations: &dyn Equations<V>, columns: &Columns<V>) {
        let mut sums = [V::default(); BATCH];
        for start in 0..self.shape.starts as usize {
            equations.each(start, &mut |_, rows, values| {
                let sums = &mut sums[..rows.len()];
                sums.copy_from_slice(values);
                columns.add(rows, sums);
                for (row, sum) in rows.iter().zip(sums) {
                    if let Some(slot) = self.slot_of(row, start) {
                        self.cells[slot].sum = *sum;
                    }
                }
            });
        }
    }

    /// Fills all slots at which no row was peeled, from the first on.
    pub(super) fn fill_free(&mut self, mut random: impl FnMut(&mut [V])) {
        let len = self.shape.segment_slots as usize;
        // One element more serves those that come last.
        let mut drawn = vec![V::default(); len + 1];
        for segment in self.cells.chunks_exact_mut(len) {
            let is_free = |cell: &Cell<V>| usize::from(cell.view().count() == 0);
            random(&mut drawn[..segment.iter().map(is_free).sum()]);
            let mut used = 0;
            for cell in segment {
                let is_free = is_free(cell);
                // Peeled slots are written, too, to save a branch that cannot be guessed.
                cell.sum = [cell.sum, drawn[used]][is_free];
                used += is_free;
            }
        }
    }

    /// Gives a slot at which no row was peeled its element.
    pub(super) fn set(&mut self, slot: usize, element: V) {
        self.cells[slot].sum = element;
    }

    /// Fills the slots at which rows were peeled since a segment was reached, and before `end` were
    /// peeled, from the last to the first: each has its row's sum less the other slots. Returns how
    /// many had been peeled when the segment was reached: `end` of the segment after it.
    ///
    /// After that, the segment has all of its elements.
    pub(super) fn substitute(&mut self, segment: usize, end: usize) -> usize {
        self.fetch(segment + self.shape.weight as usize - 1);
        match self.shape.weight {
            UNIFORM_WEIGHT => {
                self.substitute_rows::<{ UNIFORM_WEIGHT as usize }>(self.reached[segment], end);
            }
            _ => self.substitute_rows::<{ COUPLED_WEIGHT as usize }>(self.reached[segment], end),
        }
        self.reached[segment]
    }

    /// Fetches the slots of a segment, if there is one.
    fn fetch(&self, segment: usize) {
        let len = self.shape.segment_slots as usize;
        if let Some(cells) = self.cells.chunks_exact(len).nth(segment) {
            prefetch_all(cells);
        }
    }

    #[inline(never)]
    fn substitute_rows<const W: usize>(&mut self, first: usize, end: usize) {
        let (cells, order) = (&mut self.cells[..], &self.queue[first..end]);
        for (i, slot) in order.iter().enumerate().rev() {
            let ahead = order[i.saturating_sub(LOOKAHEAD)];
            prefetch(&cells[ahead as usize]);
            let slot = *slot as usize;
            let Cell { view, sum } = cells[slot];
            let others = view.distances::<W>();
            cells[slot].sum = others[1..].iter().fold(sum, |sum, distance| {
                sum ^ cells[slot.wrapping_add(*distance as usize)].sum
            });
        }
    }

    /// Copies what the slots of a segment have.
    pub(super) fn copy(&self, segment: usize, elements: &mut Vec<V>) {
        let len = self.shape.segment_slots as usize;
        elements.clear();
        elements.extend(
            self.cells[segment * len..][..len]
                .iter()
                .map(|cell| cell.sum),
        );
    }
}
