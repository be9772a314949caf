//! Texts that are written in other ways than is usual in their format.

use std::fs;

use arrow_array::{Int32Array, StringArray};
use proptest::prelude::*;
use psijoin_source::{Dialect, Doubt, ErrorKind, Format, Progress, Source};
use psijoin_table::{Error, KeySpec};

use crate::{
    Files, array, assert_ends_with, assert_starts_with, held::Keys, items, join, join_dialect, key,
    read, read_bytes, read_dialect,
};

fn dialect(delimiter: u8, quote: Option<u8>) -> Dialect {
    let dialect = Dialect::default().with_delimiter(delimiter).unwrap();
    dialect.with_quote(quote).unwrap()
}

fn spooled(format: Format, dialect: &Dialect, text: &str) -> Result<Source, Error> {
    let progress = Progress::default();
    Ok(Source::spool(
        text.as_bytes(),
        "t",
        format,
        dialect,
        &progress,
    )?)
}

#[test]
fn every_dialect_has_the_same_keys_and_keeps_its_bytes() {
    let files = Files::new();
    let expected = read_bytes(
        Format::Csv,
        "id,b\n\"x,;y\",1\nz,2\n\"x,;y\",3\n",
        &key(&["id"], &[]),
    );
    let expected = expected.unwrap();
    for (name, dialect, text, rows) in [
        (
            "a.csv",
            dialect(b';', Some(b'"')),
            "\u{feff}id;b\r\n\"x,;y\";1\r\n\r\n",
            ["z;2\n", "\"x,;y\";3"],
        ),
        (
            "b.csv",
            dialect(b'|', Some(b'\'')),
            "id|'b'\n'x,;y'|1\n",
            ["'z'|2\r\n", "x,;y|'3'\n"],
        ),
        (
            "c.csv",
            dialect(b'\t', None),
            "id\tb\nx,;y\t1\n",
            ["z\t2\n", "x,;y\t3\n"],
        ),
        (
            "d.tsv",
            Dialect::default().with_quote(Some(b'"')).unwrap(),
            "id\tb\n\"x,;y\"\t1\n",
            ["z\t2\n", "x,;y\t3\n"],
        ),
        (
            "e.tsv",
            dialect(b'~', None),
            "id~b\nx,;y~1\n",
            ["z~2\n", "x,;y~3\n"],
        ),
        (
            "f.dat",
            dialect(b' ', Some(b'"')),
            "id b\nx,;y 1\n",
            ["z 2\n", "x,;y 3\n"],
        ),
    ] {
        let whole = text.to_owned() + rows[0] + rows[1];
        let input = files.text(name, &whole);
        let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
        let keys = Keys::read(&source, &key(&["id"], &[]), &[], &Progress::default());
        assert_eq!(keys.unwrap(), expected, "{name}");
        let output = files.path(&format!("out-{}", name.replace(".dat", ".csv")));
        let id = key(&["id"], &[]);
        join_dialect(&input, &dialect, &id, |item| item == 0, &output).unwrap();
        let without_blank = text.replace("\r\n\r\n", "\r\n");
        assert_eq!(
            fs::read_to_string(&output).unwrap(),
            without_blank + rows[1],
            "{name}"
        );
    }
}

#[test]
fn a_quote_is_a_character_in_tsv() {
    let files = Files::new();
    let text = "id\tb\n\"a\t\"1\" x\nb\"\t\"\n\"\"\ty\n\"a\t\"\n";
    let input = files.text("t.tsv", text);
    let keys = read(&input, &key(&["id"], &[])).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(1), Some(2), Some(0)]);
    join(
        &input,
        &key(&["id"], &[]),
        |item| item == 0,
        &files.path("o.tsv"),
    )
    .unwrap();
    assert_eq!(files.read("o.tsv"), "id\tb\n\"a\t\"1\" x\n\"a\t\"\n");
    join(
        &input,
        &key(&["id"], &[]),
        |item| item == 0,
        &files.path("o.csv"),
    )
    .unwrap();
    assert_eq!(
        files.read("o.csv"),
        "id,b\n\"\"\"a\",\"\"\"1\"\" x\"\n\"\"\"a\",\"\"\"\"\n"
    );
}

