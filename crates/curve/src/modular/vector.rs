//! Montgomery multiplication in lanes of doubles.
//!
//! # Representation
//!
//! As in [`field`](crate::field): x = Σ xₖ·2^(51k), each limb a double that holds a signed integer,
//! and products are split exactly into two halves by two fused multiply-adds. Here a number has N
//! limbs for a modulus M below 2^(51N − 39): with R = 2^(51N), M < R·2^-39.
//!
//! # Sizes
//!
//! - Limbs that come from bytes (a base, M, R² mod M, −1/M mod 2^51) are below 2^51 and not
//!   negative. Limbs that a product returns, and the multipliers m below, are at most 2^50,
//!   positive or negative. A square doubles one factor, which a product has returned. So |a·b| <
//!   2^102, as splitting demands.
//! - A column of a product has at most 2N ≤ 128 products; low halves are at most 2^50, high halves
//!   at most 2^51 + 1. With the carry it stays below 2^60.
//! - The product of x and y is (x·y + m·M)/R with |m| < 0.51·R. While |x·y| < 2^38·M², that is
//!   within ±0.52·M. So values need no reduction in between; the last, a product with 1, is within
//!   ±0.52·M too, and gets M added if it is negative.
//!
//! # Constant time
//!
//! As in [`field`](crate::field). An entry of the table of powers is chosen by a scan of it.

use crypto_bigint::{Odd, Uint};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::{
    field::{INTEGER, LIMB_BITS, LIMB_MASK, SPLIT, power_of_two},
    lanes::{Doubles, Job, MAX_LANES},
};

/// Bits of the longest digits of an exponent.
const MAX_WINDOW_BITS: u32 = 5;

/// Makes a column positive before it is shifted.
const OFFSET: u64 = 1 << 62;

/// One number in each lane.
type Number<L, const N: usize> = [<L as Doubles>::Float; N];

/// A modulus and what belongs to it. May be secret; wiped on drop.
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
pub(super) struct Constants<const N: usize> {
    modulus: [u64; N],
    /// R² mod M.
    r_squared: [u64; N],
    /// −1/M mod 2^51.
    negated_inverse: u64,
}

impl<const N: usize> Constants<N> {
    pub(super) fn new<const WORDS: usize>(modulus: &Odd<Uint<WORDS>>) -> Self {
        const { assert!(N * LIMB_BITS as usize >= 64 * WORDS + 39 && N <= 64) };
        let modulus_limbs = split(modulus.as_ref());
        // Newton: each step doubles the bits that are right. For an odd number three are at the
        // start.
        let mut inverse = modulus_limbs[0];
        for _ in 0..5 {
            let error = modulus_limbs[0].wrapping_mul(inverse);
            inverse = inverse.wrapping_mul(2_u64.wrapping_sub(error));
        }
        let mut r_squared = Uint::ONE;
        for _ in 0..2 * N as u32 * LIMB_BITS {
            r_squared = r_squared.double_mod(modulus.as_nz_ref());
        }
        Self {
            modulus: modulus_limbs,
            r_squared: split(&r_squared),
            negated_inverse: inverse.wrapping_neg() & LIMB_MASK,
        }
    }

    /// Returns x, within ±M, from its limbs: plus M if it is negative.
    fn canonical<const WORDS: usize>(&self, mut limbs: [i64; N]) -> Uint<WORDS> {
        let sign = propagate(&mut limbs);
        for (limb, modulus) in limbs.iter_mut().zip(self.modulus) {
            *limb += modulus.cast_signed() & sign;
        }
        propagate(&mut limbs);
        let number = join(&limbs);
        limbs.zeroize();
        number
    }
}

/// Carries from limb to limb, so that each is in 0..2^51: the carry out of the last is 0, or −1 if
/// the number is negative.
fn propagate<const N: usize>(limbs: &mut [i64; N]) -> i64 {
    let mut carry = 0;
    for limb in limbs {
        let sum = *limb + carry;
        *limb = sum & LIMB_MASK.cast_signed();
        carry = sum >> LIMB_BITS;
    }
    carry
}

/// Returns the limbs of a number, in 0..2^51.
fn split<const WORDS: usize, const N: usize>(number: &Uint<WORDS>) -> [u64; N] {
    let words = number.as_words();
    let word = |k: usize| words.get(k).copied().unwrap_or(0);
    let mut limbs = [0; N];
    for (k, limb) in limbs.iter_mut().enumerate() {
        let bit = k * LIMB_BITS as usize;
        let pair = u128::from(word(bit / 64 + 1)) << 64 | u128::from(word(bit / 64));
        *limb = (pair >> (bit % 64)) as u64 & LIMB_MASK;
    }
    limbs
}

