//! Parquet and Arrow files and streams, some of whose bytes are others: lengths, counts and marks
//! that contradict what is there are refused, and nothing panics or takes memory that no machine
//! has.
#![no_main]

use std::{
    panic,
    sync::{Arc, LazyLock},
};

use arrow_array::{
    ArrayRef, DictionaryArray, Int64Array, RecordBatch, StringArray, types::Int32Type,
};
use arrow_ipc::{
    CompressionType,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use libfuzzer_sys::fuzz_target;
use parquet::{
    arrow::ArrowWriter,
    basic::Compression,
    data_type::{Int64Type, Int96, Int96Type},
    file::{
        properties::{WriterProperties, WriterVersion},
        writer::SerializedFileWriter,
    },
    schema::parser::parse_message_type,
};
use psijoin::spill::Spill;
use psijoin_source::{Dialect, ErrorKind, Format, Progress, Source};
use psijoin_table::{Error, KeySpec, TableKeys, is_panic_contained};

/// Sound files and streams.
static SOUND: LazyLock<Vec<(Format, Vec<u8>)>> = LazyLock::new(|| {
    let rows = rows();
    let parquets = [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0]
        .into_iter()
        .flat_map(|version| {
            [Compression::UNCOMPRESSED, Compression::SNAPPY].map(|compression| {
                let properties = WriterProperties::builder()
                    .set_writer_version(version)
                    .set_compression(compression);
                (Format::Parquet, parquet(&rows, properties.build()))
            })
        });
    let arrows = [None, Some(CompressionType::LZ4_FRAME)]
        .into_iter()
        .flat_map(|compression| [file(&rows, compression), stream(&rows, compression)])
        .map(|bytes| (Format::Arrow, bytes));
    let int96 = [(Format::Parquet, int96())];
    parquets.chain(arrows).chain(int96).collect()
});

fuzz_target!(
    init: {
        // A contained panic is an error, and no fault.
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |information| {
            if !is_panic_contained() {
                before(information);
            }
        }));
    },
    |input: (u8, Vec<(u16, u8)>, Option<u16>, Vec<u8>)| {
        let (which, changes, cut, behind) = input;
        let (format, sound) = &SOUND[usize::from(which) % SOUND.len()];
        let mut bytes = sound.clone();
        for (place, change) in changes {
            let place = usize::from(place) % bytes.len();
            bytes[place] ^= change;
        }
        if let Some(cut) = cut {
            bytes.truncate(usize::from(cut));
        }
        bytes.extend(behind);
        let columns = vec!["id".to_owned(), "word".to_owned()];
        let key = KeySpec::new(columns, vec![]).expect("a key");
        let progress = Progress::default();
        let source = Source::spool(&bytes[..], "fuzz", *format, &Dialect::default(), &progress);
        let (numbers, spill) = (["n".to_owned()], Spill::in_memory());
        let read = |source: Source| TableKeys::read(&source, &key, &numbers, &spill, &progress);
        match source.map_err(Error::from).and_then(read) {
            Ok(keys) => assert!(keys.counts().distinct <= keys.counts().rows),
            Err(error) => assert_eq!(error.kind(), ErrorKind::Input, "{error}"),
        }
    }
);

fn rows() -> RecordBatch {
    let ids = StringArray::from_iter((0..40).map(|id| (id % 7 > 0).then(|| format!("id {id}"))));
    let words: DictionaryArray<Int32Type> = (0..40).map(|row| ["x", "y"][row % 2]).collect();
    let numbers = Int64Array::from_iter((0..40).map(|row| (row % 5 > 0).then_some(row)));
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(ids)),
        ("word", Arc::new(words)),
        ("n", Arc::new(numbers)),
    ];
    RecordBatch::try_from_iter(columns).expect("columns of one length")
}

fn parquet(rows: &RecordBatch, properties: WriterProperties) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer =
        ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties)).expect("a writer");
    writer.write(rows).expect("rows that fit");
    writer.close().expect("a file");
    bytes
}

/// Returns a file whose keys are timestamps of 96 bits.
fn int96() -> Vec<u8> {
    let schema = "message table { required int96 id; required int96 word; required int64 n; }";
    let schema = Arc::new(parse_message_type(schema).expect("a schema"));
    let mut bytes = Vec::new();
    let mut file =
        SerializedFileWriter::new(&mut bytes, schema, Default::default()).expect("a writer");
    let mut group = file.next_row_group().expect("a row group");
    for first_day in [2_440_588, 2_460_000] {
        let moments = (0..40).map(|row| {
            let mut moment = Int96::new();
            moment.set_data(1000 * row, 0, first_day + row);
            moment
        });
        let moments: Vec<Int96> = moments.collect();
        let mut column = group.next_column().expect("a column").expect("a column");
        let written = column
            .typed::<Int96Type>()
            .write_batch(&moments, None, None);
        written.expect("values that fit");
        column.close().expect("a column");
    }
    let mut column = group.next_column().expect("a column").expect("a column");
    let numbers: Vec<i64> = (0..40).collect();
    let written = column
        .typed::<Int64Type>()
        .write_batch(&numbers, None, None);
    written.expect("values that fit");
    column.close().expect("a column");
    group.close().expect("a row group");
    file.close().expect("a file");
    bytes
}

fn options(compression: Option<CompressionType>) -> IpcWriteOptions {
    let options = IpcWriteOptions::default().try_with_compression(compression);
    options.expect("a compression that is built in")
}

fn file(rows: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = options(compression);
    let writer = FileWriter::try_new_with_options(Vec::new(), &rows.schema(), options);
    let mut writer = writer.expect("a writer");
    writer.write(rows).expect("rows that fit");
    writer.finish().expect("a file");
    writer.into_inner().expect("a file")
}

fn stream(rows: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = options(compression);
    let writer = StreamWriter::try_new_with_options(Vec::new(), &rows.schema(), options);
    let mut writer = writer.expect("a writer");
    writer.write(rows).expect("rows that fit");
    writer.into_inner().expect("a stream")
}
