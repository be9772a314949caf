use std::{fmt, path::Path};

use crate::Compression;

/// The name of the only column of a file of lines.
pub const LINE_COLUMN: &str = "value";

/// The beginning of an Arrow file, unless it is a stream.
pub(crate) const ARROW_FILE: &[u8] = b"ARROW1";

/// The beginning of a stream of Arrow: the mark of a message.
pub(crate) const ARROW_MESSAGE: &[u8] = &[0xff; 4];

/// The layout of a table in a file.
///
/// Exhaustive: who writes tables has a way for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with quotes and a header line (RFC 4180), or another
    /// [`Dialect`](crate::Dialect).
    Csv,
    /// Tab-separated values without quotes, with a header line (IANA
    /// `text/tab-separated-values`), or another
    /// [`Dialect`](crate::Dialect).
    Tsv,
    /// Text with one value per line and no header.
    Lines,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's own format (IPC), as a file, which is also called Feather, or as a stream.
    Arrow,
}

impl Format {
    /// The endings of file names for each format, in words.
    pub const ENDINGS: &str = ".csv, .tsv, .txt, .parquet and .arrow (or .feather, .ipc), and of texts also with .gz or .zst \
         behind, as in .csv.gz";

    /// All formats.
    pub const ALL: &[Self] = &[
        Self::Csv,
        Self::Tsv,
        Self::Lines,
        Self::Parquet,
        Self::Arrow,
    ];

    /// Returns its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Lines => "lines",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// Returns the format of a file name's ending, in upper or lower case; for a compressed text,
    /// of the ending before the last.
    pub fn of_ending(path: &Path) -> Option<Self> {
        let ending = decompressed(path)
            .extension()?
            .to_str()?
            .to_ascii_lowercase();
        Some(match ending.as_str() {
            "csv" => Self::Csv,
            "tsv" => Self::Tsv,
            "txt" => Self::Lines,
            // Its columns are compressed within.
            "parquet" if Compression::of_ending(path).is_none() => Self::Parquet,
            "arrow" | "feather" | "ipc" if Compression::of_ending(path).is_none() => Self::Arrow,
            _ => return None,
        })
    }

    /// Returns the format that the first bytes show, if it is not text.
    pub(crate) fn of_beginning(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"PAR1") || bytes.starts_with(b"PARE") {
            Some(Self::Parquet)
        } else if bytes.starts_with(ARROW_FILE)
            || bytes.starts_with(ARROW_MESSAGE)
            || is_old_stream(bytes)
        {
            Some(Self::Arrow)
        } else {
            None
        }
    }

    /// Returns whether a file's name has no ending, as those of word lists.
    pub fn is_without_ending(path: &Path) -> bool {
        decompressed(path).extension().is_none()
    }

    /// Returns whether it is text, and so written in some dialect.
    pub fn is_text(self) -> bool {
        !matches!(self, Self::Parquet | Self::Arrow)
    }
}

/// Returns whether these are the first bytes of a stream of Arrow before 0.15, which had no mark:
/// the length of the first message, and where its table begins.
fn is_old_stream(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, _, 0, 8..=64, 0, 0, 0, ..]) && bytes[..3] != [0; 3]
}

/// Returns the name of a file, without the ending for its compression.
fn decompressed(path: &Path) -> &Path {
    match (Compression::of_ending(path), path.file_stem()) {
        (Some(_), Some(stem)) => Path::new(stem),
        _ => path,
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Csv => "CSV",
            Self::Tsv => "TSV",
            Self::Lines => "lines",
            Self::Parquet => "Parquet",
            Self::Arrow => "Arrow",
        })
    }
}
