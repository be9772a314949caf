//! The differences of two documents.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use serde_json::Value;

use crate::Document;

/// A difference between two documents.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The name of the field, such as `parties.sender.clock`.
    pub field: String,
    /// The value in the first document, as JSON; `None` if it has no such field.
    pub first: Option<String>,
    /// The value in the second one.
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
    /// Returns where this document and another one differ, field by field.
    pub fn differences(&self, other: &Self) -> Vec<Difference> {
        let (first, second) = (fields(self), fields(other));
        let all: BTreeSet<_> = first.keys().chain(second.keys()).collect();
        all.into_iter()
            .filter(|field| first.get(*field) != second.get(*field))
            .map(|field| Difference {
                field: field.clone(),
                first: first.get(field).cloned(),
                second: second.get(field).cloned(),
            })
            .collect()
    }
}

/// Returns all values of a document that have no parts, by their places.
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

#[cfg(test)]
mod tests {
    use psijoin_transport::Identity;

    use crate::sample;

    #[test]
    fn differences_are_named_with_both_values() {
        let [ann, bob] = [(); 2].map(|()| Identity::generate().unwrap());
        let first = sample::document(&ann, &bob);
        assert_eq!(first.differences(&first), []);
        let mut second = first.clone();
        second.parties.sender.keys = 7;
        second.parties.receiver.learns.push("more".to_owned());
        second.settings.remove("the output");
        let differences = first.differences(&second);
        let shown: Vec<_> = differences.iter().map(ToString::to_string).collect();
        assert_eq!(
            shown,
            [
                "parties.receiver.learns.2: nothing here, \"more\" there",
                "parties.sender.keys: 1000000 here, 7 there",
                "settings.the output: \"sum:amount\" here, nothing there",
            ]
        );
    }
}
