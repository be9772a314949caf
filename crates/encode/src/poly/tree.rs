//! Subproduct trees: the polynomials that vanish on groups of points.

use std::sync::OnceLock;

use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element, subproducts};
use psijoin_runtime::parallel;

use super::transform::{self, Places};
use crate::Error;

/// Points of a block, whose levels stay in the second-level cache.
pub(super) const BLOCK_LOG: u32 = 11;

/// Elements that are inverted together.
const TASK_LOG: u32 = 14;

/// The nodes of a level, 2^log points each (the last one may have fewer). A node's polynomial
/// M, the product of all (x − point), is given at 2^log places each of two kinds.
#[derive(Default)]
pub(super) struct Level {
    pub(super) log: u32,
    /// M on W_log.
    pub(super) base: Vec<Element>,
    /// M on x^log + W_log.
    pub(super) shifted: Vec<Element>,
}

/// Returns the smallest k with 2^k ≥ n.
pub(super) fn log_ceil(n: usize) -> u32 {
    n.next_power_of_two().ilog2()
}

/// Returns how many elements a task of a level works on: whole parents.
fn task_len(log: u32) -> usize {
    1 << (log + 1).max(BLOCK_LOG)
}

impl Level {
    /// Returns one node per point: x − point at 0 and 1.
    fn leaves(fft: &AdditiveFft, points: &[Element]) -> Self {
        let one = fft.field().one();
        Self {
            log: 0,
            base: points.to_vec(),
            shifted: points.iter().map(|point| *point ^ one).collect(),
        }
    }

    /// Returns what the parents are on W_(log + 1).
    fn products(&self, fft: &AdditiveFft) -> Vec<Element> {
        let mut base = vec![Element::ZERO; self.base.len().next_multiple_of(2 << self.log)];
        let task = task_len(self.log);
        let mut tasks: Vec<_> = (base.chunks_mut(task))
            .zip(self.base.chunks(task))
            .zip(self.shifted.chunks(task))
            .collect();
        parallel::each_mut(&mut tasks, &|_, ((parents, first), second)| {
            subproducts::products(fft.field(), 1 << self.log, first, second, parents);
        });
        base
    }

    /// Returns the level of 2^`log` points per node with these values on W_log.
    fn from_base(fft: &AdditiveFft, log: u32, base: Vec<Element>, points: usize) -> Self {
        let mut shifted = base.clone();
        shift(fft, log, &mut shifted, points);
        Self { log, base, shifted }
    }

    /// Takes polynomials of twice as many coefficients as a node has points, given on W_(log + 1),
    /// to their remainders on W_log, each divided by ŝ_log + 1. `inverses` are those of `shifted`.
    pub(super) fn descend(
        &self,
        fft: &AdditiveFft,
        inverses: &[Element],
        polynomials: &mut Vec<Element>,
        scratch: &mut Vec<Element>,
    ) {
        let (half, task) = (1 << self.log, task_len(self.log));
        scratch.resize(self.base.len(), Element::ZERO);
        let outputs = polynomials.chunks_mut(task).zip(scratch.chunks_mut(task));
        let inputs = self.base.chunks(task).zip(inverses.chunks(task));
        let mut tasks: Vec<_> = outputs.zip(inputs).collect();
        parallel::each_mut(&mut tasks, &|_, task| {
            let ((parents, quotients), (base, inverses)) = task;
            subproducts::quotients(fft.field(), half, parents, inverses, quotients);
            transform::extend(fft, self.log, Places::Shifted, quotients);
            subproducts::remainders(fft.field(), half, parents, quotients, base);
        });
        polynomials.truncate(self.base.len());
    }

    /// Takes numerators n of the fractions n/M, given on W_log for each node, to those of the
    /// sums of neighbours' fractions, on W_(log + 1).
    pub(super) fn ascend(
        &self,
        fft: &AdditiveFft,
        numerators: &mut Vec<Element>,
        scratch: &mut Vec<Element>,
    ) {
        let (half, task) = (1 << self.log, task_len(self.log));
        scratch.clone_from(numerators);
        numerators.resize(self.base.len().next_multiple_of(2 * half), Element::ZERO);
        let outputs = numerators.chunks_mut(task).zip(scratch.chunks_mut(task));
        let inputs = self.base.chunks(task).zip(self.shifted.chunks(task));
        let mut tasks: Vec<_> = outputs.zip(inputs).collect();
        parallel::each_mut(&mut tasks, &|_, task| {
            let ((nodes, others), (base, shifted)) = task;
            transform::extend(fft, self.log, Places::Base, others);
            subproducts::numerators(fft.field(), half, nodes, others, base, shifted);
        });
    }
}

/// Takes the monic polynomials of the nodes of a level from W_log to x^log + W_log.
fn shift(fft: &AdditiveFft, log: u32, values: &mut [Element], points: usize) {
    transform::extend(fft, log, Places::Base, values);
    // The coefficient of x^(2^log) was not extended. It is s_log, zero on W_log, and its pivot on
    // the coset. A node with fewer points has no such coefficient.
    let full = points >> log << log;
    let pivot = fft.pivot(log);
    values[..full].iter_mut().for_each(|value| *value ^= pivot);
}

