//! A giver's announcement and columns do not take the taker's memory.

use std::{fs::File, iter, sync::Arc};

use arrow_array::{ArrayRef, RecordBatch, StringArray, new_null_array};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;

use crate::support::{Folder, start_pair};

/// Columns that can be given, all of them null.
const COLUMNS: usize = 256;

/// Returns a table in which each of the keys 0, 1, 2, … has this many rows, of wide types and
/// without a value.
fn nulls(folder: &Folder, keys: u32, rows_of_key: usize) -> String {
    let wide = DataType::Decimal256(76, 0);
    let id = Field::new("id", DataType::Utf8, false);
    let wide_fields =
        (0..COLUMNS).map(|number| Field::new(format!("c{number}"), wide.clone(), true));
    let schema = Arc::new(Schema::new(
        iter::once(id).chain(wide_fields).collect::<Vec<_>>(),
    ));
    let path = folder.path("theirs.parquet");
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, schema.clone(), None).unwrap();
    let nothing = new_null_array(&wide, rows_of_key);
    for key in 0..keys {
        let ids = iter::repeat_n(format!("key {key}"), rows_of_key);
        let ids: ArrayRef = Arc::new(StringArray::from_iter_values(ids));
        let columns = iter::once(ids).chain(iter::repeat_n(nothing.clone(), COLUMNS));
        let batch = RecordBatch::try_new(schema.clone(), columns.collect()).unwrap();
        writer.write(&batch).unwrap();
    }
    writer.close().unwrap();
    path
}

/// Returns a table of keys, with a text beside each.
fn ids(keys: u32, text: &str) -> String {
    let rows: String = (0..keys).map(|key| format!("key {key}{text}\n")).collect();
    format!("id,text\n{rows}")
}

/// Joins with 400 MB for the receiver, and checks what it takes at its peak.
#[track_caller]
fn takes_at_most(most_bytes: u64, receiver: &[&str], sender: &[&str]) {
    let common = ["--insecure-plaintext", "--key", "id", "--threads", "2"];
    let receiver = [
        &common[..],
        &["--memory", "400MB", "--take", "all"],
        receiver,
    ]
    .concat();
    let (receiver, sender) = start_pair(&receiver, &[&common[..], sender].concat());
    let peak = receiver.peak_memory();
    receiver.end().says(0, &[]);
    sender.end().says(0, &[]);
    let peak = peak.join().unwrap();
    assert!(peak <= most_bytes, "{peak} bytes");
}

/// Rows of few bytes each that are as wide as can be, and as many as can be for each key: 134 MB
/// once they are columns, and with a long text of the receiver's own beside each.
#[test]
fn rows_take_what_they_bring_and_not_what_they_become() {
    let folder = Folder::new();
    let keys = 8;
    let theirs = nulls(&folder, keys, 2047);
    let long = "x".repeat(5000);
    let mine = folder.file("mine.csv", ids(keys, &format!(",{long}")));
    let give: Vec<String> = (0..COLUMNS).map(|number| format!("c{number}")).collect();
    let (give, list) = (
        give.join(","),
        ["--give-bytes", "32", "--repeated", "list:2047"],
    );
    let give = [&["--input", &theirs, "--give", &give], &list[..]].concat();
    for output in ["out.csv", "out.parquet"] {
        let output = folder.path(output);
        takes_at_most(130_000_000, &["--input", &mine, "--output", &output], &give);
    }
}

/// Rows that bring next to nothing in as many bytes as can be: 393 MB are received.
#[test]
fn long_payloads_are_received_in_parts() {
    let folder = Folder::new();
    let keys = 6000;
    let theirs = folder.file("theirs.csv", ids(keys, ",a"));
    let mine = folder.file("mine.csv", ids(keys, ",b"));
    let output = folder.path("out.csv");
    takes_at_most(
        250_000_000,
        &["--input", &mine, "--output", &output],
        &[
            "--input",
            &theirs,
            "--give",
            "text",
            "--give-bytes",
            "65535",
        ],
    );
    let rows = ids(keys, ",b,a").replace("id,text\n", "id,text,partner_text\n");
    assert_eq!(folder.read("out.csv"), rows);
}
