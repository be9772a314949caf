//! Any processor: `curve25519-dalek`, whose arithmetic in 64-bit integers is the best there
//! is for one point at a time.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};

use crate::{Error, Scalar};

pub(super) fn hash_mul_encode(uniform: &[[u8; 64]], scalar: &Scalar, out: &mut [[u8; 32]]) {
    for (bytes, out) in uniform.iter().zip(out) {
        let product = RistrettoPoint::from_uniform_bytes(bytes) * scalar.value();
        *out = product.compress().to_bytes();
    }
}

pub(super) fn decode_mul_encode(
    encoded: &[[u8; 32]],
    scalar: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    for (index, (encoded, out)) in encoded.iter().zip(out).enumerate() {
        let point = CompressedRistretto(*encoded).decompress();
        let point = point.ok_or(Error::NotAnElement { index })?;
        *out = (point * scalar.value()).compress().to_bytes();
    }
    Ok(())
}
