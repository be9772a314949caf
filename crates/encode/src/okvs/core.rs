//! Rows that peeling leaves: elimination.
//!
//! If every slot that is left has two rows or more, rows are *set aside* one by one, until the
//! others can be peeled. Each row that is set aside is then a combination of the rows peeled
//! after it was (their own slots cancel) and of *free* slots, at which no row was peeled: one
//! equation for the free slots, over GF(2). Gaussian elimination may find equations without free
//! slots, because sparse rows depend on each other. These are left to the dense columns.
//!
//! In RR22 all rows set aside are left to the dense columns. That needs enough more slots that
//! (almost) none is set aside; here the whole solution space of the equations is used, however many
//! there are.

use psijoin_block::{Prg, tower::Element};
use psijoin_params::okvs::Shape;

use super::{Row, decode::Columns, equations::Equations, peeling::Peeling};
use crate::Error;

/// A set of the rows set aside, one bit each; none if it is empty.
type Combination = Box<[u64]>;

/// The dependencies among the rows that peeling left, and their free slots.
pub(super) struct Core<V> {
    left: Left<V>,
    /// Rows that were set aside.
    aside: Vec<usize>,
    /// The rows peeled then, each with the slot at which it was.
    peeled: Vec<(usize, usize)>,
    /// For each of these, the rows set aside that it is to be added to.
    added_to: Vec<Combination>,
    /// Combinations of the rows set aside, each with a free slot that no other combination
    /// here has.
    solvable: Vec<(Combination, usize)>,
    /// Further, independent combinations, which have no free slot.
    void: Vec<Combination>,
}

/// The rows that peeling left, and their slots, by numbers of their own.
struct Left<V> {
    /// The rows, each with its value.
    rows: Vec<(Row, V)>,
    /// The slots of each.
    slots_of: Vec<Vec<usize>>,
    /// The number of each slot among all.
    slots: Vec<usize>,
    /// The rows of each slot.
    rows_of: Vec<Vec<usize>>,
}

impl<V: Element> Left<V> {
    fn new(shape: Shape, all: &dyn Equations<V>, peeling: &Peeling<V>) -> Self {
        let (mut left, mut slots_of) = (Vec::new(), Vec::new());
        for start in 0..shape.starts as usize {
            all.each(start, &mut |_, rows, values| {
                let rows = rows.iter().zip(values);
                for (row, value) in rows.filter(|(row, _)| !peeling.has_peeled(row, start)) {
                    left.push((*row, *value));
                    slots_of.push(row.slots_from(start, shape).collect::<Vec<_>>());
                }
            });
        }
        let mut slots = slots_of.concat();
        slots.sort_unstable();
        slots.dedup();
        let mut rows_of = vec![Vec::new(); slots.len()];
        for (row, slots_of) in slots_of.iter_mut().enumerate() {
            for slot in slots_of {
                *slot = slots.binary_search(slot).expect("a slot of a row");
                rows_of[*slot].push(row);
            }
        }
        Self {
            rows: left,
            slots_of,
            slots,
            rows_of,
        }
    }
}

impl<V: Element> Core<V> {
    /// Sets rows aside until all others are peeled, and eliminates.
    pub(super) fn new(shape: Shape, all: &dyn Equations<V>, peeling: &Peeling<V>) -> Self {
        let left = Left::new(shape, all, peeling);
        let (aside, peeled) = set_aside(&left);
        // For each slot, those rows set aside that have it, after the rows peeled so far were
        // added to them.
        let mut having = vec![Combination::default(); left.slots.len()];
        let none = vec![0; aside.len().div_ceil(64)].into_boxed_slice();
        for (i, row) in aside.iter().enumerate() {
            let mut single = none.clone();
            single[i / 64] = 1 << (i % 64);
            for slot in &left.slots_of[*row] {
                add(&mut having[*slot], &single);
            }
        }
        let mut added_to = Vec::new();
        for (row, own) in &peeled {
            let combination = std::mem::take(&mut having[*own]);
            for slot in left.slots_of[*row].iter().filter(|slot| *slot != own) {
                add(&mut having[*slot], &combination);
            }
            added_to.push(combination);
        }
        let (solvable, void) = eliminate(aside.len(), &having);
        Self {
            left,
            aside,
            peeled,
            added_to,
            solvable,
            void,
        }
    }

