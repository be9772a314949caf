//! Limbs in doubles.
//!
//! Each holds a *signed integer*: |xₖ| ≤ R = 2^50 + 2^16 if the element is reduced.
//!
//! # Products
//!
//! Processors without the 52-bit integer multiplier (AVX-512 IFMA) multiply doubles twice as
//! wide as they multiply integers: 53 bits against 32. A fused multiply-add rounds only once,
//! so two of them give the two halves of a 102-bit product exactly (Dekker's and
//! Knuth's error-free transformations, in the form of Emmart, Zheng and Weems, "Faster
//! modular exponentiation using double precision floating point arithmetic on the GPU",
//! ARITH 2018):
//!
//! - c₁ = 3·2^102 is so large that the last bit of a double near it has the weight 2^51. Then h' =
//!   fma(a, b, c₁) = c₁ + h·2^51 with a·b = h·2^51 + l, |l| ≤ 2^50, as long as
//!   |a·b| < 2^102, which keeps h' between 2^103 and 2^104.
//! - c₂ = 3·2^51 does the same for 1: (c₁ + c₂) − h' = c₂ − h·2^51 is exact, and so is
//!   l' = fma(a, b, c₂ − h·2^51) = c₂ + l.
//! - Read as integers, the representations are h' ≙ bits(c₁) + h, l' ≙ bits(c₂) + l. So they
//!   are summed as integers, and the constants are taken off all at once.
//!
//! Nothing depends on the order in which a compiler sees these: Rust's floating-point
//! arithmetic is IEEE 754, rounded to nearest, never contracted or reassociated.
//!
//! # Wide numbers
//!
//! Sums have 256·p + Σ 2^50·2^(51k) added to them, which makes them positive whatever the products.
//! A low half is at most 2^50, a high half at most 2^51, so a column is at most (4 + 5·2)·2^50, and
//! 20 of them are within 256·2^51: every sum of a wide number of size 1 is positive and less than
//! 400·2^51.
//!
//! # Constant time
//!
//! Floating-point instructions take longer for subnormal numbers, infinities and NaNs; none can
//! occur: every double is an integer below 2^104, or an integer below 2^104 times 2^-51 that is an
//! integer. (The original Curve25519 and Poly1305 software, too, computes on secrets in floating
//! point, for the same reason.)

use super::{Arithmetic, Constant, LIMB_BITS, LIMB_MASK, P, times_19};
use crate::lanes::Doubles;

/// Returns 2^n as a double.
pub(crate) const fn power_of_two(n: u64) -> f64 {
    f64::from_bits((1023 + n) << 52)
}

/// c₁: doubles near it are multiples of 2^51.
pub(crate) const SPLIT: f64 = 3.0 * power_of_two(102);

/// c₂: doubles near it are integers.
pub(crate) const INTEGER: f64 = 3.0 * power_of_two(51);

/// The sign of a double.
const SIGN: u64 = 1 << 63;

/// What limbs are less than those of a wide number, once it is carried: balanced.
const HALF: u64 = 1 << (LIMB_BITS - 1);

/// Limbs in doubles.
pub(crate) struct InDoubles;

impl<L: Doubles> Arithmetic<L> for InDoubles {
    type Limb = L::Float;

    #[inline(always)]
    fn bits_of(l: L, limb: L::Float) -> L::Word {
        l.bits_of(limb)
    }

    #[inline(always)]
    fn limb_of(l: L, bits: L::Word) -> L::Float {
        l.float_of(bits)
    }

    #[inline(always)]
    fn splat(l: L, constant: Constant) -> [L::Float; 5] {
        let mut limbs = [l.splat(0.0); 5];
        for k in 0..5 {
            limbs[k] = l.splat(constant.balanced[k]);
        }
        limbs
    }

