//! The group that public keys of ML-KEM lie in: vectors of 768 numbers modulo q = 3,329.
//!
//! FIPS 203 encodes a public key as such a vector (t, in the NTT domain, 12 bits a number) and the
//! seed of a matrix. Under module LWE, t looks uniform, so that it can be hidden by a sum with any
//! other vector.
//!
//! All is constant time, but for [`Vector::decode`], which takes what was sent.

use zeroize::ZeroizeOnDrop;

/// q.
const Q: u16 = 3329;

/// Numbers of a vector: three polynomials of 256 coefficients, those of ML-KEM-768.
const NUMBERS: usize = 3 * 256;

/// Bytes of an encoded vector.
pub(super) const VECTOR_BYTES: usize = NUMBERS * 12 / 8;

/// Numbers that are made of one integer.
const GROUP_NUMBERS: usize = 16;

/// 32-bit digits of that integer.
const LIMBS: usize = 11;

/// Bytes of it. 2^352 exceeds q^16 by a factor of 2^164, so no vector is likelier than another by
/// more than 48·2^-164 of its probability.
const GROUP_BYTES: usize = 4 * LIMBS;

/// Uniform bytes from which a uniform vector is made.
pub(super) const UNIFORM_BYTES: usize = NUMBERS / GROUP_NUMBERS * GROUP_BYTES;

/// A vector. Wiped when it is dropped.
#[derive(Clone, ZeroizeOnDrop)]
#[cfg_attr(test, derive(PartialEq, Eq, Debug))]
pub(super) struct Vector([u16; NUMBERS]);

impl Vector {
    /// Returns the vector of these bytes, unless a number exceeds q − 1.
    pub(super) fn decode(bytes: &[u8; VECTOR_BYTES]) -> Option<Self> {
        let mut numbers = [0; NUMBERS];
        for (pair, bytes) in numbers.chunks_exact_mut(2).zip(bytes.chunks_exact(3)) {
            let [a, b, c] = [bytes[0], bytes[1], bytes[2]].map(u16::from);
            pair[0] = a | (b & 0xf) << 8;
            pair[1] = b >> 4 | c << 4;
        }
        numbers
            .iter()
            .all(|number| *number < Q)
            .then_some(Self(numbers))
    }

    /// Returns its bytes.
    pub(super) fn encode(&self) -> [u8; VECTOR_BYTES] {
        let mut bytes = [0; VECTOR_BYTES];
        for (bytes, pair) in bytes.chunks_exact_mut(3).zip(self.0.chunks_exact(2)) {
            let [a, b] = [pair[0], pair[1]];
            bytes[0] = a as u8;
            bytes[1] = (a >> 8 | b << 4) as u8;
            bytes[2] = (b >> 4) as u8;
        }
        bytes
    }

    /// Returns what uniform bytes give: all vectors alike. Rejection sampling would take a time
    /// that depends on what is hashed.
    pub(super) fn uniform(bytes: &[u8; UNIFORM_BYTES]) -> Self {
        let mut numbers = [0; NUMBERS];
        let groups = bytes.as_chunks::<GROUP_BYTES>().0;
        let into = numbers.as_chunks_mut::<GROUP_NUMBERS>().0;
        for (numbers, group) in into.iter_mut().zip(groups) {
            *numbers = digits(group);
        }
        Self(numbers)
    }

    /// Returns the sum.
    pub(super) fn plus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| reduce(self.0[i] + other.0[i])))
    }

    /// Returns the difference.
    pub(super) fn minus(&self, other: &Self) -> Self {
        Self(std::array::from_fn(|i| reduce(self.0[i] + Q - other.0[i])))
    }
}

/// Returns a number below 2q modulo q.
fn reduce(number: u16) -> u16 {
    let less = number.wrapping_sub(Q);
    let negative = 0_u16.wrapping_sub(less >> 15);
    less.wrapping_add(Q & negative)
}

/// Returns the lowest digits to base q of an integer, the lowest first: two at a time.
fn digits(integer: &[u8; GROUP_BYTES]) -> [u16; GROUP_NUMBERS] {
    const SQUARE: u64 = Q as u64 * Q as u64;
    let mut limbs: [u32; LIMBS] = bytemuck::pod_read_unaligned(integer);
    for limb in &mut limbs {
        *limb = u32::from_le(*limb);
    }
    let mut digits = [0; GROUP_NUMBERS];
    for (k, pair) in digits.chunks_exact_mut(2).enumerate() {
        // A division by q² takes 23 bits away, and a little.
        let left = (8 * GROUP_BYTES - 23 * k).div_ceil(32);
        let mut rest = 0;
        for limb in limbs[..left].iter_mut().rev() {
            let (quotient, remainder) = divide::<SQUARE>(rest << 32 | u64::from(*limb));
            *limb = quotient as u32;
            rest = remainder;
        }
        let (high, low) = divide::<{ Q as u64 }>(rest);
        pair.copy_from_slice(&[low as u16, high as u16]);
    }
    digits
}

