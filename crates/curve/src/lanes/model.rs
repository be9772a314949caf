//! The lanes of AVX-512 IFMA in plain arithmetic: tests of what runs in them, for processors
//! without them.

use super::{Job, Lanes, MAX_LANES, Multiplier52};
use crate::field::InIntegers;

/// Needs no proof. Its functions are calls: a product of field elements has hundreds.
#[derive(Clone, Copy)]
pub(crate) struct Model;

type Words = [u64; MAX_LANES];

/// The bits that the multiplier takes.
const MASK_52: u64 = (1 << 52) - 1;

fn product(a: u64, b: u64) -> u128 {
    u128::from(a & MASK_52) * u128::from(b & MASK_52)
}

impl Lanes for Model {
    const COUNT: usize = MAX_LANES;

    type Word = Words;
    type Field = InIntegers;

    #[inline(never)]
    fn run<J: Job<Self>>(self, job: J) -> J::Output {
        job.run(self)
    }

    #[inline(never)]
    fn splat_word(self, x: u64) -> Words {
        [x; MAX_LANES]
    }

    #[inline(never)]
    fn load(self, words: &Words) -> Words {
        *words
    }

    #[inline(never)]
    fn store(self, x: Words) -> Words {
        x
    }

    #[inline(never)]
    fn add_words(self, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| a[k].wrapping_add(b[k]))
    }

    #[inline(never)]
    fn sub_words(self, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| a[k].wrapping_sub(b[k]))
    }

    #[inline(never)]
    fn and(self, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| a[k] & b[k])
    }

    #[inline(never)]
    fn or(self, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| a[k] | b[k])
    }

    #[inline(never)]
    fn xor(self, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| a[k] ^ b[k])
    }

    #[inline(never)]
    fn shl<const BITS: u32>(self, a: Words) -> Words {
        a.map(|a| a << BITS)
    }

    #[inline(never)]
    fn shr<const BITS: u32>(self, a: Words) -> Words {
        a.map(|a| a >> BITS)
    }
}

impl Multiplier52 for Model {
    #[inline(never)]
    fn add_low(self, c: Words, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| c[k].wrapping_add(product(a[k], b[k]) as u64 & MASK_52))
    }

    #[inline(never)]
    fn add_high(self, c: Words, a: Words, b: Words) -> Words {
        std::array::from_fn(|k| c[k].wrapping_add((product(a[k], b[k]) >> 52) as u64))
    }
}
