//! Width of a pseudorandom code.
//!
//! KKRT16, Lemma 1 and 2: code words are outputs of a random function. The receiver learns nothing
//! about the sender's value for another item as long as the code words of both items differ in at
//! least κ places; for a given pair that fails with probability 2^-k Σ_{i<κ} C(k, i) at width k,
//! and the sender evaluates many. SpOT19 (Proposition 2) has the same sum for the distance between
//! polynomial and target.

use crate::{Error, Log2Prob, Security, binomial, search::least};

/// Widths are searched up to here.
const MAX_WIDTH_BITS: u32 = 1 << 14;

/// Returns the smallest width k, in bits, at which all of the sender's `evaluations` are far from
/// what the receiver knows, except with a probability of at most `share`.
///
/// `evaluations` is the number of values that the sender computes: for KKRT16 (3 + s)·n
/// with stash s, for SpOT19 n (`spot_low`) or 2n (`spot_fast`), with n the sender's items.
/// The width is at least κ, also for none. It is not rounded to bytes.
///
/// # Errors
/// [`Error::Unreachable`] if `share` is zero or absurdly small.
pub fn width_bits(evaluations: u64, share: Log2Prob) -> Result<u32, Error> {
    smallest_width(|width| near_collision(width, evaluations) <= share).ok_or(Error::Unreachable {
        parameter: "code width",
        share,
    })
}

/// Returns a bound on any of `evaluations` code words of `width_bits` being nearer than κ to the
/// one word that the receiver knows in its place.
pub fn near_collision(width_bits: u32, evaluations: u64) -> Log2Prob {
    binomial::tail(width_bits, Security::COMPUTATIONAL_BITS).times(evaluations.into())
}

/// Returns the smallest width from κ up that `suffices`, which must not fail again above it.
pub(crate) fn smallest_width(suffices: impl Fn(u32) -> bool) -> Option<u32> {
    let widths = Security::COMPUTATIONAL_BITS.into()..=MAX_WIDTH_BITS.into();
    least(widths, |width| suffices(width as u32)).map(|width| width as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn width(evaluations: u64, statistical_bits: u32) -> u32 {
        width_bits(
            evaluations,
            Security::new(statistical_bits).unwrap().failure(),
        )
        .unwrap()
    }

    /// KKRT16, Table 2: column k, with the stash sizes of column s.
    #[test]
    fn reproduces_kkrt16_table_2() {
        let rows = [
            (8, 12, 419, 424),
            (12, 6, 426, 432),
            (16, 4, 433, 440),
            (20, 3, 441, 448),
            (24, 2, 448, 448),
        ];
        for (log_n, stash, exact, published) in rows {
            let bits = width((3 + stash) << log_n, 40);
            assert_eq!(
                (bits, bits.next_multiple_of(8)),
                (exact, published),
                "n = 2^{log_n}"
            );
        }
    }

    /// SpOT19, Figure 6: κ = 128, both rows.
    #[test]
    fn reproduces_spot19_figure_6() {
        let rows = [
            (40, [416, 420, 424, 428, 432, 436, 440, 444]),
            (80, [491, 495, 498, 502, 505, 509, 512, 515]),
        ];
        for (statistical_bits, published) in rows {
            let widths: Vec<u32> = (10..=24)
                .step_by(2)
                .map(|log_n| width(1 << log_n, statistical_bits))
                .collect();
            assert_eq!(widths, published);
        }
    }

    /// SpOT19, Theorem 5: the fast variant evaluates 2n.
    #[test]
    fn reproduces_the_widths_of_spot_fast() {
        assert_eq!(
            [17, 21, 25].map(|log_2n| width(1 << log_2n, 40)),
            [430, 438, 446]
        );
    }

    #[test]
    fn no_evaluation_needs_no_more_than_the_distance() {
        assert_eq!(width(0, 40), Security::COMPUTATIONAL_BITS);
    }

    #[test]
    fn an_impossible_share_is_an_error() {
        let error = width_bits(1, Log2Prob::ZERO).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Unreachable {
                    parameter: "code width",
                    ..
                }
            ),
            "{error}"
        );
    }

    proptest! {
        #[test]
        fn is_the_smallest_width_that_suffices(
            evaluations in 1u64..19 << 26,
            statistical_bits in 40u32..=80,
        ) {
            let share = Security::new(statistical_bits).unwrap().failure();
            let bits = width(evaluations, statistical_bits);
            prop_assert!(near_collision(bits, evaluations) <= share);
            prop_assert!(near_collision(bits - 1, evaluations) > share);
        }
    }
}
