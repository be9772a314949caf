//! The papers.

use std::{fmt, str::FromStr};

/// A paper whose tables are here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Paper {
    /// Pinkas, Schneider, Zohner.
    Psz14,
    /// Kolesnikov, Kumaresan, Rosulek, Trieu.
    Kkrt16,
    /// Pinkas, Rosulek, Trieu, Yanai.
    Spot19,
    /// Chase, Miao.
    Cm20,
    /// Karakoç, Küpçü.
    Kk20,
}

impl Paper {
    const ALL: [Self; 5] = [
        Self::Psz14,
        Self::Kkrt16,
        Self::Spot19,
        Self::Cm20,
        Self::Kk20,
    ];

    /// Returns its short name: `SpOT19`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Psz14 => "PSZ14",
            Self::Kkrt16 => "KKRT16",
            Self::Spot19 => "SpOT19",
            Self::Cm20 => "CM20",
            Self::Kk20 => "KK20",
        }
    }

    /// Authors, title, conference.
    pub fn citation(self) -> &'static str {
        match self {
            Self::Psz14 => {
                "B. Pinkas, T. Schneider, M. Zohner: Faster Private Set Intersection Based on OT Extension. \
                 USENIX Security 2014"
            }
            Self::Kkrt16 => {
                "V. Kolesnikov, R. Kumaresan, M. Rosulek, N. Trieu: Efficient Batched Oblivious PRF with \
                 Applications to Private Set Intersection. CCS 2016"
            }
            Self::Spot19 => {
                "B. Pinkas, M. Rosulek, N. Trieu, A. Yanai: SpOT-Light: Lightweight Private Set Intersection from \
                 Sparse OT Extension. CRYPTO 2019"
            }
            Self::Cm20 => {
                "M. Chase, P. Miao: Private Set Intersection in the Internet Setting from Lightweight Oblivious PRF. \
                 CRYPTO 2020"
            }
            Self::Kk20 => {
                "F. Karakoç, A. Küpçü: Linear Complexity Private Set Intersection for Secure Two-Party Protocols. \
                 CANS 2020"
            }
        }
    }
}

impl fmt::Display for Paper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Paper {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|paper| paper.name() == text);
        known.ok_or("no such paper")
    }
}
