//! Tables that are in memory as Arrow data: they are read, and written, as Arrow files are.

use std::{collections::HashMap, fs::File, num::NonZeroU16, path::PathBuf, sync::Arc};

use arrow_array::{types::*, *};
use arrow_buffer::{IntervalDayTime, OffsetBuffer, i256};
use arrow_ipc::{reader::FileReader, writer::FileWriter};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};
use arrow_select::{concat::concat_batches, filter::filter_record_batch, take::take_record_batch};
use parquet::arrow::{ArrowWriter, arrow_reader::ParquetRecordBatchReaderBuilder};
use proptest::prelude::*;
use psijoin_files::spill::{Budget, Folder, Spill};
use psijoin_runtime::parallel::Pool;
use psijoin_source::{ErrorKind, Format, Progress, Source};
use psijoin_table::{
    Destination, Error, Existing, StagedRows, TableKeys, WhichRows,
    share::{GivenColumns, PayloadLayout, RepeatedKeys},
};

use crate::{
    Files, array, assert_contains,
    held::{Keys, WriteMatched as _},
    key, open, write_some,
};

const NAME: &str = "the data frame";

fn frame(batches: &[RecordBatch]) -> Source {
    Source::of_batches(NAME, batches[0].schema(), batches.to_vec()).unwrap()
}

/// Returns a source of these batches, copied to a file as it comes.
fn stream(files: &Files, batches: &[RecordBatch]) -> Source {
    let rows = batches.iter().cloned().map(Ok);
    let rows = RecordBatchIterator::new(rows, batches[0].schema());
    let folder = Folder::new(files.path(""));
    Source::copy(NAME, rows, &folder, &Progress::default()).unwrap()
}

/// Returns all rows of a table, as they are kept.
fn whole(source: &Source) -> RecordBatch {
    let staged = chosen(source, WhichRows::All, |_| true).unwrap();
    let rows = kept(staged);
    // Without the column that marks the shared rows.
    let own: Vec<usize> = (0..rows.num_columns() - 1).collect();
    rows.project(&own).unwrap()
}

/// Returns the rows of a table that have these numbers, with what was added to the numbers.
fn numbered(numbers: &RecordBatch, whole: &RecordBatch) -> Vec<ArrayRef> {
    let rows = take_record_batch(whole, numbers.column(0)).unwrap();
    [rows.columns(), &numbers.columns()[1..]].concat()
}

fn of<T: ArrowPrimitiveType>(
    values: &[Option<u8>],
    value: impl Fn(u8) -> T::Native,
) -> PrimitiveArray<T> {
    values.iter().map(|byte| byte.map(&value)).collect()
}

/// Returns a dictionary of more values than there are rows for.
fn words<K: ArrowDictionaryKeyType>(
    values: &[Option<u8>],
    key: impl Fn(u8) -> K::Native,
    words: ArrayRef,
) -> ArrayRef {
    let keys = of::<K>(values, |byte| key(byte % 5));
    array(DictionaryArray::new(keys, words))
}