#[test]
fn a_quote_deep_in_a_table_is_a_fault_only_where_quotes_are() {
    let mut lines: Vec<String> = (1..20_000).map(|row| format!("{row}\tx")).collect();
    lines.insert(0, "id\tb".to_owned());
    lines[13_511] = "13511\t\"x\" y".to_owned();
    let text = lines.join("\n");
    let id = key(&["id"], &[]);
    let keys = read_bytes(Format::Tsv, &text, &id).unwrap();
    assert_eq!(keys.counts.distinct, 19_999);
    let quoted = Dialect::default().with_quote(Some(b'"')).unwrap();
    let error = read_dialect(Format::Tsv, &quoted, &text, &id).unwrap_err();
    let message = error.to_string();
    assert_starts_with(
        &message,
        "standard input, line 13512, field 2: text after the closing quote",
    );
    assert_ends_with(&message, "say that it has no quotes)");
}

#[test]
fn without_a_header_columns_are_numbered() {
    let files = Files::new();
    let dialect = Dialect::default().without_header();
    let input = files.text("t.csv", "\n\"7\",a\n8,b\n\n7,c\n");
    let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
    assert_eq!(source.columns().unwrap(), ["1", "2"]);
    for (name, expected) in [
        ("o.csv", "\"7\",a\n7,c\n"),
        ("o.tsv", "7\ta\n7\tc\n"),
        ("o2.csv", "\"7\",a\n7,c\n"),
    ] {
        let output = files.path(name);
        let rows = join_dialect(
            &input,
            &dialect,
            &key(&["1"], &[]),
            |item| item == 0,
            &output,
        );
        assert_eq!(rows.unwrap(), 2);
        assert_eq!(fs::read_to_string(output).unwrap(), expected);
    }
    let output = files.path("o.parquet");
    join_dialect(&input, &dialect, &key(&["1"], &[]), |_| true, &output).unwrap();
    assert_eq!(crate::open(&output).columns().unwrap(), ["1", "2"]);

    let bytes = |text: &str, columns: &[&str]| {
        read_dialect(Format::Csv, &dialect, text, &key(columns, &[]))
    };
    // The first row alone may exceed what is read at once.
    let long = "x".repeat(1 << 20);
    let keys = bytes(&format!("\u{feff}{long},1\n{long},2\ny,3\n"), &["1"]).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(0), Some(1)]);
    for (text, columns, message) in [
        (
            "a,b\n",
            &["id"][..],
            "standard input has no column `id`; its columns are `1`, `2`",
        ),
        (
            "a,b\n\nc\n",
            &["2"],
            "standard input, line 3: 1 field where the first row has 2 (does a field hold the \
             delimiter, without quotes around it? or is the file written in another way than it is \
             read?)",
        ),
        (
            "\n\"a\n",
            &["1"],
            "standard input, line 2, field 1: a quote is opened and never closed (if quotes are \
             mere characters in this file, say that it has no quotes)",
        ),
        (
            "\n\r\n",
            &["1"],
            "standard input has no rows: without a header, the first row shows how many columns \
             there are",
        ),
    ] {
        let error = bytes(text, columns).unwrap_err();
        assert_eq!(error.to_string(), message);
        assert_eq!(error.kind(), ErrorKind::Input);
    }
}

/// Text that nobody reads as a table before and between the rows: a preamble, and comments.
const ANNOTATED: &str = "Report \"of\n\r\n#id,x\r\n\nid,b\n# a \"comment, without an end\n7,\"x\n# no comment\"\n\"#8\",y\n#8,z\n 9,#\n7,last\n# end";

fn annotated() -> Dialect {
    let dialect = Dialect::default().with_skipped_lines(2);
    dialect.with_comment(b'#').unwrap()
}

