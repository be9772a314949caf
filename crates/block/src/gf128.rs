//! The field GF(2^128) = `GF(2)[x] / (x^128 + x^7 + x^2 + x + 1)`.
//!
//! Bit i of a [`Block`] is the coefficient of x^i. Addition is exclusive or.

use crate::{
    Block,
    cpu::{self, multiversion},
};

/// Returns the product of two elements.
pub fn multiply(a: Block, b: Block) -> Block {
    inner_product(&[a], &[b])
}

/// Returns Σ aᵢ·bᵢ. The products are summed as polynomials and reduced once.
///
/// # Panics
/// If the slices differ in length.
pub fn inner_product(a: &[Block], b: &[Block]) -> Block {
    assert_eq!(a.len(), b.len(), "as many factors on both sides");
    let mut sum = Wide::default();
    on_backend(cpu::best(), a, b, &mut sum);
    sum.reduce()
}

/// Computes the value of each of several polynomials of one length at a point of its own.
/// Coefficients stand one polynomial after the other, that of the highest power first, and there is
/// none of degree 0: c₁·r^l + … + c_l·r for c₁, …, c_l and r.
///
/// # Panics
/// If there are not as many values as points, or not as many coefficients of each.
pub fn evaluate(coefficients: &[Block], points: &[Block], values: &mut [Block]) {
    assert_eq!(points.len(), values.len(), "a value for each point");
    let len = coefficients.len().checked_div(points.len()).unwrap_or(0);
    assert_eq!(len * points.len(), coefficients.len(), "of one length");
    values.fill(Block::ZERO);
    if len > 0 {
        horner_on_backend(cpu::best(), coefficients, points, values);
    }
}

/// A polynomial of degree at most 254: a product that is not reduced yet.
#[derive(Clone, Copy, Default)]
struct Wide {
    low: u128,
    high: u128,
}

impl Wide {
    #[inline(always)]
    fn reduce(self) -> Block {
        // x^128 = x^7 + x^2 + x + 1, and once more for the seven bits that this pushes out.
        let fold = |high: u128| high ^ high << 1 ^ high << 2 ^ high << 7;
        let overflow = self.high >> 127 ^ self.high >> 126 ^ self.high >> 121;
        Block(self.low ^ fold(self.high) ^ fold(overflow))
    }

    #[inline(always)]
    fn add(&mut self, low: u128, middle: u128, high: u128) {
        self.low ^= low ^ middle << 64;
        self.high ^= high ^ middle >> 64;
    }
}

multiversion! {
    fn on_backend(a: &[Block], b: &[Block], sum: &mut Wide)
    portable accumulate(a, b, sum, carryless_portable);
    avx2 accumulate(a, b, sum, |a, b| x86::carryless(a, b));
    avx512 accumulate(a, b, sum, |a, b| x86::carryless(a, b));
}

#[inline(always)]
fn accumulate(a: &[Block], b: &[Block], sum: &mut Wide, carryless: impl Fn(u64, u64) -> u128) {
    let halves = |block: &Block| (block.0 as u64, (block.0 >> 64) as u64);
    for (a, b) in a.iter().zip(b) {
        let ((a0, a1), (b0, b1)) = (halves(a), halves(b));
        let middle = carryless(a0, b1) ^ carryless(a1, b0);
        sum.add(carryless(a0, b0), middle, carryless(a1, b1));
    }
}

multiversion! {
    fn horner_on_backend(coefficients: &[Block], points: &[Block], values: &mut [Block])
    portable horner(coefficients, points, values, carryless_portable);
    avx2 horner(coefficients, points, values, |a, b| x86::carryless(a, b));
    avx512 horner(coefficients, points, values, |a, b| x86::carryless(a, b));
}

/// Polynomials that are evaluated at the same time: each step of one waits for the step before.
const LANES: usize = 4;

