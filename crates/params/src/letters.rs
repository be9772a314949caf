//! Letters of a representation: the number of bytes for an item that is compared by 1-out-of-256
//! OTs, one for each byte (PSZ14 §5, Appendix A).
//!
//! A long item is first mapped to a short string by a random function. Two different items with
//! the same string are taken for one item, which happens with probability 256^-t for a pair that
//! is compared. PSZ14 (Appendix A) counts all pairs of the parties' items, PSZ14 (§6.1, note 7)
//! and PSSZ15 only those that meet in a bin.

use crate::{Error, Log2Prob};

/// Bits of a letter.
pub const BITS: u32 = 8;

/// The most letters of an item: those of a 128-bit digest.
pub const MAX: usize = 16;

/// Returns the fewest letters, at least one, with which none of `comparisons` pairs of different
/// items has the same string, except with a probability of at most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if [`MAX`] are not enough.
pub fn fewest(comparisons: u128, share: Log2Prob) -> Result<usize, Error> {
    (1..=MAX)
        .find(|&letters| collision(comparisons, letters) <= share)
        .ok_or(Error::Unreachable {
            parameter: "number of letters",
            share,
        })
}

/// Returns a bound on any of `comparisons` pairs of different items having the same random string.
pub fn collision(comparisons: u128, letters: usize) -> Log2Prob {
    Log2Prob::from_log2(-f64::from(BITS) * letters as f64).times(comparisons)
}

/// Returns the letters that spell an item of `bits` bits.
pub fn of_bits(bits: u32) -> usize {
    bits.div_ceil(BITS).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fewest_at(comparisons_log2: u32, share_log2: f64) -> usize {
        fewest(1 << comparisons_log2, Log2Prob::from_log2(share_log2)).unwrap()
    }

    /// PSZ14, Appendix A: strings of 79 bits for 10^6 items at 2^-40 (pairs of one set), and
    /// 59 at 2^-20.
    #[test]
    fn reproduces_psz14_appendix_a() {
        let pairs = 1_000_000_u128 * 1_000_000 / 2;
        for (share, bits) in [(-40.0, 79), (-20.0, 59)] {
            let share = Log2Prob::from_log2(share);
            let letters = fewest(pairs, share).unwrap();
            assert_eq!(letters, of_bits(bits));
            let exact = (pairs as f64).log2() - share.log2();
            assert_eq!(exact.ceil() as u32, bits);
        }
    }

    /// KKRT16 §5.2: σ + 2·log2(n) bits for all pairs, σ + log2(n) for those that meet in a bin.
    #[test]
    fn lengths_at_several_sizes() {
        assert_eq!(
            [8, 12, 16, 20, 24].map(|n| fewest_at(2 * n, -40.0)),
            [7, 8, 9, 10, 11]
        );
        assert_eq!(
            [8, 12, 16, 20, 24].map(|n| fewest_at(n, -40.0)),
            [6, 7, 7, 8, 8]
        );
    }

    #[test]
    fn there_is_a_letter_even_for_nothing_and_an_end() {
        assert_eq!(fewest(0, Log2Prob::from_log2(-40.0)), Ok(1));
        assert_eq!([0, 1, 8, 9, 32].map(of_bits), [1, 1, 1, 2, 4]);
        assert!(fewest(1 << 60, Log2Prob::from_log2(-80.0)).is_err());
        assert_eq!(fewest_at(48, -80.0), MAX);
    }
}
