//! The field of 2^255 − 19, one element per lane.
//!
//! # Representation
//!
//! There are two kinds of limbs xₖ, k = 0…4:
//!
//! - [`InDoubles`]: x = Σ xₖ·2^(51k), in doubles that hold signed integers, for processors whose
//!   widest multiplier in vectors is that of doubles,
//! - [`InIntegers`]: x = Σ xₖ·2^(52k), in unsigned integers, for those that multiply 52 bits
//!   (AVX-512 IFMA).
//!
//! In doubles, additions and subtractions do not reduce. An element has *size* n if |xₖ| ≤ n·R,
//! R = 2^50 + 2^16; it is *reduced* if its size is 1. Every function documents the sizes that it
//! takes. In integers every element is reduced. A formula keeps to the sizes of doubles, and
//! holds for both.
//!
//! A product is first a [`Wide`]: five sums of up to 63 bits that nothing has been carried out of.
//! Wide numbers are added and subtracted at a quarter of the cost of reducing them, so that
//! formulas reduce sums of products, not products.
//!
//! # Constant time
//!
//! There is no branch and no address that depends on a value. `field/doubles.rs` has more on
//! doubles; the integer instructions have one duration.

#![expect(
    clippy::needless_range_loop,
    reason = "one index for the limbs of several elements; an iterator's closures are not inlined"
)]

use std::ops::{Add, Mul, Neg, Sub};

use zeroize::Zeroize;

use crate::lanes::{Job, Lanes, MAX_LANES};

mod arithmetic;
mod constants;
mod doubles;
mod integers;
mod roots;

pub(crate) use arithmetic::{Arithmetic, Limbs};
pub(crate) use constants::Constant;
pub(crate) use doubles::{INTEGER, InDoubles, SPLIT, power_of_two};
pub(crate) use integers::InIntegers;

/// Bits in a limb of doubles, and of a number between two representations.
pub(crate) const LIMB_BITS: u32 = 51;

/// A limb's bits.
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// The limbs of p = 2^255 − 19.
const P: [u64; 5] = [LIMB_MASK - 18, LIMB_MASK, LIMB_MASK, LIMB_MASK, LIMB_MASK];

/// One field element in each lane.
pub(crate) struct Element<L: Lanes> {
    lanes: L,
    limbs: Limbs<L>,
}

impl<L: Lanes> Clone for Element<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Lanes> Copy for Element<L> {}

impl<L: Lanes> Zeroize for Element<L> {
    fn zeroize(&mut self) {
        self.limbs.zeroize();
    }
}

/// Yes or no in each lane: all bits set, or none.
pub(crate) struct Mask<L: Lanes> {
    lanes: L,
    bits: L::Word,
}

impl<L: Lanes> Clone for Mask<L> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}

impl<L: Lanes> Copy for Mask<L> {}

impl<L: Lanes> Mask<L> {
    /// Puts one answer into every lane: 1 for yes, 0 for no.
    #[inline(always)]
    pub(crate) fn splat(lanes: L, yes: u8) -> Self {
        Self {
            lanes,
            bits: lanes.splat_word(u64::from(yes).wrapping_neg()),
        }
    }

    /// Yes where a word, one per lane, equals `value`. All are below 2^63.
    #[inline(always)]
    pub(crate) fn equal(lanes: L, words: &[u64; MAX_LANES], value: u64) -> Self {
        Self::zero(lanes, lanes.xor(lanes.load(words), lanes.splat_word(value)))
    }

    /// Yes where a word below 2^63 is zero: only there does subtracting 1 borrow into the
    /// top bit.
    #[inline(always)]
    fn zero(lanes: L, words: L::Word) -> Self {
        let is_zero = lanes.shr::<63>(lanes.sub_words(words, lanes.splat_word(1)));
        Self {
            lanes,
            bits: lanes.sub_words(lanes.splat_word(0), is_zero),
        }
    }

    /// Returns a mask that is set where either one is set.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self {
            bits: self.lanes.or(self.bits, other.bits),
            ..self
        }
    }

    /// Returns a mask that is set where this one is not.
    #[inline(always)]
    pub(crate) fn not(self) -> Self {
        Self {
            bits: self.lanes.xor(self.bits, self.lanes.splat_word(u64::MAX)),
            ..self
        }
    }

    /// Returns the answers, lane by lane.
    #[inline(always)]
    pub(crate) fn to_bools(self) -> [bool; MAX_LANES] {
        self.lanes.store(self.bits).map(|bits| bits != 0)
    }
}

