//! The field of 2^255 − 19, one element per lane, in double-precision arithmetic.
//!
//! # Representation
//!
//! x = Σ xₖ·2^(51k), k = 0…4, each limb a double that holds a *signed integer*. Limbs are *reduced*
//! if |xₖ| ≤ R = 2^50 + 2^13. Additions and subtractions do not reduce: their results are within a
//! few R, and every function documents how many it takes. Below, an element has *size* n if |xₖ| ≤
//! n·R.
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
//! # Constant time
//!
//! There is no branch and no address that depends on a value. Floating-point instructions
//! take longer for subnormal numbers, infinities and NaNs; none can occur: every double is an
//! integer below 2^104, or an integer below 2^104 times 2^-51 that is an integer. (The
//! original Curve25519 and Poly1305 software, too, computes on secrets in floating point, for
//! the same reason.)

#![expect(
    clippy::needless_range_loop,
    reason = "one index for the limbs of several elements; an iterator's closures are not inlined"
)]

use std::ops::{Add, Mul, Neg, Sub};

use zeroize::Zeroize;

use crate::lanes::{Job, Lanes, MAX_LANES};

mod constants;

pub(crate) use constants::Constant;

/// Bits in a limb.
pub(crate) const LIMB_BITS: u32 = 51;

/// A limb's bits.
pub(crate) const LIMB_MASK: u64 = (1 << LIMB_BITS) - 1;

/// The limbs of p = 2^255 − 19.
const P: [u64; 5] = [LIMB_MASK - 18, LIMB_MASK, LIMB_MASK, LIMB_MASK, LIMB_MASK];

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

/// One field element in each lane.
pub(crate) struct Element<L: Lanes> {
    lanes: L,
    limbs: [L::Float; 5],
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

impl<L: Lanes> Element<L> {
    /// Returns the proof that this element's instruction set is there.
    #[inline(always)]
    pub(crate) fn lanes(&self) -> L {
        self.lanes
    }

    /// Puts one element into every lane, reduced.
    #[inline(always)]
    pub(crate) fn splat(lanes: L, constant: Constant) -> Self {
        let mut limbs = [lanes.splat(0.0); 5];
        for (limb, value) in limbs.iter_mut().zip(constant.0) {
            *limb = lanes.splat(value);
        }
        Self { lanes, limbs }
    }

    /// Returns the element in the first lane.
    #[inline(always)]
    pub(crate) fn first_lane(&self) -> Constant {
        let mut limbs = [0.0; 5];
        for k in 0..5 {
            limbs[k] = f64::from_bits(self.lanes.store(self.lanes.bits_of(self.limbs[k]))[0]);
        }
        Constant(limbs)
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
        let one = power_of_two(52);
        let exponent = lanes.splat_word(one.to_bits());
        let mut limbs = [lanes.splat(0.0); 5];
        for k in 0..5 {
            let limb = lanes.or(lanes.load(&words[k]), exponent);
            limbs[k] = lanes.sub(lanes.float_of(limb), lanes.splat(one));
        }
        Self { lanes, limbs }.reduce()
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
        let l = self.lanes;
        // Adding c₁ and taking it off again rounds to a multiple of 2^51, so what stays is at
        // most 2^50, and at most 19·4 comes in from the limb below.
        let split = l.splat(SPLIT);
        let scale = 1.0 / power_of_two(51);
        let mut limbs = self.limbs;
        let mut carries = self.limbs;
        for k in 0..5 {
            carries[k] = l.sub(l.add(limbs[k], split), split);
            limbs[k] = l.sub(limbs[k], carries[k]);
        }
        limbs[0] = l.mul_add(carries[4], l.splat(19.0 * scale), limbs[0]);
        for k in 1..5 {
            limbs[k] = l.mul_add(carries[k - 1], l.splat(scale), limbs[k]);
        }
        Self { lanes: l, limbs }
    }

    /// Returns the square, reduced. Takes size 1.
    #[inline(always)]
    pub(crate) fn square(&self) -> Self {
        self.lanes.run(Square { base: self })
    }

