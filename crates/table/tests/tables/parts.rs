//! Tables of several files.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
};

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray, cast::AsArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use psijoin_source::{Dialect, Doubt, ErrorKind, Progress, Source, SourceError, check_numbers};
use psijoin_table::{Destination, Error, Existing, KeySpec, WriteError};

use crate::{
    Files, array, assert_contains, assert_starts_with,
    held::{Keys, WriteMatched as _},
    items, key, only_batch, read, set_of, values, write_some,
};

fn open_all(inputs: &[PathBuf]) -> Result<Source, Error> {
    open_dialect(inputs, &Dialect::default())
}

fn open_dialect(inputs: &[PathBuf], dialect: &Dialect) -> Result<Source, Error> {
    let progress = Progress::default();
    Ok(Source::open_all(inputs, None, dialect, true, &progress)?)
}

fn read_all(inputs: &[PathBuf], key: &KeySpec) -> Result<Keys, Error> {
    Keys::read(&open_all(inputs)?, key, &[], &Progress::default())
}

/// Writes all rows of a table that have a key.
fn write_all(source: &Source, key: &KeySpec, output: &Path) -> Result<u64, Error> {
    write_some(source, key, |_| true, output)
}

fn message<T>(result: Result<T, Error>) -> String {
    let Err(error) = result else {
        panic!("not an error");
    };
    assert_eq!(error.kind(), ErrorKind::Input, "{error}");
    error.to_string()
}

fn parquet_rows(path: &Path) -> RecordBatch {
    let file = fs::File::open(path).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    only_batch(reader.build().unwrap())
}

#[test]
fn the_rows_are_those_of_the_files_sorted_by_name() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let inputs = [
        files.text("part-2.csv", "id,n\n5,five\n1,again\n"),
        files.text("part-10.csv", "id,n\n3,three\n"),
        files.text("part-1.csv", "id,n\n1,one\n2,two\n"),
    ];
    let keys = read_all(&inputs, &id).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(1), Some(2), Some(3), Some(0)]);
    let whole = files.text(
        "whole.csv",
        "id,n\n1,one\n2,two\n3,three\n5,five\n1,again\n",
    );
    assert_eq!(keys, read(&whole, &id).unwrap());

    let source = open_all(&inputs).unwrap();
    assert_eq!(source.files(), 3);
    assert_eq!(source.name(), "the table of 3 files");
    let output = files.path("o.csv");
    assert_eq!(write_all(&source, &id, &output).unwrap(), 5);
    assert_eq!(fs::read(&output).unwrap(), fs::read(whole).unwrap());
    assert_eq!(
        write_some(&source, &id, |item| item % 2 == 0, &output).unwrap(),
        3
    );
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "id,n\n1,one\n3,three\n1,again\n"
    );
}

#[test]
fn every_row_keeps_its_bytes_and_gets_an_ending_where_it_needs_one() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let written = |parts: &[&str]| {
        let name = |index| format!("{index}.csv");
        let inputs: Vec<_> = (0..parts.len())
            .map(|index| files.text(&name(index), parts[index]))
            .collect();
        let output = files.path("o.csv");
        write_all(&open_all(&inputs).unwrap(), &id, &output).unwrap();
        fs::read_to_string(output).unwrap()
    };
    for (parts, expected) in [
        (&["id\n1", "id\n2", "id\n3"][..], "id\n1\n2\n3"),
        (&["id\r\n1\r\n2", "id\n3\n"], "id\r\n1\r\n2\r\n3\n"),
        (&["id\n1", "id\r\n2\r\n"], "id\n1\n2\r\n"),
        (&["id\r\n1", "id\n\"2\"\n\n"], "id\r\n1\r\n\"2\"\n"),
        (&["id", "id\r\n", "id\n1\n"], "id\n1\n"),
        (&["id", "id"], "id"),
        (
            &["\u{feff}id\n1\n", "\u{feff}id\n2\n"],
            "\u{feff}id\n1\n2\n",
        ),
        (&["id\n1\n", "\u{feff}id\n2\n"], "id\n1\n2\n"),
        (&["\"id\"\n1\n", "id\n2\n"], "\"id\"\n1\n2\n"),
    ] {
        assert_eq!(written(parts), expected, "{parts:?}");
    }
}

