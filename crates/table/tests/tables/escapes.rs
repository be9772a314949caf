//! Texts without quotes, whose escapes begin with a backslash.

use std::fs;

use proptest::prelude::*;
use psijoin_source::{Dialect, ErrorKind, Format, Progress, Source, SourceError};
use psijoin_table::{Error, WriteError};

use crate::{
    Files, assert_contains, held::Keys, items, join_dialect, key, read, read_bytes, read_dialect,
    set_of, values,
};

fn escapes() -> Dialect {
    Dialect::default().with_escapes()
}

fn pipes() -> Dialect {
    let dialect = escapes().with_delimiter(b'|').unwrap();
    dialect.with_quote(None).unwrap()
}

/// Returns a field where `letter` tells what follows the backslash of a character that is escaped.
fn escaped(field: Option<&str>, letter: impl Fn(char) -> Option<char>) -> String {
    let Some(field) = field else {
        return r"\N".to_owned();
    };
    let mut text = String::new();
    for character in field.chars() {
        match letter(character) {
            Some(letter) => text.extend(['\\', letter]),
            None => text.push(character),
        }
    }
    text
}

/// Returns a field as PostgreSQL's `COPY` writes it.
fn postgresql(field: Option<&str>, delimiter: char) -> String {
    escaped(field, |character| match character {
        '\x08' => Some('b'),
        '\x0c' => Some('f'),
        '\n' => Some('n'),
        '\r' => Some('r'),
        '\t' => Some('t'),
        '\x0b' => Some('v'),
        _ => ['\\', delimiter].contains(&character).then_some(character),
    })
}

/// Returns a field as MySQL's `SELECT … INTO OUTFILE` writes it.
fn mysql(field: Option<&str>, delimiter: char) -> String {
    escaped(field, |character| match character {
        '\0' => Some('0'),
        _ => ['\\', '\n', delimiter]
            .contains(&character)
            .then_some(character),
    })
}

#[test]
fn escapes_stand_for_characters_and_rows_keep_their_bytes() {
    let files = Files::new();
    let header = "id\tn\\tame\tn\r\n";
    let rows = [
        "a\\tb\tx\\\\\t1.5\r\n",
        "\\N\ty\t2\r\n",
        "a\\\tb\t\\N\t\\N\n",
        "c\\\nd\t\\\\N\t\\N\n",
        "a\tb\\n\t3",
    ];
    let input = files.text("t.tsv", header.to_owned() + &rows.concat());
    let id = key(&["id"], &[]);
    let progress = Progress::default();
    let source = Source::open(&input, None, &escapes(), true, &progress).unwrap();
    assert_eq!(source.columns().unwrap(), ["id", "n\tame", "n"]);
    assert_eq!(source.description(), "TSV, escapes");
    assert!(!source.is_usual());
    let keys = Keys::read(&source, &id, &["n".to_owned()], &progress).unwrap();
    assert_eq!(items(&keys), [Some(0), None, Some(0), Some(1), Some(2)]);
    assert_eq!(values(&keys, 0), [15, 0, 30]);
    assert_eq!(keys.numbers[0].empty, 2);
    let csv = "id\n\"a\tb\"\n\"\"\na\tb\n\"c\nd\"\na\n";
    let expected = read_bytes(Format::Csv, csv, &id).unwrap();
    assert_eq!(keys.fingerprints, expected.fingerprints);

    let written = |name: &str, matched: &dyn Fn(usize) -> bool| {
        let output = files.path(name);
        let rows = join_dialect(&input, &escapes(), &id, matched, &output)?;
        Ok::<_, Error>((rows, output))
    };
    let (count, output) = written("o.tsv", &|item| item < 2).unwrap();
    assert_eq!(count, 3);
    assert_eq!(
        fs::read_to_string(output).unwrap(),
        [header, rows[0], rows[2], rows[3]].concat()
    );
    let (_, output) = written("o.csv", &|_| true).unwrap();
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "id,n\tame,n\na\tb,x\\,1.5\na\tb,,\n\"c\nd\",\\N,\na,\"b\n\",3\n"
    );
    let without_null = read(&output, &id).unwrap();
    assert_eq!(without_null.fingerprints, keys.fingerprints);
    let (_, output) = written("o.parquet", &|_| true).unwrap();
    let of_parquet = read(&output, &id).unwrap();
    assert_eq!(of_parquet.fingerprints, without_null.fingerprints);
    assert_eq!(of_parquet.counts, without_null.counts);
    let refused = written("o.txt", &|_| true).unwrap_err();
    assert!(matches!(refused, Error::Write(WriteError::Unfit { .. })));
}

