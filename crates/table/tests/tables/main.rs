//! Tables as a party has them, through the public interface.

#![expect(clippy::disallowed_methods, reason = "paths of tests are plain")]

mod aligned;
mod arrow;
mod bad_inputs;
mod bad_keys;
mod blocks;
mod compressed;
mod contradictions;
mod damage;
mod destinations;
mod dialects;
mod doubts;
mod encodings;
mod escapes;
mod extremes;
mod formats;
mod formulas;
mod frames;
mod given;
mod groups;
mod headers;
mod held;
mod inspections;
mod keys;
mod labels;
mod logical_types;
mod lost_types;
mod malformed;
mod numbers;
mod parts;
mod pieces;
mod portions;
mod portions_given;
mod ranges;
mod rows;
mod secrecy;
mod spellings;
mod spilled;
mod which_rows;

use std::{
    fmt::Debug,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{types::Int32Type, *};
use parquet::arrow::ArrowWriter;
use psijoin_source::{Dialect, Doubt, Format, Progress, Source};
use psijoin_table::{Destination, Error, Existing, KeySpec};
use tempfile::TempDir;

use held::{Keys, WriteMatched as _};

/// A directory of input and output files that goes away with the test.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn parquet(&self, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
        let path = self.path(name);
        let columns = columns
            .iter()
            .map(|(name, array)| (*name, array.clone(), true));
        let batch = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
        let file = File::create(&path).unwrap();
        let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        path
    }

    /// Returns the names in the directory.
    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

fn array(array: impl arrow_array::Array + 'static) -> ArrayRef {
    Arc::new(array)
}

fn key(columns: &[&str], rules: &[&str]) -> KeySpec {
    let columns = columns.iter().map(|&column| column.to_owned()).collect();
    let rules = rules.iter().map(|rules| rules.parse().unwrap()).collect();
    KeySpec::new(columns, rules).unwrap()
}

fn open(path: &Path) -> Source {
    Source::open(path, None, &Dialect::default(), true, &Progress::default()).unwrap()
}

fn read(path: &Path, key: &KeySpec) -> Result<Keys, Error> {
    Keys::read(&open(path), key, &[], &Progress::default())
}

/// Returns the part that is equal in each file with the same rows: not the places of doubtful keys.
fn wherever(table: Keys) -> Keys {
    let mut table = table;
    for doubt in &mut table.doubts {
        if let Doubt::Fields { places, .. } = doubt {
            places.first.clear();
        }
    }
    table
}

fn read_bytes(format: Format, bytes: impl AsRef<[u8]>, key: &KeySpec) -> Result<Keys, Error> {
    read_dialect(format, &Dialect::default(), bytes, key)
}

fn read_dialect(
    format: Format,
    dialect: &Dialect,
    bytes: impl AsRef<[u8]>,
    key: &KeySpec,
) -> Result<Keys, Error> {
    let progress = Progress::default();
    let source = Source::spool(bytes.as_ref(), "standard input", format, dialect, &progress)?;
    Keys::read(&source, key, &[], &progress)
}

/// Returns columns of many types, each of three rows.
fn typed_columns() -> Vec<(&'static str, ArrayRef)> {
    let words: DictionaryArray<Int32Type> = vec![Some("x"), Some("y"), None].into_iter().collect();
    let price = Decimal128Array::from(vec![Some(150), Some(-5), None]);
    let moments = TimestampMillisecondArray::from(vec![Some(1_709_211_900_250), Some(0), None]);
    vec![
        (
            "number",
            array(Int64Array::from(vec![Some(-7), Some(0), None])),
        ),
        (
            "text",
            array(StringArray::from(vec![Some("é\n"), Some(""), Some(" ")])),
        ),
        (
            "date",
            array(Date32Array::from(vec![Some(19_782), None, Some(-1)])),
        ),
        (
            "flag",
            array(BooleanArray::from(vec![Some(true), Some(false), None])),
        ),
        (
            "price",
            array(price.with_precision_and_scale(9, 2).unwrap()),
        ),
        ("moment", array(moments.with_timezone("UTC"))),
        ("word", array(words)),
        ("weight", array(Float64Array::from(vec![1.0, 2.0, 3.0]))),
        (
            "view",
            array(StringViewArray::from(vec!["a", "b", "longer than twelve"])),
        ),
        (
            "bytes",
            array(BinaryArray::from(vec![&b"\x00\xff"[..], b"", b"a"])),
        ),
    ]
}