#[test]
fn lines_and_rows_without_a_header_are_put_together_too() {
    let files = Files::new();
    let lines = [
        files.text("a.txt", "\u{feff}x\r\n\r\ny"),
        files.text("b.txt", ""),
        files.text("c.txt", "\u{feff}z"),
    ];
    let output = files.path("o.txt");
    write_all(&open_all(&lines).unwrap(), &key(&[], &[]), &output).unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "\u{feff}x\r\ny\r\nz");

    let rows = [
        files.text("a.csv", "1,a"),
        files.text("b.csv", "2,b\r\n3,c"),
    ];
    let dialect = Dialect::default().without_header();
    let source = open_dialect(&rows, &dialect).unwrap();
    let output = files.path("o.csv");
    write_all(&source, &key(&["1"], &[]), &output).unwrap();
    assert_eq!(fs::read_to_string(&output).unwrap(), "1,a\n2,b\r\n3,c");
}

#[test]
fn compressed_files_and_plain_ones_are_one_table() {
    let files = Files::new();
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gzip.write_all(b"id\n2\n").unwrap();
    let inputs = [
        files.text("a.csv", "id\n1"),
        files.text("b.csv.gz", gzip.finish().unwrap()),
        files.text("c.csv", "id\n3\n"),
        files.text("d.csv.zst", zstd::encode_all(&b"id\n4"[..], 1).unwrap()),
    ];
    let output = files.path("o.csv");
    let source = open_all(&inputs).unwrap();
    assert_eq!(source.description(), "CSV");
    write_all(&source, &key(&[], &[]), &output).unwrap();
    assert_eq!(fs::read_to_string(output).unwrap(), "id\n1\n2\n3\n4");
    assert_eq!(open_all(&inputs[1..2]).unwrap().description(), "CSV, gzip");

    let path = files.text("e.csv.gz", "id\n5\n");
    let plain = message(open_all(&[inputs[0].clone(), path.clone()]));
    assert!(plain.starts_with(&format!("{} is not compressed", path.display())));
}

#[test]
fn files_that_differ_are_told_apart() {
    let files = Files::new();
    let first = files.text("a.csv", "id,hush\n1,2\n");
    for (text, expected) in [
        ("id\n1\n", "b.csv has 1 column, not 2 as"),
        ("id,hush,x\n", "b.csv has 3 columns, not 2 as"),
        ("hush,id\n", "column 1 of b.csv has another name than in"),
        ("id,Hush\n", "column 2 of b.csv has another name than in"),
    ] {
        let other = files.text("b.csv", text);
        let expected = format!(
            "{} {}: the files of a table must have the same columns in the same order",
            expected.replace("b.csv", other.to_str().unwrap()),
            first.display()
        );
        assert_eq!(message(open_all(&[first.clone(), other])), expected);
    }
    let empty = files.text("b.csv", "");
    assert_eq!(
        message(open_all(&[first.clone(), empty.clone()])),
        format!(
            "{} has no header: its first line must name the columns (is it empty?)",
            empty.display()
        )
    );
    let tsv = files.text("b.tsv", "id\thush\n");
    assert_eq!(
        message(open_all(&[first.clone(), tsv.clone()])),
        format!(
            "{} is read as TSV, and {} as CSV: the files of a table must have one format \
             (if they do, name it: then their names do not matter)",
            tsv.display(),
            first.display()
        )
    );

    let ids = files.parquet("a.parquet", &[("id", array(Int64Array::from(vec![1])))]);
    let narrow = files.parquet("b.parquet", &[("id", array(Int32Array::from(vec![1])))]);
    let source = open_all(&[narrow.clone(), ids.clone()]).unwrap();
    assert_eq!(
        message(Keys::read(
            &source,
            &key(&["id"], &[]),
            &[],
            &Progress::default()
        )),
        format!(
            "column 1 of {} holds Int32, not Int64 as in {}: the files of a table must have the \
             same columns in the same order",
            narrow.display(),
            ids.display()
        )
    );
}