#[test]
fn what_tsv_cannot_hold_stays_an_error() {
    let files = Files::new();
    let input = files.text("t.csv", "id|b\n1|x\\ny\n");
    let output = files.path("o.tsv");
    let refused = join_dialect(&input, &pipes(), &key(&["id"], &[]), |_| true, &output);
    let message = refused.unwrap_err().to_string();
    assert_contains(&message, "line 2 of the input has a tab or a line break");
}

#[test]
fn a_backslash_is_a_character_unless_escapes_are_said() {
    let id = key(&["id"], &[]);
    let keys = read_bytes(Format::Tsv, "id\n\\N\n\\t\na\\\n", &id).unwrap();
    assert_eq!(keys.counts.distinct, 3);
    let keys = read_dialect(Format::Tsv, &escapes(), "id\n\\N\n\\t\n\\\\N\n", &id).unwrap();
    assert_eq!((keys.counts.distinct, keys.counts.left_out), (2, 1));
}

#[test]
fn other_backslashes_are_told_by_line_and_field() {
    for (text, line, field) in [
        ("id\tb\\x\n", 1, 2),
        ("id\tb\n1\t2\n\\\t1\t2\\\\\\", 3, 2),
        ("id\tb\n1\\\n2\t\\.\n", 3, 2),
        ("id\tb\n1\t2\n3\\\"\t4\\x\n", 3, 1),
        ("id\tb\r\n1\ta\\\r\n", 2, 2),
        ("id\tb\n1\ta\\Nb\n", 2, 2),
    ] {
        let error = read_dialect(Format::Tsv, &escapes(), text, &key(&["id"], &[])).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        assert_eq!(
            error.to_string(),
            format!(
                "standard input, line {line}, field {field}: an invalid escape sequence (a \
                 backslash itself is written twice; if backslashes are mere characters in this \
                 file, read it without escapes; delete a last line \\., which is an end mark)"
            )
        );
    }
}

#[test]
fn escapes_that_make_no_sense_are_refused() {
    let open = |format, dialect: &Dialect| {
        let source = Source::spool(&b"id\n"[..], "t", format, dialect, &Progress::default());
        source.unwrap_err()
    };
    let quoted = escapes().with_quote(Some(b'"')).unwrap();
    for (format, dialect) in [(Format::Csv, escapes()), (Format::Tsv, quoted)] {
        let error = open(format, &dialect);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("say that there are no quotes"));
    }
    for delimiter in *b"\\nN0" {
        let error = open(Format::Tsv, &escapes().with_delimiter(delimiter).unwrap());
        assert!(matches!(
            error,
            psijoin_source::Error::Source(SourceError::DelimiterOfEscapes)
        ));
        assert_eq!(error.kind(), ErrorKind::Usage);
    }
    for format in [Format::Lines, Format::Parquet] {
        assert!(matches!(
            open(format, &escapes()),
            psijoin_source::Error::Source(SourceError::NoDialect { .. })
        ));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The output of a database has the keys of the same table in CSV, and is copied byte for byte.
    #[test]
    fn what_databases_write_is_read_back(
        rows in prop::collection::vec(
            [(); 2].map(|()| prop::option::of("[aNtn\\\\\t\n\r|é\0\x08\x0b\x0c]{0,5}")),
            1..8,
        ),
        is_tsv: bool,
        is_mysql: bool,
    ) {
        let (dialect, delimiter, name) = match is_tsv {
            true => (escapes(), '\t', "t.tsv"),
            false => (pipes(), '|', "t.csv"),
        };
        let mut text = format!("id{delimiter}b\n");
        let mut csv = csv::Writer::from_writer(Vec::new());
        csv.write_record(["id", "b"]).unwrap();
        for row in &rows {
            let row = row.each_ref().map(|field| match is_mysql {
                // It leaves a carriage return as it is, which psijoin takes for no character.
                true => field.as_ref().map(|field| field.replace('\r', "")),
                false => field.clone(),
            });
            let row = row.each_ref().map(|field| field.as_deref());
            let write = if is_mysql { mysql } else { postgresql };
            let fields = row.map(|field| write(field, delimiter));
            text += &format!("{}\n", fields.join(&delimiter.to_string()));
            csv.write_record(row.map(Option::unwrap_or_default)).unwrap();
        }
        let id = key(&["id", "b"], &[]);
        let expected = set_of(read_bytes(Format::Csv, csv.into_inner().unwrap(), &id));
        let files = Files::new();
        let input = files.text(name, &text);
        let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
        let keys = set_of(Keys::read(&source, &id, &[], &Progress::default()));
        prop_assert_eq!(&keys, &expected);
        if keys.counts.left_out == 0 {
            let output = files.path(&format!("o-{name}"));
            join_dialect(&input, &dialect, &id, |_| true, &output).unwrap();
            prop_assert_eq!(fs::read_to_string(output).unwrap(), text);
        }
    }
}
