//! Eight lanes with a multiplier of 52 bits: AVX-512F and AVX-512 IFMA.

use core::arch::x86_64::*;

use super::{
    Job, Lanes, MAX_LANES, Multiplier52,
    avx512::{Avx512, instruction, words_of_512_bits},
};
use crate::field::InIntegers;

/// Proof that the processor has AVX-512 IFMA, and what [`Avx512`] proves.
#[derive(Clone, Copy)]
pub(crate) struct Ifma {
    doubles: Avx512,
}

impl Ifma {
    /// Returns the proof, if this processor has the instructions, and the build takes them.
    pub(crate) fn detect() -> Option<Self> {
        let doubles = Avx512::detect()?;
        is_x86_feature_detected!("avx512ifma").then_some(Self { doubles })
    }

    /// Returns the lanes of doubles that this processor has, too.
    pub(crate) fn doubles(self) -> Avx512 {
        self.doubles
    }
}

#[target_feature(enable = "avx512f,avx512dq,avx512ifma")]
fn run_with_ifma<J: Job<Ifma>>(lanes: Ifma, job: J) -> J::Output {
    job.run(lanes)
}

impl Lanes for Ifma {
    type Field = InIntegers;

    // Never inlined, as in `avx512`.
    #[inline(never)]
    fn run<J: Job<Self>>(self, job: J) -> J::Output {
        instruction!(self, run_with_ifma(self, job))
    }

    words_of_512_bits!();
}

impl Multiplier52 for Ifma {
    #[inline(always)]
    fn add_low(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        instruction!(self, _mm512_madd52lo_epu64(c, a, b))
    }

    #[inline(always)]
    fn add_high(self, c: __m512i, a: __m512i, b: __m512i) -> __m512i {
        instruction!(self, _mm512_madd52hi_epu64(c, a, b))
    }
}
