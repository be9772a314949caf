//! Squares of 8 × 8 words, transposed by three rounds of interleaving, one square in each 128-bit
//! lane. The compiler uses gathers for it.

use std::arch::x86_64::*;

use super::POSITIONS;
use crate::Block;

/// Transposes a square in each lane: before, lane l of `$vector(i)` holds the words of block 8·l +
/// i; after, lane l of vector i holds word i of blocks 8·l to 8·l + 7.
macro_rules! transpose {
    ($vector:ident, $low16:ident, $high16:ident, $low32:ident, $high32:ident, $low64:ident, $high64:ident) => {{
        let a = [
            $low16($vector(0), $vector(1)),
            $high16($vector(0), $vector(1)),
            $low16($vector(2), $vector(3)),
            $high16($vector(2), $vector(3)),
            $low16($vector(4), $vector(5)),
            $high16($vector(4), $vector(5)),
            $low16($vector(6), $vector(7)),
            $high16($vector(6), $vector(7)),
        ];
        let b = [
            $low32(a[0], a[2]),
            $high32(a[0], a[2]),
            $low32(a[1], a[3]),
            $high32(a[1], a[3]),
            $low32(a[4], a[6]),
            $high32(a[4], a[6]),
            $low32(a[5], a[7]),
            $high32(a[5], a[7]),
        ];
        [
            $low64(b[0], b[4]),
            $high64(b[0], b[4]),
            $low64(b[1], b[5]),
            $high64(b[1], b[5]),
            $low64(b[2], b[6]),
            $high64(b[2], b[6]),
            $low64(b[3], b[7]),
            $high64(b[3], b[7]),
        ]
    }};
}

#[inline]
#[target_feature(enable = "avx2")]
pub(super) fn group_avx2(blocks: &[Block; 16], range: u16) -> [[u16; 16]; POSITIONS] {
    let range = _mm256_set1_epi16(range as i16);
    let lane = |i: usize| bytemuck::cast::<_, __m128i>(blocks[i]);
    let scaled = |i: usize| _mm256_mulhi_epu16(_mm256_set_m128i(lane(8 + i), lane(i)), range);
    bytemuck::cast(transpose!(
        scaled,
        _mm256_unpacklo_epi16,
        _mm256_unpackhi_epi16,
        _mm256_unpacklo_epi32,
        _mm256_unpackhi_epi32,
        _mm256_unpacklo_epi64,
        _mm256_unpackhi_epi64
    ))
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512dq")]
pub(super) fn group_avx512(blocks: &[Block; 32], range: u16) -> [[u16; 32]; POSITIONS] {
    let range = _mm512_set1_epi16(range as i16);
    let lane = |i: usize| bytemuck::cast::<_, __m128i>(blocks[i]);
    let scaled = |i: usize| {
        let words = _mm512_castsi128_si512(lane(i));
        let words = _mm512_inserti64x2::<1>(words, lane(8 + i));
        let words = _mm512_inserti64x2::<2>(words, lane(16 + i));
        let words = _mm512_inserti64x2::<3>(words, lane(24 + i));
        _mm512_mulhi_epu16(words, range)
    };
    bytemuck::cast(transpose!(
        scaled,
        _mm512_unpacklo_epi16,
        _mm512_unpackhi_epi16,
        _mm512_unpacklo_epi32,
        _mm512_unpackhi_epi32,
        _mm512_unpacklo_epi64,
        _mm512_unpackhi_epi64
    ))
}