    /// Changes dense columns such that the void combinations of rows get the values that they must
    /// have. Returns whether there are any.
    pub(super) fn solve_columns(&self, columns: &mut [V]) -> Result<bool, Error> {
        let equations = self.void.iter().map(|combination| {
            let mut equation = Equation::default();
            for row in self.members(combination) {
                let (row, value) = self.left.rows[row];
                equation.add(&Equation {
                    columns: row.columns(columns.len()),
                    value,
                });
            }
            equation
        });
        solve(equations.collect(), columns)?;
        Ok(!self.void.is_empty())
    }

    /// Returns the rows, set aside or peeled, of a void combination: their slots cancel.
    fn members(&self, combination: &[u64]) -> impl Iterator<Item = usize> {
        let aside = self.chosen(combination);
        let peeled = self.peeled.iter().zip(&self.added_to);
        let peeled = peeled.filter(move |(_, added_to)| is_odd(combination, added_to));
        aside.chain(peeled.map(|((row, _), _)| *row))
    }

    /// Returns the rows set aside that are in a combination.
    fn chosen(&self, combination: &[u64]) -> impl Iterator<Item = usize> {
        let all = self.aside.iter().enumerate();
        all.filter(move |(i, _)| combination[i / 64] >> (i % 64) & 1 == 1)
            .map(|(_, row)| *row)
    }

    /// Fills the slots of the rows that are left. What the equations leave free is random, from
    /// `prg`.
    pub(super) fn solve_slots(
        &self,
        columns: &Columns<V>,
        peeling: &mut Peeling<V>,
        prg: &mut Prg,
    ) {
        let sum = |(row, value): &(Row, V)| {
            let mut sum = [*value];
            columns.add(std::slice::from_ref(row), &mut sum);
            sum[0]
        };
        let sums: Vec<V> = self.left.rows.iter().map(sum).collect();
        let mut elements = vec![V::default(); self.left.slots.len()];
        V::fill(&mut elements, prg);
        self.substitute(&sums, &mut elements);
        let changes: Vec<V> = (self.solvable.iter())
            .map(|(combination, _)| {
                let rows = self.chosen(combination);
                let missing = rows.map(|row| self.missing(row, sums[row], &elements));
                missing.fold(V::default(), |sum, missing| sum ^ missing)
            })
            .collect();
        for ((_, slot), change) in self.solvable.iter().zip(changes) {
            elements[*slot] ^= change;
        }
        self.substitute(&sums, &mut elements);
        for (slot, element) in self.left.slots.iter().zip(elements) {
            peeling.set(*slot, element);
        }
    }

    /// Fills the slots at which rows were peeled, from the last to the first.
    fn substitute(&self, sums: &[V], elements: &mut [V]) {
        for (row, slot) in self.peeled.iter().rev() {
            let missing = self.missing(*row, sums[*row], elements);
            elements[*slot] ^= missing;
        }
    }

    /// Returns what the slots of a row lack of their sum.
    fn missing(&self, row: usize, sum: V, elements: &[V]) -> V {
        let slots = self.left.slots_of[row].iter();
        slots.fold(sum, |sum, slot| sum ^ elements[*slot])
    }
}

/// Takes rows out until all others are peeled. Returns those taken out, and the others in the order
/// of peeling, with their slots.
fn set_aside<V>(left: &Left<V>) -> (Vec<usize>, Vec<(usize, usize)>) {
    let (mut aside, mut peeled) = (Vec::new(), Vec::new());
    let mut rest = Rest::of(left);
    while aside.len() + peeled.len() < left.rows.len() {
        let row = rest.next_aside();
        rest.take(row);
        aside.push(row);
        while let Some((row, slot)) = rest.single() {
            rest.take(row);
            peeled.push((row, slot));
        }
    }
    (aside, peeled)
}

/// The rows that are neither peeled nor set aside.
struct Rest<'a, V> {
    left: &'a Left<V>,
    has: Vec<bool>,
    /// How many of them each slot has.
    counts: Vec<usize>,
    /// Slots that came to have a single one.
    singles: Vec<usize>,
    /// The slot that was looked at last.
    slot: usize,
}

impl<'a, V> Rest<'a, V> {
    fn of(left: &'a Left<V>) -> Self {
        Self {
            left,
            has: vec![true; left.rows.len()],
            counts: left.rows_of.iter().map(Vec::len).collect(),
            singles: Vec::new(),
            slot: 0,
        }
    }

    fn take(&mut self, row: usize) {
        self.has[row] = false;
        for slot in &self.left.slots_of[row] {
            self.counts[*slot] -= 1;
            if self.counts[*slot] == 1 {
                self.singles.push(*slot);
            }
        }
    }

