//! The rows that hold each key.

use std::collections::HashMap;

use arrow_array::Int32Array;
use proptest::prelude::*;
use psijoin_source::{Dialect, Format};
use psijoin_table::KeySpec;

use crate::{Files, array, fingerprints, held::Keys, items, key, read, read_bytes, read_dialect};

#[test]
fn rows_are_counted_by_sort() {
    let text = "id,name\n7,a\n8,\n7,b\n,c\n 7,d\n";
    let keys = read_bytes(Format::Csv, text, &key(&["id"], &[])).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(1), Some(0), None, Some(2)]);
    let counts = keys.counts;
    assert_eq!(
        (
            counts.rows,
            counts.left_out,
            counts.duplicates,
            counts.distinct
        ),
        (5, 1, 1, 3)
    );

    let trimmed = read_bytes(Format::Csv, text, &key(&["id"], &["id=trim"])).unwrap();
    assert_eq!(items(&trimmed), [Some(0), Some(1), Some(0), None, Some(0)]);
    assert_eq!(fingerprints(&trimmed), fingerprints(&keys)[..2]);

    let both = read_bytes(Format::Csv, text, &key(&["name", "id"], &[])).unwrap();
    assert_eq!(items(&both), [Some(0), None, Some(1), None, Some(2)]);
}

#[test]
fn a_key_that_normalises_to_nothing_is_left_out() {
    let keys = read_bytes(Format::Csv, "id\nx\n12\n", &key(&[], &["id=digits"])).unwrap();
    assert_eq!(items(&keys), [None, Some(0)]);
}

#[test]
fn the_order_of_key_columns_counts_and_their_names_do_not() {
    let text = "a,b\n1,2\n";
    let forth = read_bytes(Format::Csv, text, &key(&["a", "b"], &[])).unwrap();
    let back = read_bytes(Format::Csv, text, &key(&["b", "a"], &[])).unwrap();
    assert_ne!(forth.fingerprints, back.fingerprints);
    let renamed = read_bytes(Format::Csv, "y,x\n2,1\n", &key(&["x", "y"], &[])).unwrap();
    assert_eq!(forth.fingerprints, renamed.fingerprints);
}

#[test]
fn the_same_values_are_the_same_keys_in_every_text() {
    let key = key(&[], &[]);
    let expected = read_bytes(Format::Lines, "ann\nbob\n", &key).unwrap();
    for text in [
        "id\nann\nbob\n",
        "\u{feff}id\r\nann\r\nbob",
        "id\n\n\"ann\"\nbob\n\n\n",
    ] {
        assert_eq!(
            read_bytes(Format::Csv, text, &key).unwrap(),
            expected,
            "{text:?}"
        );
        assert_eq!(
            read_bytes(Format::Tsv, text.replace('"', ""), &key).unwrap(),
            expected,
            "{text:?}"
        );
    }
    for text in ["\u{feff}ann\nbob", "ann\r\nbob\r\n"] {
        assert_eq!(
            read_bytes(Format::Lines, text, &key).unwrap(),
            expected,
            "{text:?}"
        );
    }
    assert_eq!(
        Keys::read_csv(
            &b"id\nann\nbob\n"[..],
            "memory",
            &Dialect::default(),
            &key,
            &[]
        )
        .unwrap(),
        expected
    );
}

#[test]
fn quotes_and_commas_of_lines_are_text() {
    let lines = read_bytes(Format::Lines, "\"a\",b\n\na\n", &key(&["value"], &[])).unwrap();
    assert_eq!(items(&lines), [Some(0), None, Some(1)]);
    let csv = read_bytes(Format::Csv, "id\n\"\"\"a\"\",b\"\n", &key(&["id"], &[])).unwrap();
    assert_eq!(csv.fingerprints, fingerprints(&lines)[..1]);
}

#[test]
fn tabs_separate_tsv_and_commas_do_not() {
    let tsv = read_bytes(Format::Tsv, "a,b\tc\n1,2\t3\n", &key(&["a,b"], &[])).unwrap();
    let csv = read_bytes(Format::Csv, "x\n\"1,2\"\n", &key(&["x"], &[])).unwrap();
    assert_eq!(tsv.fingerprints, csv.fingerprints);
}

#[test]
fn a_table_may_have_no_rows() {
    for (format, text) in [
        (Format::Csv, "id,x"),
        (Format::Csv, "id\n"),
        (Format::Lines, ""),
    ] {
        let key = if format == Format::Lines {
            key(&[], &[])
        } else {
            key(&["id"], &[])
        };
        let keys = read_bytes(format, text, &key).unwrap();
        assert_eq!(
            (keys.counts.rows, keys.fingerprints.len()),
            (0, 0),
            "{text:?}"
        );
    }
}

/// Returns the expected [`Keys`], by maps of strings.
fn model(rows: &[Vec<String>], columns: &[usize]) -> (Vec<Option<u32>>, Vec<Vec<String>>) {
    let mut distinct = Vec::new();
    let mut known = HashMap::new();
    let item = |row: &Vec<String>| {
        let key: Vec<String> = columns.iter().map(|&column| row[column].clone()).collect();
        if key.iter().any(String::is_empty) {
            return None;
        }
        Some(*known.entry(key.clone()).or_insert_with(|| {
            distinct.push(key);
            distinct.len() as u32 - 1
        }))
    };
    let items = rows.iter().map(item).collect();
    (items, distinct)
}

fn rows(columns: usize) -> impl Strategy<Value = Vec<Vec<String>>> {
    let field = prop_oneof!["[ab]{0,2}", "[a,\"\r\n\t é]{0,4}"];
    prop::collection::vec(prop::collection::vec(field, columns), 0..12)
}

