//! Letters of a representation: an item is compared by 1-out-of-2^η OTs, one for each letter of η
//! bits (PSZ14 §5, Appendices A and C.3).
//!
//! A long item is first mapped to a short string by a random function. Two different items with
//! the same string are taken for one item, which happens with probability 2^-ηt for a pair that is
//! compared by t letters. PSZ14 (Appendix A) counts all pairs of the parties' items, PSZ14 (§6.1,
//! note 7) and PSSZ15 only those that meet in a bin.

use crate::{Error, Log2Prob};

/// The most bits of a letter, with which the fewest bytes are sent: a code of 256 bits separates
/// this many letters by 128 bits, and any smaller number, too.
pub const BITS: u32 = 8;

/// The most bits that an item is spelled by: those of a 128-bit digest.
pub const WORD_BITS: u32 = 128;

/// Returns the fewest letters of `letter_bits` bits, at least one, with which none of
/// `comparisons` pairs of different items has the same string, except with a probability of at
/// most `share`.
///
/// # Errors
/// [`Error::Unreachable`] if [`WORD_BITS`] are not enough.
pub fn fewest(comparisons: u128, letter_bits: u32, share: Log2Prob) -> Result<usize, Error> {
    let most = (WORD_BITS / letter_bits) as usize;
    (1..=most)
        .find(|&letters| collision(comparisons, letters, letter_bits) <= share)
        .ok_or(Error::Unreachable {
            parameter: "number of letters",
            share,
        })
}

/// Returns a bound on any of `comparisons` pairs of different items having the same random string.
pub fn collision(comparisons: u128, letters: usize, letter_bits: u32) -> Log2Prob {
    Log2Prob::from_log2(-f64::from(letter_bits) * letters as f64).times(comparisons)
}

/// Returns the letters of `letter_bits` bits that spell an item of `bits` bits.
pub fn of_bits(bits: u32, letter_bits: u32) -> usize {
    bits.div_ceil(letter_bits).max(1) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST_LETTERS: usize = (WORD_BITS / BITS) as usize;

    fn fewest_at(comparisons_log2: u32, share_log2: f64) -> usize {
        let share = Log2Prob::from_log2(share_log2);
        fewest(1 << comparisons_log2, BITS, share).unwrap()
    }

    /// PSZ14, Appendix A: strings of 79 bits for 10^6 items at 2^-40 (pairs of one set), and
    /// 59 at 2^-20.
    #[test]
    fn reproduces_psz14_appendix_a() {
        let pairs = 1_000_000_u128 * 1_000_000 / 2;
        for (share, bits) in [(-40.0, 79), (-20.0, 59)] {
            let share = Log2Prob::from_log2(share);
            let letters = fewest(pairs, BITS, share).unwrap();
            assert_eq!(letters, of_bits(bits, BITS));
            // Letters of a bit spell exactly as many bits as are needed.
            assert_eq!(fewest(pairs, 1, share), Ok(bits as usize));
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
        assert_eq!(fewest(0, BITS, Log2Prob::from_log2(-40.0)), Ok(1));
        let of_bytes = [0, 1, 8, 9, 32].map(|bits| of_bits(bits, BITS));
        assert_eq!(of_bytes, [1, 1, 1, 2, 4]);
        assert_eq!(
            [1, 2, 3, 7].map(|width| of_bits(32, width)),
            [32, 16, 11, 5]
        );
        for width in [1, 3, BITS] {
            assert!(fewest(1 << 60, width, Log2Prob::from_log2(-80.0)).is_err());
        }
        assert_eq!(fewest_at(48, -80.0), MOST_LETTERS);
    }
}
