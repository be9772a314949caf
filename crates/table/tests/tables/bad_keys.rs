//! Cells of the key that a rule cannot read: all are told at once, or count as null.

use std::sync::Arc;

use arrow_array::*;
use psijoin_source::{Dialect, Format, Progress, Source};
use psijoin_table::{BadKeys, Error, Inspection, KeyError, KeySpec, Place};

use crate::{Files, array, held::Keys, items, key, open, read, read_bytes};

fn with(bad_keys: &str, key: KeySpec) -> KeySpec {
    key.with_bad_keys(bad_keys.parse().unwrap())
}

fn numbers(bad_keys: &str) -> KeySpec {
    with(bad_keys, key(&["id"], &["id=number"]))
}

const MIXED: &str = "id\n1\nx\n\n2,0\ny\n01\n1e5000\n";

#[test]
fn a_bad_cell_is_no_key() {
    let csv = MIXED.replace("2,0", "\"2,0\"");
    let keys = read_bytes(Format::Csv, csv, &numbers("null")).unwrap();
    assert_eq!(items(&keys), [Some(0), None, None, None, Some(0), None]);
    assert_eq!((keys.counts.rows, keys.counts.left_out), (6, 4));
    let bad = keys.bad_cells;
    let told: Vec<_> = bad.sorts.iter().map(ToString::to_string).collect();
    assert_eq!((bad.rows, bad.sorts.len()), (4, 2));
    assert!(
        told[0].contains(", lines 3, 5 and 6, column `id`: not a number ("),
        "{told:?}"
    );
    assert!(
        told[1].contains(", line 8, column `id`: a number with an exponent"),
        "{told:?}"
    );
    let places = bad.sorts[0].places.first.iter().map(|at| at.place);
    assert_eq!(places.collect::<Vec<_>>(), [3, 5, 6].map(Place::Line));
}

#[test]
fn a_share_above_the_bound_is_refused() {
    let text: String = (0..100)
        .map(|row| format!("{}\n", if row < 5 { "x" } else { "1" }))
        .collect();
    let read = |bad_keys: &str| read_bytes(Format::Csv, format!("id\n{text}"), &numbers(bad_keys));
    for allowed in ["null", "null:5%", "null:100%", "null:5.1%"] {
        assert_eq!(read(allowed).unwrap().counts.left_out, 5, "{allowed}");
    }
    for refused in ["null:4.9%", "null:0%"] {
        let error = read(refused).unwrap_err();
        assert!(
            matches!(
                error,
                Error::Key(KeyError::TooManyBadKeys {
                    bad: 5,
                    rows: 100,
                    ..
                })
            ),
            "{error}"
        );
        let told = error.to_string();
        assert!(
            told.contains(", lines 2, 3, 4, 5 and 6, column `id`: not a number"),
            "{told}"
        );
    }
    // Without a bad cell, no bound is too low.
    assert!(read_bytes(Format::Csv, "id\n", &numbers("null:0%")).is_ok());
}

#[test]
fn an_error_names_the_first_ten_of_each_sort() {
    let rows: String = (0..30)
        .map(|row| format!("{row}x,2024-13-{row:02}\n"))
        .collect();
    let key = key(&["id", "day"], &["id=number", "day=date"]);
    let error = read_bytes(Format::Csv, format!("id,day\n{rows}"), &key)
        .unwrap_err()
        .to_string();
    let lines = ", lines 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11 and 20 more, column";
    assert_eq!(error.matches(lines).count(), 2, "{error}");
    let [id, day] =
        ["column `id`: not a number", "column `day`: not a date"].map(|told| error.find(told));
    assert!(id < day && id.is_some(), "{error}");
}

#[test]
fn typed_cells_are_told_by_their_rows() {
    let files = Files::new();
    let floats = array(Float64Array::from(vec![
        Some(1.0),
        Some(0.5),
        None,
        Some(1e300),
    ]));
    let words = Arc::new(StringArray::from(vec!["7", "x", "unused"]));
    let words = DictionaryArray::new(Int8Array::from(vec![1, 0, 1, 0]), words as ArrayRef);
    let path = files.parquet("t.parquet", &[("f", floats), ("w", array(words))]);
    let told = |column: &str| {
        let key = key(&[column], &[&format!("{column}=number")]);
        let refused = read(&path, &key).unwrap_err().to_string();
        let keys = read(&path, &with("null", key)).unwrap();
        assert_eq!(keys.bad_cells.rows, 2);
        (refused.split(": ").next().unwrap().to_owned(), items(&keys))
    };
    let path_shown = path.display();
    assert_eq!(
        told("f"),
        (
            format!("{path_shown}, rows 2 and 4, column `f`"),
            vec![Some(0), None, None, None]
        )
    );
    assert_eq!(
        told("w"),
        (
            format!("{path_shown}, rows 1 and 3, column `w`"),
            vec![None, Some(0), None, Some(0)]
        )
    );
}