#[test]
fn errors_in_rows_name_the_file() {
    let files = Files::new();
    let inputs = [
        files.text("a.csv", "id,n\n1,1\n"),
        files.text("b.csv", "id,n\n2,2\n3,x\n"),
        files.text("c.csv", "id,n\n4\n"),
    ];
    let numbers = |inputs: &[PathBuf]| {
        let source = open_all(inputs).unwrap();
        let columns = ["n".to_owned()];
        Keys::read(&source, &key(&["id"], &[]), &columns, &Progress::default())
    };
    let bad = message(numbers(&inputs[..2]));
    assert_starts_with(
        &bad,
        &format!("{}, line 3, column `n`", inputs[1].display()),
    );
    let ragged = message(numbers(&[inputs[0].clone(), inputs[2].clone()]));
    assert_starts_with(
        &ragged,
        &format!("{}, line 2: 1 field", inputs[2].display()),
    );
    let rule = key(&["n"], &["n=number"]);
    let key_fault = message(read_all(&inputs[..2], &rule));
    assert_starts_with(
        &key_fault,
        &format!("{}, line 3, column `n`", inputs[1].display()),
    );

    let column = |cells: Vec<&str>| array(StringArray::from(cells));
    let typed = [
        files.parquet("a.parquet", &[("n", column(vec!["1", "2"]))]),
        files.parquet("b.parquet", &[("n", column(vec!["3", "x"]))]),
    ];
    let key_fault = message(read_all(&typed, &rule));
    assert_starts_with(
        &key_fault,
        &format!("{}, row 2, column `n`", typed[1].display()),
    );
}

#[test]
fn a_row_that_an_output_cannot_hold_is_told_with_its_file() {
    let files = Files::new();
    let column = |cells: Vec<&str>| array(StringArray::from(cells));
    let texts = [
        files.text("a.csv", "id\n1\n"),
        files.text("b.csv", "id\n2\n\"3\n\"\n"),
    ];
    let typed = [
        files.parquet("a.parquet", &[("id", column(vec!["1"]))]),
        files.parquet("b.parquet", &[("id", column(vec!["2", "3\n"]))]),
    ];
    for inputs in [texts, typed] {
        let source = open_all(&inputs).unwrap();
        for name in ["o.tsv", "o.txt"] {
            let error = write_all(&source, &key(&[], &[]), &files.path(name)).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Output);
            let text = error.to_string();
            assert_contains(&text, &format!(": in {}, ", inputs[1].display()));
        }
    }
}

#[test]
fn inputs_that_are_no_table_are_refused() {
    let files = Files::new();
    let a = files.text("a.csv", "id\n1\n");
    assert_eq!(
        message(open_all(&[a.clone(), a.clone()])),
        format!(
            "{0} is given twice, the first time as {0}: its rows would count twice",
            a.display()
        )
    );
    let pattern = files.path("*.tsv");
    assert_eq!(
        message(open_all(std::slice::from_ref(&pattern))),
        format!("no file matches {0}", pattern.display())
    );
    let error = open_all(&[a.clone(), "-".into()]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "standard input cannot be one of several inputs: give it alone, or write it to a file \
         first"
    );
    assert_eq!(error.kind(), ErrorKind::Usage);
    let folder = message(open_all(&[files.0.path().to_owned()]));
    assert_contains(&folder, "holds a text, ");
    assert_contains(&folder, a.to_str().unwrap());
}

#[test]
fn a_pattern_stands_for_what_matches_it() {
    let files = Files::new();
    files.text("b.csv", "id\n2\n");
    files.text("a.csv", "id\n1\n");
    files.text("a[1].csv", "id\n3\n");
    let rows = |name: &str| {
        let source = open_all(&[files.path(name)]).unwrap();
        let output = files.path("o.tsv");
        write_all(&source, &key(&[], &[]), &output).unwrap();
        fs::read_to_string(output).unwrap()
    };
    assert_eq!(rows("?.csv"), "id\n1\n2\n");
    // A file of that very name wins.
    assert_eq!(rows("a[1].csv"), "id\n3\n");
}

#[test]
fn the_output_is_none_of_the_inputs() {
    let files = Files::new();
    let inputs = [
        files.text("a.csv", "id\n1\n"),
        files.text("b.csv", "id\n2\n"),
    ];
    let source = open_all(&inputs).unwrap();
    for input in &inputs {
        let prepared = Destination::prepare(Some(input), &source, Existing::Replace);
        assert!(matches!(
            prepared,
            Err(Error::Write(WriteError::OutputIsInput { .. }))
        ));
    }
}

