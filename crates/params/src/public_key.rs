//! Numbers of the public-key groups that are not curves: those of RSA and of a large prime.

use crate::Security;

/// Bits of an RSA modulus, or of the prime of a group, that are worth κ = 128 bits: 3,072 (NIST SP
/// 800-57 part 1, table 2; RFC 7919 §A.2).
pub const MODULUS_BITS: u32 = 3072;

/// Bits of a secret exponent in the group of 3,072 bits: 275 (RFC 7919 §A.2). A discrete logarithm
/// of b bits costs 2^(b/2) group operations in a group of prime order (van Oorschot and Wiener,
/// Eurocrypt 1996), so this is more than 2κ.
pub const SHORT_EXPONENT_BITS: u32 = 275;

/// The public exponent of RSA, 2^16 + 1: a prime.
pub const RSA_PUBLIC_EXPONENT: u32 = 65_537;

/// Uniform bits that are reduced to a number below a modulus. They are enough more than the modulus
/// has that no number is likelier than another by more than 2^-κ of its probability.
pub const UNIFORM_BITS: u32 = MODULUS_BITS + Security::COMPUTATIONAL_BITS;

/// Returns how many random numbers must have an e-th root modulo N, e the [public
/// exponent](RSA_PUBLIC_EXPONENT), to show that raising to e permutes the units modulo N.
///
/// If it does not, e divides φ(N), since e is a prime. Then the e-th powers are a subgroup of index
/// e or more, and a random unit is one of them with a probability of at most 1/e. So k random units
/// all are with e^-k at most, which is 2^-κ here; where they are hash values, that is what a try
/// costs that looks for such an N. (Bellare and Yung, J. Cryptology 1996; Goldberg, Reyzin, Sagga
/// and Baldimtsi, ePrint 2018/057, §3.)
pub fn rsa_root_proofs() -> usize {
    Security::COMPUTATIONAL_BITS.div_ceil(RSA_PUBLIC_EXPONENT.ilog2()) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_exponent_is_worth_kappa_bits() {
        const { assert!(SHORT_EXPONENT_BITS >= 2 * Security::COMPUTATIONAL_BITS) };
    }

    /// A number below N is hit by ⌊2^b/N⌋ of b uniform bits, or by one more: that differs by N/2^b
    /// at most.
    #[test]
    fn reduced_numbers_are_uniform_but_for_2_to_the_minus_kappa() {
        const { assert!(UNIFORM_BITS - MODULUS_BITS == Security::COMPUTATIONAL_BITS) };
    }

    #[test]
    fn the_public_exponent_is_a_prime() {
        let e = RSA_PUBLIC_EXPONENT;
        assert!((2..e.isqrt() + 1).all(|divisor| !e.is_multiple_of(divisor)));
    }

    #[test]
    fn roots_convince_but_for_2_to_the_minus_kappa() {
        let bits = |roots: usize| roots as f64 * f64::from(RSA_PUBLIC_EXPONENT).log2();
        let kappa = f64::from(Security::COMPUTATIONAL_BITS);
        assert_eq!(rsa_root_proofs(), 8);
        assert!(bits(rsa_root_proofs()) >= kappa);
        assert!(bits(rsa_root_proofs() - 1) < kappa);
    }
}
