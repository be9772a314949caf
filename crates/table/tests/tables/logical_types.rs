//! Parquet's statements about columns that Arrow lacks are kept or refused.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{types::Int32Type, *};
use arrow_schema::{DataType, Field, Schema};
use parquet::{
    arrow::{ArrowSchemaConverter, ArrowWriter, arrow_writer::ArrowWriterOptions},
    basic::{ConvertedType, LogicalType, Type as Physical},
    data_type::{Int96, Int96Type},
    file::{
        reader::FileReader, serialized_reader::SerializedFileReader, writer::SerializedFileWriter,
    },
    schema::{
        parser::parse_message_type,
        types::{SchemaDescriptor, Type},
    },
};
use psijoin_source::Format;
use psijoin_table::share::GivenColumns;

use crate::{Files, array, join, key, open, read, read_bytes, set_of};

/// A file of a column `id`, 1 and 2, and one `it` whose type this is, beneath which is that array.
pub(crate) fn annotated(path: &Path, it: Type, beneath: ArrayRef) {
    let fields = vec![
        Field::new("id", DataType::Int32, false),
        Field::new("it", beneath.data_type().clone(), false),
    ];
    let schema = Arc::new(Schema::new(fields));
    let plain = ArrowSchemaConverter::new().convert(&schema).unwrap();
    let columns = vec![plain.root_schema().get_fields()[0].clone(), Arc::new(it)];
    let root = Type::group_type_builder("table").with_fields(columns);
    let columns = SchemaDescriptor::new(Arc::new(root.build().unwrap()));
    let options = ArrowWriterOptions::new()
        .with_parquet_schema(columns)
        .with_skip_arrow_metadata(true);
    let file = File::create(path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, schema.clone(), options).unwrap();
    let id = array(Int32Array::from(vec![1, 2]));
    writer
        .write(&RecordBatch::try_new(schema, vec![id, beneath]).unwrap())
        .unwrap();
    writer.close().unwrap();
}

pub(crate) fn primitive(
    physical: Physical,
    bytes: i32,
) -> parquet::schema::types::PrimitiveTypeBuilder<'static> {
    Type::primitive_type_builder("it", physical)
        .with_length(bytes)
        .with_repetition(parquet::basic::Repetition::REQUIRED)
}

fn logical(said: LogicalType) -> Type {
    primitive(Physical::BYTE_ARRAY, -1)
        .with_logical_type(Some(said))
        .build()
        .unwrap()
}

fn column_of(path: &Path) -> Type {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let root = reader.metadata().file_metadata().schema().clone();
    root.get_fields()[1].as_ref().clone()
}

