//! ristretto255 (RFC 9496) in batches: many points, one secret scalar.

mod batch;
#[cfg(target_arch = "x86_64")]
mod edwards;
mod error;
#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod ristretto;
mod scalar;

#[doc(hidden)]
pub use batch::Backend;
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
