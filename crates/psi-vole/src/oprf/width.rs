//! The number of bits of a store's values.

use psijoin_block::tower::{Element, Gf64, Tower};
use psijoin_params::Log2Prob;

/// The bits of B: a part of F = GF(2^128), or all of it; up to 64, within the subfield GF(2^64).
///
/// Each is compiled for itself, so there are only those that pay: at σ = 40, for `rr22` with up to
/// 3/4 of 2^18 and 2^21 items and for more in one run, for sessions in parts of up to 2^24, 2^27
/// and 10^9 items, and what parties who may cheat need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Width {
    Bits58,
    Bits61,
    Bits64,
    Bits66,
    Bits68,
    Bits72,
    Bits80,
    Bits128,
}

impl Width {
    pub(crate) const ALL: [Self; 8] = [
        Self::Bits58,
        Self::Bits61,
        Self::Bits64,
        Self::Bits66,
        Self::Bits68,
        Self::Bits72,
        Self::Bits80,
        Self::Bits128,
    ];

    /// Returns the fewest bits, of at least `least`, at which the sender's items stay out of the
    /// store except with probability `share`; or else all bits.
    pub(crate) fn narrowest(least: u32, sender_items: u64, share: Log2Prob) -> Self {
        let suffices =
            |width: &Self| width.bits() >= least && width.dictionary(sender_items) <= share;
        Self::ALL
            .into_iter()
            .find(suffices)
            .unwrap_or(Self::Bits128)
    }

    /// Returns the fewest bits, of at least `least`, at which numbers can be sent; `least` is at
    /// most 128.
    pub(crate) fn holding(least: u32) -> Self {
        let holds = |width: &Self| width.bits() >= least;
        Self::ALL.into_iter().find(holds).unwrap_or(Self::Bits128)
    }

    /// Returns log2|B|.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Bits58 => 58,
            Self::Bits61 => 61,
            Self::Bits64 => Gf64::BITS,
            Self::Bits66 => 66,
            Self::Bits68 => 68,
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
    ($width:expr, $base:ident => $expression:expr) => {{
        use psijoin_block::tower;
        match $width {
            $crate::oprf::Width::Bits58 => {
                type $base = tower::Subspace<tower::Gf64, 58>;
                $expression
            }
            $crate::oprf::Width::Bits61 => {
                type $base = tower::Subspace<tower::Gf64, 61>;
                $expression
            }
            $crate::oprf::Width::Bits64 => {
                type $base = tower::Gf64;
                $expression
            }
            $crate::oprf::Width::Bits66 => {
                type $base = tower::Subspace<tower::Tower, 66>;
                $expression
            }
            $crate::oprf::Width::Bits68 => {
                type $base = tower::Subspace<tower::Tower, 68>;
                $expression
            }
            $crate::oprf::Width::Bits72 => {
                type $base = tower::Subspace<tower::Tower, 72>;
                $expression
            }
            $crate::oprf::Width::Bits80 => {
                type $base = tower::Subspace<tower::Tower, 80>;
                $expression
            }
            $crate::oprf::Width::Bits128 => {
                type $base = tower::Tower;
                $expression
            }
        }
    }};
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
