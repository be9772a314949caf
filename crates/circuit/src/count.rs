//! The cost of a circuit, found without evaluating it: wires have lanes, but nothing in them.

use std::{convert::Infallible, ops::Range};

use crate::{Backend, Lanes, Product, plain::Gates};

/// A number of lanes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width(pub usize);

impl Lanes for Width {
    fn lanes(&self) -> usize {
        self.0
    }

    fn gather(&self, lanes: &[u32]) -> Self {
        Self(lanes.len())
    }

    fn scatter(&mut self, _lanes: &[u32], _from: &Self) {}

    fn range(&self, range: Range<usize>) -> Self {
        Self(range.len())
    }

    fn append(&mut self, more: &Self) {
        self.0 += more.0;
    }
}

/// Counts gates, layer by layer.
#[derive(Debug)]
pub struct Count {
    layers: Vec<Gates>,
    shallow: bool,
}

impl Count {
    /// Wants few gates, as garbling does.
    pub fn small() -> Self {
        Self {
            layers: Vec::new(),
            shallow: false,
        }
    }

    /// Wants few layers, as GMW does.
    pub fn shallow() -> Self {
        Self {
            shallow: true,
            ..Self::small()
        }
    }

    /// Returns the gates of each layer.
    pub fn layers(&self) -> &[Gates] {
        &self.layers
    }

    /// Returns all gates.
    pub fn gates(&self) -> Gates {
        let mut all = Gates::default();
        for layer in &self.layers {
            all.add(layer);
        }
        all
    }
}

impl Backend for Count {
    type Wires = Width;
    type Error = Infallible;

    fn layers_take_rounds(&self) -> bool {
        self.shallow
    }

    fn constant(&self, _bit: bool, lanes: usize) -> Width {
        Width(lanes)
    }

    fn xor(&self, a: &Width, b: &Width) -> Width {
        assert_eq!(a, b, "as many lanes");
        *a
    }

    fn not(&self, a: &Width) -> Width {
        *a
    }

    fn products(&mut self, layer: &[Product<'_, Width>]) -> Result<Vec<Vec<Width>>, Infallible> {
        let mut gates = Gates::default();
        gates.count(layer);
        self.layers.push(gates);
        let products = layer.iter().map(|product| product.vector.to_vec());
        Ok(products.collect())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Bits, arithmetic, compare, duplicates, merge, plain::Plain, select};

    const BITS: usize = 9;

    /// Merges, finds duplicates, masks and counts them.
    fn circuit<B: Backend>(
        backend: &mut B,
        a: &[B::Wires],
        b: &[B::Wires],
    ) -> Result<(), B::Error> {
        let sorted = merge::merge(backend, BITS, a, b)?;
        let found = duplicates::duplicates(backend, &sorted)?;
        select::mask(backend, &found, &vec![found.clone(); BITS])?;
        let count = arithmetic::count_ones(backend, &found)?;
        compare::greater(backend, &count, &count)?;
        Ok(())
    }

    proptest! {
        #[test]
        fn gates_are_those_that_are_evaluated(first in 0..70_usize, second in 0..70_usize) {
            let zeros = |lanes| vec![Bits::zeros(lanes); BITS];
            let widths = |lanes| vec![Width(lanes); BITS];
            for (mut plain, mut count) in [
                (Plain::small(), Count::small()),
                (Plain::shallow(), Count::shallow()),
            ] {
                let Ok(()) = circuit(&mut plain, &zeros(first), &zeros(second));
                let Ok(()) = circuit(&mut count, &widths(first), &widths(second));
                prop_assert_eq!(plain.gates(), &count.gates());
                prop_assert_eq!(plain.gates().layers, count.layers().len() as u64);
            }
        }
    }
}
