//! Types that the library's readers and writers lose something of, or that the format has no place
//! for, are kept or refused by name.

use std::{fs::File, path::Path, sync::Arc};

use arrow_array::{
    types::{Int32Type, IntervalDayTime},
    *,
};
use arrow_ipc::{
    MetadataVersion,
    reader::FileReader,
    writer::{FileWriter, IpcWriteOptions},
};
use arrow_schema::{DataType, Field, Schema, TimeUnit, extension::Json};
use parquet::{
    arrow::{ArrowWriter, arrow_writer::ArrowWriterOptions, encode_arrow_schema},
    basic::{ConvertedType, Type as Physical},
    file::{metadata::KeyValue, properties::WriterProperties},
};
use psijoin_table::share::GivenColumns;

use crate::{
    Files, array, assert_contains, join, key,
    logical_types::{annotated, primitive},
    open, read,
};

fn arrow(path: &Path, rows: &RecordBatch, version: MetadataVersion) {
    let options = IpcWriteOptions::try_new(8, false, version).unwrap();
    let file = File::create(path).unwrap();
    let mut writer = FileWriter::try_new_with_options(file, &rows.schema(), options).unwrap();
    writer.write(rows).unwrap();
    writer.finish().unwrap();
}

fn fields_of(path: &Path) -> Arc<Schema> {
    let reader = FileReader::try_new(File::open(path).unwrap(), None).unwrap();
    reader.schema()
}

#[test]
fn json_of_old_programs_is_json_in_arrow_too() {
    let files = Files::new();
    let path = files.path("t.parquet");
    let json = primitive(Physical::BYTE_ARRAY, -1).with_converted_type(ConvertedType::JSON);
    annotated(
        &path,
        json.build().unwrap(),
        array(StringArray::from(vec!["{}", "[]"])),
    );
    let output = files.path("o.arrow");
    join(&path, &key(&["it"], &[]), |_| true, &output).unwrap();
    let written = fields_of(&output);
    assert_eq!(written.field(1).extension_type_name(), Some("arrow.json"));
    let given = GivenColumns::of(&open(&path), &["it".to_owned()]).unwrap();
    assert_eq!(GivenColumns::from_bytes(&given.to_bytes()).unwrap(), given);
    let it = Field::new("it", DataType::Utf8, false).with_extension_type(Json::default());
    assert_eq!(written.field(1), &it);
}

#[test]
fn zones_of_dictionaries_keep_their_names() {
    let files = Files::new();
    let path = files.path("t.parquet");
    let zoned = |zone: &str| DataType::Timestamp(TimeUnit::Microsecond, Some(zone.into()));
    let schema = |it| Arc::new(Schema::new(vec![Field::new("it", it, false)]));
    // As pyarrow writes a dictionary of timestamps: its values, and the schema of the dictionary.
    let dictionary =
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(zoned("Europe/Berlin")));
    let told = encode_arrow_schema(&schema(dictionary));
    let pair = KeyValue::new("ARROW:schema".to_owned(), told);
    let properties = WriterProperties::builder()
        .set_key_value_metadata(Some(vec![pair]))
        .build();
    let options = ArrowWriterOptions::new()
        .with_properties(properties)
        .with_skip_arrow_metadata(true);
    let moments = TimestampMicrosecondArray::from(vec![1_000]).with_timezone("UTC");
    let rows = RecordBatch::try_new(schema(zoned("UTC")), vec![array(moments)]).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new_with_options(file, rows.schema(), options).unwrap();
    writer.write(&rows).unwrap();
    writer.close().unwrap();

    let output = files.path("o.arrow");
    join(&path, &key(&["it"], &[]), |_| true, &output).unwrap();
    assert_eq!(
        fields_of(&output).field(0).data_type(),
        &zoned("Europe/Berlin")
    );
}

#[test]
fn intervals_of_arrow_do_not_go_to_parquet() {
    let days = IntervalDayTimeArray::from(vec![IntervalDayTime::new(-1, -1)]);
    let months = IntervalYearMonthArray::from(vec![-1]);
    let child = Arc::new(Field::new("a", DataType::Int32, true));
    let within = Arc::new(Field::new("b", months.data_type().clone(), true));
    let nested = StructArray::from(vec![
        (child, array(Int32Array::from(vec![1]))),
        (within, array(months.clone())),
    ]);
    for it in [array(days), array(months), array(nested)] {
        let files = Files::new();
        let path = files.path("t.arrow");
        let id = array(PrimitiveArray::<Int32Type>::from(vec![1]));
        let rows = RecordBatch::try_from_iter([("id", id), ("it", it.clone())]).unwrap();
        arrow(&path, &rows, MetadataVersion::V5);
        let id = key(&["id"], &[]);
        let error = join(&path, &id, |_| true, &files.path("o.parquet")).unwrap_err();
        let said = format!(
            "the column `it` holds {}, which Parquet does not have; write .arrow",
            it.data_type()
        );
        assert_contains(&error.to_string(), &said);
        let output = files.path("o.arrow");
        join(&path, &id, |_| true, &output).unwrap();
        assert_eq!(fields_of(&output).field(1).data_type(), it.data_type());
    }
}

#[test]
fn nulls_among_the_values_of_a_dictionary_are_nulls_in_parquet() {
    let values = array(StringArray::from(vec![Some("a"), None]));
    let places = Int32Array::from(vec![0, 1, 0]);
    let it = array(DictionaryArray::new(places, values));
    let id = array(Int32Array::from(vec![1, 2, 3]));
    let files = Files::new();
    let path = files.path("t.arrow");
    let rows = RecordBatch::try_from_iter_with_nullable([("id", id, false), ("it", it, false)]);
    arrow(&path, &rows.unwrap(), MetadataVersion::V5);
    let output = files.path("o.parquet");
    join(&path, &key(&["id"], &[]), |_| true, &output).unwrap();
    let counts = read(&output, &key(&["it"], &[])).unwrap().counts;
    assert_eq!((counts.rows, counts.left_out), (3, 1));
}

#[test]
fn runs_in_a_version_without_them_are_refused() {
    let values = StringArray::from(vec![Some("a"), None]);
    let runs = RunArray::<Int32Type>::try_new(&Int32Array::from(vec![1, 3]), &values).unwrap();
    let behind = array(BooleanArray::from(vec![Some(true), None, Some(false)]));
    let columns = [("runs", array(runs)), ("it", behind)];
    let rows = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    );
    let files = Files::new();
    let path = files.path("t.arrow");
    let id = key(&["it"], &[]);
    arrow(&path, rows.as_ref().unwrap(), MetadataVersion::V5);
    assert_eq!(read(&path, &id).unwrap().counts.rows, 3);
    arrow(&path, &rows.unwrap(), MetadataVersion::V4);
    let error = read(&path, &id).unwrap_err();
    assert_contains(
        &error.to_string(),
        "its column `runs` holds runs, which its version of Arrow lacks, and the columns behind it cannot be found",
    );
}
