//! No error shows anything of a table: not its values, and not the first record of a text, which
//! is a row where there is no header.

use std::{error, io::Write};

use arrow_array::{Float64Array, Int64Array, StringArray};
use psijoin_source::{Dialect, Format, Progress, ReadError, Source, check_numbers};
use psijoin_table::{Destination, Error, Existing};

use crate::{
    Files, array, assert_contains, assert_ends_with, held::Keys, join, key, open, read, read_bytes,
    read_dialect,
};

/// Stands in each field of the first records.
const MARKER: &str = "hush";

/// Returns all that can be printed of an error.
fn shown(error: &dyn error::Error) -> String {
    let mut text = format!("{error}\n{error:?}\n{error:#?}\n");
    let mut source = error.source();
    while let Some(inner) = source {
        text += &format!("{inner}\n{inner:?}\n");
        source = inner.source();
    }
    text
}

#[track_caller]
fn assert_silent<T>(result: Result<T, impl error::Error>) -> String {
    let Err(error) = result else {
        panic!("not an error");
    };
    let text = shown(&error);
    assert!(!text.contains(MARKER), "{text}");
    // Bytes in a list of numbers are readable too.
    assert!(!text.contains("104, 117, 115, 104"), "{text}");
    error.to_string()
}

fn numbers(format: Format, text: impl AsRef<[u8]>, column: &str) -> Result<Keys, Error> {
    let progress = Progress::default();
    let source = Source::spool(text.as_ref(), "t", format, &Dialect::default(), &progress)?;
    let key = key(&[column], &[]);
    Keys::read(&source, &key, &[column.to_owned()], &progress)
}

#[test]
fn a_text_without_a_header_does_not_show_its_first_row() {
    let text = "hush-1,hush-2,hush-2\nhush-3,hush-4,hush-5\n";
    for (format, text) in [
        (Format::Csv, text.to_owned()),
        (Format::Tsv, text.replace(',', "\t")),
    ] {
        let read =
            |columns: &[&str], rules: &[&str]| read_bytes(format, &text, &key(columns, rules));
        assert!(assert_silent(read(&["id"], &[])).contains("3 columns"));
        assert!(assert_silent(read(&[], &[])).contains("3 columns"));
        assert_silent(numbers(format, &text, "n"));
        let source = Source::spool(
            text.as_bytes(),
            "t",
            format,
            &Dialect::default(),
            &Progress::default(),
        )
        .unwrap();
        assert_silent(check_numbers(&source, &["n".to_owned()]));
        assert_silent(source.check_key(&key(&["id"], &[])));
    }
    assert_silent(read_bytes(
        Format::Csv,
        "hush\nhush\n",
        &key(&[], &["x=trim"]),
    ));
    assert_silent(read_bytes(Format::Lines, "hush\n", &key(&["hu"], &[])));
    assert_silent(Keys::read_csv(
        text.as_bytes(),
        "t",
        &Dialect::default(),
        &key(&["id"], &[]),
        &[],
    ));
}

#[test]
fn broken_texts_are_not_quoted() {
    for text in [
        &b"hush,hush\nhush\n"[..],
        b"hush,hush\nhush,hush,hush\n",
        b"hush\xff,hush\n",
        b"hush,hush\nhush,\xffhush\n",
        b"hush,\"hush\nhush,hush\n",
        b"hush,\"hush\"hush\nhush,hush\n",
        b"hush,hush\rhush,hush\r",
        b"\n\n",
    ] {
        // Found by the name that the user gives, where there is one.
        for columns in [&[][..], &["id"]] {
            assert_silent(read_bytes(Format::Csv, text, &key(columns, &[])));
        }
    }
    assert_silent(read_bytes(Format::Lines, b"hush\xff\n", &key(&[], &[])));
    let long = [&b"hush,hush\n\""[..], &b"hush".repeat(1 << 24)].concat();
    assert_silent(read_bytes(Format::Csv, &long, &key(&[], &[])));
}

#[test]
fn dialects_show_nothing() {
    let semicolons = Dialect::default().with_delimiter(b';').unwrap();
    let unquoted = Dialect::default().with_quote(None).unwrap();
    let without_header = semicolons.without_header();
    for (dialect, text) in [
        (&Dialect::default(), "hush;hush\nhush;hush\n"),
        (&Dialect::default(), "hush\thush\nhush\thush\n"),
        (&Dialect::default(), "hush|hush\nhush|hush\n"),
        (&semicolons, "hush;hush\nhush;\"hush\n"),
        (&semicolons, "hush;hush\nhush;\"hush\"hush\n"),
        (&unquoted, "\"hush,hush\nhush\n"),
        (&without_header, "hush;hush\nhush;hush;hush\n"),
        (&without_header, "\"hush"),
        (&without_header, "hush\rhush"),
    ] {
        assert_silent(read_dialect(Format::Csv, dialect, text, &key(&["id"], &[])));
        let keyless = read_dialect(Format::Csv, dialect, text, &key(&[], &["9=trim"]));
        assert_silent(keyless);
    }
    let source = |dialect: &Dialect| {
        let progress = Progress::default();
        Source::spool(
            &b"hush;hush\nhush;hush\n"[..],
            "t",
            Format::Csv,
            dialect,
            &progress,
        )
    };
    for dialect in [semicolons, without_header] {
        assert!(!source(&dialect).unwrap().description().contains(MARKER));
    }
    assert_silent(source(&semicolons.with_quote(Some(b';')).unwrap()));
}

