//! Arrays that hold nothing but their own rows.
//!
//! Arrays may share what is not in their rows: the values of a dictionary, the texts behind views. Each of many small
//! batches would hold all of it. And rows of different dictionaries do not always fit into one, if its keys are narrow.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, cast::AsArray, make_array};
use arrow_schema::{ArrowError, DataType, Field, FieldRef, Schema};
use arrow_select::take::take;

use crate::write::ipc::{may_share, without_shared_texts};

/// The rows, with dictionaries as their values, and a copy of the texts behind views only. Any column may be null.
pub(super) fn owned(rows: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let columns: Vec<ArrayRef> = rows.columns().iter().map(own).collect::<Result<_, _>>()?;
    let fields = rows.schema_ref().fields().iter().zip(&columns);
    let fields: Vec<Field> = fields
        .map(|(field, column)| nullable(field, column.data_type()))
        .collect();
    RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
}

fn own(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    match array.data_type() {
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            own(&take(dictionary.values(), dictionary.keys(), None)?)
        }
        DataType::Utf8View | DataType::BinaryView => Ok(without_shared_texts(array)),
        nested if may_share(nested) => {
            let data = array.to_data();
            let children = data.child_data().iter();
            let children = children.map(|child| own(&make_array(child.clone())));
            let children: Vec<ArrayRef> = children.collect::<Result<_, _>>()?;
            let data_type = of_children(nested, &children);
            let children = children.iter().map(|child| child.to_data()).collect();
            let builder = data.into_builder().data_type(data_type);
            Ok(make_array(builder.child_data(children).build()?))
        }
        _ => Ok(array.clone()),
    }
}

/// The type of an array with these children.
fn of_children(data_type: &DataType, children: &[ArrayRef]) -> DataType {
    use DataType::*;
    let of = |field: &FieldRef, child: &ArrayRef| -> FieldRef {
        match field.data_type() == child.data_type() {
            true => field.clone(),
            false => Arc::new(nullable(field, child.data_type())),
        }
    };
    match data_type {
        List(items) => List(of(items, &children[0])),
        LargeList(items) => LargeList(of(items, &children[0])),
        ListView(items) => ListView(of(items, &children[0])),
        LargeListView(items) => LargeListView(of(items, &children[0])),
        FixedSizeList(items, length) => FixedSizeList(of(items, &children[0]), *length),
        Map(entries, is_sorted) => Map(of(entries, &children[0]), *is_sorted),
        Struct(fields) => {
            let fields = fields.iter().zip(children);
            Struct(fields.map(|(field, child)| of(field, child)).collect())
        }
        RunEndEncoded(ends, values) => RunEndEncoded(ends.clone(), of(values, &children[1])),
        other => other.clone(),
    }
}

/// The values of a dictionary may be null where its keys are not.
fn nullable(field: &Field, data_type: &DataType) -> Field {
    let field = field.clone().with_data_type(data_type.clone());
    field.with_nullable(true)
}