pub(crate) fn written(
    rows: &[Vec<String>],
    delimiter: u8,
    terminator: csv::Terminator,
    quotes: csv::QuoteStyle,
) -> Vec<u8> {
    let mut writer = csv::WriterBuilder::new()
        .delimiter(delimiter)
        .terminator(terminator)
        .quote_style(quotes)
        .from_writer(Vec::new());
    for row in rows {
        writer.write_record(row).unwrap();
    }
    writer.into_inner().unwrap()
}

proptest! {
    #[test]
    fn reading_is_what_the_model_says(
        mut rows in rows(3),
        key_columns in prop::sample::subsequence(vec![0, 1, 2], 1..4).prop_shuffle(),
        tabs: bool,
        crlf: bool,
        quote_all: bool,
    ) {
        let (items_expected, distinct) = model(&rows, &key_columns);
        rows.insert(0, vec!["0".into(), "1".into(), "2".into()]);
        let text = written(
            &rows,
            if tabs { b'\t' } else { b',' },
            if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') },
            if quote_all { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary },
        );
        let names = key_columns.iter().map(usize::to_string).collect();
        let key = KeySpec::new(names, vec![]).unwrap();
        let dialect = match tabs {
            true => Dialect::default().with_delimiter(b'\t').unwrap(),
            false => Dialect::default(),
        };
        let keys = read_dialect(Format::Csv, &dialect, text, &key).unwrap();

        prop_assert_eq!(items(&keys), items_expected);
        let fingerprint = |fields: &Vec<String>| {
            let mut joined = Vec::new();
            for field in fields {
                joined.extend_from_slice(&(field.len() as u64).to_le_bytes());
                joined.extend_from_slice(field.as_bytes());
            }
            blake3::derive_key("psijoin 2026-01 table key fingerprint v1", &joined)
        };
        prop_assert_eq!(fingerprints(&keys), distinct.iter().map(fingerprint).collect::<Vec<_>>());
        prop_assert_eq!(keys.counts.distinct, distinct.len() as u64);
        prop_assert_eq!(
            keys.counts.rows,
            keys.counts.left_out + keys.counts.duplicates + keys.counts.distinct
        );
    }

    /// Nothing that can stand in a file makes the reader panic, or loses rows silently.
    #[test]
    fn any_bytes_are_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(keys) = Keys::read_csv(&text[..], "fuzz.csv", &Dialect::default(), &key(&[], &[]), &[]) {
            prop_assert_eq!(keys.counts.rows, items(&keys).len() as u64);
        }
    }
}

#[test]
fn a_column_can_be_named_by_its_position() {
    let files = Files::new();
    let by = |text: &str, column: &str| {
        let input = files.text("t.csv", text);
        read(&input, &key(&[column], &[&format!("{column}=trim")]))
    };
    let text = "\u{feff}i\u{200b}d,n\na,1\na ,2\n";
    assert_eq!(items(&by(text, "column:1").unwrap()), [Some(0), Some(0)]);
    assert_eq!(items(&by(text, "column:2").unwrap()), [Some(0), Some(1)]);
    // A name goes before.
    let named = "column:2,x\na,1\na,2\n";
    assert_eq!(items(&by(named, "column:2").unwrap()), [Some(0), Some(0)]);
    for none in ["column:0", "column:3", "column:", "column:-1", "2"] {
        let error = by(text, none).unwrap_err().to_string();
        let expected = format!("t.csv has no column `{none}`; it has 2 columns");
        assert!(error.contains(&expected), "{error}");
    }
    // An error names it as the user does: what stands in the first line may be no name.
    let input = files.text("t.csv", "secret,1\nx,2\n");
    let error = read(&input, &key(&["column:1"], &["column:1=number"])).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("column `column:1`: not a number"),
        "{error}"
    );

    let parquet = files.parquet("t.parquet", &[("a", array(Int32Array::from(vec![1, 1])))]);
    let found = read(&parquet, &key(&["column:1"], &[])).unwrap();
    assert_eq!(items(&found), [Some(0), Some(0)]);
}

#[test]
fn a_column_that_is_nearly_called_so_is_named() {
    let files = Files::new();
    for (name, asked, difference) in [
        (
            "Pre\u{301}nom",
            "Pr\u{e9}nom",
            "how its letters are composed",
        ),
        (
            "Pr\u{e9}nom",
            "Pre\u{301}nom",
            "how its letters are composed",
        ),
        ("i\u{200b}d", "id", "characters that nobody sees"),
        ("\u{ad}id", "id", "characters that nobody sees"),
        ("full\u{a0}name", "full name", "spaces"),
        (" ID", "id", "case and spaces"),
    ] {
        let text = files.text("t.csv", format!("n,{name}\n1,2\n"));
        let error = read(&text, &key(&[asked], &[])).unwrap_err().to_string();
        let expected = format!(
            "; its column 2 differs from that in {difference} only: if it is meant, say column:2, or copy its name"
        );
        assert!(error.ends_with(&expected), "{error}");
        let column = || array(Int32Array::from(vec![1]));
        let typed = files.parquet("t.parquet", &[("n", column()), (name, column())]);
        let error = read(&typed, &key(&[asked], &[])).unwrap_err().to_string();
        assert!(
            error.contains(&format!(", differs from that in {difference} only")),
            "{error}"
        );
        let outside = KeySpec::new(
            vec![name.to_owned()],
            vec![format!("{asked}=trim").parse().unwrap()],
        );
        let error = outside.unwrap_err().to_string();
        assert!(
            error.ends_with(&format!(" differs from that in {difference} only")),
            "{error}"
        );
        let country = key(&["n"], &[&format!("n=phone:column:{asked}")]);
        let error = read(&text, &country).unwrap_err().to_string();
        assert!(error.ends_with(&expected), "{error}");
    }
}
