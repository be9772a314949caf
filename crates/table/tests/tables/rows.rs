//! The matching rows are written as they were.

use std::{fs, fs::File, path::Path};

use arrow_array::{cast::AsArray, types::*, *};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::{
        properties::WriterProperties,
        reader::{FileReader, SerializedFileReader},
    },
};
use proptest::prelude::*;

use crate::{Files, array, join, key, keys::written};

fn batch(path: &Path) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(File::open(path).unwrap()).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

#[test]
fn text_rows_keep_their_bytes() {
    let files = Files::new();
    for (name, text, expected) in [
        (
            "t.csv",
            "\u{feff}\"id\",b\r\n\r\n7,\"x\"\"\n,\"\r\n8,y\n,z\r\n7,\"w\"",
            "\u{feff}\"id\",b\r\n7,\"x\"\"\n,\"\r\n7,\"w\"",
        ),
        (
            "t.tsv",
            "\u{feff}id\tb\r\n\r\n7\t\"x\r\n8\ty\n\tz\r\n7\t\"w\"",
            "\u{feff}id\tb\r\n7\t\"x\r\n7\t\"w\"",
        ),
    ] {
        let input = files.text(name, text);
        let output = files.path(&format!("out-{name}"));
        assert_eq!(
            join(&input, &key(&["id"], &[]), |item| item == 0, &output).unwrap(),
            2
        );
        assert_eq!(fs::read_to_string(&output).unwrap(), expected);
    }
    let input = files.text("t.txt", "b\r\na\n\nb");
    join(
        &input,
        &key(&[], &[]),
        |item| item == 0,
        &files.path("out.txt"),
    )
    .unwrap();
    assert_eq!(files.read("out.txt"), "b\r\nb");
}

#[test]
fn no_match_leaves_the_header() {
    let files = Files::new();
    let input = files.text("t.csv", "id,b\n1,2\n");
    for name in ["out.csv", "out.tsv", "out.parquet"] {
        assert_eq!(
            join(&input, &key(&["id"], &[]), |_| false, &files.path(name)).unwrap(),
            0
        );
    }
    assert_eq!(files.read("out.csv"), "id,b\n");
    assert_eq!(files.read("out.tsv"), "id\tb\n");
    let empty = batch(&files.path("out.parquet"));
    assert_eq!((empty.num_rows(), empty.num_columns()), (0, 2));
}

#[test]
fn text_goes_to_other_texts() {
    let files = Files::new();
    let input = files.text("t.csv", "id,b\n1,\"x y\"\n2,\"p,\"\"q\"\"\"\n");
    join(&input, &key(&["id"], &[]), |_| true, &files.path("out.tsv")).unwrap();
    assert_eq!(files.read("out.tsv"), "id\tb\n1\tx y\n2\tp,\"q\"\n");
    let lines = files.text("t.txt", "a,b\nc\n");
    join(&lines, &key(&[], &[]), |_| true, &files.path("out.csv")).unwrap();
    assert_eq!(files.read("out.csv"), "value\n\"a,b\"\nc\n");
    join(
        &files.path("out.csv"),
        &key(&[], &[]),
        |_| true,
        &files.path("back.txt"),
    )
    .unwrap();
    assert_eq!(files.read("back.txt"), "a,b\nc\n");
}

#[test]
fn text_goes_to_parquet_as_strings() {
    let files = Files::new();
    let rows: String = (0..20_000)
        .map(|row| format!("{row},\"v\n{row}\"\n"))
        .collect();
    let input = files.text("t.csv", format!("id,b\n{rows}"));
    let output = files.path("out.parquet");
    assert_eq!(
        join(&input, &key(&["id"], &[]), |item| item % 2 == 1, &output).unwrap(),
        10_000
    );
    let batch = batch(&output);
    assert_eq!(batch.num_rows(), 10_000);
    assert_eq!(
        batch
            .column_by_name("id")
            .unwrap()
            .as_string::<i32>()
            .value(9_999),
        "19999"
    );
    assert_eq!(
        batch
            .column_by_name("b")
            .unwrap()
            .as_string::<i32>()
            .value(0),
        "v\n1"
    );
}

