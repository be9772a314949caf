//! Errors about a table's files, and about the options for them.

use std::{fmt, io};

use psijoin_printable::{Quoted, Word};

use crate::{Compression, Encoding, ErrorKind, Foreign, Format, TableLog};

/// The reason that the files of a table cannot be found, opened or read, or are no table of one
/// kind.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// A delimiter or a quote cannot be told from a line's end, or from a part of a character.
    #[error("the {what} must be a single ASCII character, and no line break")]
    DialectByte {
        /// The purpose it was meant for.
        what: &'static str,
    },

    /// The delimiter is the quote too.
    #[error(
        "the delimiter and the quote are the same character: name another quote, or say that there is none"
    )]
    DelimiterIsQuote,

    /// Escapes and quotes cannot be told apart in every text.
    #[error(
        "escapes are for texts without quotes: leave them out, or say that there are no quotes"
    )]
    EscapesWithQuotes,

    /// The delimiter is a character that escapes are made of.
    #[error("in a text with escapes, the delimiter cannot be a letter, a digit or a backslash")]
    DelimiterOfEscapes,

    /// The beginning of comments could begin a row as well.
    #[error(
        "a comment cannot begin with the delimiter, the quote, a letter, a digit or, in a text with escapes, a backslash, as \
         rows do (name another character, or remove the comments)"
    )]
    CommentCharacter,

    /// No encoding has this label.
    #[error(
        "there is no encoding {}; the encodings are utf-8, utf-16, utf-16le, utf-16be, and \
         those with a byte per character, as windows-1252, iso-8859-15 and koi8-r (convert the \
         file to UTF-8 first, as with iconv)",
        Quoted(.0)
    )]
    UnknownEncoding(String),

    /// Text that was decoded from this encoding may have other bytes.
    #[error(
        "{0} may write a text in several ways, so that rows would not be sure to keep their bytes: \
         convert the file to UTF-8 first, as with iconv"
    )]
    AmbiguousEncoding(&'static str),

    /// A dialect is given for a table that has none.
    #[error(
        "{file} is read as {format}: a delimiter, a quote, escapes, a missing header, lines to skip and comments are for CSV \
         and TSV, an encoding for these and lines"
    )]
    NoDialect {
        /// The file as the user named it.
        file: String,
        /// The table's format.
        format: Format,
    },

    /// The name of an input has no known ending.
    #[error(
        "cannot tell the format of {file} from its name: name it; the endings known are {endings} (a file \
         without an ending is read as text, one value per line, if no key column is given, and as CSV if a delimiter is; what is compressed in another way can be decompressed \
         to standard input)",
        endings = Format::ENDINGS
    )]
    InputEnding {
        /// The file as the user named it.
        file: String,
    },

    /// The input could not be opened.
    #[error("cannot open {file}: {cause}")]
    Open {
        /// The file as the user named it.
        file: String,
        /// The operating system's error.
        cause: io::Error,
    },

    /// Standard input was named beside other inputs.
    #[error(
        "standard input cannot be one of several inputs: give it alone, or write it to a file \
         first"
    )]
    StreamAmongFiles,

    /// No file has the name, or matches the pattern.
    #[error("no file matches {}", Word(.pattern))]
    NoMatch {
        /// The pattern as the user gave it.
        pattern: String,
    },

    /// The input is a folder without files.
    #[error(
        "the folder {folder} holds no files (those whose names begin with `_` or `.` do not count)"
    )]
    EmptyFolder {
        /// The folder as the user named it.
        folder: String,
    },

    /// The input is a folder that holds texts.
    #[error(
        "the folder {folder} holds a text, {file}: a folder is for Parquet or Arrow files; name texts by \
         a pattern that ends in /*.csv"
    )]
    TextInFolder {
        /// The folder as the user named it.
        folder: String,
        /// The text.
        file: String,
    },

    /// A folder's name holds a partition column's name or value, and is not UTF-8.
    #[error(
        "the path of {file} names columns as in day=2024-02-03/, and is not UTF-8: rename its \
         folders"
    )]
    PartitionName {
        /// A file in that folder.
        file: String,
    },

    /// A partition column has the name of another column.
    #[error(
        "the partition column {} (from the path of {file}) has the same name as another column: \
         rename one, or name the files by a pattern, so that their folders name no columns",
        Quoted(.column)
    )]
    PartitionColumn {
        /// A file of the table.
        file: String,
        /// The column.
        column: String,
    },

    /// A table's files have several formats.
    #[error(
        "{file} is read as {format}, and {first} as {first_format}: the files of a table must have \
         one format (if they do, name it: then their names do not matter)"
    )]
    MixedFormats {
        /// The file as the user named it.
        file: String,
        /// Its format.
        format: Format,
        /// The table's first file.
        first: String,
        /// That file's format.
        first_format: Format,
    },

    /// A file of a table has other columns than its first one.
    #[error(
        "{difference} {first}: the files of a table must have the same columns in the same order",
        difference = Differing { file, difference }
    )]
    DifferentParts {
        /// The file as the user named it.
        file: String,
        /// The table's first file.
        first: String,
        /// The difference.
        difference: Difference,
    },

    /// A file is there twice.
    #[error("{file} is given twice, the first time as {first}: its rows would count twice")]
    RepeatedFile {
        /// The file as it is named the second time.
        file: String,
        /// The file as it is named the first time.
        first: String,
    },

    /// The input could not be read to its end.
    #[error("cannot read {file}: {cause}")]
    Read {
        /// The file as the user named it.
        file: String,
        /// The operating system's error.
        cause: io::Error,
    },

    /// Standard input, or a file that is decompressed or decoded, could not be kept in a temporary
    /// file.
    #[error("cannot keep {file} in a temporary file: {cause}")]
    Spool {
        /// The stream that was to be kept.
        file: String,
        /// The operating system's error.
        cause: io::Error,
    },

    /// The input is something else than a table that can be read.
    #[error("{file} holds {foreign}")]
    Foreign {
        /// The file as the user named it.
        file: String,
        /// Its content.
        foreign: Foreign,
    },

    /// A log beside the files lists those that are the table.
    #[error(
        "{folder} belongs to a table of {}, whose {} says which of its files count, and which of \
         their rows: write the table as one Parquet file with {}, or name the files of one version \
         one by one",
        .log.name(), .log.place(), .log.way_out()
    )]
    Logged {
        /// The folder as the user named it, or one above or below it.
        folder: String,
        /// The program that keeps the log.
        log: TableLog,
    },

    /// The input is compressed, without the ending for it.
    #[error(
        "{file} holds data compressed with {compression}: read it from a file whose name ends in \
         {}, or decompress it first", .compression.ending()
    )]
    Compressed {
        /// The file as the user named it.
        file: String,
        /// The compression.
        compression: Compression,
    },

    /// The input is not compressed as its name tells.
    #[error(
        "{file} is not compressed with {compression}, as its name says (if it is a plain text, as after a download that \
         decompressed it, take {} off its name; or else get it again)", .compression.ending()
    )]
    NotCompressed {
        /// The file as the user named it.
        file: String,
        /// The compression of its name.
        compression: Compression,
    },

    /// The input cannot be decompressed to its end.
    #[error(
        "cannot decompress {file}: it is damaged or cut off, or something else follows what is compressed (`{} -t` checks \
         it; get it again)", .compression.program()
    )]
    Damaged {
        /// The file as the user named it.
        file: String,
        /// The compression of its name.
        compression: Compression,
    },

    /// The text begins with the byte order mark of another encoding than was said.
    #[error(
        "{file} begins with the byte order mark of {marked}, and its encoding was given as {said}: leave that out"
    )]
    OtherEncoding {
        /// The file as the user named it.
        file: String,
        /// The encoding that was said.
        said: Encoding,
        /// The encoding whose byte order mark is there.
        marked: Encoding,
    },

    /// The text begins as UTF-32 does, with a byte order mark or without.
    #[error("{file} is encoded in UTF-32, as its first bytes show: convert it to UTF-8 first")]
    Utf32 {
        /// The file as the user named it.
        file: String,
    },

    /// The input is something else than its name tells, or than an input without a name usually is.
    #[error("{}", Misnamed { file, format: *.format, found: *.found })]
    Misnamed {
        /// The file as the user named it.
        file: String,
        /// The format that it was taken for.
        format: Format,
        /// The format of its beginning, if that is known and is not text.
        found: Option<Format>,
    },

    /// The input is not what it was when the keys were read.
    #[error("{file} was changed while it was in use: run again")]
    Changed {
        /// The file as the user named it.
        file: String,
    },
}

