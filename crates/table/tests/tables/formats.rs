//! CSV and Parquet of the same data have the same keys; names tell formats.

use std::{fs::File, sync::Arc};

use arrow_array::{types::Int32Type, *};
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    data_type::{ByteArray, FixedLenByteArrayType},
    encryption::encrypt::{EncryptionPropertiesBuilder, FileEncryptionProperties},
    file::{
        properties::{WriterProperties, WriterPropertiesBuilder},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};
use proptest::prelude::*;
use psijoin_source::{Dialect, ErrorKind, Format, Progress, Source, check_numbers};
use psijoin_table::{Destination, Error, Existing};

use crate::{
    Files, array, held::Keys, items, join, key, open, read, read_bytes, set_of, typed_columns,
};

#[test]
fn parquet_has_the_keys_of_csv() {
    let files = Files::new();
    let parquet = files.parquet("t.parquet", &typed_columns());
    let csv = files.text(
        "t.csv",
        "number,text,date,flag,price,moment,word,weight\n\
         -7,\"é\n\",2024-02-29,true,1.5,2024-02-29 13:05:00.25Z,x,1\n\
         0,,,false,-0.05,1970-01-01 00:00:00Z,y,2\n\
         , ,1969-12-31,,,,,3\n",
    );
    let columns = [
        "number", "text", "date", "flag", "price", "moment", "word", "weight",
    ];
    for column in columns {
        let key = key(&[column], &[]);
        assert_eq!(
            set_of(read(&parquet, &key)),
            set_of(read(&csv, &key)),
            "{column}"
        );
    }
    for columns in [&["word", "number", "date"][..], &["text", "flag"], &columns] {
        let key = key(columns, &[]);
        assert_eq!(
            set_of(read(&parquet, &key)),
            set_of(read(&csv, &key)),
            "{columns:?}"
        );
    }
}

#[test]
fn nested_types_are_no_keys() {
    let files = Files::new();
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)])]);
    let parquet = files.parquet(
        "t.parquet",
        &[
            ("list", array(lists)),
            ("id", array(Int64Array::from(vec![1]))),
        ],
    );
    let message = |column| read(&parquet, &key(&[column], &[])).unwrap_err();
    let name = parquet.display();
    let list = message("list");
    assert!(
        list.to_string()
            .starts_with(&format!("{name}: the column `list` holds List("))
    );
    assert!(list.to_string().ends_with(
        "which cannot be a key (keys are text, numbers, booleans, dates, times or binary data)"
    ));
    assert_eq!(list.kind(), ErrorKind::Input);
    assert_eq!(
        message("wait").to_string(),
        format!("{name} has no column `wait`; its columns are `list`, `id`")
    );
}

#[test]
fn a_floating_point_number_that_is_not_whole_is_told_with_its_row() {
    let files = Files::new();
    let ids = Float64Array::from(vec![Some(7.0), None, Some(f64::NAN), Some(1.25)]);
    let parquet = files.parquet("t.parquet", &[("id", array(ids))]);
    for columns in [&["id"][..], &[]] {
        let error = read(&parquet, &key(columns, &[])).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "{}, row 4, column `id`: a floating-point number that stands for no single whole \
                 number (it must be whole, and below 2^53, 2^24 or 2^11 in 64, 32 or 16 bits; \
                 cast the column to decimal, text or integer)",
                parquet.display()
            )
        );
        assert_eq!(error.kind(), ErrorKind::Input);
    }
}

