//! Remedies for faults of tables: of their reading, and of the output and its place.

use psijoin::spill::Error as SpillError;
use psijoin_source::{Columns, Doubt, Encoding, Fault, Foreign, Format, ReadError, SourceError};
use psijoin_table::{Error, KeyError, ShareError, Suspicion, WhichRows, WriteError};

use super::Remedy;

/// A remedy for the reading of a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FileRemedy {
    /// Do without an encoding: the format has one of its own.
    NoEncoding,
    /// Name an encoding of text.
    Encoding,
    /// Name an encoding of text, as what is in the file is no UTF-8.
    SomeEncoding,
    /// Name this encoding.
    ThisEncoding(Encoding),
    /// Name another quote, or none.
    OtherQuote,
    /// Let the file have no quotes, so that they are mere characters.
    NoQuotes,
    /// Name `"` as the quote.
    Quotes,
    /// Let the file have no escapes, so that backslashes are mere characters.
    NoEscapes,
    /// Do without either escapes or quotes.
    EscapesOrQuotes,
    /// Let the file have escapes.
    Escapes,
    /// Name another delimiter, or do without escapes.
    OtherDelimiter,
    /// Name this delimiter.
    Delimiter(&'static str),
    /// Name this delimiter, or look which columns there are.
    DelimiterOfColumns(&'static str),
    /// Name another character that begins comments.
    OtherComment,
    /// Say how a text is written only of a text.
    TextOnly,
    /// Say how a text is written.
    Layout,
    /// Leave out a line.
    SkipLine,
    /// Name a format that has columns.
    FormatWithColumns,
    /// Name the format of what has no ending.
    Format,
    /// Name one format for all files.
    OneFormat,
    /// Name the format, if it is not JSON.
    NotJson,
    /// Name the format.
    SomeFormat,
    /// Name the format that was found, or the one of the ending.
    FoundFormat {
        /// The format that the file seems to have.
        found: Format,
        /// The format of its ending.
        format: Format,
    },
    /// Look which columns there are.
    Columns,
    /// Copy the names of columns, several of which are alike.
    CopyColumns,
}

/// A remedy for a table, however it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TableRemedy {
    /// Name the key's columns.
    KeyColumns,
    /// Name the key's columns, or look which columns there are.
    KeyOfColumns,
    /// Align rows, or write these.
    AlignedOr(WhichRows),
    /// Write empty texts without quotes.
    NoQuotedEmpty,
    /// Write formulas without quotes.
    NoQuotedFormulas,
    /// Say whose column is meant.
    WhoseColumn,
    /// Let cells of the key that cannot be read count as empty.
    BadKeys,
    /// Let the first row of a key count, or give several.
    FirstOrList,
    /// Give several rows of a key.
    List,
    /// Let the first row of a key count.
    First,
    /// Align single rows.
    NoAlignedList,
    /// Give longer rows.
    LongerRows,
    /// Let what does not fit into memory go elsewhere.
    SpillFolder,
    /// Let what does not fit into memory go elsewhere, or allow more memory.
    SpillFolderOrMemory,
    /// Give a column of the key this rule.
    Rule(&'static str),
    /// Let a value count as empty that many rows have, once its owner has looked at it.
    FrequentIsNull,
}

pub(super) fn of_error(error: &Error) -> Option<Remedy> {
    let file = of_file(error).map(Remedy::File);
    file.or_else(|| of_rows(error).map(Remedy::Table))
}

/// Of errors about how a file is read.
fn of_file(error: &Error) -> Option<FileRemedy> {
    Some(match error {
        Error::Source(SourceError::OtherEncoding { .. }) => FileRemedy::NoEncoding,
        Error::Source(SourceError::DelimiterIsQuote) => FileRemedy::OtherQuote,
        Error::Source(SourceError::EscapesWithQuotes) => FileRemedy::EscapesOrQuotes,
        Error::Source(SourceError::DelimiterOfEscapes) => FileRemedy::OtherDelimiter,
        Error::Source(SourceError::CommentCharacter) => FileRemedy::OtherComment,
        Error::Source(SourceError::NoDialect { .. }) => FileRemedy::TextOnly,
        Error::Source(SourceError::InputEnding { .. }) => FileRemedy::Format,
        Error::Source(SourceError::MixedFormats { .. }) => FileRemedy::OneFormat,
        Error::Source(SourceError::Foreign {
            foreign: Foreign::Json,
            ..
        }) => FileRemedy::NotJson,
        Error::Read(ReadError::Ragged { .. }) => FileRemedy::Layout,
        Error::Source(SourceError::Misnamed { format, found, .. }) => match *found {
            Some(found) => FileRemedy::FoundFormat {
                found,
                format: *format,
            },
            None => FileRemedy::SomeFormat,
        },
        Error::Read(ReadError::Malformed { fault, .. }) => match fault {
            Fault::NotUtf8 => FileRemedy::SomeEncoding,
            Fault::NotEncoded(_) => FileRemedy::Encoding,
            Fault::UnclosedQuote | Fault::TextAfterQuote | Fault::TooLong => FileRemedy::NoQuotes,
            Fault::UnknownEscape => FileRemedy::NoEscapes,
            _ => return None,
        },
        Error::Read(ReadError::MissingColumn { columns, .. }) => match columns {
            Columns::Lines => FileRemedy::FormatWithColumns,
            Columns::Undivided(delimiter) => FileRemedy::DelimiterOfColumns(delimiter),
            Columns::Counted(_) => FileRemedy::Columns,
            Columns::Alike {
                has_positions: true,
                ..
            } => FileRemedy::CopyColumns,
            _ => return None,
        },
        _ => return None,
    })
}

/// Returns advice on errors about rows that are read, given or written.
fn of_rows(error: &Error) -> Option<TableRemedy> {
    Some(match error {
        Error::Read(ReadError::NoKey {
            columns: Columns::Named(_),
            ..
        }) => TableRemedy::KeyColumns,
        Error::Read(ReadError::NoKey { .. }) => TableRemedy::KeyOfColumns,
        Error::Write(WriteError::AlignedOthers(which)) => TableRemedy::AlignedOr(*which),
        Error::Write(WriteError::NoNulls { .. }) => TableRemedy::NoQuotedEmpty,
        Error::Write(WriteError::NoFormulas { .. }) => TableRemedy::NoQuotedFormulas,
        Error::Read(ReadError::Number { .. } | ReadError::NumberType { .. }) => {
            TableRemedy::WhoseColumn
        }
        Error::Key(KeyError::BadKeys(_)) => TableRemedy::BadKeys,
        Error::Share(ShareError::RepeatedKeys { .. }) => TableRemedy::FirstOrList,
        Error::Share(ShareError::TooManyRepeated { .. }) => TableRemedy::List,
        Error::Write(WriteError::RepeatedAligned { .. }) => TableRemedy::First,
        Error::Write(WriteError::AlignedList) => TableRemedy::NoAlignedList,
        Error::Share(ShareError::LongRow { .. }) => TableRemedy::LongerRows,
        Error::Spill(error) => return of_spill(error),
        _ => return None,
    })
}

pub(super) fn of_spill(error: &SpillError) -> Option<TableRemedy> {
    Some(match error {
        SpillError::Create { .. }
        | SpillError::Room { .. }
        | SpillError::Write { .. }
        | SpillError::Read { .. }
        | SpillError::Damaged { .. } => TableRemedy::SpillFolder,
        SpillError::Full { .. } | SpillError::NoRoom { .. } => TableRemedy::SpillFolderOrMemory,
        _ => return None,
    })
}

pub(super) fn of_doubt(doubt: &Doubt) -> Option<Remedy> {
    let file = match doubt {
        Doubt::Utf16(encoding) => Some(FileRemedy::ThisEncoding(*encoding)),
        Doubt::Undivided(delimiter) => Some(FileRemedy::Delimiter(delimiter)),
        Doubt::QuotedNames(_) | Doubt::QuotedKeys(_) => Some(FileRemedy::Quotes),
        Doubt::NullMarks(_) => Some(FileRemedy::Escapes),
        Doubt::SeparatorLine => Some(FileRemedy::SkipLine),
        _ => None,
    };
    let of_values = || {
        Some(match doubt {
            Doubt::Fields { suspicion, .. } => TableRemedy::Rule(match suspicion {
                Suspicion::NullWord => "null:common",
                Suspicion::Unseen => "trim",
                Suspicion::ZeroLed => "number",
                _ => return None,
            }),
            Doubt::Frequent { .. } => TableRemedy::FrequentIsNull,
            Doubt::MixedPhones(_) => TableRemedy::Rule("phone:COUNTRY"),
            Doubt::MixedTimestamps(_) => TableRemedy::Rule("timestamp:ZONE"),
            _ => return None,
        })
    };
    file.map(Remedy::File)
        .or_else(|| of_values().map(Remedy::Table))
}
