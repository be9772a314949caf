use crypto_bigint::{NonZero, U256, U512};
use proptest::prelude::*;

use super::*;

/// Returns bytes that differ for every seed, as a number.
fn number<const WORDS: usize>(seed: u64) -> Uint<WORDS> {
    let mut state = seed;
    Uint::from_words(std::array::from_fn(|_| {
        // splitmix64
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) as crypto_bigint::Word
    }))
}

/// Returns an odd number with its highest bit set.
fn odd<const WORDS: usize>(seed: u64) -> Odd<Uint<WORDS>> {
    let top = Uint::ONE.shl_vartime(Uint::<WORDS>::BITS - 1);
    Odd::new(number(seed) | top | Uint::ONE).unwrap()
}

/// Asserts that on every backend, powers are those of `crypto-bigint`.
fn compare<const WORDS: usize, const LIMBS: usize, const E: usize>(
    modulus: Odd<Uint<WORDS>>,
    bases: &[Uint<WORDS>],
    exponent: &Uint<E>,
    bits: u32,
) {
    let params = FixedMontyParams::new(modulus);
    let expected: Vec<Uint<WORDS>> = bases
        .iter()
        .map(|base| FixedMontyForm::new(base, &params).pow_bounded_exp(exponent, bits))
        .map(|power| power.retrieve())
        .collect();
    let modulus = Modulus::<WORDS, LIMBS>::new(modulus).unwrap();
    for backend in Backend::available() {
        let mut powers = vec![Uint::ZERO; bases.len()];
        modulus.pow_on(backend, bases, exponent, bits, &mut powers);
        assert!(powers == expected, "{}", backend.name());
    }
}

const WORDS_1536: usize = U1536::LIMBS;
const WORDS_3072: usize = U3072::LIMBS;

#[test]
fn numbers_at_the_edges() {
    let moduli = [
        Odd::new(U1536::MAX).unwrap(),
        // 2^1535 + 1: limbs of zeros.
        Odd::new(U1536::ONE.shl_vartime(1535) | U1536::ONE).unwrap(),
        odd(1),
    ];
    for modulus in moduli {
        let m = modulus.as_ref();
        let bases = [
            U1536::ZERO,
            U1536::ONE,
            U1536::from_u8(2),
            U1536::MAX,
            *m,
            m.wrapping_sub(&U1536::ONE),
            m.wrapping_add(&U1536::ONE),
            m.shr_vartime(1),
            number(7),
        ];
        for (exponent, bits) in [(0_u64, 1), (1, 1), (2, 2), (65_537, 17), (u64::MAX, 64)] {
            compare::<WORDS_1536, 31, _>(modulus, &bases, &U256::from_u64(exponent), bits);
        }
        compare::<WORDS_1536, 31, _>(modulus, &bases, &U512::MAX, 512);
    }
}

#[test]
fn batches_of_every_length() {
    let exponent = U256::from_u64(0x1_2345);
    for length in 0..18 {
        let bases: Vec<U3072> = (0..length).map(number).collect();
        compare::<WORDS_3072, 61, _>(odd(9), &bases, &exponent, 17);
    }
}

#[test]
fn bits_beyond_the_stated_ones_are_not_set() {
    // A stated length that is not a multiple of the digits'.
    for bits in [1, 5, 6, 7, 253, 254, 255, 256] {
        let exponent = U256::MAX.shr_vartime(256 - bits);
        compare::<WORDS_1536, 31, _>(odd(3), &[number(4)], &exponent, bits);
    }
}

#[test]
fn a_modulus_has_its_highest_bit_set() {
    let low = Odd::new(U1536::MAX.shr_vartime(1)).unwrap();
    assert!(Modulus1536::new(low).is_none());
    assert!(Modulus1536::new(odd(1)).is_some());
}

/// (p − 1)^(2k) = 1 and (p − 1)^(2k + 1) = p − 1, whatever p.
#[test]
fn the_negative_of_one_has_order_two() {
    let modulus = Modulus3072::new(odd(5)).unwrap();
    let minus_one = modulus.get().wrapping_sub(&U3072::ONE);
    let mut power = [U3072::ZERO];
    modulus.pow(&[minus_one], &U256::from_u64(1 << 40), 41, &mut power);
    assert_eq!(power[0], U3072::ONE);
    modulus.pow(&[minus_one], &U256::from_u64((1 << 40) + 1), 41, &mut power);
    assert_eq!(power[0], minus_one);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]
    #[test]
    fn powers_of_any_numbers(modulus: u64, base: u64, exponent: u64) {
        let bases: Vec<U1536> = (0..3).map(|k| number(base ^ k)).collect();
        compare::<WORDS_1536, 31, _>(odd(modulus), &bases, &number::<8>(exponent), 512);
        let bases: Vec<U3072> = (0..3).map(|k| number(base ^ k)).collect();
        let exponent = number::<{ U256::LIMBS }>(exponent);
        compare::<WORDS_3072, 61, _>(odd(modulus), &bases, &exponent, 256);
    }

    #[test]
    fn wide_numbers_are_reduced(modulus: u64, low: u64, high: u64) {
        let modulus = odd::<WORDS_1536>(modulus);
        let (low, high) = (number::<WORDS_1536>(low), number::<WORDS_1536>(high));
        let wide: U3072 = low.concat(&high);
        let divisor = NonZero::new(modulus.as_ref().resize::<WORDS_3072>()).unwrap();
        let expected = wide.rem_vartime(&divisor).resize::<WORDS_1536>();
        let modulus = Modulus1536::new(modulus).unwrap();
        prop_assert_eq!(modulus.reduce(&low, &high), expected);
    }
}