#[test]
fn skipped_lines_and_comments_are_no_rows() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let marked = format!("\u{feff}{ANNOTATED}");
    let input = files.text("t.csv", &marked);
    let source = Source::open(&input, None, &annotated(), true, &Progress::default()).unwrap();
    assert_eq!(source.description(), "CSV, 2 lines skipped, comments #");
    let keys = Keys::read(&source, &id, &[], &Progress::default()).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(1), Some(2), Some(0)]);
    for (name, expected) in [
        (
            "o.csv",
            "\u{feff}id,b\n7,\"x\n# no comment\"\n\"#8\",y\n7,last\n",
        ),
        ("o.parquet", ""),
    ] {
        let output = files.path(name);
        let rows = join_dialect(&input, &annotated(), &id, |item| item < 2, &output);
        assert_eq!(rows.unwrap(), 3);
        if name == "o.csv" {
            assert_eq!(files.read(name), expected);
        }
    }

    let streamed = read_dialect(Format::Csv, &annotated(), ANNOTATED, &id).unwrap();
    assert_eq!(items(&streamed), items(&keys));
    let wide: Vec<u8> = marked.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let input = files.text("wide.csv", wide);
    let source = Source::open(&input, None, &annotated(), true, &Progress::default()).unwrap();
    let wide = Keys::read(&source, &id, &[], &Progress::default()).unwrap();
    assert_eq!(items(&wide), items(&keys));

    let bare = annotated().without_header();
    let text = ANNOTATED.replace("id,b\n", "");
    let bare = read_dialect(Format::Csv, &bare, text, &key(&["1"], &[])).unwrap();
    assert_eq!(items(&bare), items(&keys));

    let two = [input, files.text("second.csv", ANNOTATED)];
    let two = Source::open_all(&two, None, &annotated(), true, &Progress::default());
    assert!(two.is_err(), "they are encoded in two ways");
    let two = [files.text("1.csv", &marked), files.text("2.csv", ANNOTATED)];
    let two = Source::open_all(&two, None, &annotated(), true, &Progress::default()).unwrap();
    let two = Keys::read(&two, &id, &[], &Progress::default()).unwrap();
    assert_eq!((two.counts.rows, two.counts.distinct), (8, 3));
}

#[test]
fn lines_are_those_of_the_file_behind_skipped_ones_and_comments() {
    let id = key(&["id"], &[]);
    for (text, message) in [
        (
            format!("{ANNOTATED}\n7\n"),
            "standard input, line 14: 1 field where the header has 2",
        ),
        (
            format!("{ANNOTATED}\n7,\"a\n"),
            "standard input, line 14, field 2: a quote is opened",
        ),
        ("a\n".to_owned(), "standard input has no header"),
        (
            "a\rb\nc\nid\n".to_owned(),
            "standard input, line 1, field 1: a carriage return",
        ),
        (
            "a\nb\nid\n1\n#a\rb\n".to_owned(),
            "standard input, line 5, field 1: a carriage return",
        ),
    ] {
        let error = read_dialect(Format::Csv, &annotated(), text, &id).unwrap_err();
        assert_starts_with(&error.to_string(), message);
    }
    // Nobody reads what is in a comment.
    let keys = read_dialect(Format::Csv, &annotated(), b"\xe9\n\nid\n#\xe9\n1\n", &id);
    assert_eq!(keys.unwrap().counts.rows, 1);
}

#[test]
fn dialects_that_make_no_sense_are_refused() {
    let default = Dialect::default();
    for byte in [b'\r', b'\n', 0xe9] {
        for refused in [default.with_delimiter(byte), default.with_quote(Some(byte))] {
            assert_eq!(refused.unwrap_err().kind(), ErrorKind::Usage);
        }
    }
    let quote = default.with_delimiter(b'"').unwrap();
    let same = spooled(Format::Csv, &quote, "").unwrap_err();
    assert_eq!(same.kind(), ErrorKind::Usage);
    assert!(same.to_string().contains("name another quote"));
    assert!(spooled(Format::Tsv, &quote, "").is_ok());

    for (format, called) in [(Format::Lines, "lines"), (Format::Parquet, "Parquet")] {
        for said in [default.without_header(), default.with_quote(None).unwrap()] {
            let error = spooled(format, &said, "").unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Usage);
            assert_eq!(
                error.to_string(),
                format!(
                    "t is read as {called}: a delimiter, a quote, escapes, a missing header, lines to skip and comments are \
                     for CSV and TSV, an encoding for these and lines"
                )
            );
        }
    }
}