/// Returns the levels 0 to `top` − 1 over these points, in ascending order.
pub(super) fn levels(fft: &AdditiveFft, points: &[Element], top: u32) -> Vec<Level> {
    let mut levels: Vec<Level> = Vec::with_capacity(top as usize);
    for log in 0..top {
        levels.push(match levels.last() {
            None => Level::leaves(fft, points),
            Some(below) => Level::from_base(fft, log, below.products(fft), points.len()),
        });
    }
    levels
}

/// Returns what the product of all (x − point) is on W_top, given the levels below: for each 2^top
/// points.
pub(super) fn root(fft: &AdditiveFft, levels: &[Level], points: &[Element]) -> Vec<Element> {
    match levels.last() {
        None => points.to_vec(),
        Some(below) => below.products(fft),
    }
}

/// Returns the levels [`BLOCK_LOG`] to `top` − 1, in ascending order. Those below are dropped as
/// soon as they have served.
pub(super) fn upper_levels(fft: &AdditiveFft, points: &[Element], top: u32) -> Vec<Level> {
    if top <= BLOCK_LOG {
        return Vec::new();
    }
    let len = points.len().next_multiple_of(1 << BLOCK_LOG);
    let mut base = vec![Element::ZERO; len];
    let blocks = base.chunks_mut(1 << BLOCK_LOG);
    let mut blocks: Vec<_> = blocks.zip(points.chunks(1 << BLOCK_LOG)).collect();
    parallel::each_mut(&mut blocks, &|_, (base, points)| {
        let below = levels(fft, points, BLOCK_LOG);
        base.copy_from_slice(&root(fft, &below, points));
    });
    let mut upper: Vec<Level> = Vec::with_capacity((top - BLOCK_LOG) as usize);
    for log in BLOCK_LOG..top {
        let base = match upper.last() {
            None => std::mem::take(&mut base),
            Some(below) => below.products(fft),
        };
        upper.push(Level::from_base(fft, log, base, points.len()));
    }
    upper
}

/// Does all tasks on the threads of the caller's pool. After an error, which is returned, no more
/// tasks are started.
pub(super) fn try_each<T: Send>(
    tasks: &mut [T],
    work: &(dyn Fn(&mut T) -> Result<(), Error> + Sync),
) -> Result<(), Error> {
    let failed = OnceLock::new();
    parallel::each_mut(tasks, &|_, task| {
        if failed.get().is_none()
            && let Err(error) = work(task)
        {
            failed.get_or_init(|| error);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

/// Returns the inverses of all elements, on the threads of the caller's pool; an error if one is
/// zero: if a place is a point.
pub(super) fn inverses(
    fft: &AdditiveFft,
    mut elements: Vec<Element>,
) -> Result<Vec<Element>, Error> {
    let mut tasks: Vec<_> = elements.chunks_mut(1 << TASK_LOG).collect();
    try_each(&mut tasks, &|elements| {
        let invertible = fft.field().invert_all(elements);
        invertible.then_some(()).ok_or(Error::UnfitPoints)
    })?;
    Ok(elements)
}

/// Takes polynomials from the top of these levels to their remainders in the leaves, as
/// [`Level::descend`].
pub(super) struct Descent<'a> {
    levels: &'a [Level],
    /// Of all levels, one after the other.
    inverses: Vec<Element>,
}

impl<'a> Descent<'a> {
    /// Inverts all levels at once: a single inversion takes as long as a hundred products. An
    /// error if a place is a point.
    pub(super) fn new(fft: &AdditiveFft, levels: &'a [Level]) -> Result<Self, Error> {
        let shifted = levels.iter().flat_map(|level| &level.shifted).copied();
        let inverses = inverses(fft, shifted.collect())?;
        Ok(Self { levels, inverses })
    }

    pub(super) fn run(
        &self,
        fft: &AdditiveFft,
        polynomials: &mut Vec<Element>,
        scratch: &mut Vec<Element>,
    ) {
        let mut rest = &self.inverses[..];
        for level in self.levels.iter().rev() {
            let (below, inverses) = rest.split_at(rest.len() - level.shifted.len());
            level.descend(fft, inverses, polynomials, scratch);
            rest = below;
        }
    }
}

/// Returns what remainders in the leaves are to be multiplied with, the products of ŝ_k(point) + 1
/// over all k below `top`, and s_top of the points. None if a point is zero.
pub(super) fn corrections(
    fft: &AdditiveFft,
    points: &[Element],
    top: u32,
) -> Option<(Vec<Element>, Vec<Element>)> {
    // ŝ_k + 1 is s_(k+1)/s_k, except for the pivot: s_top/s_0 is left of the product.
    let field = fft.field();
    let mut monic = points.to_vec();
    let mut shifted = vec![Element::ZERO; points.len()];
    let mut pivots = field.one();
    for k in 0..top {
        let pivot = fft.pivot(k);
        for (shifted, monic) in shifted.iter_mut().zip(&monic) {
            *shifted = *monic ^ pivot;
        }
        field.multiply(&mut monic, &shifted);
        pivots = field.product(pivots, pivot);
    }
    let mut inverses = points.to_vec();
    let invertible = field.invert_all(&mut inverses);
    let mut corrections = vec![Element::ZERO; points.len()];
    field.add_multiples(&mut corrections, field.invert(pivots), &inverses);
    field.multiply(&mut corrections, &monic);
    invertible.then_some((corrections, monic))
}