#[test]
fn logical_types_that_arrow_lacks_stay_in_parquet_and_are_refused_elsewhere() {
    let bytes = || array(BinaryArray::from(vec![&b"one"[..], b"two"]));
    let children = ["metadata", "value"].map(|name| {
        let leaf = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        let required = parquet::basic::Repetition::REQUIRED;
        Arc::new(leaf.with_repetition(required).build().unwrap())
    });
    let variant = Type::group_type_builder("it")
        .with_repetition(parquet::basic::Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::variant(None)))
        .with_fields(children.to_vec());
    let child = |name| Arc::new(Field::new(name, DataType::Binary, false));
    let halves = [(child("metadata"), bytes()), (child("value"), bytes())];
    let group = |said| {
        let group = Type::group_type_builder("it")
            .with_repetition(parquet::basic::Repetition::REQUIRED)
            .with_logical_type(Some(said));
        let inline = Type::primitive_type_builder("inline", Physical::BYTE_ARRAY);
        let inline = inline.build().unwrap();
        group.with_fields(vec![Arc::new(inline)]).build().unwrap()
    };
    let inline = Arc::new(Field::new("inline", DataType::Binary, true));
    let inline = || array(StructArray::from(vec![(inline.clone(), bytes())]));
    let crs = Some("EPSG:25832".to_owned());
    for (name, it, beneath) in [
        (
            "GEOMETRY",
            logical(LogicalType::geometry(crs.clone())),
            bytes(),
        ),
        (
            "GEOGRAPHY",
            logical(LogicalType::geography(crs, None)),
            bytes(),
        ),
        ("BSON", logical(LogicalType::Bson), bytes()),
        (
            "VARIANT",
            variant.build().unwrap(),
            array(StructArray::from(halves.to_vec())),
        ),
        ("FILE", group(LogicalType::File), inline()),
    ] {
        let files = Files::new();
        let (path, output) = (files.path("t.parquet"), files.path("o.parquet"));
        annotated(&path, it, beneath);
        join(&path, &key(&["id"], &[]), |item| item == 1, &output).unwrap();
        assert_eq!(column_of(&output), column_of(&path), "{name}");
        // Again from what was written, which has a schema of Arrow too.
        let again = files.path("p.parquet");
        join(&output, &key(&["id"], &[]), |_| true, &again).unwrap();
        assert_eq!(column_of(&again), column_of(&path), "{name}");

        for ending in ["arrow", "csv"] {
            let output = files.path(&format!("o.{ending}"));
            let error = join(&path, &key(&["id"], &[]), |_| true, &output).unwrap_err();
            let said = format!(
                "the column `it` holds values of the type {name}, which would be lost; write .parquet"
            );
            assert!(error.to_string().contains(&said), "{error}");
        }
        let error = read(&path, &key(&["it"], &[])).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("`it` holds values of the type {name}")),
            "{error}"
        );
        let error = GivenColumns::of(&open(&path), &["it".to_owned()]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains(&format!("values of the type {name}")),
            "{error}"
        );
    }
}

#[test]
fn texts_that_parquet_calls_enum_are_texts() {
    let older = primitive(Physical::BYTE_ARRAY, -1).with_converted_type(ConvertedType::ENUM);
    for it in [logical(LogicalType::Enum), older.build().unwrap()] {
        let files = Files::new();
        let path = files.path("t.parquet");
        annotated(
            &path,
            it,
            array(BinaryArray::from(vec![&b"one"[..], b"two"])),
        );
        let id = key(&["it"], &[]);
        let expected = set_of(read_bytes(Format::Csv, "it\none\ntwo\n", &id));
        assert_eq!(set_of(read(&path, &id)), expected);

        let output = files.path("o.parquet");
        join(&path, &id, |_| true, &output).unwrap();
        assert_eq!(column_of(&output), column_of(&path));
        let output = files.path("o.csv");
        join(&path, &id, |_| true, &output).unwrap();
        assert_eq!(
            std::fs::read_to_string(output).unwrap(),
            "id,it\n1,one\n2,two\n"
        );

        let error = join(&path, &id, |_| true, &files.path("o.arrow")).unwrap_err();
        assert!(error.to_string().contains("which would be lost"), "{error}");
        let error = GivenColumns::of(&open(&path), &["it".to_owned()]).unwrap_err();
        assert!(
            error.to_string().contains("values of the type ENUM"),
            "{error}"
        );
    }
}

#[test]
fn booleans_of_eight_bits_are_booleans_as_keys() {
    let files = Files::new();
    let path = files.path("t.arrow");
    let bits =
        Field::new("it", DataType::Int8, true).with_extension_type(arrow_schema::extension::Bool8);
    let values = array(Int8Array::from(vec![Some(0), Some(5), Some(-1)]));
    let rows = RecordBatch::try_new(Arc::new(Schema::new(vec![bits])), vec![values]).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &rows.schema()).unwrap();
    writer.write(&rows).unwrap();
    writer.finish().unwrap();
    let id = key(&["it"], &[]);
    let expected = set_of(read_bytes(Format::Csv, "it\nfalse\ntrue\ntrue\n", &id));
    assert_eq!(set_of(read(&path, &id)), expected);
}

