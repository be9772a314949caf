//! Shared rows, unshared ones, or all.

use std::{fs, path::Path};

use arrow_array::{cast::AsArray, *};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use proptest::prelude::*;
use psijoin_runtime::parallel::Pool;
use psijoin_source::{Dialect, Encoding, ErrorKind, Progress, Source};
use psijoin_table::{Destination, Error, Existing, KeySpec, WhichRows};

use crate::{
    Files, array, assert_contains,
    held::{Keys, WriteMatched as _},
    in_order_of_rows, key, open,
};

/// Writes these rows of a table, given which items are shared, counted in the order of their rows.
fn write_rows(
    source: &Source,
    key: &KeySpec,
    shared: impl Fn(usize) -> bool,
    which: WhichRows,
    output: &Path,
) -> Result<u64, Error> {
    let progress = Progress::default();
    let destination = Destination::prepare(Some(output), source, Existing::Replace)?;
    let destination = destination.choosing(which, source)?;
    let keys = Keys::read(source, key, &[], &progress)?;
    let mut flags = vec![false; keys.fingerprints.len()];
    for (number, item) in in_order_of_rows(&keys).into_iter().enumerate() {
        flags[item] = shared(number);
    }
    destination.write(source, &keys, &flags, &progress)
}

const TEXT: &str = "\u{feff}id,b\r\n\r\n1,\"x\n\"\r\n,no key\n2,y\n1,again\r\n3,last";

#[test]
fn texts_keep_their_bytes() {
    let files = Files::new();
    let source = open(&files.text("t.csv", TEXT));
    for (which, rows, expected) in [
        (
            WhichRows::Shared,
            2,
            "\u{feff}id,b\r\n1,\"x\n\"\r\n1,again\r\n",
        ),
        (
            WhichRows::Unshared,
            3,
            "\u{feff}id,b\r\n,no key\n2,y\n3,last",
        ),
        (
            WhichRows::All,
            5,
            "\u{feff}id,b,shared\r\n1,\"x\n\",true\r\n,no key,false\n2,y,false\n1,again,true\r\n3,last,false",
        ),
    ] {
        let output = files.path("out.csv");
        let written = write_rows(
            &source,
            &key(&["id"], &[]),
            |item| item == 0,
            which,
            &output,
        );
        assert_eq!(written.unwrap(), rows);
        assert_eq!(files.read("out.csv"), expected);
    }
}

#[test]
fn what_is_added_is_written_as_the_text_is() {
    let files = Files::new();
    for (text, dialect, expected) in [
        (
            "1;x\n2;y\n",
            Dialect::default()
                .with_delimiter(b';')
                .unwrap()
                .without_header(),
            "1;x;true\n2;y;false\n",
        ),
        (
            "1|\\N\n2|y\\|\n",
            Dialect::default()
                .with_delimiter(b'|')
                .and_then(|dialect| dialect.with_quote(None))
                .unwrap()
                .with_escapes()
                .without_header(),
            "1|\\N|true\n2|y\\||false\n",
        ),
        // The last line feed is a character of a field.
        (
            "1|x\\\n\n2|y\\\n",
            Dialect::default()
                .with_delimiter(b'|')
                .and_then(|dialect| dialect.with_quote(None))
                .unwrap()
                .with_escapes()
                .without_header(),
            "1|x\\\n|true\n2|y\\\n|false",
        ),
    ] {
        let input = files.text("t.csv", text);
        let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
        let output = files.path("out.csv");
        let first = |item| item == 0;
        write_rows(&source, &key(&["1"], &[]), first, WhichRows::All, &output).unwrap();
        assert_eq!(files.read("out.csv"), expected);
    }
    let utf_16: Vec<u8> = "\u{feff}id\n1\n2\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    let source = open(&files.text("wide.csv", utf_16));
    let output = files.path("out.csv");
    let first = |item| item == 0;
    write_rows(&source, &key(&["id"], &[]), first, WhichRows::All, &output).unwrap();
    let expected: Vec<u8> = "\u{feff}id,shared\n1,true\n2,false\n"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(fs::read(&output).unwrap(), expected);
}

#[test]
fn a_column_of_that_name_stays() {
    let files = Files::new();
    let source = open(&files.text("t.csv", "id,shared,psijoin_shared\n1,a,b\n"));
    let output = files.path("out.tsv");
    write_rows(
        &source,
        &key(&["id"], &[]),
        |_| true,
        WhichRows::All,
        &output,
    )
    .unwrap();
    assert_eq!(
        files.read("out.tsv"),
        "id\tshared\tpsijoin_shared\tpsijoin_psijoin_shared\n1\ta\tb\ttrue\n"
    );
}

#[test]
fn a_row_without_anything_stays_a_row() {
    let files = Files::new();
    let texts = StringArray::from(vec![Some("x"), None, Some("")]);
    let source = open(&files.parquet("t.parquet", &[("id", array(texts))]));
    let none = |_| false;
    let write = |name: &str| {
        let output = files.path(name);
        write_rows(
            &source,
            &key(&["id"], &[]),
            none,
            WhichRows::Unshared,
            &output,
        )
    };
    assert_eq!(write("out.csv").unwrap(), 3);
    assert_eq!(files.read("out.csv"), "id\nx\n\"\"\n\"\"\n");
    assert_eq!(write("out.txt").unwrap(), 3);
    assert_eq!(files.read("out.txt"), "x\n\n\n");
    let error = write("out.tsv").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert_contains(
        &error.to_string(),
        "row 2 of the input has an empty field alone",
    );
}