#[test]
fn uuids_of_parquet_are_keys_as_they_are_written_and_stay_uuids() {
    let files = Files::new();
    let uuid = 0xf81d4fae_7dec_11d0_a765_00a0c91e6bf6_u128;
    let hex = "f81d4fae7dec11d0a76500a0c91e6bf6";
    let hyphens = "f81d4fae-7dec-11d0-a765-00a0c91e6bf6";
    for (mark, text) in [("(UUID)", hyphens), ("", hex)] {
        let path = files.path("t.parquet");
        let schema = format!("message table {{ required fixed_len_byte_array(16) id {mark}; }}");
        let schema = Arc::new(parse_message_type(&schema).unwrap());
        let file = File::create(&path).unwrap();
        let mut writer = SerializedFileWriter::new(file, schema, Default::default()).unwrap();
        let mut rows = writer.next_row_group().unwrap();
        let mut column = rows.next_column().unwrap().unwrap();
        let bytes = ByteArray::from(uuid.to_be_bytes().to_vec());
        column
            .typed::<FixedLenByteArrayType>()
            .write_batch(&[bytes.into()], None, None)
            .unwrap();
        column.close().unwrap();
        rows.close().unwrap();
        writer.close().unwrap();

        let id = key(&["id"], &[]);
        let csv = set_of(read_bytes(Format::Csv, format!("id\n{text}\n"), &id));
        assert_eq!(set_of(read(&path, &id)), csv, "{mark}");

        let output = files.path("out.parquet");
        join(&path, &id, |_| true, &output).unwrap();
        assert_eq!(set_of(read(&output, &id)), csv, "{mark}");
    }
}

#[test]
fn many_batches_of_parquet_are_all_read() {
    let files = Files::new();
    let numbers = Int32Array::from_iter_values((0..20_000).map(|row| row % 15_000));
    let parquet = files.parquet("t.parquet", &[("n", array(numbers))]);
    let progress = Progress::default();
    let source = Source::open(&parquet, None, &Dialect::default(), true, &progress).unwrap();
    let keys = Keys::read(&source, &key(&[], &[]), &[], &progress).unwrap();
    assert_eq!(keys.counts.distinct, 15_000);
    assert_eq!(items(&keys)[19_999], Some(4_999));
    assert_eq!(progress.bytes(), (source.bytes(), source.bytes()));
}

#[test]
fn what_is_no_parquet_is_refused() {
    let files = Files::new();
    let path = files.text("t.parquet", "PAR1\n1\n2\n3\n");
    let error = read(&path, &key(&["id"], &[])).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "cannot read {} as Parquet: its end is missing: it is cut off, or no Parquet file (get \
             it again)",
            path.display()
        )
    );
    assert_eq!(error.kind(), ErrorKind::Input);
}

