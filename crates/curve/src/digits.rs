//! Secret scalars as signed digits, and what may be asked about a digit.

use curve25519_dalek::Scalar;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::lanes::MAX_LANES;

/// A scalar in radix 16 with digits from −8 to 8: Σ dₖ·16^k. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Digits([i8; 64]);

impl Digits {
    /// Returns the digits of a number below 2^255. Only the highest can be 8.
    pub(crate) fn new(scalar: &Scalar) -> Self {
        let mut digits = [0; 64];
        for (pair, byte) in digits.chunks_exact_mut(2).zip(scalar.as_bytes()) {
            pair[0] = (byte & 15).cast_signed();
            pair[1] = (byte >> 4).cast_signed();
        }
        // A digit of 8 or more becomes negative by giving 16 to the next.
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

    /// Returns all but the highest, from high to low.
    pub(crate) fn lower(&self) -> impl Iterator<Item = i8> {
        self.0[..63].iter().rev().copied()
    }
}

/// The digits of a scalar for each lane.
pub(crate) struct LaneDigits([Digits; MAX_LANES]);

impl LaneDigits {
    /// Returns the digits of numbers below 2^255; lanes beyond the iterator's end get zeros.
    pub(crate) fn new(mut scalars: impl Iterator<Item = Scalar>) -> Self {
        Self(std::array::from_fn(|_| {
            let mut scalar = scalars.next().unwrap_or_default();
            let digits = Digits::new(&scalar);
            scalar.zeroize();
            digits
        }))
    }

    /// Returns dₖ of each lane: |dₖ|, and 1 if it is negative, else 0.
    pub(crate) fn magnitudes_and_signs(&self, k: usize) -> [[u64; MAX_LANES]; 2] {
        let mut lanes = [[0; MAX_LANES]; 2];
        for (lane, digits) in self.0.iter().enumerate() {
            let (magnitude, sign) = magnitude_and_sign(digits.0[k]);
            lanes[0][lane] = magnitude.into();
            lanes[1][lane] = sign.into();
        }
        lanes
    }
}

/// Returns |digit|, and 1 if the digit is negative, else 0; in constant time.
#[inline(always)]
pub(crate) fn magnitude_and_sign(digit: i8) -> (u8, u8) {
    let is_negative = Choice::from(digit.cast_unsigned() >> 7);
    let magnitude = i8::conditional_select(&digit, &digit.wrapping_neg(), is_negative);
    (magnitude.cast_unsigned(), is_negative.unwrap_u8())
}

/// Returns 1 if equal, else 0; in constant time.
#[inline(always)]
pub(crate) fn equal(a: u8, b: u8) -> u8 {
    a.ct_eq(&b).unwrap_u8()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_digit_has_a_magnitude_and_a_sign() {
        for digit in -8i8..=8 {
            let expected = (digit.unsigned_abs(), u8::from(digit < 0));
            assert_eq!(magnitude_and_sign(digit), expected);
        }
    }

    proptest! {
        #[test]
        fn digits_are_small_and_add_up(bytes: [u8; 32]) {
            let scalar = Scalar::from_bytes_mod_order(bytes);
            let digits = Digits::new(&scalar);
            let small = |digit: i8| match digit {
                0.. => Scalar::from(digit.unsigned_abs()),
                _ => -Scalar::from(digit.unsigned_abs()),
            };
            prop_assert!((-8..=8).contains(&digits.highest()));
            let mut sum = small(digits.highest());
            for digit in digits.lower() {
                prop_assert!((-8..8).contains(&digit));
                sum = sum * Scalar::from(16u8) + small(digit);
            }
            prop_assert_eq!(sum, scalar);
        }
    }
}