/// An element that all lanes share: the representation of its limbs on some lanes.
#[derive(Clone, Copy)]
pub(crate) struct Shared([u64; 5]);

impl Shared {
    /// Returns a value to be replaced.
    pub(crate) const NOTHING: Self = Self([0; 5]);
}

impl<L: Lanes> Element<L> {
    /// Returns the proof that this element's instruction set is there.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> L {
        self.lanes
    }

    /// Puts one element into every lane, reduced.
    #[inline(always)]
    pub(crate) fn splat(lanes: L, constant: Constant) -> Self {
        let limbs = L::Field::splat(lanes, constant);
        Self { lanes, limbs }
    }

    /// Puts one element into every lane, which comes from the same kind of lanes.
    #[inline(always)]
    pub(crate) fn splat_shared(lanes: L, shared: Shared) -> Self {
        let mut limbs = L::Field::splat(lanes, Constant::ZERO);
        for k in 0..5 {
            limbs[k] = L::Field::limb_of(lanes, lanes.splat_word(shared.0[k]));
        }
        Self { lanes, limbs }
    }

    /// Returns the element in the first lane.
    #[inline(always)]
    pub(crate) fn first_lane(&self) -> Shared {
        let mut limbs = [0; 5];
        for k in 0..5 {
            limbs[k] = self.lanes.store(self.bits(k))[0];
        }
        Shared(limbs)
    }

    /// Returns the elements with these little-endian encodings, reduced. The highest bit is
    /// ignored; numbers from p to 2^255 are taken modulo p. Lanes beyond the slice are zero.
    #[inline(always)]
    pub(crate) fn from_bytes(lanes: L, encodings: &[[u8; 32]]) -> Self {
        let mut words = [[0; MAX_LANES]; 5];
        for (lane, encoding) in encodings.iter().take(L::COUNT).enumerate() {
            let limbs = split_limbs(encoding);
            for k in 0..5 {
                words[k][lane] = limbs[k];
            }
        }
        let mut limbs = [lanes.splat_word(0); 5];
        for k in 0..5 {
            limbs[k] = lanes.load(&words[k]);
        }
        let limbs = L::Field::from_words(lanes, &limbs);
        Self { lanes, limbs }
    }

    /// Writes the little-endian encodings of the numbers below p, lane by lane, as many as `out`
    /// has room for. Takes any size up to 7.
    #[inline(always)]
    pub(crate) fn to_bytes(self, out: &mut [[u8; 32]]) {
        let canonical = self.canonical();
        let mut words = [[0; MAX_LANES]; 5];
        for k in 0..5 {
            words[k] = self.lanes.store(canonical[k]);
        }
        for (lane, encoding) in out.iter_mut().take(L::COUNT).enumerate() {
            *encoding = join_limbs(words.map(|word| word[lane]));
        }
    }

    /// Reduces the limbs. Takes any size up to 7.
    #[inline(always)]
    pub(crate) fn reduce(&self) -> Self {
        self.with(L::Field::reduce(self.lanes, &self.limbs))
    }

    /// Returns the product, not yet reduced. Takes sizes whose product is at most 3.
    #[inline(always)]
    pub(crate) fn times(&self, other: &Self) -> Wide<L> {
        Wide {
            lanes: self.lanes,
            sums: L::Field::multiply(self.lanes, &self.limbs, &other.limbs),
        }
    }

    /// Returns the square, not yet reduced. Takes size 1.
    #[inline(always)]
    pub(crate) fn squared(&self) -> Wide<L> {
        Wide {
            lanes: self.lanes,
            sums: L::Field::square(self.lanes, &self.limbs),
        }
    }

    /// Returns the square, reduced. Takes size 1.
    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        self.lanes.run(Square { base: self })
    }

    /// Returns −x in the lanes of the mask, x elsewhere; the size stays.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: Mask<L>) -> Self {
        self.with(L::Field::negate_if(self.lanes, &self.limbs, mask.bits))
    }

    /// Returns the element in the lanes of the mask, zero elsewhere.
    #[inline(always)]
    pub(crate) fn keep_if(&self, mask: Mask<L>) -> Self {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for k in 0..5 {
            limbs[k] = L::Field::limb_of(l, l.and(mask.bits, self.bits(k)));
        }
        self.with(limbs)
    }

    /// Returns the one of two elements that is not zero, where one of them is.
    #[inline(always)]
    pub(crate) fn or(&self, other: &Self) -> Self {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for k in 0..5 {
            limbs[k] = L::Field::limb_of(l, l.or(self.bits(k), other.bits(k)));
        }
        self.with(limbs)
    }

    /// Returns `yes` in the lanes of the mask, `no` elsewhere; the size is the larger one.
    #[inline(always)]
    pub(crate) fn select(mask: Mask<L>, yes: &Self, no: &Self) -> Self {
        let l = mask.lanes;
        let mut limbs = no.limbs;
        for k in 0..5 {
            let changes = l.and(mask.bits, l.xor(yes.bits(k), no.bits(k)));
            limbs[k] = L::Field::limb_of(l, l.xor(no.bits(k), changes));
        }
        no.with(limbs)
    }

    /// Returns where the number below p is odd, which RFC 9496 §4.1 calls negative. Takes any size
    /// up to 7.
    #[inline(always)]
    pub(crate) fn is_negative(&self) -> Mask<L> {
        let l = self.lanes;
        let odd = l.and(self.canonical()[0], l.splat_word(1));
        Mask {
            lanes: l,
            bits: l.sub_words(l.splat_word(0), odd),
        }
    }

    /// Returns where the element is zero. Takes any size up to 7.
    #[inline(always)]
    pub(crate) fn is_zero(&self) -> Mask<L> {
        let l = self.lanes;
        let limbs = self.canonical();
        let mut any = limbs[0];
        for limb in &limbs[1..] {
            any = l.or(any, *limb);
        }
        Mask::zero(l, any)
    }

    /// Returns the non-negative one of x and −x: CT_ABS of RFC 9496. Takes and gives size 1.
    #[inline(always)]
    pub(crate) fn abs(&self) -> Self {
        self.negate_if(self.is_negative())
    }

    /// Returns the limbs of the numbers below p. Takes any size up to 7.
    #[inline(always)]
    fn canonical(&self) -> [L::Word; 5] {
        let l = self.lanes;
        let mut limbs = L::Field::to_words(l, &self.limbs);
        // The first pass leaves limbs below 2^51, except for 19·3 more in the lowest. The second
        // carries out at most once more, and then only out of limbs that were all ones, so
        // that the 19 cannot carry again: the number is below 2^255.
        for _ in 0..2 {
            let carry = propagate(l, &mut limbs);
            limbs[0] = l.add_words(limbs[0], times_19(l, carry));
        }
        // It is at least p exactly if adding 19 reaches 2^255; then the 19 stays, 2^255 goes.
        let mut plus_19 = limbs;
        plus_19[0] = l.add_words(plus_19[0], l.splat_word(19));
        let reaches = propagate(l, &mut plus_19);
        limbs[0] = l.add_words(limbs[0], times_19(l, reaches));
        propagate(l, &mut limbs);
        limbs
    }

    /// Returns the representation of limb k.
    #[inline(always)]
    fn bits(&self, k: usize) -> L::Word {
        L::Field::bits_of(self.lanes, self.limbs[k])
    }

    #[inline(always)]
    fn with(&self, limbs: Limbs<L>) -> Self {
        let lanes = self.lanes;
        Self { lanes, limbs }
    }
}