#[test]
fn parquet_goes_to_csv_in_canonical_text() {
    let files = Files::new();
    let input = files.parquet(
        "t.parquet",
        &[
            (
                "id",
                array(Int32Array::from(vec![Some(5), None, Some(6), Some(5)])),
            ),
            (
                "b",
                array(StringArray::from(vec![
                    Some("x,y"),
                    Some("n"),
                    Some(""),
                    None,
                ])),
            ),
            (
                "weight",
                array(Float32Array::from(vec![0.5, 1.0, 2.0, 1e30])),
            ),
            ("day", array(Date32Array::from(vec![0, 1, 2, 3]))),
        ],
    );
    let output = files.path("out.csv");
    assert_eq!(
        join(&input, &key(&["id"], &[]), |item| item == 0, &output).unwrap(),
        2
    );
    assert_eq!(
        fs::read_to_string(&output).unwrap(),
        "id,b,weight,day\n5,\"x,y\",0.5,1970-01-01\n5,,1e30,1970-01-04\n"
    );
}

#[test]
fn parquet_goes_to_parquet_with_its_types() {
    let files = Files::new();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..20_000).map(|row| Some(vec![Some(row), None])),
    );
    let words: DictionaryArray<Int8Type> = (0..20_000)
        .map(|row| Some(["a", "b", "c"][row % 3]))
        .collect();
    let columns = [
        ("id", array(Int64Array::from_iter_values(0..20_000))),
        ("list", array(lists)),
        ("word", array(words)),
    ];
    let input = files.parquet("t.parquet", &columns);
    let output = files.path("out.parquet");
    assert_eq!(
        join(&input, &key(&["id"], &[]), |item| item > 9_000, &output).unwrap(),
        10_999
    );
    assert_eq!(batch(&output), batch(&input).slice(9_001, 10_999));
}

#[test]
fn dates_of_64_bits_stay_dates_of_parquet() {
    let files = Files::new();
    let days = Date64Array::from(vec![Some(19_782 * 86_400_000), None, Some(-86_400_000)]);
    let columns = [
        ("id", array(Int64Array::from_iter_values(0..3))),
        ("day", array(days)),
    ];
    let dates = RecordBatch::try_from_iter(columns).unwrap();
    let input = files.path("t.parquet");
    // As pyarrow writes them.
    let as_dates = WriterProperties::builder().set_coerce_types(true).build();
    let file = File::create(&input).unwrap();
    let mut writer = ArrowWriter::try_new(file, dates.schema(), Some(as_dates)).unwrap();
    writer.write(&dates).unwrap();
    writer.close().unwrap();

    let output = files.path("out.parquet");
    join(&input, &key(&["id"], &[]), |_| true, &output).unwrap();
    assert_eq!(batch(&output), dates);
    let schema = |path: &Path| {
        let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
        reader.metadata().file_metadata().schema().clone()
    };
    assert_eq!(schema(&output), schema(&input));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// The output is the header and the matching records of the input, byte for byte.
    #[test]
    fn copying_is_what_the_model_says(
        records in prop::collection::vec(
            ("[1-5]", "[ab,\"\r\n é]{0,3}", any::<bool>(), any::<bool>()),
            0..12,
        ),
        matching in prop::collection::vec(any::<bool>(), 6),
        last_line_ends: bool,
    ) {
        let header = "id,b\n".to_owned();
        let (mut input, mut expected) = (header.clone(), header);
        for (index, (id, value, crlf, quote)) in records.iter().enumerate() {
            let record = written(
                &[vec![id.clone(), value.clone()]],
                b',',
                if *crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') },
                if *quote { csv::QuoteStyle::Always } else { csv::QuoteStyle::Necessary },
            );
            let mut record = String::from_utf8(record).unwrap();
            if index + 1 == records.len() && !last_line_ends {
                record.truncate(record.trim_end_matches(['\r', '\n']).len());
            }
            input += &record;
            if matching[id.parse::<usize>().unwrap()] {
                expected += &record;
            }
        }
        let mut ids: Vec<usize> = Vec::new();
        for (id, ..) in &records {
            let id = id.parse().unwrap();
            if !ids.contains(&id) {
                ids.push(id);
            }
        }
        let files = Files::new();
        let input = files.text("t.csv", input);
        join(&input, &key(&["id"], &[]), |item| matching[ids[item]], &files.path("o.csv")).unwrap();
        prop_assert_eq!(files.read("o.csv"), expected);
    }
}
