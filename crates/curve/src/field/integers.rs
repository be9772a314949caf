//! Limbs in unsigned integers, for a multiplier of 52 bits.
//!
//! # Limbs
//!
//! x = Σ xₖ·2^(52k), k = 0…4: as many bits as the multiplier takes, so that both halves of a
//! product weigh as much as a limb. It ignores all higher bits, so limbs 0 to 3 may have any:
//! nothing masks a sum that was carried out of. Only sums and differences of elements have to. Limb
//! 4 has no others, and is below 2^47 + 2^7. So x is hardly more than 2^255, and every element
//! counts as reduced.
//!
//! # Products
//!
//! With lo and hi the lower 52 bits of a product and those above, column k of a·b is
//!
//! > zₖ = Σ lo(aᵢ·bⱼ) over i + j = k, plus Σ hi(aᵢ·bⱼ) over i + j = k − 1.
//!
//! A square has the products of different limbs twice: their sums are doubled before those of equal
//! limbs are added. 2^260 = 608 modulo p, so column k + 5 is multiplied by 608 by the multiplier
//! again, which takes 52 bits of it, and the others in a product of their own.
//!
//! # Wide numbers
//!
//! All halves are below 2^52, and column k has k + 1 low ones and k high ones. Those from column 5
//! on add two halves, and less than 2^16. So limb 4 is the largest: below (5 + 4 + 2)·2^52. A wide
//! number of size 8 has less than 88·2^52 < 2^59.

use super::{Arithmetic, Constant, LIMB_MASK};
use crate::lanes::Multiplier52;

/// Bits of a limb that the multiplier takes.
pub(super) const BITS: u32 = 52;

/// These bits.
pub(super) const MASK: u64 = (1 << BITS) - 1;

/// Bits of limb 4 below 2^255.
pub(super) const HIGHEST_BITS: u32 = 47;

/// 2^260 modulo p.
const FOLD: u64 = 608;

/// The limbs of 2p, each above that of any element.
const TWO_P: [u64; 5] = [
    (1 << 53) - 38,
    (1 << 53) - 2,
    (1 << 53) - 2,
    (1 << 53) - 2,
    (1 << 48) - 2,
];

/// The limbs of 12·32p, each above that of any wide number of size 1, and less than twice that.
const WIDE_P: [u64; 5] = [
    12 * (MASK + 1 - FOLD),
    12 * MASK,
    12 * MASK,
    12 * MASK,
    12 * MASK,
];

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
        Self::from_words(l, &limbs)
    }

    #[inline(always)]
    fn from_words(l: L, words: &[L::Word; 5]) -> [L::Word; 5] {
        let [w0, w1, w2, w3, w4] = *words;
        [
            l.or(w0, l.shl::<51>(w1)),
            l.or(l.shr::<1>(w1), l.shl::<50>(w2)),
            l.or(l.shr::<2>(w2), l.shl::<49>(w3)),
            l.or(l.shr::<3>(w3), l.shl::<48>(w4)),
            l.shr::<4>(w4),
        ]
    }

    #[inline(always)]
    fn to_words(l: L, x: &[L::Word; 5]) -> [L::Word; 5] {
        let [x0, x1, x2, x3, x4] = limbs_alone(l, x);
        let word = |bits: L::Word| l.and(bits, l.splat_word(LIMB_MASK));
        [
            word(x0),
            word(l.or(l.shl::<1>(x1), l.shr::<51>(x0))),
            word(l.or(l.shl::<2>(x2), l.shr::<50>(x1))),
            word(l.or(l.shl::<3>(x3), l.shr::<49>(x2))),
            l.or(l.shl::<4>(x4), l.shr::<48>(x3)),
        ]
    }

    #[inline(always)]
    fn reduce(_l: L, x: &[L::Word; 5]) -> [L::Word; 5] {
        *x
    }

    #[inline(always)]
    fn add(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let (a, b) = (limbs_alone(l, a), limbs_alone(l, b));
        let mut sums = a;
        for k in 0..5 {
            sums[k] = l.add_words(a[k], b[k]);
        }
        carry(l, &sums)
    }

    #[inline(always)]
    fn sub(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        let (a, b) = (limbs_alone(l, a), limbs_alone(l, b));
        let mut sums = a;
        for k in 0..5 {
            sums[k] = l.add_words(a[k], l.sub_words(l.splat_word(TWO_P[k]), b[k]));
        }
        carry(l, &sums)
    }

    #[inline(always)]
    fn negate_if(l: L, x: &[L::Word; 5], mask: L::Word) -> [L::Word; 5] {
        let mut sums = limbs_alone(l, x);
        for k in 0..5 {
            let negative = l.sub_words(l.splat_word(TWO_P[k]), sums[k]);
            let changes = l.and(mask, l.xor(negative, sums[k]));
            sums[k] = l.xor(sums[k], changes);
        }
        carry(l, &sums)
    }

    #[inline(always)]
    fn multiply(l: L, a: &[L::Word; 5], b: &[L::Word; 5]) -> [L::Word; 5] {
        #[cfg(test)]
        assert!(are_limbs(l, a) && are_limbs(l, b));
        let mut columns = [l.splat_word(0); 10];
        for i in 0..5 {
            for j in 0..5 {
                columns[i + j] = l.add_low(columns[i + j], a[i], b[j]);
                columns[i + j + 1] = l.add_high(columns[i + j + 1], a[i], b[j]);
            }
        }
        fold(l, columns)
    }

    #[inline(always)]
    fn square(l: L, a: &[L::Word; 5]) -> [L::Word; 5] {
        #[cfg(test)]
        assert!(are_limbs(l, a));
        let mut columns = [l.splat_word(0); 10];
        for i in 0..5 {
            for j in i + 1..5 {
                columns[i + j] = l.add_low(columns[i + j], a[i], a[j]);
                columns[i + j + 1] = l.add_high(columns[i + j + 1], a[i], a[j]);
            }
        }
        for k in 1..9 {
            columns[k] = l.add_words(columns[k], columns[k]);
        }
        for i in 0..5 {
            columns[2 * i] = l.add_low(columns[2 * i], a[i], a[i]);
            columns[2 * i + 1] = l.add_high(columns[2 * i + 1], a[i], a[i]);
        }
        fold(l, columns)
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
            let positive = l.add_words(a[k], l.splat_word(WIDE_P[k]));
            sums[k] = l.sub_words(positive, b[k]);
        }
        sums
    }

    #[inline(always)]
    fn reduce_wide(l: L, sums: &[L::Word; 5]) -> [L::Word; 5] {
        carry(l, sums)
    }
}

