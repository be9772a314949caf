//! Files of typed columns are read in pieces, which make the same table as one text.

use std::{fs, path::Path, sync::Arc};

use arrow_array::{
    ArrayRef, DictionaryArray, Int64Array, ListArray, RecordBatch, StringArray,
    cast::AsArray,
    types::{Int32Type, Int64Type},
};
use arrow_ipc::writer::FileWriter;
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::{
        metadata::{ParquetMetaDataReader, ParquetMetaDataWriter},
        properties::{WriterProperties, WriterPropertiesBuilder},
    },
};
use proptest::prelude::*;
use psijoin_runtime::parallel::Pool;
use psijoin_source::Progress;
use psijoin_table::KeySpec;

use crate::{Files, array, held::Keys, join, key, open, read, wherever};

/// A text, which may be null, and a number.
type Row = (Option<String>, i64);

fn columns(rows: &[Row]) -> RecordBatch {
    let texts: StringArray = rows.iter().map(|(text, _)| text.as_deref()).collect();
    let numbers: Int64Array = rows.iter().map(|(_, number)| Some(*number)).collect();
    RecordBatch::try_from_iter([("text", array(texts)), ("n", array(numbers))]).unwrap()
}

fn write_parquet(path: &Path, rows: &[Row], properties: WriterPropertiesBuilder) {
    write_batch(path, &columns(rows), properties);
}