#[test]
fn what_tsv_cannot_hold_is_refused_with_its_row() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let csv = files.text("t.csv", "id,b\n1,x\n2,\"y\nz\"\n3,\"y\tz\"\n");
    let message = |input, matched: usize| {
        let output = files.path("o.tsv");
        let error = join(input, &id, |item| item == matched, &output).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        assert!(!output.exists());
        error.to_string()
    };
    for (matched, place) in [(1, "line 3"), (2, "line 5")] {
        let message = message(&csv, matched);
        assert_ends_with(
            &message,
            &format!(
                "{place} of the input has a tab or a line break in a field, which a .tsv file \
                 cannot hold; write .csv or .parquet"
            ),
        );
    }
    assert_eq!(
        join(&csv, &id, |item| item == 0, &files.path("o.tsv")).unwrap(),
        1
    );
    fs::remove_file(files.path("o.tsv")).unwrap();

    let parquet = files.parquet(
        "t.parquet",
        &[
            ("id", array(Int32Array::from(vec![1, 2]))),
            ("b", array(StringArray::from(vec!["x", "\ry"]))),
        ],
    );
    assert!(message(&parquet, 1).contains("row 2 of the input has a tab or a line break"));
    let header = files.text("h.csv", "id,\"a\tb\"\n1,2\n");
    assert!(message(&header, 0).contains("the name of its column 2 holds a tab"));
}

#[test]
fn key_fields_in_stray_quotes_are_counted() {
    let text = "id\tb\tn\n\"1\"\t\"2\"\t\"3\"\n\"\t2\t3\n\"\"\t\"2\t3\"\n";
    let doubts = |dialect: &Dialect, format, text: &str, columns: &[&str]| {
        let keys = read_dialect(format, dialect, text, &key(columns, &[]));
        keys.unwrap().doubts
    };
    let default = Dialect::default();
    assert_eq!(
        doubts(&default, Format::Tsv, text, &["id"]),
        [Doubt::QuotedKeys(2)]
    );
    assert_eq!(
        doubts(&default, Format::Tsv, text, &["id", "b"]),
        [Doubt::QuotedKeys(3)]
    );
    let unquoted = default.with_quote(None).unwrap();
    let csv = text.replace('\t', ",");
    assert_eq!(
        doubts(&unquoted, Format::Csv, &csv, &["id"]),
        [Doubt::QuotedKeys(2)]
    );
    let quotes = default.with_quote(Some(b'"')).unwrap();
    let quoted = "id\tb\n\"1\"\t2\n\"\"\"1\"\"\"\t2\n";
    assert!(doubts(&quotes, Format::Tsv, quoted, &["id"]).is_empty());
    assert!(doubts(&default, Format::Lines, "\"1\"\n", &[]).is_empty());
    assert!(doubts(&default, Format::Tsv, "id\tb\n1\t\"2\"\n", &["id"]).is_empty());
}