#[test]
fn doubts_show_nothing() {
    for (format, text) in [
        (Format::Csv, "hush;hush\nhush;hush\n"),
        (Format::Tsv, "\"hush\"\t\"hush\"\n\"hush\"\thush\n"),
        (Format::Lines, "h\0u\0s\0h\0"),
    ] {
        let dialect = Dialect::default();
        let progress = Progress::default();
        let source = Source::spool(text.as_bytes(), "t", format, &dialect, &progress).unwrap();
        let mut doubts = source.doubts().unwrap();
        assert_eq!(doubts.len(), 1);
        let numbered = read_dialect(format, &dialect.without_header(), text, &key(&["1"], &[]));
        doubts.extend(numbered.map_or(Vec::new(), |keys| keys.doubts));
        for doubt in doubts {
            let text = format!("{doubt}\n{doubt:?}");
            assert!(!text.contains(MARKER), "{text}");
        }
    }
}

#[test]
fn encodings_show_nothing() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
    let [utf_16, greek, utf_8] = ["utf-16", "windows-1253", "utf-8"]
        .map(|label| Dialect::default().with_encoding(label.parse().unwrap()));
    let lone = [&wide("hush,hush\nhush,hush")[..], &[0, 0xd8], &wide("\n")].concat();
    let odd = [&wide("hush,hush\n")[..], b"h"].concat();
    let marked = "\u{feff}hush,hush\n".as_bytes();
    for (dialect, text) in [
        (&utf_16, &lone[..]),
        (&utf_16, &odd),
        (&utf_16, marked),
        (&greek, b"hush,hush\nhush,\xaahush\n"),
        (&greek, marked),
        (&utf_8, b"hush\xaa,hush\n"),
        (&utf_8, b"\xff\xfehush"),
        (&utf_8, b"\xff\xfe\0\0hush"),
    ] {
        for columns in [&[][..], &["id"]] {
            assert_silent(read_dialect(Format::Csv, dialect, text, &key(columns, &[])));
        }
    }
}

#[test]
fn files_that_differ_are_told_apart_without_their_headers() {
    let files = Files::new();
    let first = files.text("a.csv", "hush,hush-2\nhush,hush\n");
    let without_header = Dialect::default().without_header();
    for (dialect, text) in [
        (&Dialect::default(), "hush\nhush\n"),
        (&Dialect::default(), "hush,hush-3\nhush,hush\n"),
        (&Dialect::default(), "\"hush"),
        (&Dialect::default(), "hush,hush-2\nhush\n"),
        (&without_header, "hush\n"),
        (&without_header, ""),
    ] {
        let other = files.text("b.csv", text);
        let progress = Progress::default();
        let inputs = [first.clone(), other];
        let read = Source::open_all(&inputs, None, dialect, true, &progress)
            .map_err(Error::from)
            .and_then(|source| Keys::read(&source, &key(&["1"], &[]), &[], &progress));
        assert_silent(read);
    }
}

#[test]
fn escapes_show_nothing() {
    let escapes = Dialect::default().with_escapes();
    for text in [
        "hush\\hush\thush\nhush\thush\n",
        "hush\thush\nhush\\\n",
        "hush\thush\nhush\thush\\\nhush\\.hush\n",
    ] {
        assert_silent(read_dialect(
            Format::Tsv,
            &escapes,
            text,
            &key(&["id"], &[]),
        ));
    }
    let quoted = read_dialect(Format::Csv, &escapes, "hush\n", &key(&[], &[]));
    assert_silent(quoted);
}

#[test]
fn what_tsv_cannot_hold_is_not_quoted() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    for (text, name) in [
        ("id,b\nhush,\"hush\thush\"\n", "o.tsv"),
        ("id,b\nhush,\"hush\nhush\"\n", "o.tsv"),
        ("id,\"hush\thush\"\nhush,hush\n", "o.tsv"),
    ] {
        let input = files.text("t.csv", text);
        assert_silent(join(&input, &id, |_| true, &files.path(name)));
    }
}