#[test]
fn an_inspection_finds_all_and_what_is_frequent() {
    let files = Files::new();
    let rows = "3\n1\nx\n2\n01\n2\n 2\n4\n3\nx\n";
    let csv = files.text("t.csv", format!("id\n{rows}"));
    let seen = |most| {
        Inspection::read(&open(&csv), &numbers("refuse"), most, &Progress::default()).unwrap()
    };
    let all = seen(10);
    assert_eq!(all.keys.bad_cells().rows, 2);
    assert!(all.keys.bad_cells().check(BadKeys::Refuse, 10).is_err());
    assert_eq!(all.first, [["3"], ["1"], ["2"], ["4"]]);
    let frequent = [("2", 3), ("3", 2), ("1", 2)].map(|(key, rows)| (vec![key.to_owned()], rows));
    assert_eq!(all.frequent, frequent);
    assert_eq!(seen(2).frequent, frequent[..2]);
    assert!(seen(0).frequent.is_empty());
}

#[test]
fn what_becomes_of_bad_keys_is_told() {
    for text in ["refuse", "null", "null:5%", "null:0.25%"] {
        assert_eq!(text.parse::<BadKeys>().unwrap().to_string(), text);
    }
    for text in [
        "",
        "drop",
        "null:",
        "null:5",
        "null:101%",
        "null:-1%",
        "null:x%",
        "null:NaN%",
    ] {
        assert!(text.parse::<BadKeys>().is_err(), "{text}");
    }
    let told = numbers("null:5%").normalization();
    assert_eq!(told, "id: number; bad keys: null:5%");
}

/// Returns the error about a text with a key and a column of numbers.
fn refused(text: &str) -> String {
    let progress = Progress::default();
    let dialect = Dialect::default();
    let source = Source::spool(text.as_bytes(), "t.csv", Format::Csv, &dialect, &progress);
    let key = key(&["id"], &["id=number"]);
    let read = Keys::read(&source.unwrap(), &key, &["n".to_owned()], &progress);
    read.unwrap_err().to_string()
}

#[test]
fn rows_and_numbers_are_told_as_keys_are() {
    let many: String = (0..30).map(|row| format!("{row},x\n")).collect();
    for (text, expected) in [
        (
            "1,2\n1,x\n2,1e2000\n3\n4,,y\n1,y\n",
            "t.csv, lines 3 and 7, column `n`: not a number (",
        ),
        (
            "1,2\n3\n2\nx,y\n1,x\n4\n",
            "t.csv, lines 3, 4 and 7: 1 field where the header has 2 (",
        ),
        (
            "1\n1,2,3\n2,2\n\"a\nb\",1,1\n",
            "t.csv, lines 2, 3 and 5: more or fewer fields than the header, which has 2 (",
        ),
        (
            &many,
            "t.csv, lines 2, 3, 4, 5, 6, 7, 8, 9, 10 and 11 and 20 more, column `n`: not a number (",
        ),
        // Faults of another sort behind the first one do not matter.
        ("1,x\ny,2\n1\n", "t.csv, line 2, column `n`: not a number ("),
        (
            "x,1\n1,y\n1\n",
            "t.csv, line 2, column `id`: not a number (",
        ),
        (
            "1,2\n1\n1,\"\n",
            "t.csv, line 3: 1 field where the header has 2 (",
        ),
        (
            "1,9223372036854775807\n2,1\n3,x\n",
            "t.csv, line 3, column `n`: the running total overflows",
        ),
        (
            "1,x\n1,9223372036854775807\n2,1\n",
            "t.csv, line 2, column `n`: not a number (",
        ),
    ] {
        let told = refused(&format!("id,n\n{text}"));
        assert!(told.starts_with(expected), "{text:?}: {told}");
    }
    let sorts = refused("id,n\n1,x\n2,1e2000\n3,y\n");
    assert!(
        sorts.contains("; t.csv, line 3, column `n`: a number with an exponent"),
        "{sorts}"
    );
}
