//! What the receiver received.

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

impl Received {
    /// What goes to standard output; `None` for rows and shares, which are written as they are
    /// found, and to files.
    pub(crate) fn text(&self) -> Option<String> {
        match self {
            Self::Rows { .. } | Self::Shares { .. } => None,
            Self::Count(count) => Some(count.to_string()),
            Self::Threshold { reached: true, .. } => Some("reached".to_owned()),
            Self::Threshold { reached: false, .. } => Some("not reached".to_owned()),
            Self::Sums(sums) => Some(match &sums[..] {
                [only] => only.value.to_string(),
                _ => {
                    let line = |sum: &Sum| format!("{}\t{}", sum.column.name, sum.value);
                    sums.iter().map(line).collect::<Vec<_>>().join("\n")
                }
            }),
        }
    }
}
