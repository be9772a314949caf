//! Damaged files: the error names what is damaged, and the column if there is one.

use std::sync::Arc;

use arrow_array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{Field, Schema};
use base64::{Engine, prelude::BASE64_STANDARD};
use parquet::{
    arrow::ArrowWriter,
    basic::{Compression, Encoding},
    file::{
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        reader::{FileReader, SerializedFileReader},
    },
};
use psijoin_source::{ArrowFault, ErrorKind, Format, ParquetFault, ReadError};
use psijoin_table::Error;

use crate::{array, assert_contains, key, read_bytes};

/// Returns two columns of texts and one of numbers, none of them with nulls.
fn batch() -> RecordBatch {
    let words = |word: &str| {
        let texts = (0..100).map(|number| format!("{word}-{number:03}"));
        array(StringArray::from_iter_values(texts))
    };
    let columns: [(&str, ArrayRef); 3] = [
        ("id", words("id")),
        ("word", words("word")),
        ("n", array(Int32Array::from_iter_values(0..100))),
    ];
    let fields = columns.iter().map(|(name, array)| {
        let kind = array.data_type().clone();
        Field::new(*name, kind, false)
    });
    let schema = Schema::new(fields.collect::<Vec<_>>());
    RecordBatch::try_new(Arc::new(schema), columns.map(|(_, array)| array).into()).unwrap()
}

fn parquet(compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_compression(compression)
        .set_dictionary_enabled(false)
        .set_encoding(Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let mut bytes = Vec::new();
    let rows = batch();
    let mut writer = ArrowWriter::try_new(&mut bytes, rows.schema(), Some(properties)).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();
    bytes
}

fn stream() -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap()
}

fn file() -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap()
}

/// Replaces a sequence of bytes that is there once.
fn replaced(mut bytes: Vec<u8>, from: &[u8], to: &[u8]) -> Vec<u8> {
    let places = bytes.windows(from.len()).enumerate();
    let places = places.filter(|(_, found)| *found == from);
    let [place] = places.map(|(place, _)| place).collect::<Vec<_>>()[..] else {
        panic!("{from:?} is not there once");
    };
    bytes[place..place + to.len()].copy_from_slice(to);
    bytes
}

fn parquet_fault(bytes: &[u8], column: &str) -> ParquetFault {
    match read_bytes(Format::Parquet, bytes, &key(&[column], &[])) {
        Err(Error::Read(ReadError::Parquet { fault, .. })) => fault,
        other => panic!("{other:?}"),
    }
}