#[test]
fn changed_files_are_noticed() {
    let files = Files::new();
    let many: Vec<_> = (0..100)
        .map(|index| files.text(&format!("{index:03}.csv"), format!("id\n{index}\n")))
        .collect();
    for inputs in [&many, &many[..2]] {
        let last = inputs.last().unwrap();
        let change: [&dyn Fn(); 3] = [
            &|| fs::write(last, "id\n1000\n").unwrap(),
            &|| {
                // Another file of the same length in its place.
                let other = files.text("other", "id\n7\n");
                fs::rename(other, last).unwrap();
            },
            &|| fs::remove_file(last).unwrap(),
        ];
        for (way, change) in change.iter().enumerate() {
            fs::write(last, "id\n9\n").unwrap();
            let source = open_all(inputs).unwrap();
            let keys = Keys::read(&source, &key(&[], &[]), &[], &Progress::default()).unwrap();
            change();
            // An open table stays what it was.
            if inputs.len() == 2 && way > 0 {
                continue;
            }
            let output = files.path("o.csv");
            let destination =
                Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
            let matched = vec![true; keys.fingerprints.len()];
            let written = destination.write(&source, &keys, &matched, &Progress::default());
            assert_eq!(
                message(written),
                format!(
                    "{} was changed while it was in use: run again",
                    last.display()
                )
            );
            let again = Keys::read(&source, &key(&[], &[]), &[], &Progress::default());
            assert!(matches!(
                again,
                Err(Error::Source(SourceError::Changed { .. }))
            ));
        }
    }
}

#[cfg(target_os = "linux")]
#[test]
fn thousands_of_files_are_not_open_at_a_time() {
    let files = Files::new();
    let inputs: Vec<_> = (0..2_000)
        .map(|index| files.text(&format!("{index:04}.csv"), format!("id\n{index}")))
        .collect();
    let open_now = || {
        let descriptors = fs::read_dir("/proc/self/fd").unwrap();
        descriptors
            .filter_map(|entry| fs::read_link(entry.unwrap().path()).ok())
            .filter(|path| path.starts_with(files.0.path()))
            .count()
    };
    let source = open_all(&inputs).unwrap();
    assert_eq!(open_now(), 0);
    let output = files.path("o.csv");
    assert_eq!(write_all(&source, &key(&[], &[]), &output).unwrap(), 2_000);
    let expected: String = (0..2_000).map(|index| format!("\n{index}")).collect();
    assert_eq!(fs::read_to_string(output).unwrap(), format!("id{expected}"));
}

#[test]
fn parquet_files_are_one_table_that_keeps_its_types() {
    let files = Files::new();
    let table = |ids: Vec<i64>, words: Vec<Option<&str>>| {
        vec![
            ("id", array(Int64Array::from(ids))),
            ("word", array(StringArray::from(words))),
        ]
    };
    let inputs = [
        files.parquet("b.parquet", &table(vec![3, 1], vec![None, Some("x")])),
        files.parquet("a.parquet", &table(vec![1, 2], vec![Some("a"), Some("b")])),
    ];
    let id = key(&["id"], &[]);
    let source = open_all(&inputs).unwrap();
    let keys = Keys::read(&source, &id, &["id".to_owned()], &Progress::default()).unwrap();
    assert_eq!(items(&keys), [Some(0), Some(1), Some(2), Some(0)]);
    assert_eq!(values(&keys, 0), [2, 2, 3]);

    let output = files.path("o.parquet");
    write_some(&source, &id, |item| item != 1, &output).unwrap();
    let rows = parquet_rows(&output);
    assert_eq!(
        rows.column(0)
            .as_primitive::<arrow_array::types::Int64Type>()
            .values(),
        &[1, 3, 1]
    );
    assert_eq!(
        rows.column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some("a"), None, Some("x")]
    );
}

#[test]
fn types_may_differ_where_nobody_needs_the_column() {
    let files = Files::new();
    let table = |ids: [i64; 2], other: ArrayRef| {
        [
            ("id", array(Int64Array::from(ids.to_vec()))),
            ("other", other),
        ]
    };
    let words = table([1, 2], array(StringArray::from(vec!["a", "b"])));
    let numbers = table([3, 4], array(Int64Array::from(vec![1, 2])));
    let inputs = [
        files.parquet("a.parquet", &words),
        files.parquet("b.parquet", &numbers),
    ];
    let source = open_all(&inputs).unwrap();
    let read = |name| Keys::read(&source, &key(&[name], &[]), &[], &Progress::default());
    assert_eq!(read("id").unwrap().counts.rows, 4);
    let differs = "column 2 of ";
    assert_contains(&message(read("other")), differs);
    let output = files.path("o.parquet");
    assert_contains(
        &message(write_all(&source, &key(&["id"], &[]), &output)),
        differs,
    );
}