/// Returns the number of limbs in 0..2^51; what does not fit into its words must be zero.
fn join<const WORDS: usize, const N: usize>(limbs: &[i64; N]) -> Uint<WORDS> {
    let mut words = [0; WORDS];
    for (k, limb) in limbs.iter().enumerate() {
        let bit = k * LIMB_BITS as usize;
        let pair = u128::from(limb.cast_unsigned()) << (bit % 64);
        for (word, part) in [(bit / 64, pair as u64), (bit / 64 + 1, (pair >> 64) as u64)] {
            if word < WORDS {
                words[word] |= part;
            }
        }
    }
    Uint::from_words(words)
}

/// The digits of a secret exponent, highest first, of `bits` bits each. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub(super) struct Windows {
    digits: Vec<u64>,
    bits: u32,
}

impl Windows {
    /// Returns the digits of the lowest `exponent_bits` of the exponent, as long as makes the
    /// fewest multiplications: a table of 2^w entries, and one for every w bits.
    pub(super) fn new<const E: usize>(exponent: &Uint<E>, exponent_bits: u32) -> Self {
        let cost = |w: &u32| (1 << w) + exponent_bits.div_ceil(*w);
        let bits = (1..=MAX_WINDOW_BITS).min_by_key(cost).unwrap_or(1);
        let digit =
            |k: u32| exponent.wrapping_shr_vartime(k * bits).as_words()[0] & ((1 << bits) - 1);
        let digits = (0..exponent_bits.div_ceil(bits)).rev().map(digit).collect();
        Self { digits, bits }
    }
}

/// Bases to powers.
pub(super) struct Pow<'a, const WORDS: usize, const N: usize> {
    pub(super) constants: &'a Constants<N>,
    pub(super) windows: Windows,
    pub(super) bases: &'a [Uint<WORDS>],
    pub(super) out: &'a mut [Uint<WORDS>],
}

impl<L: Doubles, const WORDS: usize, const N: usize> Job<L> for Pow<'_, WORDS, N> {
    type Output = ();

    #[inline(always)]
    fn run(self, lanes: L) {
        let modulus = Reduction::new(lanes, self.constants);
        let r_squared = splat(lanes, &self.constants.r_squared);
        let mut one = [lanes.splat(0.0); N];
        one[0] = lanes.splat(1.0);

        let bits = self.windows.bits;
        let mut table = Zeroizing::new(vec![one; 1 << bits]);
        let mut power = Zeroizing::new(one);
        for (bases, out) in self
            .bases
            .chunks(L::COUNT)
            .zip(self.out.chunks_mut(L::COUNT))
        {
            table[0] = modulus.multiply(&one, &r_squared);
            table[1] = modulus.multiply(&load(lanes, bases), &r_squared);
            for k in 2..table.len() {
                table[k] = modulus.multiply(&table[k - 1], &table[1]);
            }
            *power = table[0];
            for (k, digit) in self.windows.digits.iter().enumerate() {
                if k > 0 {
                    for _ in 0..bits {
                        *power = modulus.square(&power);
                    }
                }
                let factor = Zeroizing::new(choose(lanes, &table, *digit));
                *power = modulus.multiply(&power, &factor);
            }
            *power = modulus.multiply(&power, &one);
            store(lanes, &power, self.constants, out);
        }
    }
}

/// Puts one number into every lane.
#[inline(always)]
fn splat<L: Doubles, const N: usize>(lanes: L, limbs: &[u64; N]) -> Number<L, N> {
    let mut number = [lanes.splat(0.0); N];
    for k in 0..N {
        number[k] = lanes.splat(limbs[k] as f64);
    }
    number
}

/// Returns a number in each lane; zero in those beyond the slice.
#[inline(always)]
fn load<L: Doubles, const WORDS: usize, const N: usize>(
    lanes: L,
    bases: &[Uint<WORDS>],
) -> Number<L, N> {
    let mut words = [[0; MAX_LANES]; N];
    for (lane, base) in bases.iter().enumerate() {
        let limbs: [u64; N] = split(base);
        for k in 0..N {
            words[k][lane] = limbs[k];
        }
    }
    let mut number = [lanes.splat(0.0); N];
    for k in 0..N {
        number[k] = to_float(lanes, lanes.load(&words[k]), 0.0);
    }
    number
}

/// Stores the numbers, reduced, of as many lanes as `out` has room for.
#[inline(always)]
fn store<L: Doubles, const WORDS: usize, const N: usize>(
    lanes: L,
    number: &Number<L, N>,
    constants: &Constants<N>,
    out: &mut [Uint<WORDS>],
) {
    let mut limbs = [[0; MAX_LANES]; N];
    for k in 0..N {
        limbs[k] = lanes.store(lanes.bits_of(number[k]));
    }
    for (lane, out) in out.iter_mut().enumerate() {
        *out = constants.canonical(limbs.map(|limb| f64::from_bits(limb[lane]) as i64));
    }
    limbs.zeroize();
}

