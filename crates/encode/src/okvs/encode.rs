//! Encoding: solving the linear equations of a store.

use psijoin_block::{Prg, tower::Element};
use psijoin_params::okvs::Shape;
use psijoin_runtime::memory::Buffer;

use super::{Items, core::Core, decode::Columns, equations::Equations, peeling::Peeling};
use crate::Error;

/// A uniformly random vector in which each row has its value. It is filled segment by segment.
pub struct Encoder<V: Element> {
    shape: Shape,
    columns: Vec<V>,
    peeling: Peeling<V>,
    /// The segments that are filled, from the first on.
    filled: usize,
    /// The rows whose slots are not filled yet, the first that were peeled.
    left: usize,
    /// The last segment that was filled.
    segment: Vec<V>,
}

impl<V: Element> Encoder<V> {
    /// Prepares a vector in which these items have their values. All is decided then; the segments
    /// are filled as they are asked for.
    ///
    /// All freedom that the equations leave is filled from `prg`. If the values are random to the
    /// party that sees the vector, then so is the whole vector, whatever the rows: it has every
    /// value that solves the equations with the same probability, and each vector solves them for
    /// exactly one choice of values. With fixed numbers in unused slots instead, the vector would
    /// tell which slots no item has.
    ///
    /// # Errors
    /// [`Error::DependentRows`] if the rows are linearly dependent, as equal rows are.
    /// [`psijoin_params::okvs::failure`] bounds the probability of that.
    ///
    /// # Panics
    /// If there is no store of the shape of the items' rows ([`Shape::check`]).
    pub fn new(items: &Items<'_, V>, prg: &mut Prg) -> Result<Self, Error> {
        Self::of(items.hasher().shape(), items, prg)
    }

    pub(super) fn of(
        shape: Shape,
        equations: &dyn Equations<V>,
        prg: &mut Prg,
    ) -> Result<Self, Error> {
        shape.check();
        let mut columns = vec![V::default(); shape.dense as usize];
        V::fill(&mut columns, prg);
        let mut peeling = Peeling::new(shape, equations, &Columns::new(&columns))?;
        let is_left = peeling.peeled() < equations.len();
        let core = is_left.then(|| Core::new(shape, equations, &peeling));
        if let Some(core) = &core
            && core.solve_columns(&mut columns)?
        {
            peeling.change_columns(equations, &Columns::new(&columns));
        }
        peeling.fill_free(|elements| V::fill(elements, prg));
        if let Some(core) = core {
            core.solve_slots(&Columns::new(&columns), &mut peeling, prg);
        }
        Ok(Self {
            shape,
            columns,
            filled: 0,
            left: peeling.peeled(),
            peeling,
            segment: Vec::new(),
        })
    }

    /// Returns the dense columns.
    pub fn columns(&self) -> &[V] {
        &self.columns
    }

    /// Returns the next segment, from the first on.
    ///
    /// # Panics
    /// If all were returned.
    pub fn next_segment(&mut self) -> &[V] {
        self.left = self.peeling.substitute(self.filled, self.left);
        self.peeling.copy(self.filled, &mut self.segment);
        self.filled += 1;
        &self.segment
    }

    /// Returns all elements: dense columns, then slots.
    ///
    /// # Panics
    /// If segments were returned before.
    pub fn into_elements(mut self) -> Buffer<V> {
        assert_eq!(self.filled, 0, "all segments");
        let mut elements = Buffer::zeroed(self.shape.len());
        let (columns, slots) = elements.split_at_mut(self.columns.len());
        columns.copy_from_slice(&self.columns);
        for segment in slots.chunks_exact_mut(self.shape.segment_slots as usize) {
            segment.copy_from_slice(self.next_segment());
        }
        elements
    }
}