impl<L: Lanes> Add for &Element<L> {
    type Output = Element<L>;

    /// Returns the sum; its size is the sum of both sizes.
    #[inline(always)]
    fn add(self, other: Self) -> Element<L> {
        self.with(L::Field::add(self.lanes, &self.limbs, &other.limbs))
    }
}

impl<L: Lanes> Sub for &Element<L> {
    type Output = Element<L>;

    /// Returns the difference; its size is the sum of both sizes.
    #[inline(always)]
    fn sub(self, other: Self) -> Element<L> {
        self.with(L::Field::sub(self.lanes, &self.limbs, &other.limbs))
    }
}

impl<L: Lanes> Neg for &Element<L> {
    type Output = Element<L>;

    /// Returns the negative; the size stays.
    #[inline(always)]
    fn neg(self) -> Element<L> {
        self.negate_if(Mask::splat(self.lanes, 1))
    }
}

impl<L: Lanes> Mul for &Element<L> {
    type Output = Element<L>;

    /// Returns the product, reduced. Takes sizes whose product is at most 3.
    #[inline(always)]
    fn mul(self, other: Self) -> Element<L> {
        self.lanes.run(Multiply { a: self, b: other })
    }
}

/// A product.
struct Multiply<'a, L: Lanes> {
    a: &'a Element<L>,
    b: &'a Element<L>,
}

