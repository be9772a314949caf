//! Products, reduced: portable, and in vector registers.

use super::Element;

/// The constants of the reduction. All are words, so that vectors of them are made by one
/// instruction.
#[derive(Clone, Copy)]
pub(crate) struct Constants {
    /// 64 − d: residues are shifted up by so much.
    pub(super) shift: u64,
    /// r, shifted up as well.
    pub(super) fold: u64,
    /// e: the constant of the extension is x^e.
    pub(super) twist: u64,
}

pub(crate) mod portable {
    use super::{Constants, Element};

    /// Returns the product of two polynomials of degree at most 63, in constant time.
    fn carryless(a: u64, b: u64) -> u128 {
        (0..64).fold(0, |sum, i| {
            let taken = u128::from(b >> i & 1).wrapping_neg();
            sum ^ (u128::from(a) << i & taken)
        })
    }

    fn high(wide: u128) -> u64 {
        (wide >> 64) as u64
    }

    /// Returns a·by, where `by` is a reduced element of the small field, not shifted.
    pub(crate) fn scale(field: Constants, a: Element, by: u64) -> Element {
        let half = |a| {
            let wide = carryless(a, by);
            (wide ^ carryless(high(wide), field.fold)) as u64
        };
        Element {
            low: half(a.low),
            high: half(a.high),
        }
    }

    pub(crate) fn product(field: Constants, a: Element, b: Element) -> Element {
        reduce(field, products(field, a, b))
    }

    /// Returns a·b + c·d.
    pub(crate) fn sum(field: Constants, a: Element, b: Element, c: Element, d: Element) -> Element {
        let (first, second) = (products(field, a, b), products(field, c, d));
        reduce(field, [first[0] ^ second[0], first[1] ^ second[1]])
    }

    /// Returns both halves of the product. With t² = t + x^e it is (a₀b₀ + x^e·a₁b₁) + (a₀b₁ + a₁b₀
    /// + a₁b₁)·t.
    fn products(field: Constants, a: Element, b: Element) -> [u128; 2] {
        let (b0, b1) = (b.low >> field.shift, b.high >> field.shift);
        let twisted = b1 << field.twist;
        [
            carryless(a.low, b0) ^ carryless(a.high, twisted),
            carryless(a.low ^ a.high, b1) ^ carryless(a.high, b0),
        ]
    }

    /// Adds a₀b₀, a₁b₁ and (a₀ + a₁)(b₀ + b₁) to sums of these. The halves of a, and their sum,
    /// are not shifted.
    pub(in super::super) fn add_karatsuba(
        sums: &mut [u128; 3],
        a: Element,
        a_sum: u64,
        b: Element,
    ) {
        sums[0] ^= carryless(b.low, a.low);
        sums[1] ^= carryless(b.high, a.high);
        sums[2] ^= carryless(b.low ^ b.high, a_sum);
    }

    /// Returns the sum of products.
    pub(in super::super) fn reduce_karatsuba(
        field: Constants,
        [low, high, both]: [u128; 3],
    ) -> Element {
        reduce(field, [low ^ high << field.twist, both ^ low])
    }

    /// Folds twice: the first time takes what lies above x^d to r, the second time what that
    /// pushes above it.
    fn reduce(field: Constants, wide: [u128; 2]) -> Element {
        let half = |wide: u128| {
            let once = carryless(high(wide), field.fold);
            let twice = carryless(high(once), field.fold);
            (wide ^ once ^ twice) as u64
        };
        Element {
            low: half(wide[0]),
            high: half(wide[1]),
        }
    }
}

#[cfg(target_arch = "x86_64")]
pub(crate) mod x86 {
    use std::arch::x86_64::*;

    use super::{Constants, Element};

    // Values stay in vector registers: moving them to the others costs more than the product.

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(a: __m128i, b: __m128i) -> __m128i {
        _mm_xor_si128(a, b)
    }