    /// Returns −x in the lanes of the mask, x elsewhere; the size stays.
    #[inline(always)]
    pub(crate) fn negate_if(&self, mask: Mask<L>) -> Self {
        let l = self.lanes;
        let sign = l.and(mask.bits, l.splat_word(SIGN));
        let mut limbs = self.limbs;
        for limb in &mut limbs {
            *limb = l.float_of(l.xor(l.bits_of(*limb), sign));
        }
        Self { lanes: l, limbs }
    }

    /// Returns the element in the lanes of the mask, zero elsewhere.
    #[inline(always)]
    pub(crate) fn keep_if(&self, mask: Mask<L>) -> Self {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for limb in &mut limbs {
            *limb = l.float_of(l.and(mask.bits, l.bits_of(*limb)));
        }
        Self { lanes: l, limbs }
    }

    /// Returns the one of two elements that is not zero, where one of them is.
    #[inline(always)]
    pub(crate) fn or(&self, other: &Self) -> Self {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for k in 0..5 {
            limbs[k] = l.float_of(l.or(l.bits_of(limbs[k]), l.bits_of(other.limbs[k])));
        }
        Self { lanes: l, limbs }
    }

    /// Returns `yes` in the lanes of the mask, `no` elsewhere; the size is the larger one.
    #[inline(always)]
    pub(crate) fn select(mask: Mask<L>, yes: &Self, no: &Self) -> Self {
        let l = mask.lanes;
        let mut limbs = no.limbs;
        for k in 0..5 {
            let difference = l.xor(l.bits_of(yes.limbs[k]), l.bits_of(no.limbs[k]));
            let changes = l.and(mask.bits, difference);
            limbs[k] = l.float_of(l.xor(l.bits_of(no.limbs[k]), changes));
        }
        Self { lanes: l, limbs }
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

    /// Returns x^(p − 2): the inverse, or zero for zero; reduced. Takes size 1.
    #[inline(always)]
    pub(crate) fn invert(&self) -> Self {
        let PowersOf250Ones {
            mut powers,
            elevenths,
        } = PowersOf250Ones::new([*self]);
        // p − 2 = 2^255 − 21 = (2^250 − 1)·2^5 + 11.
        self.lanes.run(SquareTimes {
            powers: &mut powers,
            times: 5,
        });
        &powers[0] * &elevenths[0]
    }

    /// Computes SQRT_RATIO_M1 of RFC 9496 §4.2 for two pairs (u, v): where u/v is a square, and its
    /// non-negative root, elsewhere that of √−1·u/v; zero where u or v is. Takes size 1, gives size
    /// 1. Two at once hide each other's latencies.
    #[inline(always)]
    pub(crate) fn sqrt_ratios(ratios: [(&Self, &Self); 2]) -> [(Mask<L>, Self); 2] {
        let [(u0, v0), (u1, v1)] = ratios;
        // u·v³ and u·v⁷
        let numerators = [&(u0 * v0) * &v0.square(), &(u1 * v1) * &v1.square()];
        let bases = [
            &numerators[0] * &v0.square().square(),
            &numerators[1] * &v1.square().square(),
        ];
        let PowersOf250Ones { mut powers, .. } = PowersOf250Ones::new(bases);
        // (p − 5)/8 = 2^252 − 3 = (2^250 − 1)·2² + 1.
        u0.lanes.run(SquareTimes {
            powers: &mut powers,
            times: 2,
        });
        let root0 = &numerators[0] * &(&powers[0] * &bases[0]);
        let root1 = &numerators[1] * &(&powers[1] * &bases[1]);
        [choose_root(u0, v0, &root0), choose_root(u1, v1, &root1)]
    }

    /// Returns the limbs of the numbers below p. Takes any size up to 7.
    #[inline(always)]
    fn canonical(&self) -> [L::Word; 5] {
        let l = self.lanes;
        let reduced = self.reduce();
        let mut limbs = [l.splat_word(0); 5];
        for k in 0..5 {
            // The integer, plus 2p to make it positive: below 2^53.
            let integer = l.bits_of(l.add(reduced.limbs[k], l.splat(INTEGER)));
            let offset = (2 * P[k]).wrapping_sub(INTEGER.to_bits());
            limbs[k] = l.add_words(integer, l.splat_word(offset));
        }
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

    /// Returns the largest magnitude of any limb.
    #[cfg(test)]
    fn magnitude(&self) -> f64 {
        let magnitudes = self.limbs.map(|limb| {
            let lanes = self.lanes.store(self.lanes.bits_of(limb));
            lanes
                .map(|bits| f64::from_bits(bits).abs())
                .into_iter()
                .fold(0.0, f64::max)
        });
        magnitudes.into_iter().fold(0.0, f64::max)
    }
}

impl<L: Lanes> Add for &Element<L> {
    type Output = Element<L>;

    /// Returns the sum; its size is the sum of both sizes.
    #[inline(always)]
    fn add(self, other: Self) -> Element<L> {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for k in 0..5 {
            limbs[k] = l.add(limbs[k], other.limbs[k]);
        }
        Element { lanes: l, limbs }
    }
}

impl<L: Lanes> Sub for &Element<L> {
    type Output = Element<L>;

    /// Returns the difference; its size is the sum of both sizes.
    #[inline(always)]
    fn sub(self, other: Self) -> Element<L> {
        let l = self.lanes;
        let mut limbs = self.limbs;
        for k in 0..5 {
            limbs[k] = l.sub(limbs[k], other.limbs[k]);
        }
        Element { lanes: l, limbs }
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
    fn run(self, lanes: L) -> Element<L> {
        // That the bound holds depends on the formula, not on the numbers: this crate's own tests
        // check it, and those of others do not wait for it.
        #[cfg(test)]
        assert!(self.a.magnitude() * self.b.magnitude() < power_of_two(102));
        let (a, b) = (self.a.limbs, self.b.limbs);
        let mut columns = Columns::new(lanes, [1, 2, 3, 4, 5, 4, 3, 2, 1]);
        for i in 0..5 {
            for j in 0..5 {
                columns.accumulate(i + j, a[i], b[j]);
            }
        }
        columns.reduce()
    }
}

/// A square.
struct Square<'a, L: Lanes> {
    base: &'a Element<L>,
}

impl<L: Lanes> Job<L> for Square<'_, L> {
    type Output = Element<L>;

    #[inline(always)]
    fn run(self, lanes: L) -> Element<L> {
        squared(lanes, self.base)
    }
}

/// N independent elements to be squared `times` times over.
struct SquareTimes<'a, L: Lanes, const N: usize> {
    powers: &'a mut [Element<L>; N],
    times: u32,
}

impl<L: Lanes, const N: usize> Job<L> for SquareTimes<'_, L, N> {
    type Output = ();