    #[inline(always)]
    fn from_words(l: L, words: &[L::Word; 5]) -> [L::Float; 5] {
        let one = power_of_two(52);
        let exponent = l.splat_word(one.to_bits());
        let mut limbs = [l.splat(0.0); 5];
        for k in 0..5 {
            let limb = l.or(words[k], exponent);
            limbs[k] = l.sub(l.float_of(limb), l.splat(one));
        }
        Self::reduce(l, &limbs)
    }

    #[inline(always)]
    fn to_words(l: L, x: &[L::Float; 5]) -> [L::Word; 5] {
        let reduced = Self::reduce(l, x);
        let mut words = [l.splat_word(0); 5];
        for k in 0..5 {
            // The integer, plus 2p to make it positive.
            let integer = l.bits_of(l.add(reduced[k], l.splat(INTEGER)));
            let offset = (2 * P[k]).wrapping_sub(INTEGER.to_bits());
            words[k] = l.add_words(integer, l.splat_word(offset));
        }
        words
    }

    #[inline(always)]
    fn reduce(l: L, x: &[L::Float; 5]) -> [L::Float; 5] {
        // Adding c₁ and taking it off again rounds to a multiple of 2^51, so what stays is at
        // most 2^50, and at most 19·4 comes in from the limb below.
        let split = l.splat(SPLIT);
        let scale = 1.0 / power_of_two(51);
        let mut limbs = *x;
        let mut carries = *x;
        for k in 0..5 {
            carries[k] = l.sub(l.add(limbs[k], split), split);
            limbs[k] = l.sub(limbs[k], carries[k]);
        }
        limbs[0] = l.mul_add(carries[4], l.splat(19.0 * scale), limbs[0]);
        for k in 1..5 {
            limbs[k] = l.mul_add(carries[k - 1], l.splat(scale), limbs[k]);
        }
        limbs
    }

    #[inline(always)]
    fn add(l: L, a: &[L::Float; 5], b: &[L::Float; 5]) -> [L::Float; 5] {
        let mut limbs = *a;
        for k in 0..5 {
            limbs[k] = l.add(a[k], b[k]);
        }
        limbs
    }

    #[inline(always)]
    fn sub(l: L, a: &[L::Float; 5], b: &[L::Float; 5]) -> [L::Float; 5] {
        let mut limbs = *a;
        for k in 0..5 {
            limbs[k] = l.sub(a[k], b[k]);
        }
        limbs
    }

    #[inline(always)]
    fn negate_if(l: L, x: &[L::Float; 5], mask: L::Word) -> [L::Float; 5] {
        let sign = l.and(mask, l.splat_word(SIGN));
        let mut limbs = *x;
        for limb in &mut limbs {
            *limb = l.float_of(l.xor(l.bits_of(*limb), sign));
        }
        limbs
    }

    #[inline(always)]
    fn multiply(l: L, a: &[L::Float; 5], b: &[L::Float; 5]) -> [L::Word; 5] {
        // That the bound holds depends on the formula, not on the numbers: this crate's own tests
        // check it, and those of others do not wait for it.
        #[cfg(test)]
        assert!(magnitude(l, a) * magnitude(l, b) < power_of_two(102));
        let mut columns = Columns::new(l, [1, 2, 3, 4, 5, 4, 3, 2, 1]);
        for i in 0..5 {
            for j in 0..5 {
                columns.accumulate(i + j, a[i], b[j]);
            }
        }
        columns.fold()
    }

    #[inline(always)]
    fn square(l: L, a: &[L::Float; 5]) -> [L::Word; 5] {
        #[cfg(test)]
        assert!(2.0 * magnitude(l, a) * magnitude(l, a) < power_of_two(102));
        let mut columns = Columns::new(l, [1, 1, 2, 2, 3, 2, 2, 1, 1]);
        for i in 0..5 {
            columns.accumulate(2 * i, a[i], a[i]);
            let twice = l.add(a[i], a[i]);
            for j in i + 1..5 {
                columns.accumulate(i + j, twice, a[j]);
            }
        }
        columns.fold()
    }