#[test]
fn times_of_day_stay_universal_or_are_refused() {
    let micros = |name| {
        let leaf = Type::primitive_type_builder(name, Physical::INT64);
        leaf.with_repetition(parquet::basic::Repetition::REQUIRED)
            .with_logical_type(Some(LogicalType::time(
                true,
                parquet::basic::TimeUnit::MICROS,
            )))
            .build()
            .unwrap()
    };
    let times = || array(Time64MicrosecondArray::from(vec![1, 2]));
    let files = Files::new();
    let path = files.path("t.parquet");
    annotated(&path, micros("it"), times());
    let given = GivenColumns::of(&open(&path), &["it".to_owned()]).unwrap();
    assert_eq!(GivenColumns::from_bytes(&given.to_bytes()).unwrap(), given);

    let group = Type::group_type_builder("it")
        .with_repetition(parquet::basic::Repetition::REQUIRED)
        .with_fields(vec![Arc::new(micros("at"))]);
    let child = Arc::new(Field::new(
        "at",
        DataType::Time64(arrow_schema::TimeUnit::Microsecond),
        false,
    ));
    let nested = StructArray::from(vec![(child, times())]);
    annotated(&path, group.build().unwrap(), array(nested));
    let id = key(&["id"], &[]);
    let output = files.path("o.parquet");
    join(&path, &id, |_| true, &output).unwrap();
    assert_eq!(column_of(&output), column_of(&path));
    let error = join(&path, &id, |_| true, &files.path("o.arrow")).unwrap_err();
    assert!(
        error.to_string().contains("values of the type TIME_UTC"),
        "{error}"
    );
}

#[test]
fn zones_keep_their_names_whatever_the_unit() {
    use arrow_schema::TimeUnit::{Millisecond, Second};
    let files = Files::new();
    let path = files.path("t.parquet");
    let zoned = |unit, zone: &str| {
        let it = DataType::Timestamp(unit, Some(zone.into()));
        Schema::new(vec![Field::new("it", it, false)])
    };
    // As pyarrow writes seconds.
    let told = parquet::arrow::encode_arrow_schema(&zoned(Second, "Europe/Berlin"));
    let pair = parquet::file::metadata::KeyValue::new("ARROW:schema".to_owned(), told);
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_key_value_metadata(Some(vec![pair]))
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let moments = TimestampMillisecondArray::from(vec![1_000]).with_timezone("UTC");
    let schema = Arc::new(zoned(Millisecond, "UTC"));
    let rows = RecordBatch::try_new(schema.clone(), vec![array(moments)]).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, schema, options).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();

    let output = files.path("o.arrow");
    join(&path, &key(&["it"], &[]), |_| true, &output).unwrap();
    let reader = arrow_ipc::reader::FileReader::try_new(File::open(&output).unwrap(), None);
    assert_eq!(
        reader.unwrap().schema().fields(),
        zoned(Millisecond, "Europe/Berlin").fields()
    );
}

#[test]
fn intervals_are_refused_if_they_are_needed() {
    let files = Files::new();
    let path = files.path("t.parquet");
    let interval = primitive(Physical::FIXED_LEN_BYTE_ARRAY, 12)
        .with_converted_type(ConvertedType::INTERVAL)
        .build()
        .unwrap();
    let beneath = FixedSizeBinaryArray::try_from_iter([[7; 12], [8; 12]].iter()).unwrap();
    annotated(&path, interval, array(beneath));
    assert_eq!(read(&path, &key(&["id"], &[])).unwrap().counts.rows, 2);
    let error = read(&path, &key(&["it"], &[])).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its column `it` holds INTERVAL values"),
        "{error}"
    );
    let output = files.path("o.parquet");
    let error = join(&path, &key(&["id"], &[]), |_| true, &output).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its column `it` holds INTERVAL values"),
        "{error}"
    );
}

