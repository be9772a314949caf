//! Advice for users about tables: how they are read, what is written, and where.

use psijoin::spill::Error as SpillError;
use psijoin_table::{
    Columns, Doubt, Error, Fault, Foreign, KeyError, ReadError, ShareError, SourceError, Suspicion,
    WriteError,
};

use super::Hint;

pub(super) fn of_error(error: &Error) -> Option<Hint> {
    match error {
        Error::Source(SourceError::OtherEncoding { .. })
        | Error::Source(SourceError::DelimiterIsQuote)
        | Error::Source(SourceError::EscapesWithQuotes)
        | Error::Source(SourceError::DelimiterOfEscapes)
        | Error::Source(SourceError::CommentCharacter)
        | Error::Source(SourceError::NoDialect { .. })
        | Error::Source(SourceError::InputEnding { .. })
        | Error::Source(SourceError::MixedFormats { .. })
        | Error::Source(SourceError::Foreign { .. })
        | Error::Read(ReadError::Ragged { .. }) => of_form(error).map(Hint::Borrowed),
        Error::Source(SourceError::Misnamed { format, found, .. }) => Some(match found {
            Some(found) => format!(
                "--input-format {}, or {}, if that is what it is",
                found.name(),
                format.name()
            )
            .into(),
            None => Hint::Borrowed("--input-format says what it is"),
        }),
        Error::Read(ReadError::Malformed { fault, .. }) => of_fault(*fault).map(Hint::Borrowed),
        Error::Read(ReadError::NoKey { columns, .. }) => Some(match columns {
            Columns::Named(_) => Hint::Borrowed("--key names them"),
            _ => format!("--key names them; {LIST}").into(),
        }),
        Error::Read(ReadError::MissingColumn { columns, .. }) => of_columns(columns),
        Error::Write(WriteError::AlignedOthers(which)) => {
            Some(format!("leave out --rows {which}, or --align").into())
        }
        Error::Spill(error) => of_spill(error).map(Hint::Borrowed),
        other => of_rows(other).map(Hint::Borrowed),
    }
}

const LIST: &str = "`psijoin columns FILE` lists the columns";

/// Returns advice on errors about the form of a file.
fn of_form(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Source(SourceError::OtherEncoding { .. }) => "leave --encoding out",
        Error::Source(SourceError::DelimiterIsQuote) => {
            "--quote CHAR names another quote, and --quote none says that there is none"
        }
        Error::Source(SourceError::EscapesWithQuotes) => "leave --escapes out, or say --quote none",
        Error::Source(SourceError::DelimiterOfEscapes) => {
            "give another --delimiter, or leave --escapes out"
        }
        Error::Source(SourceError::CommentCharacter) => "--comment names another character",
        Error::Source(SourceError::NoDialect { .. }) => {
            "--delimiter, --quote, --escapes, --no-header, --skip-lines and --comment are for CSV and TSV, --encoding for these \
             and lines"
        }
        Error::Source(SourceError::InputEnding { .. }) => {
            "--input-format names the format; a file without an ending is read as CSV with --delimiter"
        }
        Error::Source(SourceError::MixedFormats { .. }) => "--input-format names one for all",
        Error::Source(SourceError::Foreign {
            foreign: Foreign::Json,
            ..
        }) => "--input-format says what it is, if it is not JSON",
        Error::Read(ReadError::Ragged { .. }) => {
            "--delimiter, --quote, --no-header, --skip-lines and --comment say how a file is written"
        }
        _ => return None,
    })
}

fn of_fault(fault: Fault) -> Option<&'static str> {
    Some(match fault {
        Fault::NotUtf8 => "--encoding says how the file is encoded, as in --encoding windows-1252",
        Fault::NotEncoded(_) => "--encoding says how the file is encoded",
        Fault::UnclosedQuote | Fault::TextAfterQuote | Fault::TooLong => {
            "--quote none says that quotes are mere characters"
        }
        Fault::UnknownEscape => "leave --escapes out if backslashes are mere characters",
        _ => return None,
    })
}

