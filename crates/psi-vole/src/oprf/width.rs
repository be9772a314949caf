//! The number of bits of a store's values.

use psijoin_block::tower::{Element, Gf64, Tower};
use psijoin_params::Log2Prob;

/// The bits of B: the subfield GF(2^64), a part of F = GF(2^128), or all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Width {
    Bits64,
    Bits72,
    Bits80,
    Bits128,
}

impl Width {
    pub(crate) const ALL: [Self; 4] = [Self::Bits64, Self::Bits72, Self::Bits80, Self::Bits128];

    /// Returns the fewest bits, of at least `least`, at which the sender's items stay out of the
    /// store except with probability `share`; or else all bits.
    pub(crate) fn narrowest(least: Self, sender_items: u64, share: Log2Prob) -> Self {
        let suffices = |width: &Self| *width >= least && width.dictionary(sender_items) <= share;
        Self::ALL
            .into_iter()
            .find(suffices)
            .unwrap_or(Self::Bits128)
    }

    /// Returns the fewest bits that are at least this many.
    ///
    /// # Panics
    /// If that is more than 128.
    pub(crate) fn of_bits(least: u32) -> Self {
        let suffices = |width: &Self| width.bits() >= least;
        let found = Self::ALL.into_iter().find(suffices);
        found.expect("B has at most 128 bits")
    }

    /// Returns log2|B|.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Bits64 => Gf64::BITS,
            Self::Bits72 => 72,
            Self::Bits80 => 80,
            Self::Bits128 => Tower::BITS,
        }
    }

    /// Returns a bound on the event that any item of the sender decodes to its own value though the
    /// receiver does not have it: each does with probability 1/|B| (claim 1 of `docs/rr22.md`).
    pub(crate) fn dictionary(self, sender_items: u64) -> Log2Prob {
        Log2Prob::from_log2(-f64::from(self.bits())).times(sender_items.into())
    }
}

/// An expression for the B of a [`Width`]: `over_base!(width, B => of::<B>())`.
macro_rules! over_base {
    ($width:expr, $base:ident => $expression:expr) => {
        match $width {
            $crate::oprf::Width::Bits64 => {
                type $base = psijoin_block::tower::Gf64;
                $expression
            }
            $crate::oprf::Width::Bits72 => {
                type $base = psijoin_block::tower::Subspace<72>;
                $expression
            }
            $crate::oprf::Width::Bits80 => {
                type $base = psijoin_block::tower::Subspace<80>;
                $expression
            }
            $crate::oprf::Width::Bits128 => {
                type $base = psijoin_block::tower::Tower;
                $expression
            }
        }
    };
}
pub(crate) use over_base;

#[cfg(test)]
mod tests {
    use psijoin_ot::vole::Base;

    use super::*;

    #[test]
    fn types_have_the_bits_that_widths_say() {
        fn bits<B: Base>() -> u32 {
            B::BITS
        }
        for width in Width::ALL {
            assert_eq!(over_base!(width, B => bits::<B>()), width.bits());
        }
    }
}
