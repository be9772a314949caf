//! Encoding one bin: solving its linear equations.

use psijoin_block::{Prg, tower::Element};
use psijoin_params::okvs::{MAX_BIN_ITEMS, MAX_DENSE, MAX_SLOTS, MIN_SLOTS, Shape};

use super::{
    Row, core,
    decode::{BATCH, Columns},
    peeling::Peeling,
};
use crate::Error;

/// Encodes bins of one shape, one after the other; keeps its working memory (about 12 bytes a
/// slot, and the size of one value per item) from bin to bin. Each thread needs its own.
pub struct Encoder<V> {
    shape: Shape,
    peeling: Peeling,
    /// The sums that the slots of each row must have.
    sums: Vec<V>,
}

impl<V: Element> Encoder<V> {
    /// Makes an encoder for stores of this shape.
    ///
    /// # Panics
    /// If the shape has less than 3 or more than 2^17 slots per bin, more than 2^17 items, or
    /// more than 96 dense columns.
    pub fn new(shape: Shape) -> Self {
        assert!(
            (MIN_SLOTS..=MAX_SLOTS).contains(&shape.slots)
                && shape.bin_items <= MAX_BIN_ITEMS
                && shape.dense <= MAX_DENSE,
            "a bin has 3 to 2^17 slots, up to 2^17 items and 96 dense columns"
        );
        Self {
            shape,
            peeling: Peeling::default(),
            sums: Vec::new(),
        }
    }

    /// Writes a uniformly random vector `bin` in which `rows[i]` has the value `values[i]`
    /// for all i: the slots, then the dense columns.
    ///
    /// All freedom that the equations leave is filled from `prg`. If the values are random to the
    /// party that sees the vector, then so is the whole vector, whatever the rows: it has every
    /// value that solves the equations with the same probability, and each vector solves them for
    /// exactly one choice of values. With fixed numbers in unused slots instead, the vector would
    /// tell which slots no item has.
    ///
    /// # Errors
    /// [`Error::TooManyItems`] if there are more rows than the bin is made for, and
    /// [`Error::DependentRows`] if they are linearly dependent, as equal rows are; then `bin`
    /// holds nothing of use. [`psijoin_params::okvs::failure`] bounds the probability of both.
    ///
    /// # Panics
    /// If there is not a value for each row, `bin` does not have the length of a bin, or a row has
    /// slots out of range.
    pub fn encode_bin(
        &mut self,
        rows: &[Row],
        values: &[V],
        bin: &mut [V],
        prg: &mut Prg,
    ) -> Result<(), Error> {
        assert_eq!(rows.len(), values.len(), "a value for each row");
        assert_eq!(bin.len(), self.shape.bin_slots(), "a vector of one bin");
        if rows.len() > self.shape.bin_items as usize {
            return Err(Error::TooManyItems);
        }
        self.peeling.start(rows, self.shape.slots as usize)?;
        self.peeling.run();
        let peeled = self.peeling.peeled().len();
        let core = (peeled < rows.len()).then(|| core::Core::new(&mut self.peeling, rows));

        self.fill_free(bin, prg);
        if let Some(core) = &core {
            let columns = &mut bin[self.shape.slots as usize..];
            core.solve_columns(rows, values, columns)?;
        }
        self.sum_up(rows, values, bin);
        if let Some(core) = core {
            self.substitute(peeled, bin);
            core.solve_slots(rows, &self.sums, bin);
        }
        self.substitute(0, bin);
        Ok(())
    }

    /// Fills all columns, and the slots at which no row was peeled, at random.
    #[inline(never)]
    fn fill_free(&mut self, bin: &mut [V], prg: &mut Prg) {
        let cells = &self.peeling.cells;
        let (slots, columns) = bin.split_at_mut(cells.len());
        V::fill(columns, prg);
        // Peeled slots are written, too, to save a branch that cannot be guessed; one element
        // more serves those that come last.
        let free = cells.len() - self.peeling.peeled().len();
        self.sums.resize(free + 1, V::default());
        V::fill(&mut self.sums, prg);
        let mut used = 0;
        for (slot, cell) in slots.iter_mut().zip(cells) {
            *slot = self.sums[used];
            used += usize::from(!cell.is_peeled());
        }
    }

    /// Takes the part of the columns out of the values.
    #[inline(never)]
    fn sum_up(&mut self, rows: &[Row], values: &[V], bin: &[V]) {
        self.sums.clear();
        self.sums.extend_from_slice(values);
        let columns = Columns::new(&bin[self.shape.slots as usize..]);
        for (rows, sums) in rows.chunks(BATCH).zip(self.sums.chunks_mut(BATCH)) {
            columns.add(rows, sums);
        }
    }

    /// Fills the slots at which rows were peeled, in reverse order from the last to number
    /// `first`: each has its row's sum less the other two slots.
    #[inline(never)]
    fn substitute(&self, first: usize, bin: &mut [V]) {
        for &slot in self.peeling.peeled()[first..].iter().rev() {
            let cell = self.peeling.cells[slot as usize];
            let [y, z] = cell.others();
            bin[slot as usize] = self.sums[cell.item()] ^ bin[y] ^ bin[z];
        }
    }
}
