//! The facts that a Parquet file keeps when its columns are written again, though Arrow's types
//! lack them.

use std::sync::Arc;

use parquet::{
    basic::{ConvertedType, LogicalType},
    schema::types::{ColumnDescPtr, SchemaDescriptor, Type},
};

/// Returns the schema for columns that come from a Parquet file, if `written` is the library's,
/// perhaps with others behind: a column that would lose facts in the `file` keeps its schema there.
///
/// # Errors
/// The name of the first column that loses something all the same.
pub(super) fn kept(
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
    let leaf = |leaf: &ColumnDescPtr| {
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
    if !column.is_group() {
        return Vec::new();
    }
    let said = column.get_basic_info().logical_type_ref();
    let said = said.filter(|said| !matches!(said, LogicalType::List | LogicalType::Map));
    let within = column.get_fields().iter();
    said.into_iter()
        .chain(within.flat_map(|inner| said_of_groups(inner)))
        .collect()
}

/// Returns whether something is of a logical type that came after the library.
fn has_unknown(column: &Type) -> bool {
    matches!(
        column.get_basic_info().logical_type_ref(),
        Some(LogicalType::_Unknown { .. })
    ) || (column.is_group() && column.get_fields().iter().any(|inner| has_unknown(inner)))
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
