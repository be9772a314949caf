use std::{fmt, str::FromStr};

use crate::WriteError;

/// The rows of a table that are written once the shared ones are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WhichRows {
    /// Those whose key is shared.
    #[default]
    Shared,
    /// All others: those whose key is not shared, and those without a key, which match nothing.
    Unshared,
    /// All, with a column of booleans that marks the shared ones.
    All,
}

impl WhichRows {
    /// Each of them.
    pub const EACH: [Self; 3] = [Self::Shared, Self::Unshared, Self::All];
}

impl fmt::Display for WhichRows {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Shared => "shared",
            Self::Unshared => "unshared",
            Self::All => "all",
        })
    }
}

impl FromStr for WhichRows {
    type Err = WriteError;

    fn from_str(text: &str) -> Result<Self, WriteError> {
        let mut each = Self::EACH.into_iter();
        each.find(|which| which.to_string() == text)
            .ok_or_else(|| WriteError::UnknownRows(text.to_owned()))
    }
}
