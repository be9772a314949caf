//! Length of the masks that show the receiver which items are shared.

use crate::{Error, Log2Prob};

/// The longest mask, in bits.
pub const MAX_BITS: u32 = 128;

/// Returns the smallest length v, in bits, at which none of `comparisons` pairs of masks of
/// different items is equal, except with a probability of at most `share`.
///
/// `comparisons` is the number of pairs that the receiver tries; with 2^-σ for share and
/// all pairs of two sets of n it is the σ + 2·log2(n) of the papers. The length is not
/// rounded to bytes, and at least one bit.
///
/// # Errors
/// [`Error::Unreachable`] if more than [`MAX_BITS`] were needed.
pub fn bits(comparisons: u128, share: Log2Prob) -> Result<u32, Error> {
    let needed = (comparisons.max(1) as f64).log2() - share.log2();
    if needed > f64::from(MAX_BITS) {
        return Err(Error::Unreachable {
            parameter: "mask length",
            share,
        });
    }
    Ok((needed.ceil() as u32).max(1))
}

/// Returns a bound on any of `comparisons` pairs of masks of `bits` bits being equal by chance.
pub fn collision(comparisons: u128, bits: u32) -> Log2Prob {
    Log2Prob::from_log2(-f64::from(bits)).times(comparisons)
}

/// Returns the smallest M at which none of `comparisons` pairs of masks of different items, uniform
/// in 0..M, is equal, except with a probability of at most `share`. Where masks are sorted and
/// coded, M needs not be a power of two: the fraction of a bit is saved.
///
/// # Errors
/// [`Error::Unreachable`] if masks of 2^128 values were not enough.
pub fn range(comparisons: u128, share: Log2Prob) -> Result<u128, Error> {
    let pairs = (comparisons.max(1) as f64).log2();
    let pair = Log2Prob::from_log2(share.log2() - pairs).minus(scaling_bias());
    let needed = -pair.log2();
    if needed >= f64::from(MAX_BITS) {
        return Err(Error::Unreachable {
            parameter: "mask range",
            share,
        });
    }
    // More than what rounding costs.
    Ok((needed.exp2() * (1.0 + 1e-9)).ceil() as u128)
}

/// Returns how much likelier than 1/M a value is at most: a hash of 128 bits is scaled to the
/// range.
fn scaling_bias() -> Log2Prob {
    Log2Prob::from_log2(-128.0)
}

/// Returns a bound on any of `comparisons` pairs of masks in 0..`range` being equal by chance.
pub fn range_collision(comparisons: u128, range: u128) -> Log2Prob {
    let uniform = Log2Prob::from_log2(-(range as f64).log2());
    uniform.or(scaling_bias()).times(comparisons)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Security;
    use proptest::prelude::*;

    /// KKRT16, Table 2: column v.
    #[test]
    fn reproduces_kkrt16_table_2() {
        let share = Security::default().failure();
        let lengths = [8, 12, 16, 20, 24].map(|log_n| bits(1 << (2 * log_n), share).unwrap());
        assert_eq!(lengths, [56, 64, 72, 80, 88]);
    }

    #[test]
    fn a_mask_of_more_than_128_bits_is_an_error() {
        let share = Log2Prob::from_log2(-80.0);
        assert_eq!(bits(1 << 48, share), Ok(128));
        assert!(bits((1 << 48) + (1 << 20), share).is_err());
        assert!(bits(1, Log2Prob::ZERO).is_err());
    }

    #[test]
    fn nothing_to_compare_still_has_a_length() {
        assert_eq!(bits(0, Log2Prob::from_log2(-40.0)), Ok(40));
        assert_eq!(bits(0, Log2Prob::ONE), Ok(1));
        assert_eq!(collision(0, 40), Log2Prob::ZERO);
    }

    proptest! {
        #[test]
        fn is_about_the_smallest_range_that_suffices(
            comparisons in 1u128..1 << 52,
            share in -74.0..-40.0f64,
        ) {
            let share = Log2Prob::from_log2(share);
            let range = range(comparisons, share).unwrap();
            prop_assert!(range_collision(comparisons, range) <= share);
            prop_assert!(range_collision(comparisons, range / 1_000_000 * 999_999) > share);
        }

        #[test]
        fn is_the_smallest_length_that_suffices(
            comparisons in 1u128..1 << 46,
            share in -82.0..-40.0f64,
        ) {
            let share = Log2Prob::from_log2(share);
            let bits = bits(comparisons, share).unwrap();
            prop_assert!(collision(comparisons, bits) <= share);
            prop_assert!(collision(comparisons, bits - 1) > share);
        }
    }
}
