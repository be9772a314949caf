//! The additive fast Fourier transform over [`gf2k`](crate::gf2k): between the coefficients of a
//! polynomial and its values on a linear subspace.
//!
//! **Source.** Lin, Chung and Han, *Novel polynomial basis and its application to Reed-Solomon
//! erasure codes* (FOCS 2014). W_k is the span of 1, x, …, x^(k−1), so its elements are the words
//! below 2^k; s_k is the monic polynomial that vanishes on W_k, and ŝ_k = s_k/s_k(x^k). All of
//! these are linear maps, whose values on the small field are in it. Coefficients are those of the
//! polynomials X_i = Π ŝ_t over the bits t of i, where X_i has degree i: a polynomial of degree
//! below n has n of them, as it has powers of x.
//!
//! Values are those on W_k, or on the coset `offset` + W_k. A transform of 2^k elements takes
//! k·2^(k−1) products with elements of the small field, two carry-less products each.
//!
//! The field needs no special basis: that W_k lies in the small field makes its constants cheap.

use crate::{
    Block,
    cpu::{self, multiversion},
    gf2k::{Element, Field},
};

mod kernels;

use kernels::portable;
#[cfg(target_arch = "x86_64")]
use kernels::x86;

/// The largest transform has 2^`MAX_LOG` elements.
pub const MAX_LOG: u32 = 27;

const LAYERS: usize = MAX_LOG as usize + 1;

/// Transforms of this size stay in the first-level cache: they are computed layer by layer,
/// larger ones half by half.
const KERNEL_LOG: u32 = 10;

/// The constants of all transforms over one field.
#[derive(Clone)]
pub struct AdditiveFft {
    field: Field,
    /// `values[i][t]` is ŝ_i(x^t), reduced and not shifted.
    values: Box<[[u64; LAYERS]; LAYERS]>,
    /// `steps[i][z]` is the sum of `values[i]` from i + 1 to i + 1 + z: from one block of
    /// layer i to the next, whose number has z zeros at the end, the twiddle changes by that.
    steps: Box<[[Block; LAYERS]; LAYERS]>,
    /// Steps for blocks of eight elements, in place of the layer's own.
    group_steps: Box<[[Block; LAYERS]; 3]>,
    /// s_i(x^i).
    pivots: [u64; LAYERS],
    /// The derivative of ŝ_i, a constant.
    slopes: [u64; LAYERS],
}

impl AdditiveFft {
    /// Computes the constants.
    pub fn new(field: Field) -> Self {
        let word = |element| field.to_words(element)[0];
        let mut values = Box::new([[0; LAYERS]; LAYERS]);
        let (mut pivots, mut slopes) = ([1; LAYERS], [1; LAYERS]);
        for (t, value) in values[0].iter_mut().enumerate() {
            *value = 1 << t;
        }
        for i in 0..LAYERS - 1 {
            let next = values[i].map(|value| {
                let value = field.small(value);
                field.product(value, value) ^ value
            });
            // ŝ_(i+1) is a multiple of ŝ_i² + ŝ_i; s_(i+1) = s_i² + s_i·s_i(x^i).
            let norm = field.invert(next[i + 1]);
            values[i + 1] = next.map(|value| word(field.product(value, norm)));
            slopes[i + 1] = word(field.product(field.small(slopes[i]), norm));
            let pivot = field.small(pivots[i]);
            let square = field.product(pivot, pivot);
            pivots[i + 1] = word(field.product(square, next[i + 1]));
        }
        let steps_from = |values: &[u64]| {
            let mut steps = [Block::ZERO; LAYERS];
            let mut sum = 0;
            for (step, value) in steps.iter_mut().zip(values) {
                sum ^= value;
                *step = Block(sum.into());
            }
            steps
        };
        let mut steps = Box::new([[Block::ZERO; LAYERS]; LAYERS]);
        for (i, (steps, values)) in steps.iter_mut().zip(&*values).enumerate() {
            *steps = steps_from(&values[i + 1..]);
        }
        let group_steps = Box::new([0, 1, 2].map(|i| steps_from(&values[i][3..])));
        Self {
            field,
            values,
            steps,
            group_steps,
            pivots,
            slopes,
        }
    }

    /// Returns the field.
    pub fn field(&self) -> &Field {
        &self.field
    }

    /// Returns s_k(x^k), an element of the small field: s_k is this multiple of ŝ_k, and s_(k+1) is
    /// s_k·(s_k + s_k(x^k)).
    pub fn pivot(&self, k: u32) -> Element {
        self.field.small(self.pivots[k as usize])
    }

