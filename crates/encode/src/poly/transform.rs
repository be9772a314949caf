//! The FFT on the threads of the caller's pool.

use psijoin_block::{additive_fft::AdditiveFft, gf2k::Element};
use psijoin_runtime::parallel;

/// Transforms that one task computes, and those that are not divided.
const TASK_LOG: u32 = 13;

/// A set of 2^k places at which values are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Places {
    /// W_k.
    Base,
    /// x^k + W_k.
    Shifted,
}

impl Places {
    fn offset(self, log: u32) -> usize {
        match self {
            Self::Base => 0,
            Self::Shifted => 1 << log,
        }
    }

    fn other(self) -> Self {
        match self {
            Self::Base => Self::Shifted,
            Self::Shifted => Self::Base,
        }
    }
}

/// Transforms coefficients to values, for each chunk of 2^`log`.
pub(super) fn to_values(fft: &AdditiveFft, log: u32, places: Places, data: &mut [Element]) {
    each_chunk(log, data, &|chunk| {
        evaluate(fft, log, places.offset(log), chunk);
    });
}

/// Transforms values to coefficients.
pub(super) fn to_coefficients(fft: &AdditiveFft, log: u32, places: Places, data: &mut [Element]) {
    each_chunk(log, data, &|chunk| {
        interpolate(fft, log, places.offset(log), chunk);
    });
}

/// Transforms values at these places to those at the others, of polynomials of degree below
/// 2^`log`.
pub(super) fn extend(fft: &AdditiveFft, log: u32, from: Places, data: &mut [Element]) {
    each_chunk(log, data, &|chunk| {
        interpolate(fft, log, from.offset(log), chunk);
        evaluate(fft, log, from.other().offset(log), chunk);
    });
}

fn each_chunk(log: u32, data: &mut [Element], work: &(dyn Fn(&mut [Element]) + Sync)) {
    parallel::chunks_mut(data, 1 << log.max(TASK_LOG), &|_, chunk| work(chunk));
}

fn evaluate(fft: &AdditiveFft, log: u32, offset: usize, data: &mut [Element]) {
    if log <= TASK_LOG {
        return fft.evaluate(log, offset, data);
    }
    let (left, right) = fft.evaluate_halves(log, offset, data);
    let middle = offset + right.len();
    parallel::join(
        || evaluate(fft, log - 1, offset, left),
        || evaluate(fft, log - 1, middle, right),
    );
}

fn interpolate(fft: &AdditiveFft, log: u32, offset: usize, data: &mut [Element]) {
    if log <= TASK_LOG {
        return fft.interpolate(log, offset, data);
    }
    let (left, right) = data.split_at_mut(1 << (log - 1));
    let middle = offset + right.len();
    parallel::join(
        || interpolate(fft, log - 1, offset, left),
        || interpolate(fft, log - 1, middle, right),
    );
    fft.interpolate_halves(log, offset, data);
}
