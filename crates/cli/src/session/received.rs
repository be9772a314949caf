//! What the receiver received.

use std::fmt;

use crate::columns::Sum;

/// What the receiver received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Received {
    /// Which keys are shared.
    Rows {
        shared_keys: u64,
        /// `None` if the reader of the output went away before all was written.
        rows: Option<u64>,
    },
    /// How many are.
    Count(u64),
    /// Whether at least so many are.
    Threshold { least: u64, reached: bool },
    /// What columns add up to over them.
    Sums(Vec<Sum>),
    /// Shares of both, at so many places.
    Shares { places: u64 },
}

/// What goes to standard output, but for rows and shares, which are written to files.
impl fmt::Display for Received {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Rows {
                shared_keys: number,
                ..
            }
            | Self::Count(number)
            | Self::Shares { places: number } => number.fmt(f),
            Self::Threshold { reached: true, .. } => f.write_str("reached"),
            Self::Threshold { reached: false, .. } => f.write_str("not reached"),
            Self::Sums(sums) => match &sums[..] {
                [only] => only.value.fmt(f),
                _ => {
                    let line = |sum: &Sum| format!("{}\t{}", sum.column.name, sum.value);
                    let lines: Vec<_> = sums.iter().map(line).collect();
                    f.write_str(&lines.join("\n"))
                }
            },
        }
    }
}
