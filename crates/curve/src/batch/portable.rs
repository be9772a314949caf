//! For any processor: `curve25519-dalek`, point by point. Its arithmetic in 64-bit integers is hard
//! to beat without vectors.

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
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

/// MAP of RFC 9496 §4.3.4, which `curve25519-dalek` has only as a sum: MAP(b) = H(b‖0) − MAP(0),
/// and 2·MAP(0) = H(0‖0).
pub(super) fn map_mul_encode(bytes: &[[u8; 32]], scalar: &Scalar, out: &mut [[u8; 32]]) {
    let scalar = half(scalar);
    let of_zero =
        RistrettoPoint::from_uniform_bytes(&[0; 64]) * curve25519_dalek::Scalar::ONE.div_by_2();
    for (bytes, out) in bytes.chunks(BATCH_LEN).zip(out.chunks_mut(BATCH_LEN)) {
        let product = |bytes: &[u8; 32]| {
            let mut uniform = [0; 64];
            uniform[..32].copy_from_slice(bytes);
            (RistrettoPoint::from_uniform_bytes(&uniform) - of_zero) * *scalar
        };
        double_and_encode(bytes.iter().map(product).collect(), out);
    }
}

/// Decodes, multiplies, encodes. The encodings are canonical; the elements of `uniform` are added,
/// twice, if any.
pub(super) fn decode_mul_encode(
    encoded: &[[u8; 32]],
    uniform: Option<&[[u8; 64]]>,
    scalar: &Scalar,
    out: &mut [[u8; 32]],
) -> Result<(), Error> {
    let half = half(scalar);
    let batches = encoded.chunks(BATCH_LEN).zip(out.chunks_mut(BATCH_LEN));
    for (batch, (encoded, out)) in batches.enumerate() {
        let mut products = Vec::with_capacity(encoded.len());
        for (k, encoded) in encoded.iter().enumerate() {
            let index = batch * BATCH_LEN + k;
            let mut point = decode(index, encoded)?;
            if let Some(uniform) = uniform {
                let hashed = RistrettoPoint::from_uniform_bytes(&uniform[index]);
                point += hashed + hashed;
            }
            products.push(point * *half);
        }
        double_and_encode(products, out);
    }
    Ok(())
}

pub(super) fn prepare_base(encoded: &[u8; 32]) -> Result<Box<RistrettoBasepointTable>, Error> {
    let table = RistrettoBasepointTable::create(&decode(0, encoded)?);
    Ok(Box::new(table))
}

/// Multiplies and encodes. The elements of `uniform` are subtracted, twice, if any.
pub(super) fn fixed_mul_encode(
    table: &RistrettoBasepointTable,
    scalars: &[Scalar],
    uniform: Option<&[[u8; 64]]>,
    out: &mut [[u8; 32]],
) {
    for (batch, out) in out.chunks_mut(BATCH_LEN).enumerate() {
        let mut products = Vec::with_capacity(out.len());
        for index in (batch * BATCH_LEN..).take(out.len()) {
            let mut product = table * &*half(&scalars[index]);
            if let Some(uniform) = uniform {
                product -= RistrettoPoint::from_uniform_bytes(&uniform[index]);
            }
            products.push(product);
        }
        double_and_encode(products, out);
    }
}

fn decode(index: usize, encoded: &[u8; 32]) -> Result<RistrettoPoint, Error> {
    CompressedRistretto(*encoded)
        .decompress()
        .ok_or(Error::NotAnElement { index })
}

/// Returns half of it modulo ℓ, because encoding doubles.
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
