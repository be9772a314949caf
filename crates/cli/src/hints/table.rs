//! Remedies for tables, in the words of the command line.

use psijoin_frontend::{FileRemedy, Hint, TableRemedy};

const LIST: &str = "`psijoin columns FILE` lists the columns";

/// Returns a remedy for how a file is read.
pub(super) fn of_file(remedy: FileRemedy) -> Hint {
    Hint::Borrowed(match remedy {
        FileRemedy::ThisEncoding(encoding) => return format!("--encoding {encoding}").into(),
        FileRemedy::Delimiter(delimiter) => return format!("--delimiter {delimiter}").into(),
        FileRemedy::DelimiterOfColumns(delimiter) => {
            return format!("--delimiter {delimiter}; {LIST}").into();
        }
        FileRemedy::FoundFormat { found, format } => {
            let [found, format] = [found, format].map(|it| it.name());
            return format!("--input-format {found}, or {format}, if that is what it is").into();
        }
        FileRemedy::NoEncoding => "leave --encoding out",
        FileRemedy::Encoding => "--encoding says how the file is encoded",
        FileRemedy::SomeEncoding => {
            "--encoding says how the file is encoded, as in --encoding windows-1252"
        }
        FileRemedy::OtherQuote => {
            "--quote CHAR names another quote, and --quote none says that there is none"
        }
        FileRemedy::NoQuotes => "--quote none says that quotes are mere characters",
        FileRemedy::Quotes => "--quote '\"'",
        FileRemedy::NoEscapes => "leave --escapes out if backslashes are mere characters",
        FileRemedy::EscapesOrQuotes => "leave --escapes out, or say --quote none",
        FileRemedy::Escapes => "--escapes, with --quote none in CSV",
        FileRemedy::OtherDelimiter => "give another --delimiter, or leave --escapes out",
        FileRemedy::OtherComment => "--comment names another character",
        FileRemedy::TextOnly => {
            "--delimiter, --quote, --escapes, --no-header, --skip-lines and --comment are for CSV \
             and TSV, --encoding for these and lines"
        }
        FileRemedy::Layout => {
            "--delimiter, --quote, --no-header, --skip-lines and --comment say how a file is written"
        }
        FileRemedy::SkipLine => "--skip-lines 1",
        FileRemedy::FormatWithColumns => "--input-format csv or tsv",
        FileRemedy::Format => {
            "--input-format names the format; a file without an ending is read as CSV with \
             --delimiter"
        }
        FileRemedy::OneFormat => "--input-format names one for all",
        FileRemedy::NotJson => "--input-format says what it is, if it is not JSON",
        FileRemedy::SomeFormat => "--input-format says what it is",
        FileRemedy::Columns => LIST,
        FileRemedy::CopyColumns => "`psijoin columns FILE` prints names to copy",
    })
}

/// Returns a remedy for a table, however it is read.
pub(super) fn of_table(remedy: TableRemedy) -> Hint {
    Hint::Borrowed(match remedy {
        TableRemedy::KeyOfColumns => return format!("--key names them; {LIST}").into(),
        TableRemedy::AlignedOr(which) => {
            return format!("leave out --rows {which}, or --align").into();
        }
        TableRemedy::Rule(rule) => return format!("--normalize COLUMN={rule}").into(),
        TableRemedy::KeyColumns => "--key names them",
        TableRemedy::NoQuotedEmpty => "leave --quote-empty out",
        TableRemedy::NoQuotedFormulas => "leave --quote-formulas out",
        TableRemedy::WhoseColumn => {
            "if the other side's column is meant, both name it as sender.COLUMN or receiver.COLUMN"
        }
        TableRemedy::BadKeys => {
            "--bad-keys null takes cells that cannot be read for empty ones; `psijoin keys` counts \
             them"
        }
        TableRemedy::FirstOrList => {
            "--repeated first lets the first row count; --repeated list:K gives up to K rows of \
             each key"
        }
        TableRemedy::List => "--repeated list:K gives up to K rows of each key",
        TableRemedy::First => "--repeated first lets the first row count",
        TableRemedy::NoAlignedList => "with --align, --repeated is refuse or first",
        TableRemedy::LongerRows => "raise --give-bytes",
        TableRemedy::SpillFolder => "--spill-dir names another folder",
        TableRemedy::SpillFolderOrMemory => {
            "--spill-dir names another folder; --memory allows more"
        }
        TableRemedy::FrequentIsNull => "--normalize COLUMN=null:WORD; `psijoin keys` shows the key",
    })
}
