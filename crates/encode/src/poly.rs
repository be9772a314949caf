//! Polynomials through arbitrary points, and their values at arbitrary points.
//!
//! [`Quadratic`] does both for the few points of a bin, in quadratic time. The rest of this header
//! is about many points, in quasi-linear time: n·log²(n) products with elements of a small field.
//!
//! [`Interpolator`] finds the polynomial of degree below n with given values at n points, for
//! several sets of values (slices) at the same points: whatever depends on the points alone is
//! computed once (*subproduct-tree reuse*, SpOT19 §5). [`Evaluator`] computes the values of
//! several polynomials at the same points.
//!
//! **Method.** Divide and conquer along a subproduct tree, as usual, but on values and not on
//! coefficients. A polynomial of degree below 2^k is held as its values on the linear subspace W_k
//! of the small field, or on the coset x^k + W_k; these two make up W_(k+1). So
//! - the product of two of degree 2^k whose halves are both known is one product per value;
//! - the remainder is Montgomery's: let M have degree 2^k and P twice as much. With
//!   Q = P/M on the coset, extended to W_k, the values (P + Q·M)/(ŝ_k + 1) on W_k are those of
//!   P/(ŝ_k + 1) mod M, because the numerator vanishes on the coset. On W_k itself ŝ_k + 1 is 1.
//!   In a leaf the product of all ŝ_k(y) + 1 has piled up, and is divided out;
//! - what passes from W_k to the coset or back is an [additive FFT](psijoin_block::additive_fft)
//!   there and one back, with constants in the small field.
//!
//! Values at a node's W_k are, without any work, what its children need. Neither power series
//! nor divisions of polynomials are needed. The idea is that of Ben-Sasson, Carmon, Kopparty
//! and Levit (*Elliptic curve fast Fourier transform*, 2021) in the additive group.
//!
//! Coefficients are those of the basis X_i of the FFT, with X_i of degree i in place of x^i.
//!
//! **Points** must be distinct (those of an [`Interpolator`]) and none may lie on the W_k used:
//! both are errors, which uniform points meet with the probability that
//! [`psijoin_params::sparse_ot`] bounds.
//!
//! **Memory.** The tree over 2^11 points stays in the second-level cache and is built anew where
//! it is needed. Only the levels above are kept: 32 bytes per point and level.

mod evaluate;
mod interpolate;
mod quadratic;
mod transform;
mod tree;

pub use evaluate::Evaluator;
pub use interpolate::Interpolator;
pub use quadratic::Quadratic;

#[cfg(test)]
mod tests;
