//! Length of the digests that represent items.
//!
//! Both parties map their items to digests under a salt that both contributed to after the inputs
//! were fixed. Two different items with one digest, be it in one set or one in each, would lose an
//! item or add a false match: all pairs of the union count. The bound models the salted hash as a
//! random function of the salt's choice; it does not cover a party that knows the salt before it
//! chooses its items.

use crate::{Error, Log2Prob, Sizes};

/// The digest lengths that exist, in bytes.
const LENGTHS: [usize; 2] = [16, 32];

/// Returns the length in bytes, 16 or 32, of the shortest digest that keeps collisions within
/// `share`.
///
/// # Errors
/// [`Error::Unreachable`] if 32 bytes are not enough.
pub fn bytes(sizes: Sizes, share: Log2Prob) -> Result<usize, Error> {
    bytes_among(sizes.union(), share)
}

/// Returns the length, in bytes, for this number of items of both parties together.
///
/// # Errors
/// As [`bytes`].
pub fn bytes_among(items: u64, share: Log2Prob) -> Result<usize, Error> {
    LENGTHS
        .into_iter()
        .find(|&bytes| collision_among(items, bytes) <= share)
        .ok_or(Error::Unreachable {
            parameter: "digest length",
            share,
        })
}

/// Returns a bound on two different items of the union having the same digest of `bytes` bytes.
pub fn collision(sizes: Sizes, bytes: usize) -> Log2Prob {
    collision_among(sizes.union(), bytes)
}

/// Bounds a collision among N items, which make N(N-1)/2 pairs.
pub fn collision_among(items: u64, bytes: usize) -> Log2Prob {
    let items = u128::from(items);
    let pairs = items * items.saturating_sub(1) / 2;
    Log2Prob::from_log2(-8.0 * bytes as f64).times(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_every_pair_of_the_union() {
        let sizes = Sizes::new(3, 2).unwrap();
        assert!((collision(sizes, 16).log2() - (10f64.log2() - 128.0)).abs() < 1e-12);
        assert_eq!(collision(Sizes::new(1, 0).unwrap(), 16), Log2Prob::ZERO);
        assert_eq!(collision(Sizes::new(0, 0).unwrap(), 16), Log2Prob::ZERO);
    }

    #[test]
    fn takes_the_shortest_that_fits() {
        let share = |bits: f64| Log2Prob::from_log2(-bits);
        let largest = Sizes::new(Sizes::MAX_AT_ONCE, Sizes::MAX_AT_ONCE).unwrap();
        assert_eq!(bytes(largest, share(43.0)), Ok(16));
        assert_eq!(bytes(largest, share(83.0)), Ok(32));
        let small = Sizes::new(1 << 20, 1 << 20).unwrap();
        assert_eq!(bytes(small, share(83.0)), Ok(16));
        assert!(bytes(small, Log2Prob::ZERO).is_err());
    }
}
