//! Files whose contents contradict their claims, and sound ones in forms that are rarely seen.

use std::fs::File;

use arrow_array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use arrow_ipc::{
    Footer, Int, MetadataVersion, Schema, root_as_footer, root_as_message,
    writer::{FileWriter, IpcWriteOptions, StreamWriter},
};
use base64::{Engine, prelude::BASE64_STANDARD};
use parquet::{
    arrow::{
        ARROW_SCHEMA_META_KEY, ArrowWriter, arrow_writer::ArrowWriterOptions, encode_arrow_schema,
    },
    basic::{Compression, ZstdLevel},
    file::{
        metadata::KeyValue,
        properties::{EnabledStatistics, WriterProperties, WriterVersion},
        reader::{FileReader, SerializedFileReader},
    },
};
use psijoin_source::{ArrowFault, ErrorKind, Format, ParquetFault, ReadError};
use psijoin_table::Error;

use crate::{Files, array, assert_contains, held::Keys, join, key, read_bytes};

fn batch() -> RecordBatch {
    let ids = StringArray::from(vec!["a", "b", "c"]);
    let columns: [(&str, ArrayRef); 2] = [
        ("id", array(ids)),
        ("n", array(Int64Array::from(vec![1, 2, 3]))),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet(rows: &RecordBatch, options: ArrowWriterOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new_with_options(&mut bytes, rows.schema(), options).unwrap();
    writer.write(rows).unwrap();
    writer.close().unwrap();
    bytes
}

fn stream(options: IpcWriteOptions) -> Vec<u8> {
    let schema = batch().schema();
    let mut writer = StreamWriter::try_new_with_options(Vec::new(), &schema, options).unwrap();
    writer.write(&batch()).unwrap();
    writer.into_inner().unwrap()
}

fn keys(format: Format, bytes: &[u8]) -> Result<Keys, Error> {
    read_bytes(format, bytes, &key(&["id"], &[]))
}

fn arrow_fault(bytes: &[u8]) -> ArrowFault {
    match keys(Format::Arrow, bytes) {
        Err(Error::Read(ReadError::Arrow { fault, .. })) => fault,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_changed_header_of_a_page_is_refused_or_changes_nothing() {
    let ids = Int32Array::from_iter_values((0..200).map(|id| id * 7919));
    let rows = RecordBatch::try_from_iter([("id", array(ids))]).unwrap();
    let mut contradictions = 0;
    for version in [WriterVersion::PARQUET_1_0, WriterVersion::PARQUET_2_0] {
        for compression in [
            Compression::UNCOMPRESSED,
            Compression::SNAPPY,
            Compression::ZSTD(ZstdLevel::default()),
        ] {
            let properties = WriterProperties::builder()
                .set_writer_version(version)
                .set_compression(compression)
                .set_dictionary_enabled(false)
                .set_encoding(parquet::basic::Encoding::PLAIN)
                .set_statistics_enabled(EnabledStatistics::None)
                .build();
            let intact = parquet(&rows, ArrowWriterOptions::new().with_properties(properties));
            let file = SerializedFileReader::new(bytes::Bytes::from(intact.clone())).unwrap();
            let start = file.metadata().row_group(0).column(0).data_page_offset() as usize;
            let expected = keys(Format::Parquet, &intact).unwrap();
            // A header takes some 25 bytes here.
            for bit in 0..8 * 20 {
                let mut changed = intact.clone();
                changed[start + bit / 8] ^= 1 << (bit % 8);
                match keys(Format::Parquet, &changed) {
                    Ok(table) => assert_eq!(table, expected, "{version:?} {compression:?} {bit}"),
                    Err(error) => {
                        assert_eq!(error.kind(), ErrorKind::Input);
                        let is_contradiction = matches!(
                            &error,
                            Error::Read(ReadError::Parquet {
                                fault: ParquetFault::Contradiction { .. },
                                ..
                            })
                        );
                        contradictions += usize::from(is_contradiction);
                    }
                }
            }
        }
    }
    assert!(contradictions > 20, "{contradictions}");
}

#[test]
fn a_page_that_is_said_not_to_be_compressed_and_is_is_refused() {
    let properties = WriterProperties::builder()
        .set_writer_version(WriterVersion::PARQUET_2_0)
        .set_compression(Compression::SNAPPY)
        .set_dictionary_enabled(false)
        .set_encoding(parquet::basic::Encoding::PLAIN)
        .set_statistics_enabled(EnabledStatistics::None)
        .build();
    let rows = RecordBatch::try_from_iter([("id", array(Int32Array::from(vec![0; 100])))]).unwrap();
    let mut bytes = parquet(&rows, ArrowWriterOptions::new().with_properties(properties));
    let file = SerializedFileReader::new(bytes::Bytes::from(bytes.clone())).unwrap();
    let start = file.metadata().row_group(0).column(0).data_page_offset() as usize;
    // The field is true, and ends the header with its two structures.
    let end = bytes[start..]
        .windows(3)
        .position(|bytes| bytes == [0x11, 0, 0]);
    bytes[start + end.expect("the page is said to be compressed")] = 0x12;
    let message = keys(Format::Parquet, &bytes).unwrap_err().to_string();
    assert_contains(
        &message,
        "column `id` has a page that is said not to be compressed, and is",
    );
}

#[test]
fn a_page_that_does_not_fit_its_checksum_is_refused() {
    let mut bytes = CHECKED.to_vec();
    keys(Format::Parquet, &bytes).unwrap();
    let value = bytes.windows(4).position(|bytes| bytes == [2, 1, 0, 0]);
    bytes[value.unwrap()] = 3;
    let message = keys(Format::Parquet, &bytes).unwrap_err().to_string();
    assert_contains(&message, "the checksum of a page does not fit");
}

/// Returns the file with these bytes of its footer in the place of others.
fn with_footer(file: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let at = file.windows(from.len()).rposition(|bytes| bytes == from);
    let at = at.expect("the footer has these bytes");
    let mut bytes = [&file[..at], to, &file[at + from.len()..]].concat();
    let length = bytes.len() - 8;
    bytes[length] = (usize::from(bytes[length]) + to.len() - from.len()) as u8;
    bytes
}

#[test]
fn a_dictionary_at_the_very_beginning_is_none() {
    let expected = keys(Format::Parquet, CHECKED).unwrap();
    // Behind the place of the data stands that of the dictionary, 0.
    let bytes = with_footer(CHECKED, &[0x26, 0x08, 0x49], &[0x26, 0x08, 0x26, 0, 0x29]);
    assert_eq!(keys(Format::Parquet, &bytes).unwrap(), expected);
}

#[test]
fn headers_of_dictionaries_that_old_writers_did_not_count_are_counted() {
    let expected = keys(Format::Parquet, WITH_DICTIONARY).unwrap();
    let old = |version: &[u8]| {
        with_footer(
            WITH_DICTIONARY,
            b"parquet-cpp-arrow version 26.0.1",
            version,
        )
    };
    // The chunk has 44 bytes, 14 of them for the header.
    let short = |file: &[u8]| with_footer(file, &[0x16, 88, 0x26, 52], &[0x16, 60, 0x26, 52]);
    for version in [
        b"parquet-mr version 1.2.8 (build)",
        b"parquet-mr of the very beginning",
    ] {
        let counted = old(version);
        assert_eq!(keys(Format::Parquet, &counted).unwrap(), expected);
        assert_eq!(keys(Format::Parquet, &short(&counted)).unwrap(), expected);
    }
    for file in [WITH_DICTIONARY, &old(b"parquet-mr version 1.2.9 (build)")] {
        let message = keys(Format::Parquet, &short(file)).unwrap_err().to_string();
        assert_contains(&message, "ends before all of its values have come");
    }
}

#[test]
fn a_field_of_another_program_in_the_footer_is_passed_over() {
    let expected = keys(Format::Parquet, CHECKED).unwrap();
    // A list, where the length of a Bloom filter would be.
    let bytes = with_footer(CHECKED, &[0x26, 0x08, 0x49], &[0x26, 0x08, 0x69]);
    assert_eq!(keys(Format::Parquet, &bytes).unwrap(), expected);
}

/// Returns the file with another converted type for its column: none stands there.
fn with_converted_type(number: u8) -> Vec<u8> {
    // Behind the name of the column ends its description.
    with_footer(
        CHECKED,
        &[0x18, 2, b'i', b'd', 0, 0x16],
        &[0x18, 2, b'i', b'd', 0x25, 2 * number, 0, 0x16],
    )
}

#[test]
fn a_type_that_the_format_does_not_have_is_named() {
    assert!(keys(Format::Parquet, &with_converted_type(17)).is_ok());
    let message = keys(Format::Parquet, &with_converted_type(23)).unwrap_err();
    assert_contains(
        &message.to_string(),
        "its column `id` holds converted type 23, a type that is not known",
    );
}

/// Early versions of parquet-cpp had a type of their own for that.
#[test]
fn a_column_of_nulls_alone_is_one() {
    let nulls = keys(Format::Parquet, &with_converted_type(24)).unwrap();
    assert_eq!((nulls.counts.rows, nulls.counts.left_out), (2, 2));
}

/// As fastparquet writes a data frame of rows alone.
#[test]
fn a_file_without_columns_says_so() {
    let schema = [&[0x15, 2, 0x19, 0x1c, 0x48, 1][..], b"r", &[0x15, 0, 0]].concat();
    let rows = [&[0x16, 4, 0x19, 0x1c, 0x19, 0, 0x16, 0, 0x16, 4, 0, 0][..]].concat();
    let footer = [schema, rows].concat();
    let length = (footer.len() as u32).to_le_bytes();
    let bytes = [b"PAR1", &footer[..], &length, b"PAR1"].concat();
    let message = keys(Format::Parquet, &bytes).unwrap_err();
    assert_contains(&message.to_string(), "it has no columns");
}

/// As fastparquet wrote what had no text.
#[test]
fn what_the_file_says_of_itself_need_not_be_text() {
    let expected = keys(Format::Parquet, CHECKED).unwrap();
    // Before the name of the program: pairs of a key with a number, with bytes, and without.
    let created_by = [&[0x28, 0x20], &b"parquet-cpp"[..]].concat();
    let pairs = [
        &[0x19, 0x3c][..],
        b"\x18\x01i\x16\x02\0\x18\x01b\x18\x01\xff\0\x18\x01n\0\x18\x20parquet-cpp",
    ];
    let bytes = with_footer(CHECKED, &created_by, &pairs.concat());
    assert_eq!(keys(Format::Parquet, &bytes).unwrap(), expected);
}

#[test]
fn a_column_that_is_written_in_an_unknown_way_stops_nobody_who_does_not_need_it() {
    let sound = parquet(&batch(), ArrowWriterOptions::new());
    let path = [0x19, 0x18, 1, b'n'];
    let at = sound.windows(4).rposition(|bytes| bytes == path).unwrap();
    // Before the path stands the last of the encodings, and behind it the compression, with a byte
    // for its kind.
    let with_number = |place: usize| {
        let mut bytes = sound.clone();
        bytes[place] = 2 * 63;
        bytes
    };
    let files = Files::new();
    let expected = keys(Format::Parquet, &sound).unwrap();
    for (bytes, how) in [
        (with_number(at - 1), "encoded in a way (number 63)"),
        (with_number(at + 5), "compressed in a way (number 63)"),
    ] {
        assert_eq!(keys(Format::Parquet, &bytes).unwrap(), expected);
        let path = files.text("t.parquet", &bytes);
        let message = crate::read(&path, &key(&["n"], &[])).unwrap_err();
        assert_contains(&message.to_string(), &format!("its column `n` is {how}"));
    }
}

#[test]
fn row_groups_have_the_rows_that_the_footer_says_or_it_says_none() {
    let expected = keys(Format::Parquet, CHECKED).unwrap();
    // The footer's number of rows stands before its row groups.
    let said = |rows: u8| {
        with_footer(
            CHECKED,
            &[0x16, 0x04, 0x19, 0x1c],
            &[0x16, 2 * rows, 0x19, 0x1c],
        )
    };
    assert_eq!(keys(Format::Parquet, &said(0)).unwrap(), expected);
    for rows in [1, 3] {
        let message = keys(Format::Parquet, &said(rows)).unwrap_err().to_string();
        assert_contains(&message, "other rows together than its footer says");
    }
}

/// A file of one column with two integers, and a page with a checksum.
const CHECKED: &[u8] = &[
    0x50, 0x41, 0x52, 0x31, 0x15, 0x00, 0x15, 0x10, 0x15, 0x10, 0x15, 0xdc, 0xea, 0xa7, 0xc5, 0x01,
    0x1c, 0x15, 0x04, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x00, 0x00, 0x00, 0x02, 0x01, 0x00,
    0x00, 0x04, 0x03, 0x00, 0x00, 0x15, 0x04, 0x19, 0x2c, 0x35, 0x00, 0x18, 0x06, 0x73, 0x63, 0x68,
    0x65, 0x6d, 0x61, 0x15, 0x02, 0x00, 0x15, 0x02, 0x25, 0x00, 0x18, 0x02, 0x69, 0x64, 0x00, 0x16,
    0x04, 0x19, 0x1c, 0x19, 0x1c, 0x26, 0x00, 0x1c, 0x15, 0x02, 0x19, 0x25, 0x06, 0x00, 0x19, 0x18,
    0x02, 0x69, 0x64, 0x15, 0x00, 0x16, 0x04, 0x16, 0x42, 0x16, 0x42, 0x26, 0x08, 0x49, 0x1c, 0x15,
    0x00, 0x15, 0x00, 0x15, 0x02, 0x00, 0x00, 0x00, 0x16, 0x42, 0x16, 0x04, 0x26, 0x08, 0x16, 0x42,
    0x00, 0x28, 0x20, 0x70, 0x61, 0x72, 0x71, 0x75, 0x65, 0x74, 0x2d, 0x63, 0x70, 0x70, 0x2d, 0x61,
    0x72, 0x72, 0x6f, 0x77, 0x20, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f, 0x6e, 0x20, 0x32, 0x36, 0x2e,
    0x30, 0x2e, 0x31, 0x19, 0x1c, 0x1c, 0x00, 0x00, 0x00, 0x74, 0x00, 0x00, 0x00, 0x50, 0x41, 0x52,
    0x31,
];

/// A file of one column with four integers, two of which are in its dictionary.
const WITH_DICTIONARY: &[u8] = &[
    0x50, 0x41, 0x52, 0x31, 0x15, 0x04, 0x15, 0x10, 0x15, 0x10, 0x4c, 0x15, 0x04, 0x15, 0x00, 0x12,
    0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x15, 0x00, 0x15, 0x06, 0x15, 0x06,
    0x2c, 0x15, 0x08, 0x15, 0x10, 0x15, 0x06, 0x15, 0x06, 0x1c, 0x00, 0x00, 0x00, 0x01, 0x03, 0x0a,
    0x15, 0x04, 0x19, 0x2c, 0x35, 0x00, 0x18, 0x06, 0x73, 0x63, 0x68, 0x65, 0x6d, 0x61, 0x15, 0x02,
    0x00, 0x15, 0x02, 0x25, 0x00, 0x18, 0x02, 0x69, 0x64, 0x00, 0x16, 0x08, 0x19, 0x1c, 0x19, 0x1c,
    0x26, 0x00, 0x1c, 0x15, 0x02, 0x19, 0x35, 0x00, 0x06, 0x10, 0x19, 0x18, 0x02, 0x69, 0x64, 0x15,
    0x00, 0x16, 0x08, 0x16, 0x58, 0x16, 0x58, 0x26, 0x34, 0x26, 0x08, 0x29, 0x2c, 0x15, 0x04, 0x15,
    0x00, 0x15, 0x02, 0x00, 0x15, 0x00, 0x15, 0x10, 0x15, 0x02, 0x00, 0x00, 0x00, 0x16, 0x58, 0x16,
    0x08, 0x26, 0x08, 0x16, 0x58, 0x00, 0x28, 0x20, 0x70, 0x61, 0x72, 0x71, 0x75, 0x65, 0x74, 0x2d,
    0x63, 0x70, 0x70, 0x2d, 0x61, 0x72, 0x72, 0x6f, 0x77, 0x20, 0x76, 0x65, 0x72, 0x73, 0x69, 0x6f,
    0x6e, 0x20, 0x32, 0x36, 0x2e, 0x30, 0x2e, 0x31, 0x19, 0x1c, 0x1c, 0x00, 0x00, 0x00, 0x7e, 0x00,
    0x00, 0x00, 0x50, 0x41, 0x52, 0x31,
];

/// The description of integers of 64 bits, made one of integers of 128 bits, as Polars writes it.
fn wider(description: &mut [u8]) {
    let width = description
        .windows(4)
        .rposition(|bytes| bytes == [64, 0, 0, 0]);
    description[width.expect("a column has 64 bits")] = 128;
}

#[test]
fn a_column_of_an_unknown_type_stops_nobody_who_does_not_need_it() {
    let files = Files::new();
    let schema = encode_arrow_schema(&batch().schema());
    let mut description = BASE64_STANDARD.decode(schema).unwrap();
    wider(&mut description);
    let told = KeyValue::new(
        ARROW_SCHEMA_META_KEY.to_owned(),
        BASE64_STANDARD.encode(description),
    );
    let properties = WriterProperties::builder().set_key_value_metadata(Some(vec![told]));
    let options = ArrowWriterOptions::new()
        .with_properties(properties.build())
        .with_skip_arrow_metadata(true);
    let path = files.text("t.parquet", parquet(&batch(), options));
    let table = crate::read(&path, &key(&["id"], &[])).unwrap();
    assert_eq!(table.fingerprints.len(), 3);
    let as_key = crate::read(&path, &key(&["n"], &[]));
    let kept = join(
        &path,
        &key(&["id"], &[]),
        |_| true,
        &files.path("o.parquet"),
    );
    for message in [
        as_key.unwrap_err().to_string(),
        kept.unwrap_err().to_string(),
    ] {
        assert_contains(&message, "its column `n` holds integers of 128 bits");
    }
}

/// Returns the place in the flat buffer of a schema of the width of the integers of its second
/// column.
fn width_of_second(schema: Schema<'_>) -> usize {
    let field = schema.fields().unwrap().get(1);
    let table = field.type_as_int().unwrap()._tab;
    table.loc() + usize::from(table.vtable().get(Int::VT_BITWIDTH))
}

/// Returns a stream whose second column has integers of this many bits.
fn stream_of_wide(bits: u8) -> Vec<u8> {
    let mut bytes = stream(IpcWriteOptions::default());
    let width = {
        let message = root_as_message(&bytes[8..]).unwrap();
        8 + width_of_second(message.header_as_schema().unwrap())
    };
    bytes[width] = bits;
    bytes
}

/// Returns a file whose second column has integers of this many bits.
fn file_of_wide(bits: u8) -> Vec<u8> {
    let mut writer = FileWriter::try_new(Vec::new(), &batch().schema()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    let mut bytes = writer.into_inner().unwrap();
    let end = bytes.len() - 10;
    let length: [u8; 4] = bytes[end..end + 4].try_into().unwrap();
    let start = end - u32::from_le_bytes(length) as usize;
    let widths = {
        let message = root_as_message(&bytes[72..]).unwrap();
        let footer = root_as_footer(&bytes[start..end]).unwrap();
        [
            72 + width_of_second(message.header_as_schema().unwrap()),
            start + width_of_second(footer.schema().unwrap()),
        ]
    };
    for width in widths {
        bytes[width] = bits;
    }
    bytes
}

#[test]
fn a_column_of_an_unknown_type_in_arrow_stops_nobody_who_does_not_need_it() {
    let files = Files::new();
    let expected = keys(Format::Arrow, &file_of_wide(64)).unwrap();
    for bytes in [stream_of_wide(128), file_of_wide(128)] {
        assert_eq!(keys(Format::Arrow, &bytes).unwrap(), expected);
        let path = files.text("t.arrow", &bytes);
        let as_key = crate::read(&path, &key(&["n"], &[]));
        let kept = join(&path, &key(&["id"], &[]), |_| true, &files.path("o.arrow"));
        for error in [as_key.unwrap_err(), kept.unwrap_err()] {
            let message = error.to_string();
            assert_contains(&message, "its column `n` holds integers of 128 bits");
        }
    }
}

#[test]
fn a_column_that_is_laid_out_in_an_unknown_way_is_named() {
    let mut bytes = stream(IpcWriteOptions::default());
    let tag = {
        let message = root_as_message(&bytes[8..]).unwrap();
        let field = message.header_as_schema().unwrap().fields().unwrap().get(1);
        let tag = field._tab.vtable().get(arrow_ipc::Field::VT_TYPE_TYPE);
        8 + field._tab.loc() + usize::from(tag)
    };
    bytes[tag] = 99;
    let unknown = ArrowFault::UnknownLayout {
        column: "n".to_owned(),
        kind: "a type of a later version of Arrow".to_owned(),
    };
    assert_eq!(arrow_fault(&bytes), unknown);
}

#[test]
fn nulls_that_are_not_counted_are_refused() {
    let ids = StringArray::from(vec![Some("a"), None, Some("c")]);
    let rows = RecordBatch::try_from_iter([("id", array(ids) as ArrayRef)]).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    let mut bytes = writer.into_inner().unwrap();
    keys(Format::Arrow, &bytes).unwrap();
    // A length of 3, with a null.
    let node = [3_i64.to_le_bytes(), 1_i64.to_le_bytes()].concat();
    let at = bytes.windows(16).position(|bytes| bytes == node).unwrap();
    bytes[at + 8] = 0;
    assert_eq!(arrow_fault(&bytes), ArrowFault::Nulls);
}

#[test]
fn a_stream_ends_with_its_mark_and_with_nothing_else() {
    let whole = stream(IpcWriteOptions::default());
    keys(Format::Arrow, &whole).unwrap();
    let without = &whole[..whole.len() - 8];
    assert_eq!(arrow_fault(without), ArrowFault::NoEndMark);
    assert_eq!(
        arrow_fault(&without[..without.len() - 8]),
        ArrowFault::CutOff
    );
    for behind in [&whole[..], b"x", &[0; 8]] {
        let bytes = [&whole[..], behind].concat();
        assert_eq!(arrow_fault(&bytes), ArrowFault::BehindEnd);
    }
}

#[test]
fn files_and_streams_of_before_arrow_0_15_are_read() {
    let files = Files::new();
    let expected = keys(Format::Arrow, &stream(IpcWriteOptions::default())).unwrap();
    let old = || IpcWriteOptions::try_new(8, true, MetadataVersion::V4).unwrap();
    let path = files.text("t.arrow", stream(old()));
    assert_eq!(crate::read(&path, &key(&["id"], &[])).unwrap(), expected);
    let path = files.path("file.arrow");
    let file = File::create(&path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &batch().schema(), old()).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    assert_eq!(crate::read(&path, &key(&["id"], &[])).unwrap(), expected);
}

/// Returns a file whose messages are of an older version.
fn old_file() -> Vec<u8> {
    let options = IpcWriteOptions::try_new(8, false, MetadataVersion::V4).unwrap();
    let mut writer =
        FileWriter::try_new_with_options(Vec::new(), &batch().schema(), options).unwrap();
    writer.write(&batch()).unwrap();
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

#[test]
fn a_footer_may_say_the_latest_version_whatever_the_rows_are_in() {
    let mut bytes = old_file();
    let expected = keys(Format::Arrow, &bytes).unwrap();
    let end = bytes.len() - 10;
    let length: [u8; 4] = bytes[end..end + 4].try_into().unwrap();
    let start = end - u32::from_le_bytes(length) as usize;
    let version = {
        let footer = root_as_footer(&bytes[start..end]).unwrap();
        let place = footer._tab.vtable().get(Footer::VT_VERSION);
        start + footer._tab.loc() + usize::from(place)
    };
    bytes[version] = MetadataVersion::V5.0 as u8;
    assert_eq!(keys(Format::Arrow, &bytes).unwrap(), expected);
}

#[test]
fn a_file_need_not_say_how_long_its_first_schema_is() {
    let mut bytes = old_file();
    let expected = keys(Format::Arrow, &bytes).unwrap();
    // Polars has no length there, but the beginning of the schema. The next bytes are a description
    // of nothing in one of the cases.
    let schema = [0xf2, 0xff, 0xff, 0xff];
    for beginning in [&[4, 0, 0, 0][..], &[8, 0, 0, 0, 0, 0, 0, 0]] {
        let beginning = [beginning, &schema].concat();
        bytes[8..8 + beginning.len()].copy_from_slice(&beginning);
        assert_eq!(keys(Format::Arrow, &bytes).unwrap(), expected);
    }
}