fn write_batch(path: &Path, rows: &RecordBatch, properties: WriterPropertiesBuilder) {
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn write_csv(path: &Path, rows: &[Row]) {
    let line = |(text, number): &Row| format!("{},{number}\n", text.as_deref().unwrap_or_default());
    let lines: String = rows.iter().map(line).collect();
    fs::write(path, format!("text,n\n{lines}")).unwrap();
}

fn table(path: &Path, key: &KeySpec, threads: usize) -> Keys {
    let numbers = ["n".to_owned()];
    let read = || Keys::read(&open(path), key, &numbers, &Progress::default()).unwrap();
    Pool::new(threads).unwrap().run(read)
}

#[test]
fn large_row_groups_are_read_in_stretches() {
    let files = Files::new();
    let (csv, parquet) = (files.path("t.csv"), files.path("t.parquet"));
    let rows: Vec<Row> = (0..300_000)
        .map(|row: i64| ((row % 7 != 0).then(|| format!("key {}", row % 90_001)), row))
        .collect();
    write_csv(&csv, &rows);
    let text = key(&["text"], &[]);
    let expected = table(&csv, &text, 1);
    for dictionary in [false, true] {
        let properties = WriterProperties::builder().set_dictionary_enabled(dictionary);
        write_parquet(
            &parquet,
            &rows,
            properties.set_data_page_row_count_limit(30_000),
        );
        for threads in [1, 3] {
            assert_eq!(table(&parquet, &text, threads), expected);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// Row groups of any length, whose texts are in dictionaries, in none, or in one as far as it
    /// has room.
    #[test]
    fn row_groups_make_the_table_of_a_text(
        rows in prop::collection::vec((prop::option::of("[a-cA ]{0,2}"), -99..99_i64), 1..80),
        group_rows in 1..40_usize,
        page_rows in 1..20_usize,
        dictionary in prop::option::of(1..12_usize),
        columns in prop_oneof![Just(&["text"][..]), Just(&["text", "n"][..])],
        rules in prop_oneof![Just(&[][..]), Just(&["text=email"][..])],
        threads in 1..4_usize,
    ) {
        let files = Files::new();
        let (csv, parquet) = (files.path("t.csv"), files.path("t.parquet"));
        write_csv(&csv, &rows);
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(group_rows))
            .set_data_page_row_count_limit(page_rows)
            .set_write_batch_size(page_rows)
            .set_dictionary_enabled(dictionary.is_some())
            .set_dictionary_page_size_limit(dictionary.unwrap_or(1));
        write_parquet(&parquet, &rows, properties);
        let key = key(columns, rules);
        let mut expected = table(&csv, &key, 1);
        let read = table(&parquet, &key, threads);
        // Numbers mean another thing than texts.
        expected.meanings.clone_from(&read.meanings);
        prop_assert_eq!(wherever(read), wherever(expected));
    }
}

/// Returns the texts of a file's rows, and a list with the number of each.
fn written(path: &Path) -> Vec<Row> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap();
    let of_batch = |batch: Result<RecordBatch, _>| -> Vec<Row> {
        let batch = batch.unwrap();
        let lists = batch.column(1).as_list::<i32>();
        let texts = batch.column(0).as_string::<i32>().iter().zip(lists.iter());
        let row = |(text, list): (Option<&str>, Option<ArrayRef>)| {
            let list = list.unwrap();
            let numbers = list.as_primitive::<Int64Type>().values().to_vec();
            assert!(numbers.iter().all(|number| *number == numbers.len() as i64));
            (text.map(str::to_owned), numbers.len() as i64)
        };
        texts.map(row).collect()
    };
    reader.build().unwrap().flat_map(of_batch).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Of row groups of any length, with a column of lists or without one.
    #[test]
    fn matching_rows_are_written_in_order(
        rows in prop::collection::vec((prop::option::of("[a-f]"), 0..4_i64), 0..80),
        group_rows in 1..40_usize,
        matched in prop::collection::vec(any::<bool>(), 6),
    ) {
        let files = Files::new();
        let (input, output) = (files.path("t.parquet"), files.path("out.parquet"));
        let lists = rows.iter().map(|(_, length)| Some(vec![Some(*length); *length as usize]));
        let lists = ListArray::from_iter_primitive::<Int64Type, _, _>(lists);
        let texts = columns(&rows).column(0).clone();
        let batch = RecordBatch::try_from_iter([("text", texts), ("list", array(lists))]).unwrap();
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows));
        write_batch(&input, &batch, properties);

        let mut keys: Vec<&String> = Vec::new();
        for text in rows.iter().filter_map(|(text, _)| text.as_ref()) {
            if !keys.contains(&text) {
                keys.push(text);
            }
        }
        let matches = |(text, _): &&Row| {
            let item = keys.iter().position(|key| Some(*key) == text.as_ref());
            item.is_some_and(|item| matched[item])
        };
        let expected: Vec<Row> = rows.iter().filter(matches).cloned().collect();
        let count = join(&input, &key(&["text"], &[]), |item| matched[item], &output).unwrap();
        prop_assert_eq!(count, expected.len() as u64);
        prop_assert_eq!(written(&output), expected);
    }
}

#[test]
fn row_groups_without_matching_rows_are_not_read_again() {
    let files = Files::new();
    let (input, output) = (files.path("t.parquet"), files.path("out.csv"));
    let rows: Vec<Row> = (0..30).map(|row| (Some(format!("{row}")), 7)).collect();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(10));
    write_parquet(&input, &rows, properties);
    let mut bytes = fs::read(&input).unwrap();
    let metadata = ParquetMetaDataReader::new();
    let metadata = metadata
        .parse_and_finish(&bytes::Bytes::copy_from_slice(&bytes))
        .unwrap();
    let (start, length) = metadata.row_group(1).column(1).byte_range();
    bytes[start as usize..][..length as usize].fill(0xff);
    fs::write(&input, bytes).unwrap();

    let text = key(&["text"], &[]);
    let last_group = |item: usize| item >= 25;
    assert_eq!(join(&input, &text, last_group, &output).unwrap(), 5);
    assert_eq!(
        files.read("out.csv"),
        "text,n\n25,7\n26,7\n27,7\n28,7\n29,7\n"
    );
    let error = join(&input, &text, |item| item == 15, &output).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("column `n` has a page whose header"),
        "{error}"
    );
}

