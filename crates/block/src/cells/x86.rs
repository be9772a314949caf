//! Masks of AVX-512 are packed bits. The compiler does not make use of that.

use std::arch::x86_64::*;

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn spread_avx512(bits: &[u64], cells: &mut [u8]) {
    for (bits, cells) in bits.iter().zip(cells.as_chunks_mut::<64>().0) {
        *cells = bytemuck::cast(_mm512_maskz_set1_epi8(*bits, 1));
    }
}

#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
pub(super) fn pack_avx512(cells: &[u8], bits: &mut [u64]) {
    for (bits, cells) in bits.iter_mut().zip(cells.as_chunks::<64>().0) {
        let cells: __m512i = bytemuck::cast(*cells);
        *bits = _mm512_test_epi8_mask(cells, cells);
    }
}
