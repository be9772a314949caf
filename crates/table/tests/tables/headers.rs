//! Small files and streams, each bit of whose headers and footers is turned once: the result is
//! that of the sound file, or an error.
//!
//! If the schema becomes another one, so may the rows: that bytes are numbers, and not dates, is
//! said once only.

use std::{io::Cursor, iter, ops::Range};

use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use arrow_ipc::{
    CompressionType,
    reader::{FileReader, StreamReader},
    root_as_message,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use arrow_schema::SchemaRef;
use bytes::Bytes;
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::Compression,
    file::{
        metadata::{ParquetMetaData, ParquetMetaDataReader},
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
    },
};
use psijoin_source::Format;
use psijoin_table::Error;

use crate::{array, held::Keys, key, read_bytes};

/// The bytes before the stream in a file that the library writes.
const MAGIC_BYTES: usize = 64;

/// Returns two batches, or row groups.
fn batches() -> [RecordBatch; 2] {
    [0..5, 5..8].map(|rows| {
        let ids = rows
            .clone()
            .map(|row| (row != 2).then(|| format!("id {}", row % 4)));
        let numbers = rows.map(|row| (row % 4 > 0).then_some(row * 7919));
        let columns: [(&str, ArrayRef); 2] = [
            ("id", array(StringArray::from_iter(ids))),
            ("n", array(Int64Array::from_iter(numbers))),
        ];
        RecordBatch::try_from_iter_with_nullable(columns.map(|(name, of)| (name, of, true)))
            .unwrap()
    })
}

fn keys(format: Format, bytes: &[u8]) -> Result<Keys, Error> {
    read_bytes(format, bytes, &key(&["id", "n"], &[]))
}

/// Turns each bit in these places, one at a time.
#[track_caller]
fn turn_each_bit<S: PartialEq>(
    format: Format,
    sound: &[u8],
    places: impl IntoIterator<Item = Range<usize>>,
    schema: impl Fn(&[u8]) -> S,
) {
    let expected = keys(format, sound).unwrap();
    let said = schema(sound);
    let mut others = Vec::new();
    for place in places.into_iter().flatten() {
        for bit in 0..8 {
            let mut bytes = sound.to_vec();
            bytes[place] ^= 1 << bit;
            let Ok(table) = keys(format, &bytes) else {
                continue;
            };
            if table != expected && schema(&bytes) == said {
                others.push((place, bit));
            }
        }
    }
    assert_eq!(others, [], "bytes and bits of {} bytes", sound.len());
}

fn parquet(version: WriterVersion, compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder()
        .set_writer_version(version)
        .set_compression(compression)
        .set_statistics_enabled(EnabledStatistics::None)
        .set_column_dictionary_enabled("n".into(), false)
        .set_created_by("tests".to_owned())
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let mut bytes = Vec::new();
    let schema = batches()[0].schema();
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, schema, options).unwrap();
    for batch in batches() {
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn parquet_metadata(bytes: &[u8]) -> ParquetMetaData {
    let bytes = Bytes::copy_from_slice(bytes);
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&bytes);
    metadata.unwrap()
}

#[test]
fn footers_of_parquet() {
    let bytes = parquet(WriterVersion::PARQUET_2_0, Compression::SNAPPY);
    let length = bytes[bytes.len() - 8..].first_chunk().unwrap();
    let footer = bytes.len() - 8 - u32::from_le_bytes(*length) as usize;
    let schema = |bytes: &[u8]| {
        let metadata = parquet_metadata(bytes);
        metadata.file_metadata().schema().clone()
    };
    let footer = iter::once(footer..bytes.len());
    turn_each_bit(Format::Parquet, &bytes, footer, schema);
}

#[test]
fn headers_of_dictionaries_of_parquet() {
    for compression in [Compression::UNCOMPRESSED, Compression::SNAPPY] {
        let bytes = parquet(WriterVersion::PARQUET_1_0, compression);
        let metadata = parquet_metadata(&bytes);
        let dictionaries = metadata.row_groups().iter().map(|group| {
            let start = group.column(0).dictionary_page_offset().unwrap() as usize;
            // The value behind the encoding, of number 0, does not matter: whether the values are
            // in order.
            let encoding = bytes[start..].windows(2).position(|end| end == [0x15, 0]);
            start..start + encoding.unwrap() + 2
        });
        turn_each_bit(Format::Parquet, &bytes, dictionaries, |_| ());
    }
}

/// Where the descriptions of messages are, with their lengths, from `start` on; of the first one,
/// the schema, the length alone.
fn descriptions(bytes: &[u8], start: usize) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = start;
    while let [0xff, 0xff, 0xff, 0xff, a, b, c, d, rest @ ..] = &bytes[at..] {
        let length = u32::from_le_bytes([*a, *b, *c, *d]) as usize;
        let described = if at == start { 0 } else { length };
        found.push(at..at + 8 + described);
        if length == 0 {
            break;
        }
        let message = root_as_message(&rest[..length]).unwrap();
        at += 8 + length + message.bodyLength() as usize;
    }
    found
}

#[test]
fn messages_of_streams() {
    let schema = batches()[0].schema();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    for batch in batches() {
        writer.write(&batch).unwrap();
    }
    let bytes = writer.into_inner().unwrap();
    let schema = |bytes: &[u8]| -> SchemaRef {
        let reader = StreamReader::try_new(bytes, None);
        reader.unwrap().schema()
    };
    turn_each_bit(Format::Arrow, &bytes, descriptions(&bytes, 0), schema);
}

#[test]
fn messages_and_footers_of_arrow_files() {
    let schema = batches()[0].schema();
    let options = IpcWriteOptions::default();
    let options = options.try_with_compression(Some(CompressionType::LZ4_FRAME));
    let writer = FileWriter::try_new_with_options(Vec::new(), &schema, options.unwrap());
    let mut writer = writer.unwrap();
    for batch in batches() {
        writer.write(&batch).unwrap();
    }
    writer.finish().unwrap();
    let bytes = writer.into_inner().unwrap();
    let schema = |bytes: &[u8]| -> SchemaRef {
        let reader = FileReader::try_new(Cursor::new(bytes), None);
        reader.unwrap().schema()
    };
    let mut places = descriptions(&bytes, MAGIC_BYTES);
    let footer = places.last().unwrap().end;
    places.push(footer..bytes.len());
    turn_each_bit(Format::Arrow, &bytes, places, schema);
}
