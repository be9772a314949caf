//! Rows of typed columns are written in groups, by any number of threads, which write the same.

use std::{fs, path::Path, sync::Arc};

use arrow_array::{
    Array, ArrayRef, BooleanArray, DictionaryArray, Int64Array, ListArray, RecordBatch,
    StringArray, StructArray,
    cast::AsArray,
    types::{Int32Type, Int64Type},
};
use arrow_ipc::{reader::FileReader, writer::FileWriter};
use arrow_schema::{DataType, Field};
use arrow_select::{concat::concat_batches, filter::filter_record_batch, take::take};
use parquet::{
    arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder},
    file::properties::{WriterProperties, WriterPropertiesBuilder},
};
use psijoin_runtime::parallel::Pool;
use psijoin_source::Progress;
use psijoin_table::{Destination, Error, Existing};

use crate::{
    Files, array,
    held::{Keys, WriteMatched as _},
    join, key, open, write_some,
};

/// Returns rows of several types, some of which are null; their ids are their places.
fn rows(count: i64) -> RecordBatch {
    let numbers = Int64Array::from_iter((0..count).map(|row| (row % 5 != 0).then_some(row % 1000)));
    let words: DictionaryArray<Int32Type> = (0..count)
        .map(|row| ["x", "y", "z"].get((row % 4) as usize).copied())
        .collect();
    let lists = (0..count).map(|row| (row % 3 != 0).then(|| vec![Some(row); (row % 4) as usize]));
    let inner: ArrayRef = Arc::new(numbers.clone());
    let field = Arc::new(Field::new("inner", DataType::Int64, true));
    let columns = [
        ("id", array(Int64Array::from_iter_values(0..count)), false),
        ("number", array(numbers), true),
        ("word", array(words), true),
        (
            "list",
            array(ListArray::from_iter_primitive::<Int64Type, _, _>(lists)),
            true,
        ),
        (
            "struct",
            array(StructArray::from(vec![(field, inner)])),
            false,
        ),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn write_parquet(path: &Path, rows: &RecordBatch, properties: WriterPropertiesBuilder) {
    let file = fs::File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new(file, rows.schema(), Some(properties.build())).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
}

fn write_arrow(path: &Path, rows: &RecordBatch, batch_rows: usize) {
    let file = fs::File::create(path).unwrap();
    let mut writer = FileWriter::try_new(file, &rows.schema()).unwrap();
    for start in (0..rows.num_rows()).step_by(batch_rows) {
        let count = batch_rows.min(rows.num_rows() - start);
        writer.write(&rows.slice(start, count)).unwrap();
    }
    writer.finish().unwrap();
}

/// Returns the rows of a file, and how many each of its groups has.
fn read_parquet(path: &Path) -> (RecordBatch, Vec<i64>) {
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(path).unwrap()).unwrap();
    let groups = reader.metadata().row_groups().iter();
    let groups = groups.map(|group| group.num_rows()).collect();
    let schema = reader.schema().clone();
    let batches: Result<Vec<_>, _> = reader.build().unwrap().collect();
    (concat_batches(&schema, &batches.unwrap()).unwrap(), groups)
}

fn read_arrow(path: &Path) -> (RecordBatch, Vec<i64>) {
    let reader = FileReader::try_new(fs::File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.collect::<Result<_, _>>().unwrap();
    let groups = batches.iter().map(|batch| batch.num_rows() as i64);
    let groups = groups.collect();
    (concat_batches(&schema, &batches).unwrap(), groups)
}

/// Dictionaries as their values.
fn plain(column: &ArrayRef) -> ArrayRef {
    match column.as_any_dictionary_opt() {
        Some(words) => take(words.values(), words.keys(), None).unwrap(),
        None => column.clone(),
    }
}

#[track_caller]
fn assert_matching(written: &RecordBatch, rows: &RecordBatch, matched: impl Fn(usize) -> bool) {
    let matched: BooleanArray = (0..rows.num_rows()).map(|row| Some(matched(row))).collect();
    let expected = filter_record_batch(rows, &matched).unwrap();
    assert_eq!(written.num_rows(), expected.num_rows());
    for (written, expected) in written.columns().iter().zip(expected.columns()) {
        assert!(plain(written) == plain(expected), "{}", written.data_type());
    }
}

fn write_with(threads: usize, input: &Path, matched: fn(usize) -> bool, output: &Path) -> u64 {
    let write = || write_some(&open(input), &key(&["id"], &[]), matched, output).unwrap();
    Pool::new(threads).unwrap().run(write)
}

/// Chooses three of four rows, and then a few.
fn many_and_few(row: usize) -> bool {
    match row < 380_000 {
        true => row % 4 != 1,
        false => row % 500 == 7,
    }
}

#[test]
fn all_numbers_of_threads_write_the_same_groups() {
    let files = Files::new();
    let (parquet, arrow) = (files.path("t.parquet"), files.path("t.arrow"));
    let rows = rows(420_000);
    let properties = WriterProperties::builder();
    write_parquet(
        &parquet,
        &rows,
        properties.set_max_row_group_row_count(Some(90_001)),
    );
    write_arrow(&arrow, &rows, 150_000);
    for input in [&parquet, &arrow] {
        let written = [1, 3].map(|threads| {
            let (parquet, arrow) = (files.path("out.parquet"), files.path("out.arrow"));
            let count = (0..rows.num_rows())
                .filter(|row| many_and_few(*row))
                .count() as u64;
            for output in [&parquet, &arrow] {
                assert_eq!(write_with(threads, input, many_and_few, output), count);
            }
            let (written, groups) = read_parquet(&parquet);
            assert_matching(&written, &rows, many_and_few);
            assert_eq!(groups, [1 << 18, 22_936]);
            let (written, groups) = read_arrow(&arrow);
            assert_matching(&written, &rows, many_and_few);
            assert_eq!(groups, [1 << 16, 1 << 16, 1 << 16, 1 << 16, 22_936]);
            [parquet, arrow].map(|path| fs::read(path).unwrap())
        });
        assert!(written[0] == written[1]);
    }
}

/// Rows that take so much memory that a row group is read in several steps, in which the rows of
/// lists are not cut up before they are decoded.
#[test]
fn large_rows_are_written_in_order() {
    let files = Files::new();
    let (input, output) = (files.path("t.parquet"), files.path("out.parquet"));
    let count = 30_000;
    let texts = (0..count).map(|row| format!("{row:0700}"));
    let texts: ArrayRef = array(StringArray::from_iter_values(texts));
    let lists = ListArray::new(
        Arc::new(Field::new_list_field(DataType::Utf8, false)),
        arrow_buffer::OffsetBuffer::from_lengths(vec![1; count]),
        texts.clone(),
        None,
    );
    for wide in [texts, array(lists)] {
        let ids = array(Int64Array::from_iter_values(0..count as i64));
        let rows = RecordBatch::try_from_iter([("id", ids), ("wide", wide)]).unwrap();
        let properties = WriterProperties::builder().set_dictionary_enabled(false);
        write_parquet(&input, &rows, properties);
        for threads in [1, 3] {
            let matched = |row| row % 3 == 1 || row > 25_000;
            write_with(threads, &input, matched, &output);
            assert_matching(&read_parquet(&output).0, &rows, matched);
        }
    }
}

#[test]
fn columns_without_dictionaries_get_none() {
    let files = Files::new();
    let (input, output) = (files.path("t.parquet"), files.path("out.parquet"));
    let properties = WriterProperties::builder().set_column_dictionary_enabled("id".into(), false);
    write_parquet(&input, &rows(1000), properties);
    write_with(1, &input, |row| row % 2 == 0, &output);
    let reader = ParquetRecordBatchReaderBuilder::try_new(fs::File::open(&output).unwrap());
    let metadata = reader.unwrap().metadata().clone();
    let chunks = metadata.row_group(0).columns().iter();
    let dictionaries: Vec<bool> = chunks
        .map(|chunk| chunk.dictionary_page_offset().is_some())
        .collect();
    assert_eq!(dictionaries, [false, true, true, true, true]);
}

#[test]
fn an_interrupt_leaves_no_file() {
    let files = Files::new();
    let input = files.path("t.parquet");
    write_parquet(&input, &rows(200_000), WriterProperties::builder());
    let source = open(&input);
    let keys = Keys::read(&source, &key(&["id"], &[]), &[], &Progress::default()).unwrap();
    let progress = Progress::default();
    progress.interrupt();
    for output in ["out.parquet", "out.arrow"] {
        let destination =
            Destination::prepare(Some(&files.path(output)), &source, Existing::Replace).unwrap();
        let write = || {
            let matched = vec![true; keys.fingerprints.len()];
            destination.write(&source, &keys, &matched, &progress)
        };
        let result = Pool::new(3).unwrap().run(write);
        assert!(matches!(result, Err(Error::Interrupted)));
        drop(destination);
        assert_eq!(files.names(), ["t.parquet"]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_ends_all_threads() {
    let files = Files::new();
    let input = files.path("t.parquet");
    write_parquet(&input, &rows(300_000), WriterProperties::builder());
    let full = files.path("out.parquet");
    std::os::unix::fs::symlink("/dev/full", &full).unwrap();
    let write = || join(&input, &key(&["id"], &[]), |_| true, &full);
    let error = Pool::new(3).unwrap().run(write).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("No space left on device (os error 28)"),
        "{error}"
    );
}