    /// Returns a·by, where the lower half of `by` is a reduced element of the small field, not
    /// shifted.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn scale(field: Constants, a: __m128i, by: __m128i) -> __m128i {
        let fold = _mm_cvtsi64_si128(field.fold as i64);
        let low = _mm_clmulepi64_si128::<0x00>(a, by);
        let high = _mm_clmulepi64_si128::<0x01>(a, by);
        let low = add(low, _mm_clmulepi64_si128::<0x01>(low, fold));
        let high = add(high, _mm_clmulepi64_si128::<0x01>(high, fold));
        _mm_unpacklo_epi64(low, high)
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn product(field: Constants, a: Element, b: Element) -> Element {
        let [low, high] = products(field, bytemuck::cast(a), bytemuck::cast(b));
        bytemuck::cast(reduce(field, low, high))
    }

    /// Returns a·b + c·d.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(crate) fn sum(field: Constants, a: Element, b: Element, c: Element, d: Element) -> Element {
        let [low, high] = products(field, bytemuck::cast(a), bytemuck::cast(b));
        let [more_low, more_high] = products(field, bytemuck::cast(c), bytemuck::cast(d));
        bytemuck::cast(reduce(field, add(low, more_low), add(high, more_high)))
    }

    /// As the portable one.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn products(field: Constants, a: __m128i, b: __m128i) -> [__m128i; 2] {
        let b = _mm_srlv_epi64(b, _mm_set1_epi64x(field.shift as i64));
        let twisted = _mm_sllv_epi64(b, _mm_set1_epi64x(field.twist as i64));
        let both = _mm_clmulepi64_si128::<0x11>(a, b);
        let low = _mm_clmulepi64_si128::<0x00>(a, b);
        let low = add(low, _mm_clmulepi64_si128::<0x11>(a, twisted));
        let mixed = _mm_clmulepi64_si128::<0x01>(a, b);
        let mixed = add(mixed, _mm_clmulepi64_si128::<0x10>(a, b));
        [low, add(mixed, both)]
    }

    /// Sums of nothing.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(in super::super) fn zeros() -> [__m128i; 3] {
        [_mm_setzero_si128(); 3]
    }

    /// As the portable one; the lower half of `a_sum` counts.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(in super::super) fn add_karatsuba(
        sums: &mut [__m128i; 3],
        a: Element,
        a_sum: Element,
        b: Element,
    ) {
        let (a, a_sum, b): (_, _, __m128i) =
            (bytemuck::cast(a), bytemuck::cast(a_sum), bytemuck::cast(b));
        let b_sum = add(b, _mm_shuffle_epi32::<0b01_00_11_10>(b));
        sums[0] = add(sums[0], _mm_clmulepi64_si128::<0x00>(b, a));
        sums[1] = add(sums[1], _mm_clmulepi64_si128::<0x11>(b, a));
        sums[2] = add(sums[2], _mm_clmulepi64_si128::<0x00>(b_sum, a_sum));
    }

    /// As the portable one.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    pub(in super::super) fn reduce_karatsuba(
        field: Constants,
        [low, high, both]: [__m128i; 3],
    ) -> Element {
        // high·x^e, with the bit that passes from the lower word to the upper one.
        let twist = _mm_cvtsi64_si128(field.twist as i64);
        let rest = _mm_cvtsi64_si128(64 - field.twist as i64);
        let carry = _mm_slli_si128::<8>(_mm_srl_epi64(high, rest));
        let twisted = add(_mm_sll_epi64(high, twist), carry);
        bytemuck::cast(reduce(field, add(low, twisted), add(both, low)))
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce(field: Constants, low: __m128i, high: __m128i) -> __m128i {
        _mm_unpacklo_epi64(reduce_half(field, low), reduce_half(field, high))
    }

    /// Reduces a product; the lower word is the result.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce_half(field: Constants, wide: __m128i) -> __m128i {
        let fold = _mm_cvtsi64_si128(field.fold as i64);
        let once = _mm_clmulepi64_si128::<0x01>(wide, fold);
        let twice = _mm_clmulepi64_si128::<0x01>(once, fold);
        add(wide, add(once, twice))
    }
}
