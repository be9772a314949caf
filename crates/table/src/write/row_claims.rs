//! What metadata claims about the rows of a table. It was true of all of them, in their order, and need not be of
//! those that are written.

use std::collections::HashMap;

use arrow_schema::{Field, Schema};
use serde_json::Value;

use crate::arrow::PARQUET_TYPE;

/// Words of keys that claim something about rows, their order or their values.
const CLAIMS: [&str; 33] = [
    "bbox",
    "bloom",
    "bloomfilter",
    "bounds",
    "checksum",
    "count",
    "counts",
    "crc",
    "crc32",
    "digest",
    "extent",
    "hash",
    "histogram",
    "index",
    "length",
    "max",
    "maximum",
    "md5",
    "min",
    "minimum",
    "offset",
    "offsets",
    "order",
    "range",
    "row",
    "rows",
    "sha256",
    "sort",
    "sorted",
    "sorting",
    "statistics",
    "stats",
    "total",
];

/// The columns without what their metadata claims about rows, and without what psijoin alone knows of them.
pub(super) fn without(schema: &Schema) -> Schema {
    let fields = schema.fields().iter().map(|field| {
        let kept = field.metadata().iter().filter_map(|(key, value)| {
            let is_of_type = ["ARROW:", "PARQUET:", "_PL_"];
            let is_of_type = is_of_type.iter().any(|start| key.starts_with(start));
            let is_kept = key != PARQUET_TYPE && (is_of_type || !claims(key));
            is_kept.then(|| (key.clone(), value.clone()))
        });
        field
            .as_ref()
            .clone()
            .with_metadata(kept.collect::<HashMap<_, _>>())
    });
    let fields: Vec<Field> = fields.collect();
    let metadata = schema.metadata().iter();
    let metadata = metadata.filter_map(|(key, value)| Some((key.clone(), kept(key, value)?)));
    Schema::new_with_metadata(fields, metadata.collect::<HashMap<_, _>>())
}

/// What stays of a value under this key.
fn kept(key: &str, value: &str) -> Option<String> {
    match key {
        "pandas" => edited(value, without_range_index),
        "geo" => edited(value, without_boxes),
        // Of R, among others with names of rows, in a form of its own.
        "r" => None,
        // The schema, called `row` there.
        "org.apache.spark.sql.parquet.row.metadata" => Some(value.to_owned()),
        _ => (!claims(key)).then(|| value.to_owned()),
    }
}

/// Whether a key, such as `hoodie_min_record_key` or `sortOrder`, claims something about rows.
fn claims(key: &str) -> bool {
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
    words.any(|word| CLAIMS.contains(&word))
}

fn edited(value: &str, edit: fn(&mut Value)) -> Option<String> {
    let mut value = serde_json::from_str(value).ok()?;
    edit(&mut value);
    Some(value.to_string())
}

/// An index that is a range of numbers is one of rows; pandas makes a new one without it. Others are columns.
fn without_range_index(pandas: &mut Value) {
    if let Some(Value::Array(columns)) = pandas.get_mut("index_columns") {
        columns.retain(|column| !column.is_object());
    }
}

/// GeoParquet has a box around all places of a column.
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
            ]),
        );
        let schema = without(&schema);
        let expected = metadata(&[
            ("pandas", r#"{"columns":[],"index_columns":[]}"#),
            ("geo", r#"{"columns":{"place":{"encoding":"WKB"}}}"#),
            ("org.apache.spark.sql.parquet.row.metadata", "{}"),
            ("origin", "a minute in Brownmax"),
        ]);
        assert_eq!(*schema.metadata(), expected);
        let of_type = [
            ("ARROW:extension:name", "geoarrow.wkb"),
            ("PARQUET:field_id", "3"),
            ("unit", "metre"),
        ];
        assert_eq!(*schema.field(0).metadata(), metadata(&of_type));
    }
}
