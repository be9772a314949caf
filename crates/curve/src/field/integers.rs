//! Limbs in unsigned integers, for a multiplier of 52 bits.
//!
//! Limbs of an element are at most those of 2p, which are below 2^52: the multiplier takes no more.
//! So sums are carried at once, and every element counts as reduced. Carrying leaves limbs
//! below 2^51 + 2^18.
//!
//! # Products
//!
//! With lo and hi the lower 52 bits of a product and those above, column k of a·b is
//!
//! > zₖ = Σ lo(aᵢ·bⱼ) over i + j = k, plus 2·Σ hi(aᵢ·bⱼ) over i + j = k − 1,
//!
//! since 2^52 is twice the weight of a limb. Doubling a sum of high halves takes one addition a
//! column, and the low halves are added to it by the multiplier itself. 2^255 = 19, so limb k is
//! zₖ + 19·zₖ₊₅. A square has the products of different limbs twice: their sums are doubled before
//! those of equal limbs are added.
//!
//! # Wide numbers
//!
//! All halves are below 2^52, and column k has k + 1 low ones and twice k high ones, or 9 − k and
//! 10 − k each from column 5 on. So limb 0 is the largest: below (1 + 19·(4 + 2·5))·2^52 =
//! 267·2^52. A wide number of size 8 has less than 2136·2^52 < 2^64.

use super::{Arithmetic, Constant, LIMB_BITS, LIMB_MASK, P, times_19};
use crate::lanes::Multiplier52;

/// Limbs in unsigned integers.
pub(crate) struct InIntegers;

impl<L: Multiplier52> Arithmetic<L> for InIntegers {
    type Limb = L::Word;

    #[inline(always)]
    fn bits_of(_l: L, limb: L::Word) -> L::Word {
        limb
    }

    #[inline(always)]
    fn limb_of(_l: L, bits: L::Word) -> L::Word {
        bits
    }

    #[inline(always)]
    fn splat(l: L, constant: Constant) -> [L::Word; 5] {
        let mut limbs = [l.splat_word(0); 5];
        for k in 0..5 {
            limbs[k] = l.splat_word(constant.canonical[k]);
        }
        limbs
    }

    #[inline(always)]
    fn from_words(_l: L, words: &[L::Word; 5]) -> [L::Word; 5] {
        *words
    }

    #[inline(always)]
    fn to_words(_l: L, x: &[L::Word; 5]) -> [L::Word; 5] {
        *x
    }

    #[inline(always)]
    fn reduce(_l: L, x: &[L::Word; 5]) -> [L::Word; 5] {
        *x
    }

    #[inline(always)]
    fn add(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            sums[k] = l.add_words(a[k], b[k]);
        }
        carry(l, &sums)
    }

    #[inline(always)]
    fn sub(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            sums[k] = l.add_words(a[k], l.sub_words(l.splat_word(2 * P[k]), b[k]));
        }
        carry(l, &sums)
    }

    #[inline(always)]
    fn negate_if(l: L, x: &[L::Word; 5], mask: L::Word) -> [L::Word; 5] {
        let mut limbs = *x;
        for k in 0..5 {
            let negative = l.sub_words(l.splat_word(2 * P[k]), x[k]);
            let changes = l.and(mask, l.xor(negative, x[k]));
            limbs[k] = l.xor(x[k], changes);
        }
        limbs
    }

    #[inline(always)]
    fn multiply(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        #[cfg(test)]
        assert!(are_limbs(l, a) && are_limbs(l, b));
        let mut columns = [l.splat_word(0); 10];
        for k in 0..10 {
            let mut sum = l.splat_word(0);
            for i in 0..5 {
                if i < k && k - 1 - i < 5 {
                    sum = l.add_high(sum, a[i], b[k - 1 - i]);
                }
            }
            sum = l.add_words(sum, sum);
            for i in 0..5 {
                if i <= k && k - i < 5 {
                    sum = l.add_low(sum, a[i], b[k - i]);
                }
            }
            columns[k] = sum;
        }
        fold(l, &columns)
    }

    #[inline(always)]
    fn square(l: L, a: &[L::Word; 5]) -> [L::Word; 5] {
        #[cfg(test)]
        assert!(are_limbs(l, a));
        let mut columns = [l.splat_word(0); 10];
        for k in 0..10 {
            let mut sum = l.splat_word(0);
            for i in 0..5 {
                if 2 * i + 1 < k && k - 1 - i < 5 {
                    sum = l.add_high(sum, a[i], a[k - 1 - i]);
                }
            }
            sum = l.add_words(sum, sum);
            if k % 2 == 1 {
                sum = l.add_high(sum, a[k / 2], a[k / 2]);
            }
            for i in 0..5 {
                if 2 * i < k && k - i < 5 {
                    sum = l.add_low(sum, a[i], a[k - i]);
                }
            }
            sum = l.add_words(sum, sum);
            if k % 2 == 0 {
                sum = l.add_low(sum, a[k / 2], a[k / 2]);
            }
            columns[k] = sum;
        }
        fold(l, &columns)
    }

    #[inline(always)]
    fn add_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            sums[k] = l.add_words(a[k], b[k]);
        }
        sums
    }

    #[inline(always)]
    fn sub_wide(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let mut sums = *a;
        for k in 0..5 {
            // More than b, which is below 267·2^52, and less than twice that.
            let positive = l.add_words(a[k], l.splat_word(540 * P[k]));
            sums[k] = l.sub_words(positive, b[k]);
        }
        sums
    }

    #[inline(always)]
    fn reduce_wide(l: L, sums: &[L::Word; 5]) -> [L::Word; 5] {
        carry(l, sums)
    }
}

/// Returns the sums with the weights of limbs: 2^255 = 19.
#[inline(always)]
fn fold<L: Multiplier52>(l: L, columns: &[L::Word; 10]) -> [L::Word; 5] {
    let mut sums = [l.splat_word(0); 5];
    for k in 0..5 {
        sums[k] = l.add_words(columns[k], times_19(l, columns[k + 5]));
    }
    sums
}

/// Carries from each sum into the next, once: less than 2^13, or 19 times that, into limbs below
/// 2^51.
#[inline(always)]
fn carry<L: Multiplier52>(l: L, sums: &[L::Word; 5]) -> [L::Word; 5] {
    let mut limbs = *sums;
    for k in 0..5 {
        let low = l.and(sums[k], l.splat_word(LIMB_MASK));
        limbs[k] = if k == 0 {
            l.add_low(low, l.shr::<LIMB_BITS>(sums[4]), l.splat_word(19))
        } else {
            l.add_words(low, l.shr::<LIMB_BITS>(sums[k - 1]))
        };
    }
    limbs
}

/// Returns whether limbs are at most those of 2p.
#[cfg(test)]
pub(super) fn are_limbs<L: Multiplier52>(l: L, limbs: &[L::Word; 5]) -> bool {
    let largest = limbs.map(|limb| l.store(limb).into_iter().max());
    (0..5).all(|k| largest[k] <= Some(2 * P[k]))
}