impl SourceError {
    /// Returns who has to do something about this error.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::DialectByte { .. }
            | Self::DelimiterIsQuote
            | Self::EscapesWithQuotes
            | Self::DelimiterOfEscapes
            | Self::CommentCharacter
            | Self::UnknownEncoding(_)
            | Self::AmbiguousEncoding(_)
            | Self::NoDialect { .. }
            | Self::StreamAmongFiles => ErrorKind::Usage,
            _ => ErrorKind::Input,
        }
    }
}

/// The difference between a file's columns and those of the first file of its table. Columns have
/// numbers from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// There are more or fewer.
    Count {
        /// The file's number of columns.
        found: usize,
        /// The first file's number of columns.
        expected: usize,
    },
    /// A column has another name.
    Name {
        /// The first such column.
        column: usize,
    },
    /// A column has another type.
    Type {
        /// The first such column.
        column: usize,
        /// Its type in the file.
        found: String,
        /// Its type in the first file.
        expected: String,
    },
    /// The folders' names hold other columns.
    Partition,
    /// The text is encoded in another way.
    Encoding,
}

/// That a file is not what it was taken for.
struct Misnamed<'a> {
    file: &'a str,
    format: Format,
    found: Option<Format>,
}

impl fmt::Display for Misnamed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            format,
            found,
        } = self;
        match found {
            Some(found) => write!(
                f,
                "{file} is read as {format} unless you say otherwise, and seems to hold {found}: \
                 name its format",
            ),
            None => write!(
                f,
                "{file} is named like {format}, and is damaged or something else: name its \
                 format, or get it again"
            ),
        }
    }
}

/// The beginning of a sentence that ends with the first file.
struct Differing<'a> {
    file: &'a str,
    difference: &'a Difference,
}

impl fmt::Display for Differing<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let file = self.file;
        match self.difference {
            Difference::Count { found, expected } => {
                let plural = if *found == 1 { "" } else { "s" };
                write!(f, "{file} has {found} column{plural}, not {expected} as")
            }
            Difference::Name { column } => {
                write!(f, "column {column} of {file} has another name than in")
            }
            Difference::Type {
                column,
                found,
                expected,
            } => write!(
                f,
                "column {column} of {file} holds {found}, not {expected} as in"
            ),
            Difference::Encoding => write!(f, "{file} is encoded in another way than"),
            Difference::Partition => {
                write!(f, "the folders of {file} name other columns than those of")
            }
        }
    }
}