    /// Returns the single row of a slot, and this slot.
    fn single(&mut self) -> Option<(usize, usize)> {
        while let Some(slot) = self.singles.pop() {
            if let Some(row) = self.rows_of(slot).next() {
                return Some((row, slot));
            }
        }
        None
    }

    fn rows_of(&self, slot: usize) -> impl Iterator<Item = usize> {
        let rows = self.left.rows_of[slot].iter().copied();
        rows.filter(|row| self.has[*row])
    }

    /// Returns the row to set aside: of a slot of two rows, as it has a single one then; or of any
    /// slot, if there is none. It is the one with the most slots of two rows.
    fn next_aside(&mut self) -> usize {
        let slots = self.counts.len();
        let from_here = (0..slots).map(|i| (self.slot + i) % slots);
        let mut slots = from_here.filter(|slot| self.counts[*slot] >= 2).peekable();
        let any = slots.peek().copied();
        let of_two = slots.find(|slot| self.counts[*slot] == 2);
        self.slot = of_two.or(any).expect("rows that are left have slots");
        let slots_of_two = |row: &usize| {
            let slots = self.left.slots_of[*row].iter();
            slots.filter(|slot| self.counts[**slot] == 2).count()
        };
        let rows = self.rows_of(self.slot);
        rows.max_by_key(slots_of_two).expect("a row of the slot")
    }
}

/// Eliminates `count` equations over GF(2) by Gauss and Jordan; `columns[slot]` are those that have
/// the slot. Returns the combinations that a slot was found for, and the void ones.
fn eliminate(
    count: usize,
    columns: &[Combination],
) -> (Vec<(Combination, usize)>, Vec<Combination>) {
    let mut open: Vec<Combination> = (0..count)
        .map(|i| {
            let mut single = vec![0; count.div_ceil(64)].into_boxed_slice();
            single[i / 64] = 1 << (i % 64);
            single
        })
        .collect();
    let mut solvable: Vec<(Combination, usize)> = Vec::new();
    for (slot, column) in columns.iter().enumerate() {
        let has_slot = |combination: &Combination| is_odd(combination, column);
        let Some(found) = open.iter().position(has_slot) else {
            continue;
        };
        let pivot = open.swap_remove(found);
        let others = solvable.iter_mut().map(|(combination, _)| combination);
        for other in others.chain(&mut open) {
            if is_odd(other, column) {
                add(other, &pivot);
            }
        }
        solvable.push((pivot, slot));
    }
    (solvable, open)
}

/// Returns whether two combinations have an odd number of rows in common.
fn is_odd(a: &[u64], b: &[u64]) -> bool {
    a.iter()
        .zip(b)
        .fold(0, |sum, (a, b)| sum ^ (a & b))
        .count_ones()
        % 2
        == 1
}

/// Computes the symmetric difference.
fn add(to: &mut Combination, combination: &Combination) {
    if to.is_empty() {
        to.clone_from(combination);
        return;
    }
    for (to, word) in to.iter_mut().zip(combination) {
        *to ^= word;
    }
}

/// An equation for the dense columns.
#[derive(Clone, Copy, Default)]
struct Equation<V> {
    /// A bit for each column.
    columns: u128,
    /// The sum of these columns.
    value: V,
}

impl<V: Element> Equation<V> {
    fn add(&mut self, other: &Self) {
        self.columns ^= other.columns;
        self.value ^= other.value;
    }
}

/// Solves equations over GF(2) by Gauss-Jordan elimination. Columns that the equations leave free
/// keep their values.
fn solve<V: Element>(mut equations: Vec<Equation<V>>, columns: &mut [V]) -> Result<(), Error> {
    for i in 0..equations.len() {
        let pivot = equations[i];
        let column = lowest(pivot.columns).ok_or(Error::DependentRows)?;
        let others = equations.iter_mut().enumerate().filter(|(j, _)| *j != i);
        for (_, other) in others {
            if other.columns >> column & 1 == 1 {
                other.add(&pivot);
            }
        }
    }
    for equation in &equations {
        let pivot = lowest(equation.columns).expect("a pivot for each equation");
        let free = (columns.iter().enumerate())
            .filter(|(column, _)| *column != pivot && equation.columns >> column & 1 == 1);
        columns[pivot] = free.fold(equation.value, |sum, (_, column)| sum ^ *column);
    }
    Ok(())
}

/// Returns the first column of an equation.
fn lowest(columns: u128) -> Option<usize> {
    (columns != 0).then(|| columns.trailing_zeros() as usize)
}