/// Evaluates polynomials of at least one coefficient each.
#[inline(always)]
fn horner(
    coefficients: &[Block],
    points: &[Block],
    values: &mut [Block],
    carryless: impl Fn(u64, u64) -> u128,
) {
    let len = coefficients.len() / points.len();
    let coefficients = coefficients.chunks(LANES * len);
    let groups = points.chunks(LANES).zip(values.chunks_mut(LANES));
    for (coefficients, (points, values)) in coefficients.zip(groups) {
        for power in 0..len {
            for (lane, (point, value)) in points.iter().zip(&mut *values).enumerate() {
                let sum = *value ^ coefficients[lane * len + power];
                let mut product = Wide::default();
                accumulate(&[sum], &[*point], &mut product, &carryless);
                *value = product.reduce();
            }
        }
    }
}

/// Returns the product of two polynomials of degree at most 63, in constant time.
#[inline(always)]
fn carryless_portable(a: u64, b: u64) -> u128 {
    (0..64).fold(0, |sum, i| {
        let taken = u128::from(b >> i & 1).wrapping_neg();
        sum ^ (u128::from(a) << i & taken)
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    /// Returns the product of two polynomials of degree at most 63.
    #[inline]
    #[target_feature(enable = "pclmulqdq")]
    pub(super) fn carryless(a: u64, b: u64) -> u128 {
        let product =
            _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a as i64), _mm_cvtsi64_si128(b as i64));
        let low = _mm_cvtsi128_si64(product) as u64;
        let high = _mm_cvtsi128_si64(_mm_unpackhi_epi64(product, product)) as u64;
        u128::from(low) | u128::from(high) << 64
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn blocks() -> impl Strategy<Value = Block> {
        any::<u128>().prop_map(Block)
    }

    /// Multiplies by schoolbook: by x, bit by bit.
    fn slowly(a: Block, b: Block) -> Block {
        let mut power = a.0;
        let mut product = 0;
        for i in 0..128 {
            product ^= if b.bit(i) { power } else { 0 };
            power = (power << 1) ^ ((power >> 127) * 0x87);
        }
        Block(product)
    }

    #[test]
    fn edges() {
        let top = Block(1 << 127);
        assert!(multiply(top, Block(2)) == Block(0x87));
        assert!(multiply(Block::ONES, Block(1)) == Block::ONES);
        assert!(multiply(top, top) == slowly(top, top));
        assert!(inner_product(&[], &[]) == Block::ZERO);
    }

    proptest! {
        #[test]
        fn multiplies(a in blocks(), b in blocks()) {
            prop_assert!(multiply(a, b) == slowly(a, b));
            prop_assert!(multiply(a, b) == multiply(b, a));
        }

        #[test]
        fn polynomials_are_sums_of_powers(
            points in prop::collection::vec(blocks(), 0..10),
            len in 0..5_usize,
            seed in any::<u128>(),
        ) {
            let mut coefficients = vec![Block::ZERO; points.len() * len];
            crate::Prg::from_seed(Block(seed)).fill(&mut coefficients);
            let value = |(i, point): (usize, &Block)| {
                let mut power = Block(1);
                (0..len).rev().fold(Block::ZERO, |sum, j| {
                    power = slowly(power, *point);
                    sum ^ slowly(coefficients[i * len + j], power)
                })
            };
            let expected: Vec<Block> = points.iter().enumerate().map(value).collect();
            let mut values = vec![Block::ONES; points.len()];
            evaluate(&coefficients, &points, &mut values);
            prop_assert!(values == expected);
            for backend in cpu::available() {
                values.fill(Block::ZERO);
                if len > 0 && !points.is_empty() {
                    horner_on_backend(backend, &coefficients, &points, &mut values);
                }
                prop_assert!(len == 0 || values == expected);
            }
        }

        #[test]
        fn backends_agree(pairs in prop::collection::vec((blocks(), blocks()), 0..20)) {
            let (a, b): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let expected = a.iter().zip(&b).fold(Block::ZERO, |sum, (a, b)| sum ^ slowly(*a, *b));
            for backend in cpu::available() {
                let mut sum = Wide::default();
                on_backend(backend, &a, &b, &mut sum);
                prop_assert!(sum.reduce() == expected);
            }
        }
    }
}
