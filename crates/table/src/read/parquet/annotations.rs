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

fn is_universal_time(column: &Type) -> bool {
    let is_universal = |said| matches!(said, LogicalType::Time(time) if time.is_adjusted_to_u_t_c);
    annotation(column).is_some_and(is_universal)
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

/// Returns the schema for columns that come from a Parquet file, if `written` is the library's,
/// perhaps with others behind: a column that would lose facts in the `file` keeps its schema there.
///
/// # Errors
/// The name of the first column that loses something all the same.
pub(crate) fn kept(
    file: &SchemaDescriptor,
    written: &SchemaDescriptor,
) -> Result<SchemaDescriptor, String> {
    let from = file.root_schema().get_fields();
    let roots = written.root_schema().get_fields().iter().enumerate();
    let roots = roots.map(|(index, root)| match from.get(index) {
        Some(from) if loses(from, root) => match same_shape(from, root) && !has_unknown(from) {
            true => Ok(from.clone()),
            false => Err(from.name().to_owned()),
        },
        _ => Ok(root.clone()),
    });
    let roots = roots.collect::<Result<_, _>>()?;
    let builder = Type::group_type_builder(written.name()).with_fields(roots);
    let root = builder.build().expect("a group of columns");
    Ok(SchemaDescriptor::new(Arc::new(root)))
}

/// Returns whether a column loses a fact when it is written as another one.
fn loses(from: &Type, written: &Type) -> bool {
    said_of_groups(from) != said_of_groups(written) || {
        let (from, written) = (alone(from), alone(written));
        let (from, written) = (from.columns(), written.columns());
        from.len() != written.len()
            || from.iter().zip(written).any(|(from, written)| {
                let (from, written) = (from.self_type(), written.self_type());
                let said = annotation(from);
                said.is_some() && said != annotation(written)
            })
    }
}

/// Returns whether the values of one column can be written as those of another: their leaves hold
/// the same, at the same depth.
fn same_shape(from: &Type, written: &Type) -> bool {
    let (from, written) = (alone(from), alone(written));
    let leaf = |leaf: &parquet::schema::types::ColumnDescPtr| {
        let levels = (leaf.max_def_level(), leaf.max_rep_level());
        (leaf.physical_type(), leaf.type_length(), levels)
    };
    let leaves = |of: &SchemaDescriptor| of.columns().iter().map(leaf).collect::<Vec<_>>();
    leaves(&from) == leaves(&written)
}

/// Returns the schema of a table that has this column only.
fn alone(column: &Type) -> SchemaDescriptor {
    let builder = Type::group_type_builder("alone").with_fields(vec![Arc::new(column.clone())]);
    SchemaDescriptor::new(Arc::new(builder.build().expect("a group of one column")))
}

/// Returns what the groups in a column are, each before those in it, but for lists and maps, which
/// Arrow has.
fn said_of_groups(column: &Type) -> Vec<&LogicalType> {
    let said = column.get_basic_info().logical_type_ref();
    let said = said
        .filter(|said| column.is_group() && !matches!(said, LogicalType::List | LogicalType::Map));
    let within = children(column).iter();
    said.into_iter()
        .chain(within.flat_map(|inner| said_of_groups(inner)))
        .collect()
}

/// Returns whether something is of a logical type that came after the library.
fn has_unknown(column: &Type) -> bool {
    matches!(
        column.get_basic_info().logical_type_ref(),
        Some(LogicalType::_Unknown { .. })
    ) || children(column).iter().any(|inner| has_unknown(inner))
}

/// Returns the meaning of a column's values, in whichever way the schema tells it; `None` if it is
/// their physical type.
fn annotation(column: &Type) -> Option<LogicalType> {
    let info = column.get_basic_info();
    let said = match info.logical_type_ref() {
        Some(said) => said.clone(),
        None => of_converted(column, info.converted_type())?,
    };
    let is_physical = |bits| said == LogicalType::integer(bits, true);
    (!is_physical(32) && !is_physical(64)).then_some(said)
}

/// Returns what an older program meant by its mark.
fn of_converted(column: &Type, converted: ConvertedType) -> Option<LogicalType> {
    use parquet::basic::TimeUnit::{MICROS, MILLIS};
    let decimal = || match column {
        Type::PrimitiveType {
            scale, precision, ..
        } => LogicalType::decimal(*scale, *precision),
        Type::GroupType { .. } => LogicalType::Unknown,
    };
    Some(match converted {
        ConvertedType::UTF8 => LogicalType::String,
        ConvertedType::ENUM => LogicalType::Enum,
        ConvertedType::JSON => LogicalType::Json,
        ConvertedType::BSON => LogicalType::Bson,
        ConvertedType::DATE => LogicalType::Date,
        ConvertedType::TIME_MILLIS => LogicalType::time(true, MILLIS),
        ConvertedType::TIME_MICROS => LogicalType::time(true, MICROS),
        ConvertedType::TIMESTAMP_MILLIS => LogicalType::timestamp(true, MILLIS),
        ConvertedType::TIMESTAMP_MICROS => LogicalType::timestamp(true, MICROS),
        ConvertedType::UINT_8 => LogicalType::integer(8, false),
        ConvertedType::UINT_16 => LogicalType::integer(16, false),
        ConvertedType::UINT_32 => LogicalType::integer(32, false),
        ConvertedType::UINT_64 => LogicalType::integer(64, false),
        ConvertedType::INT_8 => LogicalType::integer(8, true),
        ConvertedType::INT_16 => LogicalType::integer(16, true),
        ConvertedType::INT_32 => LogicalType::integer(32, true),
        ConvertedType::INT_64 => LogicalType::integer(64, true),
        ConvertedType::DECIMAL => decimal(),
        _ => return None,
    })
}
