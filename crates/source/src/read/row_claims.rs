//! The claims of metadata about the rows of a table. They were true of all rows, in their order,
//! and need not be of those that are written.

use std::collections::HashMap;

use arrow_schema::{Field, Schema};
use serde_json::{Map, Value};

use crate::read::arrow::PARQUET_TYPE;

/// Words of keys that claim something about rows, their order or their values.
const CLAIMS: [&str; 85] = [
    "average",
    "avg",
    "bbox",
    "bloom",
    "bloomfilter",
    "bounds",
    "bucket",
    "buckets",
    "cardinality",
    "checksum",
    "checksums",
    "cluster",
    "clustered",
    "clustering",
    "count",
    "counts",
    "crc",
    "crc32",
    "crc32c",
    "deleted",
    "digest",
    "distinct",
    "duplicates",
    "earliest",
    "etag",
    "extent",
    "first",
    "hash",
    "histogram",
    "index",
    "indexed",
    "indexes",
    "last",
    "latest",
    "length",
    "max",
    "maximum",
    "md5",
    "mean",
    "median",
    "min",
    "minimum",
    "ndv",
    "newest",
    "nulls",
    "offset",
    "offsets",
    "oldest",
    "order",
    "ordered",
    "ordering",
    "partition",
    "partitioned",
    "partitions",
    "percentile",
    "percentiles",
    "quantile",
    "quantiles",
    "range",
    "ranges",
    "record",
    "records",
    "row",
    "rows",
    "sample",
    "sampled",
    "sha1",
    "sha256",
    "sha512",
    "signature",
    "size",
    "sketch",
    "sort",
    "sorted",
    "sorting",
    "statistics",
    "stats",
    "stddev",
    "sum",
    "total",
    "totals",
    "unique",
    "variance",
    "watermark",
    "zorder",
];

/// Words that are written together with one of those, as in `nrows` or `sortkey`.
const JOINED: [&str; 12] = [
    "by", "column", "columns", "date", "file", "id", "key", "n", "num", "time", "val", "value",
];

/// Descriptions of all columns that other readers believe rather than the file's own, so that
/// further columns would not be there for them, or be columns of an unknown type.
const DESCRIPTIONS: [&str; 9] = [
    "avro.schema",
    "huggingface",
    "iceberg.schema",
    "org.apache.spark.sql.parquet.row.metadata",
    "parquet.avro.schema",
    "parquet.proto.class",
    "parquet.proto.descriptor",
    "parquet.thrift.descriptor",
    "thrift.descriptor",
];

/// Returns the columns without what their metadata claims about rows, and without what psijoin
/// alone knows of them. If others are added to them, also without descriptions of all columns.
pub fn without_claims(schema: &Schema, is_widened: bool) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let kept = field.metadata().iter().filter_map(|(key, value)| {
            let is_of_type = ["ARROW:", "PARQUET:", "_PL_"];
            let is_of_type = is_of_type.iter().any(|start| key.starts_with(start));
            let is_kept = key != PARQUET_TYPE && (is_of_type || !claims(key, value));
            is_kept.then(|| (key.clone(), value.clone()))
        });
        field
            .as_ref()
            .clone()
            .with_metadata(kept.collect::<HashMap<_, _>>())
    });
    let fields: Vec<Field> = fields.collect();
    let metadata = schema.metadata().iter();
    let metadata = metadata.filter(|(key, _)| !is_widened || !DESCRIPTIONS.contains(&&***key));
    let metadata = metadata.filter_map(|(key, value)| Some((key.clone(), kept(key, value)?)));
    Schema::new_with_metadata(fields, metadata.collect::<HashMap<_, _>>())
}

/// Returns what stays of a value under this key.
pub(crate) fn kept(key: &str, value: &str) -> Option<String> {
    match key {
        "pandas" => edited(value, without_rows_of_pandas),
        "geo" => edited(value, without_boxes),
        // Of R, among others with names of rows, in a form of its own.
        "r" => None,
        // Their words are names of columns, and what is said of these.
        _ if DESCRIPTIONS.contains(&key) => Some(value.to_owned()),
        _ => (!claims(key, value)).then(|| value.to_owned()),
    }
}

/// Returns whether a key claims something about rows, or one within its value, if that is JSON.
fn claims(key: &str, value: &str) -> bool {
    fn within(value: &Value) -> bool {
        match value {
            Value::Object(pairs) => pairs
                .iter()
                .any(|(key, value)| key_claims(key) || within(value)),
            Value::Array(values) => values.iter().any(within),
            _ => false,
        }
    }
    key_claims(key) || serde_json::from_str(value).is_ok_and(|value| within(&value))
}

/// Returns whether a key, such as `hoodie_min_record_key` or `sortOrder`, claims something about
/// rows.
fn key_claims(key: &str) -> bool {
    let mut words = String::new();
    let mut was_lower = false;
    for letter in key.chars() {
        if letter.is_uppercase() && was_lower {
            words.push(' ');
        }
        was_lower = letter.is_lowercase();
        words.extend(letter.to_lowercase());
    }
    let mut words = words.split(|letter: char| !letter.is_alphanumeric());
    words.any(|word| CLAIMS.contains(&word) || is_joined(word))
}