#[test]
fn lines_have_no_room_for_a_column() {
    let files = Files::new();
    let source = open(&files.text("t.txt", "a\nb\n"));
    let all = |name: &str| {
        let output = files.path(name);
        write_rows(
            &source,
            &key(&[], &[]),
            |item| item == 1,
            WhichRows::All,
            &output,
        )
    };
    assert_contains(&all("out.txt").unwrap_err().to_string(), "write .csv");
    all("out.csv").unwrap();
    assert_eq!(files.read("out.csv"), "value,shared\na,false\nb,true\n");
}

#[test]
fn encodings_lack_no_letter_of_the_column() {
    let files = Files::new();
    let encoding: Encoding = "windows-1252".parse().unwrap();
    let dialect = Dialect::default().with_encoding(encoding);
    let input = files.text("t.csv", b"id\n\xe9\n");
    let source = Source::open(&input, None, &dialect, true, &Progress::default()).unwrap();
    let output = files.path("out.csv");
    write_rows(
        &source,
        &key(&["id"], &[]),
        |_| true,
        WhichRows::All,
        &output,
    )
    .unwrap();
    assert_eq!(fs::read(&output).unwrap(), b"id,shared\n\xe9,true\n");
}

type Row = (Option<String>, i64);

/// Returns the rows of a file with typed columns, and which of them are shared if it tells.
fn typed(path: &Path) -> Vec<(Row, Option<bool>)> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap();
    let mut rows = Vec::new();
    for batch in reader.build().unwrap().map(Result::unwrap) {
        let numbers = batch.column(1).as_primitive::<types::Int64Type>();
        for row in 0..batch.num_rows() {
            let texts = batch.column(0).as_string::<i32>();
            let text = texts.is_valid(row).then(|| texts.value(row).to_owned());
            let flag = batch.column_by_name("shared");
            rows.push((
                (text, numbers.value(row)),
                flag.map(|flags| flags.as_boolean().value(row)),
            ));
        }
    }
    rows
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// The rows are those of a choice one by one, from typed columns and from texts, with any
    /// number of threads.
    #[test]
    fn rows_are_those_that_were_chosen(
        rows in prop::collection::vec((prop::option::of("[a-e]"), any::<i64>()), 1..60),
        shared in prop::collection::vec(any::<bool>(), 5),
        which in prop::sample::select(WhichRows::EACH.to_vec()),
        threads in 1..4_usize,
    ) {
        let files = Files::new();
        let mut keys: Vec<&str> = Vec::new();
        for text in rows.iter().filter_map(|(text, _)| text.as_deref()) {
            if !keys.contains(&text) {
                keys.push(text);
            }
        }
        let is_shared = |(text, _): &Row| {
            let item = text.as_ref().map(|text| keys.iter().position(|key| key == text).unwrap());
            item.is_some_and(|item| shared[item])
        };
        let chosen = rows.iter().filter(|row| match which {
            WhichRows::Shared => is_shared(row),
            WhichRows::Unshared => !is_shared(row),
            WhichRows::All => true,
        });
        let says = which == WhichRows::All;
        let expected: Vec<_> = chosen
            .map(|row| (row.clone(), says.then(|| is_shared(row))))
            .collect();

        let texts: StringArray = rows.iter().map(|(text, _)| text.as_deref()).collect();
        let numbers = Int64Array::from_iter_values(rows.iter().map(|(_, number)| *number));
        let input = files.parquet("t.parquet", &[("id", array(texts)), ("n", array(numbers))]);
        let text: String = rows
            .iter()
            .map(|(text, number)| format!("{},{number}\n", text.as_deref().unwrap_or_default()))
            .collect();
        let csv = files.text("t.csv", format!("id,n\n{text}"));
        let pool = Pool::new(threads).unwrap();
        let write = |input: &Path, name: &str| {
            let source = open(input).in_blocks_of(16);
            let output = files.path(name);
            let item = |item: usize| shared[item];
            pool.run(|| write_rows(&source, &key(&["id"], &[]), item, which, &output)).unwrap()
        };
        prop_assert_eq!(write(&input, "out.parquet"), expected.len() as u64);
        prop_assert_eq!(typed(&files.path("out.parquet")), expected.clone());
        let header = if says { "id,n,shared\n" } else { "id,n\n" };
        let lines: String = expected
            .iter()
            .map(|((text, number), flag)| {
                let flag = flag.map(|flag| format!(",{flag}")).unwrap_or_default();
                format!("{},{number}{flag}\n", text.as_deref().unwrap_or_default())
            })
            .collect();
        for input in [&input, &csv] {
            prop_assert_eq!(write(input, "out.csv"), expected.len() as u64);
            prop_assert_eq!(files.read("out.csv"), format!("{header}{lines}"));
        }
    }
}
