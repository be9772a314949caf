//! Regular noise: a point in each block of positions.

use psijoin_block::{Prg, tower::Element};
use psijoin_params::lpn::RegularNoise;
use zeroize::{Zeroize, Zeroizing};

/// e.
pub(crate) struct Noise<E: Zeroize> {
    layout: RegularNoise,
    /// Of each point in its block.
    positions: Zeroizing<Vec<usize>>,
    values: Zeroizing<Vec<E>>,
}

impl<E: Element> Noise<E> {
    /// Draws positions, and then as many values by `draw`.
    pub(super) fn draw(
        layout: RegularNoise,
        draw: impl FnOnce(usize, &mut Prg) -> Vec<E>,
        rng: &mut Prg,
    ) -> Self {
        Self {
            layout,
            positions: positions(layout, rng),
            values: Zeroizing::new(draw(layout.points(), rng)),
        }
    }

    /// Returns where its points may be.
    pub(super) fn layout(&self) -> RegularNoise {
        self.layout
    }

    /// Returns N.
    pub(crate) fn len(&self) -> usize {
        self.layout.positions()
    }

    /// Returns where each point is in its block.
    pub(super) fn positions(&self) -> &[usize] {
        &self.positions
    }

    /// Returns what stands at each point.
    pub(super) fn values(&self) -> &[E] {
        &self.values
    }

    /// Returns the points, each with its position in e.
    pub(crate) fn points(&self) -> impl Iterator<Item = (usize, E)> {
        let starts = (0..).step_by(self.layout.block_len());
        starts
            .zip(self.positions.iter())
            .zip(self.values.iter())
            .map(|((start, position), value)| (start + position, *value))
    }
}

/// Returns a uniform position in each block (a draw's bias is at most the block's length over
/// 2^64).
fn positions(layout: RegularNoise, rng: &mut Prg) -> Zeroizing<Vec<usize>> {
    let mut draws = Zeroizing::new(vec![0_u64; layout.points()]);
    rng.fill_bytes(bytemuck::cast_slice_mut(&mut draws));
    let scaled = |draw: &u64| (u128::from(*draw) * layout.block_len() as u128) >> 64;
    Zeroizing::new(draws.iter().map(|draw| scaled(draw) as usize).collect())
}