    #[inline(always)]
    fn add_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            // One of two halves stays.
            sums[k] = l.add_words(a[k], l.sub_words(b[k], l.splat_word(HALF)));
        }
        sums
    }

    #[inline(always)]
    fn sub_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            // 512·p make it positive, and the half that goes comes back.
            let positive = l.add_words(a[k], l.splat_word(512 * P[k] + HALF));
            sums[k] = l.sub_words(positive, b[k]);
        }
        sums
    }

    /// A limb keeps a sum modulo 2^51, less 2^50, so from −2^50 to 2^50. Less than 19·400·8 < 2^16
    /// is carried in.
    #[inline(always)]
    fn reduce_wide(l: L, sums: &[L::Word; 5]) -> [L::Float; 5] {
        let one = power_of_two(52);
        let exponent = l.splat_word(one.to_bits());
        let mut low = [exponent; 5];
        let mut carries = [exponent; 5];
        for k in 0..5 {
            carries[k] = l.shr::<LIMB_BITS>(sums[k]);
            low[k] = l.or(l.and(sums[k], l.splat_word(LIMB_MASK)), exponent);
        }
        let mut limbs = [l.splat(0.0); 5];
        for k in 0..5 {
            let carry = if k == 0 {
                times_19(l, carries[4])
            } else {
                carries[k - 1]
            };
            // An integer below 2^52 under the exponent of 2^52 is that integer plus 2^52.
            let limb = l.float_of(l.add_words(low[k], carry));
            limbs[k] = l.sub(limb, l.splat(one + HALF as f64));
        }
        limbs
    }
}

/// Sums of products by weight: column k has the weight 2^(51k).
struct Columns<L: Doubles> {
    lanes: L,
    sums: [L::Word; 10],
}

impl<L: Doubles> Columns<L> {
    /// Returns columns that will get `products[k]` products in column k, at most 5.
    ///
    /// They start with what takes off the constants of all those products. The lower five
    /// also start with what is added to wide numbers.
    #[inline(always)]
    fn new(lanes: L, products: [u64; 9]) -> Self {
        let mut sums = [lanes.splat_word(0); 10];
        for k in 0..10 {
            let low_halves = if k < 9 { products[k] } else { 0 };
            let high_halves = if k > 0 { products[k - 1] } else { 0 };
            let constants = low_halves
                .wrapping_mul(INTEGER.to_bits())
                .wrapping_add(high_halves.wrapping_mul(SPLIT.to_bits()));
            let offset = if k < 5 { 256 * P[k] + HALF } else { 0 };
            sums[k] = lanes.splat_word(offset.wrapping_sub(constants));
        }
        Self { lanes, sums }
    }

    /// Adds a·b to column k. |a·b| < 2^102.
    #[inline(always)]
    fn accumulate(&mut self, k: usize, a: L::Float, b: L::Float) {
        let l = self.lanes;
        let high = l.mul_add(a, b, l.splat(SPLIT));
        let low = l.mul_add(a, b, l.sub(l.splat(SPLIT + INTEGER), high));
        self.sums[k] = l.add_words(self.sums[k], l.bits_of(low));
        self.sums[k + 1] = l.add_words(self.sums[k + 1], l.bits_of(high));
    }

    /// Returns the sums with the weights of limbs: 2^255 = 19.
    #[inline(always)]
    fn fold(self) -> [L::Word; 5] {
        let l = self.lanes;
        let mut sums = [l.splat_word(0); 5];
        for k in 0..5 {
            sums[k] = l.add_words(self.sums[k], times_19(l, self.sums[k + 5]));
        }
        sums
    }
}

/// Returns the largest magnitude of any limb.
#[cfg(test)]
pub(super) fn magnitude<L: Doubles>(l: L, limbs: &[L::Float; 5]) -> f64 {
    let lanes = limbs.iter().flat_map(|limb| l.store(l.bits_of(*limb)));
    lanes
        .map(|bits| f64::from_bits(bits).abs())
        .fold(0.0, f64::max)
}
