use std::fmt;

use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret scalar modulo ℓ = 2^252 + 27742317777372353535851937790883648493, the order of
/// the group. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Scalar(curve25519_dalek::Scalar);

impl Scalar {
    /// Returns the number with these 64 little-endian bytes, modulo ℓ. Uniform bytes give a scalar
    /// at a statistical distance below 2^-259 from uniform; it is zero with probability 2^-252.
    pub fn from_uniform_bytes(bytes: &[u8; 64]) -> Self {
        Self(curve25519_dalek::Scalar::from_bytes_mod_order_wide(bytes))
    }

    /// Returns its inverse modulo ℓ; zero, if it is zero.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self(self.0.invert())
    }

    pub(crate) fn value(&self) -> &curve25519_dalek::Scalar {
        &self.0
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(secret)")
    }
}
