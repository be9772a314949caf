//! Sparse OT extension (SpOT19 §3): an OT extension matrix with a row for each *possible* item,
//! of which only those of the items at hand are ever computed. What `spot_low` and `spot_fast` share.
//!
//! After OTs of ℓ seed pairs the receiver has matrices T and U, and the sender, who knows s, Q with
//! Q(x) = T(x) ⊕ s·(T(x) ⊕ U(x)) for every item x. The receiver sends polynomials with
//! P(y) = R(y) = T(y) ⊕ U(y) for its items y. The sender's
//! H(Q(x) ⊕ s·P(x), x) = H(T(x) ⊕ s·(P(x) ⊕ R(x)), x) is then the receiver's H(T(x), x) for a
//! shared item, and for another one pseudorandom, as long as P(x) and R(x) differ in κ bits.
//!
//! **The matrix.** In the paper each bit of a row is that of a PRF of the item under the
//! column's seed: 2ℓ AES calls for each of the receiver's items, some 900. Here a *bucket* of some
//! 40 items has 128 rows of an ordinary OT extension, one AES call a column and seed; and
//! an item's row is the sum of those that its *selector*, 128 bits, picks:
//!
//! > F(k_i, x) = ⟨selector(x), AES(k_i, bucket(x))⟩, the bit in column i.
//!
//! That is a pseudorandom function as far as the proofs of the paper use it. They use it twice, each
//! time with F under seeds that the party concerned does not know:
//! - *The polynomial hides Y* (Proposition 1) if the R(y) are independent and uniform. They are
//!   images of the rows of T ⊕ U, uniform for a sender who has one seed of each pair, under the
//!   selectors: independent and uniform exactly if the selectors are linearly independent in
//!   each bucket.
//! - *P(x) and R(x) are far apart* (Proposition 2) with the binomial bound if R(x) is uniform given
//!   R on Y, and so P. It is if the selector of x is not in the span of those of Y in its bucket. The
//!   union bound over x needs no independence among these.
//!
//! [`psijoin_params::sparse_ot`] bounds how likely either fails, for selectors that are a random
//! function of the item under a seed drawn after the inputs; both are charged to the budget.
//!
//! **The field.** GF(2^2w) for the points, and ℓ = 2w·slices bits of values in slices of 2w
//! bits, one polynomial each: w is chosen so that ℓ is hardly more than needed. The paper has a
//! prime above 2^ℓ, or slices of 128 bits.
//!
//! **H** takes the item as well, which the paper leaves out: keyed BLAKE3, a random oracle.

mod coefficients;
mod extension;
mod functions;

pub(crate) use coefficients::{pack, unpack};
pub(crate) use extension::Extension;
pub(crate) use functions::{Functions, Group};

use psijoin_block::gf2k::{Element, Field};

use crate::ot_matrix::Row;

/// Slice `slice` of a row, as an element of the field.
#[inline]
pub(crate) fn slice_of<const R: usize>(field: &Field, row: &Row<R>, slice: usize) -> Element {
    field.from_words([row[2 * slice], row[2 * slice + 1]])
}

/// Adds s·P(x) to a slice of the sender's row.
#[inline]
pub(crate) fn add_masked<const R: usize>(
    field: &Field,
    row: &mut Row<R>,
    slice: usize,
    delta: &Row<R>,
    value: Element,
) {
    for (i, word) in (2 * slice..).zip(field.to_words(value)) {
        row[i] ^= word & delta[i];
    }
}

/// Calls `online` of a party for the digests of its input and the rows of its matrix.
macro_rules! by_size {
    ($party:expr, $input:expr, $channel:expr, $context:expr) => {
        match ($input.items, $party.params.extension.wide_rows()) {
            (Items::Short(items), false) => {
                $party.online::<16, 8>(items, &$input, $channel, $context)
            }
            (Items::Short(items), true) => {
                $party.online::<16, 16>(items, &$input, $channel, $context)
            }
            (Items::Long(items), false) => {
                $party.online::<32, 8>(items, &$input, $channel, $context)
            }
            (Items::Long(items), true) => {
                $party.online::<32, 16>(items, &$input, $channel, $context)
            }
        }
    };
}
pub(crate) use by_size;