    /// Returns the derivative of ŝ_k, a constant of the small field.
    pub fn slope(&self, k: u32) -> Element {
        self.field.small(self.slopes[k as usize])
    }

    /// Returns ŝ_layer of the element `offset` of some W_k.
    fn twiddle(&self, layer: u32, offset: usize) -> u64 {
        let values = &self.values[layer as usize];
        (layer as usize..LAYERS)
            .filter(|t| offset >> t & 1 == 1)
            .fold(0, |sum, t| sum ^ values[t])
    }

    /// Coefficients to values on `offset` + W_log, in each chunk of 2^`log` elements.
    ///
    /// # Panics
    /// If the data is not a whole number of chunks, or the offset is not a multiple of 2^`log`.
    pub fn evaluate(&self, log: u32, offset: usize, data: &mut [Element]) {
        self.check(log, offset, data);
        if log <= KERNEL_LOG {
            evaluate_on(cpu::best(), self, log, offset, data);
            return;
        }
        for chunk in data.chunks_exact_mut(1 << log) {
            let (left, right) = self.evaluate_halves(log, offset, chunk);
            self.evaluate(log - 1, offset, left);
            self.evaluate(log - 1, offset + right.len(), right);
        }
    }

    /// Values on `offset` + W_log to coefficients, in each chunk of 2^`log` elements.
    ///
    /// # Panics
    /// As [`evaluate`](Self::evaluate).
    pub fn interpolate(&self, log: u32, offset: usize, data: &mut [Element]) {
        self.check(log, offset, data);
        if log <= KERNEL_LOG {
            interpolate_on(cpu::best(), self, log, offset, data);
            return;
        }
        for chunk in data.chunks_exact_mut(1 << log) {
            let (left, right) = chunk.split_at_mut(1 << (log - 1));
            self.interpolate(log - 1, offset, left);
            self.interpolate(log - 1, offset + right.len(), right);
            self.interpolate_halves(log, offset, chunk);
        }
    }

    /// Returns the first layer of [`evaluate`](Self::evaluate) for one chunk: what is left is to
    /// evaluate the two halves that this returns, at `offset` and at `offset` + 2^(log − 1).
    pub fn evaluate_halves<'a>(
        &self,
        log: u32,
        offset: usize,
        chunk: &'a mut [Element],
    ) -> (&'a mut [Element], &'a mut [Element]) {
        let twiddle = self.twiddle(log - 1, offset);
        let (left, right) = chunk.split_at_mut(1 << (log - 1));
        evaluate_layer_on(cpu::best(), &self.field, twiddle, left, right);
        (left, right)
    }

    /// Does the last layer of [`interpolate`](Self::interpolate) for one chunk, both halves of
    /// which have been interpolated.
    pub fn interpolate_halves(&self, log: u32, offset: usize, chunk: &mut [Element]) {
        let twiddle = self.twiddle(log - 1, offset);
        let (left, right) = chunk.split_at_mut(1 << (log - 1));
        interpolate_layer_on(cpu::best(), &self.field, twiddle, left, right);
    }

    fn check(&self, log: u32, offset: usize, data: &[Element]) {
        assert!(log <= MAX_LOG, "a transform of 2^27 elements at most");
        assert!(
            data.len().is_multiple_of(1 << log) && offset.is_multiple_of(1 << log),
            "whole chunks, and a coset of the subspace"
        );
    }
}

multiversion! {
    fn evaluate_on(fft: &AdditiveFft, log: u32, offset: usize, data: &mut [Element])
    portable portable::evaluate(fft, log, offset, data);
    avx2 x86::evaluate(fft, log, offset, data);
    avx512 x86::evaluate(fft, log, offset, data);
}

multiversion! {
    fn interpolate_on(fft: &AdditiveFft, log: u32, offset: usize, data: &mut [Element])
    portable portable::interpolate(fft, log, offset, data);
    avx2 x86::interpolate(fft, log, offset, data);
    avx512 x86::interpolate(fft, log, offset, data);
}

multiversion! {
    fn evaluate_layer_on(
        field: &Field, twiddle: u64, left: &mut [Element], right: &mut [Element],
    )
    portable portable::evaluate_layer(field, twiddle, left, right);
    avx2 x86::evaluate_layer(field, twiddle, left, right);
    avx512 x86::evaluate_layer(field, twiddle, left, right);
}

multiversion! {
    fn interpolate_layer_on(
        field: &Field, twiddle: u64, left: &mut [Element], right: &mut [Element],
    )
    portable portable::interpolate_layer(field, twiddle, left, right);
    avx2 x86::interpolate_layer(field, twiddle, left, right);
    avx512 x86::interpolate_layer(field, twiddle, left, right);
}

#[cfg(test)]
mod tests;
