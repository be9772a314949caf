//! Bits of numbers that are tested for equality. Numbers that should differ are random.

use crate::{Error, Log2Prob, search};

/// The most bits: those of an output of a PRF.
pub const MAX_BITS: u32 = 128;

/// Returns the fewest bits, a multiple of `digit_bits`, at which none of the tests finds random
/// numbers equal by chance, except with a probability of at most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if [`MAX_BITS`] are not enough.
pub fn bits(tests: u64, digit_bits: u32, share: Log2Prob) -> Result<u32, Error> {
    let bits = |digits: u64| digits as u32 * digit_bits;
    search::least(1..=u64::from(MAX_BITS / digit_bits), |digits| {
        by_chance(tests, bits(digits)) <= share
    })
    .map(bits)
    .ok_or(Error::Unreachable {
        parameter: "bits that are compared",
        share,
    })
}

/// Returns a bound on any of the tests finding random numbers equal by chance.
pub fn by_chance(tests: u64, bits: u32) -> Log2Prob {
    Log2Prob::from_log2(-f64::from(bits)).times(tests.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PSTY19, §7: σ + log2(bins) bits, for 1.27 n bins.
    #[test]
    fn reproduces_psty19() {
        let share = Log2Prob::from_log2(-40.0);
        let at = |n: u64| bits(n * 127 / 100, 1, share).unwrap();
        assert_eq!([12, 16, 20].map(|log2| at(1 << log2)), [53, 57, 61]);
    }

    #[test]
    fn whole_digits() {
        let share = Log2Prob::from_log2(-42.0);
        assert_eq!(bits(1 << 20, 4, share), Ok(64));
        assert_eq!(bits(1 << 18, 4, share), Ok(60));
        assert!(by_chance(1 << 18, 59) > share);
        assert!(bits(u64::MAX, 4, Log2Prob::from_log2(-80.0)).is_err());
    }
}