/// Returns the entry at `index`, found by looking at all.
#[inline(always)]
fn choose<L: Doubles, const N: usize>(
    lanes: L,
    table: &[Number<L, N>],
    index: u64,
) -> Number<L, N> {
    let mut chosen = [lanes.splat(0.0); N];
    for (k, entry) in (0_u64..).zip(table) {
        // All ones where the two are the same: only then does taking 1 off borrow.
        let mask = ((k ^ index).wrapping_sub(1) >> 63).wrapping_neg();
        let mask = lanes.splat_word(std::hint::black_box(mask));
        for (limb, of_entry) in chosen.iter_mut().zip(entry) {
            let kept = lanes.and(mask, lanes.bits_of(*of_entry));
            *limb = lanes.float_of(lanes.or(kept, lanes.bits_of(*limb)));
        }
    }
    chosen
}

/// Integers below 2^51 as doubles, less a constant.
#[inline(always)]
fn to_float<L: Doubles>(lanes: L, word: L::Word, less: f64) -> L::Float {
    // An integer below 2^52 under the exponent of 2^52 is that integer plus 2^52.
    let one = power_of_two(52);
    let float = lanes.float_of(lanes.or(word, lanes.splat_word(one.to_bits())));
    lanes.sub(float, lanes.splat(one + less))
}

/// Multiplication modulo M.
struct Reduction<L: Doubles, const N: usize> {
    lanes: L,
    modulus: Number<L, N>,
    negated_inverse: L::Float,
    /// The constants that take off those of the products in each column of a·b, and of a².
    multiply_start: [[u64; N]; 2],
    square_start: [[u64; N]; 2],
}

impl<L: Doubles, const N: usize> Reduction<L, N> {
    #[inline(always)]
    fn new(lanes: L, constants: &Constants<N>) -> Self {
        Self {
            lanes,
            modulus: splat(lanes, &constants.modulus),
            negated_inverse: lanes.splat(constants.negated_inverse as f64),
            multiply_start: starts(false),
            square_start: starts(true),
        }
    }

    /// Returns a·b/R modulo M.
    #[inline(always)]
    fn multiply(&self, a: &Number<L, N>, b: &Number<L, N>) -> Number<L, N> {
        self.lanes.run(Multiply {
            modulus: self,
            a,
            b,
        })
    }

    /// Returns a²/R modulo M.
    #[inline(always)]
    fn square(&self, a: &Number<L, N>) -> Number<L, N> {
        self.lanes.run(Square { modulus: self, a })
    }
}

/// Minus the constants that the columns of a product get: column k ≤ N − 1 has k + 1 products, or,
/// of a square, ⌊k/2⌋ + 1, since those that stand there twice are taken once; the others mirror
/// these.
fn starts<const N: usize>(square: bool) -> [[u64; N]; 2] {
    let products = |k: usize| {
        let k = k.min(2 * N - 2 - k) as u64;
        if square { k / 2 + 1 } else { k + 1 }
    };
    let mut starts = [[0; N]; 2];
    for (k, start) in starts.as_flattened_mut().iter_mut().enumerate() {
        let low = if k < 2 * N - 1 { products(k) } else { 0 };
        let high = if k > 0 { products(k - 1) } else { 0 };
        *start = constants(low, high).wrapping_neg();
    }
    starts
}

/// Returns the constants of this many low halves and high halves.
fn constants(low: u64, high: u64) -> u64 {
    let low = low.wrapping_mul(INTEGER.to_bits());
    low.wrapping_add(high.wrapping_mul(SPLIT.to_bits()))
}

struct Multiply<'a, L: Doubles, const N: usize> {
    modulus: &'a Reduction<L, N>,
    a: &'a Number<L, N>,
    b: &'a Number<L, N>,
}

impl<L: Doubles, const N: usize> Job<L> for Multiply<'_, L, N> {
    type Output = Number<L, N>;

    #[inline(always)]
    fn run(self, lanes: L) -> Number<L, N> {
        let mut columns = Columns::new(lanes, &self.modulus.multiply_start);
        for i in 0..N {
            columns.add(i, self.a[i], self.b);
        }
        columns.reduce(self.modulus)
    }
}

struct Square<'a, L: Doubles, const N: usize> {
    modulus: &'a Reduction<L, N>,
    a: &'a Number<L, N>,
}