#[test]
fn nulls_may_be_in_some_files_only() {
    let files = Files::new();
    let required = |name: &str, nullable: bool| {
        use arrow_schema::{DataType, Field, Schema};
        let schema = Schema::new(vec![Field::new("id", DataType::Int64, nullable)]);
        let ids = match nullable {
            true => Int64Array::from(vec![Some(1), None]),
            false => Int64Array::from(vec![2, 3]),
        };
        let rows = RecordBatch::try_new(schema.into(), vec![array(ids)]).unwrap();
        let path = files.path(name);
        let file = fs::File::create(&path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, rows.schema(), None).unwrap();
        writer.write(&rows).unwrap();
        writer.close().unwrap();
        path
    };
    let inputs = [required("a.parquet", false), required("b.parquet", true)];
    let source = open_all(&inputs).unwrap();
    let output = files.path("o.parquet");
    assert_eq!(write_all(&source, &key(&[], &[]), &output).unwrap(), 3);
    assert_eq!(parquet_rows(&output).num_rows(), 3);
}

/// Returns a folder with these files of Parquet, each with ids.
fn hive(files: &Files, parts: &[(&str, &[i64])]) -> PathBuf {
    let root = files.path("t");
    for (path, ids) in parts {
        let folder = root.join(path);
        fs::create_dir_all(folder.parent().unwrap()).unwrap();
        files.parquet(
            &format!("t/{path}"),
            &[("id", array(Int64Array::from(ids.to_vec())))],
        );
    }
    root
}

#[test]
fn folders_names_are_columns() {
    let files = Files::new();
    let root = hive(
        &files,
        &[
            ("day=2024-02-04/n=2/part-0.parquet", &[3]),
            ("day=2024-02-03/n=1/part-0.parquet", &[1, 2]),
            ("day=a%2Fb c/n=__HIVE_DEFAULT_PARTITION__/x.parquet", &[4]),
        ],
    );
    fs::write(root.join("_SUCCESS"), "").unwrap();
    fs::write(root.join(".part.crc"), "").unwrap();
    let source = open_all(std::slice::from_ref(&root)).unwrap();
    assert_eq!(source.columns().unwrap(), ["id", "day", "n"]);
    assert_eq!(source.name(), root.to_str().unwrap());

    let csv = files.text(
        "t.csv",
        "id,day,n\n1,2024-02-03,1\n2,2024-02-03,1\n3,2024-02-04,2\n4,a/b c,\n",
    );
    let csv = open_all(&[csv]).unwrap();
    for columns in [&["id", "day"][..], &["day"], &["n"], &["n", "id"]] {
        let key = key(columns, &[]);
        check_numbers(&source, &["n".to_owned()]).unwrap();
        let read = |source| Keys::read(source, &key, &["n".to_owned()], &Progress::default());
        assert_eq!(set_of(read(&source)), set_of(read(&csv)), "{columns:?}");
    }

    let output = files.path("o.csv");
    write_all(&source, &key(&["id"], &[]), &output).unwrap();
    assert_eq!(
        fs::read_to_string(output).unwrap(),
        "id,day,n\n1,2024-02-03,1\n2,2024-02-03,1\n3,2024-02-04,2\n4,a/b c,\n"
    );
    let output = files.path("o.parquet");
    write_all(&source, &key(&["id"], &[]), &output).unwrap();
    let rows = parquet_rows(&output);
    let n = rows.column_by_name("n").unwrap().as_string::<i32>();
    assert_eq!(
        n.iter().collect::<Vec<_>>(),
        [Some("1"), Some("1"), Some("2"), None]
    );
}

