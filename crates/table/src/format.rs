use std::{fmt, path::Path};

use crate::{
    Compression, Dialect, Error,
    dialect::{Delimited, Layout},
    ipc,
};

/// The endings of file names that tell a format.
pub(crate) const ENDINGS: &str = ".csv, .tsv, .txt, .parquet and .arrow (or .feather, .ipc), and of texts also with .gz or .zst \
     behind, as in .csv.gz";

/// How a table is laid out in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Comma-separated values with quotes and a header line (RFC 4180), or another [`Dialect`].
    Csv,
    /// Tab-separated values without quotes, with a header line (IANA
    /// `text/tab-separated-values`), or another [`Dialect`].
    Tsv,
    /// Text with one value a line and no header.
    Lines,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow's own format (IPC), as a file, which is also called Feather, or as a stream.
    Arrow,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] = [
        Self::Csv,
        Self::Tsv,
        Self::Lines,
        Self::Parquet,
        Self::Arrow,
    ];

    /// Its name on a command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Tsv => "tsv",
            Self::Lines => "lines",
            Self::Parquet => "parquet",
            Self::Arrow => "arrow",
        }
    }

    /// The format that a file name's ending tells, in upper or lower case; of a compressed text
    /// the ending before the last.
    pub(crate) fn of_ending(path: &Path) -> Option<Self> {
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

    /// The format that the first bytes tell, if it is no text.
    pub(crate) fn of_beginning(bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"PAR1") || bytes.starts_with(b"PARE") {
            Some(Self::Parquet)
        } else if bytes.starts_with(ipc::MAGIC) || bytes.starts_with(ipc::CONTINUATION) {
            Some(Self::Arrow)
        } else {
            None
        }
    }

    /// Whether a file's name tells no format as it has no ending, as those of word lists.
    pub(crate) fn is_without_ending(path: &Path) -> bool {
        decompressed(path).extension().is_none()
    }

    /// The format of an input file by its name: the ending's; for another ending, or none,
    /// [`Format::Csv`] if something is said of its delimiter, quote or header; [`Format::Lines`] for a file without
    /// an ending (as word lists are) if the key is not named.
    pub(crate) fn of_input(path: &Path, dialect: &Dialect, keyed: bool) -> Result<Self, Error> {
        match Self::of_ending(path) {
            Some(format) => Ok(format),
            None if !dialect.is_layout_default() => Ok(Self::Csv),
            None if Self::is_without_ending(path) && !keyed => Ok(Self::Lines),
            None => Err(Error::InputEnding {
                file: path.display().to_string(),
            }),
        }
    }

    /// The format of an input without a name: CSV if the key is named or something is said of its
    /// delimiter, quote or header, else lines.
    pub(crate) fn of_stream(dialect: &Dialect, keyed: bool) -> Self {
        match keyed || !dialect.is_layout_default() {
            true => Self::Csv,
            false => Self::Lines,
        }
    }

    /// How this format is written unless something else is said; `None` for Parquet and Arrow, which
    /// are no texts.
    pub(crate) fn layout(self) -> Option<Layout> {
        match self {
            Self::Csv => Some(Layout::Delimited(Delimited::CSV)),
            Self::Tsv => Some(Layout::Delimited(Delimited::TSV)),
            Self::Lines => Some(Layout::Lines),
            Self::Parquet | Self::Arrow => None,
        }
    }

    /// How a table of this format is written, given what is said of it. `file` stands for it in
    /// errors.
    pub(crate) fn layout_with(
        self,
        dialect: &Dialect,
        file: &str,
    ) -> Result<Option<Layout>, Error> {
        match self.layout() {
            Some(Layout::Delimited(usual)) => Ok(Some(Layout::Delimited(dialect.over(usual)?))),
            Some(Layout::Lines) if dialect.is_layout_default() => Ok(Some(Layout::Lines)),
            None if dialect.is_default() => Ok(None),
            _ => Err(Error::NoDialect {
                file: file.to_owned(),
                format: self,
            }),
        }
    }
}

/// The name of a file, without the ending that says how it is compressed.
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
