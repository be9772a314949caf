//! ristretto255 (RFC 9496) in batches: many points times one secret scalar, or one public
//! point times many secret scalars.
//!
//! In Diffie-Hellman private set intersection, a party does one of these to every item:
//!
//! - [`hash_mul_encode`]: 64 uniform bytes → uniform element → times the secret scalar → 32 bytes,
//! - [`map_mul_encode`]: 32 uniform bytes → element → times the secret scalar → 32 bytes,
//! - [`decode_mul_encode`]: 32 bytes → element → times the secret scalar → 32 bytes,
//!
//! In an oblivious transfer, a party does one of these to every instance:
//!
//! - [`decode_add_hash_mul_encode`]: the second, with a hash added before the product,
//! - [`FixedBase::mul_encode`] and [`FixedBase::mul_sub_hash_encode`]: secret scalar → times an
//!   element that all share, minus a hash → 32 bytes.
//!
//! All take slices of any length, start no threads (give each thread a part of the slice),
//! and choose once per call, at run time, the widest [`Backend`] that the processor has.
//! Results are those of `curve25519-dalek` bit by bit.
//!
//! Two parties multiply each other's items by secret scalars; an item of both ends as the same 32
//! bytes:
//!
//! ```
//! use psijoin_curve::{Scalar, decode_mul_encode, hash_mul_encode};
//!
//! // In earnest these are a hash of each item, and secret uniform bytes.
//! let [ann, bob, eve] = [[1; 64], [2; 64], [3; 64]];
//! let [alice, carl] = [[4; 64], [5; 64]].map(|bytes| Scalar::from_uniform_bytes(&bytes));
//!
//! let mut blinded = [[0; 32]; 2];
//! let (mut alices, mut carls) = (blinded, blinded);
//! // Alice has Ann and Bob. She sends them blinded, and Carl multiplies them once more.
//! hash_mul_encode(&[ann, bob], &alice, &mut blinded);
//! decode_mul_encode(&blinded, &carl, &mut alices)?;
//! // Carl has Bob and Eve, and it goes the other way.
//! hash_mul_encode(&[bob, eve], &carl, &mut blinded);
//! decode_mul_encode(&blinded, &alice, &mut carls)?;
//!
//! assert_eq!(alices[1], carls[0]);
//! assert_ne!(alices[0], carls[1]);
//! # Ok::<(), psijoin_curve::Error>(())
//! ```
//!
//! Besides, [`ffdhe3072`] is a group modulo a large prime, and [`modular`] is the arithmetic of
//! that group and of RSA.
//!
//! # Why not `curve25519-dalek` alone
//!
//! It multiplies one point at a time. With one scalar for all, eight points (AVX-512) or four
//! (AVX2 and FMA) go through the same steps in the lanes of a vector, and no data has to leave it.
//! All the points of a batch share the inversion in the encoding. On a processor without these
//! instructions `curve25519-dalek` does the work, and it is what the tests compare with.
//!
//! # How
//!
//! | step | by | field multiplications |
//! |---|---|---|
//! | hash to the group | RFC 9496 §4.3.4: Elligator 2, twice | 590 |
//! | map to the group | Elligator 2 once | 290 |
//! | decode | RFC 9496 §4.3.1 | 290 |
//! | multiply | 63 signed windows of 4 bits, extended twisted Edwards coordinates (HWCD08) | 2,300 |
//! | multiply one for all | tables of multiples of 256^k·P, 4-bit signed digits (Bernstein et al., CHES 2011, §4) | 530 |
//! | encode | RFC 9496 §4.3.2 of a double, without square root, batched inversion | 20 and 280 / 16 |
//!
//! The encoding doubles, so the multiplication is by half the scalar modulo ℓ, and by the
//! representative of that which is nearest to zero. The field arithmetic multiplies integers of 52
//! bits where a processor has AVX-512 IFMA. Elsewhere it splits products exactly with fused
//! multiply-adds of doubles: the widest multiplier that these processors have in vectors. Either
//! way sums of products are reduced, not products (`field`).
//!
//! The other ways take as many field multiplications, or more. Windows of 5 bits save 10, and scan
//! tables of twice the size. Tables in affine coordinates save 62 in additions, and take as many to
//! be made. A ladder of x-coordinates takes 2,300, and needs no square root to decode; but
//! x-coordinates are those of the whole curve or its twist, with their small subgroups, and not of
//! this group of prime order.
//!
//! # Secrets
//!
//! Time and memory addresses depend on the lengths of the slices, and on whether encodings, which
//! are public, are valid; not on scalars or points. Table entries are chosen by a scan of the whole
//! table. Scalars, their digits, the tables and the products not yet encoded are wiped (not the
//! tables of a [`FixedBase`], which is public); what the compiler leaves in registers and on the
//! stack is not.