impl<L: Lanes> Job<L> for Multiply<'_, L> {
    type Output = Element<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Element<L> {
        self.a.times(self.b).reduce()
    }
}

/// A square.
struct Square<'a, L: Lanes> {
    base: &'a Element<L>,
}

impl<L: Lanes> Job<L> for Square<'_, L> {
    type Output = Element<L>;

    #[inline(always)]
    fn run(self, _lanes: L) -> Element<L> {
        self.base.squared().reduce()
    }
}

/// A sum of products that is not reduced, of *size* n if it is of n products, or was documented
/// to be as large. Its size is at most 8.
pub(crate) struct Wide<L: Lanes> {
    lanes: L,
    sums: [L::Word; 5],
}

impl<L: Lanes> Wide<L> {
    /// Returns the sum, whose size is that of both.
    #[inline(always)]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        Self {
            lanes: self.lanes,
            sums: L::Field::add_wide(self.lanes, &self.sums, &other.sums),
        }
    }

    /// Returns the difference. Takes size 1 of the other number, and its own grows by 2.
    #[inline(always)]
    pub(crate) fn minus(&self, other: &Self) -> Self {
        Self {
            lanes: self.lanes,
            sums: L::Field::sub_wide(self.lanes, &self.sums, &other.sums),
        }
    }

    /// Returns the element, reduced.
    #[inline(always)]
    pub(crate) fn reduce(&self) -> Element<L> {
        Element {
            lanes: self.lanes,
            limbs: L::Field::reduce_wide(self.lanes, &self.sums),
        }
    }
}

/// Returns 19x, in shifts and additions for AVX2. (Where there is a 64-bit multiplication, the
/// compiler puts it back.)
#[inline(always)]
fn times_19<L: Lanes>(l: L, x: L::Word) -> L::Word {
    l.add_words(l.shl::<4>(x), l.add_words(l.add_words(x, x), x))
}

/// Carries from each limb into the next; the carry out of the last is returned.
#[inline(always)]
fn propagate<L: Lanes>(l: L, limbs: &mut [L::Word; 5]) -> L::Word {
    let mut carry = l.splat_word(0);
    for limb in limbs {
        let sum = l.add_words(*limb, carry);
        carry = l.shr::<LIMB_BITS>(sum);
        *limb = l.and(sum, l.splat_word(LIMB_MASK));
    }
    carry
}

/// Splits 255 bits, little-endian, into limbs of 51; the highest bit is dropped.
fn split_limbs(bytes: &[u8; 32]) -> [u64; 5] {
    let word = |k: usize| {
        let mut word = [0; 8];
        word.copy_from_slice(&bytes[8 * k..8 * k + 8]);
        u64::from_le_bytes(word)
    };
    let words = [word(0), word(1), word(2), word(3)];
    [
        words[0] & LIMB_MASK,
        ((words[0] >> 51) | (words[1] << 13)) & LIMB_MASK,
        ((words[1] >> 38) | (words[2] << 26)) & LIMB_MASK,
        ((words[2] >> 25) | (words[3] << 39)) & LIMB_MASK,
        (words[3] >> 12) & LIMB_MASK,
    ]
}

/// Returns the inverse of [`split_limbs`].
fn join_limbs(limbs: [u64; 5]) -> [u8; 32] {
    let words = [
        limbs[0] | (limbs[1] << 51),
        (limbs[1] >> 13) | (limbs[2] << 38),
        (limbs[2] >> 26) | (limbs[3] << 25),
        (limbs[3] >> 39) | (limbs[4] << 12),
    ];
    let mut bytes = [0; 32];
    for (chunk, word) in bytes.chunks_exact_mut(8).zip(words) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
mod tests;
