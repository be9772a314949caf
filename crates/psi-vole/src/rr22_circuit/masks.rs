//! The expansion of an output of the PRF: a mask for the target of its key, and one for each column
//! of numbers.

use psijoin_block::{Block, crhf, tower::Element};

/// Outputs that are stretched at once.
const AT_ONCE: usize = 128;

/// The mask's purpose.
#[derive(Debug, Clone, Copy)]
pub(super) enum Of {
    Target,
    Column(usize),
}

/// Adds its mask to each of the values, which belong to these outputs F of the PRF: the lowest bits
/// of π(x) ⊕ x, where x is F with the mask's number added. F is random to a party that must not
/// know its masks, so no x comes twice.
///
/// # Panics
/// If there are fewer outputs than values.
pub(super) fn mask<V: Element>(of: Of, mut outputs: impl Iterator<Item = u128>, values: &mut [V]) {
    let number = match of {
        Of::Target => 0,
        Of::Column(column) => 1 + column as u128,
    };
    let mut blocks = [Block::ZERO; AT_ONCE];
    for values in values.chunks_mut(AT_ONCE) {
        let blocks = &mut blocks[..values.len()];
        for block in blocks.iter_mut() {
            *block = Block(outputs.next().expect("an output for each value") ^ number);
        }
        crhf::correlation_robust(blocks);
        for (value, block) in values.iter_mut().zip(blocks) {
            *value ^= V::from_bytes(&block.to_bytes()[..V::BYTES]);
        }
    }
}

#[cfg(test)]
mod tests {
    use psijoin_block::tower::{Gf64, Subspace, Tower};

    use super::*;

    fn masks<V: Element>(of: Of, outputs: &[u128]) -> Vec<V> {
        let mut masks = vec![V::default(); outputs.len()];
        mask(of, outputs.iter().copied(), &mut masks);
        masks
    }

    /// Outputs in more than one chunk. No two of their masks are alike.
    #[test]
    fn masks_differ_by_number_and_by_output() {
        let outputs: Vec<u128> = (0..AT_ONCE as u128 + 3)
            .map(|i| i << 64 | 1 << 100)
            .collect();
        let lists =
            [Of::Target, Of::Column(0), Of::Column(1)].map(|of| masks::<Gf64>(of, &outputs));
        let mut all: Vec<u64> = lists.iter().flatten().map(|mask| mask.0).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 3 * outputs.len());
    }

    #[test]
    fn shorter_masks_are_the_beginnings_of_longer_ones() {
        let outputs = [7, u128::MAX];
        let long = masks::<Tower>(Of::Target, &outputs);
        let short = masks::<Gf64>(Of::Target, &outputs);
        let between = masks::<Subspace<Tower, 72>>(Of::Target, &outputs);
        for ((long, short), between) in long.iter().zip(&short).zip(&between) {
            let long = bytemuck::bytes_of(long);
            assert_eq!(long[..8], short.0.to_le_bytes());
            assert_eq!(bytemuck::bytes_of(between)[..9], long[..9]);
        }
    }
}
