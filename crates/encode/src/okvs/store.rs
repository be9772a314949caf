//! A whole store in memory.

use psijoin_block::{Prg, scatter, tower::Element};
use psijoin_params::okvs::Shape;
use psijoin_runtime::parallel;

use super::{Decoder, Encoder, Partition, Row, RowHasher};
use crate::{Digests, Error};

/// A store of values that lies in memory as a whole. Protocols that send a store make and use it
/// bin by bin ([`Encoder`], [`Decoder`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Store<V> {
    shape: Shape,
    bins: Vec<V>,
}

impl<V: Element> Store<V> {
    /// Returns a store in which each of these distinct keys has its value. What the values leave
    /// free is random, from `prg`.
    ///
    /// # Errors
    /// If the rows of the keys are linearly dependent, or a bin has too many of them:
    /// [`psijoin_params::okvs::failure`] bounds the probability of that, for keys that do not
    /// depend on the key of `rows`.
    ///
    /// # Panics
    /// If there is not a value for each key, or `rows` is of another shape.
    pub fn encode(
        shape: Shape,
        rows: &RowHasher,
        keys: Digests<'_>,
        values: &[V],
        prg: &mut Prg,
    ) -> Result<Self, Error> {
        assert_eq!(keys.len(), values.len(), "a value for each key");
        let parts = Partition::new(keys, shape.bins);
        let mut bins = vec![V::default(); shape.len()];
        let mut tasks: Vec<_> = (bins.chunks_exact_mut(shape.bin_slots()))
            .zip(parts.iter())
            .map(|(bin, part)| (bin, part, prg.fork(), Ok(())))
            .collect();
        let encoder = || Encoder::new(shape);
        parallel::each_mut_with(&mut tasks, &encoder, &|_, task, encoder| {
            let (bin, (keys, positions), prg, result) = task;
            let of_keys = rows_of::<V>(rows, *keys);
            let values = positions.iter().map(|position| values[*position as usize]);
            *result = encoder.encode_bin(&of_keys, &values.collect::<Vec<_>>(), bin, prg);
        });
        tasks.into_iter().try_for_each(|(.., result)| result)?;
        Ok(Self { shape, bins })
    }

    /// Returns the store of these elements, as the other party sent them.
    ///
    /// # Panics
    /// If they are not as many as a store of this shape has.
    pub fn from_elements(shape: Shape, elements: Vec<V>) -> Self {
        assert_eq!(elements.len(), shape.len(), "a whole store");
        Self {
            shape,
            bins: elements,
        }
    }

    /// Returns all elements, bin by bin.
    pub fn elements(&self) -> &[V] {
        &self.bins
    }

    /// Returns the values of keys: those that were encoded, or others, which are pseudorandom if
    /// the values are.
    pub fn decode(&self, rows: &RowHasher, keys: Digests<'_>) -> Vec<V> {
        let parts = Partition::new(keys, self.shape.bins);
        let mut by_bin = vec![V::default(); keys.len()];
        let mut tasks: Vec<_> = (self.bins.chunks_exact(self.shape.bin_slots()))
            .zip(parts.iter())
            .zip(scatter::split(&mut by_bin, parts.lens()))
            .collect();
        parallel::each_mut(&mut tasks, &|_, ((bin, (keys, _)), values)| {
            Decoder::new(self.shape, bin).decode(&rows_of::<V>(rows, *keys), values);
        });
        drop(tasks);
        let mut values = vec![V::default(); keys.len()];
        for (position, value) in parts.positions().iter().zip(by_bin) {
            values[*position as usize] = value;
        }
        values
    }
}

fn rows_of<V: Element>(hasher: &RowHasher, keys: Digests<'_>) -> Vec<Row> {
    let mut rows = vec![Row::default(); keys.len()];
    // The values that a hash gives keys are not needed.
    let mut values = vec![V::default(); keys.len()];
    hasher.hash(keys, &mut rows, &mut values);
    rows
}
