//! Arrow files and streams in and out.

use std::{
    collections::HashMap,
    fs::{self, File},
    path::{Path, PathBuf},
    sync::Arc,
};

use arrow_array::{
    Array, ArrayRef, DictionaryArray, DurationSecondArray, FixedSizeBinaryArray, Int32Array,
    Int64Array, ListArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time32MillisecondArray, Time32SecondArray, TimestampMillisecondArray, TimestampSecondArray,
    cast::AsArray, types::Int32Type,
};
use arrow_buffer::OffsetBuffer;
use arrow_ipc::{
    CompressionType,
    reader::FileReader,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use psijoin_source::{
    ArrowFault, Dialect, ErrorKind, Format, Progress, ReadError, Source, SourceError,
};
use psijoin_table::{Destination, Error, Existing};

use crate::{
    Files, array, assert_contains, assert_ends_with, held::Keys, items, join, key, only_batch,
    open, read, read_bytes, set_of, typed_columns, wherever,
};

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let columns = columns
        .iter()
        .map(|(name, array)| (*name, array.clone(), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    IpcWriteOptions::default()
        .try_with_compression(compression)
        .unwrap()
}

fn arrow_bytes(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut bytes = Vec::new();
    let mut writer =
        FileWriter::try_new_with_options(&mut bytes, &schema, options(compression)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn stream_bytes(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let schema = batches[0].schema();
    let mut writer =
        StreamWriter::try_new_with_options(Vec::new(), &schema, options(compression)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

fn arrow(files: &Files, name: &str, columns: &[(&str, ArrayRef)]) -> PathBuf {
    files.text(name, arrow_bytes(&[batch(columns)], None))
}

fn rows(path: &Path) -> RecordBatch {
    only_batch(FileReader::try_new(File::open(path).unwrap(), None).unwrap())
}

#[test]
fn arrow_has_the_keys_and_numbers_of_parquet() {
    let files = Files::new();
    let columns = typed_columns();
    let parquet = files.parquet("t.parquet", &columns);
    let batches = [batch(&columns).slice(0, 2), batch(&columns).slice(2, 1)];
    let mut written = Vec::new();
    for compression in [
        None,
        Some(CompressionType::LZ4_FRAME),
        Some(CompressionType::ZSTD),
    ] {
        for ending in ["arrow", "feather", "IPC"] {
            let name = format!("{}.{ending}", written.len());
            written.push(files.text(&name, arrow_bytes(&batches, compression)));
        }
        let name = format!("{}.arrow", written.len());
        written.push(files.text(&name, stream_bytes(&batches, compression)));
    }
    for path in written {
        assert_eq!(open(&path).format(), Format::Arrow);
        for (name, _) in &columns {
            let key = key(&[name], &[]);
            assert_eq!(
                wherever(read(&path, &key).unwrap()),
                wherever(read(&parquet, &key).unwrap()),
                "{name}"
            );
        }
        let several = key(&["word", "number", "date"], &[]);
        assert_eq!(
            wherever(read(&path, &several).unwrap()),
            wherever(read(&parquet, &several).unwrap())
        );
        let progress = Progress::default();
        let numbers = |path: &Path| {
            let columns = ["price".to_owned(), "number".to_owned()];
            Keys::read(&open(path), &key(&["weight"], &[]), &columns, &progress).unwrap()
        };
        assert_eq!(numbers(&path), numbers(&parquet));
        let source = open(&path);
        assert_eq!(progress.bytes().0, progress.bytes().1);
        assert_eq!(
            source.columns().unwrap(),
            columns.iter().map(|(name, _)| *name).collect::<Vec<_>>()
        );
    }
}

#[test]
fn streams_are_read_from_pipes() {
    let ids = batch(&[("id", array(Int64Array::from(vec![1, 2])))]);
    let expected = set_of(read_bytes(Format::Csv, "id\n1\n2\n", &key(&[], &[])));
    for bytes in [
        arrow_bytes(std::slice::from_ref(&ids), None),
        stream_bytes(std::slice::from_ref(&ids), None),
    ] {
        let read = read_bytes(Format::Arrow, bytes, &key(&[], &[]));
        assert_eq!(set_of(read), expected);
    }
}

#[test]
fn seconds_become_milliseconds_in_parquet() {
    let files = Files::new();
    let id = key(&["id"], &[]);
    let moments = TimestampSecondArray::from(vec![Some(1_709_211_900), None, Some(-1)]);
    let times = Time32SecondArray::from(vec![Some(86_399), Some(0), None]);
    let nested = |values: ArrayRef| {
        let field = Arc::new(Field::new("x", values.data_type().clone(), true));
        let whole = StructArray::from(vec![(field, values)]);
        let item = Arc::new(Field::new("item", whole.data_type().clone(), true));
        let offsets = OffsetBuffer::from_lengths([1, 0, 2]);
        array(ListArray::new(item, offsets, Arc::new(whole), None))
    };
    let zoned = moments.clone().with_timezone("Europe/Berlin");
    let words = DictionaryArray::new(Int32Array::from(vec![2, 1, 0]), array(moments.clone()));
    let seconds = [
        ("id", array(Int64Array::from(vec![0, 1, 2]))),
        ("moment", array(moments.clone())),
        ("zoned", array(zoned)),
        ("time", array(times.clone())),
        ("nested", nested(array(moments))),
        ("word", array(words)),
    ];
    let moments = TimestampMillisecondArray::from(vec![Some(1_709_211_900_000), None, Some(-1000)]);
    let times = Time32MillisecondArray::from(vec![Some(86_399_000), Some(0), None]);
    let words = DictionaryArray::new(Int32Array::from(vec![2, 1, 0]), array(moments.clone()));
    let milliseconds = [
        ("id", array(Int64Array::from(vec![0, 1, 2]))),
        ("moment", array(moments.clone())),
        (
            "zoned",
            array(moments.clone().with_timezone("Europe/Berlin")),
        ),
        ("time", array(times)),
        ("nested", nested(array(moments))),
        ("word", array(words)),
    ];

    let written = |name: &str, columns: &[(&str, ArrayRef)]| {
        let output = files.path(&format!("{name}.parquet"));
        let input = arrow(&files, &format!("{name}.arrow"), columns);
        assert_eq!(join(&input, &id, |_| true, &output).unwrap(), 3);
        let builder = ParquetRecordBatchReaderBuilder::try_new(File::open(output).unwrap());
        let builder = builder.unwrap();
        let schema = builder.parquet_schema().root_schema().clone();
        (schema, builder.build().unwrap().next().unwrap().unwrap())
    };
    // Parquet's own statements about the types are kept, too.
    assert_eq!(
        written("seconds", &seconds),
        written("milliseconds", &milliseconds)
    );

    let far = TimestampSecondArray::from(vec![i64::MAX / 999]);
    let columns = [
        ("id", array(Int64Array::from(vec![0]))),
        ("far", array(far)),
    ];
    let input = arrow(&files, "far.arrow", &columns);
    let error = join(&input, &id, |_| true, &files.path("far.parquet")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Output);
    assert!(!error.to_string().contains("9232"), "{error}");
}

#[test]
fn rows_keep_their_types_between_arrow_and_parquet() {
    let files = Files::new();
    let key = key(&["number"], &[]);
    let columns = typed_columns();
    let direct = arrow(&files, "t.arrow", &columns);
    let parquet = files.path("o.parquet");
    assert_eq!(join(&direct, &key, |item| item == 1, &parquet).unwrap(), 1);
    let (a, b) = (files.path("a.arrow"), files.path("b.arrow"));
    join(&direct, &key, |item| item == 1, &a).unwrap();
    join(&parquet, &key, |_| true, &b).unwrap();
    let (a, b) = (rows(&a), rows(&b));
    assert_eq!(a, b);
    assert_eq!(a.num_rows(), 1);
    for ((name, array), column) in columns.iter().zip(a.columns()) {
        match *name {
            "word" => assert_eq!(column.as_string::<i32>().value(0), "y"),
            _ => assert_eq!(&array.slice(1, 1), column, "{name}"),
        }
    }

    let csv = files.path("o.csv");
    let without_bytes = arrow(&files, "u.arrow", &columns[..9]);
    join(&without_bytes, &key, |_| true, &csv).unwrap();
    let from_arrow = fs::read_to_string(&csv).unwrap();
    let parquet = files.parquet("u.parquet", &columns[..9]);
    join(&parquet, &key, |_| true, &csv).unwrap();
    assert_eq!(from_arrow, fs::read_to_string(&csv).unwrap());
    assert_eq!(from_arrow.lines().next().unwrap().split(',').count(), 9);
}

#[test]
fn texts_are_written_as_columns_of_strings() {
    let files = Files::new();
    let csv = files.text("t.csv", "id,n\n1,one\n2,\n3,three\n");
    let output = files.path("o.feather");
    assert_eq!(
        join(&csv, &key(&["id"], &[]), |item| item > 0, &output).unwrap(),
        2
    );
    let rows = rows(&output);
    assert_eq!(rows.schema().field(0).data_type(), &DataType::Utf8);
    assert_eq!(
        rows.column(1).as_string::<i32>().iter().collect::<Vec<_>>(),
        [Some(""), Some("three")]
    );
    let twice = files.text("u.csv", "id,id\n1,2\n");
    let refused = Destination::prepare(Some(&output), &open(&twice), Existing::Replace);
    let message = refused.unwrap_err().to_string();
    assert_ends_with(
        &message,
        "its columns 1 and 2 would have the same name; write .csv",
    );
}

#[test]
fn metadata_and_uuids_stay() {
    let files = Files::new();
    let uuid = 0xf81d4fae_7dec_11d0_a765_00a0c91e6bf6_u128.to_be_bytes();
    let ids = FixedSizeBinaryArray::try_from_iter([uuid].iter()).unwrap();
    let field = Field::new("id", DataType::FixedSizeBinary(16), false)
        .with_extension_type(arrow_schema::extension::Uuid);
    let metadata = HashMap::from([("origin".to_owned(), "a test".to_owned())]);
    let schema = Schema::new_with_metadata(vec![field], metadata);
    let rows_in = RecordBatch::try_new(Arc::new(schema), vec![array(ids)]).unwrap();
    let direct = files.text("t.arrow", arrow_bytes(std::slice::from_ref(&rows_in), None));
    let key = key(&[], &[]);
    let csv = files.text("t.csv", "id\nf81d4fae-7dec-11d0-a765-00a0c91e6bf6\n");
    let expected = set_of(read(&csv, &key));
    let (parquet, back) = (files.path("o.parquet"), files.path("o.arrow"));
    join(&direct, &key, |_| true, &parquet).unwrap();
    join(&parquet, &key, |_| true, &back).unwrap();
    for path in [&direct, &parquet, &back] {
        assert_eq!(set_of(read(path, &key)), expected, "{}", path.display());
    }
    assert_eq!(rows(&back), rows_in);
    assert_eq!(rows(&back).schema().metadata()["origin"], "a test");
}

#[test]
fn nothing_of_other_rows_gets_into_an_arrow_file() {
    let files = Files::new();
    let texts = |row: i64| match row {
        3 => "shown to the other program".to_owned(),
        row => format!("hush, a secret of row {row}"),
    };
    let all: Vec<String> = (0..50).map(texts).collect();
    let words: DictionaryArray<Int32Type> = all.iter().map(|text| Some(&**text)).collect();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(
        (0..50).map(|row| Some([Some(0x68757368 + row)])),
    );
    let path = arrow(
        &files,
        "t.arrow",
        &[
            ("id", array(Int64Array::from_iter_values(0..50))),
            ("text", array(StringArray::from(all.clone()))),
            ("view", array(StringViewArray::from_iter_values(&all))),
            ("word", array(words)),
            ("list", array(lists)),
        ],
    );
    for name in ["o.arrow", "o.parquet"] {
        let output = files.path(name);
        join(&path, &key(&["id"], &[]), |item| item == 3, &output).unwrap();
        let bytes = fs::read(&output).unwrap();
        let has = |text: &[u8]| bytes.windows(text.len()).any(|window| window == text);
        assert!(!has(b"hush"), "{name}");
        assert!(!has(b"hsuh"), "{name}");
        let key = key(&["id"], &[]);
        assert_eq!(read(&output, &key).unwrap().counts.rows, 1);
    }
    let rows = rows(&files.path("o.arrow"));
    for column in ["text", "word"] {
        let column = rows.column_by_name(column).unwrap().as_string::<i32>();
        assert_eq!(column.value(0), "shown to the other program");
    }
}

#[test]
fn types_that_an_output_cannot_hold_are_refused_at_the_start() {
    let files = Files::new();
    let words: DictionaryArray<Int32Type> = vec!["x"].into_iter().collect();
    let word = Arc::new(Field::new("word", words.data_type().clone(), true));
    let nested = StructArray::from(vec![(word, array(words))]);
    let path = arrow(
        &files,
        "t.arrow",
        &[
            ("id", array(Int64Array::from(vec![1]))),
            ("nested", array(nested)),
        ],
    );
    let refused = |name: &str| {
        let output = files.path(name);
        let refused = Destination::prepare(Some(&output), &open(&path), Existing::Replace);
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        error.to_string()
    };
    let arrow_text = refused("o.arrow");
    assert_contains(&arrow_text, "the column `nested` holds Struct(");
    assert_ends_with(
        &arrow_text,
        "which cannot go to Arrow files without values of other rows; write .parquet",
    );
    assert!(refused("o.csv").ends_with("which is not text; write .parquet or .arrow"));
    let output = files.path("o.parquet");
    join(&path, &key(&["id"], &[]), |_| true, &output).unwrap();

    let lengths = arrow(
        &files,
        "u.arrow",
        &[
            ("id", array(Int64Array::from(vec![1]))),
            ("length", array(DurationSecondArray::from(vec![1]))),
        ],
    );
    let copy = files.path("o.arrow");
    join(&lengths, &key(&["id"], &[]), |_| true, &copy).unwrap();
    assert_eq!(rows(&copy), rows(&lengths));
}

#[test]
fn what_is_cut_off_is_an_error() {
    let batches = [batch(&typed_columns()), batch(&typed_columns())];
    for compression in [None, Some(CompressionType::LZ4_FRAME)] {
        for (kind, bytes) in [
            ("file", arrow_bytes(&batches, compression)),
            ("stream", stream_bytes(&batches, compression)),
        ] {
            let key = key(&["text"], &[]);
            read_bytes(Format::Arrow, &bytes, &key).unwrap();
            for end in (0..bytes.len())
                .step_by(64)
                .chain([bytes.len() - 8, bytes.len() - 1])
            {
                let error = read_bytes(Format::Arrow, &bytes[..end], &key).unwrap_err();
                let Error::Read(ReadError::Arrow { fault, .. }) = &error else {
                    panic!("{kind} {end}: {error}");
                };
                let is_behind_message = kind == "stream" && *fault == ArrowFault::NoEndMark;
                assert!(
                    is_behind_message || *fault == ArrowFault::CutOff || end == 0,
                    "{kind} {end}"
                );
                assert_eq!(error.kind(), ErrorKind::Input);
            }
        }
    }
}

/// Breaks each byte of a file in turn.
fn what_is_broken_is_an_error_and_no_panic(bytes_of: fn(&[RecordBatch]) -> Vec<u8>) {
    let words: DictionaryArray<Int32Type> = vec!["x", "y"].into_iter().collect();
    let rows = batch(&[
        (
            "id",
            array(StringArray::from(vec!["hush".repeat(50), "hush".into()])),
        ),
        ("word", array(words)),
    ]);
    let intact = bytes_of(&[rows]);
    let mut broken = 0;
    for at in 0..intact.len() {
        let mut bytes = intact.clone();
        bytes[at] ^= 0xff;
        let key = key(&["id", "word"], &[]);
        if let Err(error) = read_bytes(Format::Arrow, &bytes, &key) {
            assert_eq!(error.kind(), ErrorKind::Input);
            assert!(
                !format!("{error}{error:?}").contains("hush")
                    || matches!(error, Error::Read(ReadError::MissingColumn { .. }))
            );
            broken += 1;
        }
    }
    assert!(broken > 50, "{broken} of {}", intact.len());
}

/// A length that is broken claims memory that no machine has.
const LZ4: Option<CompressionType> = Some(CompressionType::LZ4_FRAME);

#[test]
fn a_broken_file_is_an_error_and_no_panic() {
    what_is_broken_is_an_error_and_no_panic(|rows| arrow_bytes(rows, None));
}

#[test]
fn a_broken_compressed_file_is_an_error_and_no_panic() {
    what_is_broken_is_an_error_and_no_panic(|rows| arrow_bytes(rows, LZ4));
}

#[test]
fn a_broken_compressed_stream_is_an_error_and_no_panic() {
    what_is_broken_is_an_error_and_no_panic(|rows| stream_bytes(rows, LZ4));
}

#[test]
fn what_is_not_what_its_name_says_needs_the_flag() {
    let files = Files::new();
    let ids = [("id", array(Int64Array::from(vec![1, 2])))];
    let expected = set_of(read_bytes(Format::Csv, "id\n1\n2\n", &key(&[], &[])));
    let parquet = fs::read(files.parquet("t.parquet", &ids)).unwrap();
    let file = arrow_bytes(&[batch(&ids)], None);
    let stream = stream_bytes(&[batch(&ids)], None);
    let open = |path: &Path, format| {
        Source::open(
            path,
            format,
            &Dialect::default(),
            true,
            &Progress::default(),
        )
    };
    for (name, bytes, read_as, found) in [
        ("a.csv", &parquet[..], "CSV", Format::Parquet),
        ("a.tsv", &file, "TSV", Format::Arrow),
        ("b.csv", &stream, "CSV", Format::Arrow),
        ("a.arrow", &parquet, "Arrow", Format::Parquet),
        ("a.parquet", &file, "Parquet", Format::Arrow),
    ] {
        let path = files.text(name, bytes);
        let error = open(&path, None).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{} is read as {read_as} unless you say otherwise, and seems to hold {found}: \
                 name its format",
                path.display()
            )
        );
        assert_eq!(error.kind(), ErrorKind::Input);
        let source = open(&path, Some(found)).unwrap();
        let read = Keys::read(&source, &key(&[], &[]), &[], &Progress::default());
        assert_eq!(set_of(read), expected);
    }
    let path = files.text("t.parq", parquet);
    assert!(matches!(
        open(&path, None),
        Err(psijoin_source::Error::Source(
            SourceError::InputEnding { .. }
        ))
    ));
    assert!(open(&path, Some(Format::Parquet)).is_ok());

    for name in ["text.parquet", "text.arrow"] {
        let path = files.text(name, "id\n1\n2\n");
        let message = open(&path, None).unwrap_err().to_string();
        assert!(
            message.ends_with("and is damaged or something else: name its format, or get it again")
        );
        let source = open(&path, Some(Format::Csv)).unwrap();
        let read = Keys::read(&source, &key(&[], &[]), &[], &Progress::default());
        assert_eq!(set_of(read), expected);
    }
    // The given format goes before the look of the file.
    let path = files.text("t.csv", "PAR1\n1\n2\n");
    assert!(open(&path, None).is_err());
    assert!(open(&path, Some(Format::Csv)).is_ok());
}

#[test]
fn several_files_and_folders_are_one_table() {
    let files = Files::new();
    let batches = |ids: Vec<i64>| {
        let words: DictionaryArray<Int32Type> = ids
            .iter()
            .map(|id| Some(["x", "y"][*id as usize % 2]))
            .collect();
        batch(&[("id", array(Int64Array::from(ids))), ("word", array(words))])
    };
    for (day, ids) in [("3", vec![1, 2]), ("4", vec![3])] {
        let folder = files.path("t").join(format!("day={day}"));
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("x.feather"), arrow_bytes(&[batches(ids)], None)).unwrap();
    }
    let day = read(&files.path("t"), &key(&["day"], &[])).unwrap();
    assert_eq!(items(&day), [Some(0), Some(0), Some(1)]);
    let output = files.path("o.arrow");
    let id = key(&["id", "day"], &[]);
    assert_eq!(
        join(&files.path("t"), &id, |item| item != 1, &output).unwrap(),
        2
    );
    let rows = rows(&output);
    assert_eq!(rows.num_rows(), 2);
    let texts = |column: &str| -> Vec<String> {
        let column = rows.column_by_name(column).unwrap().as_string::<i32>();
        column.iter().map(|text| text.unwrap().to_owned()).collect()
    };
    assert_eq!(texts("day"), ["3", "4"]);
    assert_eq!(texts("word"), ["y", "y"]);
}