/// Returns rows that a text in this dialect can hold, and that text.
fn tables() -> impl Strategy<Value = (Dialect, bool, Vec<Vec<String>>, Vec<u8>)> {
    let rows = (1usize..4).prop_flat_map(|columns| {
        let field = prop_oneof!["[ab]{1,2}", "[a,;\"'\r\n\t |é]{0,4}"];
        prop::collection::vec(prop::collection::vec(field, columns), 1..8)
    });
    let delimiters = prop::sample::select(b",;\t| ~a".to_vec());
    let quotes = prop::sample::select(vec![Some(b'"'), Some(b'\''), Some(b'b'), None]);
    (
        delimiters,
        quotes,
        any::<bool>(),
        any::<bool>(),
        any::<bool>(),
        rows,
    )
        .prop_map(|(delimiter, quote, header, crlf, always, mut rows)| {
            let style = match (quote, always) {
                (None, _) => csv::QuoteStyle::Never,
                (_, true) => csv::QuoteStyle::Always,
                (_, false) => csv::QuoteStyle::Necessary,
            };
            for field in rows.iter_mut().flatten() {
                if quote.is_none() {
                    field.retain(|c| !['\r', '\n', char::from(delimiter)].contains(&c));
                }
            }
            if quote.is_none() {
                // A row that would be a blank line is none.
                rows.retain(|row| row.len() > 1 || !row[0].is_empty());
            }
            let mut writer = csv::WriterBuilder::new()
                .delimiter(delimiter)
                .quote(quote.unwrap_or(b'"'))
                .quote_style(style)
                .terminator(match crlf {
                    true => csv::Terminator::CRLF,
                    false => csv::Terminator::Any(b'\n'),
                })
                .from_writer(Vec::new());
            for row in &rows {
                writer.write_record(row).unwrap();
            }
            let said = dialect(delimiter, quote);
            let said = if header { said } else { said.without_header() };
            (said, header, rows, writer.into_inner().unwrap())
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// The output of the `csv` crate in a dialect is read back, and copied byte for byte.
    #[test]
    fn random_tables_in_random_dialects_are_read_back(
        (dialect, header, rows, text) in tables(),
        tsv: bool,
    ) {
        prop_assume!(!rows.is_empty());
        let files = Files::new();
        let input = files.text(if tsv { "t.tsv" } else { "t.csv" }, &text);
        let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
        let names = source.columns().unwrap();
        let data = if header {
            prop_assert_eq!(&names, &rows[0]);
            &rows[1..]
        } else {
            &rows[..]
        };
        prop_assert_eq!(names.len(), rows[0].len());
        let first = names.iter().filter(|name| **name == names[0]).count();
        if first == 1 {
            let key = KeySpec::new(vec![names[0].clone()], vec![]).unwrap();
            // Written as is usual in CSV, the rows are the same ones.
            let mut usual = csv::Writer::from_writer(Vec::new());
            usual.write_record((0..names.len()).map(|index| index.to_string())).unwrap();
            for row in data {
                usual.write_record(row).unwrap();
            }
            let usual = usual.into_inner().unwrap();
            let first = KeySpec::new(vec!["0".into()], vec![]).unwrap();
            let expected = read_bytes(Format::Csv, usual, &first).unwrap();
            let keys = Keys::read(&source, &key, &[], &Progress::default()).unwrap();
            prop_assert_eq!(&keys.fingerprints, &expected.fingerprints);
            prop_assert_eq!(&keys.first_rows, &expected.first_rows);
            prop_assert_eq!((&keys.repeated, keys.counts), (&expected.repeated, expected.counts));
            if keys.counts.left_out == 0 {
                let output = files.path(if tsv { "o.tsv" } else { "o.csv" });
                join_dialect(&input, &dialect, &key, |_| true, &output).unwrap();
                prop_assert_eq!(fs::read(output).unwrap(), text);
            }
        }
    }
}

#[test]
fn nulls_as_texts_and_tables_without_keys_are_doubtful() {
    let doubts = |format, dialect: &Dialect, text: &str, key: &KeySpec| {
        read_dialect(format, dialect, text, key).unwrap().doubts
    };
    let (id, usual) = (key(&["id"], &[]), Dialect::default());
    let text = "id\n\\N\n1\n\\N\n";
    assert_eq!(
        doubts(Format::Tsv, &usual, text, &id),
        [Doubt::NullMarks(2)]
    );
    assert_eq!(
        doubts(Format::Csv, &usual, text, &id),
        [Doubt::NullMarks(2)]
    );
    assert_eq!(doubts(Format::Tsv, &usual.with_escapes(), text, &id), []);
    let digits = key(&["id"], &["id=digits"]);
    assert_eq!(
        doubts(Format::Csv, &usual, "id\nada\n", &digits),
        [Doubt::NoKeys]
    );
    assert_eq!(doubts(Format::Csv, &usual, "id\n", &id), []);

    let progress = Progress::default();
    let excel = "sep=,\nid,name\n";
    let source = Source::spool(excel.as_bytes(), "t", Format::Csv, &usual, &progress).unwrap();
    assert_eq!(source.doubts().unwrap(), [Doubt::SeparatorLine]);
}
