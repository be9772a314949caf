//! The facts in a file about the types of its columns that the library's reader ignores.
//!
//! Texts that Parquet calls ENUM are texts. The zone of timestamps has its name in the Arrow schema
//! alone, which may tell of another unit: Parquet has no seconds.

use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema, SchemaRef};
use parquet::{
    basic::{ConvertedType, LogicalType},
    schema::types::Type,
};

/// Returns the columns with these types, if any differs. `told` has the statements of the file's
/// Arrow schema, column by column, of those whose type is known.
pub(super) fn refined(
    schema: &SchemaRef,
    roots: &[Arc<Type>],
    told: &[Option<Field>],
) -> Option<SchemaRef> {
    let fields = schema.fields().iter().zip(roots).enumerate();
    let fields = fields.map(|(column, (field, root))| {
        let read = field.data_type();
        let read = match told.get(column) {
            Some(Some(told)) => with_zones(read, told.data_type()),
            _ => read.clone(),
        };
        let read = if is_enum(root) { as_text(read) } else { read };
        field.as_ref().clone().with_data_type(read)
    });
    let fields: Vec<Field> = fields.collect();
    let refined = Schema::new_with_metadata(fields, schema.metadata().clone());
    (refined != **schema).then(|| Arc::new(refined))
}

/// Returns whether there are timestamps whose zones may have another name.
pub(super) fn may_lack_zones(schema: &Schema) -> bool {
    let fields = schema.flattened_fields();
    let mut types = fields.iter().map(|field| field.data_type());
    types.any(|read| matches!(read, DataType::Timestamp(_, Some(_))))
}

fn is_enum(column: &Type) -> bool {
    let info = column.get_basic_info();
    matches!(info.logical_type_ref(), Some(LogicalType::Enum))
        || info.converted_type() == ConvertedType::ENUM
}

fn as_text(read: DataType) -> DataType {
    match read {
        DataType::Binary => DataType::Utf8,
        DataType::LargeBinary => DataType::LargeUtf8,
        DataType::BinaryView => DataType::Utf8View,
        other => other,
    }
}

/// Returns a type that is read, with the names of zones that are told for it.
fn with_zones(read: &DataType, told: &DataType) -> DataType {
    use DataType::*;
    let inner = |read: &Arc<Field>, told: &Arc<Field>| {
        let zoned = with_zones(read.data_type(), told.data_type());
        Arc::new(read.as_ref().clone().with_data_type(zoned))
    };
    match (read, told) {
        (Timestamp(unit, Some(_)), Timestamp(_, Some(zone))) => {
            Timestamp(*unit, Some(zone.clone()))
        }
        // A dictionary of them is read as its values.
        (read, Dictionary(_, told)) => with_zones(read, told),
        (List(read), List(told)) => List(inner(read, told)),
        (LargeList(read), LargeList(told)) => LargeList(inner(read, told)),
        (FixedSizeList(read, length), FixedSizeList(told, _)) => {
            FixedSizeList(inner(read, told), *length)
        }
        (Map(read, is_sorted), Map(told, _)) => Map(inner(read, told), *is_sorted),
        (Struct(read), Struct(told)) if read.len() == told.len() => {
            let fields = read.iter().zip(told);
            Struct(fields.map(|(read, told)| inner(read, told)).collect())
        }
        _ => read.clone(),
    }
}