fn arrow_fault(bytes: &[u8]) -> ArrowFault {
    let error = read_bytes(Format::Arrow, bytes, &key(&["id"], &[])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    match error {
        Error::Read(ReadError::Arrow { fault, .. }) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn parquet_that_is_cut_off_is_told_from_a_damaged_footer() {
    let whole = parquet(Compression::UNCOMPRESSED);
    for end in [0, 4, 7, whole.len() / 2, whole.len() - 1] {
        assert_eq!(
            parquet_fault(&whole[..end], "id"),
            ParquetFault::CutOff,
            "{end}"
        );
    }
    let length = whole.len() - 8;
    let footer = u32::from_le_bytes(*whole[length..].first_chunk().unwrap()) as usize;
    let mut damaged = whole.clone();
    damaged[length - footer..length].fill(0xff);
    assert_eq!(parquet_fault(&damaged, "id"), ParquetFault::Footer);
    // It would begin before the file.
    let mut damaged = whole;
    damaged[length + 3] = 1;
    assert_eq!(parquet_fault(&damaged, "id"), ParquetFault::Footer);
}

#[test]
fn a_damaged_page_is_named_by_its_column_and_stops_nobody_who_does_not_need_it() {
    let intact = parquet(Compression::SNAPPY);
    let read = SerializedFileReader::new(bytes::Bytes::from(intact.clone())).unwrap();
    let group = read.metadata().row_group(0);
    let (start, length) = group.column(1).byte_range();
    let mut damaged = intact;
    // Behind the header of the page, which takes some 30 bytes.
    damaged[start as usize + 40..(start + length) as usize].fill(0xff);
    let ParquetFault::Contradiction {
        column,
        contradiction,
    } = parquet_fault(&damaged, "word")
    else {
        panic!("the column is not named");
    };
    assert_eq!(column, "word");
    assert_eq!(
        contradiction,
        "has a page that cannot be decoded, as it is damaged"
    );
    // Among others, too.
    let both = read_bytes(Format::Parquet, &damaged, &key(&["id", "word"], &[]));
    assert_contains(
        &both.unwrap_err().to_string(),
        "its column `word` has a page",
    );
    read_bytes(Format::Parquet, &damaged, &key(&["id"], &[])).unwrap();
}

#[test]
fn texts_that_are_not_utf_8_are_called_that() {
    let damaged = replaced(
        parquet(Compression::UNCOMPRESSED),
        b"word-017",
        b"word-\xff",
    );
    let message = parquet_fault(&damaged, "word").to_string();
    assert_contains(&message, "its column `word` holds texts that are not UTF-8");
    assert!(!message.contains("word-"), "{message}");

    for bytes in [stream(), file()] {
        let damaged = replaced(bytes, b"id-017", b"id-\xff");
        assert_eq!(arrow_fault(&damaged), ArrowFault::NotUtf8);
    }
}

#[test]
fn another_number_of_values_than_rows_is_told_of_the_column() {
    // The footer counts 100 values of each column, and 100 rows, as zigzag numbers of two bytes.
    let intact = parquet(Compression::UNCOMPRESSED);
    let path = b"word";
    let length = intact.len() - 8;
    let footer = u32::from_le_bytes(*intact[length..].first_chunk().unwrap()) as usize;
    let mut damaged = intact;
    let described = &mut damaged[length - footer..length];
    // Behind the path of the column: how it is compressed, and how many values it has.
    let at = described
        .windows(path.len())
        .rposition(|bytes| bytes == path);
    let counted = at.unwrap() + path.len();
    let count = described[counted..]
        .windows(2)
        .position(|bytes| bytes == [0xc8, 1]);
    described[counted + count.unwrap()] = 0xca;
    assert_contains(
        &parquet_fault(&damaged, "word").to_string(),
        "its column `word` has another number of values than there are rows",
    );
    read_bytes(Format::Parquet, &damaged, &key(&["id"], &[])).unwrap();
}

#[test]
fn a_value_shares_no_more_with_the_value_before_than_that_is_long() {
    let column = |words: &[Option<&str>]| {
        let words = array(StringArray::from(words.to_vec()));
        RecordBatch::try_from_iter([("id", words)]).unwrap()
    };
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_compression(compression)
                .set_dictionary_enabled(false)
                .set_encoding(Encoding::DELTA_BYTE_ARRAY)
                .set_statistics_enabled(EnabledStatistics::None)
                .set_data_page_row_count_limit(70)
                .set_write_batch_size(10);
            let write = |rows: &RecordBatch| {
                let (properties, schema) = (properties.clone().build(), rows.schema());
                let mut bytes = Vec::new();
                let mut writer =
                    ArrowWriter::try_new(&mut bytes, schema, Some(properties)).unwrap();
                writer.write(rows).unwrap();
                writer.close().unwrap();
                bytes
            };
            let id = &key(&["id"], &[]);
            // Many of all lengths, nulls and empty texts among them, are read.
            let texts: Vec<String> = (0..997_u32)
                .map(|number| format!("{:b}", number.wrapping_mul(40_503) % 1021))
                .map(|text| text[text.len() / 8 * 2..].to_owned())
                .collect();
            let words = texts.iter().enumerate().map(|(row, text)| match row % 7 {
                0 => None,
                1 => Some(""),
                _ => Some(text.as_str()),
            });
            let many = column(&words.collect::<Vec<_>>());
            let read = read_bytes(Format::Parquet, write(&many), id).unwrap();
            assert_eq!(read.counts.rows, 997);

            let few = write(&column(&[Some("aa"), Some("ab")]));
            read_bytes(Format::Parquet, &few, id).unwrap();
            // The lengths that are shared: blocks of 128 numbers in 4 parts; two numbers, the first
            // of which is 0, and the second 1 more; and 3 more.
            let shared = [0x80, 1, 4, 2, 0, 2, 0, 0, 0, 0];
            let damaged = replaced(few, &shared, &[0x80, 1, 4, 2, 0, 6]);
            assert_contains(
                &parquet_fault(&damaged, "id").to_string(),
                "its column `id` has a value that shares more with the value before",
            );
        }
    }
}

#[test]
fn arrow_that_is_damaged_is_told_by_what_is() {
    for bytes in [stream(), file()] {
        assert_eq!(arrow_fault(&bytes[..bytes.len() - 9]), ArrowFault::CutOff);
        // The ends of the second text, and of the third.
        let (second, third) = (12_u32.to_le_bytes(), 18_u32.to_le_bytes());
        let damaged = replaced(bytes, &[second, third].concat(), &[third, second].concat());
        assert_eq!(arrow_fault(&damaged), ArrowFault::Rows);
    }
    let mut damaged = stream();
    damaged[8..40].fill(0xff);
    assert_eq!(arrow_fault(&damaged), ArrowFault::Description);
}

#[test]
fn a_tensor_is_no_table() {
    let tensor = BASE64_STANDARD.decode(TENSOR).unwrap();
    let fault = arrow_fault(&tensor);
    assert_eq!(fault, ArrowFault::Tensor);
    assert_contains(&fault.to_string(), "holds a tensor, and no table");
}

/// Four numbers of 8 bits in two rows, as PyArrow's `ipc.write_tensor` writes them.
const TENSOR: &str = "\
    //////gAAAAUAAAAAAAAAAwAGgAGAAUACAAMAAwAAAAABAQAIAAAAAQAAAAAAAAAAAAAAAAADgAoAAcACAAMABAAFAAO\
    AAAAAAAAApAAAAA0AAAAGAAAAAAAAAAAAAAABAAAAAAAAAAAAAAAAgAAAAIAAAAAAAAAAQAAAAAAAAAAAAAAAgAAADAA\
    AAAMAAAACAAQAAgABAAIAAAADAAAAAIAAAAAAAAAAAAAAAAAAAAIABQACAAEAAgAAAAQAAAAAgAAAAAAAAAAAAAAAAAA\
    AAAAAAAIAAwACAAHAAgAAAAAAAABCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAECAwQ=";
