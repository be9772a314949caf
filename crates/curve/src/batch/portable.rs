//! Any processor: `curve25519-dalek`, point by point, whose arithmetic in 64-bit integers is
//! hard to beat without vectors.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use zeroize::Zeroizing;

use crate::{Error, Scalar};

/// Points that share an inversion.
const BATCH_LEN: usize = 64;

pub(super) fn hash_mul_encode(uniform: &[[u8; 64]], scalar: &Scalar, out: &mut [[u8; 32]]) {
    let half = half(scalar);
    for (uniform, out) in uniform.chunks(BATCH_LEN).zip(out.chunks_mut(BATCH_LEN)) {
        let product = |uniform| RistrettoPoint::from_uniform_bytes(uniform) * *half;
        double_and_encode(uniform.iter().map(product).collect(), out);
    }
}

/// The encodings are canonical.
pub(super) fn decode_mul_encode(
    encoded: &[[u8; 32]],
    scalar: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    let half = half(scalar);
    let batches = encoded.chunks(BATCH_LEN).zip(out.chunks_mut(BATCH_LEN));
    for (batch, (encoded, out)) in batches.enumerate() {
        let mut products = Vec::with_capacity(encoded.len());
        for (k, encoded) in encoded.iter().enumerate() {
            let point = CompressedRistretto(*encoded).decompress();
            let point = point.ok_or(Error::NotAnElement {
                index: batch * BATCH_LEN + k,
            })?;
            products.push(point * *half);
        }
        double_and_encode(products, out);
    }
    Ok(())
}

/// Half of it modulo ℓ, because encoding doubles.
fn half(scalar: &Scalar) -> Zeroizing<curve25519_dalek::Scalar> {
    Zeroizing::new(scalar.value().div_by_2())
}

fn double_and_encode(points: Vec<RistrettoPoint>, out: &mut [[u8; 32]]) {
    let points = Zeroizing::new(points);
    for (encoded, out) in RistrettoPoint::double_and_compress_batch(&*points)
        .iter()
        .zip(out)
    {
        *out = encoded.to_bytes();
    }
}
