//! Columns whose types are known.

use arrow_ipc::{Schema, Type};
use arrow_schema::Field;

use psijoin_key::panics::contained;

/// A column as a schema describes it.
pub(crate) enum Known {
    Field(Field),
    /// Its type is not known; the text names it in a few words.
    Not(String),
}

/// Returns the columns of a schema.
pub(crate) fn known_fields(schema: Schema<'_>) -> Vec<Known> {
    let fields = schema.fields().into_iter().flatten();
    let known = fields.map(|field| match known(field) {
        Some(known) => Known::Field(known),
        None => Known::Not(described(field)),
    });
    known.collect()
}

fn known(field: arrow_ipc::Field<'_>) -> Option<Field> {
    // The library panics on a type that it does not know.
    contained(|| Field::from(field))
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

/// Columns of types that are not known, such as the integers of 128 bits of Polars, and how they
/// are passed over.
#[derive(Debug, Default)]
pub(super) struct Unknown {
    /// The number of each column, and its type in a few words.
    pub(super) columns: Vec<(usize, String)>,
    /// The places where the schema names such a type, and the bytes to read there instead: a type
    /// that has as many buffers.
    pub(super) replaced: Vec<(u64, u8)>,
}

impl Unknown {
    /// Finds such columns in a schema whose message begins at `start`.
    ///
    /// # Errors
    /// Returns the error with the name and type of a column of which it is not known how many
    /// buffers it has: what comes behind it cannot be found then.
    pub(super) fn find(schema: Schema<'_>, start: u64) -> Result<Self, (String, String)> {
        let mut unknown = Self::default();
        for (column, field) in schema.fields().into_iter().flatten().enumerate() {
            if known(field).is_some() {
                continue;
            }
            let kind = described(field);
            if !unknown.replace(field, start) {
                return Err((field.name().unwrap_or_default().to_owned(), kind));
            }
            unknown.columns.push((column, kind));
        }
        Ok(unknown)
    }

    /// Notes each unknown type in a field; `false` if one has buffers that are not known, or
    /// anything else is wrong.
    fn replace(&mut self, field: arrow_ipc::Field<'_>, start: u64) -> bool {
        let children = || field.children().into_iter().flatten();
        match field.type_type() {
            Type::Int | Type::FloatingPoint | Type::Decimal | Type::Date | Type::Time => {}
            Type::Timestamp | Type::Interval | Type::Duration => {}
            Type::Struct_ | Type::List | Type::LargeList | Type::FixedSizeList | Type::Map => {
                return children()
                    .filter(|child| known(*child).is_none())
                    .all(|child| self.replace(child, start));
            }
            _ => return false,
        }
        let place = field._tab.vtable().get(arrow_ipc::Field::VT_TYPE_TYPE);
        let place = field._tab.loc() as u64 + u64::from(place);
        // Like all of these, truth values have two buffers.
        self.replaced.push((start + place, Type::Bool.0));
        field.dictionary().is_none()
    }
}
