//! Typed columns, which come in batches from the Arrow library's readers of Parquet and Arrow, or
//! from memory, and the texts of their values.

mod cell;
mod groups;
mod key_cell;
mod owned;
mod typed_file;

use std::collections::HashMap;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow_schema::{
    ArrowError, DataType, Field, SchemaRef,
    extension::{self, ExtensionType},
};

use psijoin_key::Kind;

use crate::{Error, ReadError};

pub use cell::{Column, dictionary, has_text, per_second};
pub use groups::{Full, Group, GroupRows};
pub use key_cell::KeyColumn;
pub(crate) use key_cell::can_be_key;
pub use owned::{can_own, may_share, owned, without_shared_texts};
pub(crate) use typed_file::{FilePieces, Piece, TypedFile};
pub use typed_file::{PIECE_BYTES, PIECE_ROWS};

/// Returns a batch of this many rows, which may have no columns.
///
/// # Errors
/// If the columns are not those of the schema, or do not have this many rows.
pub fn batch_of(
    schema: SchemaRef,
    columns: Vec<ArrayRef>,
    rows: usize,
) -> Result<RecordBatch, ArrowError> {
    let options = RecordBatchOptions::new().with_row_count(Some(rows));
    RecordBatch::try_new_with_options(schema, columns, &options)
}

/// The meaning of a key column's values, where their Arrow type does not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The meaning of the type.
    AsTyped,
    /// 16 bytes are a UUID.
    Uuid,
    /// An integer of 8 bits is a boolean: true unless it is zero.
    Bool8,
}

impl Stored {
    /// Returns the meaning of a column's values.
    pub fn of(field: &Field) -> Self {
        match field.extension_type_name() {
            Some(<extension::Uuid as ExtensionType>::NAME) => Self::Uuid,
            Some(<extension::Bool8 as ExtensionType>::NAME) => Self::Bool8,
            _ => Self::AsTyped,
        }
    }

    /// Returns the kind of a typed column of these values.
    pub fn kind(self, data_type: &DataType) -> Kind {
        use DataType::*;
        match data_type {
            Null => Kind::Null,
            Boolean => Kind::Bool,
            Date32 | Date64 => Kind::Date,
            Timestamp(_, None) => Kind::Timestamp,
            Timestamp(_, Some(_)) => Kind::UniversalTimestamp,
            Time32(_) | Time64(_) => Kind::Time,
            FixedSizeBinary(16) if self == Self::Uuid => Kind::Uuid,
            Binary | LargeBinary | BinaryView | FixedSizeBinary(_) => Kind::Binary,
            Int8 if self == Self::Bool8 => Kind::Bool,
            Dictionary(_, values) => self.kind(values),
            numeric if numeric.is_numeric() => Kind::Number,
            _ => Kind::Text,
        }
    }
}

/// The metadata key that marks a column of times of day as of universal time, in the library's
/// writer of Parquet.
const UNIVERSAL_TIME: &str = "adjusted_to_utc";

/// Returns whether a column of times of day is marked as of universal time.
pub fn is_universal_time(field: &Field) -> bool {
    field
        .metadata()
        .get(UNIVERSAL_TIME)
        .is_some_and(|said| said == "true")
}

/// Returns the metadata that mark a column of times of day as of universal time.
pub fn universal_time() -> HashMap<String, String> {
    HashMap::from([(UNIVERSAL_TIME.to_owned(), "true".to_owned())])
}

/// Parquet's name for texts of a few words.
pub const ENUM: &str = "ENUM";

/// The metadata key for the Parquet type of a column that is read from there, if Arrow has no type
/// for it: the name of the logical type, and behind a blank its parameters.
pub(crate) const PARQUET_TYPE: &str = "psijoin:parquet_type";

/// Returns what a column's metadata tell about its type.
pub(crate) fn said_of_type(field: &Field) -> [Option<&str>; 4] {
    [
        extension::EXTENSION_TYPE_NAME_KEY,
        extension::EXTENSION_TYPE_METADATA_KEY,
        PARQUET_TYPE,
        UNIVERSAL_TIME,
    ]
    .map(|key| field.metadata().get(key).map(String::as_str))
}

/// Returns what the logical type of a column from Parquet is called, if Arrow has none for it.
pub fn parquet_type(field: &Field) -> Option<&str> {
    let said = field.metadata().get(PARQUET_TYPE)?;
    said.split(' ').next()
}

/// Returns the meaning of a column's values, if it is neither that of their type nor a known one.
pub fn unknown_meaning(field: &Field) -> Option<&str> {
    let known = [
        <extension::Uuid as ExtensionType>::NAME,
        // A text in whichever spelling.
        <extension::Json as ExtensionType>::NAME,
    ];
    let extension = field.extension_type_name();
    let unknown = extension.filter(|name| !known.contains(name));
    parquet_type(field).or(unknown)
}

/// As [`unknown_meaning`], of values that are to be keys: more have a canonical text than can be
/// kept elsewhere.
pub(crate) fn unknown_key(field: &Field) -> Option<&str> {
    let known = [ENUM, <extension::Bool8 as ExtensionType>::NAME];
    unknown_meaning(field).filter(|meant| !known.contains(meant))
}

/// # Errors
/// If values of one of these columns have an unknown meaning, as `unknown` tells.
pub(crate) fn check_meanings(
    file: &str,
    schema: &SchemaRef,
    columns: &[usize],
    unknown: fn(&Field) -> Option<&str>,
) -> Result<(), Error> {
    let mut fields = columns.iter().map(|&column| schema.field(column));
    match fields.find_map(|field| Some((field, unknown(field)?))) {
        None => Ok(()),
        Some((field, meant)) => Err(Error::Read(ReadError::UnknownMeaning {
            file: file.to_owned(),
            column: field.name().clone(),
            meant: meant.to_owned(),
        })),
    }
}

/// Returns the name and the type of the first of these columns whose values are not of a type that
/// fits.
pub(crate) fn first_of_unfit_type(
    schema: &SchemaRef,
    columns: &[usize],
    fits: impl Fn(&DataType) -> bool,
) -> Option<(String, DataType)> {
    columns.iter().find_map(|&index| {
        let field = schema.field(index);
        let data_type = value_type(field.data_type());
        (!fits(data_type)).then(|| (field.name().clone(), data_type.clone()))
    })
}

/// Returns the type of a column's values, which a dictionary may hold.
pub fn value_type(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_tell_kinds() {
        let words = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
        for (data_type, kind) in [
            (words, Kind::Text),
            (DataType::Float16, Kind::Number),
            (DataType::Decimal128(9, 2), Kind::Number),
            (DataType::FixedSizeBinary(16), Kind::Binary),
            (DataType::Null, Kind::Null),
        ] {
            assert_eq!(Stored::AsTyped.kind(&data_type), kind, "{data_type}");
        }
        let sixteen = DataType::FixedSizeBinary(16);
        assert_eq!(Stored::Uuid.kind(&sixteen), Kind::Uuid);
    }
}
