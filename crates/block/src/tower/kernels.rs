//! The loops, once for each instruction set.

/// Defines all loops from products of single elements.
macro_rules! loops {
    ($(#[$attribute:meta])*) => {
        $(#[$attribute])*
        pub(in super::super) fn products(sums: &mut [Tower], factor: Tower, elements: &[Gf64]) {
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum ^= scale(factor, *element);
            }
        }

        $(#[$attribute])*
        pub(in super::super) fn tower_products(
            sums: &mut [Tower],
            factor: Tower,
            elements: &[Tower],
        ) {
            // One reduction for factor·low + factor·t·high.
            let factors = [factor, factor.times_t()];
            for (sum, element) in sums.iter_mut().zip(elements) {
                *sum ^= multiply(factors, *element);
            }
        }

        // Sums of products are reduced once, at the end.

        $(#[$attribute])*
        pub(in super::super) fn weighted_sum(
            weights: &[Tower],
            elements: &[Gf64],
            sum: &mut Tower,
        ) {
            let [mut low, mut high] = [zero(); 2];
            for (weight, element) in weights.iter().zip(elements) {
                low = add(low, product(weight.low, *element));
                high = add(high, product(weight.high, *element));
            }
            *sum ^= Tower {
                low: reduce(low),
                high: reduce(high),
            };
        }

        $(#[$attribute])*
        pub(in super::super) fn tower_weighted_sum(
            weights: &[Tower],
            elements: &[Tower],
            sum: &mut Tower,
        ) {
            let [mut low, mut high, mut both] = [zero(); 3];
            for (a, b) in weights.iter().zip(elements) {
                low = add(low, product(a.low, b.low));
                high = add(high, product(a.high, b.high));
                both = add(both, product(a.low ^ a.high, b.low ^ b.high));
            }
            *sum ^= combine(reduce(low), reduce(high), reduce(both));
        }
    };
}

/// Returns a·b from a₀b₀, a₁b₁ and (a₀+a₁)(b₀+b₁): with t² = t + x^61 it is (a₀b₀ + x^61·a₁b₁) +
/// ((a₀+a₁)(b₀+b₁) + a₀b₀)·t.
#[inline(always)]
fn combine(low: Gf64, high: Gf64, both: Gf64) -> Tower {
    Tower {
        low: low ^ times_x61(high),
        high: both ^ low,
    }
}

use super::{Gf64, Tower};

/// Returns what is left of high·x^64 modulo the polynomial.
#[inline(always)]
fn fold(high: u64) -> u64 {
    let once = |high: u64| high ^ high << 1 ^ high << 3 ^ high << 4;
    // The bits that the shifts push out.
    let overflow = high >> 63 ^ high >> 61 ^ high >> 60;
    once(high) ^ once(overflow)
}

#[inline(always)]
pub(super) fn times_x61(a: Gf64) -> Gf64 {
    Gf64(a.0 << 61 ^ fold(a.0 >> 3))
}

pub(super) mod portable {
    use super::{Gf64, Tower, combine, fold};

    /// A polynomial of degree at most 126, not reduced yet.
    type Wide = u128;

    fn zero() -> Wide {
        0
    }

    fn add(a: Wide, b: Wide) -> Wide {
        a ^ b
    }

    fn product(a: Gf64, b: Gf64) -> Wide {
        (0..64).fold(0, |sum, i| {
            let taken = u128::from(b.0 >> i & 1).wrapping_neg();
            sum ^ (u128::from(a.0) << i & taken)
        })
    }

    fn reduce(wide: Wide) -> Gf64 {
        Gf64(wide as u64 ^ fold((wide >> 64) as u64))
    }

    fn scale(a: Tower, by: Gf64) -> Tower {
        Tower {
            low: reduce(product(a.low, by)),
            high: reduce(product(a.high, by)),
        }
    }

    /// Returns a·by.low + b·by.high.
    fn multiply(factors: [Tower; 2], by: Tower) -> Tower {
        let [a, b] = factors;
        Tower {
            low: reduce(product(a.low, by.low) ^ product(b.low, by.high)),
            high: reduce(product(a.high, by.low) ^ product(b.high, by.high)),
        }
    }

    loops!();
}

#[cfg(target_arch = "x86_64")]
pub(super) mod x86 {
    use std::arch::x86_64::*;

    use super::{Gf64, Tower, combine};

    // Values stay in vector registers: moving them to the others costs more than the product.

    /// A polynomial of degree at most 126, not reduced yet.
    type Wide = __m128i;

    #[inline]
    #[target_feature(enable = "avx2")]
    fn zero() -> Wide {
        _mm_setzero_si128()
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(a: Wide, b: Wide) -> Wide {
        _mm_xor_si128(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn product(a: Gf64, b: Gf64) -> Wide {
        _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(a.0 as i64), _mm_cvtsi64_si128(b.0 as i64))
    }

    /// Folds by products with the polynomial's lower part: the second one takes the overflow of
    /// the first, and has none.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce(wide: Wide) -> Gf64 {
        let polynomial = _mm_cvtsi64_si128(0b11011);
        let once = _mm_clmulepi64_si128::<1>(wide, polynomial);
        let twice = _mm_clmulepi64_si128::<1>(once, polynomial);
        Gf64(_mm_cvtsi128_si64(add(add(wide, once), twice)) as u64)
    }

    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn scale(a: Tower, by: Gf64) -> Tower {
        let by = _mm_cvtsi64_si128(by.0 as i64);
        let a: __m128i = bytemuck::cast(a);
        reduce_both(
            _mm_clmulepi64_si128::<0>(a, by),
            _mm_clmulepi64_si128::<1>(a, by),
        )
    }

    /// Returns a·by.low + b·by.high.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn multiply(factors: [Tower; 2], by: Tower) -> Tower {
        let [a, b]: [__m128i; 2] = bytemuck::cast(factors);
        let by: __m128i = bytemuck::cast(by);
        let low = [
            _mm_clmulepi64_si128::<0x00>(a, by),
            _mm_clmulepi64_si128::<0x10>(b, by),
        ];
        let high = [
            _mm_clmulepi64_si128::<0x01>(a, by),
            _mm_clmulepi64_si128::<0x11>(b, by),
        ];
        reduce_both(add(low[0], low[1]), add(high[0], high[1]))
    }

    /// Returns both halves at once: their upper parts are folded side by side.
    #[inline]
    #[target_feature(enable = "avx2,pclmulqdq")]
    fn reduce_both(low: Wide, high: Wide) -> Tower {
        let kept = _mm_unpacklo_epi64(low, high);
        let folded = fold_both(_mm_unpackhi_epi64(low, high));
        bytemuck::cast(add(kept, folded))
    }

    /// Returns [`fold`](super::fold) of both lanes.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn fold_both(high: __m128i) -> __m128i {
        let overflow = _mm_xor_si128(
            _mm_srli_epi64::<63>(high),
            _mm_xor_si128(_mm_srli_epi64::<61>(high), _mm_srli_epi64::<60>(high)),
        );
        // Shifting and adding is linear, and the overflow has no overflow of its own.
        let all = _mm_xor_si128(high, overflow);
        let near = _mm_xor_si128(all, _mm_slli_epi64::<1>(all));
        let far = _mm_xor_si128(_mm_slli_epi64::<3>(all), _mm_slli_epi64::<4>(all));
        _mm_xor_si128(near, far)
    }

    loops!(
        #[inline]
        #[target_feature(enable = "avx2,pclmulqdq")]
    );
}
