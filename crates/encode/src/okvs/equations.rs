//! The equations of a store: a row and a value for each item, start by start.

use std::ops::Range;

use psijoin_block::tower::Element;

use super::{Partition, Row, RowHasher, decode::BATCH};

/// Takes in some rows of a start and their values, given their places among all.
pub(super) type Work<'a, V> = dyn FnMut(Range<usize>, &[Row], &[V]) + 'a;

/// Rows in the order of their starts, with the values that they are to have.
pub(super) trait Equations<V> {
    /// Returns how many there are.
    fn len(&self) -> usize;

    /// Calls `work` with all rows of a start, up to [`BATCH`] at a time.
    fn each(&self, start: usize, work: &mut Work<'_, V>);
}

/// The items of a store, and the values that they are to have. Rows and values are computed
/// whenever they are needed, and take no memory.
pub struct Items<'a, V> {
    hasher: &'a RowHasher,
    items: &'a Partition,
    program: Option<&'a Program<'a, V>>,
}

/// Changes the values of items, given their places in the order of starts.
type Program<'a, V> = dyn Fn(Range<usize>, &mut [V]) + Sync + 'a;

impl<'a, V: Element> Items<'a, V> {
    /// Returns items, sorted by their starts, with the values that the hash gives them.
    ///
    /// # Panics
    /// If they are sorted into another number of starts.
    pub fn hashed(hasher: &'a RowHasher, items: &'a Partition) -> Self {
        let starts = hasher.shape().starts as usize;
        assert_eq!(items.bins(), starts, "items of each start");
        Self {
            hasher,
            items,
            program: None,
        }
    }

    /// Returns them with other values, which `program` puts in the place of those of the hash. It
    /// must always give the same ones.
    pub fn programmed(self, program: &'a Program<'a, V>) -> Self {
        Self {
            program: Some(program),
            ..self
        }
    }

    /// Returns the function that gives rows.
    pub(super) fn hasher(&self) -> &RowHasher {
        self.hasher
    }
}

impl<V: Element> Equations<V> for Items<'_, V> {
    fn len(&self) -> usize {
        self.items.digests().len()
    }

    fn each(&self, start: usize, work: &mut Work<'_, V>) {
        let mut rows = [Row::default(); BATCH];
        let mut values = [V::default(); BATCH];
        let places = self.items.range(start).step_by(BATCH);
        for (digests, first) in self.items.bin(start).0.chunks(BATCH).zip(places) {
            let len = digests.len();
            let (rows, values) = (&mut rows[..len], &mut values[..len]);
            self.hasher.hash(digests, rows, values);
            if let Some(program) = self.program {
                program(first..first + len, values);
            }
            work(first..first + len, rows, values);
        }
    }
}
