//! Eight lanes: AVX-512F, and AVX-512DQ for its 64-bit multiplication.

use core::arch::x86_64::*;

use super::{Doubles, Job, Lanes, MAX_LANES};
use crate::field::InDoubles;

/// Proof that the processor has AVX-512F and AVX-512DQ.
#[derive(Clone, Copy)]
pub(crate) struct Avx512 {
    _detected: (),
}

impl Avx512 {
    /// Returns the proof, if this processor has the instructions, and the build takes them
    /// (`psijoin_backend`, as in `psijoin_block`).
    pub(crate) fn detect() -> Option<Self> {
        if cfg!(any(psijoin_backend = "portable", psijoin_backend = "avx2")) {
            return None;
        }
        (is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512dq"))
            .then_some(Self { _detected: () })
    }
}

#[target_feature(enable = "avx512f,avx512dq")]
fn run_with_avx512<J: Job<Avx512>>(lanes: Avx512, job: J) -> J::Output {
    job.run(lanes)
}

/// Calls an AVX-512 instruction in a method that has the proof.
macro_rules! instruction {
    ($proof:ident, $call:expr) => {{
        let _: Self = $proof;
        // SAFETY: a proof exists only where its `detect` has found the instructions: AVX-512F,
        // and those that its own file names.
        unsafe { $call }
    }};
}

/// The integers of [`Lanes`] in vectors of 512 bits, for the proofs that include AVX-512F.
macro_rules! words_of_512_bits {
    () => {
        const COUNT: usize = 8;

        type Word = __m512i;

        #[inline(always)]
        fn splat_word(self, x: u64) -> __m512i {
            instruction!(self, _mm512_set1_epi64(x.cast_signed()))
        }

        #[inline(always)]
        fn load(self, words: &[u64; MAX_LANES]) -> __m512i {
            // The array has the 64 bytes that are read.
            instruction!(self, _mm512_loadu_si512(words.as_ptr().cast()))
        }

        #[inline(always)]
        fn store(self, x: __m512i) -> [u64; MAX_LANES] {
            let mut words = [0; MAX_LANES];
            // The array has the 64 bytes that are written.
            instruction!(self, _mm512_storeu_si512(words.as_mut_ptr().cast(), x));
            words
        }

        #[inline(always)]
        fn add_words(self, a: __m512i, b: __m512i) -> __m512i {
            instruction!(self, _mm512_add_epi64(a, b))
        }

        #[inline(always)]
        fn sub_words(self, a: __m512i, b: __m512i) -> __m512i {
            instruction!(self, _mm512_sub_epi64(a, b))
        }

        #[inline(always)]
        fn and(self, a: __m512i, b: __m512i) -> __m512i {
            instruction!(self, _mm512_and_si512(a, b))
        }

        #[inline(always)]
        fn or(self, a: __m512i, b: __m512i) -> __m512i {
            instruction!(self, _mm512_or_si512(a, b))
        }

        #[inline(always)]
        fn xor(self, a: __m512i, b: __m512i) -> __m512i {
            instruction!(self, _mm512_xor_si512(a, b))
        }

        #[inline(always)]
        fn shl<const BITS: u32>(self, a: __m512i) -> __m512i {
            instruction!(self, _mm512_slli_epi64::<BITS>(a))
        }

        #[inline(always)]
        fn shr<const BITS: u32>(self, a: __m512i) -> __m512i {
            instruction!(self, _mm512_srli_epi64::<BITS>(a))
        }
    };
}

pub(super) use {instruction, words_of_512_bits};

impl Lanes for Avx512 {
    type Field = InDoubles;

    // Never inlined, because it could not be kept apart further down: its callee cannot be
    // inlined into it, for lack of the instructions.
    #[inline(never)]
    fn run<J: Job<Self>>(self, job: J) -> J::Output {
        instruction!(self, run_with_avx512(self, job))
    }

    words_of_512_bits!();
}

impl Doubles for Avx512 {
    type Float = __m512d;

    #[inline(always)]
    fn splat(self, x: f64) -> __m512d {
        instruction!(self, _mm512_set1_pd(x))
    }

    #[inline(always)]
    fn add(self, a: __m512d, b: __m512d) -> __m512d {
        instruction!(self, _mm512_add_pd(a, b))
    }

    #[inline(always)]
    fn sub(self, a: __m512d, b: __m512d) -> __m512d {
        instruction!(self, _mm512_sub_pd(a, b))
    }

    #[inline(always)]
    fn mul_add(self, a: __m512d, b: __m512d, c: __m512d) -> __m512d {
        instruction!(self, _mm512_fmadd_pd(a, b, c))
    }

    #[inline(always)]
    fn bits_of(self, x: __m512d) -> __m512i {
        instruction!(self, _mm512_castpd_si512(x))
    }

    #[inline(always)]
    fn float_of(self, x: __m512i) -> __m512d {
        instruction!(self, _mm512_castsi512_pd(x))
    }
}