mod batch;
#[cfg(target_arch = "x86_64")]
mod digits;
#[cfg(target_arch = "x86_64")]
mod edwards;
mod error;
pub mod ffdhe3072;
#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod lanes;
pub mod modular;
#[cfg(target_arch = "x86_64")]
mod ristretto;
mod scalar;

pub use batch::{Backend, FixedBase};
pub use error::Error;
pub use scalar::Scalar;

#[cfg(test)]
mod tests;

/// Multiplies by `scalar` the elements to which the one-way map of RFC 9496 §4.3.4 takes
/// each 64 uniform bytes, and encodes the products.
///
/// # Panics
/// If the slices differ in length.
pub fn hash_mul_encode(uniform: &[[u8; 64]], scalar: &Scalar, out: &mut [[u8; 32]]) {
    Backend::fastest().hash_mul_encode(uniform, scalar, out);
}

/// Multiplies by `scalar` the elements to which MAP of RFC 9496 §4.3.4 takes each 32 uniform
/// bytes, and encodes the products.
///
/// This takes half of the square roots of [`hash_mul_encode`]. The elements are not uniform: one
/// has 0 to 16 numbers that are mapped to it, so it is at most twice as likely as if they were.
/// That is as good where DDH is what counts. Nobody knows discrete logarithms of either. And who
/// draws uniform elements u with logarithms that he knows, accepts each with the probability
/// (numbers that are mapped to u)/16, and takes one of these numbers at random, has number and
/// element with exactly the distribution of this function, after two tries on average. So a
/// simulator can answer a random oracle as if it had uniform elements.
///
/// # Panics
/// If the slices differ in length.
pub fn map_mul_encode(bytes: &[[u8; 32]], scalar: &Scalar, out: &mut [[u8; 32]]) {
    Backend::fastest().map_mul_encode(bytes, scalar, out);
}

/// Decodes elements, multiplies them by `scalar`, and encodes the products.
///
/// # Errors
/// If an encoding is not that of an element, or that of the identity. Then `out` holds
/// products of some of the others.
///
/// # Panics
/// If the slices differ in length.
pub fn decode_mul_encode(
    encoded: &[[u8; 32]],
    scalar: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    Backend::fastest().decode_mul_encode(encoded, scalar, out)
}

/// Decodes elements, adds to each twice the element to which the one-way map takes 64 uniform
/// bytes, multiplies the sums by `scalar`, and encodes the products.
///
/// Twice, so that the peer's [`FixedBase::mul_sub_hash_encode`] need not halve the hash for
/// the encoding that doubles. The group has odd order: the double of a uniform element is one.
///
/// # Errors
/// As [`decode_mul_encode`].
///
/// # Panics
/// If the slices differ in length.
pub fn decode_add_hash_mul_encode(
    encoded: &[[u8; 32]],
    uniform: &[[u8; 64]],
    scalar: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    Backend::fastest().decode_add_hash_mul_encode(encoded, uniform, scalar, out)
}
