//! A whole store in memory.

use std::ops::Range;

use psijoin_block::{Prg, scatter, tower::Element};
use psijoin_params::okvs::Shape;
use psijoin_runtime::parallel;

use super::{Decoder, Encoder, Items, Partition, Row, RowHasher};
use crate::{Digests, Error};

/// A store of values that lies in memory as a whole. Protocols that send a store make and use it
/// piece by piece ([`Encoder`], [`Decoder`]).
#[derive(Debug, Clone, PartialEq)]
pub struct Store<V> {
    shape: Shape,
    elements: Vec<V>,
}

impl<V: Element> Store<V> {
    /// Returns a store in which each of these distinct keys has its value. What the values leave
    /// free is random, from `prg`.
    ///
    /// # Errors
    /// If the rows of the keys are linearly dependent: [`psijoin_params::okvs::failure`] bounds the
    /// probability of that, for keys that do not depend on the key of `rows`.
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
        let keys = Partition::new(keys, shape.starts);
        let program = |places: Range<usize>, programmed: &mut [V]| {
            let positions = &keys.positions()[places];
            for (value, position) in programmed.iter_mut().zip(positions) {
                *value = values[*position as usize];
            }
        };
        let items = Items::hashed(rows, &keys).programmed(&program);
        let elements = Encoder::new(&items, prg)?.into_elements();
        Ok(Self {
            shape,
            elements: elements.to_vec(),
        })
    }

    /// Returns the store of these elements, as the other party sent them.
    ///
    /// # Panics
    /// If they are not as many as a store of this shape has.
    pub fn from_elements(shape: Shape, elements: Vec<V>) -> Self {
        assert_eq!(elements.len(), shape.len(), "a whole store");
        Self { shape, elements }
    }

    /// Returns all elements: the dense columns, then the segments.
    pub fn elements(&self) -> &[V] {
        &self.elements
    }

    /// Returns the values of keys: those that were encoded, or others, which are pseudorandom if
    /// the values are.
    pub fn decode(&self, rows: &RowHasher, keys: Digests<'_>) -> Vec<V> {
        let (columns, slots) = self.elements.split_at(self.shape.dense as usize);
        let decoder = Decoder::new(self.shape, columns);
        let keys = Partition::new(keys, self.shape.starts);
        let mut by_start = vec![V::default(); keys.digests().len()];
        let mut tasks: Vec<_> = keys
            .iter()
            .zip(scatter::split(&mut by_start, keys.lens()))
            .collect();
        parallel::each_mut(&mut tasks, &|start, ((keys, _), values)| {
            let mut of_keys = vec![Row::default(); keys.len()];
            // The values that the hash gives keys are not needed.
            rows.hash(*keys, &mut of_keys, values);
            decoder.decode(start, slots, &of_keys, values);
        });
        drop(tasks);
        let mut values = vec![V::default(); by_start.len()];
        for (position, value) in keys.positions().iter().zip(by_start) {
            values[*position as usize] = value;
        }
        values
    }
}