impl<L: Doubles, const N: usize> Job<L> for Square<'_, L, N> {
    type Output = Number<L, N>;

    #[inline(always)]
    fn run(self, lanes: L) -> Number<L, N> {
        let mut columns = Columns::new(lanes, &self.modulus.square_start);
        for i in 0..N {
            let limb = self.a[i];
            columns.add(2 * i, limb, &self.a[i..=i]);
            columns.add(2 * i + 1, lanes.add(limb, limb), &self.a[i + 1..]);
        }
        columns.reduce(self.modulus)
    }
}

/// Sums of products by weight: column k has the weight 2^(51k).
struct Columns<L: Doubles, const N: usize> {
    lanes: L,
    sums: [[L::Word; N]; 2],
}

impl<L: Doubles, const N: usize> Columns<L, N> {
    #[inline(always)]
    fn new(lanes: L, start: &[[u64; N]; 2]) -> Self {
        let mut sums = [[lanes.splat_word(0); N]; 2];
        for half in 0..2 {
            for k in 0..N {
                sums[half][k] = lanes.splat_word(start[half][k]);
            }
        }
        Self { lanes, sums }
    }

    /// Adds factor·limbs from column k on.
    #[inline(always)]
    fn add(&mut self, k: usize, factor: L::Float, limbs: &[L::Float]) {
        let l = self.lanes;
        let sums = &mut self.sums.as_flattened_mut()[k..];
        let mut high = l.splat_word(0);
        for (sum, limb) in sums.iter_mut().zip(limbs) {
            let top = l.mul_add(factor, *limb, l.splat(SPLIT));
            let rest = l.sub(l.splat(SPLIT + INTEGER), top);
            let low = l.add_words(l.bits_of(l.mul_add(factor, *limb, rest)), high);
            *sum = l.add_words(*sum, low);
            high = l.bits_of(top);
        }
        if let Some(next) = sums.get_mut(limbs.len()) {
            *next = l.add_words(*next, high);
        }
    }

    /// Adds m·M with m such that the lower half of the columns becomes zero, and returns the upper
    /// half.
    #[inline(always)]
    fn reduce(mut self, modulus: &Reduction<L, N>) -> Number<L, N> {
        let l = self.lanes;
        let mut multiplier = self.multiplier(0, modulus);
        for k in 0..N {
            // The next multiplier needs two columns only. It takes a while, which is hidden by the
            // others.
            self.add(k, multiplier, &modulus.modulus[..2]);
            let of_others = multiplier;
            self.carry(k, constants(1, 0).wrapping_neg());
            if k + 1 < N {
                let before = constants(k as u64 + 1, k as u64 + 1).wrapping_neg();
                let sums = self.sums.as_flattened_mut();
                sums[k + 1] = l.add_words(sums[k + 1], l.splat_word(before));
                multiplier = self.multiplier(k + 1, modulus);
            }
            self.add(k + 2, of_others, &modulus.modulus[2..]);
        }
        let mut limbs = [l.splat(0.0); N];
        let half = 1_u64 << (LIMB_BITS - 1);
        for k in N..2 * N {
            let products = (2 * N - 1 - k) as u64;
            let limb = self.carry(k, half.wrapping_sub(constants(products, products + 1)));
            limbs[k - N] = to_float(l, limb, half as f64);
        }
        limbs
    }

    /// Returns the multiplier m with column k + m·M = 0 modulo 2^51, from −2^50 to 2^50.
    #[inline(always)]
    fn multiplier(&self, k: usize, modulus: &Reduction<L, N>) -> L::Float {
        let l = self.lanes;
        let digit = l.and(self.sums.as_flattened()[k], l.splat_word(LIMB_MASK));
        let digit = to_float(l, digit, 0.0);
        let top = l.mul_add(digit, modulus.negated_inverse, l.splat(SPLIT));
        let rest = l.sub(l.splat(SPLIT + INTEGER), top);
        let low = l.mul_add(digit, modulus.negated_inverse, rest);
        l.sub(low, l.splat(INTEGER))
    }

    /// Carries column k, plus a constant, into the next, if there is one, except for its lowest 51
    /// bits, which are returned.
    #[inline(always)]
    fn carry(&mut self, k: usize, plus: u64) -> L::Word {
        let l = self.lanes;
        let sums = self.sums.as_flattened_mut();
        let sum = l.add_words(sums[k], l.splat_word(OFFSET.wrapping_add(plus)));
        if let Some(next) = sums.get_mut(k + 1) {
            let carry = l.sub_words(l.shr::<LIMB_BITS>(sum), l.splat_word(OFFSET >> LIMB_BITS));
            *next = l.add_words(*next, carry);
        }
        l.and(sum, l.splat_word(LIMB_MASK))
    }
}