/// Returns whether a word is two, one of which is a claim.
fn is_joined(word: &str) -> bool {
    let is_claim = |word| CLAIMS.contains(&word);
    let is_word = |word| JOINED.contains(&word) || is_claim(word);
    let mut ends = word.char_indices().map(|(end, _)| word.split_at(end));
    ends.any(|(first, second)| {
        (is_claim(first) && is_word(second)) || (is_word(first) && is_claim(second))
    })
}

fn edited(value: &str, edit: fn(&mut Value)) -> Option<String> {
    let mut value = serde_json::from_str(value).ok()?;
    edit(&mut value);
    Some(value.to_string())
}

/// Removes claims about rows. An index that is a range of numbers is one of rows; pandas makes a
/// new one without it. Others are columns. The number of a column's categories is in its
/// description, which pandas does not need; and a user's notes about a frame may be about rows.
fn without_rows_of_pandas(pandas: &mut Value) {
    if let Some(Value::Array(columns)) = pandas.get_mut("index_columns") {
        columns.retain(|column| !column.is_object());
    }
    if let Some(Value::Array(columns)) = pandas.get_mut("columns") {
        columns.retain(|column| column.pointer("/metadata/num_categories").is_none());
    }
    let attributes = pandas.get("attributes").map(Value::to_string);
    if attributes.is_some_and(|said| claims("", &said))
        && let Some(pandas) = pandas.as_object_mut()
    {
        pandas.insert("attributes".to_owned(), Value::Object(Map::new()));
    }
}

/// Removes GeoParquet's boxes around all places of a column.
fn without_boxes(geo: &mut Value) {
    let columns = geo.get_mut("columns").and_then(Value::as_object_mut);
    for column in columns.into_iter().flat_map(|columns| columns.values_mut()) {
        if let Some(column) = column.as_object_mut() {
            column.remove("bbox");
        }
    }
}

#[cfg(test)]
mod tests {
    use arrow_schema::DataType;

    use super::*;

    fn metadata(pairs: &[(&str, &str)]) -> HashMap<String, String> {
        let pairs = pairs.iter();
        pairs
            .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
            .collect()
    }

    #[test]
    fn claims_about_rows_go_and_what_is_true_of_columns_stays() {
        let range = r#"{"index_columns":[{"kind":"range","stop":9}],"columns":[]}"#;
        let boxes = r#"{"columns":{"place":{"bbox":[1,2],"encoding":"WKB"}}}"#;
        let field = Field::new("place", DataType::Binary, true).with_metadata(metadata(&[
            ("ARROW:extension:name", "geoarrow.wkb"),
            ("PARQUET:field_id", "3"),
            ("max", "9"),
            (PARQUET_TYPE, "GEOMETRY None"),
            ("unit", "metre"),
        ]));
        let schema = Schema::new_with_metadata(
            vec![field],
            metadata(&[
                ("pandas", range),
                ("geo", boxes),
                ("r", "A 3 262657"),
                ("rowCount", "9"),
                ("hoodie_max_record_key", "k9"),
                ("sorting_columns", "[0]"),
                ("sort.order", "id"),
                ("org.apache.spark.sql.parquet.row.metadata", "{}"),
                ("origin", "a minute in Brownmax"),
                ("nrows", "9"),
                ("SortedBy", "id"),
                ("maxvalue", "9"),
                ("company", r#"{"export":[{"row_count":9}]}"#),
                ("owner", r#"{"team":"rowing","minutes":9}"#),
            ]),
        );
        let schema = without_claims(&schema, false);
        let expected = metadata(&[
            ("pandas", r#"{"columns":[],"index_columns":[]}"#),
            ("geo", r#"{"columns":{"place":{"encoding":"WKB"}}}"#),
            ("org.apache.spark.sql.parquet.row.metadata", "{}"),
            ("origin", "a minute in Brownmax"),
            ("owner", r#"{"team":"rowing","minutes":9}"#),
        ]);
        assert_eq!(*schema.metadata(), expected);
        let of_type = [
            ("ARROW:extension:name", "geoarrow.wkb"),
            ("PARQUET:field_id", "3"),
            ("unit", "metre"),
        ];
        assert_eq!(*schema.field(0).metadata(), metadata(&of_type));
    }

    #[test]
    fn what_pandas_says_of_columns_stays_and_of_rows_goes() {
        let pandas = r#"{"index_columns":["day",{"kind":"range","stop":9}],"attributes":{"rows":9},"columns":[
            {"name":"day","metadata":null},{"name":"kind","metadata":{"num_categories":3,"ordered":false}}]}"#;
        let expected = r#"{"attributes":{},"columns":[{"metadata":null,"name":"day"}],"index_columns":["day"]}"#;
        assert_eq!(kept("pandas", pandas).as_deref(), Some(expected));
    }

    #[test]
    fn descriptions_of_all_columns_go_if_others_are_added() {
        let description = ("org.apache.spark.sql.parquet.row.metadata", "{}");
        let told = metadata(&[description, ("origin", "here")]);
        let schema = Schema::new_with_metadata(Vec::<Field>::new(), told.clone());
        assert_eq!(*without_claims(&schema, false).metadata(), told);
        assert_eq!(
            *without_claims(&schema, true).metadata(),
            metadata(&[("origin", "here")])
        );
    }
}
