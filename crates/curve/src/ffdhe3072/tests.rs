use crypto_bigint::{NonZero, U4096};

use super::*;

fn exponent(seed: u8) -> Exponent {
    Exponent::from_uniform_bytes(&[seed; Exponent::UNIFORM_BYTES], 275)
}

fn encode(number: &U3072) -> [u8; ELEMENT_BYTES] {
    let mut bytes = [0; ELEMENT_BYTES];
    bytes.copy_from_slice(number.to_le_bytes().as_ref());
    bytes
}

fn minus_one() -> U3072 {
    MODULUS.get().wrapping_sub(&U3072::ONE)
}

/// RFC 7919 §A: the digits of e leave no room for a trapdoor.
#[test]
fn the_prime_follows_from_its_formula() {
    // e = Σ 1/k!, with 1,000 bits after those that count.
    let mut term = U4096::ONE.shl_vartime(2942 + 1000);
    let mut e = U4096::ZERO;
    for k in 1_u32.. {
        if term == U4096::ZERO {
            break;
        }
        e = e.wrapping_add(&term);
        term = term.wrapping_div_vartime(&NonZero::new(U4096::from_u32(k)).unwrap());
    }
    let middle = e
        .shr_vartime(1000)
        .wrapping_add(&U4096::from_u32(2_625_351))
        .shl_vartime(64);
    let prime = U4096::ONE
        .shl_vartime(3072)
        .wrapping_sub(&U4096::ONE.shl_vartime(3008))
        .wrapping_add(&middle)
        .wrapping_sub(&U4096::ONE);
    assert_eq!(prime, MODULUS.get().resize());
}

/// 2 generates the group: its order is q, if that is a prime.
#[test]
fn two_has_order_q() {
    let q = MODULUS.get().shr_vartime(1);
    let mut powers = [U3072::ZERO; 2];
    MODULUS.pow(&[U3072::from_u8(2), minus_one()], &q, 3071, &mut powers);
    assert_eq!(powers, [U3072::ONE, minus_one()]);
}

#[test]
fn exponents_commute() {
    let uniform = [[7; UNIFORM_BYTES], [8; UNIFORM_BYTES]];
    let (alpha, beta) = (exponent(1), exponent(2));
    let raise = |first: &Exponent, second: &Exponent| {
        let mut once = [[0; ELEMENT_BYTES]; 2];
        let mut twice = once;
        hash_pow_encode(&uniform, first, &mut once);
        decode_pow_encode(&once, second, &mut twice).unwrap();
        assert_ne!(once, twice);
        twice
    };
    assert_eq!(raise(&alpha, &beta), raise(&beta, &alpha));
}

/// A component that a peer puts in beside the group is lost: x and −x have the same power, a
/// square.
#[test]
fn the_cofactor_is_cleared() {
    let x = U3072::from_u8(11);
    let encoded = [encode(&x), encode(&MODULUS.get().wrapping_sub(&x))];
    let mut powers = [[0; ELEMENT_BYTES]; 2];
    decode_pow_encode(&encoded, &exponent(3), &mut powers).unwrap();
    assert_eq!(powers[0], powers[1]);
    let q = MODULUS.get().shr_vartime(1);
    let mut order = [U3072::ZERO];
    MODULUS.pow(&[U3072::from_le_slice(&powers[0])], &q, 3071, &mut order);
    assert_eq!(order[0], U3072::ONE);
}

#[test]
fn an_exponent_is_twice_the_stated_bits() {
    let all = Exponent::from_uniform_bytes(&[0xff; Exponent::UNIFORM_BYTES], 275);
    assert_eq!(
        all.doubled,
        U320::ONE.shl_vartime(276).wrapping_sub(&U320::from_u8(2))
    );
    assert_eq!(all.bits, 276);
}

#[test]
fn numbers_that_are_no_elements_are_refused() {
    let p = *MODULUS.get();
    let good = encode(&U3072::from_u8(2));
    let refused = |number: &U3072| {
        let mut out = [[0; ELEMENT_BYTES]; 2];
        decode_pow_encode(&[good, encode(number)], &exponent(1), &mut out).unwrap_err()
    };
    for number in [U3072::ZERO, p, p.wrapping_add(&U3072::ONE), U3072::MAX] {
        assert_eq!(refused(&number), Error::NotAnElement { index: 1 });
    }
    for number in [U3072::ONE, minus_one()] {
        assert_eq!(refused(&number), Error::Identity { index: 1 });
    }
}