fn of_columns(columns: &Columns) -> Option<Hint> {
    Some(match columns {
        Columns::Lines => Hint::Borrowed("--input-format csv or tsv"),
        Columns::Undivided(delimiter) => format!("--delimiter {delimiter}; {LIST}").into(),
        Columns::Counted(_) => Hint::Borrowed(LIST),
        Columns::Alike {
            has_positions: true,
            ..
        } => Hint::Borrowed("`psijoin columns FILE` prints names to copy"),
        _ => return None,
    })
}

/// Returns advice on errors about rows that are read, given or written.
fn of_rows(error: &Error) -> Option<&'static str> {
    Some(match error {
        Error::Write(WriteError::NoNulls { .. }) => "leave --quote-empty out",
        Error::Write(WriteError::NoFormulas { .. }) => "leave --quote-formulas out",
        Error::Read(ReadError::Number { .. }) | Error::Read(ReadError::NumberType { .. }) => {
            "if the other side's column is meant, both name it as sender.COLUMN or receiver.COLUMN"
        }
        Error::Key(KeyError::BadKeys(_)) => {
            "--bad-keys null takes cells that cannot be read for empty ones; `psijoin keys` counts them"
        }
        Error::Share(ShareError::RepeatedKeys { .. }) => {
            "--repeated first lets the first row count; --repeated list:K gives up to K rows of each key"
        }
        Error::Share(ShareError::TooManyRepeated { .. }) => {
            "--repeated list:K gives up to K rows of each key"
        }
        Error::Write(WriteError::RepeatedAligned { .. }) => {
            "--repeated first lets the first row count"
        }
        Error::Write(WriteError::AlignedList) => "with --align, --repeated is refuse or first",
        Error::Share(ShareError::LongRow { .. }) => "raise --give-bytes",
        _ => return None,
    })
}

pub(super) fn of_spill(error: &SpillError) -> Option<&'static str> {
    const FOLDER: &str = "--spill-dir names another folder";
    Some(match error {
        SpillError::Create { .. }
        | SpillError::Room { .. }
        | SpillError::Write { .. }
        | SpillError::Read { .. }
        | SpillError::Damaged { .. } => FOLDER,
        SpillError::Full { .. } | SpillError::NoRoom { .. } => {
            "--spill-dir names another folder; --memory allows more"
        }
        _ => return None,
    })
}

/// Returns what users do about a doubt, if anything can be said.
pub(crate) fn of_doubt(doubt: &Doubt) -> Option<Hint> {
    Some(Hint::Borrowed(match doubt {
        Doubt::Utf16(encoding) => return Some(format!("--encoding {encoding}").into()),
        Doubt::Undivided(delimiter) => return Some(format!("--delimiter {delimiter}").into()),
        Doubt::QuotedNames(_) | Doubt::QuotedKeys(_) => "--quote '\"'",
        Doubt::NullMarks(_) => "--escapes, with --quote none in CSV",
        Doubt::Fields { suspicion, .. } => match suspicion {
            Suspicion::NullWord => "--normalize COLUMN=null:common",
            Suspicion::Unseen => "--normalize COLUMN=trim",
            Suspicion::ZeroLed => "--normalize COLUMN=number",
            _ => return None,
        },
        Doubt::Frequent { .. } => "--normalize COLUMN=null:WORD; `psijoin keys` shows the key",
        Doubt::SeparatorLine => "--skip-lines 1",
        Doubt::MixedPhones(_) => "--normalize COLUMN=phone:COUNTRY",
        Doubt::MixedTimestamps(_) => "--normalize COLUMN=timestamp:ZONE",
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hint_names_what_was_found() {
        let doubt = |doubt| of_doubt(&doubt).unwrap();
        assert_eq!(doubt(Doubt::Undivided("pipe")), "--delimiter pipe");
        let encoding = "utf-16be".parse().unwrap();
        assert_eq!(doubt(Doubt::Utf16(encoding)), "--encoding UTF-16BE");
        let columns = of_columns(&Columns::Undivided("tab")).unwrap();
        assert!(columns.starts_with("--delimiter tab;"), "{columns}");
    }
}