    #[inline(always)]
    fn run(self, lanes: L) {
        let mut powers = *self.powers;
        for _ in 0..self.times {
            for power in &mut powers {
                *power = squared(lanes, power);
            }
        }
        *self.powers = powers;
    }
}

#[inline(always)]
fn squared<L: Lanes>(lanes: L, x: &Element<L>) -> Element<L> {
    #[cfg(test)]
    assert!(2.0 * x.magnitude() * x.magnitude() < power_of_two(102));
    let a = x.limbs;
    let mut columns = Columns::new(lanes, [1, 1, 2, 2, 3, 2, 2, 1, 1]);
    for i in 0..5 {
        columns.accumulate(2 * i, a[i], a[i]);
        let twice = lanes.add(a[i], a[i]);
        for j in i + 1..5 {
            columns.accumulate(i + j, twice, a[j]);
        }
    }
    columns.reduce()
}

/// Sums of products by weight: column k has the weight 2^(51k).
struct Columns<L: Lanes> {
    lanes: L,
    sums: [L::Word; 10],
}

impl<L: Lanes> Columns<L> {
    /// Returns columns that will get `products[k]` products in column k, at most 5.
    ///
    /// They start with what takes off the constants of all those products. The lower five
    /// also start with 256·p + Σ 2^50·2^(51k), which makes them positive whatever the
    /// products. [`Self::reduce`] takes off the second part of this.
    #[inline(always)]
    fn new(lanes: L, products: [u64; 9]) -> Self {
        let mut sums = [lanes.splat_word(0); 10];
        for k in 0..10 {
            let low_halves = if k < 9 { products[k] } else { 0 };
            let high_halves = if k > 0 { products[k - 1] } else { 0 };
            let constants = low_halves
                .wrapping_mul(INTEGER.to_bits())
                .wrapping_add(high_halves.wrapping_mul(SPLIT.to_bits()));
            let offset = if k < 5 { 256 * P[k] + (1 << 50) } else { 0 };
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

    /// Returns the sum of the columns, reduced.
    ///
    /// A low half is at most 2^50, a high half at most 2^51, so a column is at most (4 + 5·2)·2^50,
    /// and 20 of them are within the 256·2^51 that [`Self::new`] put in: every sum s below is
    /// positive and less than 400·2^51. A limb keeps s mod 2^51 − 2^50, from −2^50 to 2^50, plus
    /// less than 19·400 < 2^13 carried in.
    #[inline(always)]
    fn reduce(self) -> Element<L> {
        let l = self.lanes;
        let one = power_of_two(52);
        let exponent = l.splat_word(one.to_bits());
        let mut low = [exponent; 5];
        let mut carries = [exponent; 5];
        for k in 0..5 {
            // 2^255 = 19
            let sum = l.add_words(self.sums[k], times_19(l, self.sums[k + 5]));
            carries[k] = l.shr::<LIMB_BITS>(sum);
            low[k] = l.or(l.and(sum, l.splat_word(LIMB_MASK)), exponent);
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
            limbs[k] = l.sub(limb, l.splat(one + power_of_two(50)));
        }
        Element { lanes: l, limbs }
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

/// x^(2^250 − 1) and x^11 of each x, reduced.
struct PowersOf250Ones<L: Lanes, const N: usize> {
    powers: [Element<L>; N],
    elevenths: [Element<L>; N],
}

impl<L: Lanes, const N: usize> PowersOf250Ones<L, N> {
    /// Takes size 1. The addition chain doubles the number of ones: 5, 10, 20, 40, 50, 100,
    /// 200, 250.
    #[inline(always)]
    fn new(x: [Element<L>; N]) -> Self {
        let mut squares = x;
        x[0].lanes.run(SquareTimes {
            powers: &mut squares,
            times: 1,
        });
        let ninths = append_zeros_and_multiply(&squares, 2, &x);
        let elevenths = append_zeros_and_multiply(&ninths, 0, &squares);
        let ones_5 = append_zeros_and_multiply(&elevenths, 1, &ninths);
        let ones_10 = append_zeros_and_multiply(&ones_5, 5, &ones_5);
        let ones_20 = append_zeros_and_multiply(&ones_10, 10, &ones_10);
        let ones_40 = append_zeros_and_multiply(&ones_20, 20, &ones_20);
        let ones_50 = append_zeros_and_multiply(&ones_40, 10, &ones_10);
        let ones_100 = append_zeros_and_multiply(&ones_50, 50, &ones_50);
        let ones_200 = append_zeros_and_multiply(&ones_100, 100, &ones_100);
        let powers = append_zeros_and_multiply(&ones_200, 50, &ones_50);
        Self { powers, elevenths }
    }
}

/// Returns x^(2^zeros)·y of each: in the exponents, appends zeros to x's bits and adds y's.
#[inline(always)]
fn append_zeros_and_multiply<L: Lanes, const N: usize>(
    x: &[Element<L>; N],
    zeros: u32,
    y: &[Element<L>; N],
) -> [Element<L>; N] {
    let mut powers = *x;
    x[0].lanes.run(SquareTimes {
        powers: &mut powers,
        times: zeros,
    });
    for k in 0..N {
        powers[k] = &powers[k] * &y[k];
    }
    powers
}

/// Returns the last steps of SQRT_RATIO_M1: `root` is a root of ±u/v or ±√−1·u/v.
#[inline(always)]
fn choose_root<L: Lanes>(
    u: &Element<L>,
    v: &Element<L>,
    root: &Element<L>,
) -> (Mask<L>, Element<L>) {
    let lanes = u.lanes;
    let sqrt_m1 = Element::splat(lanes, Constant::SQRT_M1);
    let check = v * &root.square();
    let is_u = (&check - u).is_zero();
    let is_minus_u = (&check + u).is_zero();
    let is_minus_iu = (&check + &(u * &sqrt_m1)).is_zero();
    let turned = root * &sqrt_m1;
    let root = Element::select(is_minus_u.or(is_minus_iu), &turned, root);
    (is_u.or(is_minus_u), root.abs())
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