/// A file of timestamps of 96 bits: a Julian day, and nanoseconds of it.
fn int96(path: &Path, moments: &[(u32, u64)]) {
    let schema = parse_message_type("message table { required int96 it; }").unwrap();
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, Arc::new(schema), Default::default()).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    let values = moments.iter().map(|&(day, nanoseconds)| {
        let mut value = Int96::new();
        value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, day);
        value
    });
    let values: Vec<Int96> = values.collect();
    column
        .typed::<Int96Type>()
        .write_batch(&values, None, None)
        .unwrap();
    column.close().unwrap();
    rows.close().unwrap();
    writer.close().unwrap();
}

#[test]
fn timestamps_of_96_bits_are_exact_or_refused() {
    const FIRST_DAY_OF_OUR_ERA: u32 = 1_721_426;
    const LAST_DAY_OF_9999: u32 = 5_373_484;
    let files = Files::new();
    let path = files.path("t.parquet");
    for (moments, texts) in [
        (
            &[
                (FIRST_DAY_OF_OUR_ERA, 0),
                (LAST_DAY_OF_9999, 86_399_000_000_000),
            ][..],
            "0001-01-01 00:00:00\n9999-12-31 23:59:59\n",
        ),
        (
            &[(2_440_588, 1), (2_440_589, 1_000)],
            "1970-01-01 00:00:00.000000001\n1970-01-02 00:00:00.000001\n",
        ),
    ] {
        int96(&path, moments);
        let id = key(&["it"], &[]);
        let expected = set_of(read_bytes(Format::Csv, format!("it\n{texts}"), &id));
        assert_eq!(set_of(read(&path, &id)), expected);
        let output = files.path("o.parquet");
        join(&path, &id, |_| true, &output).unwrap();
        assert_eq!(set_of(read(&output, &id)), expected);
    }
    int96(&path, &[(LAST_DAY_OF_9999, 1)]);
    let error = GivenColumns::of(&open(&path), &["it".to_owned()]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its column `it` holds INT96 timestamps"),
        "{error}"
    );
    let error = read(&path, &key(&["it"], &[])).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("its column `it` holds INT96 timestamps"),
        "{error}"
    );
}

#[test]
fn extension_types_that_are_not_known_are_kept_and_no_keys() {
    let files = Files::new();
    let metadata = [
        ("ARROW:extension:name", "pandas.period"),
        ("ARROW:extension:metadata", "{\"freq\": \"M\"}"),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let metadata = std::collections::HashMap::from(metadata);
    let month = Field::new("month", DataType::Int64, false).with_metadata(metadata);
    let id = Field::new("id", DataType::Int32, false);
    let columns = vec![
        array(PrimitiveArray::<Int32Type>::from(vec![1])),
        array(Int64Array::from(vec![649])),
    ];
    let rows =
        RecordBatch::try_new(Arc::new(Schema::new(vec![id, month.clone()])), columns).unwrap();
    let path = files.path("t.parquet");
    let mut writer =
        ArrowWriter::try_new(File::create(&path).unwrap(), rows.schema(), None).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();

    let error = read(&path, &key(&["month"], &[])).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("`month` holds values of the type pandas.period"),
        "{error}"
    );
    let error = GivenColumns::of(&open(&path), &["month".to_owned()]).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("values of the type pandas.period"),
        "{error}"
    );
    let csv = files.path("o.csv");
    let error = join(&path, &key(&["id"], &[]), |_| true, &csv).unwrap_err();
    assert!(
        error
            .to_string()
            .contains("which would be lost; write .parquet or .arrow"),
        "{error}"
    );
    let arrow = files.path("o.arrow");
    join(&path, &key(&["id"], &[]), |_| true, &arrow).unwrap();
    let mut reader =
        arrow_ipc::reader::FileReader::try_new(File::open(&arrow).unwrap(), None).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().schema().field(1), &month);
}
