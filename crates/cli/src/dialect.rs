//! The options for the form of a table.

use clap::{
    Args as ClapArgs,
    builder::{PossibleValuesParser, TypedValueParser},
};
use psijoin_source::{Dialect, Encoding, Error, Format};

/// The form of a table.
#[derive(ClapArgs)]
pub(crate) struct Said {
    /// The table's format, if the ending of its file's name does not say it, or it has no name.
    ///
    /// [default: by the ending]
    #[arg(long = "input-format", value_name = "FORMAT", value_parser = format())]
    pub(crate) format: Option<Format>,

    /// What separates the fields of CSV or TSV: a character, or tab, comma, semicolon or pipe.
    ///
    /// [default: a comma in CSV, a tab in TSV]
    #[arg(long, value_name = "CHAR", value_parser = delimiter)]
    delimiter: Option<u8>,

    /// The quote around fields that hold a delimiter or a line break: a character, or none.
    ///
    /// With `none`, a quote is a character like any other. [default: " in CSV, none in TSV]
    #[arg(long, value_name = "CHAR|none", value_parser = quote)]
    quote: Option<Quote>,

    /// The table has no header: its first line is a row.
    ///
    /// Its columns are called 1, 2 and so on, and an output of CSV or TSV has no header either.
    #[arg(long)]
    no_header: bool,

    /// The number of lines to skip before the header, in each file.
    ///
    /// With --no-header, before the first row. The output does not contain them.
    #[arg(long, value_name = "N", default_value = "0", hide_default_value = true)]
    skip_lines: u64,

    /// The first character of lines that are comments, before and after the header.
    ///
    /// They are skipped like blank lines. A line within a quoted field is no comment. To start a
    /// row with this character, quote its first field.
    #[arg(long, value_name = "CHAR", value_parser = comment)]
    comment: Option<u8>,

    /// A backslash begins an escape, as PostgreSQL's COPY and MySQL write it.
    ///
    /// \t, \n, \r and \\ stand for a tab, a line feed, a carriage return and a backslash, and a
    /// field \N is null. Anything else after a backslash must be one of their escapes. The table
    /// has no quotes then.
    #[arg(long)]
    escapes: bool,

    /// How the text is encoded: utf-8, utf-16, windows-1252, iso-8859-15 or another.
    ///
    /// Others have one byte per character; each is called by its name in the WHATWG Encoding
    /// Standard. Rows that are written in the table's own format keep the encoding. [default:
    /// utf-16 if its byte order mark is there, else utf-8]
    #[arg(long, value_name = "NAME")]
    encoding: Option<Encoding>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Quote {
    None,
    Char(u8),
}

impl Said {
    /// # Errors
    /// If a character cannot be told apart from others.
    pub(crate) fn dialect(&self) -> Result<Dialect, Error> {
        let mut dialect = Dialect::default().with_skipped_lines(self.skip_lines);
        if let Some(delimiter) = self.delimiter {
            dialect = dialect.with_delimiter(delimiter)?;
        }
        if let Some(quote) = self.quote {
            dialect = dialect.with_quote(match quote {
                Quote::None => None,
                Quote::Char(quote) => Some(quote),
            })?;
        }
        if let Some(comment) = self.comment {
            dialect = dialect.with_comment(comment)?;
        }
        if self.escapes {
            dialect = dialect.with_escapes();
        }
        if let Some(encoding) = self.encoding {
            dialect = dialect.with_encoding(encoding);
        }
        Ok(match self.no_header {
            true => dialect.without_header(),
            false => dialect,
        })
    }
}

/// Reads the name of a format.
fn format() -> impl TypedValueParser<Value = Format> {
    let formats = || Format::ALL.iter().copied();
    PossibleValuesParser::new(formats().map(Format::name)).map(move |name| {
        let named = |format: &Format| format.name() == name;
        formats().find(named).expect("only names of formats pass")
    })
}

fn delimiter(text: &str) -> Result<u8, String> {
    match text {
        "tab" => Ok(b'\t'),
        "comma" => Ok(b','),
        "semicolon" => Ok(b';'),
        "pipe" => Ok(b'|'),
        _ => only_character(text).ok_or_else(|| {
            "give one ASCII character, or the word tab, comma, semicolon or pipe".to_owned()
        }),
    }
}

fn quote(text: &str) -> Result<Quote, String> {
    match text {
        "none" => Ok(Quote::None),
        _ => only_character(text)
            .map(Quote::Char)
            .ok_or_else(|| "give one ASCII character, or the word none".to_owned()),
    }
}

fn comment(text: &str) -> Result<u8, String> {
    only_character(text).ok_or_else(|| "give one ASCII character".to_owned())
}

fn only_character(text: &str) -> Option<u8> {
    match *text.as_bytes() {
        [byte] => Some(byte),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_read_as_people_write_them() {
        for (text, byte) in [
            ("tab", b'\t'),
            ("semicolon", b';'),
            (";", b';'),
            ("\t", b'\t'),
        ] {
            assert_eq!(delimiter(text), Ok(byte));
        }
        assert_eq!(quote("none"), Ok(Quote::None));
        assert_eq!(quote("'"), Ok(Quote::Char(b'\'')));
        for text in ["", ";;", "\\t", "§", "Tab"] {
            assert!(delimiter(text).is_err(), "{text}");
            assert!(quote(text).is_err(), "{text}");
            assert!(comment(text).is_err(), "{text}");
        }
    }
}
