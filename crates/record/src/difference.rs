//! Where two documents differ.

use std::{collections::BTreeMap, fmt};

use serde_json::Value;

use crate::Document;

/// Something that two documents say differently.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// Where it stands, such as `parties.sender.clock`.
    pub field: String,
    /// What the first document says, as JSON; `None` if it has no such field.
    pub first: Option<String>,
    /// What the second one says.
    pub second: Option<String>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = |value: &Option<String>| value.clone().unwrap_or_else(|| "nothing".to_owned());
        let (first, second) = (shown(&self.first), shown(&self.second));
        write!(f, "{}: {first} here, {second} there", self.field)
    }
}

impl Document {
    /// Where this document and another one differ, field by field.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (first, second) = (fields(self), fields(other));
        let only_second = second.keys().filter(|field| !first.contains_key(*field));
        let all = first.keys().chain(only_second);
        all.filter(|field| first.get(*field) != second.get(*field))
            .map(|field| Difference {
                field: field.clone(),
                first: first.get(field).cloned(),
                second: second.get(field).cloned(),
            })
            .collect()
    }
}

/// All values of a document that have no parts, by their places.
fn fields(document: &Document) -> BTreeMap<String, String> {
    let document = serde_json::to_value(document).expect("records are plain data");
    let mut fields = BTreeMap::new();
    collect(String::new(), &document, &mut fields);
    fields
}

fn collect(place: String, value: &Value, fields: &mut BTreeMap<String, String>) {
    let below = |name: &str| match place.is_empty() {
        true => name.to_owned(),
        false => format!("{place}.{name}"),
    };
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                collect(below(name), value, fields);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                collect(below(&(at + 1).to_string()), item, fields);
            }
        }
        value => {
            fields.insert(place, value.to_string());
        }
    }
}