/// Returns a file of two row groups.
fn parquet_of(properties: WriterPropertiesBuilder) -> Vec<u8> {
    let batch = RecordBatch::try_from_iter([
        (
            "id",
            array(Int32Array::from_iter_values((0..2000).map(|row| row % 90))),
        ),
        (
            "word",
            array(StringArray::from_iter_values(
                (0..2000).map(|row| format!("word {}", row % 70)),
            )),
        ),
    ])
    .unwrap();
    let properties = properties.set_max_row_group_row_count(Some(1000)).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn parquet_is_read_however_it_is_compressed() {
    let read = |compression| {
        let bytes = parquet_of(WriterProperties::builder().set_compression(compression));
        read_bytes(Format::Parquet, bytes, &key(&["word", "id"], &[])).unwrap()
    };
    let plain = read(Compression::UNCOMPRESSED);
    assert_eq!(plain.counts.rows, 2000);
    for compression in [
        Compression::SNAPPY,
        Compression::GZIP(Default::default()),
        Compression::ZSTD(Default::default()),
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::BROTLI(Default::default()),
    ] {
        assert_eq!(read(compression), plain, "{compression}");
    }
}

/// Returns what is said of these bytes of a Parquet file, in whose column `id` there is a fault,
/// before any row is read.
fn refusals(files: &Files, bytes: &[u8]) -> [String; 4] {
    let source = open(&files.text("t.parquet", bytes));
    let message = |error: Error| {
        assert_eq!(error.kind(), ErrorKind::Input);
        let name = source.name();
        let text = error.to_string();
        text.strip_prefix(&format!("cannot read {name} as Parquet: it"))
            .unwrap_or_else(|| panic!("{text}"))
            .to_owned()
    };
    let id = key(&["id"], &[]);
    let output = files.path("o.parquet");
    [
        message(source.check_key(&id).unwrap_err().into()),
        message(
            check_numbers(&source, &["id".to_owned()])
                .unwrap_err()
                .into(),
        ),
        message(Keys::read(&source, &id, &[], &Progress::default()).unwrap_err()),
        message(Destination::prepare(Some(&output), &source, Existing::Replace).unwrap_err()),
    ]
}

#[test]
fn lzo_is_refused_with_its_column_before_any_row_is_read() {
    let files = Files::new();
    let good = parquet_of(WriterProperties::builder().set_compression(Compression::LZ4_RAW));
    // In the footer, the codec of a chunk stands behind the names of its path.
    let mut bytes = good.clone();
    let zigzag = |codec: u8| 2 * codec;
    let (lzo, lz4_raw) = (zigzag(3), zigzag(7));
    let ends: Vec<usize> = (0..good.len() - 4)
        .filter(|&at| good[at..].starts_with(b"\x02id\x15"))
        .map(|at| at + 4)
        .collect();
    assert_eq!(ends.len(), 2, "a chunk in each row group");
    assert_eq!(bytes[ends[1]], lz4_raw);
    bytes[ends[1]] = lzo;
    for refusal in refusals(&files, &bytes) {
        assert_eq!(
            refusal,
            "s column `id` is compressed with LZO, which is not supported (compress it with \
             Zstandard, Snappy, gzip, LZ4 or Brotli, or not at all)"
        );
    }
    let other = read_bytes(Format::Parquet, &bytes, &key(&["word"], &[])).unwrap();
    assert_eq!(other.counts.rows, 2000);
}

#[test]
fn encrypted_parquet_is_refused_before_any_row_is_read() {
    let files = Files::new();
    let encrypted = |properties: EncryptionPropertiesBuilder| {
        let properties = properties.build().unwrap();
        parquet_of(WriterProperties::builder().with_file_encryption_properties(properties))
    };
    let builder = || FileEncryptionProperties::builder(vec![7; 16]);
    for refusal in refusals(&files, &encrypted(builder())) {
        assert_eq!(refusal, " is encrypted (write it again without encryption)");
    }
    let whole = encrypted(builder().with_plaintext_footer(true));
    let column = builder()
        .with_plaintext_footer(true)
        .with_column_key("id", vec![8; 16]);
    let column = encrypted(column);
    for bytes in [&whole, &column] {
        for refusal in refusals(&files, bytes) {
            assert_eq!(
                refusal,
                "s column `id` is encrypted (write it again without encryption)"
            );
        }
    }
    let other = read_bytes(Format::Parquet, &column, &key(&["word"], &[])).unwrap();
    assert_eq!(other.counts.rows, 2000);
    for bytes in [whole, column] {
        let cut = &bytes[..bytes.len() - 1];
        let error = read_bytes(Format::Parquet, cut, &key(&["id"], &[])).unwrap_err();
        assert!(error.to_string().contains("it is cut off"), "{error}");
    }
}

#[test]
fn broken_parquet_is_an_error_and_no_panic() {
    let files = Files::new();
    let words: DictionaryArray<Int32Type> = (0..50).map(|row| Some(["a", "b"][row % 2])).collect();
    let path = files.parquet(
        "t.parquet",
        &[
            (
                "id",
                array(Int64Array::from_iter(
                    (0..50).map(|row| (row % 7 != 0).then_some(row)),
                )),
            ),
            ("word", array(words)),
        ],
    );
    let good = std::fs::read(path).unwrap();
    let key = key(&["id", "word"], &[]);
    let mut broken = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= 0xff;
        if let Err(error) = read_bytes(Format::Parquet, &bytes, &key) {
            assert_eq!(error.kind(), ErrorKind::Input);
            broken += 1;
        }
    }
    assert!(broken > 100, "{broken} of {}", good.len());
}

