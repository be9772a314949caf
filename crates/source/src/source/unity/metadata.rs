//! Metadata of the files of a table: only what all have is true of the table.

use std::collections::HashMap;

use arrow_schema::{Field, Metadata};
use serde_json::{Map, Value};

use crate::{Difference, read::row_claims};

/// Drops what another file does not have, too; statements about its rows aside.
pub(super) fn keep_common(told: &mut Metadata, other: &Metadata) {
    let common = told.iter().filter(|(key, value)| {
        let other = other
            .get(key)
            .and_then(|value| row_claims::kept(key, value));
        row_claims::kept(key, value).is_some_and(|kept| Some(kept) == other)
    });
    let common = common.map(|(key, value)| (key.clone(), value.clone()));
    *told = common.collect::<HashMap<_, _>>().into();
}

/// Returns the columns of places for which GeoParquet has other statements in another file, as
/// about the origin of coordinates.
pub(super) fn differing_places(
    told: &Metadata,
    other: &Metadata,
    fields: &[Field],
) -> Vec<Difference> {
    let (told, other) = (places(told), places(other));
    let differing = fields.iter().enumerate().filter_map(|(index, field)| {
        let (expected, found) = (told.get(field.name()), other.get(field.name()));
        let shown = |place: Option<&Value>| match place {
            Some(said) => format!("geo {said}"),
            None => "no geo metadata".to_owned(),
        };
        (expected != found).then(|| Difference::Type {
            column: index + 1,
            found: shown(found),
            expected: shown(expected),
        })
    });
    differing.collect()
}

fn places(told: &Metadata) -> Map<String, Value> {
    let geo = told.get("geo").and_then(|geo| row_claims::kept("geo", geo));
    let geo = geo.and_then(|geo| serde_json::from_str(&geo).ok());
    match geo.as_ref().and_then(|geo: &Value| geo.get("columns")) {
        Some(Value::Object(columns)) => columns.clone(),
        _ => Map::new(),
    }
}