#[track_caller]
fn assert_contains(text: &str, part: &str) {
    assert!(text.contains(part), "{text}");
}

#[track_caller]
fn assert_starts_with(text: &str, start: &str) {
    assert!(text.starts_with(start), "{text}");
}

#[track_caller]
fn assert_ends_with(text: &str, end: &str) {
    assert!(text.ends_with(end), "{text}");
}

/// Returns the rows of a file that a reader has in one batch.
fn only_batch<E: Debug>(mut reader: impl Iterator<Item = Result<RecordBatch, E>>) -> RecordBatch {
    let rows = reader.next().unwrap().unwrap();
    assert!(reader.next().is_none());
    rows
}

/// Returns a table's keys, whatever the meanings and looks of its columns.
fn set_of(table: Result<Keys, Error>) -> Keys {
    let mut table = table.unwrap();
    table.meanings.clear();
    table.doubts.clear();
    table
}

/// Returns the items in the order of their first rows. In this order tests count them.
fn in_order_of_rows(keys: &Keys) -> Vec<usize> {
    let mut items: Vec<usize> = (0..keys.fingerprints.len()).collect();
    items.sort_by_key(|&item| keys.first_rows[item]);
    items
}

/// Returns the fingerprints in the order of their first rows.
fn fingerprints(keys: &Keys) -> Vec<[u8; 32]> {
    let items = in_order_of_rows(keys).into_iter();
    items.map(|item| keys.fingerprints[item]).collect()
}

/// Returns the numbers of a column in the order of the items' first rows.
fn values(keys: &Keys, column: usize) -> Vec<i64> {
    let items = in_order_of_rows(keys).into_iter();
    let values = &keys.numbers[column].values;
    items.map(|item| values[item]).collect()
}

/// Returns the item of each row.
fn items(keys: &Keys) -> Vec<Option<u32>> {
    let mut items = vec![None; keys.counts.rows as usize];
    let mut numbers = vec![0; keys.fingerprints.len()];
    for (number, item) in (0..).zip(in_order_of_rows(keys)) {
        numbers[item] = number;
        items[keys.first_rows[item] as usize] = Some(number);
    }
    for &(row, item) in &keys.repeated {
        let known = items[row as usize].replace(numbers[item as usize]);
        assert_eq!(known, None, "each row is there once");
    }
    items
}

/// Writes the rows of `input` whose items are `matched` to `output`.
fn join(
    input: &Path,
    key: &KeySpec,
    matched: impl Fn(usize) -> bool,
    output: &Path,
) -> Result<u64, Error> {
    join_dialect(input, &Dialect::default(), key, matched, output)
}

fn join_dialect(
    input: &Path,
    dialect: &Dialect,
    key: &KeySpec,
    matched: impl Fn(usize) -> bool,
    output: &Path,
) -> Result<u64, Error> {
    let source = Source::open(input, None, dialect, true, &Progress::default())?;
    write_some(&source, key, matched, output)
}

/// Writes the rows of a table whose items are `matched`.
fn write_some(
    source: &Source,
    key: &KeySpec,
    matched: impl Fn(usize) -> bool,
    output: &Path,
) -> Result<u64, Error> {
    let progress = Progress::default();
    let destination = Destination::prepare(Some(output), source, Existing::Replace)?;
    let keys = Keys::read(source, key, &[], &progress)?;
    let mut flags = vec![false; keys.fingerprints.len()];
    for (number, item) in in_order_of_rows(&keys).into_iter().enumerate() {
        flags[item] = matched(number);
    }
    let rows = destination.write(source, &keys, &flags, &progress)?;
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    Ok(rows)
}