#[test]
fn names_tell_formats() {
    let files = Files::new();
    let open_text = |name: &str, text: &str, format, keyed| {
        let path = files.text(name, text);
        Source::open(
            &path,
            format,
            &Dialect::default(),
            keyed,
            &Progress::default(),
        )
    };
    for (name, beginning, expected) in [
        ("a.csv", "id\n", Format::Csv),
        ("a.TSV", "id\n", Format::Tsv),
        ("a.b.txt", "id\n", Format::Lines),
        ("a.parquet", "PAR1", Format::Parquet),
        ("a.arrow", "ARROW1", Format::Arrow),
        ("a.Feather", "ARROW1", Format::Arrow),
        ("a.ipc", "ARROW1", Format::Arrow),
    ] {
        let source = open_text(name, beginning, None, true).unwrap();
        assert_eq!(source.format(), expected);
    }
    let open = |name: &str, format, keyed| open_text(name, "id\n", format, keyed);
    assert_eq!(open("words", None, false).unwrap().format(), Format::Lines);
    assert_eq!(
        open("words", Some(Format::Csv), true).unwrap().format(),
        Format::Csv
    );
    for (name, keyed) in [("words", true), ("a.parquet.gz", true), ("a.xlsx", false)] {
        let error = open(name, None, keyed).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot tell the format of {} from its name: name it; the endings known are .csv, .tsv, .txt, .parquet and .arrow (or .feather, .ipc), and of texts \
                 also with .gz or .zst behind, as in .csv.gz (a file without an ending is read as \
                 text, one value per line, if no key column is given, and as CSV if a delimiter is; \
                 what is compressed in another way can be decompressed to standard input)",
                files.path(name).display()
            )
        );
        assert_eq!(error.kind(), ErrorKind::Input);
    }
}

#[test]
fn streams_are_spooled_whatever_their_format() {
    let files = Files::new();
    let path = files.parquet("t.parquet", &[("n", array(Int32Array::from(vec![1, 2])))]);
    let progress = Progress::default();
    let stream = File::open(&path).unwrap();
    let source = Source::spool(
        stream,
        "standard input",
        Format::Parquet,
        &Dialect::default(),
        &progress,
    )
    .unwrap();
    assert_eq!(source.columns().unwrap(), ["n"]);
    let key = key(&["n"], &[]);
    assert_eq!(
        Keys::read(&source, &key, &[], &progress).unwrap(),
        read(&path, &key).unwrap()
    );
}

#[test]
fn an_interrupt_ends_reading() {
    let files = Files::new();
    let progress = Progress::default();
    progress.interrupt();
    let text = files.text("t.csv", "n\n1\n");
    let parquet = files.parquet("t.parquet", &[("n", array(Int32Array::from(vec![1])))]);
    for path in [text, parquet] {
        let source = Source::open(&path, None, &Dialect::default(), true, &progress).unwrap();
        let error = Keys::read(&source, &key(&["n"], &[]), &[], &progress).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Interrupted);
    }
    let spooled = Source::spool(
        &b"1"[..],
        "standard input",
        Format::Lines,
        &Dialect::default(),
        &progress,
    );
    assert!(matches!(spooled, Err(psijoin_source::Error::Interrupted)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn random_data_has_the_same_keys_in_csv_and_parquet(
        rows in prop::collection::vec((any::<Option<i64>>(), "[ab,\"\n é]{0,3}", any::<bool>()), 1..20)
    ) {
        let files = Files::new();
        let parquet = files.parquet("t.parquet", &[
            ("n", array(Int64Array::from_iter(rows.iter().map(|row| row.0)))),
            ("s", array(StringArray::from_iter_values(rows.iter().map(|row| &row.1)))),
            ("b", array(BooleanArray::from_iter(rows.iter().map(|row| Some(row.2))))),
        ]);
        let mut writer = csv::Writer::from_path(files.path("t.csv")).unwrap();
        writer.write_record(["n", "s", "b"]).unwrap();
        for (n, s, b) in &rows {
            let n = n.map_or(String::new(), |n| n.to_string());
            writer.write_record([&n, s, &b.to_string()]).unwrap();
        }
        writer.flush().unwrap();
        for columns in [&["n"][..], &["s"], &["b", "n"], &["s", "b", "n"]] {
            let key = key(columns, &[]);
            prop_assert_eq!(
                set_of(read(&parquet, &key)),
                set_of(read(&files.path("t.csv"), &key))
            );
        }
    }
}
