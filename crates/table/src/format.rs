use std::path::Path;

use crate::Error;

/// The endings of file names that tell a format.
pub(crate) const ENDINGS: &str = ".csv, .tsv, .txt and .parquet";

/// How a table is laid out in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with a header line (RFC 4180).
    Csv,
    /// The same with tabs in place of commas.
    Tsv,
    /// Text with one value a line and no header.
    Lines,
    /// Apache Parquet.
    Parquet,
}

impl Format {
    /// The format that a file name's ending tells, in upper or lower case.
    pub(crate) fn of_ending(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "txt" => Self::Lines,
            "parquet" => Self::Parquet,
            _ => return None,
        })
    }

    /// The format of an input file by its name: the ending's; [`Format::Lines`] for a file
    /// without an ending (as word lists are) if the key is not named.
    pub(crate) fn of_input(path: &Path, keyed: bool) -> Result<Self, Error> {
        match Self::of_ending(path) {
            Some(format) => Ok(format),
            None if path.extension().is_none() && !keyed => Ok(Self::Lines),
            None => Err(Error::InputEnding {
                file: path.display().to_string(),
            }),
        }
    }

    /// The format of an input without a name: CSV if the key is named, else lines.
    pub(crate) fn of_stream(keyed: bool) -> Self {
        if keyed { Self::Csv } else { Self::Lines }
    }

    /// Whether what the table gives as its columns are names for sure, and no values, as those of
    /// a text that has no header.
    pub(crate) fn are_columns_names(self) -> bool {
        match self {
            Self::Csv | Self::Tsv => false,
            Self::Lines | Self::Parquet => true,
        }
    }

    /// How records are told apart in a text; `None` for Parquet, which is no text.
    pub(crate) fn dialect(self) -> Option<Dialect> {
        match self {
            Self::Csv => Some(Dialect::Delimited(b',')),
            Self::Tsv => Some(Dialect::Delimited(b'\t')),
            Self::Lines => Some(Dialect::Lines),
            Self::Parquet => None,
        }
    }
}

/// How records and fields are told apart in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// Fields separated by this byte, with quotes and a header.
    Delimited(u8),
    /// Each line is a field of its own.
    Lines,
}
