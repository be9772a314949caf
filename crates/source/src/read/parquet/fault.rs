//! Faults of Parquet files.

use psijoin_printable::Quoted;

/// A fault of a Parquet file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ParquetFault {
    /// It does not end as Parquet files do.
    #[error("its end is missing: it is cut off, or no Parquet file (get it again)")]
    CutOff,
    /// The description of its columns and rows makes no sense.
    #[error(
        "its footer, which describes its columns and rows, is damaged or written wrongly (get it \
         again, or write it again with another program)"
    )]
    Footer,
    /// It has no columns.
    #[error("it has no columns")]
    NoColumns,
    /// Its rows do not fit their description.
    #[error("its columns hold other types than its footer says (write it again, or get it again)")]
    Types,
    /// It has a part of the format that is not read.
    #[error(
        "it is written in a way that is not supported (write it again with another program, or \
         its default settings)"
    )]
    Unsupported,
    /// A column is compressed with LZO.
    #[error(
        "its column {} is compressed with LZO, which is not supported (compress it with \
         Zstandard, Snappy, gzip, LZ4 or Brotli, or not at all)",
        Quoted(.column)
    )]
    Lzo {
        /// The column, which is one that is needed.
        column: String,
    },
    /// A column has a type that is not known.
    #[error(
        "its column {} holds {kind}, a type that is not known (cast it to a decimal or to text, or leave it out)",
        Quoted(.column)
    )]
    UnknownType {
        /// The column, which is one that is needed.
        column: String,
        /// Its type.
        kind: String,
    },
    /// A column is written in a way that is not known, perhaps by a later version of the format.
    #[error(
        "its column {} is {form} that is not known (write it again with usual settings, or leave it out)",
        Quoted(.column)
    )]
    UnknownForm {
        /// The column, which is one that is needed.
        column: String,
        /// The form in which it is written.
        form: String,
    },
    /// A page is not what was written.
    #[error("the checksum of a page does not fit: the page is damaged (get the file again)")]
    Checksum,
    /// The row groups do not have the number of rows in the footer.
    #[error(
        "its row groups have other rows together than its footer says (write it again, or get it again)"
    )]
    Rows,
    /// A header contradicts another, or the footer.
    #[error("its column {} {contradiction} (write the file again, or get it again)", Quoted(.column))]
    Contradiction {
        /// The column, which is one that is needed.
        column: String,
        /// The contradiction.
        contradiction: &'static str,
    },
    /// A column holds timestamps of 96 bits for which no timestamp of 64 bits has room.
    #[error(
        "its column {} holds INT96 timestamps that no timestamp of 64 bits holds exactly: too far from today in \
         nanoseconds, or too fine for microseconds (write it as text, or in microseconds)",
        Quoted(.column)
    )]
    Int96 {
        /// The column, which is one that is needed.
        column: String,
    },
    /// A column holds intervals, a part of which would be lost.
    #[error(
        "its column {} holds INTERVAL values, of which psijoin would lose the months, or days and milliseconds (write it as \
         text, or as columns of numbers)",
        Quoted(.column)
    )]
    Interval {
        /// The column, which is one that is needed.
        column: String,
    },
    /// Its footer is encrypted, and so the rest is of no use.
    #[error("it is encrypted (write it again without encryption)")]
    Encrypted,
    /// A column is encrypted.
    #[error("its column {} is encrypted (write it again without encryption)", Quoted(.column))]
    EncryptedColumn {
        /// The column, which is one that is needed.
        column: String,
    },
}

/// The unknown fact about a column, in a few words.
#[derive(Clone)]
pub(super) enum Unknown {
    Type(String),
    Form(String),
}

impl Unknown {
    pub(super) fn fault(&self, column: String) -> ParquetFault {
        match self.clone() {
            Self::Type(kind) => ParquetFault::UnknownType { column, kind },
            Self::Form(form) => ParquetFault::UnknownForm { column, form },
        }
    }
}