#[test]
fn folders_must_tell_the_same_columns_and_new_ones() {
    let files = Files::new();
    let root = hive(&files, &[("day=1/a.parquet", &[1]), ("b.parquet", &[2])]);
    let text = message(open_all(&[root]));
    assert_starts_with(&text, "the folders of ");
    assert_contains(&text, " name other columns than those of ");

    let files = Files::new();
    let root = hive(&files, &[("id=1/a.parquet", &[1])]);
    let text = message(open_all(std::slice::from_ref(&root)));
    assert_contains(&text, "has the same name as another column: rename one");
    // Named by themselves, files have the columns that are in them.
    let pattern = root.join("*/*.parquet");
    assert_eq!(open_all(&[pattern]).unwrap().columns().unwrap(), ["id"]);

    let files = Files::new();
    let root = hive(&files, &[("day=1/day=2/a.parquet", &[1])]);
    let text = message(open_all(&[root]));
    assert_contains(&text, "the partition column `day`");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// However a text is cut into files, the table is the same, and so is what is written of it.
    #[test]
    fn cutting_changes_nothing(
        rows in prop::collection::vec("[0-9a-c]{0,2}", 1..12),
        cuts in prop::collection::vec(any::<bool>(), 12),
        matched in prop::collection::vec(any::<bool>(), 12),
    ) {
        let files = Files::new();
        let mut parts = vec![String::from("id,n\n")];
        for (row, cut) in rows.iter().zip(cuts) {
            if cut {
                parts.push(String::from("id,n\n"));
            }
            let part = parts.last_mut().unwrap();
            part.push_str(&format!("{row},\"x\n\"\n"));
        }
        let whole: String = parts.iter().map(|part| &part[5..]).collect();
        let whole = files.text("whole.csv", format!("id,n\n{whole}"));
        let inputs: Vec<_> = parts
            .iter()
            .enumerate()
            .map(|(index, part)| files.text(&format!("{index:02}.csv"), part.trim_end_matches('\n')))
            .collect();
        let id = key(&["id"], &[]);
        // But for the files that have what is doubtful.
        let placeless = |mut table: Keys| {
            for doubt in &mut table.doubts {
                if let Doubt::Fields { places, .. } = doubt {
                    places.first.clear();
                }
            }
            table
        };
        let [cut, whole_table] = [read_all(&inputs, &id), read(&whole, &id)];
        prop_assert_eq!(placeless(cut.unwrap()), placeless(whole_table.unwrap()));
        let written = |inputs: &[PathBuf]| {
            let output = files.path("o.csv");
            let matched = |item: usize| matched[item];
            write_some(&open_all(inputs).unwrap(), &id, matched, &output).unwrap();
            fs::read_to_string(output).unwrap().trim_end().to_owned()
        };
        prop_assert_eq!(written(&inputs), written(&[whole]));
    }
}

#[test]
fn files_of_one_encoding_are_put_together_and_others_refused() {
    let files = Files::new();
    let utf_16 = |text: &str| -> Vec<u8> {
        let units = "\u{feff}".encode_utf16().chain(text.encode_utf16());
        units.flat_map(u16::to_le_bytes).collect()
    };
    let first = files.text("1.csv", utf_16("id,name\r\n1,é"));
    let second = files.text("2.csv", utf_16("id,name\r\n2,ü\r\n"));
    let source = open_all(&[first.clone(), second]).unwrap();
    assert_eq!(source.description(), "CSV, UTF-16LE");
    let output = files.path("o.csv");
    write_all(&source, &key(&["id"], &[]), &output).unwrap();
    assert_eq!(
        fs::read(&output).unwrap(),
        utf_16("id,name\r\n1,é\r\n2,ü\r\n")
    );

    let plain = files.text("3.csv", "id,name\n3,x\n");
    let error = open_all(&[first, plain]).unwrap_err().to_string();
    assert_contains(&error, "3.csv is encoded in another way than");
}

#[test]
fn an_output_is_none_that_would_be_read_the_next_time() {
    let files = Files::new();
    files.text("part-0.csv", "id\n1\n");
    let by_pattern = open_all(&[files.path("*.csv")]).unwrap();
    let named = open_all(&[files.path("part-0.csv")]).unwrap();
    let prepare = |source: &Source, name: &str| {
        Destination::prepare(Some(&files.path(name)), source, Existing::Replace).map(drop)
    };
    let error = prepare(&by_pattern, "out.csv").unwrap_err();
    assert!(
        matches!(error, Error::Write(WriteError::OutputAmongInputs { .. })),
        "{error}"
    );
    prepare(&by_pattern, "out.csv.gz").unwrap();
    prepare(&named, "out.csv").unwrap();

    let ids = array(Int64Array::from(vec![1]));
    fs::create_dir(files.path("folder")).unwrap();
    files.parquet("folder/part-0.parquet", &[("id", ids)]);
    let folder = open_all(&[files.path("folder")]).unwrap();
    let error = prepare(&folder, "folder/out.parquet").unwrap_err();
    assert!(
        matches!(error, Error::Write(WriteError::OutputAmongInputs { .. })),
        "{error}"
    );
    prepare(&folder, "out.parquet").unwrap();
}