/// Returns columns that can be keys, of each type, for these values.
fn key_columns(values: &[Option<u8>]) -> Vec<(&'static str, ArrayRef)> {
    let texts: Vec<Option<String>> = values
        .iter()
        .map(|byte| byte.map(|byte| format!("{byte}, é").repeat((byte % 4).into())))
        .collect();
    let bytes: Vec<Option<&[u8]>> = texts
        .iter()
        .map(|text| text.as_deref().map(str::as_bytes))
        .collect();
    let sixteen = values.iter().map(|byte| byte.map(|byte| [byte; 16]));
    let sixteen = FixedSizeBinaryArray::try_from_sparse_iter_with_size(sixteen, 16);
    let some_words = ["", "a", "longer than twelve bytes", "d", "e", "of no row"];
    let plain = array(StringArray::from(some_words.to_vec()));
    let large = array(LargeStringArray::from(some_words.to_vec()));
    let views = array(StringViewArray::from(some_words.to_vec()));
    let numbers = array(Int64Array::from(vec![
        Some(7),
        None,
        Some(-1),
        Some(8),
        None,
    ]));
    let half = |byte: u8| <Float16Type as ArrowPrimitiveType>::Native::from_f32(byte.into());
    let second = |byte: u8| i64::from(byte) * 1_000_003 - 50_000_000;
    let d32 = of::<Decimal32Type>(values, |byte| i32::from(byte) * 10 - 500);
    let d64 = of::<Decimal64Type>(values, |byte| i64::from(byte) * 10 - 500);
    let d128 = of::<Decimal128Type>(values, |byte| i128::from(byte) * 10 - 500);
    let d256 = of::<Decimal256Type>(values, |byte| i256::from_i128(i128::from(byte) * 10));
    vec![
        ("text", array(StringArray::from(texts.clone()))),
        ("large", array(LargeStringArray::from(texts.clone()))),
        ("view", array(texts.iter().collect::<StringViewArray>())),
        ("bytes", array(BinaryArray::from(bytes.clone()))),
        ("large_bytes", array(LargeBinaryArray::from(bytes.clone()))),
        (
            "byte_views",
            array(bytes.iter().collect::<BinaryViewArray>()),
        ),
        ("sixteen", array(sixteen.unwrap())),
        ("i8", array(of::<Int8Type>(values, |byte| byte as i8))),
        ("i16", array(of::<Int16Type>(values, Into::into))),
        ("i32", array(of::<Int32Type>(values, Into::into))),
        (
            "i64",
            array(of::<Int64Type>(values, |byte| -i64::from(byte))),
        ),
        ("u8", array(of::<UInt8Type>(values, Into::into))),
        ("u16", array(of::<UInt16Type>(values, Into::into))),
        ("u32", array(of::<UInt32Type>(values, Into::into))),
        ("u64", array(of::<UInt64Type>(values, Into::into))),
        ("f16", array(of::<Float16Type>(values, half))),
        ("f32", array(of::<Float32Type>(values, Into::into))),
        ("f64", array(of::<Float64Type>(values, Into::into))),
        ("d32", array(d32.with_precision_and_scale(9, 2).unwrap())),
        ("d64", array(d64.with_precision_and_scale(18, 2).unwrap())),
        ("d128", array(d128.with_precision_and_scale(38, 2).unwrap())),
        ("d256", array(d256.with_precision_and_scale(76, 2).unwrap())),
        (
            "flag",
            array(
                values
                    .iter()
                    .map(|byte| byte.map(|byte| byte % 2 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        ("date", array(of::<Date32Type>(values, Into::into))),
        (
            "date64",
            array(of::<Date64Type>(values, |byte| {
                i64::from(byte) * 86_400_000
            })),
        ),
        ("second", array(of::<TimestampSecondType>(values, second))),
        (
            "milli",
            array(of::<TimestampMillisecondType>(values, second).with_timezone("Europe/Berlin")),
        ),
        (
            "micro",
            array(of::<TimestampMicrosecondType>(values, second).with_timezone("+02:00")),
        ),
        ("nano", array(of::<TimestampNanosecondType>(values, second))),
        ("time32", array(of::<Time32SecondType>(values, Into::into))),
        (
            "time32ms",
            array(of::<Time32MillisecondType>(values, Into::into)),
        ),
        (
            "time64",
            array(of::<Time64MicrosecondType>(values, Into::into)),
        ),
        (
            "time64ns",
            array(of::<Time64NanosecondType>(values, Into::into)),
        ),
        (
            "words_i8",
            words::<Int8Type>(values, |key| key as i8, plain.clone()),
        ),
        ("words_i16", words::<Int16Type>(values, Into::into, large)),
        (
            "words_i32",
            words::<Int32Type>(values, Into::into, plain.clone()),
        ),
        (
            "words_i64",
            words::<Int64Type>(values, Into::into, plain.clone()),
        ),
        ("words_u8", words::<UInt8Type>(values, Into::into, numbers)),
        (
            "words_u16",
            words::<UInt16Type>(values, Into::into, plain.clone()),
        ),
        ("words_u32", words::<UInt32Type>(values, Into::into, views)),
        ("words_u64", words::<UInt64Type>(values, Into::into, plain)),
        ("null", array(NullArray::new(values.len()))),
    ]
}

/// Returns a list of each of these values with one of its own, except where it is none.
fn lists(items: ArrayRef) -> ArrayRef {
    let lengths = (0..items.len()).map(|row| usize::from(row % 3 != 1));
    let ends = OffsetBuffer::<i32>::from_lengths(lengths);
    let items = items.slice(0, ends.last() as usize);
    let item = Arc::new(Field::new_list_field(items.data_type().clone(), true));
    array(ListArray::new(item, ends, items, None))
}

/// Returns columns that are carried along, and that Arrow files can hold.
fn further_columns(values: &[Option<u8>]) -> Vec<(&'static str, ArrayRef)> {
    let of_name = |name: &str| {
        let mut columns = key_columns(values).into_iter();
        columns.find(|(other, _)| *other == name).unwrap().1
    };
    let field = |name| Arc::new(Field::new(name, of_name(name).data_type().clone(), true));
    let pairs = ["text", "i32"].map(|name| (field(name), of_name(name)));
    let pairs = StructArray::from(pairs.to_vec());
    vec![
        ("list", lists(of_name("text"))),
        ("struct", array(pairs.clone())),
        ("structs", lists(array(pairs))),
        (
            "duration",
            array(of::<DurationSecondType>(values, Into::into)),
        ),
        (
            "interval",
            array(of::<IntervalDayTimeType>(values, |byte| {
                IntervalDayTime::new(byte.into(), 1)
            })),
        ),
    ]
}

/// Returns a key that is another one in each row, or null, before all other columns.
fn table(values: &[Option<u8>], columns: Vec<(&'static str, ArrayRef)>) -> RecordBatch {
    let ids = values.iter().zip(0..);
    let ids = ids.map(|(value, row)| (*value != Some(13)).then_some(row));
    let columns = [("id", array(ids.collect::<Int64Array>()))]
        .into_iter()
        .chain(columns);
    let columns = columns.map(|(name, array)| (name, array, true));
    let rows = RecordBatch::try_from_iter_with_nullable(columns).unwrap();
    let mut fields: Vec<Field> = rows
        .schema()
        .fields()
        .iter()
        .map(|f| (**f).clone())
        .collect();
    for field in &mut fields {
        if field.name() == "sixteen" {
            let uuid = ("ARROW:extension:name".to_owned(), "arrow.uuid".to_owned());
            field.set_metadata(HashMap::from([uuid]));
        }
    }
    let metadata = HashMap::from([("made by".to_owned(), "a test".to_owned())]);
    let schema = Schema::new_with_metadata(fields, metadata);
    rows.with_schema(Arc::new(schema)).unwrap()
}

/// Returns the rows as slices that end at these places, and at the end. Some may be empty.
fn slices(rows: &RecordBatch, ends: &[usize]) -> Vec<RecordBatch> {
    let mut ends: Vec<usize> = ends.iter().map(|end| end % (rows.num_rows() + 1)).collect();
    ends.push(rows.num_rows());
    ends.sort_unstable();
    let mut start = 0;
    let slices = ends.into_iter().map(|end| {
        let slice = rows.slice(start, end - start);
        start = end;
        slice
    });
    slices.collect()
}

fn arrow(files: &Files, batches: &[RecordBatch]) -> PathBuf {
    let path = files.path("t.arrow");
    let file = File::create(&path).unwrap();
    let mut writer = FileWriter::try_new(file, &batches[0].schema()).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn parquet(files: &Files, rows: &RecordBatch) -> PathBuf {
    let path = files.path("t.parquet");
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), None).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    path
}

/// Returns values, some of which are null.
fn values(rows: usize) -> Vec<Option<u8>> {
    (0..rows)
        .map(|row| (row % 7 != 3).then_some((row * row % 251) as u8))
        .collect()
}

/// Returns the keys of `id` that are shared with the other party: those of rows in which this
/// holds.
fn matched(keys: &Keys, is_shared: impl Fn(usize) -> bool) -> Vec<bool> {
    let rows = keys.first_rows.iter();
    rows.map(|&row| is_shared(row as usize)).collect()
}

fn read(source: &Source, columns: &[&str]) -> Result<Keys, Error> {
    let progress = Progress::default();
    let keys = Keys::read(source, &key(columns, &[]), &[], &progress);
    if keys.is_ok() {
        assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    }
    keys
}

/// Returns what is kept in memory, in one batch.
fn kept(staged: StagedRows) -> RecordBatch {
    let rows = staged.rows();
    let (schema, batches) = staged.into_batches().unwrap();
    let kept = concat_batches(&schema, &batches).unwrap();
    assert_eq!(kept.num_rows() as u64, rows);
    assert!(batches.iter().all(|batch| batch.schema() == schema));
    kept
}

/// Returns the rows of an Arrow file in one batch.
fn rows_of(path: PathBuf) -> RecordBatch {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    let schema = reader.schema();
    let batches: Vec<RecordBatch> = reader.map(Result::unwrap).collect();
    concat_batches(&schema, &batches).unwrap()
}

/// Returns the shared rows, or others, in memory.
fn chosen(
    source: &Source,
    which: WhichRows,
    is_shared: impl Fn(usize) -> bool,
) -> Result<StagedRows, Error> {
    let progress = Progress::default();
    let destination = Destination::in_memory(source)?.choosing(which, source)?;
    let keys = read(source, &["id"])?;
    let shared = matched(&keys, is_shared);
    let staged = destination.stage(source, &keys, &shared, &progress)?;
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    Ok(staged)
}

#[test]
fn frames_have_the_keys_of_files() {
    let files = Files::new();
    let values = values(90);
    let rows = table(&values, key_columns(&values));
    let batches = slices(&rows, &[0, 1, 7, 7, 40, 90]);
    let source = frame(&batches);
    assert_eq!(source.name(), NAME);
    assert_eq!((source.format(), source.files()), (Format::Arrow, 1));
    let others = [
        open(&arrow(&files, &batches)),
        open(&parquet(&files, &rows)),
    ];
    let names = source.columns().unwrap();
    for other in &others {
        assert_eq!(other.columns().unwrap(), names);
        for name in &names {
            let of_file = read(other, &[name]).unwrap();
            assert_eq!(read(&source, &[name]).unwrap(), of_file, "{name}");
        }
        let several = ["view", "words_u8", "d256"];
        let keys = read(&source, &several).unwrap();
        assert_eq!(keys, read(other, &several).unwrap());
        let (progress, spill) = spill(&files);
        let several = key(&several, &[]);
        let partitions = TableKeys::read(&source, &several, &[], &spill, &progress).unwrap();
        assert_eq!(partitions.counts().rows, 90);
        assert_eq!(
            (0..partitions.partitions())
                .flat_map(|partition| partitions.items(partition).unwrap().fingerprints.clone())
                .collect::<Vec<_>>(),
            keys.fingerprints
        );

        let numbers = ["d32", "d128", "i64", "view", "f64"].map(str::to_owned);
        let ids = key(&["id"], &[]);
        let of_table = |source: &Source| Keys::read(source, &ids, &numbers[..3], &progress);
        assert_eq!(of_table(&source).unwrap(), of_table(other).unwrap());
        let refused = |source: &Source| {
            let error = Keys::read(source, &ids, &numbers[3..], &progress).unwrap_err();
            error.to_string().replace(source.name(), "TABLE")
        };
        assert_eq!(refused(&source), refused(other));
    }
}

fn spill(files: &Files) -> (Progress, Spill) {
    let folder = Folder::new(files.path(""));
    (
        Progress::default(),
        Spill::new(Budget::new(1 << 20), folder),
    )
}

#[test]
fn errors_are_those_of_files() {
    let files = Files::new();
    let values = values(20);
    let columns = key_columns(&values)
        .into_iter()
        .chain(further_columns(&values));
    let rows = table(&values, columns.collect());
    let batches = slices(&rows, &[10]);
    let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
    for columns in [["no such column"], ["list"], ["struct"], ["duration"]] {
        let [in_memory, in_file] = [&source, &file].map(|source| {
            let error = read(source, &columns).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Input);
            error.to_string().replace(source.name(), "TABLE")
        });
        assert_eq!(in_memory, in_file);
        assert_contains(&in_memory, columns[0]);
        let given = [columns[0].to_owned()];
        let [in_memory, in_file] = [&source, &file].map(|source| {
            let error = GivenColumns::of(source, &given).unwrap_err();
            error.to_string().replace(source.name(), "TABLE")
        });
        assert_eq!(in_memory, in_file);
    }
    // Values that are no keys.
    let halves = [Some(1.0), None, Some(0.5)];
    let rows = RecordBatch::try_from_iter([("id", array(Float64Array::from(halves.to_vec())))]);
    let rows = slices(&rows.unwrap(), &[2]);
    let [in_memory, in_file] = [frame(&rows), open(&arrow(&files, &rows))].map(|source| {
        let error = read(&source, &["id"]).unwrap_err();
        error.to_string().replace(source.name(), "TABLE")
    });
    assert_eq!(in_memory, in_file);
    assert_contains(&in_memory, "row 3");
}

#[test]
fn batches_that_do_not_fit_their_schema_are_refused() {
    let ids = |array: ArrayRef| RecordBatch::try_from_iter([("id", array)]).unwrap();
    let numbers = ids(array(Int64Array::from(vec![1])));
    let texts = ids(array(StringArray::from(vec!["1"])));
    let nulls = ids(array(Int64Array::from(vec![None])));
    let refused = |schema: SchemaRef, batches: &[&RecordBatch]| {
        let batches = batches.iter().copied().cloned().collect();
        let error = Source::of_batches(NAME, schema, batches).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        error.to_string()
    };
    for other in [texts, nulls] {
        assert_eq!(
            refused(numbers.schema(), &[&numbers, &other]),
            "cannot read the data frame: its batch 2 does not have the columns of its schema, or has \
             nulls in one that can have none"
        );
    }
    let impossible = Field::new("bytes", DataType::FixedSizeBinary(-1), true);
    assert_eq!(
        refused(Arc::new(Schema::new(vec![impossible])), &[]),
        "cannot read the data frame: its column `bytes` is of a type that no array can have, \
         FixedSizeBinary(-1)"
    );
    // Another name, or further metadata, is no other column.
    let named = RecordBatch::try_from_iter([("ID", numbers.column(0).clone())]).unwrap();
    let source = Source::of_batches(NAME, numbers.schema(), vec![named]).unwrap();
    assert_eq!(source.columns().unwrap(), ["id"]);
}

#[test]
fn tables_without_rows_have_columns() {
    let files = Files::new();
    let rows = table(&[], key_columns(&[]));
    for batches in [vec![], vec![rows.clone(), rows.clone()]] {
        let source = Source::of_batches(NAME, rows.schema(), batches).unwrap();
        assert_eq!(source.columns().unwrap().len(), rows.num_columns());
        for column in source.columns().unwrap() {
            assert!(read(&source, &[&column]).unwrap().fingerprints.is_empty());
        }
        let staged = chosen(&source, WhichRows::All, |_| true).unwrap();
        let (schema, batches) = staged.into_batches().unwrap();
        assert_eq!(schema.fields().len(), rows.num_columns() + 1);
        assert!(batches.is_empty());
    }
    for batches in [vec![], vec![rows.project(&[0, 1]).unwrap()]] {
        let schema = Arc::new(rows.schema().project(&[0, 1]).unwrap());
        let source = Source::of_batches(NAME, schema, batches).unwrap();
        let output = files.path("o.csv");
        let destination = Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
        let keys = read(&source, &["id"]).unwrap();
        let progress = Progress::default();
        destination.write(&source, &keys, &[], &progress).unwrap();
        assert_eq!(files.read("o.csv"), "id,text\n");
    }
}

/// Returns rows of all types, those that files do not hold among them, and long texts behind views.
fn large_rows(rows: usize) -> RecordBatch {
    let values = values(rows);
    let texts = (0..rows).map(|row| format!("{row:0100}"));
    let views = array(StringViewArray::from_iter_values(texts));
    let text_of_row: ArrayRef = {
        let keys = Int32Array::from_iter_values(0..rows as i32);
        array(DictionaryArray::new(keys, views.clone()))
    };
    let item = Arc::new(Field::new_list_field(DataType::Utf8View, true));
    let two = FixedSizeListArray::new(item, 1, views.clone(), None);
    let field = Arc::new(Field::new("inner", text_of_row.data_type().clone(), true));
    let inner = StructArray::from(vec![(field, text_of_row.clone())]);
    let ends = Int32Array::from_iter_values(1..=rows as i32);
    let runs = RunArray::<Int32Type>::try_new(&ends, &views).unwrap();
    let keys = StringArray::from_iter_values((0..rows).map(|row| row.to_string()));
    let pairs = [("key", array(keys), false), ("value", views.clone(), true)];
    let pairs = pairs.map(|(name, array, nullable)| {
        let field = Field::new(name, array.data_type().clone(), nullable);
        (Arc::new(field), array)
    });
    let pairs = StructArray::from(pairs.to_vec());
    let entries = Arc::new(Field::new("entries", pairs.data_type().clone(), false));
    let one = OffsetBuffer::from_lengths(vec![1; rows]);
    let maps = MapArray::new(entries, one, pairs, None, false);
    let mut columns = key_columns(&values);
    columns.extend(further_columns(&values));
    columns.extend([
        ("runs", array(runs)),
        ("maps", array(maps)),
        ("views", views.clone()),
        ("word_of_row", text_of_row.clone()),
        ("lists_of_views", lists(views)),
        ("lists_of_words", lists(text_of_row)),
        ("fixed_lists", array(two)),
        ("structs_of_words", array(inner)),
    ]);
    table(&values, columns)
}

fn bytes_of(batches: &[RecordBatch]) -> usize {
    let columns = batches.iter().flat_map(RecordBatch::columns);
    columns.map(|column| column.get_buffer_memory_size()).sum()
}

/// One huge batch is cut into pieces; threads make of it what one thread does, and what is kept is
/// nothing more than what was chosen.
#[test]
fn huge_batches_are_cut_and_little_is_kept() {
    let rows = large_rows(150_000);
    let source = frame(std::slice::from_ref(&rows));
    let few = |row: usize| row % 30_000 == 1;
    let first = |row: usize| row < 1 << 17;
    let many = |row: usize| row % 5 != 1;
    let on = |threads: usize, is_shared: &(dyn Fn(usize) -> bool + Sync)| {
        let pool = Pool::new(threads).unwrap();
        let staged = pool.run(|| chosen(&source, WhichRows::Shared, is_shared).unwrap());
        staged.into_batches().unwrap()
    };
    let (_, batches) = on(2, &few);
    let [few_rows] = &batches[..] else {
        panic!("{} batches", batches.len())
    };
    assert_eq!(few_rows.num_rows(), 5);
    // 64 bytes are the least of a buffer.
    for (field, column) in few_rows.schema().fields().iter().zip(few_rows.columns()) {
        let bytes = column.get_buffer_memory_size();
        assert!(bytes <= 6_000, "{bytes} in {field}");
    }
    let (_, batches) = on(2, &first);
    // Some rows have no key.
    let kept: usize = batches.iter().map(RecordBatch::num_rows).sum();
    assert!((130_000..=1 << 17).contains(&kept));
    for name in ["views", "lists_of_views", "lists_of_words", "fixed_lists"] {
        let columns = batches
            .iter()
            .map(|batch| batch.column_by_name(name).unwrap());
        let bytes: usize = columns.map(|column| column.get_buffer_memory_size()).sum();
        // Each text takes a hundred bytes, and each view sixteen.
        assert!(bytes <= kept * 125, "{bytes} in {name}");
    }
    let (schema, expected) = on(1, &many);
    assert!(expected.len() >= 2, "{}", expected.len());
    for threads in [2, 5] {
        assert!(on(threads, &many) == (schema.clone(), expected.clone()));
    }
    let ids: Vec<i64> = expected
        .iter()
        .flat_map(|batch| {
            let ids: &Int64Array = batch.column(0).as_any().downcast_ref().unwrap();
            ids.values().to_vec()
        })
        .collect();
    assert!(ids.is_sorted() && ids.len() > 100_000);
}

/// All rows of a whole piece are chosen: they do not keep the others alive.
#[test]
fn a_piece_whose_rows_are_all_chosen_is_copied() {
    let rows = 300_000;
    let ids = Int64Array::from_iter_values(0..rows);
    let views = (0..rows).map(|row| format!("{}", row % 1000));
    let columns = [
        ("id", array(ids)),
        ("view", array(StringViewArray::from_iter_values(views))),
        ("null", array(NullArray::new(rows as usize))),
        ("flag", array(BooleanArray::from(vec![true; rows as usize]))),
    ];
    let rows = RecordBatch::try_from_iter_with_nullable(columns.map(|(n, c)| (n, c, true)));
    let source = frame(&[rows.unwrap()]);
    let staged = chosen(&source, WhichRows::Shared, |row| row < 1 << 17).unwrap();
    let (_, batches) = staged.into_batches().unwrap();
    assert_eq!(batches.len(), 2);
    for batch in &batches {
        let bytes = bytes_of(std::slice::from_ref(batch));
        assert_eq!(batch.num_rows(), 1 << 16);
        assert!(bytes <= (1 << 16) * 25 + 1024, "{bytes}");
    }
}

/// The texts behind views are once in an Arrow file, though the rows of a piece are in several of
/// its batches.
#[test]
fn files_have_each_text_once() {
    let files = Files::new();
    let rows = 70_000_i64;
    let views = (0..rows).map(|row| format!("{row:0100}"));
    let columns = [
        ("id", array(Int64Array::from_iter_values(0..rows))),
        ("view", array(StringViewArray::from_iter_values(views))),
    ];
    let source = frame(&[RecordBatch::try_from_iter(columns).unwrap()]);
    let output = files.path("o.arrow");
    write_some(&source, &key(&["id"], &[]), |_| true, &output).unwrap();
    let bytes = std::fs::metadata(output).unwrap().len();
    // A number takes eight bytes, and a view sixteen.
    let least = rows as u64 * 124;
    assert!((least..least * 11 / 10).contains(&bytes), "{bytes}");
}

#[test]
fn nested_columns_keep_their_values() {
    let rows = large_rows(40);
    let source = frame(&slices(&rows, &[3, 17]));
    let is_shared = |row: usize| row % 3 == 1;
    let kept = kept(chosen(&source, WhichRows::Unshared, is_shared).unwrap());
    let ids: &Int64Array = rows.column(0).as_any().downcast_ref().unwrap();
    let flags = (0..40).map(|row| !(is_shared(row) && ids.is_valid(row)));
    let flags: BooleanArray = flags.map(Some).collect();
    let expected = filter_record_batch(&rows, &flags).unwrap();
    for name in [
        "lists_of_views",
        "fixed_lists",
        "list",
        "structs",
        "views",
        "runs",
        "maps",
    ] {
        let (kept, expected) = (kept.column_by_name(name), expected.column_by_name(name));
        assert_eq!(kept.unwrap(), expected.unwrap(), "{name}");
    }
    let unpacked = kept.column_by_name("lists_of_words").unwrap();
    assert_eq!(unpacked, kept.column_by_name("lists_of_views").unwrap());
    assert_eq!(
        kept.column_by_name("word_of_row"),
        kept.column_by_name("views")
    );
    assert_eq!(kept.schema().metadata(), rows.schema().metadata());
    assert_eq!(
        kept.schema().field_with_name("sixteen").unwrap(),
        rows.schema().field_with_name("sixteen").unwrap()
    );
}

#[test]
fn what_cannot_be_kept_alone_is_refused() {
    let items = array(StringArray::from(vec!["a", "b"]));
    let item = Arc::new(Field::new_list_field(DataType::Utf8, true));
    let views = ListViewArray::new(item, vec![0, 1].into(), vec![1, 1].into(), items, None);
    let columns = [
        ("id", array(Int64Array::from(vec![1, 2]))),
        ("views", array(views)),
    ];
    let source = frame(&[RecordBatch::try_from_iter(columns).unwrap()]);
    let error = Destination::in_memory(&source).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert_contains(
        &error.to_string(),
        "cannot write the rows in memory: the column `views` holds ListView",
    );
    let files = Files::new();
    let error = Destination::in_memory(&open(&files.text("t.csv", "a,b,a\n"))).unwrap_err();
    assert_contains(
        &error.to_string(),
        "its columns 1 and 3 would have the same name",
    );
    let source = open(&files.text("u.csv", "a,b\n"));
    let kept = Destination::in_memory(&source).unwrap();
    assert!(kept.quoting_empty(&source).is_err());
}

#[test]
fn texts_are_kept_as_in_arrow_files() {
    let files = Files::new();
    let lines: Vec<String> = (0..20_000).map(|row| format!("{row},é {row}\n")).collect();
    let source = open(&files.text("t.csv", format!("id,text\n{}", lines.concat())));
    let keys = read(&source, &["id"]).unwrap();
    let shared = matched(&keys, |row| row % 3 == 0);
    let output = files.path("o.arrow");
    let progress = Progress::default();
    for which in [WhichRows::Shared, WhichRows::Unshared, WhichRows::All] {
        let write = |destination: Destination| {
            let destination = destination.choosing(which, &source)?;
            destination.stage(&source, &keys, &shared, &progress)
        };
        let staged = write(Destination::in_memory(&source).unwrap()).unwrap();
        assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
        let destination = Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
        let in_file = write(destination).unwrap();
        assert_eq!(in_file.commit().unwrap(), staged.rows());
        assert_eq!(kept(staged), rows_of(output.clone()));
    }
    let csv = files.path("o.csv");
    let staged = Destination::prepare(Some(&csv), &source, Existing::Replace)
        .unwrap()
        .stage(&source, &keys, &shared, &progress)
        .unwrap();
    assert!(staged.into_batches().is_none());
    assert!(!csv.exists());
}

#[test]
fn frames_go_to_texts() {
    let files = Files::new();
    let values = values(60);
    let columns = key_columns(&values).into_iter();
    let rows = table(
        &values,
        columns
            .filter(|(name, _)| !name.contains("byte") && *name != "sixteen")
            .collect(),
    );
    let batches = slices(&rows, &[7, 30]);
    let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
    let written = |source: &Source, name: &str| {
        let output = files.path(name);
        let rows = write_some(source, &key(&["id"], &[]), |item| item % 3 == 0, &output);
        (rows.unwrap(), std::fs::read(output).unwrap())
    };
    for (in_memory, in_file) in [("a.csv", "b.csv"), ("a.tsv", "b.tsv")] {
        assert_eq!(written(&source, in_memory), written(&file, in_file));
    }
    let output = files.path("a.csv");
    assert!(!source.is_file(&output));
    let destination = Destination::prepare(Some(&output), &source, Existing::Replace).unwrap();
    assert!(destination.quoting_empty(&source).is_ok());
}

/// However rows are parted into batches, they are read, and written, some thousand at a time.
#[test]
fn tiny_batches_are_read_together() {
    let values = values(3000);
    let columns = key_columns(&values);
    let texts = columns.into_iter().filter(|(name, _)| name.contains("i"));
    let rows = table(&values, texts.collect());
    let (whole, tiny) = (
        frame(std::slice::from_ref(&rows)),
        frame(&slices(&rows, &(0..3000).collect::<Vec<_>>())),
    );
    for columns in [["id"], ["words_i32"], ["i64"]] {
        let keys = read(&tiny, &columns).unwrap();
        assert_eq!(keys, read(&whole, &columns).unwrap());
    }
    let of = |source: &Source| {
        let staged = chosen(source, WhichRows::Unshared, |row| row % 2 == 0).unwrap();
        staged.into_batches().unwrap()
    };
    let (schema, batches) = of(&tiny);
    assert_eq!(batches.len(), 1);
    assert_eq!((schema, batches), of(&whole));
}

/// Returns what the other party gives, for the keys of these rows.
fn payloads(
    source: &Source,
    columns: &[String],
    repeated: RepeatedKeys,
) -> (Keys, PayloadLayout, Vec<u8>) {
    let progress = Progress::default();
    let columns = GivenColumns::of(source, columns).unwrap();
    let keys = read(source, &["id"]).unwrap();
    let rows = keys.holder.given(repeated).unwrap();
    let row_bytes = rows.longest_row(source, &columns, &progress).unwrap();
    let layout = PayloadLayout::new(columns, row_bytes, repeated).unwrap();
    let payloads = rows.payloads(source, &layout, &progress).unwrap();
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
    (keys, layout, payloads)
}

#[test]
fn given_columns_come_from_frames_and_go_to_them() {
    let files = Files::new();
    let values = values(50);
    let rows = table(&values, key_columns(&values));
    let batches = slices(&rows, &[1, 20, 20, 33]);
    let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
    let offered: Vec<String> = source
        .columns()
        .unwrap()
        .into_iter()
        .filter(|name| GivenColumns::of(&file, std::slice::from_ref(name)).is_ok())
        .collect();
    assert!(offered.len() > 30, "{offered:?}");
    for name in source.columns().unwrap() {
        let [in_memory, in_file] = [&source, &file].map(|source| {
            GivenColumns::of(source, std::slice::from_ref(&name)).map_err(|e| e.to_string())
        });
        assert_eq!(in_memory, in_file);
    }
    let list = RepeatedKeys::List(NonZeroU16::new(2).unwrap());
    for repeated in [RepeatedKeys::Refuse, list] {
        let (keys, layout, given) = payloads(&source, &offered, repeated);
        let (of_file, _, expected) = payloads(&file, &offered, repeated);
        assert_eq!(keys, of_file);
        assert_eq!(given, expected);

        // All are shared, so each row gets what it gave.
        let shared: Vec<u32> = (0..keys.fingerprints.len() as u32).collect();
        let (progress, output) = (Progress::default(), files.path("o.arrow"));
        for which in [WhichRows::Shared, WhichRows::All] {
            let join = |source: &Source, destination: Destination| {
                let destination = destination.choosing(which, source)?;
                let columns = GivenColumns::of(source, &offered)?;
                let destination = destination.adding(&columns, "their_", source)?;
                let (partners, given) = keys.partners(&shared, &layout, given.clone());
                destination.stage_joined(source, &partners, &given, &progress)
            };
            let in_memory = join(&source, Destination::in_memory(&source).unwrap()).unwrap();
            assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
            let numbers = kept(join(&source, Destination::row_numbers()).unwrap());
            let destination =
                Destination::prepare(Some(&output), &file, Existing::Replace).unwrap();
            join(&file, destination).unwrap().commit().unwrap();
            let joined = kept(in_memory);
            assert_eq!(joined, rows_of(output.clone()));
            assert_eq!(numbered(&numbers, &whole(&source)), joined.columns());
            let schemas = [&numbers, &joined].map(|rows| rows.schema());
            let [added, all] = [1, rows.num_columns()].map(|own| own..);
            assert_eq!(schemas[0].fields()[added], schemas[1].fields()[all]);
            if which == WhichRows::Shared {
                for name in ["text", "milli", "d64", "flag", "words_u8"] {
                    let theirs = joined.column_by_name(&format!("their_{name}"));
                    assert_eq!(theirs, joined.column_by_name(name), "{name}");
                }
            }
        }
    }
}

#[test]
fn aligned_rows_go_to_memory() {
    let files = Files::new();
    let values = values(3000);
    let columns = key_columns(&values)
        .into_iter()
        .chain(further_columns(&values));
    let rows = table(&values, columns.collect());
    let batches = slices(&rows, &[1000, 1100]);
    let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
    let (_, Spill { folder, .. }) = spill(&files);
    let text = files.text(
        "t.csv",
        format!(
            "id,n\n{}",
            (0..3000)
                .map(|row| format!("{row},{row}\n"))
                .collect::<String>()
        ),
    );
    let text = open(&text);
    let align = |source: &Source, destination: Destination, budget: u64| {
        let keys = read(source, &["id"]).unwrap();
        let items: Vec<u32> = (0..keys.fingerprints.len() as u32)
            .filter(|item| item % 3 != 0)
            .collect();
        let rows = keys.aligned(&items, &[7; 32]);
        let progress = Progress::default();
        let destination = destination.aligning().unwrap();
        let spill = Spill::new(Budget::new(budget), folder.clone());
        let staged = destination
            .stage_aligned(source, &rows, None, &spill, &progress)
            .unwrap();
        let (done, total) = progress.bytes();
        assert_eq!(done, total);
        staged
    };
    let output = files.path("o.arrow");
    for (source, file) in [(&source, &file), (&text, &text)] {
        let destination = Destination::prepare(Some(&output), file, Existing::Replace).unwrap();
        align(file, destination, 1 << 20).commit().unwrap();
        let expected = rows_of(output.clone());
        for budget in [0, 1 << 30] {
            let staged = align(source, Destination::in_memory(source).unwrap(), budget);
            assert_eq!(kept(staged), expected);
            let numbers = kept(align(source, Destination::row_numbers(), budget));
            assert_eq!(numbered(&numbers, &whole(source)), expected.columns());
        }
    }
}

#[test]
fn streams_are_read_as_frames_are() {
    let files = Files::new();
    let values = values(90);
    let columns = key_columns(&values)
        .into_iter()
        .chain(further_columns(&values));
    let rows = table(&values, columns.collect());
    let batches = slices(&rows, &[0, 1, 7, 7, 40, 90]);
    let (source, copied) = (frame(&batches), stream(&files, &batches));
    assert_eq!((copied.name(), copied.files()), (NAME, 1));
    for (name, _) in key_columns(&values) {
        let keys = read(&source, &[name]).unwrap();
        assert_eq!(read(&copied, &[name]).unwrap(), keys, "{name}");
    }
    let third = |source: &Source| kept(chosen(source, WhichRows::All, |row| row % 3 == 0).unwrap());
    let (copied_rows, rows) = (third(&copied), third(&source));
    assert_eq!(copied_rows.schema(), rows.schema());
    for (column, expected) in copied_rows.columns().iter().zip(rows.columns()) {
        assert_eq!(column, expected);
    }
    let none = stream(&files, &[batches[0].slice(0, 0)]);
    assert_eq!(read(&none, &["id"]).unwrap().counts.rows, 0);
    // Nothing is left in the folder.
    drop((copied, none));
    assert_eq!(std::fs::read_dir(files.path("")).unwrap().count(), 0);
}

#[test]
fn streams_that_fail_say_no_value() {
    let files = Files::new();
    let rows = large_rows(10);
    let failing = || {
        let fails = ArrowError::ComputeError("a secret".to_owned());
        let batches = [Ok(rows.clone()), Err(fails), Ok(rows.clone())];
        RecordBatchIterator::new(batches, rows.schema())
    };
    let (progress, Spill { folder, .. }) = spill(&files);
    let copied = Source::copy(NAME, failing(), &folder, &progress);
    for failed in [copied, Source::collect(NAME, failing(), &progress)] {
        let error = failed.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Input);
        let said = error.to_string();
        assert_eq!(
            said,
            format!("cannot read {NAME}: what gives its rows has failed")
        );
    }
    let nowhere = Folder::new(files.path("none"));
    let rows = || RecordBatchIterator::new([Ok(rows.clone())], rows.schema());
    let error = Source::copy(NAME, rows(), &nowhere, &progress).unwrap_err();
    assert_contains(&error.to_string(), NAME);
    progress.interrupt();
    let copied = Source::copy(NAME, rows(), &folder, &progress);
    for stopped in [copied, Source::collect(NAME, rows(), &progress)] {
        assert_eq!(stopped.unwrap_err().kind(), ErrorKind::Interrupted);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]

    /// Frames and files give the same rows, in memory and in files, however the rows are parted.
    #[test]
    fn frames_have_the_rows_of_files(
        values in prop::collection::vec(prop::option::of(0_u8..30), 1..80),
        ends in prop::collection::vec(any::<usize>(), 0..12),
        shared in prop::collection::vec(any::<bool>(), 80),
        threads in 1..3_usize,
    ) {
        let files = Files::new();
        let columns = key_columns(&values).into_iter().chain(further_columns(&values));
        let rows = table(&values, columns.collect());
        let batches = slices(&rows, &ends);
        let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
        let (progress, pool) = (Progress::default(), Pool::new(threads).unwrap());
        let keys = read(&source, &["id"]).unwrap();
        prop_assert_eq!(&keys, &read(&file, &["id"]).unwrap());
        let flags = matched(&keys, |row| shared[row]);
        for which in [WhichRows::Shared, WhichRows::Unshared, WhichRows::All] {
            let staged = |source: &Source, destination: Destination| {
                let destination = destination.choosing(which, source).unwrap();
                pool.run(|| destination.stage(source, &keys, &flags, &progress).unwrap())
            };
            let written = |source: &Source, name: &str| {
                let output = files.path(name);
                let to = Destination::prepare(Some(&output), source, Existing::Replace).unwrap();
                staged(source, to).commit().unwrap();
                output
            };
            let expected = rows_of(written(&file, "o.arrow"));
            let in_memory = Destination::in_memory(&source).unwrap();
            prop_assert_eq!(&kept(staged(&source, in_memory)), &expected);
            let in_memory = Destination::in_memory(&file).unwrap();
            prop_assert_eq!(&kept(staged(&file, in_memory)), &expected);
            let numbers = kept(staged(&source, Destination::row_numbers()));
            prop_assert_eq!(numbered(&numbers, &whole(&source)), expected.columns());
            prop_assert_eq!(&rows_of(written(&source, "o2.arrow")), &expected);
            if which != WhichRows::All {
                continue;
            }
            // Parquet has no place for intervals, the last of the columns.
            let others: Vec<usize> = (0..rows.num_columns() - 1).collect();
            let without = |rows: &RecordBatch| rows.project(&others).unwrap();
            let batches: Vec<_> = batches.iter().map(without).collect();
            let (source, file) = (frame(&batches), open(&arrow(&files, &batches)));
            let parquet_of = |source: &Source, name| {
                let file = File::open(written(source, name)).unwrap();
                let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
                let schema = reader.schema().clone();
                let rows: Vec<_> = reader.build().unwrap().map(Result::unwrap).collect();
                concat_batches(&schema, &rows).unwrap()
            };
            prop_assert_eq!(parquet_of(&source, "o.parquet"), parquet_of(&file, "o2.parquet"));
        }
    }
}