/// Returns the limbs without the bits that do not count.
#[inline(always)]
fn limbs_alone<L: Multiplier52>(l: L, x: &[L::Word; 5]) -> [L::Word; 5] {
    let mut limbs = *x;
    for limb in &mut limbs[..4] {
        *limb = l.and(*limb, l.splat_word(MASK));
    }
    limbs
}

/// Returns the sums of columns with the weights of limbs: 2^260 = 608.
#[inline(always)]
fn fold<L: Multiplier52>(l: L, columns: [L::Word; 10]) -> [L::Word; 5] {
    let factor = l.splat_word(FOLD);
    let mut columns = columns;
    // Column 9 is a single half, and its highest bits weigh as much as column 5.
    columns[4] = l.add_low(columns[4], columns[9], factor);
    columns[5] = l.add_high(columns[5], columns[9], factor);
    for k in 0..4 {
        let high = columns[k + 5];
        columns[k] = l.add_low(columns[k], high, factor);
        columns[k + 1] = l.add_high(columns[k + 1], high, factor);
        columns[k + 1] = l.add_low(columns[k + 1], l.shr::<BITS>(high), factor);
    }
    let [z0, z1, z2, z3, z4, ..] = columns;
    [z0, z1, z2, z3, z4]
}

/// Carries from each sum into the next, after 2^255 = 19 has taken what is too much for limb 4. At
/// most 2^7 is carried into that.
#[inline(always)]
fn carry<L: Multiplier52>(l: L, sums: &[L::Word; 5]) -> [L::Word; 5] {
    let excess = l.shr::<HIGHEST_BITS>(sums[4]);
    let mut limbs = *sums;
    limbs[0] = l.add_low(sums[0], excess, l.splat_word(19));
    limbs[4] = l.and(sums[4], l.splat_word((1 << HIGHEST_BITS) - 1));
    for k in 1..5 {
        limbs[k] = l.add_words(limbs[k], l.shr::<BITS>(limbs[k - 1]));
    }
    limbs
}

/// Returns whether limb 4 is small enough; the others may be anything.
#[cfg(test)]
pub(super) fn are_limbs<L: Multiplier52>(l: L, limbs: &[L::Word; 5]) -> bool {
    let largest = (1 << HIGHEST_BITS) + (1 << 7);
    l.store(limbs[4]).iter().all(|highest| *highest < largest)
}
