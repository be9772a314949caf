use std::fmt;

use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// A secret scalar modulo ℓ = 2^252 + 27742317777372353535851937790883648493, the order of
/// the group. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub struct Scalar {
    value: curve25519_dalek::Scalar,
    half: Digits,
}

impl Scalar {
    /// The number with these 64 little-endian bytes, modulo ℓ. Uniform bytes give a scalar
    /// within a statistical distance of 2^-259 from uniform.
    pub fn from_uniform_bytes(bytes: &[u8; 64]) -> Self {
        Self::new(curve25519_dalek::Scalar::from_bytes_mod_order_wide(bytes))
    }

    pub(crate) fn new(value: curve25519_dalek::Scalar) -> Self {
        Self {
            half: Digits::new(&value.div_by_2()),
            value,
        }
    }

    /// The scalar itself.
    pub(crate) fn value(&self) -> &curve25519_dalek::Scalar {
        &self.value
    }

    /// The digits of half of it, modulo ℓ.
    pub(crate) fn half(&self) -> &Digits {
        &self.half
    }
}

impl fmt::Debug for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scalar(secret)")
    }
}

/// A scalar in radix 16 with digits from −8 to 8: Σ dₖ·16^k. Wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(crate) struct Digits([i8; 64]);

impl Digits {
    /// The digits of a number below 2^255. All but the highest are below 8.
    fn new(scalar: &curve25519_dalek::Scalar) -> Self {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(scalar.as_bytes()) {
            pair[0] = (byte & 15).cast_signed();
            pair[1] = (byte >> 4).cast_signed();
        }
        // A digit of 8 or more becomes negative by taking 16 from it, which the next gains.
        for k in 0..63 {
            let carry = (digits[k] + 8) >> 4;
            digits[k] -= carry << 4;
            digits[k + 1] += carry;
        }
        Self(digits)
    }

    pub(crate) fn highest(&self) -> i8 {
        self.0[63]
    }

    /// All but the highest, from high to low.
    pub(crate) fn lower(&self) -> impl Iterator<Item = i8> {
        self.0[..63].iter().rev().copied()
    }

    /// |digit|, and 1 if the digit is negative, else 0; in constant time.
    #[inline(always)]
    pub(crate) fn magnitude_and_sign(digit: i8) -> (u8, u8) {
        let is_negative = Choice::from(digit.cast_unsigned() >> 7);
        let magnitude = i8::conditional_select(&digit, &digit.wrapping_neg(), is_negative);
        (magnitude.cast_unsigned(), is_negative.unwrap_u8())
    }

    /// 1 if equal, else 0; in constant time.
    #[inline(always)]
    pub(crate) fn equal(a: u8, b: u8) -> u8 {
        a.ct_eq(&b).unwrap_u8()
    }
}