/// Returns quotient and remainder. Processors divide in a time that depends on the number, and a
/// compiler is free to let them.
#[inline]
fn divide<const DIVISOR: u64>(number: u64) -> (u64, u64) {
    // Too small by one at most, as the factor is by less than one.
    let quotient = (u128::from(number) * u128::from(u64::MAX / DIVISOR)) >> 64;
    let quotient = quotient as u64;
    let rest = number - quotient * DIVISOR;
    let over = (DIVISOR - 1).wrapping_sub(rest) >> 63;
    (quotient + over, rest - over * DIVISOR)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn vector() -> impl Strategy<Value = Vector> {
        prop::collection::vec(0..Q, NUMBERS)
            .prop_map(|numbers| Vector(numbers.try_into().expect("as many as a vector has")))
    }

    /// Returns Σ digit_i · q^i modulo 2^352.
    fn integer(digits: &[u16]) -> [u8; GROUP_BYTES] {
        let mut limbs = [0_u32; LIMBS];
        for digit in digits.iter().rev() {
            let mut carry = u64::from(*digit);
            for limb in &mut limbs {
                carry += u64::from(*limb) * u64::from(Q);
                *limb = carry as u32;
                carry >>= 32;
            }
        }
        bytemuck::cast(limbs.map(u32::to_le))
    }

    proptest! {
        #[test]
        fn integers_have_their_digits(digits_ in prop::array::uniform16(0..Q)) {
            prop_assert_eq!(digits(&integer(&digits_)), digits_);
        }

        #[test]
        fn divides(number: u64) {
            let expected = (number / 3329, number % 3329);
            prop_assert_eq!(divide::<3329>(number), expected);
            for number in [number / 3329 * 3329, (number / 3329 * 3329).wrapping_sub(1), u64::MAX] {
                prop_assert_eq!(divide::<3329>(number), (number / 3329, number % 3329));
            }
        }

        #[test]
        fn vectors_are_a_group(a in vector(), b in vector()) {
            prop_assert_eq!(&a.plus(&b), &b.plus(&a));
            prop_assert_eq!(&a.plus(&b).minus(&b), &a);
            prop_assert_eq!(a.minus(&a).0, [0; NUMBERS]);
            prop_assert!(a.plus(&b).0.iter().all(|number| *number < Q));
        }

        #[test]
        fn encoding_is_undone(a in vector()) {
            prop_assert_eq!(Vector::decode(&a.encode()), Some(a));
        }
    }

    /// Digits of the largest integer, from another program: the highest ones would show a limb
    /// that is left out too early.
    #[test]
    fn the_largest_integer_has_its_digits() {
        let all = digits(&[0xff; GROUP_BYTES]);
        // 2^352 − 1 modulo q, and modulo q².
        let power = |modulus: u64| (0..352).fold(1, |power, _| power * 2 % modulus);
        assert_eq!(u64::from(all[0]), power(3329) - 1);
        let square = 3329 * 3329;
        assert_eq!(
            u64::from(all[0]) + 3329 * u64::from(all[1]),
            power(square) - 1
        );
        assert!(all.iter().all(|digit| *digit < Q));
    }

    #[test]
    fn numbers_from_q_on_are_refused() {
        let mut bytes = [0; VECTOR_BYTES];
        assert!(Vector::decode(&bytes).is_some());
        // 3,329 = 0xd01, and one less.
        bytes[..2].copy_from_slice(&[0x01, 0x0d]);
        assert!(Vector::decode(&bytes).is_none());
        bytes[..2].copy_from_slice(&[0x00, 0x0d]);
        assert!(Vector::decode(&bytes).is_some());
        bytes[VECTOR_BYTES - 1] = 0xff;
        assert!(Vector::decode(&bytes).is_none());
    }

    /// Numbers of hashed vectors spread evenly over 0 .. q.
    #[test]
    fn uniform_bytes_give_uniform_numbers() {
        let mut counts = [0_f64; 13];
        let mut total = 0.0;
        for seed in 0..40_u8 {
            let mut bytes = [0; UNIFORM_BYTES];
            let mut hasher = blake3::Hasher::new();
            hasher.update(&[seed]).finalize_xof().fill(&mut bytes);
            for number in Vector::uniform(&bytes).0 {
                counts[usize::from(number) * 13 / usize::from(Q)] += 1.0;
                total += 1.0;
            }
        }
        let expected = total / 13.0;
        let squares: f64 = counts
            .iter()
            .map(|n| (n - expected).powi(2) / expected)
            .sum();
        assert!(squares < 40.0, "χ² of 12 degrees of freedom: {squares}");
    }
}
