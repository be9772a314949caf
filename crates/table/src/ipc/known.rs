//! Which columns have a type that is known.

use arrow_ipc::{Schema, Type};
use arrow_schema::Field;

use crate::contained::contained;

/// A column as a schema describes it.
pub(crate) enum Known {
    Field(Field),
    /// Its type is not known; this says in a few words which it is.
    Not(String),
}

/// The columns of a schema.
pub(crate) fn known_fields(schema: Schema<'_>) -> Vec<Known> {
    let fields = schema.fields().into_iter().flatten();
    // The library panics on a type that it does not know.
    let known = fields.map(|field| match contained(|| Field::from(field)) {
        Some(known) => Known::Field(known),
        None => Known::Not(described(field)),
    });
    known.collect()
}

fn described(field: arrow_ipc::Field<'_>) -> String {
    match (field.type_as_int(), field.type_type()) {
        (Some(int), _) => format!("integers of {} bits", int.bitWidth()),
        (None, Type::NONE) => "a type of a later version of Arrow".to_owned(),
        (None, kind) => kind
            .variant_name()
            .map_or("a type of a later version of Arrow".to_owned(), |name| {
                format!("the type {name} in a form that is not known, or with such parts")
            }),
    }
}
