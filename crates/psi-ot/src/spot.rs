//! Sparse OT extension (SpOT19 §3), which `spot_low` and `spot_fast` share: an OT extension matrix
//! with a row for each *possible* item. A party computes only the rows of the items that it has.
//!
//! After OTs of ℓ seed pairs the receiver has matrices T and U, and the sender, which knows s, has
//! Q with Q(x) = T(x) ⊕ s·(T(x) ⊕ U(x)) for every item x. The receiver sends polynomials with
//! P(y) = R(y) = T(y) ⊕ U(y) for its items y. The sender computes
//! H(Q(x) ⊕ s·P(x), x) = H(T(x) ⊕ s·(P(x) ⊕ R(x)), x). For a shared item that is the receiver's
//! H(T(x), x). For another item it is pseudorandom, as long as P(x) and R(x) differ in κ bits.
//!
//! **The matrix.** In the paper each bit of a row is that of a PRF of the item under the column's
//! seed. That takes 2ℓ AES calls for each of the receiver's items, some 900. Here a *bucket* of
//! some 60 items has 128 rows of an ordinary OT extension, one AES call per column and seed. An
//! item's row is the sum of those that its *selector*, 128 bits, picks:
//!
//! > F(k_i, x) = ⟨selector(x), AES(k_i, bucket(x))⟩, the bit in column i.
//!
//! The proofs of the paper need no more of F than this. They use it twice, each time with F under
//! seeds that the party concerned does not know:
//! - *The polynomial hides Y* (Proposition 1) if the R(y) are independent and uniform. They are
//!   images of the rows of T ⊕ U, uniform for a sender that has one seed of each pair, under the
//!   selectors: independent and uniform exactly if the selectors are linearly independent in
//!   each bucket.
//! - *P(x) and R(x) are far apart* (Proposition 2) with the binomial bound if R(x) is uniform given
//!   R on Y, and so P. It is uniform if the selector of x is not in the span of those of Y in its
//!   bucket. The union bound over x needs no independence among these.
//!
//! [`psijoin_params::sparse_ot`] bounds how likely either fails, for selectors that are a random
//! function of the item under a seed drawn after the inputs. Both are charged to the budget.
//!
//! **The field.** Points lie in GF(2^2w). Values have ℓ = 2w·slices bits, in slices of 2w bits with
//! one polynomial each. w is chosen so that ℓ is hardly more than needed. The paper has a prime
//! above 2^ℓ, or slices of 128 bits.
//!
//! **H** takes the item as well, which the paper leaves out: keyed BLAKE3, a random oracle.
//!
//! # How it is made fast
//!
//! - *Fields of any width* (`block::gf2k`). The polynomials of SpOT19 are what it sends, ℓ = 420 to
//!   450 bits per item. Slices of 128 bits would send 512. GF(2^w) has its width at run time, w =
//!   48 to 63, and eight of its elements, as four of GF(2^2w), make up a value of 8w bits. To be as
//!   fast as a fixed field, it computes modulo a sparse multiple of its modulus, chosen so that one
//!   more carry-less product reduces.
//! - *Values, not coefficients* (`encode::poly`). Along the subproduct tree a polynomial is held as
//!   its values on a linear subspace of the small field. Products are pointwise, remainders are
//!   Montgomery's, and everything else is additive FFTs between two cosets, with constants in the
//!   small field: two carry-less products and two for reduction, for both halves of an element. No
//!   power series, no divisions, no special basis.
//! - *Blocks of 2^11 points* have their part of the tree in the second-level cache, and build it
//!   again where it is needed; only the levels above are kept, 32 bytes per point and level.
//! - *Buckets instead of PRF calls* (`psi-ot`'s `spot`). An item's row in the OT matrix is a sum of
//!   those rows of its bucket that its selector picks: 15 AES calls per item instead of 900, with a
//!   bound in `params::sparse_ot`.

mod coefficients;
mod extension;
mod functions;
mod params;
mod rows;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use coefficients::{pack, packed_bytes, unpack};
pub(crate) use extension::Extension;
pub(crate) use functions::{Functions, Group, blocks};
pub(crate) use params::SparseParams;
pub(crate) use rows::{ReceiverPart, SenderPart, add_masked, slice_of};

/// Words of a row, unless it is wide.
pub(crate) const ROW_WORDS: usize = 8;

/// Words of a wide row.
pub(crate) const WIDE_ROW_WORDS: usize = 16;