#[test]
fn what_is_compressed_is_not_quoted() {
    let files = Files::new();
    let table = "hush,hush\n".repeat(40);
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::none());
    encoder.write_all(table.as_bytes()).unwrap();
    let gzip = encoder.finish().unwrap();
    let zstd = zstd::encode_all(table.as_bytes(), 1).unwrap();
    let open = |name: &str, bytes: &[u8]| {
        let path = files.text(name, bytes);
        Source::open(&path, None, &Dialect::default(), true, &Progress::default())
    };
    for (name, bytes) in [("t.csv.gz", &gzip), ("t.csv.zst", &zstd)] {
        assert_silent(open(name, &bytes[..bytes.len() - 1]));
        assert_silent(open(name, table.as_bytes()));
        assert_silent(open("t.csv", bytes));
        let read = open(name, bytes).and_then(|source| source.check_key(&key(&["id"], &[])));
        assert_silent(read);
    }
}

#[test]
fn numbers_are_not_quoted() {
    for cell in [
        "hush",
        "1hush",
        "0.1234567890123456789hush",
        "1.0hush",
        "99999999999999999999",
        "1e1001",
        "1hushe5",
        "1ehush",
    ] {
        assert_silent(numbers(Format::Csv, format!("n\n{cell}\n"), "n"));
    }
}

#[test]
fn keys_that_a_rule_cannot_read_are_told_by_line_and_not_quoted() {
    for (rule, told) in [
        ("number", "`number`"),
        ("bool", "`bool`"),
        ("uuid", "`uuid`"),
        ("date", "`date`"),
        ("date:%d.%m.%Y", "`%d.%m.%Y`"),
        ("timestamp", "`timestamp`"),
        ("timestamp:Europe/Berlin", "`timestamp`"),
        ("time", "`time`"),
        ("phone:DE", "`phone:DE`"),
    ] {
        for cell in ["hush", "1hush", "hush-hush", "{hush}", "1ehush"] {
            let rules = format!("n=trim+{rule}");
            // It is told even if the row would be left out for its empty field.
            let text = format!("id,n\n,\n,{cell}\n");
            let key = key(&["id", "n"], &[&rules]);
            let message = assert_silent(read_bytes(Format::Csv, text, &key));
            assert_contains(&message, ", line 3, column `n`: ");
            assert_contains(&message, told);
        }
    }
    for cell in ["2024-10-27 02:30", "2024-03-31 02:30"] {
        let rule = ["n=timestamp:Europe/Berlin"];
        let read = read_bytes(Format::Csv, format!("n\n{cell}\n"), &key(&["n"], &rule));
        let message = assert_silent(read);
        assert_contains(&message, ", line 2, column `n`: a local time that ");
        assert!(!message.contains("02:30"), "{message}");
    }
    let files = Files::new();
    let texts = StringArray::from(vec![Some("1"), None, Some("hush")]);
    let parquet = files.parquet("t.parquet", &[("id", array(texts))]);
    let message = assert_silent(read(&parquet, &key(&[], &["id=number"])));
    assert_contains(&message, ", row 3, column `id`: ");
    let lines = read_bytes(Format::Lines, "1\n\nhush\n", &key(&[], &["value=number"]));
    assert!(assert_silent(lines).contains(", line 3, column `value`: "));
}

#[test]
fn outputs_that_do_not_fit_are_refused_without_the_row() {
    let files = Files::new();
    let twice = files.text("t.csv", "hush,hush\nhush,hush\n");
    let broken = files.text("b.csv", "id\n\"hush\nhush\"\n");
    let id = key(&["id"], &[]);
    let refused = |name: &str| {
        let path = files.path(name);
        assert_silent(Destination::prepare(
            Some(&path),
            &open(&twice),
            Existing::Replace,
        ))
    };
    assert!(
        refused("o.parquet").ends_with("its columns 1 and 2 would have the same name; write .csv")
    );
    refused("o.txt");
    refused("o.xlsx");
    refused("missing/o.csv");
    assert_silent(join(&broken, &id, |_| true, &files.path("o.txt")));
}

#[test]
fn parquet_shows_its_header_and_no_values() {
    let files = Files::new();
    let good = files.parquet(
        "t.parquet",
        &[
            ("id", array(StringArray::from(vec!["hush"; 40]))),
            ("f", array(Float64Array::from(vec![0.5; 40]))),
            ("n", array(Int64Array::from(vec![1; 40]))),
        ],
    );
    let missing = assert_silent(read(&good, &key(&["x"], &[])));
    assert_ends_with(&missing, "`id`, `f`, `n`");
    assert_silent(read(&good, &key(&["f"], &[])));
    let bytes = std::fs::read(good).unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        let mut broken = bytes.clone();
        broken[at] ^= 0xff;
        if let Err(error) = read_bytes(Format::Parquet, &broken, &key(&["id"], &[])) {
            // Its header may be shown, even if it is broken.
            if !matches!(error, Error::Read(ReadError::MissingColumn { .. })) {
                assert_silent::<()>(Err(error));
            }
            refused += 1;
        }
    }
    assert!(refused > 100);
    assert_silent(read_bytes(
        Format::Parquet,
        "hush,hush\nhush,hush\n",
        &key(&[], &[]),
    ));
    assert_silent(read_bytes(
        Format::Parquet,
        "PAR1hushhushPAR1",
        &key(&[], &[]),
    ));
}