/// An Arrow file of a dictionary's values in this order.
fn write_dictionary(path: &Path, values: &[Option<&str>], places: &[Option<i32>]) {
    let values: ArrayRef = Arc::new(StringArray::from(values.to_vec()));
    let words = DictionaryArray::<Int32Type>::new(places.to_vec().into(), values);
    let batch = RecordBatch::try_from_iter([("word", array(words))]).unwrap();
    let file = fs::File::create(path).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn only_values_that_a_row_has_are_read() {
    let files = Files::new();
    let path = files.path("t.arrow");
    let values = [
        Some("no date"),
        None,
        Some("2024-02-29"),
        Some(""),
        Some("2024-02-29 10:00Z"),
    ];
    let dates = key(&["word"], &["word=timestamp"]);

    write_dictionary(
        &path,
        &values,
        &[Some(2), None, Some(1), Some(3), Some(2), Some(2)],
    );
    let read_dates = read(&path, &dates).unwrap();
    let counts = read_dates.counts;
    assert_eq!((counts.rows, counts.left_out, counts.distinct), (6, 3, 1));
    assert_eq!(
        read_dates.meanings[0].to_string(),
        "timestamp without a zone"
    );
    assert_eq!(read_dates.doubts, []);

    write_dictionary(
        &path,
        &values,
        &[Some(2), Some(2), Some(4), Some(0), Some(2), Some(1)],
    );
    let error = read(&path, &dates).unwrap_err().to_string();
    assert!(error.contains(", row 4, column `word`: "), "{error}");
}

#[test]
fn a_fault_in_a_later_row_group_is_told_with_its_row() {
    let files = Files::new();
    let path = files.path("t.parquet");
    let rows: Vec<Row> = (0..70)
        .map(|row| (Some(if row == 57 { "?" } else { "12" }.to_owned()), row))
        .collect();
    for group_rows in [10, 25, 100] {
        let properties = WriterProperties::builder().set_max_row_group_row_count(Some(group_rows));
        write_parquet(&path, &rows, properties);
        let error = read(&path, &key(&["text"], &["text=number"]))
            .unwrap_err()
            .to_string();
        assert!(error.contains(", row 58, column `text`: "), "{error}");
    }
}

/// Returns the file with a footer that gives its only row group another number of rows.
fn with_rows(bytes: &[u8], rows: i64) -> Vec<u8> {
    let metadata = ParquetMetaDataReader::new();
    let metadata = metadata
        .parse_and_finish(&bytes::Bytes::copy_from_slice(bytes))
        .unwrap();
    let group = metadata
        .row_group(0)
        .clone()
        .into_builder()
        .set_num_rows(rows);
    let columns = metadata.row_group(0).columns().to_vec();
    let group = group.set_column_metadata(columns).build().unwrap();
    let metadata = metadata.into_builder().set_row_groups(vec![group]).build();
    let footer = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap());
    let mut changed = bytes[..bytes.len() - 8 - footer as usize].to_vec();
    ParquetMetaDataWriter::new(&mut changed, &metadata)
        .finish()
        .unwrap();
    changed
}

#[test]
fn row_groups_with_more_or_fewer_rows_than_they_say_are_refused() {
    let files = Files::new();
    let path = files.path("t.parquet");
    let rows: Vec<Row> = (0..50)
        .map(|row| (Some(format!("key {row}")), row))
        .collect();
    write_parquet(&path, &rows, WriterProperties::builder());
    let bytes = fs::read(&path).unwrap();
    let text = key(&["text"], &[]);
    fs::write(&path, with_rows(&bytes, 50)).unwrap();
    assert_eq!(read(&path, &text).unwrap().counts.rows, 50);
    for said in [49, 51, -1] {
        fs::write(&path, with_rows(&bytes, said)).unwrap();
        let error = read(&path, &text).unwrap_err().to_string();
        assert!(error.contains("as Parquet: its "), "{error}");
    }
}
