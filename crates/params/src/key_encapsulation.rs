//! The parameter set of ML-KEM (FIPS 203) that is worth κ bits, and how likely it fails.

use crate::{Log2Prob, Security};

/// A parameter set of ML-KEM.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ParameterSet {
    /// Its number, as in ML-KEM-768: the rank of its modules times 256.
    pub number: usize,
    /// The block size of BKZ that the best known attack takes, by the core-SVP estimate (Kyber's
    /// specification for round 3 of NIST's competition, table 4).
    pub block_size: u32,
    /// A bound on the probability that an honest party decapsulates another secret (FIPS 203,
    /// table 1), as a logarithm.
    pub failure_log2: f64,
}

/// All that are standardised.
pub const PARAMETER_SETS: [ParameterSet; 3] = [
    ParameterSet {
        number: 512,
        block_size: 403,
        failure_log2: -138.8,
    },
    ParameterSet {
        number: 768,
        block_size: 625,
        failure_log2: -164.8,
    },
    ParameterSet {
        number: 1024,
        block_size: 877,
        failure_log2: -174.8,
    },
];

impl ParameterSet {
    /// Returns the core-SVP estimate with sieves on a quantum computer: a sieve of dimension b
    /// takes 2^(0.265·b) steps (Laarhoven 2015), and all else is for free.
    pub fn quantum_bits(&self) -> f64 {
        0.265 * f64::from(self.block_size)
    }

    /// Returns a bound on the event that one of `count` honest decapsulations fails.
    pub fn failure(&self, count: u64) -> Log2Prob {
        Log2Prob::from_log2(self.failure_log2).times(count.into())
    }
}

/// Returns the smallest parameter set that is worth κ bits even against a quantum computer.
///
/// ML-KEM-512 would have a third fewer bytes. NIST counts it as AES-128, since sieves take memory,
/// and steps of theirs cost more than one; its core-SVP estimate is 107 bits, or 118 without a
/// quantum computer. This mode is for who must keep a secret for decades, so it counts none of
/// that.
pub fn parameter_set() -> &'static ParameterSet {
    let kappa = f64::from(Security::COMPUTATIONAL_BITS);
    PARAMETER_SETS
        .iter()
        .find(|set| set.quantum_bits() >= kappa)
        .expect("the largest is worth more")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kappa_takes_the_second_set() {
        assert_eq!(parameter_set().number, 768);
        let bits = PARAMETER_SETS.map(|set| set.quantum_bits().round() as u32);
        assert_eq!(bits, [107, 166, 232]);
    }

    #[test]
    fn failures_of_many_add_up() {
        let failure = parameter_set().failure(1 << 10);
        assert!((failure.log2() + 154.8).abs() < 1e-9);
    }
}
