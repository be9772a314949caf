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

use psijoin_block::tower::Element;

use super::{Row, peeling::Peeling};
use crate::Error;

/// A set of the rows set aside, one bit each; none if it is empty.
type Combination = Box<[u64]>;

/// The dependencies among the rows that peeling left, and their free slots.
pub(super) struct Core {
    /// Rows that were set aside.
    aside: Vec<u32>,
    /// The rows peeled after the first was set aside, each with those that it is to be added
    /// to.
    peeled: Vec<(u32, Combination)>,
    /// Combinations of the rows set aside, each with a free slot that no other combination
    /// here has.
    solvable: Vec<(Combination, u32)>,
    /// Further, independent combinations, which have no free slot.
    void: Vec<Combination>,
}

impl Core {
    /// Sets rows aside until all others are peeled, and eliminates.
    pub(super) fn new(peeling: &mut Peeling, rows: &[Row]) -> Self {
        let before = peeling.peeled().len();
        let aside = set_aside(peeling, rows);

        // For each slot, those rows set aside that have it, after the rows peeled so far were
        // added to them.
        let mut having = vec![Combination::default(); peeling.cells.len()];
        let none = vec![0; aside.len().div_ceil(64)].into_boxed_slice();
        for (i, &row) in aside.iter().enumerate() {
            let mut single = none.clone();
            single[i / 64] = 1 << (i % 64);
            for slot in rows[row as usize].slots {
                add(&mut having[slot as usize], &single);
            }
        }
        let mut peeled = Vec::new();
        for &slot in &peeling.peeled()[before..] {
            let cell = peeling.cells[slot as usize];
            let combination = std::mem::take(&mut having[slot as usize]);
            for other in cell.others() {
                add(&mut having[other], &combination);
            }
            peeled.push((cell.item() as u32, combination));
        }
        let (solvable, void) = eliminate(aside.len(), &having);
        Self {
            aside,
            peeled,
            solvable,
            void,
        }
    }

    /// Changes dense columns such that the void combinations of rows get the values that they must
    /// have.
    pub(super) fn solve_columns<V: Element>(
        &self,
        rows: &[Row],
        values: &[V],
        columns: &mut [V],
    ) -> Result<(), Error> {
        let equations = self.void.iter().map(|combination| {
            let mut equation = Equation::default();
            for row in self.members(combination) {
                equation.add(&Equation {
                    columns: rows[row as usize].columns(columns.len()),
                    value: values[row as usize],
                });
            }
            equation
        });
        solve(equations.collect(), columns)
    }

    /// Returns the rows, set aside or peeled, of a void combination: their slots cancel.
    fn members(&self, combination: &[u64]) -> impl Iterator<Item = u32> {
        let aside = self.chosen(combination);
        let peeled = self.peeled.iter();
        let peeled = peeled.filter(move |(_, added_to)| is_odd(combination, added_to));
        aside.chain(peeled.map(|(row, _)| *row))
    }

    /// Returns the rows set aside that are in a combination.
    fn chosen(&self, combination: &[u64]) -> impl Iterator<Item = u32> {
        let all = self.aside.iter().enumerate();
        all.filter(move |(i, _)| combination[i / 64] >> (i % 64) & 1 == 1)
            .map(|(_, row)| *row)
    }

    /// Changes free slots such that the rows set aside get their sums, once all slots of
    /// peeled rows are filled again.
    pub(super) fn solve_slots<V: Element>(&self, rows: &[Row], sums: &[V], bin: &mut [V]) {
        let missing = |row: u32| {
            let slots = rows[row as usize].slots.map(|slot| bin[slot as usize]);
            sums[row as usize] ^ slots[0] ^ slots[1] ^ slots[2]
        };
        let changes: Vec<V> = self
            .solvable
            .iter()
            .map(|(combination, _)| {
                let rows = self.chosen(combination);
                rows.fold(V::default(), |sum, row| sum ^ missing(row))
            })
            .collect();
        for ((_, slot), change) in self.solvable.iter().zip(changes) {
            bin[*slot as usize] ^= change;
        }
    }
}

/// Takes rows out until all others are peeled; returns those taken out.
fn set_aside(peeling: &mut Peeling, rows: &[Row]) -> Vec<u32> {
    let mut left = Left::new(peeling, rows);
    let mut aside = Vec::new();
    let mut slot = 0;
    let mut looked_at = 0;
    while peeling.peeled().len() + aside.len() < rows.len() {
        // A slot of two rows has a single one after a row is taken out. If there is none, any
        // other will do.
        let count = peeling.cells[slot].count();
        if count == 2 || (count > 2 && looked_at > peeling.cells.len()) {
            let row = left.best_of(slot, peeling, rows);
            peeling.set_aside(row, &rows[row as usize]);
            peeling.run();
            aside.push(row);
            left.rows[row as usize] = false;
            left.update(peeling);
            looked_at = 0;
        } else {
            slot = (slot + 1) % peeling.cells.len();
            looked_at += 1;
        }
    }
    aside
}

/// The rows that are neither peeled nor set aside.
struct Left {
    rows: Vec<bool>,
    /// The number of peeled ones that were taken out of `rows`.
    seen: usize,
    /// All rows that were left at first, by slot.
    by_slot: Vec<Vec<u32>>,
}

impl Left {
    fn new(peeling: &Peeling, rows: &[Row]) -> Self {
        let mut left = Self {
            rows: vec![true; rows.len()],
            seen: 0,
            by_slot: vec![Vec::new(); peeling.cells.len()],
        };
        left.update(peeling);
        for (item, row) in (0..).zip(rows) {
            if left.rows[item as usize] {
                for slot in row.slots {
                    left.by_slot[slot as usize].push(item);
                }
            }
        }
        left
    }

    fn update(&mut self, peeling: &Peeling) {
        for &slot in &peeling.peeled()[self.seen..] {
            self.rows[peeling.cells[slot as usize].item()] = false;
        }
        self.seen = peeling.peeled().len();
    }

    /// Returns the row of a slot that has the most slots of two rows.
    fn best_of(&self, slot: usize, peeling: &Peeling, rows: &[Row]) -> u32 {
        let candidates = self.by_slot[slot].iter().copied();
        let slots_of_two = |row: u32| {
            let slots = rows[row as usize].slots.into_iter();
            slots
                .filter(|slot| peeling.cells[*slot as usize].count() == 2)
                .count()
        };
        candidates
            .filter(|row| self.rows[*row as usize])
            .max_by_key(|row| slots_of_two(*row))
            .expect("the slot counts rows that are left")
    }
}

/// Eliminates `count` equations over GF(2) by Gauss and Jordan; `columns[slot]` are those that have
/// the slot. Returns the combinations that a slot was found for, and the void ones.
fn eliminate(count: usize, columns: &[Combination]) -> (Vec<(Combination, u32)>, Vec<Combination>) {
    let mut open: Vec<Combination> = (0..count)
        .map(|i| {
            let mut single = vec![0; count.div_ceil(64)].into_boxed_slice();
            single[i / 64] = 1 << (i % 64);
            single
        })
        .collect();
    let mut solvable: Vec<(Combination, u32)> = Vec::new();
    for (slot, column) in (0..).zip(columns) {
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
