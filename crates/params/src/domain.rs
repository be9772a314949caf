//! Bits of the numbers that represent items in a circuit (PSZ14 Appendix A: hashing to a smaller
//! domain).
//!
//! The gates of a circuit grow with the bits of its numbers, so items are first mapped to short
//! numbers by a random function. Within a set as well as between the sets, different items must
//! have different numbers. None may have the number 0, which means no item. So 0 counts as one more
//! item: of N items, N(N + 1)/2 pairs are distinct.

use crate::{Error, Log2Prob, Sizes, search};

/// The most bits: those of a short digest.
pub const MAX_BITS: u32 = 128;

/// Returns the fewest bits at which all items, and 0, are distinct, except with a probability of at
/// most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if [`MAX_BITS`] are not enough.
pub fn bits(sizes: Sizes, share: Log2Prob) -> Result<u32, Error> {
    search::least(1..=MAX_BITS.into(), |bits| {
        collision(sizes, bits as u32) <= share
    })
    .map(|bits| bits as u32)
    .ok_or(Error::Unreachable {
        parameter: "bits of an item in a circuit",
        share,
    })
}

/// Returns a bound on two different items having the same number of `bits` bits, or one the number
/// 0.
pub fn collision(sizes: Sizes, bits: u32) -> Log2Prob {
    let items = u128::from(sizes.union());
    Log2Prob::from_log2(-f64::from(bits)).times(items * (items + 1) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// PSZ14, Appendix A: 79 bits for 10^6 items at 2^-40, and 59 at 2^-20, where the pairs of
    /// one set are counted.
    #[test]
    fn reproduces_psz14_appendix_a() {
        let sizes = Sizes::new(500_000, 500_000).unwrap();
        let bits_at = |log2| bits(sizes, Log2Prob::from_log2(log2)).unwrap();
        assert_eq!([bits_at(-40.0), bits_at(-20.0)], [79, 59]);
    }

    #[test]
    fn two_more_bits_for_items_of_both_sets() {
        let share = Log2Prob::from_log2(-40.0);
        let at = |n| bits(Sizes::new(n, n).unwrap(), share).unwrap();
        assert_eq!(
            [8, 12, 16, 20, 24].map(|log| at(1 << log)),
            [58, 66, 74, 82, 90]
        );
        let most = Sizes::new(Sizes::MAX_AT_ONCE, Sizes::MAX_AT_ONCE).unwrap();
        assert!(bits(most, Log2Prob::from_log2(-80.0)).is_err());
    }

    #[test]
    fn even_a_single_item_must_not_be_zero() {
        let one = Sizes::new(1, 0).unwrap();
        assert_eq!(bits(one, Log2Prob::from_log2(-40.0)), Ok(40));
        assert!(collision(one, 39) > Log2Prob::from_log2(-40.0));
    }
}
