//! Four lanes: AVX2 and FMA.

use core::arch::x86_64::*;

use super::{Doubles, Job, Lanes, MAX_LANES};
use crate::field::InDoubles;

/// Proof that the processor has AVX2 and FMA.
#[derive(Clone, Copy)]
pub(crate) struct Avx2 {
    _detected: (),
}

impl Avx2 {
    /// Returns the proof, if this processor has the instructions, and the build takes them
    /// (`psijoin_backend`, as in `psijoin_block`).
    pub(crate) fn detect() -> Option<Self> {
        if cfg!(psijoin_backend = "portable") {
            return None;
        }
        (is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma"))
            .then_some(Self { _detected: () })
    }
}

#[target_feature(enable = "avx2,fma")]
fn run_with_avx2<J: Job<Avx2>>(lanes: Avx2, job: J) -> J::Output {
    job.run(lanes)
}

/// Calls an AVX2 or FMA instruction in a method that has the proof.
macro_rules! instruction {
    ($proof:ident, $call:expr) => {{
        let _: Avx2 = $proof;
        // SAFETY: an `Avx2` exists only where `detect` has found AVX2 and FMA.
        unsafe { $call }
    }};
}

impl Lanes for Avx2 {
    const COUNT: usize = 4;

    type Word = __m256i;
    type Field = InDoubles;

    // Never inlined, because it could not be kept apart further down: its callee cannot be
    // inlined into it, for lack of the instructions.
    #[inline(never)]
    fn run<J: Job<Self>>(self, job: J) -> J::Output {
        instruction!(self, run_with_avx2(self, job))
    }

    #[inline(always)]
    fn splat_word(self, x: u64) -> __m256i {
        instruction!(self, _mm256_set1_epi64x(x.cast_signed()))
    }

    #[inline(always)]
    fn load(self, words: &[u64; MAX_LANES]) -> __m256i {
        // The array is longer than the 32 bytes that are read.
        instruction!(self, _mm256_loadu_si256(words.as_ptr().cast()))
    }

    #[inline(always)]
    fn store(self, x: __m256i) -> [u64; MAX_LANES] {
        let mut words = [0; MAX_LANES];
        // The array is longer than the 32 bytes that are written.
        instruction!(self, _mm256_storeu_si256(words.as_mut_ptr().cast(), x));
        words
    }

    #[inline(always)]
    fn add_words(self, a: __m256i, b: __m256i) -> __m256i {
        instruction!(self, _mm256_add_epi64(a, b))
    }

    #[inline(always)]
    fn sub_words(self, a: __m256i, b: __m256i) -> __m256i {
        instruction!(self, _mm256_sub_epi64(a, b))
    }

    #[inline(always)]
    fn and(self, a: __m256i, b: __m256i) -> __m256i {
        instruction!(self, _mm256_and_si256(a, b))
    }

    #[inline(always)]
    fn or(self, a: __m256i, b: __m256i) -> __m256i {
        instruction!(self, _mm256_or_si256(a, b))
    }

    #[inline(always)]
    fn xor(self, a: __m256i, b: __m256i) -> __m256i {
        instruction!(self, _mm256_xor_si256(a, b))
    }

    // A count that is known becomes part of the instruction.
    #[inline(always)]
    fn shl<const BITS: u32>(self, a: __m256i) -> __m256i {
        instruction!(
            self,
            _mm256_sll_epi64(a, _mm_cvtsi64_si128(i64::from(BITS)))
        )
    }

    #[inline(always)]
    fn shr<const BITS: u32>(self, a: __m256i) -> __m256i {
        instruction!(
            self,
            _mm256_srl_epi64(a, _mm_cvtsi64_si128(i64::from(BITS)))
        )
    }
}

impl Doubles for Avx2 {
    type Float = __m256d;

    #[inline(always)]
    fn splat(self, x: f64) -> __m256d {
        instruction!(self, _mm256_set1_pd(x))
    }

    #[inline(always)]
    fn add(self, a: __m256d, b: __m256d) -> __m256d {
        instruction!(self, _mm256_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m256d, b: __m256d) -> __m256d {
        instruction!(self, _mm256_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: __m256d, b: __m256d, c: __m256d) -> __m256d {
        instruction!(self, _mm256_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn bits_of(self, x: __m256d) -> __m256i {
        instruction!(self, _mm256_castpd_si256(x))
    }

    #[inline(always)]
    fn float_of(self, x: __m256i) -> __m256d {
        instruction!(self, _mm256_castsi256_pd(x))
    }
}
