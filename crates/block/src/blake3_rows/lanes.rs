//! Vectors of 32-bit words: one word of each of several hashes.
//!
//! LLVM does not vectorise BLAKE3 written over arrays, so the wide versions are spelled out.

/// `COUNT` words of 32 bits.
pub(super) trait Lanes<const COUNT: usize>: Copy {
    /// Puts one word into each lane.
    fn splat(word: u32) -> Self;
    /// Returns the lane-wise sum modulo 2^32.
    fn add(self, other: Self) -> Self;
    /// Returns the lane-wise exclusive or.
    fn xor(self, other: Self) -> Self;
    /// Returns the lane-wise rotation.
    fn rotate_right<const BITS: i32>(self) -> Self;
    /// Returns the low halves and the high halves of 64-bit words.
    fn split(words: &[u64; COUNT]) -> (Self, Self);
    /// Returns the 64-bit words with these halves.
    fn join(low: Self, high: Self) -> [u64; COUNT];
}

impl Lanes<4> for [u32; 4] {
    #[inline(always)]
    fn splat(word: u32) -> Self {
        [word; 4]
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane].wrapping_add(other[lane]))
    }

    #[inline(always)]
    fn xor(self, other: Self) -> Self {
        std::array::from_fn(|lane| self[lane] ^ other[lane])
    }

    #[inline(always)]
    fn rotate_right<const BITS: i32>(self) -> Self {
        self.map(|word| word.rotate_right(BITS as u32))
    }

    #[inline(always)]
    fn split(words: &[u64; 4]) -> (Self, Self) {
        (
            words.map(|word| word as u32),
            words.map(|word| (word >> 32) as u32),
        )
    }

    #[inline(always)]
    fn join(low: Self, high: Self) -> [u64; 4] {
        std::array::from_fn(|lane| u64::from(low[lane]) | u64::from(high[lane]) << 32)
    }
}

#[cfg(target_arch = "x86_64")]
pub(super) use x86::{Avx2, Avx512};

/// The intrinsics below are safe wherever their instruction set is there; a value of
/// `Avx2` or `Avx512` is only made inside of functions that `cpu::multiversion` compiled
/// for, and calls on, a processor that has it.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::Lanes;

    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx2(__m256i);

    impl Lanes<8> for Avx2 {
        #[inline(always)]
        fn splat(word: u32) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm256_set1_epi32(word as i32) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm256_add_epi32(self.0, other.0) })
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm256_xor_si256(self.0, other.0) })
        }

        #[inline(always)]
        fn rotate_right<const BITS: i32>(self) -> Self {
            // SAFETY: see the module.
            Self(unsafe {
                let right = _mm256_srl_epi32(self.0, _mm_cvtsi32_si128(BITS));
                let left = _mm256_sll_epi32(self.0, _mm_cvtsi32_si128(32 - BITS));
                _mm256_or_si256(right, left)
            })
        }

        #[inline(always)]
        fn split(words: &[u64; 8]) -> (Self, Self) {
            let [a, b]: [__m256i; 2] = bytemuck::cast(*words);
            // SAFETY: see the module.
            unsafe {
                let pick = _mm256_setr_epi32(0, 2, 4, 6, 1, 3, 5, 7);
                let a = _mm256_permutevar8x32_epi32(a, pick);
                let b = _mm256_permutevar8x32_epi32(b, pick);
                (
                    Self(_mm256_permute2x128_si256::<0x20>(a, b)),
                    Self(_mm256_permute2x128_si256::<0x31>(a, b)),
                )
            }
        }

        #[inline(always)]
        fn join(low: Self, high: Self) -> [u64; 8] {
            // SAFETY: see the module.
            bytemuck::cast(unsafe {
                let even = _mm256_unpacklo_epi32(low.0, high.0);
                let odd = _mm256_unpackhi_epi32(low.0, high.0);
                [
                    _mm256_permute2x128_si256::<0x20>(even, odd),
                    _mm256_permute2x128_si256::<0x31>(even, odd),
                ]
            })
        }
    }

    #[derive(Clone, Copy)]
    pub(in super::super) struct Avx512(__m512i);

    impl Lanes<16> for Avx512 {
        #[inline(always)]
        fn splat(word: u32) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_set1_epi32(word as i32) })
        }

        #[inline(always)]
        fn add(self, other: Self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_add_epi32(self.0, other.0) })
        }

        #[inline(always)]
        fn xor(self, other: Self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_xor_si512(self.0, other.0) })
        }

        #[inline(always)]
        fn rotate_right<const BITS: i32>(self) -> Self {
            // SAFETY: see the module.
            Self(unsafe { _mm512_ror_epi32::<BITS>(self.0) })
        }

        #[inline(always)]
        fn split(words: &[u64; 16]) -> (Self, Self) {
            let [a, b]: [__m512i; 2] = bytemuck::cast(*words);
            // SAFETY: see the module.
            unsafe {
                let even =
                    _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
                let odd = _mm512_add_epi32(even, _mm512_set1_epi32(1));
                (
                    Self(_mm512_permutex2var_epi32(a, even, b)),
                    Self(_mm512_permutex2var_epi32(a, odd, b)),
                )
            }
        }

        #[inline(always)]
        fn join(low: Self, high: Self) -> [u64; 16] {
            // SAFETY: see the module.
            bytemuck::cast(unsafe {
                let first =
                    _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
                let second = _mm512_add_epi32(first, _mm512_set1_epi32(8));
                [
                    _mm512_permutex2var_epi32(low.0, first, high.0),
                    _mm512_permutex2var_epi32(low.0, second, high.0),
                ]
            })
        }
    }
}
