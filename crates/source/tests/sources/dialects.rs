//! Texts that are written in other ways than is usual in their format.

use psijoin_source::{Dialect, Error, ErrorKind, Format, Progress, Source, SourceError};

use crate::Files;

fn dialect(delimiter: u8, quote: Option<u8>) -> Dialect {
    let dialect = Dialect::default().with_delimiter(delimiter).unwrap();
    dialect.with_quote(quote).unwrap()
}

fn spooled(format: Format, dialect: &Dialect, text: &str) -> Result<Source, Error> {
    Source::spool(text.as_bytes(), "t", format, dialect, &Progress::default())
}

#[test]
fn what_begins_rows_begins_no_comment() {
    let default = Dialect::default();
    for byte in [b'1', b'x', b'\n', 0xe9] {
        assert_eq!(
            default.with_comment(byte).unwrap_err().kind(),
            ErrorKind::Usage
        );
    }
    for (dialect, comment) in [
        (dialect(b';', Some(b'"')), b';'),
        (dialect(b';', Some(b'"')), b'"'),
        (dialect(b';', None).with_escapes(), b'\\'),
    ] {
        let dialect = dialect.with_comment(comment).unwrap();
        let error = spooled(Format::Csv, &dialect, "").unwrap_err();
        assert!(matches!(
            error,
            Error::Source(SourceError::CommentCharacter)
        ));
    }
}

#[test]
fn what_was_taken_is_described() {
    let default = Dialect::default();
    for (format, dialect, expected) in [
        (Format::Csv, default, "CSV"),
        (Format::Tsv, default, "TSV"),
        (Format::Lines, default, "lines"),
        (Format::Parquet, default, "Parquet"),
        (Format::Csv, dialect(b',', Some(b'"')), "CSV"),
        (Format::Tsv, dialect(b'\t', None), "TSV"),
        (
            Format::Csv,
            dialect(b';', Some(b'"')).without_header(),
            "CSV, semicolons, no header",
        ),
        (Format::Csv, dialect(b'|', None), "CSV, pipes, no quotes"),
        (
            Format::Tsv,
            dialect(b'\'', Some(b'\\')),
            "TSV, delimiter ', quote \\",
        ),
        (Format::Csv, dialect(1, Some(b'"')), "CSV, delimiter \\x01"),
        (
            Format::Csv,
            default.with_skipped_lines(1).without_header(),
            "CSV, 1 line skipped, no header",
        ),
    ] {
        let source = spooled(format, &dialect, "").unwrap();
        assert_eq!(source.description(), expected);
        assert_eq!(source.is_usual(), !expected.contains(','));
    }
}

#[test]
fn what_seems_to_be_written_in_another_way_is_told() {
    let files = Files::new();
    let default = Dialect::default();
    let without_header = default.without_header();
    let commas = default.with_delimiter(b',').unwrap();
    let semicolons = dialect(b';', Some(b'"'));
    for (name, dialect, text, expected) in [
        (
            "t.csv",
            default,
            "id;b\n1;2\n",
            Some("and holds a semicolon: if that divides columns, name it"),
        ),
        (
            "t.csv",
            default,
            "id\tb\n1\t2\n",
            Some("and holds a tab: if that divides columns, name it"),
        ),
        (
            "t.csv",
            default,
            "id|b\n1|2\n",
            Some("and holds a pipe: if that divides columns, name it"),
        ),
        (
            "t.tsv",
            default,
            "id,b\n1,2\n",
            Some("and holds a comma: if that divides columns, name it"),
        ),
        (
            "t.csv",
            without_header,
            "1;2\n",
            Some("and holds a semicolon: if that divides columns, name it"),
        ),
        ("t.csv", default, "id,b;c\n1,2\n", None),
        ("t.csv", default, "\"id,b\"\n1\n", None),
        ("t.csv", default, "id\n1;2\n", None),
        ("t.csv", semicolons, "\"id;b\"\n1\n", None),
        ("t.tsv", commas, "id\n1\n", None),
        ("t.txt", default, "1;2\n", None),
        (
            "t.tsv",
            default,
            "\"id\"\tb\t\"c\"\n",
            Some("2 column names begin and end"),
        ),
        ("t.tsv", default, "\"\tb\"\n1\t2\n", None),
        ("t.csv", default, "\"id\",b\n1,2\n", None),
        ("t.txt", default, "\"id\"\n", None),
        (
            "t.csv",
            default,
            "i\0d\0\n\0",
            Some("as in UTF-16LE without a byte order mark"),
        ),
        (
            "t.txt",
            default,
            "\x001\x002",
            Some("as in UTF-16BE without a byte order mark"),
        ),
        ("t.txt", default, "1\x002", None),
    ] {
        let input = files.text(name, text);
        let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
        let doubts = source.doubts().unwrap();
        let doubts: Vec<_> = doubts.iter().map(ToString::to_string).collect();
        match expected {
            None => assert!(doubts.is_empty(), "{text:?}: {doubts:?}"),
            Some(expected) => {
                assert_eq!(doubts.len(), 1, "{text:?}: {doubts:?}");
                assert!(doubts[0].contains(expected), "{doubts:?}");
            }
        }
    }
}

#[test]
fn an_encoding_alone_makes_no_csv() {
    let files = Files::new();
    let words = files.text("words", b"\xe9\n");
    let dialect = Dialect::default().with_encoding("latin1".parse().unwrap());
    let source = Source::open(&words, None, &dialect, false, &Progress::default()).unwrap();
    assert_eq!(source.format(), Format::Lines);
    assert_eq!(source.description(), "lines, windows-1252");
    assert!(!source.is_usual());
    let refused = Source::open(&words, None, &dialect, true, &Progress::default());
    assert!(matches!(
        refused,
        Err(Error::Source(SourceError::InputEnding { .. }))
    ));
}
