//! Secret scalars as signed digits, and what may be asked about a digit.

use curve25519_dalek::Scalar;
use subtle::{Choice, ConditionallyNegatable, ConditionallySelectable, ConstantTimeEq};
use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::lanes::MAX_LANES;

/// Digits of a scalar.
pub(crate) const DIGITS: usize = 63;

/// A scalar in radix 16 with digits from −8 to 8: Σ dₖ·16^k. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(crate) struct Digits([i8; DIGITS]);

impl Digits {
    /// Returns the digits of the number nearest to zero that is `scalar` modulo ℓ. Only the highest
    /// can be ±8, and −8 only if the number is negative.
    ///
    /// Its magnitude is less than ℓ/2 < 2^251 + 2^124. So a highest digit of 8 without a carry has
    /// zeros below it, which give none.
    pub(crate) fn new(scalar: &Scalar) -> Self {
        let mut negative = -scalar;
        let is_negative = is_less(negative.as_bytes(), scalar.as_bytes());
        let mut magnitude = Scalar::conditional_select(scalar, &negative, is_negative);
        let mut digits = Self([0; DIGITS]);
        for (k, digit) in digits.0.iter_mut().enumerate() {
            *digit = (magnitude.as_bytes()[k / 2] >> (4 * (k % 2)) & 15).cast_signed();
        }
        // A digit of 8 or more becomes negative by giving 16 to the next.
        for k in 0..DIGITS - 1 {
            let carry = (digits.0[k] + 8) >> 4;
            digits.0[k] -= carry << 4;
            digits.0[k + 1] += carry;
        }
        for digit in &mut digits.0 {
            digit.conditional_negate(is_negative);
        }
        negative.zeroize();
        magnitude.zeroize();
        digits
    }

    pub(crate) fn highest(&self) -> i8 {
        self.0[DIGITS - 1]
    }

    /// Returns all but the highest, from high to low.
    pub(crate) fn lower(&self) -> impl Iterator<Item = i8> {
        self.0[..DIGITS - 1].iter().rev().copied()
    }
}

/// Returns whether a little-endian number is below another one; in constant time.
fn is_less(a: &[u8; 32], b: &[u8; 32]) -> Choice {
    let mut borrow = 0;
    for (a, b) in a.iter().zip(b) {
        let difference = u16::from(*a).wrapping_sub(u16::from(*b) + borrow);
        borrow = difference >> 15;
    }
    Choice::from(borrow as u8)
}

/// The digits of a scalar for each lane.
pub(crate) struct LaneDigits([Digits; MAX_LANES]);

impl LaneDigits {
    /// Returns the digits of scalars; lanes beyond the iterator's end get zeros.
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

    fn small(digit: i8) -> Scalar {
        let magnitude = Scalar::from(digit.unsigned_abs());
        if digit < 0 { -magnitude } else { magnitude }
    }

    fn assert_digits(scalar: &Scalar) {
        let digits = Digits::new(scalar);
        assert!((-8..=8).contains(&digits.highest()));
        let mut sum = small(digits.highest());
        for digit in digits.lower() {
            assert!((-8..=8).contains(&digit));
            sum = sum * Scalar::from(16u8) + small(digit);
        }
        assert_eq!(sum, *scalar);
    }

    #[test]
    fn digits_of_numbers_in_the_middle_are_small() {
        // (ℓ − 1)/2, and 2^251 below it.
        let middle = -Scalar::ONE * Scalar::from(2u8).invert();
        let power = (0..251).fold(Scalar::ONE, |power, _| power + power);
        for near in [Scalar::ZERO, middle, power, -power] {
            for distance in 0..20u8 {
                assert_digits(&(near + Scalar::from(distance)));
                assert_digits(&(near - Scalar::from(distance)));
            }
        }
    }

    proptest! {
        #[test]
        fn digits_are_small_and_add_up(bytes: [u8; 32]) {
            assert_digits(&Scalar::from_bytes_mod_order(bytes));
        }

        #[test]
        fn numbers_are_compared(a: [u8; 32], b: [u8; 32], same in 0..32usize) {
            let mut b = b;
            b[same..].copy_from_slice(&a[same..]);
            let expected = a.iter().rev().lt(b.iter().rev());
            prop_assert_eq!(bool::from(is_less(&a, &b)), expected);
        }
    }
}
