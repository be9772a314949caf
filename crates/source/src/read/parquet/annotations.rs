//! The facts in a file's own schema that Arrow's lacks.

use std::sync::Arc;

use arrow_schema::{Field, Schema, SchemaRef, extension};
use parquet::{
    basic::{ConvertedType, LogicalType},
    schema::types::{SchemaDescriptor, Type},
};

use crate::read::arrow::{ENUM, PARQUET_TYPE, universal_time};

/// Returns the columns, each marked with what it is beyond its Arrow type. A mark of the file's own
/// is not believed.
pub(super) fn marked(schema: &SchemaRef, file: &SchemaDescriptor) -> SchemaRef {
    let roots = file.root_schema().get_fields().iter();
    let fields = schema.fields().iter().zip(roots).map(|(field, root)| {
        let mut metadata = field.metadata().clone();
        metadata.remove(PARQUET_TYPE);
        metadata.extend(beyond_arrow(root).map(|said| (PARQUET_TYPE.to_owned(), said)));
        if is_universal_time(root) {
            metadata.extend(universal_time());
        }
        let mut field = field.as_ref().clone().with_metadata(metadata);
        if is_old_json(root) && field.extension_type_name().is_none() {
            // Columns that are not read as texts stay what they are.
            let _ = field.try_with_extension_type(extension::Json::default());
        }
        field
    });
    let fields: Vec<Field> = fields.collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

/// Returns the type of a column, or of something in it, that Arrow lacks: its name, and behind a
/// blank its parameters. Of times of day, only a column's own metadata says whether they are of
/// universal time.
fn beyond_arrow(column: &Type) -> Option<String> {
    let info = column.get_basic_info();
    let own = match info.logical_type_ref() {
        Some(LogicalType::Geometry(of)) => Some(format!("GEOMETRY {:?}", of.crs)),
        Some(LogicalType::Geography(of)) => {
            Some(format!("GEOGRAPHY {:?} {:?}", of.crs, of.algorithm()))
        }
        Some(LogicalType::Variant(_)) => Some("VARIANT".to_owned()),
        Some(LogicalType::File) => Some("FILE".to_owned()),
        Some(LogicalType::Bson) => Some("BSON".to_owned()),
        Some(LogicalType::Enum) => Some(ENUM.to_owned()),
        Some(unknown @ LogicalType::_Unknown { .. }) => Some(format!("UNKNOWN {unknown:?}")),
        Some(_) => None,
        None => match info.converted_type() {
            old @ (ConvertedType::BSON | ConvertedType::ENUM) => Some(old.to_string()),
            _ => None,
        },
    };
    let within = |inner: &Arc<Type>| {
        let time = is_universal_time(inner).then(|| "TIME_UTC".to_owned());
        time.or_else(|| beyond_arrow(inner))
    };
    own.or_else(|| children(column).iter().find_map(within))
}

/// Returns whether texts are JSON in the old way, which the library ignores.
fn is_old_json(column: &Type) -> bool {
    let info = column.get_basic_info();
    info.logical_type_ref().is_none() && info.converted_type() == ConvertedType::JSON
}

/// Returns whether a column holds times of day of universal time, as all of older programs are.
fn is_universal_time(column: &Type) -> bool {
    let info = column.get_basic_info();
    match info.logical_type_ref() {
        Some(LogicalType::Time(time)) => time.is_adjusted_to_u_t_c,
        Some(_) => false,
        None => matches!(
            info.converted_type(),
            ConvertedType::TIME_MILLIS | ConvertedType::TIME_MICROS
        ),
    }
}

/// Returns whether there are intervals in a column: those of Parquet have months, days and
/// milliseconds, and the library's reader leaves some of them out.
pub(super) fn has_intervals(column: &Type) -> bool {
    column.get_basic_info().converted_type() == ConvertedType::INTERVAL
        || children(column).iter().any(|inner| has_intervals(inner))
}

fn children(column: &Type) -> &[Arc<Type>] {
    match column {
        Type::GroupType { fields, .. } => fields,
        Type::PrimitiveType { .. } => &[],
    }
}
